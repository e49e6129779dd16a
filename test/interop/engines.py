"""The hosted catalog as Spark and PyIceberg are given it: a role of the database,
and the settings that README.md shows.

The database is rows.DATABASE; the server is found through PGHOST and its
relatives, and by the engines through 127.0.0.1:PGPORT.
"""

import os
import sys

import psycopg2

import rows
from rows import literal, psql

PORT = os.environ["PGPORT"]


def run(sql):
    status, out, err = psql(sql)
    if status != 0:
        sys.exit("%s\n%s" % (sql, err))
    return out


def set_up(warehouse):
    run("""
        CREATE EXTENSION lakefdw;
        CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw
            OPTIONS (warehouse %s);
        DO $$
        BEGIN
            CREATE ROLE engine LOGIN PASSWORD 'secret';
        EXCEPTION WHEN duplicate_object THEN NULL;
        END $$;
        GRANT USAGE ON SCHEMA lake TO engine;
        GRANT SELECT, INSERT, UPDATE, DELETE
            ON lake.iceberg_tables, lake.iceberg_namespace_properties
            TO engine;
        """ % literal("file://" + warehouse))


def connect():
    return psycopg2.connect(host=os.environ["PGHOST"], port=PORT,
                            user="postgres", dbname=rows.DATABASE)


class Spark:
    def __init__(self, warehouse, jars):
        from pyspark.sql import SparkSession

        catalog = "spark.sql.catalog.lake"
        options = {
            "spark.jars": jars,
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.extensions":
                "org.apache.iceberg.spark.extensions."
                "IcebergSparkSessionExtensions",
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            catalog + ".type": "jdbc",
            catalog + ".uri": "jdbc:postgresql://127.0.0.1:%s/%s"
                              "?currentSchema=lake" % (PORT, rows.DATABASE),
            catalog + ".jdbc.user": "engine",
            catalog + ".jdbc.password": "secret",
            catalog + ".jdbc.schema-version": "V1",
            catalog + ".warehouse": "file://" + warehouse,
            catalog + ".cache-enabled": "false",
            "spark.sql.defaultCatalog": "lake",
            # the server writes next to what Spark writes, as another user
            "spark.hadoop.fs.permissions.umask-mode": "000",
        }
        builder = SparkSession.builder.master("local[1]").appName("hosted")
        for key, value in options.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def run(self, statement):
        self.session.sql(statement)

    def vectorised(self, on):
        self.session.conf.set("spark.sql.iceberg.vectorization.enabled",
                              "true" if on else "false")


def pyiceberg_catalog(warehouse):
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog(
        "lake", warehouse="file://" + warehouse, init_catalog_tables="false",
        uri="postgresql+psycopg2://engine:secret@127.0.0.1:%s/%s"
            "?options=-csearch_path%%3Dlake" % (PORT, rows.DATABASE))
