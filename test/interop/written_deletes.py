"""Histories of inserts, updates and deletes of ours, as other engines read them,
and what Java's parser and metadata tables say of our commits.
"""

import os
import random

import metadata_tables
from engines import run
from rows import canonical, check, our_rows, quoted, same, spark_rows
from written import Table, snapshots

MERGE_ON_READ = {"write.delete.mode": "merge-on-read",
                 "write.update.mode": "merge-on-read"}
COPY_ON_WRITE = {"write.delete.mode": "copy-on-write",
                 "write.update.mode": "copy-on-write"}
MERGED = {"commit.manifest.min-count-to-merge": "3"}
# name -> (version, partitioning, properties, statements)
HISTORIES = {
    "v1": (1, "part", MERGED, 8),
    "v2_mor": (2, "", {**MERGE_ON_READ, **MERGED}, 14),
    "v2_mor_parts": (2, "part, bucket(2, id)",
                     {**MERGE_ON_READ, "write.delete.granularity": "partition"},
                     10),
    "v2_cow": (2, "", COPY_ON_WRITE, 8),
    "v3_mor": (3, "part", {**MERGE_ON_READ, **MERGED}, 14),
    "v3_cow": (3, "", {**COPY_ON_WRITE, **MERGED}, 10),
}


class History:
    def __init__(self, lake, name, seed):
        self.random = random.Random("%d %s" % (seed, name))
        version, parts, properties, self.count = HISTORIES[name]
        self.version, self.next_id = version, 0
        lake.spark.run("""
            CREATE TABLE lake.deletes.%s (id bigint, part string, v int,
                note string, price decimal(12,3), d double)
            USING iceberg %s TBLPROPERTIES (%s)""" % (
                name, parts and "PARTITIONED BY (%s)" % parts,
                ", ".join("'%s'='%s'" % item for item in {
                    "format-version": version, **properties}.items())))
        self.table = Table(lake, "deletes", name)
        run("CREATE FOREIGN TABLE deletes.%s (id bigint, _row_id bigint,"
            " _last_updated_sequence_number bigint) SERVER lake"
            " OPTIONS (namespace 'deletes', \"table\" '%s');"
            % (quoted(name + "_lineage"), name))
        self.lineage, self.rows, self.row_ids = {}, {}, set()

    def values(self):
        rows = []
        for _ in range(self.random.randrange(1, 9)):
            self.next_id += 1
            rows.append("(%d, %s, %d, '%s', %s, %s)" % (
                self.next_id, self.random.choice(["'a'", "'b'", "NULL"]),
                self.random.randrange(5),
                self.random.choice(["", "\u00e9", "x" * 40]),
                self.random.choice(["NULL", "1.125", "-999999999.999"]),
                self.random.choice(["NULL", "'NaN'", "-0.0", "0.5"])))
        return ", ".join(rows)

    def insert(self):
        return "INSERT INTO %%s VALUES %s;" % self.values()

    def delete(self):
        divisor = self.random.randrange(3, 8)
        return "DELETE FROM %%s WHERE id %% %d = %d;" % (
            divisor, self.random.randrange(divisor))

    def delete_range(self):
        return "DELETE FROM %%s WHERE id BETWEEN %d AND %d;" % (
            self.next_id - 12, self.next_id - self.random.randrange(12))

    def delete_partition(self):
        return "DELETE FROM %s WHERE part = 'a';"

    def update(self):
        return ("UPDATE %%s SET v = v + 100, note = note || 'u' WHERE id %% 3"
                " = %d;" % self.random.randrange(3))

    def move(self):
        return ("UPDATE %%s SET part = 'b', v = v + 1000 WHERE id %% 4 = %d;"
                % self.random.randrange(4))

    def several(self):
        return ("BEGIN; %s SAVEPOINT s; DELETE FROM %%s; ROLLBACK TO s; %s %s"
                " COMMIT;" % (self.insert(), self.update(), self.delete()))

    def everything(self):
        return self.random.choice(["TRUNCATE %s;", "DELETE FROM %s;"])

    def statement(self, number):
        if self.version == 1:
            # a table of version 1 has no rows deleted one by one, but files
            return (self.insert if number % 4 < 3 else self.everything)()
        if number < 2:
            return self.insert()
        if number == self.count // 2:
            return self.everything()
        return self.random.choice(
            [self.insert] * 3 + [self.delete] * 2 + [self.update] * 2 +
            [self.delete_range, self.delete_partition, self.move,
             self.several])()

    def check_lineage(self, name):
        """A row that stays keeps both numbers, a changed one its id alone."""
        table = self.table
        sequence = table.pyiceberg().metadata.last_sequence_number
        theirs = spark_rows(
            table.lake.spark, "SELECT id, _row_id,"
            " _last_updated_sequence_number FROM " + table.spark_name)
        ours, err = our_rows("deletes." + quoted(table.name + "_lineage"))
        same(name + " lineage", ours, theirs, err)
        before, rows_before = self.lineage, self.rows
        self.lineage = {int(row["id"]): (
            int(row["_row_id"]), int(row["_last_updated_sequence_number"]))
            for row in theirs}
        self.rows = {int(row["id"]): row for row in table.expected()}
        wrong = []
        for number, (row_id, updated) in self.lineage.items():
            expected = (row_id, sequence)
            if number in before:
                expected = before[number]
                if self.rows[number] != rows_before[number]:
                    expected = (expected[0], sequence)
            elif row_id in self.row_ids:
                expected = "an id of its own"
            if (row_id, updated) != expected:
                wrong.append((number, row_id, updated, expected))
            self.row_ids.add(row_id)
        check("%s row ids at %d" % (name, sequence), not wrong, wrong[:5])


def compare_history(lake, name, seed):
    history = History(lake, name, seed)
    table = history.table
    for number in range(history.count):
        statement = history.statement(number)
        if not table.both(statement):
            continue
        ours, err = our_rows(table.local)
        same("%s after %d: %s" % (table.ident, number, statement[:60]), ours,
             table.expected(), err)
        if history.version == 3:
            history.check_lineage("%s after %d" % (table.ident, number))
    table.compare("at last")
    table.compare_versions()
    metadata_tables.compare_table(lake.spark, table.ident, table.local,
                                  table.spark_name)
    check("%s: Spark could read all of its metadata" % table.ident,
          not metadata_tables.NOT_COMPARED, metadata_tables.NOT_COMPARED)


def compare_deletes(lake, seed):
    lake.namespace("deletes")
    for name in os.environ.get("ONLY", " ".join(HISTORIES)).split():
        compare_history(lake, name, seed)
