"""Measures scans and planning; see run.sh.

    bench.py CACHE_DIRECTORY LAKE_DIRECTORY [part ...]

Parts: q6 count project temp analyze parallel point travel planning metadata
memory (all by default).
"""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import threading
import time

import duckdb
import fastavro
import psycopg2

CACHE, LAKE = sys.argv[1:3]
PARTS = sys.argv[3:] or ["q6", "count", "project", "temp", "analyze",
                         "parallel", "point", "travel", "planning",
                         "metadata", "memory"]
ROWS = int(os.environ.get("ROWS", "6000000"))
RUNS = int(os.environ.get("RUNS", "7"))
HERE = os.path.dirname(os.path.abspath(__file__))
GROUP = 120000
FILES = {"snappy": "li", "zstd": "li", "clustered": "lic"}

Q6 = """SELECT sum(l_extendedprice * l_discount) FROM %s
    WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
    AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"""
FOUR = "l_orderkey, l_quantity, l_shipdate, l_shipmode"
COLUMNS = ("orderkey partkey suppkey linenumber quantity extendedprice"
           " discount tax returnflag linestatus shipdate commitdate"
           " receiptdate shipinstruct shipmode comment").split()
# OFFSET leaves the columns of a row alone, here as on the heap; this reads them
EACH = "SELECT %s FROM %%s" % ", ".join("count(l_%s)" % c for c in COLUMNS)
THREE = "l_orderkey, l_extendedprice, l_shipdate"


def data_file(name):
    return "%s/%s-%d.parquet" % (CACHE, name, ROWS)


