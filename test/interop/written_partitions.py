"""Partition values, which must be Java's own for each row."""

import random

import values
from rows import check
from written import Table
from written_types import insert



def above_the_least(kind):
    """Without values whose truncation has a digit more, which Java refuses."""
    def make(pick):
        value = kind.make(pick)
        return value.lstrip("-") if value.startswith("-99") else value
    return values.Scalar(kind.lake, kind.column, make, number=True)


# column -> (kind, transforms as Spark SQL spells them, its functions' names)
TRANSFORMS = {
    "i": (values.INT, ["bucket(16, i)", "truncate(10, i)"]),
    "l": (values.LONG, ["bucket(7, l)", "truncate(1000, l)"]),
    "n": (above_the_least(values.DECIMALS[3]),
          ["bucket(16, n)", "truncate(50, n)"]),
    "n38": (above_the_least(values.DECIMALS[6]),
            ["bucket(16, n38)", "truncate(7, n38)"]),
    "t": (values.STRING, ["bucket(16, t)", "truncate(3, t)"]),
    "bi": (values.BINARY, ["bucket(16, bi)", "truncate(2, bi)"]),
    "d": (values.DATE, ["bucket(16, d)", "years(d)"]),
    "dm": (values.DATE, ["months(dm)"]),
    "dd": (values.DATE, ["days(dd)"]),
    "ts": (values.TIMESTAMP, ["bucket(16, ts)", "years(ts)"]),
    "tsm": (values.TIMESTAMP, ["months(tsm)"]),
    "tz": (values.TIMESTAMPTZ, ["bucket(16, tz)", "days(tz)"]),
    "tzh": (values.TIMESTAMPTZ, ["hours(tzh)"]),
    "id": (values.INT, ["id"]), "idt": (values.STRING, ["idt"]),
    "idd": (values.DATE, ["idd"]), "idn": (values.DECIMALS[1], ["idn"]),
    "idb": (values.BOOLEAN, ["idb"]), "idz": (values.TIMESTAMPTZ, ["idz"]),
    "idf": (values.DOUBLE, ["idf"]), "idx": (values.BINARY, ["idx"]),
}
SPARK_TYPES = {"integer": "int", "double precision": "double", "text": "string",
               "numeric": "decimal", "timestamp": "timestamp_ntz",
               "timestamptz": "timestamp", "bytea": "binary"}


def spark_type(kind):
    name, _, rest = kind.column.partition("(")
    return SPARK_TYPES.get(name, name) + ("(" + rest if rest else "")


def field_name(transform, column):
    """As Spark names the partition field."""
    kind = transform.partition("(")[0]
    return column + {"bucket": "_bucket", "truncate": "_trunc",
                     "years": "_year", "months": "_month", "days": "_day",
                     "hours": "_hour"}.get(kind, "")


def create(lake, name, columns, transforms, version):
    lake.spark.run("""
        CREATE TABLE lake.parts.%s (%s) USING iceberg PARTITIONED BY (%s)
        TBLPROPERTIES ('format-version'='%d')""" % (
            name, ", ".join("%s %s" % (column, spark_type(kind))
                            for column, kind in columns.items()),
            ", ".join(transforms), version))
    return Table(lake, "parts", name)


def compare_values(table, transforms):
    """Each row's partition against what Java's functions say of the row."""
    for column, transform in transforms:
        field = "_partition." + field_name(transform, column)
        call = transform
        if "(" in transform:
            call = "system." + transform
        if transform.startswith("hours") or transform.startswith("months") \
                or transform.startswith("years"):
            call = "cast(%s AS int)" % call
        wrong = table.lake.spark.session.sql(
            "SELECT %s AS row, %s AS partition, %s AS expected FROM %s"
            " WHERE NOT (%s <=> %s)" % (column, field, call, table.spark_name,
                                        field, call)).collect()
        check("%s: %s is Java's" % (table.ident, transform), not wrong,
              wrong[:3])


def compare_partitions(lake, seed):
    lake.namespace("parts")
    pick = random.Random(seed)
    every = [(column, transform) for column, (_, transforms) in
             TRANSFORMS.items() for transform in transforms]
    # two fields a table: from different ends, so that most differ in kind
    for number in range((len(every) + 2) // 3):
        chosen = every[number::(len(every) + 2) // 3]
        columns = {"k": values.LONG, **{
            column: TRANSFORMS[column][0] for column, _ in chosen}}
        table = create(lake, "t%d" % number, columns,
                       [transform for _, transform in chosen],
                       1 + number % 3)
        insert(table, columns, pick, 40)
        insert(table, columns, pick, 10)
        table.compare("partitioned by %s" % [t for _, t in chosen])
        compare_values(table, chosen)
