"""Rows of ours and of the engines in one form, and the count of comparisons.

Users of this module set PSQL, and DATABASE if it is another one, before they
call anything.
"""

import datetime as dt
import decimal
import glob
import json
import os
import re
import struct
import subprocess
import sys
import uuid

PSQL = "psql"
DATABASE = "postgres"
EXACT = decimal.Context(prec=400)

passed, failed = 0, []


def check(name, ok, detail=""):
    global passed
    if ok:
        passed += 1
    else:
        failed.append(name)
        print("FAILED %s: %s" % (name, str(detail)[:2000]))


def psql(sql):
    run = subprocess.run(
        [PSQL, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d",
         DATABASE, "-f", "-"],
        input=sql, capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def quoted(name):
    return '"%s"' % name.replace('"', '""')


def literal(text):
    return "'%s'" % text.replace("'", "''")


def canonical(value):
    """One form for a value, whether it came as a Python object or as JSON."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, decimal.Decimal)):
        return EXACT.normalize(decimal.Decimal(value)) if value else 0
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return canonical(decimal.Decimal(repr(value)))
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
        return value.isoformat()
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + bytes(value).hex()
    if isinstance(value, uuid.UUID):
        return str(value)
    if hasattr(value, "asDict"):
        return {k: canonical(v) for k, v in value.asDict().items()}
    if isinstance(value, dict):
        if not value:
            return []
        if all(isinstance(k, str) for k in value):
            return {k: canonical(v) for k, v in value.items()}
        return canonical([{"key": k, "value": v} for k, v in value.items()])
    if isinstance(value, (list, tuple)):
        value = [canonical(v) for v in value]
        if all(isinstance(v, dict) and set(v) == {"key", "value"}
               for v in value):
            # a map: its order means nothing
            value.sort(key=key)
        return value
    # a timestamp's zone and trailing zeros are a matter of style
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)"
                         r"(\+00:00)?", value)
    return canonical_timestamp(match[1]) if match else value


def canonical_timestamp(text):
    head, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return head + ("." + fraction.ljust(6, "0") if fraction else "")


def key(row):
    return json.dumps(row, sort_keys=True, default=str)


def shortest(value):
    """A float's shortest text that is the same float, as float4 prints."""
    if value is None or value != value or value in (float("inf"),
                                                    float("-inf")):
        return value
    for digits in range(1, 10):
        near = float("%.*g" % (digits, value))
        if struct.unpack("f", struct.pack("f", near))[0] == value:
            return near
    return value


def float32(frame, rows):
    """Spark widens float columns; print them as PostgreSQL does a float4."""
    names = [f.name for f in frame.schema.fields
             if f.dataType.simpleString() == "float"]
    for row in rows:
        for name in names:
            row[name] = shortest(row[name])
    return rows


def spark_rows(spark, sql):
    frame = spark.session.sql(sql)
    rows = [row.asDict(recursive=False) for row in frame.collect()]
    rows = float32(frame, rows)
    return [{k: canonical(v) for k, v in row.items()} for row in rows]


def our_rows(relation, where=""):
    # by COPY, since psql leaves out U+10FFFF when it prints a result
    status, out, err = psql(
        "COPY (SELECT to_jsonb(lake_row) FROM %s lake_row %s) TO STDOUT"
        " (FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01');"
        % (relation, where))
    if status != 0:
        return None, err
    return [canonical(json.loads(line, parse_float=decimal.Decimal))
            for line in out.split("\n") if line], ""


def same(name, ours, theirs, err=""):
    if ours is None:
        check(name, False, err)
        return
    ours, theirs = sorted(map(key, ours)), sorted(map(key, theirs))
    if ours == theirs:
        check(name, True)
        return
    check(name, False, "%d rows, %d expected; %s" % (
        len(ours), len(theirs), difference(
            [json.loads(r) for r in ours if r not in theirs],
            [json.loads(r) for r in theirs if r not in ours])))


def difference(here, there):
    """A row of one side only, next to the most similar one of the other."""
    if not here or not there:
        return "only here %s; only there %s" % (here[:3], there[:3])
    row = here[0]
    near = max(there, key=lambda other: sum(
        row.get(name) == value for name, value in other.items()))
    names = [name for name in {**row, **near}
             if row.get(name, "(absent)") != near.get(name, "(absent)")]
    return "first %s, expected %s" % (
        {name: row.get(name, "(absent)") for name in names},
        {name: near.get(name, "(absent)") for name in names})


def tables(warehouse):
    """(namespace, table) below a warehouse."""
    for metadata in sorted(glob.glob(warehouse + "/**/metadata",
                                     recursive=True)):
        parts = os.path.relpath(os.path.dirname(metadata),
                                warehouse).split(os.sep)
        yield ".".join(parts[:-1]), parts[-1]


def is_for_spark(warehouse, space, table):
    """Spark's catalog knows its own names of metadata files alone."""
    return bool(glob.glob("%s/%s/%s/metadata/v*.metadata.json" % (
        warehouse, space.replace(".", "/"), table)))


def close():
    """Prints the closing line and ends the program."""
    print("%d passed, %d failed" % (passed, len(failed)))
    sys.exit(1 if failed else 0)
