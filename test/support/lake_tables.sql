-- Lake tables for tests that must not depend on how tables are created: their
-- first metadata is written here.  Loaded into the database of a suite before
-- its tests; the extension may come and go.
--
-- All tables have columns id bigint, grp text, val bigint.

-- the directory that the server may write to
CREATE FUNCTION lake_work() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	work text;
BEGIN
	CREATE TEMP TABLE environment (work text);
	COPY environment FROM PROGRAM 'printf "%s\n" "$LAKE_WORK"';
	SELECT e.work INTO work FROM environment e;
	DROP TABLE environment;
	RETURN work;
END $$;

CREATE FUNCTION create_lake_server() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse %L)',
		'file://' || lake_work());
END $$;

-- writes metadata as the next file of a table's directory; returns its location
CREATE FUNCTION write_metadata(metadata jsonb, name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	dir text := substr(metadata->>'location', 8) || '/metadata';
BEGIN
	EXECUTE format('COPY (SELECT %L) TO PROGRAM %L', metadata,
		format('mkdir -p %1$s && cat >%1$s/%2$s.metadata.json', dir, name));
	RETURN format('file://%s/%s.metadata.json', dir, name);
END $$;

CREATE FUNCTION read_metadata(name text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT pg_read_file(substr(metadata_location, 8))::jsonb
		FROM lake.iceberg_tables WHERE table_namespace = 'db' AND table_name = name);
END $$;

-- registers lake table db.NAME and maps it; an earlier one of the name is replaced
CREATE FUNCTION create_lake_table(name text, version int DEFAULT 2, properties jsonb DEFAULT '{}', grouped bool DEFAULT false)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	uuid uuid := gen_random_uuid();
	fields jsonb := CASE WHEN grouped THEN '[{"name": "grp", "transform": "identity", "source-id": 2, "field-id": 1000}]' ELSE '[]' END;
	location text;
BEGIN
	location := write_metadata(jsonb_build_object('format-version', version, 'table-uuid', uuid,
		'location', format('file://%s/%s', lake_work(), uuid), 'last-updated-ms', 1600000000000,
		'last-sequence-number', 0, 'last-column-id', 3, 'current-schema-id', 0,
		'schemas', '[{"type": "struct", "schema-id": 0, "fields": [
			{"id": 1, "name": "id", "required": false, "type": "long"},
			{"id": 2, "name": "grp", "required": false, "type": "string"},
			{"id": 3, "name": "val", "required": false, "type": "long"}]}]'::jsonb,
		'default-spec-id', 0, 'partition-specs', jsonb_build_array(jsonb_build_object('spec-id', 0, 'fields', fields)),
		'last-partition-id', 1000, 'default-sort-order-id', 0,
		'sort-orders', '[{"order-id": 0, "fields": []}]'::jsonb, 'properties', properties,
		'snapshots', '[]'::jsonb, 'refs', '{}'::jsonb) ||
		CASE WHEN version = 3 THEN '{"next-row-id": 0}' ELSE '{}' END::jsonb, '00000-' || uuid);
	DELETE FROM lake.iceberg_tables WHERE table_namespace = 'db' AND table_name = name;
	PERFORM lake.register_table('lake', 'db.' || name, location);
	IF to_regclass(name) IS NULL THEN
		EXECUTE format('CREATE FOREIGN TABLE %1$I (id bigint, grp text, val bigint) SERVER lake
			OPTIONS (namespace ''db'', "table" %1$L)', name);
	END IF;
END $$;

-- what another engine does: new metadata, and a pointer that is moved to it
CREATE FUNCTION commit_metadata(name text, metadata jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE lake.iceberg_tables SET previous_metadata_location = metadata_location,
		metadata_location = write_metadata(metadata, '00001-' || gen_random_uuid())
	WHERE table_namespace = 'db' AND table_name = name;
END $$;
