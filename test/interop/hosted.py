"""The hosted catalog: Spark and PyIceberg commit, PostgreSQL reads.

    hosted.py WAREHOUSE SPARK_JAR JDBC_JAR PSQL

Both engines are given nothing but a role of the database, by the settings that
README.md shows.  Histories are random (INTEROP_SEED); after each commit our rows
must be the engine's, while a REPEATABLE READ transaction keeps the rows it had,
and at the end every snapshot, time, branch and tag must be what Spark reads by
VERSION AS OF and TIMESTAMP AS OF.  The server is found through PGHOST and its
relatives, and by the engines through 127.0.0.1:PGPORT.
"""

import datetime as dt
import json
import os
import random
import sys

import engines
import rows
from engines import run
from rows import (canonical, check, literal, our_rows, psql, same,
                  spark_rows)

WAREHOUSE, JAR, JDBC, rows.PSQL = sys.argv[1:5]
rows.DATABASE = "hosted"
SEED = int(os.environ.get("INTEROP_SEED", "20260301"))
COMMITS = 14


class Reader:
    """A transaction that keeps what it has seen."""

    def __init__(self, relation):
        self.connection = engines.connect()
        self.connection.set_session(isolation_level="REPEATABLE READ")
        self.cursor = self.connection.cursor()
        self.relation = relation
        self.before = self.read()

    def read(self):
        self.cursor.execute("SELECT to_jsonb(t)::text FROM %s t"
                            % self.relation)
        return sorted(row[0] for row in self.cursor.fetchall())

    def close(self, name):
        check(name + ": a pin holds while others commit",
              self.read() == self.before)
        self.connection.close()


class History:
    """A table and the random commits of Spark to it."""

    def __init__(self, spark, number, spec, version):
        self.spark, self.number = spark, number
        self.random = random.Random(SEED + number)
        self.name = "db.t%d" % number
        self.next_id = 0
        self.extra = 0
        self.labels = []
        self.local = []
        spark.run("""
            CREATE TABLE %s (id bigint, k int, name string,
                price decimal(9,2), day date)
            USING iceberg %s TBLPROPERTIES ('format-version'='%d',
                'write.delete.mode'='merge-on-read',
                'write.update.mode'='merge-on-read')"""
                  % (self.name, spec, version))
        run("IMPORT FOREIGN SCHEMA db LIMIT TO (t%d) FROM SERVER lake"
            " INTO db;" % number)

    def insert(self):
        values = []
        for _ in range(self.random.randrange(1, 12)):
            self.next_id += 1
            values.append("(%d, %s, '%s', %s, date'2026-03-%02d'%s)" % (
                self.next_id,
                self.random.choice(["NULL", str(self.random.randrange(9))]),
                self.random.choice(["a", "b", "it''s", "\u00e9"]),
                self.random.choice(["NULL", "1.25", "-7.00", "99.99"]),
                self.random.randrange(1, 5), ", NULL" * self.extra))
        self.spark.run("INSERT INTO %s VALUES %s"
                       % (self.name, ", ".join(values)))

    def delete(self):
        self.spark.run("DELETE FROM %s WHERE k = %d OR id %% 7 = %d" % (
            self.name, self.random.randrange(9), self.random.randrange(7)))

    def update(self):
        self.spark.run("UPDATE %s SET price = 0.01, name = 'u' WHERE id %% 5"
                       " = %d" % (self.name, self.random.randrange(5)))

    def overwrite(self):
        self.spark.run("INSERT OVERWRITE %s SELECT * FROM %s WHERE id %% 3 <> %d"
                       % (self.name, self.name, self.random.randrange(3)))

    def add_column(self):
        self.extra += 1
        self.spark.run("ALTER TABLE %s ADD COLUMN extra%d string"
                       % (self.name, self.extra))
        # waits for every reader, so it is for later
        self.local.append("ALTER FOREIGN TABLE %s ADD COLUMN extra%d text;"
                          % (self.name, self.extra))

    def branch(self):
        label = "b%d" % len(self.labels)
        self.spark.run("ALTER TABLE %s CREATE BRANCH %s" % (self.name, label))
        self.labels.append(label)
        if self.random.random() < 0.7:
            self.spark.run("DELETE FROM %s.branch_%s WHERE id %% 2 = 0"
                           % (self.name, label))

    def tag(self):
        label = "v%d" % len(self.labels)
        self.spark.run("ALTER TABLE %s CREATE TAG `%s`" % (self.name, label))
        self.labels.append(label)

    def rollback(self):
        ids = [r.snapshot_id for r in self.spark.session.sql(
            "SELECT snapshot_id FROM %s.history WHERE is_current_ancestor"
            % self.name).collect()]
        self.spark.run("CALL lake.system.rollback_to_snapshot('%s', %d)"
                       % (self.name, self.random.choice(ids)))

    def commit(self):
        step = self.random.choice(
            [self.insert] * 4 + [self.delete, self.delete, self.update,
                                 self.overwrite, self.add_column, self.branch,
                                 self.tag, self.rollback])
        step()
        return step.__name__


def commit_and_read(history):
    history.insert()
    for number in range(COMMITS):
        reader = Reader(history.name)
        kind = history.commit()
        name = "%s after commit %d (%s)" % (history.name, number, kind)
        reader.close(name)
        while history.local:
            run(history.local.pop())
        theirs = spark_rows(history.spark, "SELECT * FROM " + history.name)
        ours, err = our_rows(history.name)
        same(name, ours, theirs, err)


