# Sourced: brings the engines that interoperability is tested with, once, and
# says where they are: ENGINES_PYTHON, SPARK_ICEBERG_JAR, POSTGRESQL_JAR.
#
# Fails, it never skips, when one of them cannot be had.

. "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"
ENGINES_DIR=${ENGINES_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/lakefdw-engines}
PYSPARK_VERSION=3.5.6
ICEBERG_VERSION=1.10.0
PYICEBERG_VERSION=0.12.0
DUCKDB_VERSION=2.0.1
SPARK_ICEBERG_ARTIFACT=iceberg-spark-runtime-3.5_2.12
PSYCOPG2_VERSION=2.9.13
JDBC_VERSION=42.7.14

# what the engines themselves need, from the distribution
engine_packages=
command -v java >/dev/null || engine_packages="default-jre-headless"
command -v mvn >/dev/null || engine_packages="$engine_packages maven"
python3 -c 'import venv, ensurepip' 2>/dev/null ||
	engine_packages="$engine_packages python3-venv"
if [ -n "$engine_packages" ]; then
	retry as_root apt-get update -qq
	# shellcheck disable=SC2086
	retry as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
		--no-install-recommends $engine_packages >/dev/null
fi

ENGINES_PYTHON=$ENGINES_DIR/venv/bin/python
if ! "$ENGINES_PYTHON" -c '
import pyspark, pyiceberg, pyiceberg_core, sqlalchemy, psycopg2, duckdb' \
	2>/dev/null; then
	mkdir -p "$ENGINES_DIR"
	python3 -m venv "$ENGINES_DIR/venv"
	retry "$ENGINES_PYTHON" -m pip install --quiet \
		"pyspark==$PYSPARK_VERSION" \
		"pyiceberg[sql-sqlite,pyarrow,pyiceberg-core]==$PYICEBERG_VERSION" \
		"psycopg2-binary==$PSYCOPG2_VERSION" \
		"duckdb==$DUCKDB_VERSION"
fi

# fetch_jar GROUP ARTIFACT VERSION
fetch_jar()
{
	[ -s "$ENGINES_DIR/$2-$3.jar" ] || retry mvn -q -B \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
		-Dartifact="$1:$2:$3" -DoutputDirectory="$ENGINES_DIR"
	[ -s "$ENGINES_DIR/$2-$3.jar" ]
}

SPARK_ICEBERG_JAR=$ENGINES_DIR/$SPARK_ICEBERG_ARTIFACT-$ICEBERG_VERSION.jar
fetch_jar org.apache.iceberg "$SPARK_ICEBERG_ARTIFACT" "$ICEBERG_VERSION"
POSTGRESQL_JAR=$ENGINES_DIR/postgresql-$JDBC_VERSION.jar
fetch_jar org.postgresql postgresql "$JDBC_VERSION"
