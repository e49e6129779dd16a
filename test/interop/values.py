"""Random lake types and values of them, as PostgreSQL's text and as JSON.

A kind knows its type in PyIceberg, the column type that shows it here, and makes
values: extremes, what is hard to write down, and random ones.
"""

import datetime as dt
import json
import struct
import uuid

from pyiceberg import types as iceberg

from rows import literal

WORDS = ["", "a", "it's", "back\\slash", "\u00e9", "e\u0301", "\u20ac\U0001f600",
         "\U0010ffff" * 17, "\uffff" * 16 + "z", "\x01\x7f\"{}\t\n", " ",
         "sixteen bytes is", "seventeen bytes i", "\u00df" * 40]


class Scalar:
    """One value is text; numbers stand bare in JSON."""

    def __init__(self, lake, column, make, number=False, in_json=True):
        self.lake, self.column, self.make = lake, column, make
        self.number, self.in_json = number, in_json

    def lake_type(self, _next_id):
        return self.lake

    def value(self, random):
        return self.make(random)

    def sql(self, value):
        return "%s::%s" % (literal(value), self.column)

    def json(self, value):
        if self.number and value not in ("NaN", "Infinity", "-Infinity"):
            return value
        return json.dumps(value)


def maybe(random, kind):
    return None if random.random() < 0.2 else kind.value(random)


class Nested:
    in_json = True
    column = "jsonb"

    def sql(self, value):
        return literal(self.json(value)) + "::jsonb"


class List(Nested):
    def __init__(self, element):
        self.element = element
        if isinstance(element, Scalar):
            self.column = element.column + "[]"

    def lake_type(self, next_id):
        return iceberg.ListType(next_id(), self.element.lake_type(next_id),
                                element_required=False)

    def value(self, random):
        return [maybe(random, self.element)
                for _ in range(random.choice([0, 1, 2, 5]))]

    def json(self, value):
        return "[%s]" % ", ".join(json_of(self.element, v) for v in value)

    def sql(self, value):
        if not isinstance(self.element, Scalar):
            return super().sql(value)
        return "ARRAY[%s]::%s" % (
            ", ".join(sql_of(self.element, v) for v in value), self.column)


class Struct(Nested):
    def __init__(self, fields):
        self.fields = fields

    def lake_type(self, next_id):
        return iceberg.StructType(*[
            iceberg.NestedField(next_id(), name, kind.lake_type(next_id),
                                required=False)
            for name, kind in self.fields.items()])

    def value(self, random):
        return {name: maybe(random, kind)
                for name, kind in self.fields.items()}

    def json(self, value):
        return "{%s}" % ", ".join(
            "%s: %s" % (json.dumps(name), json_of(kind, value[name]))
            for name, kind in self.fields.items())


class Map(Nested):
    """Of strings it is an object in JSON, else a list of keys and values."""

    def __init__(self, key, element):
        self.key, self.element = key, element

    def lake_type(self, next_id):
        return iceberg.MapType(
            next_id(), self.key.lake_type(next_id), next_id(),
            self.element.lake_type(next_id), value_required=False)

    def value(self, random):
        return {self.key.value(random): maybe(random, self.element)
                for _ in range(random.choice([0, 1, 3]))}

    def json(self, value):
        parts = [(self.key.json(k), json_of(self.element, v))
                 for k, v in value.items()]
        if isinstance(self.key.lake, iceberg.StringType):
            return "{%s}" % ", ".join("%s: %s" % part for part in parts)
        return "[%s]" % ", ".join(
            '{"key": %s, "value": %s}' % part for part in parts)


def json_of(kind, value):
    return "null" if value is None else kind.json(value)


def sql_of(kind, value):
    return "NULL" if value is None else kind.sql(value)


def integer(bits):
    high = 2 ** (bits - 1)

    def make(random):
        return str(random.choice([0, 1, -1, -high, high - 1,
                                  random.randrange(-high, high),
                                  random.randrange(-100, 100)]))
    return make


def double(random):
    return random.choice(["NaN", "Infinity", "-Infinity", "0", "-0", "5e-324",
                          "1.7976931348623157e308", repr(random.gauss(0, 1e3)),
                          repr(random.randrange(-80, 80) / 8)])


def real(random):
    value = struct.unpack("f", struct.pack("f", random.gauss(0, 100)))[0]
    return random.choice(["NaN", "Infinity", "-Infinity", "0", "-0", "1e-45",
                          "3.4028235e38", "%.9g" % value,
                          repr(random.randrange(-80, 80) / 8)])


