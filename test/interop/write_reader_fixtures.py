#!/usr/bin/env python3
"""Writes test/data/reader: the Parquet files of test/unit/test_task_reader.c.

    write_reader_fixtures.py [DIRECTORY]        needs pyarrow

Field ids are Iceberg's; paths in delete files lie below /srv/lake, which the
test maps to the directory.
"""
import datetime
import decimal
import math
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
    HERE, "..", "data", "reader")


def field(name, kind, field_id=None, nullable=True):
    """A field with an Iceberg field id (none when field_id is None)."""
    meta = None if field_id is None else {
        b"PARQUET:field_id": str(field_id).encode()}
    return pa.field(name, kind, nullable=nullable, metadata=meta)


def write(name, fields, columns, **options):
    """Writes columns, one list a field."""
    schema = pa.schema(fields)
    table = pa.Table.from_arrays(
        [pa.array(values, type=f.type)
         for f, values in zip(fields, columns)], schema=schema)
    options.setdefault("compression", "zstd")
    options.setdefault("store_schema", False)
    pq.write_table(table, os.path.join(TARGET, name), **options)


def write_groups():
    """300 rows in 3 row groups: ids in order, a few NULLs and one NaN."""
    rows = range(300)
    write("groups.parquet",
          [field("id", pa.int64(), 1, False), field("val", pa.string(), 2),
           field("d", pa.float64(), 3)],
          [list(rows), ["v%d" % (i % 7) for i in rows],
           [None if i % 10 == 0 else math.nan if i == 105 else i / 2
            for i in rows]],
          row_group_size=100)


def write_repeated():
    """1,024 rows of lists of 20 times the same string of 1 MiB, in 3 kB.

    The ids are those of the column ls of cases.nested_types in the sample lake.
    """
    text = pa.DictionaryArray.from_arrays(
        pa.array([0] * 20480, type=pa.int32()), pa.array(["x" * (1 << 20)]))
    lists = pa.ListArray.from_arrays(
        pa.array(range(0, 20481, 20), type=pa.int32()), text)
    kind = pa.list_(field("element", text.type, 10))
    pq.write_table(
        pa.Table.from_arrays([lists.cast(kind)],
                             schema=pa.schema([field("ls", kind, 3)])),
        os.path.join(TARGET, "repeated.parquet"), compression="zstd",
        store_schema=False, write_statistics=False,
        dictionary_pagesize_limit=1 << 30)


