#!/usr/bin/env python3
"""The truth table of conflicts, and the isolation specs that are made of it.

    conflicts.py write      writes specs/conflicts_*.spec
    conflicts.py check      are they what the table says, and are outcome and
                            rows in expected/ what it says?

One commit comes second: it was begun before the first one committed.  A cell
says which of the format's checks refuses it:

    .   none: both are in the table
    L   none, but the delete is lost: positions cannot tell that an equality
        delete and a new row were the update of a row which it deletes
    C1  data files have been added that may have rows which it has looked for
    C3  a data file has gone of which it deletes or updates rows
    C4  delete files have been added that may reach rows which it has looked for
    C5  delete files have been added that reach a data file which it removes
    C6  a deletion vector has been added to a data file that it has one for
    C7  a data file has gone which it removes
    P   rows have been deleted or updated which it deletes or updates
    H   the snapshot that it has read is not known as an ancestor
    U   the table has become one of v3, which takes no position delete files
    -   not tried: as in the column on the left, or not possible

The rules are the format's, with three exceptions.  C3 holds for DELETE even if
the file has gone by a deletion.  Position deletes are compared by position (P)
instead of C4 and C6 where the level of the table is "snapshot"; and for DELETE
of both levels where they come from an UPDATE, since the row is there still.
Deletes by a deletion are no conflict for who deletes all rows of the file,
too.  All of it is the same in READ COMMITTED and REPEATABLE READ; in a
SERIALIZABLE session any move of the pointer is a conflict.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# what comes second: of columns of the table, the statement's step, the version
# of the table, the mode of its deletes and updates
SECONDS = {
    "ins": ("insert", 2, "merge-on-read"),
    "tru": ("truncate", 2, "merge-on-read"),
    "cow": ("update", 2, "copy-on-write"),
    "cow1": ("update", 1, "copy-on-write"),
    "del2": ("delete", 2, "merge-on-read"),
    "del3": ("delete", 3, "merge-on-read"),
    "upd2": ("update", 2, "merge-on-read"),
    "upd3": ("update", 3, "merge-on-read"),
    "fcow": ("delete_file", 2, "copy-on-write"),
    "fmor": ("delete_file", 2, "merge-on-read"),
}
LEVELS = {"se": "serializable", "sn": "snapshot"}

# columns: INSERT; TRUNCATE; UPDATE and DELETE by copy-on-write, of tables of v2
# and v1; DELETE and UPDATE by merge-on-read with v2's position deletes and v3's
# vectors; DELETE of all rows of a file by copy-on-write and merge-on-read.  se
# and sn: the level of the table, serializable or snapshot
TABLE = """
                      ins tru cow    cow1   del2   del3   upd2   upd3   fcow   fmor
                              se sn  se sn  se sn  se sn  se sn  se sn  se sn  se sn