def write_data():
    if all(os.path.exists(data_file(name)) for name in FILES):
        return
    db = duckdb.connect()
    with open(HERE + "/lineitem.sql", encoding="utf-8") as file:
        db.execute(file.read().replace("$orders", str(ROWS // 4)))
    for name, table in FILES.items():
        db.execute("COPY %s TO '%s' (FORMAT parquet, COMPRESSION %s,"
                   " ROW_GROUP_SIZE %d)" % (
                       table, data_file(name),
                       "zstd" if name == "zstd" else "snappy", GROUP))
    db.close()


def write_sorted():
    """In order of l_orderkey, pages of some thousand rows with an index."""
    import pyarrow.parquet

    if not os.path.exists(data_file("sorted")):
        table = pyarrow.parquet.read_table(data_file("snappy"))
        pyarrow.parquet.write_table(
            table.sort_by("l_orderkey"), data_file("sorted"),
            row_group_size=1000000, data_page_size=64 << 10,
            write_page_index=True, compression="snappy")


def adopt():
    """Iceberg tables over the data files."""
    from pyiceberg.catalog.sql import SqlCatalog
    import pyarrow.parquet

    catalog = SqlCatalog("bench", uri="sqlite:///:memory:",
                         warehouse="file://" + LAKE)
    catalog.create_namespace("b")
    for name in list(FILES) + ["sorted"]:
        directory = "%s/b/%s/data" % (LAKE, name)
        os.makedirs(directory)
        path = directory + "/li.parquet"
        shutil.copy(data_file(name), path)
        schema = pyarrow.parquet.read_schema(path)
        catalog.create_table("b." + name, schema=schema).add_files(
            ["file://" + path])
        if name == "snappy":
            links = ["%s/%d.parquet" % (directory, i) for i in range(4)]
            for link in links:
                os.link(path, link)
            catalog.create_table("b.four", schema=schema).add_files(
                ["file://" + link for link in links])


class Server:
    """One backend and the CPU time it takes."""

    def __init__(self):
        self.connection = psycopg2.connect(dbname="postgres")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.pid = self.connection.info.backend_pid

    def cpu(self):
        with open("/proc/%d/schedstat" % self.pid, encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e6

    def run(self, sql):
        """CPU milliseconds and the rows."""
        before = self.cpu()
        self.cursor.execute(sql)
        rows = self.cursor.fetchall() if self.cursor.description else None
        return self.cpu() - before, rows

    def rss_anon(self):
        with open("/proc/%d/status" % self.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])


class Duck:
    def __init__(self):
        self.db = duckdb.connect()
        self.db.execute("SET threads = 1")

    def run(self, sql):
        before = time.process_time()
        rows = self.db.execute(sql).fetchall()
        return (time.process_time() - before) * 1000, rows


def medians(*runs):
    """Runs the callables in turn, RUNS times; the median of each."""
    times = [[] for _ in runs]
    for i in range(RUNS + 1):
        for j, run in enumerate(runs):
            took = run()
            if i > 0:
                times[j].append(took)
    return [statistics.median(t) for t in times]


def show(name, ours, peer, theirs, goal):
    ratio = ours / theirs if theirs else 0
    print("%-34s %9.1f ms  %-7s %9.1f ms  %6.2fx  goal %s" % (
        name, ours, peer, theirs, ratio, goal), flush=True)


def equal(a, b):
    if [tuple(map(str, r)) for r in a] != [tuple(map(str, r)) for r in b]:
        sys.exit("different answers: %s, %s" % (a, b))


def bench_q6(server, duck):
    for name in FILES:
        ours, theirs = "lake." + name, "'%s'" % data_file(name)
        equal(server.run(Q6 % ours)[1], duck.run(Q6 % theirs)[1])
        a, b, heap = medians(lambda: server.run(Q6 % ours)[0],
                             lambda: duck.run(Q6 % theirs)[0],
                             lambda: server.run(Q6 % "heap")[0])
        show("Q6 " + name, a, "DuckDB", b, "<= 0.75x")
        show("Q6 " + name, a, "heap", heap, "<= 0.12x")


def bench_count(server, duck):
    sql = "SELECT count(*) FROM %s"
    a, b = medians(lambda: server.run(sql % "lake.snappy")[0],
                   lambda: duck.run(sql % ("'%s'" % data_file("snappy")))[0])
    show("count(*)", a, "DuckDB", b, "<= 5 ms")


def bench_project(server, _):
    for name, sql in (
            ("1 column, OFFSET", "SELECT l_orderkey FROM %s OFFSET 100000000"),
            ("4 columns, OFFSET", "SELECT " + FOUR +
             " FROM %s OFFSET 100000000"),
            ("16 columns, OFFSET", "SELECT * FROM %s OFFSET 100000000"),
            ("16 columns, each counted", EACH),
            ("count(unpushable)",
             "SELECT count(nullif(l_orderkey %% 7, 3)) FROM %s")):
        if "nullif" not in sql:
            sql = sql.replace("%%", "%")
        a, z, heap = medians(lambda: server.run(sql % "lake.snappy")[0],
                             lambda: server.run(sql % "lake.zstd")[0],
                             lambda: server.run(sql % "heap")[0])
        show(name + " snappy", a, "heap", heap, "<= 1.0x")
        show(name + " zstd", z, "heap", heap, "<= 1.0x")


def bench_temp(server, _):
    def fill(relation):
        took = server.run("CREATE TEMP TABLE fill AS SELECT %s FROM %s"
                          % (THREE, relation))[0]
        server.run("DROP TABLE fill")
        return took

    a, heap = medians(lambda: fill("lake.snappy"), lambda: fill("heap"))
    show("3 columns into a temp table", a, "heap", heap, "<= 0.75x")


def bench_analyze(server, _):
    a, heap = medians(lambda: server.run("ANALYZE lake.snappy")[0],
                      lambda: server.run("ANALYZE heap")[0])
    show("ANALYZE, 16 columns", a, "heap", heap, "<= 2000 ms")


def bench_point(server, duck):
    key = server.run("SELECT max(l_orderkey) / 2 FROM lake.sorted")[1][0][0]
    key = server.run("SELECT min(l_orderkey) FROM lake.sorted"
                     " WHERE l_orderkey >= %d" % key)[1][0][0]
    sql = "SELECT * FROM %%s WHERE l_orderkey = %d" % key
    for name in ("sorted", "snappy"):
        theirs = "'%s'" % data_file(name)
        if len(server.run(sql % ("lake." + name))[1]) != len(
                duck.run(sql % theirs)[1]):
            sys.exit("different answers")
        a, b = medians(lambda: server.run(sql % ("lake." + name))[0],
                       lambda: duck.run(sql % theirs)[0])
        show("a key of the %s file" % name, a, "DuckDB", b,
             "<= 5 ms" if name == "sorted" else "<= 1.0x")


def bench_travel(server, _):
    now = server.run("SELECT snapshot_id FROM lake.snapshots('lake.snappy')"
                     )[1][0][0]
    then = "lake.at(NULL::lake.snappy, snapshot => %d)" % now
    a, b = medians(lambda: server.run(Q6 % then)[0],
                   lambda: server.run(Q6 % "lake.snappy")[0])
    show("Q6 by lake.at", a, "plain", b, "<= 1.05x")
    few = "SELECT * FROM %s LIMIT 1"
    a, b = medians(lambda: server.run(few % then)[0],
                   lambda: server.run(few % "lake.snappy")[0])
    show("LIMIT 1 by lake.at", a, "plain", b, "<= 1.05x")


def bench_parallel(server, _):
    """Wall time: the workers' CPU time is not the backend's."""
    def wall(workers):
        server.run("SET max_parallel_workers_per_gather = %d" % workers)
        before = time.perf_counter()
        rows = server.run(Q6 % "lake.four")[1]
        took = (time.perf_counter() - before) * 1000
        answers.append(rows)
        return took

    answers = []
    serial, one = medians(lambda: wall(0), lambda: wall(1))
    server.run("RESET max_parallel_workers_per_gather")
    for rows in answers:
        equal(rows, answers[0])
    show("Q6, four files, 1 worker (wall)", one, "serial", serial,
         "<= 0.62x")


def table_metadata(location, snapshots):
    schema = {"type": "struct", "schema-id": 0, "fields": [
        {"id": i + 1, "name": "c%d" % i, "required": False, "type": "long"}
        for i in range(16)]}
    return {
        "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": location, "last-sequence-number": len(snapshots),
        "last-updated-ms": 1770000000000 + len(snapshots),
        "last-column-id": 16, "current-schema-id": 0, "schemas": [schema],
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999, "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {}, "current-snapshot-id": snapshots[-1]["snapshot-id"],
        "refs": {"main": {"snapshot-id": snapshots[-1]["snapshot-id"],
                          "type": "branch"}},
        "snapshots": snapshots,
        "snapshot-log": [{"timestamp-ms": s["timestamp-ms"],
                          "snapshot-id": s["snapshot-id"]}
                         for s in snapshots], "metadata-log": []}


def snapshot(number, manifest_list, files=None):
    files = files or number
    return {"snapshot-id": 3051729675574597000 + number,
            "sequence-number": number, "timestamp-ms": 1770000000000 + number,
            "summary": {"operation": "append", "added-data-files": "1",
                        "added-records": "1000", "added-files-size": "123456",
                        "changed-partition-count": "1",
                        "total-records": str(files * 1000),
                        "total-files-size": str(files * 123456),
                        "total-data-files": str(files),
                        "total-delete-files": "0",
                        "total-position-deletes": "0",
                        "total-equality-deletes": "0"},
            "manifest-list": manifest_list, "schema-id": 0}


def int_map(name, field, key, value, kind):
    return {"name": name, "field-id": field, "default": None, "type": [
        "null", {"type": "array", "logicalType": "map", "items": {
            "type": "record", "name": "k%d_v%d" % (key, value), "fields": [
                {"name": "key", "type": "int", "field-id": key},
                {"name": "value", "type": kind, "field-id": value}]}}]}


MANIFEST = {"type": "record", "name": "manifest_entry", "fields": [
    {"name": "status", "type": "int", "field-id": 0},
    {"name": "snapshot_id", "type": ["null", "long"], "field-id": 1},
    {"name": "sequence_number", "type": ["null", "long"], "field-id": 3},
    {"name": "file_sequence_number", "type": ["null", "long"], "field-id": 4},
    {"name": "data_file", "field-id": 2, "type": {
        "type": "record", "name": "r2", "fields": [
            {"name": "content", "type": "int", "field-id": 134},
            {"name": "file_path", "type": "string", "field-id": 100},
            {"name": "file_format", "type": "string", "field-id": 101},
            {"name": "partition", "field-id": 102, "type": {
                "type": "record", "name": "r102", "fields": []}},
            {"name": "record_count", "type": "long", "field-id": 103},
            {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
            int_map("column_sizes", 108, 117, 118, "long"),
            int_map("value_counts", 109, 119, 120, "long"),
            int_map("null_value_counts", 110, 121, 122, "long"),
            int_map("lower_bounds", 125, 126, 127, "bytes"),
            int_map("upper_bounds", 128, 129, 130, "bytes")]}}]}
LIST = {"type": "record", "name": "manifest_file", "fields": [
    {"name": "manifest_path", "type": "string", "field-id": 500},
    {"name": "manifest_length", "type": "long", "field-id": 501},
    {"name": "partition_spec_id", "type": "int", "field-id": 502},
    {"name": "content", "type": "int", "field-id": 517},
    {"name": "sequence_number", "type": "long", "field-id": 515},
    {"name": "min_sequence_number", "type": "long", "field-id": 516},
    {"name": "added_snapshot_id", "type": "long", "field-id": 503},
    {"name": "added_files_count", "type": "int", "field-id": 504},
    {"name": "existing_files_count", "type": "int", "field-id": 505},
    {"name": "deleted_files_count", "type": "int", "field-id": 506},
    {"name": "added_rows_count", "type": "long", "field-id": 512},
    {"name": "existing_rows_count", "type": "long", "field-id": 513},
    {"name": "deleted_rows_count", "type": "long", "field-id": 514}]}


def write_manifest_table(name, entries, manifests=1):
    """A table of so many entries each; its data files do not exist."""
    directory = "%s/%s" % (LAKE, name)
    os.makedirs(directory + "/metadata")

    def le(value):
        return value.to_bytes(8, "little")

    def record(i):
        def each(value):
            return [{"key": c + 1, "value": value} for c in range(16)]
        return {"status": 1, "snapshot_id": None, "sequence_number": None,
                "file_sequence_number": None, "data_file": {
                    "content": 0, "file_path":
                    "file://%s/data/part-%05d-a61e17f9.parquet"
                    % (directory, i), "file_format": "PARQUET",
                    "partition": {}, "record_count": 1000,
                    "file_size_in_bytes": 123456,
                    "column_sizes": each(7000 + i % 100),
                    "value_counts": each(1000),
                    "null_value_counts": each(0),
                    "lower_bounds": each(le(i * 1000)),
                    "upper_bounds": each(le(i * 1000 + 999))}}
    listed = []
    for number in range(manifests):
        manifest = "%s/metadata/m%d.avro" % (directory, number)
        with open(manifest, "wb") as file:
            fastavro.writer(file, MANIFEST, map(record, range(
                number * entries, (number + 1) * entries)), codec="deflate")
        listed.append({
            "manifest_path": "file://" + manifest,
            "manifest_length": os.path.getsize(manifest),
            "partition_spec_id": 0, "content": 0, "sequence_number": 1,
            "min_sequence_number": 1,
            "added_snapshot_id": 3051729675574597001,
            "added_files_count": entries, "existing_files_count": 0,
            "deleted_files_count": 0, "added_rows_count": entries * 1000,
            "existing_rows_count": 0, "deleted_rows_count": 0})
    with open(directory + "/metadata/snap.avro", "wb") as file:
        fastavro.writer(file, LIST, listed, codec="deflate")
    path = directory + "/metadata/v1.metadata.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(table_metadata("file://" + directory, [snapshot(
            1, "file://%s/metadata/snap.avro" % directory,
            entries * manifests)]), file)
    return path


