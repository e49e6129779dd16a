"""Tables that PostgreSQL writes, and what each engine finds in them.

A Lake is the hosted catalog with its engines; a Table of it has a heap table
beside it, to which the same statements are applied: every reader must find the
rows of the heap.
"""

import re

import duckdb

import engines
from engines import run
from rows import (canonical, check, our_rows, psql, quoted, same, shortest,
                  spark_rows)


class Lake:
    def __init__(self, warehouse, jars):
        self.warehouse = warehouse
        self.spark = engines.Spark(warehouse, jars)
        self.catalog = engines.pyiceberg_catalog(warehouse)
        self.duckdb = duckdb.connect()
        self.duckdb.execute("SET TimeZone = 'UTC'")

    def namespace(self, name):
        self.catalog.create_namespace(name)
        run("CREATE SCHEMA %s; CREATE SCHEMA %s;"
            % (quoted(name), quoted(name + "_heap")))


class Table:
    """A lake table that exists, mapped, and its heap."""

    def __init__(self, lake, space, name, for_spark=True):
        self.lake, self.space, self.name = lake, space, name
        self.ident = "%s.%s" % (space, name)
        self.local = "%s.%s" % (quoted(space), quoted(name))
        self.heap = "%s.%s" % (quoted(space + "_heap"), quoted(name))
        self.spark_name = "lake.%s.`%s`" % (space, name)
        self.for_spark = for_spark
        run("""
            IMPORT FOREIGN SCHEMA %s LIMIT TO (%s) FROM SERVER lake INTO %s;
            CREATE TABLE %s (LIKE %s);"""
            % (quoted(space), quoted(name), quoted(space), self.heap,
               self.local))

    def both(self, statement):
        """Runs a statement, with the table as %s, on lake and heap."""
        for relation in (self.local, self.heap):
            status, _, err = psql(statement.replace("%s", relation))
            if status != 0:
                check("%s: %s" % (self.ident, statement[:200]), False, err)
                return False
        return True

    def pyiceberg(self):
        return self.lake.catalog.load_table(self.ident)

    # ---- the rows that each reader finds ----

    def expected(self):
        rows, err = our_rows(self.heap)
        if rows is None:
            check(self.heap, False, err)
        return rows or []

    def by_spark(self, version="", vectorised=True):
        self.lake.spark.vectorised(vectorised)
        try:
            return spark_rows(self.lake.spark, "SELECT * FROM %s %s"
                              % (self.spark_name, version)), ""
        except Exception as error:
            return None, error
        finally:
            self.lake.spark.vectorised(True)

    def by_pyiceberg(self, snapshot=None):
        try:
            rows = self.pyiceberg().scan(snapshot_id=snapshot).to_arrow()
            return list(map(vague, of_arrow(rows))), ""
        except Exception as error:
            return None, error

    def compare(self, name):
        """What everybody reads now."""
        name = "%s %s" % (self.ident, name)
        expected = self.expected()
        ours, err = our_rows(self.local)
        same(name + " by us", ours, expected, err)
        if self.for_spark:
            for vectorised in (True, False):
                rows, err = self.by_spark(vectorised=vectorised)
                same("%s by Spark, %svectorised" % (
                    name, "" if vectorised else "not "), rows, expected, err)
        rows, err = self.by_pyiceberg()
        same(name + " by PyIceberg", rows, list(map(vague, expected)), err)

    def compare_versions(self):
        """Every snapshot that there is, ours by lake.at."""
        for number in snapshots(self):
            name = "%s at %d" % (self.ident, number)
            ours, err = our_rows("lake.at(NULL::%s, snapshot => %d)"
                                 % (self.local, number))
            if ours is None:
                check(name, False, err)
                continue
            if self.for_spark:
                rows, err = self.by_spark("VERSION AS OF %d" % number)
                same(name + " by Spark", rows, ours, err)
            rows, err = self.by_pyiceberg(number)
            same(name + " by PyIceberg", rows,
                 list(map(vague, ours)), err)

    def compare_duckdb(self, name):
        """Only of tables without deletes: DuckDB is given the files alone."""
        files = [task.file.file_path.removeprefix("file://")
                 for task in self.pyiceberg().scan().plan_files()]
        expected = self.expected()
        try:
            rows = of_arrow(self.lake.duckdb.sql(
                "SELECT * FROM read_parquet($files, union_by_name => true)",
                params={"files": files}).to_arrow_table()) if files else []
            rows = renamed(rows)
            err = ""
        except Exception as error:
            rows, err = None, error
        same("%s %s by DuckDB" % (self.ident, name), rows, expected, err)


def snapshots(table):
    return [int(line) for line in run(
        "SELECT snapshot_id FROM lake.snapshots('%s');"
        % table.local.replace("'", "''")).split()]


def of_arrow(table):
    import pyarrow as pa

    found = table.to_pylist(maps_as_pydicts="strict")
    for field in table.schema:
        if pa.types.is_float32(field.type):
            for row in found:
                row[field.name] = shortest(row[field.name])
    return [{k: canonical(v) for k, v in row.items()} for row in found]


def vague(value):
    """PyIceberg 0.12.0 reads a NULL list or map of structs as an empty one."""
    if isinstance(value, dict):
        return {k: vague(v) for k, v in value.items()}
    if isinstance(value, list) and value:
        return [vague(v) for v in value]
    return None if value == [] else value


def renamed(value):
    """Undoes the spelling of names that Parquet columns have."""
    if isinstance(value, dict):
        return {original(k): renamed(v) for k, v in value.items()}
    if isinstance(value, list):
        return [renamed(v) for v in value]
    return value


def original(name):
    units = re.sub("_x([0-9A-F]+)", lambda match: chr(int(match[1], 16)), name)
    return units.encode("utf-16", "surrogatepass").decode("utf-16")