append_match          .   .   C1 .   C1 .   C1 .   -  -   C1 .   -  -   C1 .   C1 .
append_other          .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
cow_update            .   .   C7 C7  C7 C7  C3 C3  -  -   C3 C3  -  -   C7 C7  C7 C7
cow_delete            .   .   C7 C7  C7 C7  C3 C3  -  -   C3 C3  -  -   C7 C7  C7 C7
delete_file           .   .   C7 C7  C7 C7  C3 C3  -  -   C3 C3  -  -   C7 C7  C7 C7
truncate              .   .   C7 C7  C7 C7  C3 C3  -  -   C3 C3  -  -   C7 C7  C7 C7
cow_update_other      .   .   C1 .   C1 .   C1 .   -  -   C1 .   -  -   C1 .   C1 .
cow_delete_other      .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
delete_other_file     .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
mor_delete_same       .   .   C5 C5  -  -   .  .   C6 P   C4 P   C4 P   C5 C5  .  .
mor_delete_row        .   .   C5 C5  -  -   .  .   C6 .   C4 .   C4 .   C5 C5  .  .
mor_delete_other      .   .   .  .   -  -   .  .   .  .   C4 .   C4 .   .  .   .  .
mor_delete_both       .   .   C5 C5  -  -   .  .   C6 .   C4 .   C4 .   C5 C5  .  .
mor_update_same_match .   .   C1 C5  -  -   C1 P   C1 P   C1 P   C1 P   C1 C5  C1 C5
mor_update_same       .   .   C5 C5  -  -   P  P   C6 P   C4 P   C4 P   C1 C5  C1 C5
mor_update_row_match  .   .   C1 C5  -  -   C1 .   C1 .   C1 .   C1 .   C1 C5  C1 C5
mor_update_row        .   .   C5 C5  -  -   .  .   C6 .   C4 .   C4 .   C5 C5  C5 C5
mor_update_other      .   .   .  .   -  -   .  .   .  .   C4 .   C4 .   .  .   .  .
equality_delete       .   .   C5 C5  -  -   .  .   .  .   C4 C4  C4 C4  C5 C5  .  .
upsert                .   .   C1 C5  -  -   C1 L   C1 L   C1 C4  C1 C4  C1 C5  C1 C5
compact               .   .   C7 C7  C7 C7  C3 C3  C3 C3  C3 C3  C3 C3  C7 C7  C7 C7
compact_other         .   .   .  .   .  .   .  .   .  .   .  .   .  .   .  .   .  .
overwrite             .   .   C7 C7  C7 C7  C3 C3  C3 C3  C3 C3  C3 C3  C7 C7  C7 C7
rewrite_manifests     .   .   .  .   .  .   .  .   .  .   .  .   .  .   .  .   .  .
expire                .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
expire_base           .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
expire_later          .   .   H  H   H  H   H  H   -  -   H  H   -  -   H  H   H  H
rollback              .   .   H  H   H  H   H  H   -  -   H  H   -  -   H  H   H  H
property              .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
tag                   .   .   .  .   .  .   .  .   -  -   .  .   -  -   .  .   .  .
add_column            .   .   .  .   -  -   .  .   -  -   .  .   -  -   .  .   .  .
add_partition_field   .   .   .  .   -  -   .  .   -  -   .  .   -  -   .  .   .  .
upgrade               .   .   .  .   -  -   U  U   -  -   U  U   -  -   .  .   .  .
"""

SPECS = {
    "conflicts_append": (["ins", "tru"], "INSERT and TRUNCATE"),
    "conflicts_rewrite": (["cow", "cow1"], "UPDATE and DELETE that rewrite files"),
    "conflicts_delete": (["del2", "del3"], "DELETE that adds delete files"),
    "conflicts_update": (["upd2", "upd3"], "UPDATE that adds delete files"),
    "conflicts_files": (["fcow", "fmor"], "DELETE of all rows of a file"),
    # held before its swap: the commit has been built on the old head, loses,
    # and is built anew
    "conflicts_late": (list(SECONDS), "held before its swap"),
}
LATE = ["append_match", "append_other", "cow_update", "delete_file",
        "mor_delete_same", "mor_delete_row", "mor_update_row", "upsert",
        "compact", "rewrite_manifests", "expire_later", "rollback"]

STATEMENTS = {
    "insert": "INSERT INTO %s VALUES (99, 'a', 990);",
    "truncate": "TRUNCATE %s;",
    "update": "UPDATE %s SET val = val + 1000 WHERE val = 20;",
    "delete": "DELETE FROM %s WHERE val = 20;",
    "delete_file": "DELETE FROM %s WHERE val <= 30;",
}

# what each commit does to rows, as {id: val}, None: it is gone
BASE = {i: i * 10 for i in range(1, 10)}
FIRST = {
    "append_match": {10: 20},
    "append_other": {10: 100},
    "cow_update": {1: 11},
    "cow_delete": {1: None},
    "delete_file": {1: None, 2: None, 3: None},
    "truncate": dict.fromkeys(BASE),
    "cow_update_other": {4: 20},
    "cow_delete_other": {4: None},
    "delete_other_file": {4: None, 5: None, 6: None},
    "mor_delete_same": {2: None},
    "mor_delete_row": {1: None},
    "mor_delete_other": {4: None},
    "mor_delete_both": {1: None, 4: None},
    "mor_update_same_match": {2: None, 12: 20},
    "mor_update_same": {2: 21},
    "mor_update_row_match": {1: 20},
    "mor_update_row": {1: 41},
    "mor_update_other": {4: 41},
    "equality_delete": {2: None},
    "upsert": {2: 22, 11: 20},
    "overwrite": {2: None, 3: None, 4: None, 5: None, 6: None, 12: 20},
    "expire_base": {10: 100},
    "expire_later": {10: 100},
    "rollback": {1: None, 2: None, 3: None},
}
SECOND = {
    "insert": {99: 990},
    "truncate": None,           # whatever there is
    "update": {2: 1020},
    "delete": {2: None},
    "delete_file": {1: None, 2: None, 3: None},
}

SESSIONS = {"rc": "READ COMMITTED", "rr": "REPEATABLE READ",
            "ser": "SERIALIZABLE"}


def read_table():
    """{first: {(column, level): cell}}; level "" where there is none."""
    heads, levels, *rows = TABLE.strip("\n").split("\n")
    columns = [(match.start(), match.group())
               for match in re.finditer(r"\S+", heads)]
    cells = []
    for match in re.finditer(r"\S+", rows[0][22:]):
        place = match.start() + 22
        name = [name for start, name in columns if start <= place][-1]
        cells.append((name, levels[place:place + 2].strip()))
    table = {}
    for row in rows:
        first, *values = row.split()
        assert len(values) == len(cells), row
        table[first] = dict(zip(cells, values))
    return table


def comment(columns, table):
    """The table's part that a spec is of, as a comment."""
    cells = [key for key in next(iter(table.values())) if key[0] in columns]
    lines = ["%-22s" % "" + "".join("%-9s" % (" ".join(key).strip())
                                    for key in cells)]
    for first, row in table.items():
        lines.append("%-22s" % first + "".join("%-9s" % row[key]
                                               for key in cells))
    return "".join("#     %s\n" % line.rstrip() for line in lines)