def show_planning(name, goal, runs):
    """Medians of pairs of CPU and wall time."""
    cpu, wall = (statistics.median(times) for times in zip(*runs))
    show(name, cpu, "wall", wall, goal)


def explain(server, sql):
    before = time.perf_counter()
    cpu = server.run("EXPLAIN " + sql)[0]
    return cpu, (time.perf_counter() - before) * 1000


def bench_planning(server, _):
    for name, entries, manifests in (("planning", 100000, 1),
                                     ("one_manifest", 1000, 1),
                                     ("hundred_manifests", 10, 100)):
        server.run("CREATE FOREIGN TABLE %s () SERVER lake OPTIONS"
                   " (metadata_location '%s')" % (
                       name, write_manifest_table(name, entries, manifests)))
    point = "SELECT c0 FROM planning WHERE c3 = 5000000"
    runs = []
    for _ in range(RUNS):
        fresh = Server()
        fresh.run("SELECT 1 FROM lake.snappy LIMIT 0")
        runs.append(explain(fresh, point))
        fresh.connection.close()
    show_planning("planning, 100,000 entries, cold", "<= 250 ms", runs)
    for name, goal, sql in (
            ("planning, 100,000 cached, point", "<= 5 ms", point),
            ("planning, 100,000 cached, range", "<= 5 ms",
             "SELECT c0 FROM planning WHERE c3 BETWEEN 5000000 AND 5100000"),
            ("planning, 100,000 cached, all", "<= 5 ms", "SELECT c0 FROM planning"),
            ("pin, plan 1,000 files, cached", "<= 2 ms",
             "SELECT c0 FROM one_manifest WHERE c3 = 500000"),
            ("the same in 100 manifests", "<= 2 ms",
             "SELECT c0 FROM hundred_manifests WHERE c3 = 500000")):
        explain(server, sql)
        show_planning(name, goal, [explain(server, sql) for _ in range(RUNS)])
    for function in ("files", "entries", "partitions"):
        a, b = medians(*[lambda table=table: server.run(
            "SELECT count(*) FROM lake.%s('%s')" % (function, table))[0]
                         for table in ("planning", "one_manifest")])
        show("lake.%s, 100,000" % function, a, "1,000", b, "<= 2000 ms")


