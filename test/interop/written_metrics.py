"""Column metrics of our files, beside those that Spark computes of equal rows."""

import random

import values
from metadata_tables import differences, plain
from rows import check
from written_types import create, insert

# Spark cannot write uuids
COLUMNS = {
    "b": values.BOOLEAN, "i": values.INT, "l": values.LONG, "f": values.FLOAT,
    "d": values.DOUBLE, "da": values.DATE, "ts": values.TIMESTAMP,
    "tz": values.TIMESTAMPTZ, "t": values.STRING, "t3": values.STRING,
    "fx": values.FIXED, "bi": values.BINARY, "bi2": values.BINARY,
    "none": values.LONG, "counts": values.STRING,
    "li": values.List(values.INT),
    "m": values.Map(values.STRING, values.LONG),
    "s": values.Struct({"x": values.LONG, "t": values.STRING,
                        "in": values.Struct({"da": values.DATE})}),
    **{"n%d" % i: kind for i, kind in enumerate(values.DECIMALS)},
}
MODES = {"write.metadata.metrics.column.t3": "truncate(3)",
         "write.metadata.metrics.column.bi2": "truncate(2)",
         "write.metadata.metrics.column.none": "none",
         "write.metadata.metrics.column.counts": "counts",
         "write.metadata.metrics.column.s.t": "full"}
METRICS = ("record_count", "value_counts", "null_value_counts",
           "nan_value_counts", "lower_bounds", "upper_bounds")


def metrics(table):
    rows = table.lake.spark.session.sql("SELECT %s FROM %s.files" % (
        ", ".join(METRICS), table.spark_name)).collect()
    # no map and an empty one say the same
    return [{k: v or None for k, v in plain(row).items()} for row in rows]


def compare_metrics(lake, seed):
    lake.namespace("metrics")
    pick = random.Random(seed)
    for number, modes in enumerate((
            {}, MODES, {"write.metadata.metrics.default": "full"},
            {"write.metadata.metrics.default": "counts"},
            {"write.metadata.metrics.default": "truncate(1)"})):
        ours = create(lake, "metrics", "ours%d" % number, COLUMNS, 2, **modes)
        theirs = create(lake, "metrics", "theirs%d" % number, COLUMNS, 2,
                        **modes)
        insert(ours, COLUMNS, pick, 3 + 12 * number)
        lake.spark.run("INSERT INTO %s SELECT * FROM %s" % (
            theirs.spark_name, ours.spark_name))
        found, expected = metrics(ours), metrics(theirs)
        check("%s: metrics are Spark's, with %s" % (ours.ident, modes),
              found == expected, differences(found, expected)[:6])
