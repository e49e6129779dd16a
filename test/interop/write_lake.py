"""Writes the sample lake of test/data/lake with real engines.

    write_lake.py WAREHOUSE SPARK_JAR

WAREHOUSE is an empty directory; what is written there says file:/srv/lake, so
run it with WAREHOUSE=/srv/lake (write_lake.sh does, and copies the result).
Engines: Spark with Iceberg's runtime jar (also through its Java API, for what
Spark SQL cannot write), PyIceberg, and DuckDB for data files without field ids.
"""

import datetime as dt
import decimal
import os
import sys
import uuid

WAREHOUSE, JAR = sys.argv[1:3]


def spark_session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("write_lake")
    options = {
        "spark.jars": JAR,
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.extensions":
            "org.apache.iceberg.spark.extensions."
            "IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": "file://" + WAREHOUSE,
        "spark.sql.defaultCatalog": "lake",
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


class Spark:
    def __init__(self):
        self.session = spark_session()
        self.jvm = self.session.sparkContext._jvm

    def run(self, *statements):
        for statement in statements:
            self.session.sql(statement)

    def table(self, name):
        """The Java Table object, freshly loaded."""
        catalog = self.jvm.org.apache.iceberg.hadoop.HadoopCatalog(
            self.session.sparkContext._jsc.hadoopConfiguration(),
            "file://" + WAREHOUSE)
        parts = name.split(".")
        gateway = self.session.sparkContext._gateway
        levels = gateway.new_array(gateway.jvm.String, len(parts) - 1)
        for i, part in enumerate(parts[:-1]):
            levels[i] = part
        space = self.jvm.org.apache.iceberg.catalog.Namespace.of(levels)
        return catalog.loadTable(
            self.jvm.org.apache.iceberg.catalog.TableIdentifier.of(
                space, parts[-1]))

    def equality_delete(self, name, columns, rows, partition=None):
        """Commits one equality delete file over columns with rows."""
        jvm, gateway = self.jvm, self.session.sparkContext._gateway
        table = self.table(name)
        full = table.schema()
        names = gateway.new_array(gateway.jvm.String, len(columns))
        ids = gateway.new_array(gateway.jvm.int, len(columns))
        for i, column in enumerate(columns):
            names[i] = column
            ids[i] = full.findField(column).fieldId()
        schema = full.select(names)
        factory = jvm.org.apache.iceberg.data.GenericAppenderFactory(
            full, table.spec(), ids, schema, None)
        path = "%s/data/eq-delete-%s.parquet" % (table.location(),
                                                 uuid.uuid4())
        out = jvm.org.apache.iceberg.encryption.EncryptedFiles \
            .encryptedOutput(
                table.io().newOutputFile(path),
                jvm.org.apache.iceberg.encryption.EncryptionKeyMetadata.EMPTY)
        key = None
        if partition is not None:
            key = jvm.org.apache.iceberg.data.GenericRecord.create(
                table.spec().partitionType())
            for i, value in enumerate(partition):
                key.set(i, value)
        writer = factory.newEqDeleteWriter(
            out, jvm.org.apache.iceberg.FileFormat.PARQUET, key)
        for row in rows:
            record = jvm.org.apache.iceberg.data.GenericRecord.create(schema)
            for column, value in zip(columns, row):
                record.setField(column, value)
            writer.write(record)
        writer.close()
        table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


MOR = """'write.delete.mode'='merge-on-read',
         'write.update.mode'='merge-on-read',
         'write.merge.mode'='merge-on-read'"""


def shop(spark):
    """The lake of the guided tour."""
    spark.run("""
        CREATE TABLE shop.orders (
            id bigint NOT NULL, customer_id int, status string,
            amount decimal(12,2), ordered_at timestamp)
        USING iceberg PARTITIONED BY (days(ordered_at))
        TBLPROPERTIES ('format-version'='2', %s)""" % MOR, """
        INSERT INTO shop.orders
        SELECT id, cast(id % 7 + 1 AS int),
               element_at(array('open', 'paid', 'shipped', 'returned'),
                          cast(id % 4 AS int) + 1),
               cast(id * 3.17 % 500 AS decimal(12,2)),
               timestamp'2026-03-01 00:00:00' + make_interval(
                   0, 0, 0, cast(id % 5 AS int), cast(id % 24 AS int), 7, 11)
        FROM range(1, 1001)""", """
        DELETE FROM shop.orders WHERE status = 'returned' AND id % 3 = 0""", """
        UPDATE shop.orders SET status = 'paid' WHERE id IN (4, 40, 400)""", """
        INSERT INTO shop.orders
        SELECT id, cast(id % 7 + 1 AS int), 'open', cast(id AS decimal(12,2)),
               timestamp'2026-03-06 08:00:00'
        FROM range(1001, 1101)""", """
        ALTER TABLE shop.orders CREATE TAG `end-of-week`""")
    spark.run("""
        CREATE TABLE shop.products (
            sku string NOT NULL, name string, price float, stock int)
        USING iceberg TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO shop.products VALUES
            ('A-1', 'anvil', 99.5, 3), ('B-2', 'bucket', 7.25, 40),
            ('C-3', 'candle', 1.5, NULL)""", """
        ALTER TABLE shop.products RENAME COLUMN name TO title""", """
        ALTER TABLE shop.products ALTER COLUMN price TYPE double""", """
        ALTER TABLE shop.products ALTER COLUMN stock TYPE bigint""", """
        ALTER TABLE shop.products ADD COLUMN tags array<string>""", """
        INSERT INTO shop.products VALUES
            ('D-4', 'drum', 250.0, 5000000000, array('loud', 'round'))""", """
        ALTER TABLE shop.products DROP COLUMN sku""", """
        ALTER TABLE shop.products ADD COLUMN sku string FIRST""", """
        INSERT INTO shop.products VALUES
            ('E-5', 'easel', 45.0, 12, array())""")
    spark.run("""
        CREATE TABLE shop.events (
            id bigint, kind string,
            payload struct<page: string, took_ms: int>,
            labels map<string, string>)
        USING iceberg
        TBLPROPERTIES ('format-version'='3', %s)""" % MOR, """
        INSERT INTO shop.events
        SELECT id, if(id % 2 = 0, 'view', 'click'),
               named_struct('page', concat('/p/', id % 10),
                            'took_ms', cast(id % 300 AS int)),
               if(id % 5 = 0, NULL, map('n', cast(id AS string)))
        FROM range(0, 500)""", """
        DELETE FROM shop.events WHERE id % 10 = 3""", """
        DELETE FROM shop.events WHERE id BETWEEN 100 AND 119""")


def deletes(spark):
    spark.run("""
        CREATE TABLE cases.pos_deletes (id bigint, grp int, val string)
        USING iceberg TBLPROPERTIES ('format-version'='2', %s,
            'write.parquet.row-group-size-bytes'='2048',
            'write.parquet.page-size-bytes'='512',
            'write.parquet.row-group-check-min-record-count'='50',
            'write.parquet.row-group-check-max-record-count'='50',
            'write.parquet.compression-codec'='snappy')""" % MOR, """
        INSERT INTO cases.pos_deletes
        SELECT /*+ COALESCE(1) */ id, cast(id / 100 AS int),
               concat('value number ', id, ' ', md5(cast(id AS string)))
        FROM range(0, 300)""", """
        DELETE FROM cases.pos_deletes WHERE id IN (0, 150, 299)""", """
        DELETE FROM cases.pos_deletes WHERE id BETWEEN 50 AND 59""")
    spark.run("""
        CREATE TABLE cases.deletion_vectors (id bigint, val string)
        USING iceberg TBLPROPERTIES ('format-version'='3', %s)""" % MOR, """
        INSERT INTO cases.deletion_vectors
        SELECT /*+ COALESCE(1) */ id, concat('v', id) FROM range(0, 100)""", """
        DELETE FROM cases.deletion_vectors WHERE id < 50""", """
        DELETE FROM cases.deletion_vectors WHERE id >= 80""")
    # position deletes of v2 that a later upgrade to v3 leaves in place
    spark.run("""
        CREATE TABLE cases.upgraded_deletes (id bigint, val string)
        USING iceberg TBLPROPERTIES ('format-version'='2', %s)""" % MOR, """
        INSERT INTO cases.upgraded_deletes
        SELECT /*+ COALESCE(1) */ id, concat('v', id) FROM range(0, 40)""", """
        DELETE FROM cases.upgraded_deletes WHERE id % 10 = 1""", """
        ALTER TABLE cases.upgraded_deletes
        SET TBLPROPERTIES ('format-version'='3')""", """
        INSERT INTO cases.upgraded_deletes
        SELECT /*+ COALESCE(1) */ id, concat('v', id) FROM range(40, 60)""", """
        DELETE FROM cases.upgraded_deletes WHERE id % 10 = 2""")
    spark.run("""
        CREATE TABLE cases.all_deleted (id bigint)
        USING iceberg TBLPROPERTIES ('format-version'='2', %s)""" % MOR, """
        INSERT INTO cases.all_deleted
        SELECT /*+ COALESCE(1) */ id FROM range(0, 10)""", """
        DELETE FROM cases.all_deleted WHERE id % 2 = 0""", """
        DELETE FROM cases.all_deleted WHERE id % 2 = 1""")
    spark.run("""
        CREATE TABLE cases.eq_deletes (id int, name string, note string)
        USING iceberg TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.eq_deletes VALUES
            (1, 'a', 'n1'), (2, 'b', 'n2'), (3, 'c', 'n3'), (NULL, 'd', 'n4')
        """)
    spark.equality_delete("cases.eq_deletes", ["id"], [(1,)])
    spark.equality_delete("cases.eq_deletes", ["id"], [(None,)])
    spark.equality_delete("cases.eq_deletes", ["name"], [("b",)])
    # rows written after the delete are not touched by it
    spark.run("""
        INSERT INTO cases.eq_deletes VALUES (1, 'again', 'n5')""")
    # equality ids not in schema order, and a table that then drops the key
    spark.run("""
        CREATE TABLE cases.eq_order (payload string, id int, pdate date)
        USING iceberg PARTITIONED BY (pdate)
        TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.eq_order VALUES
            ('x', 1, date'2026-01-01'), ('y', 2, date'2026-01-01'),
            ('z', 1, date'2026-01-02')""")
    day = (dt.date(2026, 1, 1) - dt.date(1970, 1, 1)).days
    local_date = spark.jvm.java.time.LocalDate.of(2026, 1, 1)
    spark.equality_delete("cases.eq_order", ["pdate", "id"],
                          [(local_date, 1)], partition=(day,))
    spark.run("""
        CREATE TABLE cases.eq_dropped_key (id int, val string)
        USING iceberg TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.eq_dropped_key VALUES (1, 'a'), (2, 'b'), (3, 'c')
        """)
    spark.equality_delete("cases.eq_dropped_key", ["id"], [(2,)])
    spark.run("ALTER TABLE cases.eq_dropped_key DROP COLUMN id")
    # more keys than any batch size in use
    spark.run("""
        CREATE TABLE cases.eq_many (id int)
        USING iceberg TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.eq_many
        SELECT /*+ COALESCE(1) */ cast(id AS int) FROM range(0, 10000)""")
    spark.equality_delete("cases.eq_many", ["id"],
                          [(i,) for i in range(10000) if i % 2000 != 7])


def evolution(spark):
    spark.run("""
        CREATE TABLE cases.spec_evolution (id int, region string, ts timestamp)
        USING iceberg PARTITIONED BY (region)
        TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.spec_evolution VALUES
            (1, 'north', timestamp'2026-01-01 10:00:00'),
            (2, 'south', timestamp'2026-01-02 10:00:00'),
            (3, NULL, timestamp'2026-01-02 10:00:00')""", """
        ALTER TABLE cases.spec_evolution
        ADD PARTITION FIELD bucket(4, id)""", """
        INSERT INTO cases.spec_evolution VALUES
            (4, 'north', timestamp'2026-01-03 10:00:00'),
            (5, 'east', timestamp'2026-01-03 11:00:00')""", """
        ALTER TABLE cases.spec_evolution DROP PARTITION FIELD region""", """
        ALTER TABLE cases.spec_evolution ADD PARTITION FIELD days(ts)""", """
        INSERT INTO cases.spec_evolution VALUES
            (6, 'north', timestamp'2026-01-04 10:00:00'),
            (7, 'west', NULL)""", """
        ALTER TABLE cases.spec_evolution DROP COLUMN region""")
    spark.run("""
        CREATE TABLE cases.v1_void (id int, a string, b string)
        USING iceberg PARTITIONED BY (a, b)
        TBLPROPERTIES ('format-version'='1')""", """
        INSERT INTO cases.v1_void VALUES (1, 'x', 'p'), (2, 'y', 'q')""", """
        ALTER TABLE cases.v1_void DROP PARTITION FIELD a""", """
        INSERT INTO cases.v1_void VALUES (3, 'x', 'q'), (4, NULL, NULL)""")
    spark.run("""
        CREATE TABLE cases.schema_evolution (
            a int, b string, s struct<x: int, y: string>)
        USING iceberg TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.schema_evolution VALUES
            (1, 'one', named_struct('x', 10, 'y', 'ten'))""", """
        ALTER TABLE cases.schema_evolution ALTER COLUMN a TYPE bigint""", """
        ALTER TABLE cases.schema_evolution RENAME COLUMN b TO c""", """
        ALTER TABLE cases.schema_evolution ADD COLUMN s.z double""", """
        ALTER TABLE cases.schema_evolution RENAME COLUMN s.y TO why""", """
        ALTER TABLE cases.schema_evolution ADD COLUMN b string""", """
        INSERT INTO cases.schema_evolution VALUES
            (5000000000, 'two', named_struct('x', 20, 'why', 'twenty',
                                             'z', 0.5), 'new b')""", """
        ALTER TABLE cases.schema_evolution DROP COLUMN s.x""", """
        ALTER TABLE cases.schema_evolution ALTER COLUMN c FIRST""")
    defaults = spark
    spark.run("""
        CREATE TABLE cases.defaults (id int)
        USING iceberg TBLPROPERTIES ('format-version'='3')""", """
        INSERT INTO cases.defaults VALUES (1), (2)""")
    jvm = defaults.jvm
    types = jvm.org.apache.iceberg.types.Types
    expressions = jvm.org.apache.iceberg.expressions.Expressions
    table = defaults.table("cases.defaults")
    update = table.updateSchema()
    for name, kind, value in (
            ("n", types.IntegerType.get(), 42),
            ("t", types.StringType.get(), "fallback"),
            ("d", types.DoubleType.get(), 2.5),
            ("flag", types.BooleanType.get(), True)):
        update = update.addColumn(name, kind, None,
                                  expressions.lit(value))
    update.commit()
    spark.run("REFRESH TABLE cases.defaults",
              """INSERT INTO cases.defaults
                 VALUES (3, 7, 'given', 0.25, false)""")


def transforms(spark):
    """One partition transform a table: negative, early and NULL values."""
    values = """
        (1, -1, -1L, cast(-1.28 AS decimal(5,2)), 'iceberg',
         date'1969-12-31', timestamp'1969-12-31 23:59:59.999999'),
        (2, 0, 0L, cast(0 AS decimal(5,2)), '',
         date'1970-01-01', timestamp'1970-01-01 00:00:00'),
        (3, 34, 34L, cast(14.20 AS decimal(5,2)), 'caf\u00e9 au lait',
         date'2017-11-16', timestamp'2017-11-16 22:31:08'),
        (4, -11, -9223372036854775808L, cast(-327.68 AS decimal(5,2)),
         'icy', date'1582-10-15', timestamp'1900-01-01 00:00:00'),
        (5, NULL, NULL, NULL, NULL, NULL, NULL),
        (6, 2147483647, 9223372036854775807L, cast(999.99 AS decimal(5,2)),
         '\U0001f9ca\U0001f9ca\U0001f9ca\U0001f9ca', date'9999-12-31',
         timestamp'2026-03-01 14:36:13.44')"""
    for name, spec in (
            ("bucket_int", "bucket(4, i)"),
            ("bucket_long", "bucket(4, l)"),
            ("bucket_decimal", "bucket(4, dec)"),
            ("bucket_text", "bucket(4, t)"),
            ("truncate_int", "truncate(10, i)"),
            ("truncate_text", "truncate(3, t)"),
            ("truncate_decimal", "truncate(50, dec)"),
            ("year_date", "years(d)"),
            ("month_date", "months(d)"),
            ("day_ts", "days(ts)"),
            ("hour_ts", "hours(ts)"),
            ("identity_text", "t"),
            ("identity_decimal", "dec")):
        spark.run("""
            CREATE TABLE transforms.%s (
                id int, i int, l bigint, dec decimal(5,2), t string, d date,
                ts timestamp)
            USING iceberg PARTITIONED BY (%s)
            TBLPROPERTIES ('format-version'='2',
                           'write.distribution-mode'='none',
                           'write.spark.fanout.enabled'='true')"""
                  % (name, spec),
                  "INSERT INTO transforms.%s VALUES %s" % (name, values))


def paged(spark):
    """Small pages with an index, row groups with bloom filters, deletes."""
    spark.run("""
        CREATE TABLE cases.paged (id bigint, k int, t string, d decimal(9,2),
            u string, day date, tags array<int>)
        USING iceberg TBLPROPERTIES ('format-version'='2', %s,
            'write.parquet.page-row-limit'='100',
            'write.parquet.row-group-size-bytes'='30000',
            'write.parquet.row-group-check-min-record-count'='1000',
            'write.parquet.row-group-check-max-record-count'='1000',
            'write.parquet.bloom-filter-enabled.column.u'='true',
            'write.parquet.bloom-filter-enabled.column.k'='true',
            'write.parquet.bloom-filter-max-bytes'='4096')""" % MOR, """
        INSERT INTO cases.paged SELECT /*+ COALESCE(1) */ * FROM (
            SELECT id,
                CASE WHEN id BETWEEN 1000 AND 1399 OR id % 11 = 3 THEN NULL
                    ELSE cast(id * 7919 % 1009 AS int) END,
                concat('text ', cast(id DIV 40 AS string)),
                cast(id / 8 AS decimal(9,2)),
                concat('u', cast(id * 104729 % 100003 AS string)),
                date_add(date'2026-01-01', cast(id DIV 50 AS int)),
                CASE WHEN id % 5 = 0 THEN NULL WHEN id % 5 = 1 THEN array()
                    ELSE array(cast(id AS int), NULL, cast(id + 1 AS int)) END
            FROM range(4000) ORDER BY id)""", """
        DELETE FROM cases.paged WHERE id % 97 = 5 OR id BETWEEN 2000 AND 2010
        """)


def misc(spark):
    spark.run("""
        CREATE TABLE cases.empty (id int, t string) USING iceberg""", """
        CREATE TABLE cases.`MixedCase` (id int, `camelCase` string,
                                        `with space` int, `select` int)
        USING iceberg""", """
        INSERT INTO cases.`MixedCase` VALUES (1, 'a', 2, 3)""", """
        CREATE NAMESPACE nested""", """
        CREATE NAMESPACE nested.deep""", """
        CREATE TABLE nested.deep.leaf (id int) USING iceberg""", """
        INSERT INTO nested.deep.leaf VALUES (1), (2)""", """
        CREATE TABLE cases.gzip_metadata (id int) USING iceberg
        TBLPROPERTIES ('write.metadata.compression-codec'='gzip')""", """
        INSERT INTO cases.gzip_metadata VALUES (7)""", """
        CREATE TABLE cases.orc_files (id int) USING iceberg
        TBLPROPERTIES ('write.format.default'='orc')""", """
        INSERT INTO cases.orc_files VALUES (1)""", """
        CREATE TABLE cases.avro_files (id int) USING iceberg
        TBLPROPERTIES ('write.format.default'='avro')""", """
        INSERT INTO cases.avro_files VALUES (1)""")
    # floats with NaN, signed zeros, infinities; bounds exclude NaN
    spark.run("""
        CREATE TABLE cases.floats (id int, f float, d double) USING iceberg
        """, """
        INSERT INTO cases.floats SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, cast(3 AS float), 3.0D), (2, cast('NaN' AS float), double('NaN')),
            (3, cast(3 AS float), 3.0D)""", """
        INSERT INTO cases.floats SELECT /*+ COALESCE(1) */ * FROM VALUES
            (4, cast(-0.0 AS float), -0.0D), (5, cast(-0.0 AS float), -0.0D)
        """, """
        INSERT INTO cases.floats SELECT /*+ COALESCE(1) */ * FROM VALUES
            (6, cast('Infinity' AS float), double('Infinity')),
            (7, cast('-Infinity' AS float), double('-Infinity')),
            (8, NULL, NULL)""")
    # no metrics in the manifests at all
    spark.run("""
        CREATE TABLE cases.no_metrics (id int, t string) USING iceberg
        TBLPROPERTIES ('write.metadata.metrics.default'='none')""", """
        INSERT INTO cases.no_metrics SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, 'a'), (NULL, NULL), (3, 'c')""", """
        CREATE TABLE cases.some_nulls (id int, v int) USING iceberg""", """
        INSERT INTO cases.some_nulls SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, 10), (2, NULL), (3, 30), (4, NULL), (5, 50)""", """
        INSERT INTO cases.some_nulls SELECT /*+ COALESCE(1) */ * FROM VALUES
            (6, NULL), (7, NULL)""")
    # bounds cut inside and after multi-byte characters
    spark.run("""
        CREATE TABLE cases.text_bounds (id int, t string) USING iceberg""", """
        INSERT INTO cases.text_bounds SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, 'aaaaaaaaaaaaaaa\u2022 and more'),
            (2, 'aaaaaaaaaaaaaaa\ud7ff and more'),
            (3, 'z\U0010ffff\U0010ffff\U0010ffff\U0010ffff\U0010ffff'
             || '\U0010ffff\U0010ffff\U0010ffff\U0010ffff\U0010ffff'
             || '\U0010ffff\U0010ffff\U0010ffff\U0010ffff\U0010ffff!')""")
    spark.run("""
        CREATE TABLE cases.nested_types (
            id int, l array<int>, ls array<string>,
            s struct<a: int, b: struct<c: string, d: array<double>>>,
            m map<string, int>, mi map<int, struct<x: date>>,
            ll array<array<int>>, lst array<struct<k: string, v: bigint>>)
        USING iceberg""", """
        INSERT INTO cases.nested_types SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, array(1, NULL, 3), array('a', '"quoted"', NULL),
             named_struct('a', 1, 'b',
                          named_struct('c', 'deep', 'd', array(0.5D, NULL))),
             map('one', 1, 'none', NULL),
             map(7, named_struct('x', date'2026-03-01')),
             array(array(1, 2), NULL, array(), array(3)),
             array(named_struct('k', 'k1', 'v', 1L),
                   named_struct('k', NULL, 'v', NULL))),
            (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            (3, array(), array(), named_struct('a', NULL, 'b', NULL),
             map(), map(), array(), array())""")
    spark.run("""
        CREATE TABLE cases.refs (id int, t string) USING iceberg
        TBLPROPERTIES ('format-version'='2')""", """
        INSERT INTO cases.refs VALUES (1, 'main')""", """
        ALTER TABLE cases.refs CREATE TAG v1""", """
        ALTER TABLE cases.refs CREATE BRANCH audit""", """
        INSERT INTO cases.refs.branch_audit VALUES (2, 'audit')""", """
        INSERT INTO cases.refs VALUES (3, 'main')""")
    spark.run("""
        CREATE TABLE cases.lineage (id int, t string) USING iceberg
        TBLPROPERTIES ('format-version'='3',
                       'write.update.mode'='copy-on-write')""", """
        INSERT INTO cases.lineage SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, 'a'), (2, 'b'), (3, 'c')""", """
        INSERT INTO cases.lineage SELECT /*+ COALESCE(1) */ * FROM VALUES
            (4, 'd'), (5, 'e')""", """
        UPDATE cases.lineage SET t = 'B' WHERE id = 2""")
    spark.run("""
        CREATE TABLE cases.day_boundary (id int, ts timestamp) USING iceberg
        PARTITIONED BY (days(ts))""", """
        INSERT INTO cases.day_boundary SELECT /*+ COALESCE(1) */ * FROM VALUES
            (1, timestamp'2026-03-01 14:36:13.40'),
            (2, timestamp'2026-03-01 14:36:13.43'),
            (3, timestamp'2026-03-01 14:36:13.50')""")


def pyiceberg_tables():
    """NNNNN-uuid metadata names, no version hint; all primitive types."""
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import (
        BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType,
        FloatType, IntegerType, LongType, NestedField, StringType, TimeType,
        TimestampType, TimestamptzType, UUIDType)
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import DayTransform

    catalog = SqlCatalog("lake", uri="sqlite:///:memory:",
                         warehouse="file://" + WAREHOUSE)
    catalog.create_namespace("py")
    kinds = (
        ("b", BooleanType(), True, False),
        ("i", IntegerType(), 2**31 - 1, -2**31),
        ("l", LongType(), 2**63 - 1, -2**63),
        ("f", FloatType(), 1.5, -0.25),
        ("d", DoubleType(), 1e300, -1e-300),
        ("n9", DecimalType(9, 2), "1234567.89", "-0.01"),
        ("n18", DecimalType(18, 6), "123456789012.345678", "-0.000001"),
        ("n38", DecimalType(38, 10), "1234567890123456789012345678.0123456789",
         "-9999999999999999999999999999.9999999999"),
        ("da", DateType(), dt.date(9999, 12, 31), dt.date(1, 1, 1)),
        ("ti", TimeType(), dt.time(23, 59, 59, 999999), dt.time(0, 0)),
        ("ts", TimestampType(), dt.datetime(2026, 3, 1, 12, 0, 0, 1),
         dt.datetime(1, 1, 1)),
        ("tz", TimestamptzType(),
         dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.timezone.utc),
         dt.datetime(1969, 12, 31, 23, 59, 59, 999999,
                     tzinfo=dt.timezone.utc)),
        ("s", StringType(), "z\u00fcrich \U0001f9ca", ""),
        ("u", UUIDType(), uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"),
         uuid.UUID(int=0)),
        ("fx", FixedType(4), b"\x00\x01\xfe\xff", b"abcd"),
        ("bi", BinaryType(), b"\x00\xff", b""),
    )
    fields = [NestedField(1, "id", IntegerType(), required=True)]
    for i, (name, kind, _, _) in enumerate(kinds):
        fields.append(NestedField(i + 2, name, kind, required=False))
    table = catalog.create_table("py.types", schema=Schema(*fields))
    columns = {"id": [1, 2, 3]}
    for name, kind, high, low in kinds:
        if isinstance(kind, DecimalType):
            high, low = decimal.Decimal(high), decimal.Decimal(low)
        if isinstance(kind, UUIDType):
            high, low = high.bytes, low.bytes
        columns[name] = [high, low, None]
    schema = table.schema().as_arrow()
    table.append(pa.table(
        [pa.array(columns[field.name],
                  field.type.storage_type
                  if isinstance(field.type, pa.ExtensionType)
                  else field.type).cast(field.type)
         if not isinstance(field.type, pa.ExtensionType)
         else pa.ExtensionArray.from_storage(
             field.type, pa.array(columns[field.name],
                                  field.type.storage_type))
         for field in schema], schema=schema))

    # several commits, one partitioned by day, deletes as copy-on-write
    table = catalog.create_table(
        "py.daily",
        schema=Schema(NestedField(1, "id", LongType()),
                      NestedField(2, "at", TimestamptzType()),
                      NestedField(3, "v", DoubleType())),
        partition_spec=PartitionSpec(
            PartitionField(2, 1000, DayTransform(), "at_day")))
    arrow = table.schema().as_arrow()
    for start in range(0, 30, 10):
        table.append(pa.table({
            "id": list(range(start, start + 10)),
            "at": [dt.datetime(2026, 3, 1 + i % 3, i % 24,
                               tzinfo=dt.timezone.utc)
                   for i in range(start, start + 10)],
            "v": [i / 4 for i in range(start, start + 10)]}, schema=arrow))
    table.delete("id >= 12 and id < 15")

    # data files without field ids: DuckDB's, adopted with a name mapping
    import duckdb

    directory = WAREHOUSE + "/py/adopted/data"
    os.makedirs(directory)
    duckdb.sql("""
        COPY (SELECT i::INTEGER AS id, 'duck ' || i AS t,
                     (i * 1.5)::DECIMAL(10,2) AS amount
              FROM range(50) r(i))
        TO '%s/duck.parquet' (FORMAT parquet)""" % directory)
    table = catalog.create_table(
        "py.adopted",
        schema=Schema(NestedField(1, "id", IntegerType()),
                      NestedField(2, "t", StringType()),
                      NestedField(3, "amount", DecimalType(10, 2))))
    table.add_files(["file://%s/duck.parquet" % directory])
    # dropped and added again: the old values stay hidden
    with table.update_schema() as update:
        update.delete_column("t")
    with table.update_schema() as update:
        update.add_column("t", StringType())
    with table.update_schema() as update:
        update.rename_column("amount", "total")
    odd_values(catalog)
    nested_shapes(catalog)
    measures(catalog)


