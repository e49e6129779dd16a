"""The rules of the tree that no compiler checks; DEVELOPING.md says why each.

Prints one line a finding and exits 1 if there is any.
"""

import collections
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
os.chdir(TOP)

# rows of the architecture, lowest first; folders of one row never meet
ROWS = (("base",), ("io", "codec"), ("avro", "parquet"), ("table",),
        ("iceberg", "delta", "hudi"), ("metastore",), ("server",), ("fdw",),
        ("functions",))
ROW = {folder: i for i, row in enumerate(ROWS) for folder in row}
# folders of which every header is public
VOCABULARIES = {"base", "table"}
# offered beside the header of the folder's name
OFFERED = {("server", "compat.h")}
FILE_LINES, FUNCTION_LINES = 1500, 120

findings = []


def report(path, line, text):
    findings.append("%s:%d: %s" % (path, line, text))


def tracked(*patterns):
    out = subprocess.run(("git", "ls-files", "-co", "--exclude-standard",
                          "--") + patterns,
                         capture_output=True, text=True, check=True).stdout
    return [p for p in out.split("\n") if p and os.path.exists(p)]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


SOURCES = tracked("src/*.c", "src/*.h")


def check_includes():
    for path in SOURCES:
        folder = path.split("/")[1]
        for number, line in enumerate(read(path).split("\n"), 1):
            match = re.match(r'#include "([a-z_]+)/([a-z0-9_]+\.[hc])"', line)
            if not match or match[1] not in ROW:
                continue
            other, header = match.groups()
            if other == folder:
                continue
            if ROW[other] >= ROW[folder]:
                report(path, number, "includes %s/%s: not below %s"
                       % (other, header, folder))
            elif header.endswith("_int.h") or (
                    other not in VOCABULARIES and header != other + ".h"
                    and (other, header) not in OFFERED):
                report(path, number, "includes %s/%s: private to %s"
                       % (other, header, other))


def functions(text):
    """(name, first line, last line) of function bodies at column 0."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line == "{" and i > 0:
            start = i
            while start > 0 and lines[start - 1] and \
                    not lines[start - 1].startswith(("}", "#", "/*", " *")):
                start -= 1
            head = " ".join(lines[start:i])
            name = re.search(r"(\w+)\s*\(", head)
            if not name or re.match(r"(typedef |struct|enum|union)", head):
                continue
            end = i
            while end < len(lines) and lines[end] != "}":
                end += 1
            yield name[1], i + 1, end + 1


def check_budgets():
    for path in SOURCES:
        text = read(path)
        count = text.count("\n")
        if count > FILE_LINES:
            report(path, 1, "%d lines, %d at most" % (count, FILE_LINES))
        for name, first, last in functions(text):
            if last - first > FUNCTION_LINES:
                report(path, first, "%s has %d lines, %d at most"
                       % (name, last - first, FUNCTION_LINES))


def check_text():
    names = collections.defaultdict(list)
    for path in SOURCES + tracked("test/*.c", "test/*.h"):
        text = read(path)
        names[os.path.basename(path)].append(path)
        head = text.split("*/", 1)[0]
        if not text.startswith("/*"):
            report(path, 1, "has no head comment")
        elif os.path.basename(path) in head:
            report(path, 1, "the head comment repeats the file's name")
        for number, line in enumerate(text.split("\n"), 1):
            if re.search(r"(^|[^:\"'])//", line) and '"' not in line:
                report(path, number, "// comment")
            if re.search(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b", line):
                report(path, number, "unfinished mark")
            if line != line.rstrip():
                report(path, number, "trailing white space")
    for name, paths in names.items():
        if len(paths) > 1 and not name.endswith("_int.h"):
            report(paths[0], 1, "not the only file of this name: %s"
                   % ", ".join(paths[1:]))


def check_tests_listed():
    tests = {os.path.basename(p)[:-4] for p in tracked("sql/*.sql")
             if not p.startswith("sql/extension/")}
    outputs = {os.path.basename(p)[:-4] for p in tracked("expected/*.out")}
    listed = set()
    for line in read("test/schedule").split("\n"):
        if line.startswith("test:"):
            listed.update(line.split()[1:])
    for name in sorted(tests - listed):
        report("test/schedule", 1, "does not list sql/%s.sql" % name)
    for name in sorted(listed - tests):
        report("test/schedule", 1, "lists %s, which is not in sql/" % name)
    for name in sorted(tests ^ outputs):
        report("sql/%s.sql" % name, 1, "needs both sql/ and expected/")
    specs = {os.path.basename(p)[:-5]
             for p in tracked("test/isolation/specs/*.spec")}
    if specs:
        listed = set(re.findall(r"\w+", read("test/isolation/schedule")))
        for name in sorted(specs - listed):
            report("test/isolation/schedule", 1, "does not list " + name)


def check_documented():
    """Options, settings and SQL functions have a place in README.md."""
    readme = read("README.md")
    function = r"(?i)^CREATE (?:OR REPLACE )?FUNCTION (?:lake\.)?(\w+)"
    sql = "\n".join(read(p) for p in tracked("sql/extension/*.sql"))
    for path, text, pattern in (
            ("src/server/option.c", read("src/server/option.c"),
             r'^\t\{"([a-z_]+)",'),
            ("src/server/guc.c", read("src/server/guc.c"),
             r'"(lakefdw\.[a-z_]+)"'),
            ("sql/extension", sql, function)):
        found = re.findall(pattern, text, re.M)
        if not found:
            report(path, 1, "no names found: does the lint know its form?")
        for name in sorted(set(found)):
            if "`%s`" % name not in readme and name + "(" not in readme:
                report("README.md", 1, "does not document %s of %s"
                       % (name, path))
    for name in re.findall(function, sql, re.M):
        if not re.search(r"(?i)COMMENT ON FUNCTION (?:lake\.)?%s\b" % name,
                         sql):
            report("sql/extension", 1, "no COMMENT ON FUNCTION " + name)


def check_exports():
    if not os.path.exists("lakefdw.so"):
        return
    out = subprocess.run(("nm", "-D", "--defined-only", "lakefdw.so"),
                         capture_output=True, text=True, check=True).stdout
    allowed = re.compile(r"(Pg_magic_func|_PG_init|pg_finfo_lakefdw_\w+"
                         r"|lakefdw_\w+)$")
    for line in out.split("\n"):
        if line and not allowed.match(line.split()[-1].split("@")[0]):
            report("src/lakefdw.map", 1, "exports " + line.split()[-1])
    with open("lakefdw.so", "rb") as file:
        if re.search(b"stop[-_ ]point|before-swap", file.read()):
            report("Makefile", 1, "lakefdw.so has stop points")


for check in (check_includes, check_budgets, check_text, check_tests_listed,
              check_documented, check_exports):
    check()
print("\n".join(findings + ["lint: %d findings" % len(findings)]))
sys.exit(1 if findings else 0)
