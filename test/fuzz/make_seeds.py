#!/usr/bin/env python3
"""Writes the seeds of fuzz_parquet, fuzz_footer and fuzz_page.

    make_seeds.py CORPUS_DIRECTORY

Small Parquet files by pyarrow and DuckDB that between them use every physical
type, encoding, codec and page version; of each its footer, and of the columns
whose shape fuzz_page knows the column chunks.
"""
import datetime
import decimal
import os
import random
import struct
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 60
PHYSICAL = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE",
            "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"]
CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "LZ4": 7,
          "ZSTD": 6}
# shapes of fuzz_page by the levels of the leaf and of the nodes above
SHAPES = {(0, 0, 1): 0, (1, 0, 1): 1, (3, 1, 3): 2, (1, 1, 3): 3,
          (2, 0, 2): 4, (5, 2, 5): 5}


def some(make, nulls=True):
    rng = random.Random(7)
    return [None if nulls and rng.random() < 0.2 else make(rng)
            for _ in range(ROWS)]


def text(rng):
    return "prefix-" * rng.randrange(3) + str(rng.randrange(20))


SCALARS = {
    "bool": (pa.bool_(), lambda r: r.random() < 0.5),
    "int32": (pa.int32(), lambda r: r.randrange(-1000, 1000)),
    "int64": (pa.int64(), lambda r: r.randrange(-2**60, 2**60)),
    "uint8": (pa.uint8(), lambda r: r.randrange(256)),
    "float": (pa.float32(), lambda r: r.random()),
    "double": (pa.float64(), lambda r: r.random()),
    "half": (pa.float16(), lambda r: r.randrange(100)),
    "text": (pa.string(), text),
    "fixed": (pa.binary(5), lambda r: r.randbytes(5)),
    "decimal9": (pa.decimal128(9, 2),
                 lambda r: decimal.Decimal(r.randrange(10**7)) / 100),
    "decimal38": (pa.decimal128(38, 10),
                  lambda r: decimal.Decimal(r.randrange(10**15)) / 1000),
    "date": (pa.date32(), lambda r: datetime.date(2020, 1, 1 + r.randrange(28))),
    "stamp": (pa.timestamp("us", "UTC"),
              lambda r: datetime.datetime(2020, 1, 1, r.randrange(24))),
}


def scalar_table(names, nulls):
    return pa.table({n: pa.array(some(SCALARS[n][1], nulls), SCALARS[n][0])
                     for n in names},
                    schema=pa.schema([pa.field(n, SCALARS[n][0], nulls)
                                      for n in names]))


def nested_table():
    def ints(r):
        return [None if r.random() < 0.2 else r.randrange(50)
                for _ in range(r.randrange(4))]

    required = pa.field("list_required", pa.list_(
        pa.field("element", pa.int32(), False)), False)
    columns = [
        (pa.field("list", pa.list_(pa.int64())), some(ints)),
        (required, [[r % 9] * (r % 4) for r in range(ROWS)]),
        (pa.field("lists", pa.list_(pa.list_(pa.string()))),
         some(lambda r: [None if r.random() < 0.2 else
                         [text(r) for _ in range(r.randrange(3))]
                         for _ in range(r.randrange(3))])),
        (pa.field("struct", pa.struct([("a", pa.int32()), ("b", pa.string())])),
         some(lambda r: {"a": r.randrange(9), "b": text(r)})),
        (pa.field("map", pa.map_(pa.string(), pa.float64())),
         some(lambda r: [(text(r), r.random()) for _ in range(r.randrange(3))])),
    ]
    return pa.table([pa.array(v, f.type) for f, v in columns],
                    schema=pa.schema([f for f, _ in columns]))


