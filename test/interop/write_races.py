"""Writes what test/data/races.tar.gz has: commits to race against.

    write_races.py WAREHOUSE SPARK_JAR

Each table is one base with nine rows, and some commits that Spark and Iceberg's
Java API have made on it, each as if the others had not been: the branch of that
name has it.  Run by write_races.sh with WAREHOUSE=/srv/lake.
"""

import json
import uuid

import write_lake


def base(spark, name, version):
    """Three files, each of three rows: f in partition a is the last."""
    spark.run("""
        CREATE TABLE %s (id bigint, grp string, val bigint)
        USING iceberg PARTITIONED BY (grp)
        TBLPROPERTIES ('format-version'='%d')""" % (name, version))
    for group, first in ("b", 7), ("a", 4), ("a", 1):
        spark.run("""
            INSERT INTO %s SELECT /*+ COALESCE(1) */ id, '%s', id * 10
            FROM range(%d, %d)""" % (name, group, first, first + 3))


def write_row_delta(spark, name, keys, rows):
    """Equality deletes of ids in partition a, and rows, as one commit."""
    jvm, gateway = spark.jvm, spark.session.sparkContext._gateway
    iceberg = jvm.org.apache.iceberg
    table = spark.table(name)
    schema = table.schema()
    names = gateway.new_array(gateway.jvm.String, 1)
    names[0] = "id"
    ids = gateway.new_array(gateway.jvm.int, 1)
    ids[0] = schema.findField("id").fieldId()
    key_schema = schema.select(names)
    factory = iceberg.data.GenericAppenderFactory(
        schema, table.spec(), ids, key_schema, None)
    partition = iceberg.data.GenericRecord.create(table.spec().partitionType())
    partition.set(0, "a")

    def output(kind):
        path = "%s/data/grp=a/%s-%s.parquet" % (table.location(), kind,
                                                uuid.uuid4())
        return iceberg.encryption.EncryptedFiles.encryptedOutput(
            table.io().newOutputFile(path),
            iceberg.encryption.EncryptionKeyMetadata.EMPTY)

    # py4j would make ints of small numbers
    jackson = jvm.com.fasterxml.jackson.databind
    mapper = jackson.ObjectMapper().enable(
        jackson.DeserializationFeature.USE_LONG_FOR_INTS)
    map_class = jvm.java.util.HashMap().getClass()

    def write(writer, record_schema, records):
        empty = iceberg.data.GenericRecord.create(record_schema)
        for values in records:
            writer.write(empty.copy(mapper.readValue(json.dumps(values),
                                                     map_class)))
        writer.close()

    parquet = iceberg.FileFormat.PARQUET
    delta = table.newRowDelta()
    deletes = factory.newEqDeleteWriter(output("eq-delete"), parquet,
                                        partition)
    write(deletes, key_schema, [{"id": key} for key in keys])
    delta.addDeletes(deletes.toDeleteFile())
    if rows:
        data = factory.newDataWriter(output("upsert"), parquet, partition)
        write(data, schema, [{"id": i, "grp": "a", "val": val}
                             for i, val in rows])
        delta.addRows(data.toDataFile())
    delta.commit()


def rewrite(name, group):
    return """
        CALL lake.system.rewrite_data_files(table => '%s',
            where => 'grp = "%s"',
            options => map('rewrite-all', 'true'))""" % (name, group)


def commits(spark, name, version):
    head = spark.table(name).currentSnapshot().snapshotId()

    def keep(branch, play):
        play()
        # what the Java API has committed is news to Spark
        spark.run("REFRESH TABLE %s" % name,
                  "ALTER TABLE %s CREATE BRANCH %s" % (name, branch),
                  "CALL lake.system.rollback_to_snapshot('%s', %d)"
                  % (name, head))

    # f and the other file of its partition become one
    keep("compact", lambda: spark.run(rewrite(name, "a")))
    keep("compact_other", lambda: spark.run(rewrite(name, "b")))
    # row 2 of f, by equality; the second time with a new row 2
    if version > 1:
        keep("equality_delete",
             lambda: write_row_delta(spark, name, [2], []))
        keep("upsert",
             lambda: write_row_delta(spark, name, [2], [(2, 22), (11, 20)]))
    spark.session.conf.set("spark.sql.sources.partitionOverwriteMode",
                           "dynamic")
    keep("overwrite", lambda: spark.run("""
        INSERT OVERWRITE %s VALUES (1, 'a', 10), (12, 'a', 20)""" % name))
    keep("rewrite_manifests", lambda: spark.run("""
        CALL lake.system.rewrite_manifests('%s')""" % name))


def main():
    spark = write_lake.Spark()
    for version in 1, 2, 3:
        name = "races.v%d" % version
        base(spark, name, version)
        commits(spark, name, version)


if __name__ == "__main__":
    main()