def bench_metadata(server, _):
    times = {1: [], 10000: []}
    for count in times:
        name = "snapshots_%d" % count
        path = write_manifest_table(name, 1)
        manifest_list = "file://%s/%s/metadata/snap.avro" % (LAKE, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(table_metadata("file://%s/%s" % (LAKE, name), [
                snapshot(i + 1, manifest_list) for i in range(count)]), file)
        server.run("CREATE FOREIGN TABLE %s () SERVER lake OPTIONS"
                   " (metadata_location '%s')" % (name, path))
    for _ in range(RUNS):
        for count in times:
            fresh = Server()
            fresh.run("SELECT 1 FROM lake.snappy LIMIT 0")
            times[count].append(fresh.run(
                "EXPLAIN SELECT c0 FROM snapshots_%d" % count)[0])
            fresh.connection.close()
    show("metadata.json, 10,000 snapshots", statistics.median(times[10000]),
         "1 snap.", statistics.median(times[1]), "<= 15 ms")

    def cold(sql):
        fresh = Server()
        fresh.run("SELECT 1 FROM lake.snappy LIMIT 0")
        before = time.perf_counter()
        took = fresh.run(sql)[0]
        wall = (time.perf_counter() - before) * 1000
        fresh.connection.close()
        return took, wall

    oldest = snapshot(1, "")["snapshot-id"]
    for name, goal, sql in (
            ("lake.at, the first of them", "<= 25 ms",
             "EXPLAIN SELECT * FROM lake.at(NULL::snapshots_10000, %d)" % oldest),
            ("lake.at, a time", "<= 25 ms",
             "EXPLAIN SELECT * FROM lake.at(NULL::snapshots_10000,"
             " as_of => to_timestamp(1770000009.9))"),
            ("lake.snapshots of all", "<= 50 ms",
             "SELECT count(*) FROM lake.snapshots('snapshots_10000')"),
            ("lake.history of all", "<= 50 ms",
             "SELECT count(*) FROM lake.history('snapshots_10000')"),
            ("lake.metadata_log_entries", "<= 50 ms",
             "SELECT count(*) FROM lake.metadata_log_entries('snapshots_10000')")):
        show_planning(name, goal, [cold(sql) for _ in range(RUNS)])


def bench_memory(server, _):
    fresh = Server()
    fresh.run("SELECT 1")
    peak, stop = [fresh.rss_anon()], threading.Event()
    base = peak[0]

    def watch():
        while not stop.wait(0.001):
            peak[0] = max(peak[0], fresh.rss_anon())

    thread = threading.Thread(target=watch)
    thread.start()
    fresh.run(EACH % "lake.snappy")
    stop.set()
    thread.join()
    print("%-34s %9.1f MiB (backend before: %.1f)  goal <= 64 MiB" % (
        "RssAnon peak, 16 columns", peak[0] / 1024, base / 1024), flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next(line.split(":")[1].strip() for line in file
                     if line.startswith("model name"))
    commit = subprocess.run(("git", "rev-parse", "--short", "HEAD"),
                            capture_output=True, text=True).stdout.strip()
    print("%s, %d cpus, Linux %s; DuckDB %s; commit %s; %d rows, medians of %d,"
          " CPU time" % (model, os.cpu_count(), platform.release(),
                         duckdb.__version__, commit, ROWS, RUNS))


def set_up(server):
    server.run("CREATE EXTENSION lakefdw")
    server.run("CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw"
               " OPTIONS (catalog 'file', warehouse '%s')" % LAKE)
    server.run("CREATE SCHEMA IF NOT EXISTS lake")
    server.run("IMPORT FOREIGN SCHEMA b FROM SERVER lake INTO lake")
    if {"q6", "project", "temp", "analyze"} & set(PARTS):
        server.run("CREATE UNLOGGED TABLE heap AS SELECT * FROM lake.snappy")
        server.run("VACUUM ANALYZE heap")
        server.run("SELECT count(*) FROM heap")
    print(server.run("SELECT version()")[1][0][0])


def main():
    machine()
    write_data()
    write_sorted()
    adopt()
    subprocess.run(("chmod", "-R", "a+rX", LAKE), check=True)
    server, duck = Server(), Duck()
    set_up(server)
    for part in PARTS:
        globals()["bench_" + part](server, duck)
    subprocess.run(("chmod", "-R", "a+rX", LAKE), check=True)


if __name__ == "__main__":
    main()