def setup(column, level):
    _, version, mode = SECONDS[column]
    name = "v%d_%s" % (version, "mor" if mode == "merge-on-read" else "cow")
    return name if level == "" else "%s_%s" % (name, level)


def is_late(name):
    return name == "conflicts_late"


def permutations(name, table):
    """(first, step of the second, setup, cell)"""
    columns = SPECS[name][0]
    for first, row in table.items():
        if is_late(name) and first not in LATE:
            continue
        for (column, level), cell in row.items():
            if column not in columns or cell == "-":
                continue
            if is_late(name) and level == "se":
                continue
            statements = [SECONDS[column][0]]
            if column == "cow":
                statements.append("delete")
            for statement in statements:
                yield first, statement, setup(column, level), cell


def head(name, table):
    columns, what = SPECS[name]
    rules = "Made by conflicts.py, which has the rules"
    if is_late(name):
        return ("# A commit is held before its swap while another one comes "
                "first, so it is built anew.\n#\n# %s.\n\n" % rules)
    return ("# The second of two commits is %s: what may have come first.\n"
            "#\n# %s, and says what the cells mean:\n#\n%s#\n"
            "# test/support/races.sql has the tables and the first commits."
            "\n\n" % (what, rules, comment(columns, table)))


def seconds(name, rows):
    """The sessions that commit second."""
    statements = dict.fromkeys(row[1] for row in rows)
    out = []
    if is_late(name):
        out.append("session rc\n"
                   "setup\t{ SET lakefdw.stop_point = 'before-swap'; }\n")
        for statement in statements:
            out.append("step rc_%s\t{ %s }\n" % (
                statement, STATEMENTS[statement] % "t_rc"))
        return out + ["\n"]
    for session, level in SESSIONS.items():
        out.append("session %s\n" % session)
        for statement in statements:
            out.append("step %s_%s\t{ BEGIN ISOLATION LEVEL %s; %s }\n" % (
                session, statement, level,
                STATEMENTS[statement] % ("t_" + session)))
        out.append("step %s_commit\t{ COMMIT; }\n\n" % session)
    return out