def write(directory):
    """name -> path of every file"""
    files = {}

    def put(name, table, **options):
        files[name] = os.path.join(directory, name)
        options.setdefault("store_schema", False)
        pq.write_table(table, files[name], **options)

    every = list(SCALARS)
    for version in ("1.0", "2.0"):
        put(f"dictionary_v{version[0]}", scalar_table(every, True),
            data_page_version=version, compression="none",
            write_page_checksum=version == "2.0")
    put("plain", scalar_table(every, False), use_dictionary=False,
        compression="none", data_page_size=100)
    put("nested_v1", nested_table(), compression="none", data_page_size=64,
        write_batch_size=8)
    put("nested_v2", nested_table(), compression="none", data_page_size=64,
        write_batch_size=8, data_page_version="2.0")
    for version in ("1.0", "2.0"):
        put(f"nested_indexed_v{version[0]}", nested_table(),
            compression="none", data_page_size=64, write_batch_size=8,
            data_page_version=version, write_page_index=True)
    put("nested_plain", nested_table(), compression="none",
        use_dictionary=False)
    for codec in ("snappy", "gzip", "brotli", "lz4", "zstd"):
        put(f"codec_{codec}", scalar_table(["int32", "text"], True),
            compression=codec)
    put("row_groups", scalar_table(["int64", "text"], True),
        row_group_size=13, compression="none", data_page_size=40,
        write_batch_size=5)
    put("int96", scalar_table(["stamp"], True), compression="none",
        use_deprecated_int96_timestamps=True)
    put("empty", scalar_table(["int32"], True).slice(0, 0), compression="none")
    put("arrow_schema", scalar_table(["int32"], True), compression="none",
        store_schema=True)
    for name, columns, nulls in (
            ("DELTA_BINARY_PACKED", ["int32", "int64"], True),
            ("DELTA_LENGTH_BYTE_ARRAY", ["text"], True),
            ("DELTA_BYTE_ARRAY", ["text", "fixed"], True),
            ("BYTE_STREAM_SPLIT",
             ["int32", "int64", "float", "double", "fixed"], True),
            ("RLE", ["bool"], False)):
        put(name.lower(), scalar_table(columns, nulls), use_dictionary=False,
            column_encoding={c: name for c in columns}, compression="none",
            data_page_version="2.0")
    for version in ("v1", "v2"):
        files[f"duckdb_{version}"] = os.path.join(directory,
                                                  f"duckdb_{version}")
        duckdb.sql(f"""copy (select i, i % 5 = 0 as b, i / 3.0 as d,
            case when i % 4 > 0 then 'text ' || i % 7 end as t,
            [i, null, i + 1] as l, {{'a': i, 'b': [i::varchar]}} as s,
            uuid() as u, map([i::varchar], [i]) as m
            from range({ROWS}) r(i)) to '{files[f"duckdb_{version}"]}'
            (format parquet, parquet_version '{version}',
             compression uncompressed)""")
    return files


def put_chunks(directory, name, path):
    """the first column chunk of each type and shape, for fuzz_page"""
    meta = pq.ParquetFile(path).metadata
    group = meta.row_group(0) if meta.num_row_groups > 0 else None
    done = set()
    for i in range(meta.num_columns if group is not None else 0):
        chunk = group.column(i)
        column = meta.schema.column(i)
        shape = SHAPES.get((column.max_definition_level,
                            column.max_repetition_level,
                            len(column.path.split("."))))
        key = (chunk.physical_type, shape)
        if shape is None or key in done or "map" in column.path:
            continue
        done.add(key)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        with open(path, "rb") as source:
            source.seek(start)
            pages = source.read(chunk.total_compressed_size)
        header = struct.pack(
            "<BBBBHH", PHYSICAL.index(chunk.physical_type),
            CODECS[chunk.compression], shape, max(0, column.length or 0),
            group.num_rows, chunk.num_values)
        target = f"{name}.{column.path.replace('.', '_')}"
        with open(os.path.join(directory, target), "wb") as out:
            out.write(header + pages)


def main():
    corpus = sys.argv[1]
    folders = {k: os.path.join(corpus, k) for k in ("parquet", "footer", "page")}
    for folder in folders.values():
        os.makedirs(folder, exist_ok=True)
    for name, path in write(folders["parquet"]).items():
        with open(path, "rb") as source:
            data = source.read()
        size = struct.unpack("<I", data[-8:-4])[0]
        with open(os.path.join(folders["footer"], name), "wb") as out:
            out.write(data[-8 - size:-8])
        put_chunks(folders["page"], name, path)


main()
