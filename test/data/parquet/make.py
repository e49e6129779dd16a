#!/usr/bin/env python3
"""Writes the Parquet files beside it, by pyarrow and DuckDB.

All have the same 600 rows, which test/unit/test_parquet_files.c knows by
formula; they differ in writer, page version, page size, codec and encodings.
"""
import decimal
import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = range(600)


def table():
    number = [None if r % 7 == 0 else r * 3 - 100 for r in ROWS]
    text = [None if r % 11 == 0 else "text %d" % (r % 40) for r in ROWS]
    amount = [decimal.Decimal(r * 1000 + 25).scaleb(-2) * (1 - r % 2 * 2)
              for r in ROWS]
    items = [None if r % 13 == 0 else
             [None if k == 2 else r * 10 + k for k in range(r % 4)]
             for r in ROWS]
    pair = [None if r % 5 == 0 else
            {"a": r, "b": None if r % 3 == 0 else "b%d" % r} for r in ROWS]
    return pa.table({
        "number": pa.array(number, pa.int32()),
        "text": pa.array(text, pa.string()),
        "amount": pa.array(amount, pa.decimal128(20, 2)),
        "items": pa.array(items, pa.list_(pa.int64())),
        "pair": pa.array(pair, pa.struct([("a", pa.int32()),
                                          ("b", pa.string())])),
    })


def path(name):
    return os.path.join(HERE, name + ".parquet")


def main():
    rows = table()
    small = dict(data_page_size=512, write_batch_size=32, row_group_size=350,
                 write_statistics=False, store_schema=False)
    pq.write_table(rows, path("v1_dictionary"), compression="snappy", **small)
    # a dictionary limit that every column exceeds, so pages fall back to PLAIN
    pq.write_table(rows, path("v1_fallback"), compression="snappy",
                   dictionary_pagesize_limit=256, **small)
    pq.write_table(rows, path("v2_delta"), compression="zstd",
                   use_dictionary=False, data_page_version="2.0",
                   column_encoding={"number": "DELTA_BINARY_PACKED",
                                    "text": "DELTA_BYTE_ARRAY",
                                    "pair.b": "DELTA_LENGTH_BYTE_ARRAY",
                                    "amount": "BYTE_STREAM_SPLIT"}, **small)
    pq.write_table(rows, path("v2_checksum"), compression="gzip",
                   use_dictionary=["text"], data_page_version="2.0",
                   write_page_checksum=True, **small)
    duckdb.sql("copy rows to '%s' (format parquet, compression lz4_raw, "
               "row_group_size 350)" % path("duckdb"))
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".parquet"):
            print(name, os.path.getsize(os.path.join(HERE, name)))


if __name__ == "__main__":
    main()