def decimal(precision, scale):
    def make(random):
        high = 10 ** precision - 1
        unscaled = random.choice([0, 1, -1, high, -high,
                                  random.randrange(-high, high + 1),
                                  random.randrange(-9, 10)])
        digits = str(abs(unscaled)).rjust(scale + 1, "0")
        return ("-" if unscaled < 0 else "") + (
            digits[:-scale] + "." + digits[-scale:] if scale else digits)
    return make


def date(random):
    return random.choice([
        "0001-01-01", "9999-12-31", "1969-12-31", "1970-01-01", "1582-10-04",
        str(dt.date.fromordinal(random.randrange(700000, 760000)))])


def timestamp(random):
    micros = random.randrange(-10 ** 16, 10 ** 16)
    return random.choice([
        "0002-01-01T00:00:00", "9999-12-31T23:59:59.999999",
        "1969-12-31T23:59:59.999999", "1970-01-01T00:00:00",
        (dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros))
        .isoformat()])


def time(random):
    return random.choice(["00:00:00", "23:59:59.999999", "12:30:00.000001"])


def text(random):
    return random.choice(WORDS + ["".join(
        random.choice("abc \u00e9\u4e2d\U0001f9ca")
        for _ in range(random.randrange(30)))])


def octets(low, high):
    def make(random):
        size = random.randrange(low, high + 1)
        return "\\x" + random.choice([
            random.randbytes(size), b"\xff" * size, b"\0" * size]).hex()
    return make


def any_uuid(random):
    return str(random.choice([
        uuid.UUID(int=0), uuid.UUID(int=2 ** 128 - 1),
        uuid.UUID(int=2 ** 127), uuid.UUID(bytes=random.randbytes(16))]))


def decimal_kind(precision, scale):
    return Scalar(iceberg.DecimalType(precision, scale),
                  "numeric(%d,%d)" % (precision, scale),
                  decimal(precision, scale), number=True)


BOOLEAN = Scalar(iceberg.BooleanType(), "boolean",
                 lambda random: random.choice(["true", "false"]), number=True)
INT = Scalar(iceberg.IntegerType(), "integer", integer(32), number=True)
LONG = Scalar(iceberg.LongType(), "bigint", integer(64), number=True)
FLOAT = Scalar(iceberg.FloatType(), "real", real, number=True)
DOUBLE = Scalar(iceberg.DoubleType(), "double precision", double, number=True)
DATE = Scalar(iceberg.DateType(), "date", date)
TIME = Scalar(iceberg.TimeType(), "time", time)
TIMESTAMP = Scalar(iceberg.TimestampType(), "timestamp", timestamp)
TIMESTAMPTZ = Scalar(iceberg.TimestamptzType(), "timestamptz",
                     lambda random: timestamp(random) + "+00:00")
STRING = Scalar(iceberg.StringType(), "text", text)
UUID = Scalar(iceberg.UUIDType(), "uuid", any_uuid)
FIXED = Scalar(iceberg.FixedType(5), "bytea", octets(5, 5))
BINARY = Scalar(iceberg.BinaryType(), "bytea", octets(0, 40))
DECIMALS = [decimal_kind(*both) for both in (
    (1, 0), (4, 2), (9, 9), (10, 3), (18, 0), (19, 4), (38, 10), (38, 38))]
# float4 prints otherwise than the engines do, and NaN is not JSON
IN_NESTED = [BOOLEAN, INT, LONG, DECIMALS[3], DECIMALS[6], DATE, TIMESTAMP,
             TIMESTAMPTZ, STRING, BINARY]
SCALARS = [BOOLEAN, INT, LONG, FLOAT, DOUBLE, DATE, TIMESTAMP, TIMESTAMPTZ,
           STRING, UUID, FIXED, BINARY] + DECIMALS


def counter():
    numbers = iter(range(1, 10000))
    return lambda: next(numbers)


def lake_schema(columns):
    """columns: name -> kind"""
    from pyiceberg.schema import Schema

    next_id = counter()
    return Schema(*[
        iceberg.NestedField(next_id(), name, kind.lake_type(next_id),
                            required=False)
        for name, kind in columns.items()])


def row_sql(columns, random):
    return "(%s)" % ", ".join(sql_of(kind, maybe(random, kind))
                              for kind in columns.values())


def random_kind(random, depth=0):
    """Any type, nested to four levels."""
    pick = random.randrange(8)
    if pick < 5 or depth > 3:
        return random.choice(IN_NESTED if depth else SCALARS + [TIME])
    if pick == 5:
        return List(random_kind(random, depth + 1))
    if pick == 6:
        return Map(random.choice([STRING, INT, LONG, DATE]),
                   random_kind(random, depth + 1))
    return Struct({"f%d" % i: random_kind(random, depth + 1)
                   for i in range(random.randrange(1, 4))})
