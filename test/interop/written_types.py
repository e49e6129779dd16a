"""Values of every type that we write, as other engines read them."""

import random

import values
from written import Table

# Spark knows neither times nor, as a column to read, another uuid than text
COLUMNS = {
    "id": values.LONG, "boolean": values.BOOLEAN, "int": values.INT,
    "float": values.FLOAT, "double": values.DOUBLE, "date": values.DATE,
    "ts": values.TIMESTAMP, "tz": values.TIMESTAMPTZ, "text": values.STRING,
    "uuid": values.UUID, "fixed": values.FIXED, "binary": values.BINARY,
    "\u00e9t\u00e9 \u20ac": values.STRING, "a.b": values.INT,
    "quo\"te'": values.INT, "\U0001f9ca": values.LONG,
}
COLUMNS.update({
    kind.column.replace("(", "_").replace(",", "_").rstrip(")"): kind
    for kind in values.DECIMALS})
NESTED = {
    "ints": values.List(values.INT), "texts": values.List(values.STRING),
    "moments": values.List(values.TIMESTAMPTZ),
    "amounts": values.List(values.DECIMALS[6]),
    "lists": values.List(values.List(values.LONG)),
    "structs": values.List(values.Struct(
        {"a": values.INT, "\u00e9": values.STRING,
         "inner": values.Struct({"d": values.DATE, "b": values.BINARY})})),
    "struct": values.Struct(
        {"x": values.LONG, "l": values.List(values.STRING),
         "m": values.Map(values.STRING, values.INT)}),
    "by_text": values.Map(values.STRING, values.DECIMALS[3]),
    "by_int": values.Map(values.INT, values.Struct(
        {"y": values.BOOLEAN, "z": values.TIMESTAMP})),
}


def create(lake, space, name, columns, version, for_spark=True, **properties):
    lake.catalog.create_table(
        "%s.%s" % (space, name), values.lake_schema(columns),
        properties={"format-version": str(min(version, 2)), **properties})
    if version > 2:
        # PyIceberg reads them and does not write them
        lake.spark.run("ALTER TABLE lake.%s.`%s` SET TBLPROPERTIES"
                       " ('format-version'='%d')" % (space, name, version))
    return Table(lake, space, name, for_spark)


def insert(table, columns, pick, count):
    rows = ["(%s)" % ", ".join(["NULL"] * len(columns))] + [
        values.row_sql(columns, pick) for _ in range(count)]
    # the text of a statement is the same for both
    table.both("INSERT INTO %%s VALUES %s;" % ", ".join(rows).replace(
        "%s", "%%s"))


def compare_types(lake, seed):
    lake.namespace("types")
    columns = {**COLUMNS, **NESTED}
    for version in (1, 2, 3):
        pick = random.Random(seed + version)
        table = create(lake, "types", "v%d" % version, columns, version)
        table.compare("empty")
        for count in (60, 0, 5):
            insert(table, columns, pick, count)
        table.compare("of all types")
        if version == 3:
            table.compare_versions()
        table.compare_duckdb("of all types")
