#!/usr/bin/env python3
"""Writes test/data/avro, which test/unit/test_avro_reader.c reads.

fastavro 1.13.1 writes manifests of the same 120 entries in each codec and one
file with a field of every kind; PyIceberg 0.12.0 writes a manifest as it does
for tables.  The values follow from an entry's number by rules that the test
repeats, so that the bytes need not be compared.

Needs: fastavro, python-snappy or cramjam, backports.zstd, pyiceberg.
Use: write_avro_fixtures.py [DIRECTORY]
"""
import io
import os
import struct
import sys

import fastavro

SYNC = b"lakefdw fixtures"
ENTRIES = 120


def metrics(name, field_id, key_id, value_id, value_type):
    entry = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [
            {"name": "key", "type": "int", "field-id": key_id},
            {"name": "value", "type": value_type, "field-id": value_id},
        ],
    }
    items = {"type": "array", "items": entry, "logicalType": "map"}
    return {"name": name, "type": ["null", items], "default": None,
            "field-id": field_id}


def optional(name, field_id, avro_type):
    return {"name": name, "type": ["null", avro_type], "default": None,
            "field-id": field_id}


DATA_FILE = {
    "type": "record",
    "name": "r2",
    "fields": [
        {"name": "content", "type": "int", "field-id": 134},
        {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "file_format", "type": "string", "field-id": 101},
        {"name": "partition", "field-id": 102, "type": {
            "type": "record", "name": "r102", "fields": [
                optional("region", 1000, "string"),
                optional("day", 1001, {"type": "int", "logicalType": "date"}),
            ]}},
        {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
        metrics("column_sizes", 108, 117, 118, "long"),
        metrics("value_counts", 109, 119, 120, "long"),
        metrics("lower_bounds", 125, 126, 127, "bytes"),
        metrics("upper_bounds", 128, 129, 130, "bytes"),
        optional("key_metadata", 131, "bytes"),
        optional("split_offsets", 132,
                 {"type": "array", "items": "long", "element-id": 133}),
        optional("sort_order_id", 140, "int"),
    ],
}

MANIFEST = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [
        {"name": "status", "type": "int", "field-id": 0},
        optional("snapshot_id", 1, "long"),
        optional("sequence_number", 3, "long"),
        {"name": "data_file", "type": DATA_FILE, "field-id": 2},
    ],
}


def entry(i):
    def keyed(value):
        return [{"key": k, "value": value(k)} for k in range(1, 4)]

    return {
        "status": i % 3,
        "snapshot_id": None if i % 10 == 0 else 10**15 + i,
        "sequence_number": i,
        "data_file": {
            "content": 0,
            "file_path": f"file:/srv/lake/t/data/{i:05}.parquet",
            "file_format": "PARQUET",
            "partition": {"region": None if i % 4 == 0 else f"r{i % 4}",
                          "day": i - 60},
            "record_count": i * i,
            "file_size_in_bytes": 2**33 + i,
            "column_sizes": keyed(lambda k: 1000 * k + i),
            "value_counts": None,
            "lower_bounds": None if i % 7 == 0 else
            keyed(lambda k: struct.pack("<i", i * k)),
            "upper_bounds": keyed(lambda k: b"z" * (i % 5 + k)),
            "key_metadata": None,
            "split_offsets": [4] + [4 + 1000 * j for j in range(i % 3)],
            "sort_order_id": None,
        },
    }


def write_manifests(directory):
    for codec in "null", "deflate", "snappy", "zstandard":
        out = io.BytesIO()
        fastavro.writer(out, MANIFEST, (entry(i) for i in range(ENTRIES)),
                        codec=codec, sync_interval=4000, sync_marker=SYNC,
                        metadata={"format-version": "2", "content": "data"})
        write(directory, f"manifest_{codec}.avro", out.getvalue())