def spec(name, table):
    rows = list(permutations(name, table))
    out = [head(name, table)] + seconds(name, rows)
    out.append("session other\n")
    for label in dict.fromkeys(row[2] for row in rows):
        version, mode, *level = label.split("_")
        out.append("step %s\t{ CALL create_races(%s, '%s', '%s'); }\n" % (
            label, version[1:],
            "merge-on-read" if mode == "mor" else "copy-on-write",
            LEVELS[level[0]] if level else "serializable"))
    for first in dict.fromkeys(row[0] for row in rows):
        out.append("step %s\t{ CALL first('%s'); }\n" % (first, first))
    order = ("permutation {2} rc_{1} rr_{1} ser_{1} {0} "
             "rc_commit rr_commit ser_commit rows\n")
    if is_late(name):
        out.append("step hold\t"
                   "{ SELECT pg_advisory_lock(hashtext('before-swap')); }\n"
                   "step release\t{ SELECT pg_advisory_unlock_all(); }\n")
        order = "permutation {2} hold rc_{1} {0} release rows\n"
    out.append("step rows\t{ TABLE race_rows; }\n\n")
    return "".join(out + [order.format(*row) for row in rows])


def rows_after(first, statement, cell):
    """The rows that must be there, as the spec shows them."""
    rows = dict(BASE)
    rows.update(FIRST.get(first, {}))
    if cell == ".":
        second = SECOND[statement]
        if second is None:
            rows = {}
        else:
            # an update finds its row in all cells that allow it
            rows.update(second)
    return " ".join("%d:%d" % (i, val) for i, val in sorted(rows.items())
                    if val is not None)


def outcomes(name, text):
    """[(steps, {session: error or None}, {session: rows})] of a file."""
    result = []
    sessions, end = SESSIONS, r"%s_commit: COMMIT;"
    if is_late(name):
        sessions, end = ["rc"], r"%s_\w+: <... completed>"
    for part in text.split("\nstarting permutation: ")[1:]:
        steps, _, rest = part.partition("\n")
        refused, rows = {}, {}
        for session in sessions:
            match = re.search(r"^step %s\n(ERROR: .*)?" % (end % session),
                              rest, re.M)
            refused[session] = match.group(1)
            match = re.search(r"^%s *\|(.*)$" % session, rest, re.M)
            rows[session] = match.group(1).strip()
        result.append((steps.split(), refused, rows))
    return result


def check(name, table):
    problems = []
    path = os.path.join(HERE, "specs", name + ".spec")
    if not os.path.exists(path) or open(path).read() != spec(name, table):
        problems.append("%s: not what conflicts.py writes" % path)
    path = os.path.join(HERE, "expected", name + ".out")
    found = outcomes(name, open(path).read())
    wanted = list(permutations(name, table))
    if len(found) != len(wanted):
        return problems + ["%s: %d permutations, not %d"
                           % (path, len(found), len(wanted))]
    for outcome, (first, statement, label, cell) in zip(found, wanted):
        steps, refused, rows = outcome
        for session, error in refused.items():
            if session == "ser":
                cell = "S"
            if (error is not None) != (cell not in (".", "L")):
                problems.append("%s: %s after %s in %s, %s: %s, but the table "
                                "says %s" % (name, statement, first, label,
                                             session, error, cell))
            elif error and "could not serialize access" not in error:
                problems.append("%s: %s" % (" ".join(steps), error))
            right = rows_after(first, statement, cell)
            if rows[session] != right:
                problems.append("%s: %s after %s in %s, %s: rows %s, not %s"
                                % (name, statement, first, label, session,
                                   rows[session], right))
    return problems


def main():
    table = read_table()
    if sys.argv[1:] == ["write"]:
        for name in SPECS:
            with open(os.path.join(HERE, "specs", name + ".spec"), "w") as f:
                f.write(spec(name, table))
    elif sys.argv[1:] == ["check"]:
        problems = [p for name in SPECS for p in check(name, table)]
        print("\n".join(problems))
        sys.exit(1 if problems else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
