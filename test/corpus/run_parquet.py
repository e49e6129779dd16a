"""Reads every stand-alone Parquet file of a corpus with build/parquet_digest and
compares rows, NULLs and digests with the expected values beside it.

A file on which the corpus' readers agree must agree.  What every other file
comes to is decided by the specification, file by file, in
parquet_decisions.tsv: pattern, outcome, reason.  Outcomes:

  error TEXT     an error with this text in it
  ok             rows and agreed columns are as expected
  hyparquet      the disagreed columns are as this reader has them
  duckdb         the same
  digest C=HEX   the disagreed column C has this digest of ours (none of the
                 readers follows the specification)
"""

import fnmatch
import json
import os
import subprocess
import sys

CORPUS = os.environ["LAKEFDW_CORPUS"]
PROGRAM = os.environ.get("PARQUET_DIGEST", "build/parquet_digest")
HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = ".expected.json"
BATCH = 64
SECONDS = 120
AGREED = ("agree", "agree_variant_not_compared")


def expectations():
    """(name below the corpus, expected values or None), sorted."""
    found = []
    for root, directories, files in os.walk(CORPUS):
        directories.sort()
        for file in files:
            path = os.path.join(root, file)
            name = os.path.relpath(path, CORPUS)
            if file.endswith(".encrypted"):
                found.append((name, None))
            if not file.endswith(EXPECTED):
                continue
            if not os.path.isfile(path[:-len(EXPECTED)]):
                continue
            with open(path, encoding="utf-8") as stream:
                expected = json.load(stream)
            if "verdict" in expected:
                found.append((name[:-len(EXPECTED)], expected))
    return sorted(found, key=lambda item: item[0])


def decisions():
    rows = []
    with open(os.path.join(HERE, "parquet_decisions.tsv"),
              encoding="utf-8") as stream:
        for line in stream:
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                pattern, outcome, reason = line.split("\t")
                if not reason:
                    sys.exit("%s has no reason" % pattern)
                rows.append((pattern, outcome))
    return rows


def run(paths):
    """The program's answers by path; None when it died or hung."""
    try:
        done = subprocess.run([PROGRAM] + paths, capture_output=True,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return {path: json.loads(line) for path, line in zip(paths, lines)}


def answers(names):
    """One by one where a batch fails, so that one file does not hide others."""
    found = {}
    for first in range(0, len(names), BATCH):
        batch = [os.path.join(CORPUS, name)
                 for name in names[first:first + BATCH]]
        some = run(batch)
        if some is None:
            some = {}
            for path in batch:
                some.update(run([path]) or {path: None})
        found.update(some)
    return found


def is_same(column, expected):
    return (column["digest"] == expected.get("digest") and
            column["nulls"] == expected.get("nulls"))


def check_column(column, expected, outcome):
    """What is wrong with a column, or None."""
    name = column["name"]
    if name != expected["name"]:
        return "column %s instead of %s" % (name, expected["name"])
    if "digest" in expected:
        if outcome.startswith("digest %s=" % name):
            expected = {"nulls": column["nulls"],
                        "digest": outcome.split("=", 1)[1]}
        if not is_same(column, expected):
            return "column %s is not as expected" % name
    elif "hyparquet_physical_digest" in expected:
        if column["digest"] != expected["hyparquet_physical_digest"]:
            return "variant column %s is not as expected" % name
    elif outcome in ("hyparquet", "duckdb"):
        if not is_same(column, expected.get(outcome, {})):
            return "column %s is not as %s has it" % (name, outcome)
    elif outcome.startswith("digest %s=" % name):
        if column["digest"] != outcome.split("=", 1)[1]:
            return "column %s has not the decided digest" % name
    return None


def check(answer, expected, outcome):
    """What is wrong with an answer, or None."""
    if answer is None:
        return "crash or timeout"
    if outcome.startswith("error "):
        if "error" not in answer:
            return "no error"
        if outcome[len("error "):] not in answer["error"]:
            return "another error: " + answer["error"]
        return None
    if "error" in answer:
        return "error: " + answer["error"]
    if "rows" in expected and answer["rows"] != expected["rows"]:
        return "%d rows instead of %d" % (answer["rows"], expected["rows"])
    if "columns" not in expected:
        return None
    if len(answer["columns"]) != len(expected["columns"]):
        return "%d columns" % len(answer["columns"])
    for column, wanted in zip(answer["columns"], expected["columns"]):
        wrong = check_column(column, wanted, outcome)
        if wrong is not None:
            return wrong
    return None


def main():
    rules = decisions()
    used = set()
    items = expectations()
    found = answers([name for name, _ in items])
    passed, failed = 0, 0
    for name, expected in items:
        outcome = None
        for pattern, decided in rules:
            if fnmatch.fnmatchcase(name, pattern):
                outcome = decided
                used.add(pattern)
        if outcome is None and expected and expected["verdict"] in AGREED:
            outcome = "ok"
        if outcome is None:
            wrong = "nothing is decided about it"
        else:
            wrong = check(found[os.path.join(CORPUS, name)], expected or {},
                          outcome)
        if wrong is None:
            passed += 1
        else:
            failed += 1
            print("FAILED %s: %s" % (name, wrong))
    for pattern, _ in rules:
        if pattern not in used:
            print("FAILED %s: decided, but there is no such file" % pattern)
            failed += 1
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
