"""PostgreSQL writes; Spark, PyIceberg and DuckDB read, and write at once.

    writes.py WAREHOUSE SPARK_JAR JDBC_JAR PSQL [SUBJECT ...]

INTEROP_SEED gives other rows.
"""

import os
import sys

import engines
import rows
import written_deletes
import written_metrics
import written_partitions
import written_types
from written import Lake

WAREHOUSE, JAR, JDBC, rows.PSQL = sys.argv[1:5]
rows.DATABASE = "writes"
SEED = int(os.environ.get("INTEROP_SEED", "20260301"))
SUBJECTS = {
    "types": written_types.compare_types,
    "partitions": written_partitions.compare_partitions,
    "deletes": written_deletes.compare_deletes,
    "metrics": written_metrics.compare_metrics,
}


def main():
    # the server may be another user, and writes next to what engines wrote
    os.umask(0)
    engines.set_up(WAREHOUSE)
    lake = Lake(WAREHOUSE, JAR + "," + JDBC)
    for name in sys.argv[5:] or SUBJECTS:
        print("  " + name)
        SUBJECTS[name](lake, SEED)
    lake.spark.session.stop()
    rows.close()


if __name__ == "__main__":
    main()