def write_pages():
    """One row group of 20,000 rows with many small pages a column."""
    rows = range(20000)
    write("pages.parquet",
          [field("id", pa.int64(), 1, False), field("text", pa.string(), 2)],
          [list(rows), ["row %d" % (i // 500) for i in rows]],
          use_dictionary=False, write_batch_size=500, data_page_size=512,
          column_encoding={"id": "DELTA_BINARY_PACKED",
                           "text": "DELTA_BYTE_ARRAY"})


def path_fields(with_ids=True):
    """The two columns of a position delete file."""
    return [field("file_path", pa.string(),
                  2147483546 if with_ids else None, False),
            field("pos", pa.int64(), 2147483545 if with_ids else None)]


def write_position_deletes():
    """Positions in groups.parquet, spelled in several ways."""
    groups = "hdfs://namenode:8020/srv/lake/groups.parquet"
    other = "/srv/lake/other.parquet"
    write("positions.parquet", path_fields(),
          [[groups, groups, groups, other, other, other],
           [150, 150, 299, 0, 1, 2]], row_group_size=3)
    write("positions_plain.parquet", path_fields(),
          [["file:/srv/lake//groups.parquet", other,
            "/srv/lake/groups.parquet"], [7, 8, 9]], use_dictionary=False)
    write("positions_without_ids.parquet", path_fields(False),
          [["/srv/lake/groups.parquet"], [5]])
    count = (1 << 20) + 1
    write("positions_spread.parquet", path_fields(),
          [[groups] * count, [i << 16 for i in range(count)]],
          use_dictionary=["file_path"],
          column_encoding={"pos": "DELTA_BINARY_PACKED"})
    write("positions_negative.parquet", path_fields(), [[other], [-1]])
    write("positions_null.parquet", path_fields(), [[other], [None]])


def write_old():
    """A file from before promotions, additions and a drop."""
    inner = pa.struct([field("x", pa.int32(), 6)])
    write("old.parquet",
          [field("id", pa.int32(), 1), field("f", pa.float32(), 2),
           field("dec", pa.decimal128(5, 2), 3),
           field("dropped", pa.string(), 9), field("s", inner, 5)],
          [[1, 2, 3], [0.5, None, -1.5],
           [decimal.Decimal("14.20"), decimal.Decimal("-0.01"), None],
           ["x", "y", "z"], [{"x": 7}, None, {"x": None}]])


def write_without_ids():
    """As a Hive table would have it before migration."""
    write("without_ids.parquet",
          [field("a", pa.int64()), field("b", pa.string()),
           field("s", pa.struct([field("x", pa.int32()),
                                 field("y", pa.string())])),
           field("l", pa.list_(pa.int32()))],
          [[1, 2], ["one", "two"],
           [{"x": 10, "y": "ten"}, {"x": 20, "y": "twenty"}],
           [[1, None, 3], []]])


def write_equality_deletes():
    """Rows and keys, among them NULL, another column order and floats."""
    fields = [field("id", pa.int64(), 1), field("name", pa.string(), 2),
              field("p", pa.int32(), 3)]
    write("keys.parquet", fields,
          [[1, 2, 3, None], ["a", "b", "c", "d"], [10, 20, 30, 40]])
    write("eq_id.parquet", fields[:1], [[1]])
    write("eq_null.parquet", fields[:1], [[None]])
    write("eq_name.parquet", fields[1:2], [["b"]])
    write("eq_pair.parquet", [fields[2], fields[0]], [[30, 20], [3, 1]])
    double = [field("x", pa.float64(), 1)]
    write("floats.parquet", double, [[0.0, -0.0, math.nan, 1.0, None]])
    write("eq_float.parquet", double, [[-0.0, math.nan]])
    inner = pa.struct([field("x", pa.int32(), 6)])
    write("eq_nested.parquet", [field("s", inner, 5)],
          [[{"x": 7}, {"x": None}]])
    write("eq_dropped.parquet", [field("dropped", pa.string(), 9)], [["y"]])


def write_many():
    """50,000 rows and keys for all of them but five."""
    options = {"use_dictionary": False,
               "column_encoding": {"id": "DELTA_BINARY_PACKED"}}
    fields = [field("id", pa.int64(), 1, False)]
    write("many.parquet", fields, [list(range(50000))], **options)
    write("eq_many.parquet", fields, [list(range(49995))], **options)


def write_types():
    """Physical and logical types that a reader has to convert."""
    time = datetime.time(22, 31, 8, 123456)
    moment = datetime.datetime(2017, 11, 16, 22, 31, 8, 123456)
    before = datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    write("types.parquet",
          [field("u8", pa.uint8(), 1), field("u16", pa.uint16(), 2),
           field("u32", pa.uint32(), 3), field("u64", pa.uint64(), 4),
           field("t_ms", pa.time32("ms"), 5), field("t_us", pa.time64("us"), 6),
           field("t_ns", pa.time64("ns"), 7),
           field("ts_ms", pa.timestamp("ms"), 8),
           field("ts_us", pa.timestamp("us", "UTC"), 9),
           field("ts_ns", pa.timestamp("ns"), 10),
           field("fixed", pa.binary(4), 11), field("uuid", pa.binary(16), 12),
           field("dec", pa.decimal128(38, 3), 13),
           field("flag", pa.bool_(), 14), field("day", pa.date32(), 15)],
          [[0, 255], [0, 65535], [4000000000, None], [1, 1 << 63],
           [time, None], [time, None], [time, None],
           [moment, None], [moment, before], [moment, before],
           [b"abcd", None], [bytes(range(16)), None],
           [decimal.Decimal("-12345678901234567890123.456"), None],
           [True, False], [datetime.date(2017, 11, 16), None]],
          coerce_timestamps=None)
    write("int96.parquet",
          [field("us", pa.timestamp("us"), 1),
           field("ns", pa.timestamp("ns"), 2)],
          [[moment, before], [123456789, -123456789]],
          use_deprecated_int96_timestamps=True)


def write_nested():
    """Lists of structs, maps, a struct that gained and reordered fields."""
    item = pa.struct([field("a", pa.int32(), 4), field("b", pa.string(), 5)])
    write("nested.parquet",
          [field("items", pa.list_(field("element", item, 3)), 1),
           field("scores", pa.map_(field("key", pa.string(), 7, False),
                                   field("value", pa.int32(), 8)), 6)],
          [[[{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}], [], None],
           [[("k", 1), ("l", None)], None, []]])


def write_lineage():
    """Rows that were rewritten, with and without their old ids."""
    write("lineage.parquet",
          [field("id", pa.int64(), 1), field("_row_id", pa.int64(), 2147483540),
           field("_last_updated_sequence_number", pa.int64(), 2147483539)],
          [[1, 2, 3], [7, None, 9], [None, 4, None]])


def write_raw(name, data):
    """Writes bytes that no Parquet library makes."""
    with open(os.path.join(TARGET, name), "wb") as out:
        out.write(data)


def write_others():
    """The head of files in other formats; a deletion vector of 1,3,5,7,9."""
    write_raw("other.orc", b"ORC" + bytes(29))
    write_raw("other.avro", b"Obj\1" + bytes(28))
    write_raw("vector.bin", bytes.fromhex(
        "0000002ad1d339640100000000000000000000003a3000000100000000000400"
        "1000000001000300050007000900b3fb20be"))


def main():
    os.makedirs(TARGET, exist_ok=True)
    write_groups()
    write_repeated()
    write_pages()
    write_position_deletes()
    write_old()
    write_without_ids()
    write_equality_deletes()
    write_many()
    write_types()
    write_nested()
    write_lineage()
    write_others()


if __name__ == "__main__":
    main()
