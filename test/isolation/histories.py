#!/usr/bin/env python3
"""Random histories of two transactions on one table, and a model of its rows.

    histories.py write SEED COUNT           prints them as an isolation spec
    histories.py check SEED COUNT OUTPUT    compares what isolationtester said

A history: statements that come before; the second's, in one transaction, which
reads what is there by then; the first's, each committed alone; the second's
commit.  Versions, modes and levels vary.  A commit that is allowed must leave
the rows of both, may have changed no row that the first has changed (both may
have deleted it), and at level serializable no row that the first has made may
match what the second has looked for.  One that is refused must leave no trace.
"""

import collections
import random
import re
import sys

BASE = {i: i * 10 for i in range(1, 10)}
MODES = ["merge-on-read", "merge-on-read", "copy-on-write"]
Insert = collections.namedtuple("Insert", "id val")
Update = collections.namedtuple("Update", "low high by")
Delete = collections.namedtuple("Delete", "low high")
History = collections.namedtuple(
    "History", "version mode level before second first is_late")


def random_statement(rand, new_id):
    """Values are few, so that statements often meet."""
    kind = rand.random()
    low = rand.randrange(10, 91, 10)
    high = low + rand.choice([0, 0, 5, 10, 20])
    if kind < 0.2:
        return Insert(new_id, rand.randrange(10, 91, 5))
    if kind < 0.6:
        return Update(low, high, rand.choice([-10, 10, -10, 10, 5, 100]))
    return Delete(low, high)


def random_history(rand):
    # (mode, statement) of those that are committed alone
    def alone(counts, new_id):
        return [(rand.choice(MODES), random_statement(rand, new_id + i))
                for i in range(rand.choice(counts))]

    second = [random_statement(rand, 60 + i)
              for i in range(rand.choice([1, 1, 2, 3]))]
    return History(rand.choice([2, 3]), rand.choice(MODES),
                   rand.choice(["serializable", "snapshot"]),
                   alone([0, 0, 1, 2], 30), second, alone([1, 1, 2, 3], 90),
                   len(second) == 1 and rand.random() < 0.5)


def sql(statement, table):
    if isinstance(statement, Insert):
        return "INSERT INTO %s VALUES (%d, '%s', %d)" % (
            table, statement.id, "ab"[statement.id % 2], statement.val)
    where = "val BETWEEN %d AND %d" % (statement.low, statement.high)
    if statement.low == statement.high:
        where = "val = %d" % statement.low
    if isinstance(statement, Update):
        return "UPDATE %s SET val = val + %d WHERE %s" % (
            table, statement.by, where)
    return "DELETE FROM %s WHERE %s" % (table, where)


def call(history, statements):
    arguments = ["'%s', '%s'" % (mode, sql(s, "t_rc_too").replace("'", "''"))
                 for mode, s in statements]
    if not arguments:
        return "SELECT"
    return "CALL commit_each('t_rc', '%s', %s)" % (history.mode,
                                                  ", ".join(arguments))


def spec(histories):
    steps, others, permutations = [], [], []
    for i, h in enumerate(histories):
        text = "; ".join(sql(s, "t_rc") for s in h.second)
        steps.append("step b%d { %s%s; }" % (
            i, "" if h.is_late else "BEGIN; ", text))
        others.append("step base%d { CALL create_races(%d, '%s', '%s'); }"
                      % (i, h.version, h.mode, h.level))
        others.append("step before%d { %s; }" % (i, call(h, h.before)))
        others.append("step a%d { %s; }" % (i, call(h, h.first)))
        order = "b{0} a{0} commit"
        if h.is_late:
            order = "stop hold b{0} a{0} release"
        permutations.append("permutation base{0} before{0} %s rows".format(i)
                            % order.format(i))
    return "\n".join(
        ["session rc", "setup { SET lakefdw.stop_point = ''; }"] + steps +
        ["step stop { SET lakefdw.stop_point = 'before-swap'; }",
         "step commit { COMMIT; }", "session other"] + others +
        ["step hold { SELECT pg_advisory_lock(hashtext('before-swap')); }",
         "step release { SELECT pg_advisory_unlock_all(); }",
         "step rows { SELECT rows FROM race_rows WHERE t = 'rc'; }"] +
        permutations) + "\n"


def matches(statement, rows):
    return {i: val for i, val in rows.items()
            if statement.low <= val <= statement.high}


def apply(rows, statements):
    rows = dict(rows)
    for s in statements:
        if isinstance(s, Insert):
            rows[s.id] = s.val
            continue
        for i, val in matches(s, rows).items():
            if isinstance(s, Update):
                rows[i] = val + s.by
            else:
                del rows[i]
    return rows


def judge(history, is_refused, found):
    """What is wrong with an outcome, as a list of words."""
    base = apply(BASE, [s for _, s in history.before])
    first = apply(base, [s for _, s in history.first])
    second = apply(base, history.second)
    changed = [i for i in {**base, **second} if base.get(i) != second.get(i)]
    problems = []
    right = dict(first)
    if not is_refused:
        for i in changed:
            if i in base and first.get(i) != base[i] and \
                    (i in first or i in second):
                problems.append("row %d was changed by both" % i)
            right.pop(i, None)
            if i in second:
                right[i] = second[i]
        for s in history.second:
            if not changed or history.level == "snapshot" or \
                    isinstance(s, Insert):
                continue
            new = [i for i, val in matches(s, first).items()
                   if base.get(i) != val]
            if new:
                problems.append("%s has missed rows %s" % (s, new))
    right = ["%d:%d" % row for row in sorted(right.items())]
    if found != right:
        problems.append("rows are %s, not %s" % (found, right))
    return problems


def check(histories, text):
    parts = text.split("\nstarting permutation: ")[1:]
    bad = 0
    if len(parts) != len(histories):
        sys.exit("%d histories, not %d" % (len(parts), len(histories)))
    for i, (history, part) in enumerate(zip(histories, parts)):
        errors = re.findall(r"^ERROR: .*$", part, re.M)
        rows = re.search(r"^rows *\n-+ *\n(.*)$", part, re.M)
        if rows is None or any("could not serialize access to lake table"
                               not in e for e in errors):
            problems = errors or ["no rows"]
        else:
            problems = judge(history, errors != [], rows.group(1).split())
        if problems:
            bad += 1
            print("history %d: %s: %s" % (i, history, problems))
    print("%d histories, %d wrong" % (len(histories), bad))
    return bad == 0


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    rand = random.Random(int(sys.argv[2]))
    histories = [random_history(rand) for _ in range(int(sys.argv[3]))]
    if sys.argv[1] == "write":
        print(spec(histories), end="")
    else:
        with open(sys.argv[4]) as output:
            sys.exit(0 if check(histories, output.read()) else 1)


if __name__ == "__main__":
    main()