TYPES = {
    "type": "record",
    "name": "lake.Types",
    "fields": [
        {"name": "b", "type": "boolean", "field-id": 1},
        {"name": "i", "type": "int", "field-id": 2},
        {"name": "l", "type": "long", "field-id": 3},
        {"name": "f", "type": "float", "field-id": 4},
        {"name": "d", "type": "double", "field-id": 5},
        {"name": "y", "type": "bytes", "field-id": 6},
        {"name": "s", "type": "string", "field-id": 7},
        {"name": "x", "field-id": 8,
         "type": {"type": "fixed", "name": "Four", "size": 4}},
        {"name": "e", "field-id": 9,
         "type": {"type": "enum", "name": "Color",
                  "symbols": ["RED", "GREEN", "BLUE"]}},
        {"name": "x_again", "type": "Four", "field-id": 10},
        {"name": "x_full", "type": ["lake.Four", "null"], "field-id": 11},
        {"name": "u", "type": ["int", "string", "null", "Four"],
         "field-id": 12},
        {"name": "strings", "field-id": 13,
         "type": {"type": "map", "values": "string"}},
        {"name": "nested", "field-id": 14,
         "type": {"type": "array",
                  "items": {"type": "array", "items": ["null", "string"]}}},
        {"name": "last", "type": "long", "field-id": 15},
    ],
}


def types(i):
    return {
        "b": i % 2 == 1,
        "i": (-1)**i * (2**31 - 1 - i),
        "l": (-1)**i * (2**63 - 1 - i),
        "f": i / 4,
        "d": i / 8,
        "y": bytes(range(i)),
        "s": "é" * i,
        "x": bytes([i] * 4),
        "e": ["RED", "GREEN", "BLUE"][i % 3],
        "x_again": bytes([i + 1] * 4),
        "x_full": None if i % 2 == 0 else bytes([i + 2] * 4),
        "u": [i, str(i), None, bytes([i + 3] * 4)][i % 4],
        "strings": {str(k): "v" * k for k in range(i)},
        "nested": [[None, "a"] * j for j in range(i)],
        "last": i,
    }


def write_types(directory):
    out = io.BytesIO()
    fastavro.writer(out, TYPES, (types(i) for i in range(20)),
                    codec="null", sync_marker=SYNC)
    write(directory, "types.avro", out.getvalue())


def write_pyiceberg(directory):
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.manifest import (DataFile, DataFileContent, FileFormat,
                                    ManifestEntry, ManifestEntryStatus,
                                    write_manifest)
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.typedef import Record
    from pyiceberg.types import IntegerType, NestedField, StringType

    schema = Schema(NestedField(1, "id", IntegerType(), required=True),
                    NestedField(2, "region", StringType(), required=False))
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(),
                                        "region"))
    path = os.path.join(directory, "manifest_pyiceberg.avro")
    with write_manifest(2, spec, schema, PyArrowFileIO().new_output(path), 77,
                        "deflate") as writer:
        for i in range(5):
            data_file = DataFile.from_args(
                _table_format_version=2,
                content=DataFileContent.DATA,
                file_path=f"file:/srv/lake/t/data/{i:05}.parquet",
                file_format=FileFormat.PARQUET,
                partition=Record(f"r{i}"),
                record_count=i * i,
                file_size_in_bytes=1000 + i,
                column_sizes={1: 10 * i, 2: 20 * i},
                value_counts={1: i, 2: i},
                null_value_counts={1: 0, 2: 0},
                nan_value_counts={},
                lower_bounds={1: struct.pack("<i", i)},
                upper_bounds={1: struct.pack("<i", 100 + i)},
                split_offsets=[4],
            )
            data_file.spec_id = 0
            writer.add(ManifestEntry.from_args(
                status=ManifestEntryStatus.ADDED, snapshot_id=77,
                data_file=data_file))


def write(directory, name, content):
    with open(os.path.join(directory, name), "wb") as file:
        file.write(content)


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    target = sys.argv[1] if len(sys.argv) > 1 else \
        os.path.join(here, "..", "data", "avro")
    os.makedirs(target, exist_ok=True)
    write_manifests(target)
    write_types(target)
    write_pyiceberg(target)