def columns_of(frame):
    return [field.name for field in frame.schema.fields]


def compare_version(history, name, clause, argument, option):
    """One version by Spark, by lake.at and by a table that is pinned to it."""
    frame = history.spark.session.sql(
        "SELECT * FROM %s %s" % (history.name, clause))
    theirs = spark_rows(history.spark,
                        "SELECT * FROM %s %s" % (history.name, clause))
    # a branch is read with the current schema, whatever it had at its commits
    names = columns_of(frame)
    ours, err = our_rows("(SELECT %s FROM lake.at(NULL::%s, %s))" % (
        ", ".join(names), history.name, argument))
    same("%s lake.at %s" % (name, argument), ours, theirs, err)
    status, _, err = psql("""
        DROP FOREIGN TABLE IF EXISTS pinned;
        CREATE FOREIGN TABLE pinned () SERVER lake
            OPTIONS (namespace 'db', "table" 't%d', %s);"""
                          % (history.number, option))
    ours = None
    if status == 0:
        ours, err = our_rows("pinned")
    same("%s with %s" % (name, option), ours, theirs, err)


def compare_versions(history):
    session = history.spark.session
    for row in session.sql("SELECT snapshot_id FROM %s.snapshots"
                           % history.name).collect():
        compare_version(history, history.name,
                        "VERSION AS OF %d" % row.snapshot_id,
                        "snapshot => %d" % row.snapshot_id,
                        "snapshot_id '%d'" % row.snapshot_id)
    log = session.sql("SELECT made_current_at FROM %s.history"
                      % history.name).collect()
    for row in log:
        # at the very millisecond, and half a millisecond later
        for late in (0, 500):
            at = row.made_current_at + dt.timedelta(microseconds=late)
            text = at.strftime("%Y-%m-%d %H:%M:%S.%f")
            compare_version(history, history.name,
                            "TIMESTAMP AS OF '%s'" % text,
                            "as_of => '%s+00'" % text,
                            "as_of_timestamp '%s+00'" % text)
    early = min(row.made_current_at for row in log) - dt.timedelta(seconds=1)
    status, _, err = psql("SELECT * FROM lake.at(NULL::%s, as_of => '%s+00');"
                          % (history.name, early))
    check(history.name + " before its first snapshot is an error",
          status != 0, err)
    for label in history.labels + ["main"]:
        compare_version(history, history.name, "VERSION AS OF '%s'" % label,
                        "ref => '%s'" % label, "ref '%s'" % label)


def compare_pyiceberg(catalog):
    import pyarrow as pa

    catalog.create_namespace_if_not_exists("py")
    table = catalog.create_table("py.notes", pa.schema(
        [("id", pa.int64()), ("body", pa.string())]))
    run("CREATE SCHEMA py; IMPORT FOREIGN SCHEMA py FROM SERVER lake INTO py;")
    for number in range(4):
        reader = Reader("py.notes")
        table.append(pa.table({"id": [number, number + 10],
                               "body": ["x%d" % number, None]}))
        if number == 2:
            table.delete("id < 11")
        theirs = [{k: canonical(v) for k, v in row.items()} for row in
                  table.scan().to_arrow().to_pylist()]
        ours, err = our_rows("py.notes")
        same("py.notes after append %d" % number, ours, theirs, err)
        reader.close("py.notes after append %d" % number)
    for snapshot in table.snapshots():
        theirs = [{k: canonical(v) for k, v in row.items()} for row in
                  table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
                  .to_pylist()]
        ours, err = our_rows("lake.at(NULL::py.notes, snapshot => %d)"
                             % snapshot.snapshot_id)
        same("py.notes at %d" % snapshot.snapshot_id, ours, theirs, err)


def compare_listing(spark):
    theirs = sorted(
        "%s.%s" % (space, row.tableName) for space in ("db", "py")
        for row in spark.session.sql("SHOW TABLES IN " + space).collect())
    ours = run("SELECT namespace || '.' || table_name FROM"
               " lake.tables('lake') ORDER BY 1;").split()
    check("lake.tables lists what Spark lists", ours == theirs,
          "%s, expected %s" % (ours, theirs))


def compare_register(spark):
    """A table that Spark dropped from the catalog and we register again."""
    location = json.loads(run(
        "SELECT to_json(metadata_location) FROM lake.iceberg_tables"
        " WHERE table_namespace = 'db' AND table_name = 't0';"))
    run("SELECT lake.register_table('lake', 'db.again', %s);"
        % literal(location))
    run("IMPORT FOREIGN SCHEMA db LIMIT TO (again) FROM SERVER lake INTO db;")
    ours, err = our_rows("db.again")
    same("db.again, registered by us and read by Spark", ours,
         spark_rows(spark, "SELECT * FROM db.again"), err)


def main():
    engines.set_up(WAREHOUSE)
    run("CREATE SCHEMA db;")
    spark = engines.Spark(WAREHOUSE, JAR + "," + JDBC)
    spark.run("CREATE NAMESPACE db")
    histories = [
        History(spark, number, spec, version)
        for number, (spec, version) in enumerate((
            ("", 2), ("PARTITIONED BY (day)", 3),
            ("PARTITIONED BY (bucket(2, id), truncate(1, name))", 2)))]
    for history in histories:
        commit_and_read(history)
        compare_versions(history)
    compare_pyiceberg(engines.pyiceberg_catalog(WAREHOUSE))
    compare_listing(spark)
    compare_register(spark)
    spark.session.stop()
    rows.close()


if __name__ == "__main__":
    main()
