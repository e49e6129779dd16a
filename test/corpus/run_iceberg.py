"""Reads the Iceberg tables of a corpus through SQL and compares rows, NULL
counts and digests with the expected values beside them.

Run by run_tests.sh, which starts the server.  Every snapshot with an expected
count is read: the newest metadata file is copied with its current snapshot set
to the one asked for, and mapped with metadata_location.  iceberg_decisions.json
says what the others come to, and where a table's files are that do not lie
below its location.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys

CORPUS = os.environ["LAKEFDW_CORPUS"]
WORK = os.environ["LAKE_WORK"]
HERE = os.path.dirname(os.path.abspath(__file__))
COUNTED = ("agree", "only_duckdb", "disagree")
# what the others come to, unless a decision says otherwise: data files that are
# ORC or Avro, files that the collection lacks
REFUSED = {"not_parquet": "is not supported", "none": "does not exist"}
# types whose text is the same in PostgreSQL and in the expected values
DIGESTED = ("int", "long", "string", "date", "boolean")

with open(os.path.join(HERE, "iceberg_decisions.json"),
          encoding="utf-8") as decisions_file:
    DECISIONS = json.load(decisions_file)

passed, failed = 0, 0


def check(name, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED %s: %s" % (name, str(detail)[:1200]))


def psql(sql):
    run = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d",
         "postgres", "-f", "-"], input=sql, capture_output=True, text=True)
    return run.returncode, run.stdout.split("\n"), run.stderr


def literal(text):
    return "'%s'" % text.replace("'", "''")


def identifier(name):
    return '"%s"' % name.replace('"', '""')


def expectations():
    """(table directory below the corpus, expected values), sorted."""
    found = []
    for root, directories, files in os.walk(CORPUS):
        directories.sort()
        for name in files:
            if not name.endswith(".expected.json"):
                continue
            directory = os.path.join(root, name[:-len(".expected.json")])
            if not os.path.isdir(os.path.join(directory, "metadata")):
                continue
            with open(os.path.join(root, name), encoding="utf-8") as file:
                value = json.load(file)
            if "snapshots" in value:
                found.append((os.path.relpath(directory, CORPUS), value))
    return sorted(found, key=lambda pair: pair[0])


def read_metadata(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data)


def set_snapshot(metadata, snapshot_id, directory):
    """Writes a copy whose current snapshot is snapshot_id."""
    metadata = dict(metadata)
    metadata["current-snapshot-id"] = int(snapshot_id)
    if metadata.get("refs"):
        metadata["refs"] = dict(metadata["refs"])
        metadata["refs"]["main"] = {"snapshot-id": int(snapshot_id),
                                    "type": "branch"}
    os.makedirs(directory + "/metadata", exist_ok=True)
    path = directory + "/metadata/%s.metadata.json" % snapshot_id
    with open(path, "w", encoding="utf-8") as file:
        json.dump(metadata, file)
    return path


def columns_sql(columns, types, no_digest):
    """Aggregates a column: its NULLs, and its digest where texts agree."""
    parts = ["count(*)"]
    for column in columns:
        name = identifier(column["name"])
        parts.append("count(*) - count(%s)" % name)
        if types[column["id"]].startswith(DIGESTED) and \
                "sorted_digest" in column and \
                column["name"] not in no_digest:
            parts.append(
                "encode(sha256(convert_to(coalesce(string_agg(%s::text"
                " || E'\\n', '' ORDER BY %s::text COLLATE \"C\"), ''),"
                " 'UTF8')), 'hex')" % (name, name))
        else:
            parts.append("''")
    return parts


def check_columns(name, table, snapshot, types, no_digest):
    # attributes by name; the expected values name the current schema's fields
    _, declared, _ = psql("SELECT attname FROM pg_attribute WHERE attrelid ="
                          " '%s'::regclass AND attnum > 0;" % table)
    columns = [c for c in snapshot.get("columns", [])
               if c["name"] in declared and c["id"] in types]
    if not columns:
        return
    status, out, err = psql("SELECT %s FROM %s;" % (
        ", ".join(columns_sql(columns, types, no_digest)), table))
    if status != 0:
        check(name + " columns", False, err)
        return
    values = out[0].split("|")
    for i, column in enumerate(columns):
        nulls, digest = values[1 + 2 * i], values[2 + 2 * i]
        check("%s %s" % (name, column["name"]),
              int(nulls) == column["nulls"] and
              (digest == "" or digest == column["sorted_digest"]),
              "%s NULLs, digest %s, expected %s, %s" % (
                  nulls, digest, column["nulls"],
                  column.get("sorted_digest")))


def check_snapshot(name, table, snapshot, path, path_map, decision, types):
    status, _, err = psql(
        "CREATE FOREIGN TABLE %s () SERVER corpus OPTIONS"
        " (metadata_location %s, path_map %s);"
        % (table, literal(path), literal(path_map)))
    if status == 0:
        status, out, err = psql("SELECT count(*) FROM %s;" % table)
    if decision.get("metadata_only"):
        check(name + " rows", status == 0 and
              out[0] == str(snapshot["rows"]), err or out)
        return
    if status == 0:
        status, more, err = psql("SELECT count(lake_row) FROM %s lake_row;" % table)
        out = out[:1] + more
    if "error" in decision:
        check(name + " is refused", status != 0 and decision["error"] in err,
              err or "no error")
        return
    if status != 0:
        check(name, False, err)
        return
    # once from metadata where that is allowed, once from the files
    check(name + " rows", out[:2] == [str(snapshot["rows"])] * 2,
          "%s, expected %d" % (out[:2], snapshot["rows"]))
    check_columns(name, table, snapshot, types,
                  decision.get("no_digest", ()))


def check_table(number, directory, expected):
    decision = DECISIONS.get(directory, {})
    copy = "%s/corpus-%d" % (WORK, number)
    shutil.copytree(os.path.join(CORPUS, directory), copy)
    metadata = read_metadata("%s/metadata/%s"
                             % (copy, expected["current_metadata"]))
    maps = ["%s=%s" % (metadata["location"].rstrip("/"), copy)]
    for i, (prefix, target) in enumerate(
            decision.get("path_map", {}).items()):
        maps.append("%s=%s-%d" % (prefix, copy, i))
        shutil.copytree(os.path.join(CORPUS, directory, target),
                        "%s-%d" % (copy, i))
    types = {f["id"]: str(f["type"]) for f in expected.get("schema", [])}
    for i, snapshot in enumerate(expected["snapshots"]):
        one = dict(decision, **decision.get("snapshots", {}).get(
            snapshot["snapshot_id"], {}))
        if snapshot.get("verdict") not in COUNTED and "rows" not in one:
            one.setdefault("error", REFUSED[snapshot["verdict"]])
        if snapshot.get("rows") is None:
            snapshot["rows"] = one.get("rows")
        path = set_snapshot(metadata, snapshot["snapshot_id"],
                            "%s/work-%d" % (WORK, number))
        subprocess.run(("chmod", "-R", "a+rX", WORK), check=True)
        check_snapshot("%s@%s" % (directory, snapshot["snapshot_id"]),
                       "corpus_%d_%d" % (number, i), snapshot, path,
                       ",".join(maps), one, types)


def main():
    status, _, err = psql("""
        CREATE EXTENSION lakefdw;
        CREATE SERVER corpus FOREIGN DATA WRAPPER lakefdw
            OPTIONS (catalog 'file', warehouse %s);""" % literal(WORK))
    if status != 0:
        sys.exit(err)
    wanted = sys.argv[1:]
    for number, (directory, expected) in enumerate(expectations()):
        if not wanted or directory in wanted:
            check_table(number, directory, expected)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