def measures(catalog):
    """More rows than ANALYZE needs; columns that know of each other."""
    import random

    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.types import (
        DateType, DecimalType, IntegerType, NestedField, StringType)

    table = catalog.create_table("py.measures", schema=Schema(
        NestedField(1, "id", IntegerType()),
        NestedField(2, "batch", IntegerType()),
        NestedField(3, "taken", DateType()),
        NestedField(4, "town", StringType()),
        NestedField(5, "zip", IntegerType()),
        NestedField(6, "value", IntegerType()),
        NestedField(7, "price", DecimalType(9, 2)),
        NestedField(8, "unit", StringType())),
        properties={"write.parquet.row-group-limit": "2000"})
    schema = table.schema().as_arrow()
    dice = random.Random(2)
    for first in range(0, 40000, 10000):
        ids = range(first, first + 10000)
        zips = [dice.randrange(100) for _ in ids]
        values = [None if dice.random() < 0.25 else dice.randrange(200)
                  for _ in ids]
        table.append(pa.table({
            "id": list(ids),
            "batch": [i // 100 for i in ids],
            "taken": [dt.date(2026, 1, 1) + dt.timedelta(days=i // 400)
                      for i in ids],
            "town": ["town %d" % (z // 5) for z in zips],
            "zip": zips,
            "value": values,
            "price": [None if v is None else decimal.Decimal(v // 8)
                      for v in values],
            "unit": ["mm"] * len(zips)}, schema=schema))


def nested_shapes(catalog):
    """Lists, structs and maps inside each other: odd ones, then many."""
    import random

    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.types import (
        DecimalType, DoubleType, IntegerType, ListType, LongType, MapType,
        NestedField, StringType, StructType, TimestamptzType)

    catalog.create_namespace_if_not_exists("nested.deep")
    ids = iter(range(20, 100))

    def list_of(kind):
        return ListType(next(ids), kind, element_required=False)

    def map_of(key, value):
        return MapType(next(ids), key, next(ids), value, value_required=False)

    def struct_of(**fields):
        return StructType(*(NestedField(next(ids), name, kind)
                            for name, kind in fields.items()))

    table = catalog.create_table("nested.deep.shapes", schema=Schema(
        NestedField(1, "id", IntegerType()),
        NestedField(2, "grid", list_of(list_of(IntegerType()))),
        NestedField(3, "cube", list_of(list_of(list_of(DoubleType())))),
        NestedField(4, "people", list_of(struct_of(
            name=StringType(), Age=LongType(), tags=list_of(StringType())))),
        NestedField(5, "by_id", map_of(LongType(), struct_of(
            n=DecimalType(9, 2), at=TimestamptzType()))),
        NestedField(6, "words", map_of(StringType(), list_of(IntegerType()))),
        NestedField(7, "maps", list_of(map_of(StringType(), IntegerType()))),
        NestedField(8, "pair", struct_of(
            lo=LongType(), hi=LongType(), inner=struct_of(
                s=StringType(), d=DoubleType())))),
        location="file://%s/nested/deep/shapes" % WAREHOUSE)
    schema = table.schema().as_arrow()
    at = dt.datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=dt.timezone.utc)
    pair = {"lo": 1, "hi": 2**40, "inner": {"s": "long text", "d": 0.5}}
    rows = [
        {"id": 1, "grid": [[1, 2, 3], [4, None, 6]],
         "cube": [[[0.5, 1.5]], [[2.5, None]]],
         "people": [{"name": "Ada", "Age": 36, "tags": ["x", None]}, None,
                    {"name": None, "Age": None, "tags": None}],
         "by_id": [(7, {"n": decimal.Decimal("1.25"), "at": at}), (8, None)],
         "words": [("a", [1, 2]), ("b", []), ("c", None)],
         "maps": [[("k", 1)], [], None], "pair": pair},
        {"id": 2, "pair": {"lo": None, "hi": None, "inner": None}},
        {"id": 3, "grid": [], "cube": [], "people": [], "by_id": [],
         "words": [], "maps": []},
        {"id": 4, "grid": [[1, 2], [3]], "cube": [[[1.0]], [[1.0], [2.0]]]},
        {"id": 5, "grid": [[1], None], "cube": [[None]]},
        {"id": 6, "grid": [[], []], "cube": [[], []]},
        {"id": 7, "grid": [[2**31 - 1, -2**31]]}]
    table.append(pa.Table.from_pylist(rows, schema=schema))
    dice = random.Random(1)

    def maybe(value):
        return None if dice.random() < 0.1 else value

    def many(make, most=4):
        return [make() for _ in range(dice.randrange(most))]

    def number():
        return maybe(dice.randrange(-9, 100))

    rows = []
    for i in range(100, 2600):
        width, depth = 1 + dice.randrange(3), 1 + dice.randrange(2)
        rows.append({
            "id": i,
            "grid": maybe([[number() for _ in range(width)]
                           for _ in range(dice.randrange(4))]),
            "cube": maybe([[[maybe(dice.randrange(8) / 4)
                             for _ in range(width)] for _ in range(depth)]
                           for _ in range(dice.randrange(3))]),
            "people": maybe(many(lambda: maybe({
                "name": maybe("p%d" % dice.randrange(50)), "Age": number(),
                "tags": maybe(many(lambda: maybe("t%d" % dice.randrange(9))))
            }))),
            "by_id": maybe([(key, maybe({
                "n": maybe(decimal.Decimal(dice.randrange(10**6)) / 100),
                "at": maybe(at + dt.timedelta(hours=dice.randrange(999)))}))
                for key in range(dice.randrange(3))]),
            "words": maybe([("w%d" % key, maybe(many(number)))
                            for key in range(dice.randrange(3))]),
            "maps": maybe(many(lambda: maybe([
                ("m%d" % key, number()) for key in range(dice.randrange(3))
            ]))),
            "pair": maybe({"lo": number(), "hi": number(), "inner": maybe(
                {"s": maybe("s%d" % dice.randrange(30)),
                 "d": maybe(dice.randrange(100) / 8)})})})
    table.append(pa.Table.from_pylist(rows, schema=schema))


def odd_values(catalog):
    """One value a row that files can hold and a reader must not show."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.schema import Schema
    from pyiceberg.types import (
        DateType, DecimalType, IntegerType, ListType, NestedField, StringType,
        TimeType, TimestampType)

    def column(kind, width, values):
        """a column of any bits, row ids to integers; the others are zero"""
        bits = b"".join(values.get(i, 0).to_bytes(width, "little", signed=True)
                        for i in range(1, 13))
        return pa.Array.from_buffers(kind, 12, [None, pa.py_buffer(bits)])

    def texts(values):
        parts = [values.get(i, b"") for i in range(1, 13)]
        offsets = [sum(map(len, parts[:i])) for i in range(13)]
        return pa.Array.from_buffers(
            pa.string(), 12,
            [None, pa.py_buffer(b"".join(i.to_bytes(4, "little")
                                         for i in offsets)),
             pa.py_buffer(b"".join(parts))])

    directory = WAREHOUSE + "/py/odd/data"
    os.makedirs(directory)
    data = pa.table({
        "id": pa.array(range(1, 13), pa.int32()),
        "s": texts({2: b"caf\xe9", 3: b"a\0b"}),
        "da": column(pa.date32(), 4, {4: 2**31 - 1, 5: -2**31}),
        "ts": column(pa.timestamp("us"), 8, {6: 2**63 - 1, 7: -2**63}),
        "ti": column(pa.time64("us"), 8, {8: 86400000001, 9: -1}),
        "n": column(pa.decimal128(9, 2), 16, {10: 10**9, 11: -10**9}),
        "l": pa.ListArray.from_arrays(pa.array(range(13), pa.int32()),
                                      texts({12: b"\xc0\x80"}))})
    pq.write_table(data, directory + "/odd.parquet", write_statistics=False)
    table = catalog.create_table("py.odd", schema=Schema(
        NestedField(1, "id", IntegerType()),
        NestedField(2, "s", StringType()),
        NestedField(3, "da", DateType()),
        NestedField(4, "ts", TimestampType()),
        NestedField(5, "ti", TimeType()),
        NestedField(6, "n", DecimalType(9, 2)),
        NestedField(7, "l", ListType(8, StringType(),
                                     element_required=False))))
    table.add_files(["file://%s/odd.parquet" % directory])


def main():
    spark = Spark()
    spark.run("CREATE NAMESPACE shop", "CREATE NAMESPACE cases",
              "CREATE NAMESPACE transforms")
    for part in (shop, deletes, evolution, transforms, misc, paged):
        part(spark)
    spark.session.stop()
    pyiceberg_tables()


if __name__ == "__main__":
    main()
