-- Tables to race for, and what the first of two concurrent commits does to them.
--
-- There is one table for each isolation level of the second commit, t_rc, t_rr
-- and t_ser, with the nine rows of races.tar.gz: ids 1 to 3 in file f, 4 to 6 in
-- another file of partition a, 7 to 9 in partition b; val is 10 * id.  What is
-- first uses other foreign tables of them, whose names end with _too, so that it
-- need not wait for the second's locks of its own.
--
-- Needs lake_tables.sql, and the archive unpacked in the sample lake.  For a
-- database where extension and tables stay.

CREATE TABLE lake_dir (path text);
COPY lake_dir FROM PROGRAM 'printf "%s\n" "$LAKE_DIR"';

CREATE EXTENSION lakefdw VERSION 'stop';
DO $$
DECLARE
	t text;
BEGIN
	EXECUTE format('CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse %L, path_map %L)',
		'file://' || lake_work(), 'file:///srv/lake=' || (SELECT path FROM lake_dir));
	FOREACH t IN ARRAY '{t_rc, t_rr, t_ser}'::text[]
	LOOP
		EXECUTE format('CREATE FOREIGN TABLE %1$I (id bigint, grp text, val bigint) SERVER lake
			OPTIONS (namespace ''db'', "table" %1$L)', t);
		EXECUTE format('CREATE FOREIGN TABLE %1$I (id bigint, grp text, val bigint) SERVER lake
			OPTIONS (namespace ''db'', "table" %2$L)', t || '_too', t);
	END LOOP;
END $$;

-- metadata with all the branches that Spark has left
CREATE FUNCTION race_metadata(version int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT pg_read_file(format('%s/races/v%s/metadata/races.metadata.json', path, version))::jsonb FROM lake_dir
$$;

-- metadata whose current snapshot is another one, which it may not know yet
CREATE FUNCTION with_snapshot(metadata jsonb, snapshot jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT metadata || jsonb_build_object(
		'current-snapshot-id', snapshot->'snapshot-id',
		'refs', jsonb_build_object('main', jsonb_build_object('type', 'branch', 'snapshot-id', snapshot->'snapshot-id')),
		'last-updated-ms', greatest((metadata->'last-updated-ms')::bigint, (snapshot->'timestamp-ms')::bigint),
		'snapshots', (metadata->'snapshots') || CASE WHEN metadata->'snapshots' @> jsonb_build_array(snapshot)
			THEN '[]' ELSE jsonb_build_array(snapshot) END) ||
		CASE WHEN metadata ? 'last-sequence-number' THEN jsonb_build_object('last-sequence-number',
			greatest((metadata->'last-sequence-number')::bigint, (snapshot->'sequence-number')::bigint))
		ELSE '{}' END ||
		CASE WHEN metadata ? 'next-row-id' THEN jsonb_build_object('next-row-id',
			greatest((metadata->'next-row-id')::bigint, (snapshot->'first-row-id')::bigint + (snapshot->'added-rows')::bigint))
		ELSE '{}' END
$$;

CREATE FUNCTION current_snapshot(metadata jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT s FROM jsonb_array_elements(metadata->'snapshots') s
	WHERE s->'snapshot-id' = metadata->'current-snapshot-id'
$$;

-- points a table to the base, with properties of its own
CREATE FUNCTION create_race(name text, source jsonb, properties jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	base jsonb := current_snapshot(source);
	uuid uuid := gen_random_uuid();
	ancestors jsonb;
BEGIN
	SELECT jsonb_agg(s ORDER BY s->'timestamp-ms') INTO ancestors FROM jsonb_array_elements(source->'snapshots') s
	WHERE s->'timestamp-ms' < base->'timestamp-ms';
	source := source || jsonb_build_object('snapshots', ancestors,
		'table-uuid', uuid, 'location', format('file://%s/%s', lake_work(), uuid),
		'properties', source->'properties' || properties, 'snapshot-log', '[]'::jsonb, 'metadata-log', '[]'::jsonb);
	-- as they were when the base was new
	IF source ? 'last-sequence-number' THEN
		source := jsonb_set(source, '{last-sequence-number}', '0');
	END IF;
	IF source ? 'next-row-id' THEN
		source := jsonb_set(source, '{next-row-id}', '0');
	END IF;
	DELETE FROM lake.iceberg_tables WHERE table_name IN (name, name || '_renamed');
	INSERT INTO lake.iceberg_tables (catalog_name, table_namespace, table_name, iceberg_type, metadata_location)
	VALUES ('lake', 'db', name, 'TABLE', write_metadata(with_snapshot(source, base), '00000-' || uuid));
END $$;

-- mode and isolation are those of DELETE and UPDATE
CREATE PROCEDURE create_races(version int, mode text, isolation text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM create_race(t, race_metadata(version), jsonb_build_object('write.delete.mode', mode, 'write.update.mode', mode,
		'write.delete.isolation-level', isolation, 'write.update.isolation-level', isolation))
	FROM unnest('{t_rc, t_rr, t_ser}'::text[]) t;
END $$;

-- what the three have in the end
CREATE VIEW race_rows AS
	SELECT 'rc' AS t, string_agg(id || ':' || val, ' ' ORDER BY id, val) AS rows FROM t_rc
	UNION ALL SELECT 'rr', string_agg(id || ':' || val, ' ' ORDER BY id, val) FROM t_rr
	UNION ALL SELECT 'ser', string_agg(id || ':' || val, ' ' ORDER BY id, val) FROM t_ser;

-- ---- what others commit first ----

CREATE FUNCTION change_properties(name text, properties jsonb) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, jsonb_set(m, '{properties}', m->'properties' || properties)) FROM read_metadata(name) m
$$;

CREATE FUNCTION change_mode(name text, mode text) RETURNS void LANGUAGE sql AS $$
	SELECT change_properties(name, jsonb_build_object('write.delete.mode', mode, 'write.update.mode', mode,
		'write.delete.granularity', 'partition'))
$$;

-- by Spark: the commit that the fixture's branch has
CREATE FUNCTION play(name text, branch text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	metadata jsonb := read_metadata(name);
	source jsonb := race_metadata((metadata->'format-version')::int);
BEGIN
	PERFORM commit_metadata(name, with_snapshot(metadata, s)) FROM jsonb_array_elements(source->'snapshots') s
	WHERE s->'snapshot-id' = source->'refs'->branch->'snapshot-id';
END $$;

CREATE FUNCTION roll_back(name text) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, with_snapshot(m, s)) FROM read_metadata(name) m, jsonb_array_elements(m->'snapshots') s
	WHERE s->'snapshot-id' = current_snapshot(m)->'parent-snapshot-id'
$$;

-- the newest snapshots stay
CREATE FUNCTION expire(name text, count int) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, jsonb_set(m, '{snapshots}', (SELECT jsonb_agg(s ORDER BY n) FROM (
		SELECT s, s->'timestamp-ms' AS n FROM jsonb_array_elements(m->'snapshots') s ORDER BY n DESC LIMIT count) kept)))
	FROM read_metadata(name) m
$$;

CREATE FUNCTION add_column(name text) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, m || jsonb_build_object('current-schema-id', 1, 'last-column-id', 4,
		'schemas', (m->'schemas') || jsonb_build_array(m->'schemas'->0 || jsonb_build_object('schema-id', 1, 'fields',
			(m->'schemas'->0->'fields') || '{"id": 4, "name": "added", "required": false, "type": "string"}'))))
	FROM read_metadata(name) m
$$;

-- partitions of what others write from then on
CREATE FUNCTION add_partition_field(name text) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, m || jsonb_build_object('default-spec-id', 1, 'last-partition-id', 1001,
		'partition-specs', (m->'partition-specs') || jsonb_build_array(jsonb_build_object('spec-id', 1, 'fields',
			(m->'partition-specs'->0->'fields') ||
			'{"name": "id_bucket", "transform": "bucket[4]", "source-id": 1, "field-id": 1001}'))))
	FROM read_metadata(name) m
$$;

CREATE FUNCTION upgrade(name text) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, m || '{"format-version": 3, "next-row-id": 0}') FROM read_metadata(name) m
$$;

CREATE FUNCTION add_tag(name text) RETURNS void LANGUAGE sql AS $$
	SELECT commit_metadata(name, jsonb_set(m, '{refs, audit}',
		jsonb_build_object('type', 'tag', 'snapshot-id', m->'current-snapshot-id')))
	FROM read_metadata(name) m
$$;

-- %1$I is the foreign table, %2$L the lake table's name
CREATE TABLE first_operations (name text, mode text, statements text);
INSERT INTO first_operations VALUES
	-- the second looks for val = 20, or for what is at most 30
	('append_match', NULL, 'INSERT INTO %1$I VALUES (10, ''a'', 20)'),
	('append_other', NULL, 'INSERT INTO %1$I VALUES (10, ''a'', 100)'),
	-- f is replaced, or goes
	('cow_update', 'copy-on-write', 'UPDATE %1$I SET val = val + 1 WHERE id = 1'),
	('cow_delete', 'copy-on-write', 'DELETE FROM %1$I WHERE id = 1'),
	('delete_file', 'copy-on-write', 'DELETE FROM %1$I WHERE val <= 30'),
	('truncate', NULL, 'TRUNCATE %1$I'),
	-- the other file of the partition is, or does
	('cow_update_other', 'copy-on-write', 'UPDATE %1$I SET val = 20 WHERE id = 4'),
	('cow_delete_other', 'copy-on-write', 'DELETE FROM %1$I WHERE id = 4'),
	('delete_other_file', 'copy-on-write', 'DELETE FROM %1$I WHERE val BETWEEN 40 AND 60'),
	-- deletes of rows: the one that the second changes, another one of f, one of
	-- the other file, and of both files by one delete file
	('mor_delete_same', 'merge-on-read', 'DELETE FROM %1$I WHERE id = 2'),
	('mor_delete_row', 'merge-on-read', 'DELETE FROM %1$I WHERE id = 1'),
	('mor_delete_third', 'merge-on-read', 'DELETE FROM %1$I WHERE id = 3'),
	('mor_delete_other', 'merge-on-read', 'DELETE FROM %1$I WHERE id = 4'),
	('mor_delete_both', 'merge-on-read', 'DELETE FROM %1$I WHERE id IN (1, 4)'),
	-- updates of the same rows; new ones that the second looks for, or does not
	('mor_update_same_match', 'merge-on-read', 'UPDATE %1$I SET id = 12 WHERE id = 2'),
	('mor_update_same', 'merge-on-read', 'UPDATE %1$I SET val = 21 WHERE id = 2'),
	('mor_update_row_match', 'merge-on-read', 'UPDATE %1$I SET val = 20 WHERE id = 1'),
	('mor_update_row', 'merge-on-read', 'UPDATE %1$I SET val = 41 WHERE id = 1'),
	('mor_update_other', 'merge-on-read', 'UPDATE %1$I SET val = 41 WHERE id = 4'),
	-- by Spark
	('equality_delete', NULL, 'SELECT play(%2$L, ''equality_delete'')'),
	('upsert', NULL, 'SELECT play(%2$L, ''upsert'')'),
	('compact', NULL, 'SELECT play(%2$L, ''compact'')'),
	('compact_other', NULL, 'SELECT play(%2$L, ''compact_other'')'),
	('overwrite', NULL, 'SELECT play(%2$L, ''overwrite'')'),
	('rewrite_manifests', NULL, 'SELECT play(%2$L, ''rewrite_manifests'')'),
	-- metadata alone: what the second commit is based on stays; goes, with what
	-- came later known; and not known
	('expire', NULL, 'SELECT expire(%2$L, 1)'),
	('expire_base', NULL, 'INSERT INTO %1$I VALUES (10, ''a'', 100); SELECT expire(%2$L, 1)'),
	('expire_later', NULL, 'SELECT play(%2$L, ''rewrite_manifests''); INSERT INTO %1$I VALUES (10, ''a'', 100); SELECT expire(%2$L, 1)'),
	('rollback', NULL, 'SELECT roll_back(%2$L)'),
	('property', NULL, 'SELECT change_properties(%2$L, ''{"comment": "new"}'')'),
	('tag', NULL, 'SELECT add_tag(%2$L)'),
	('add_column', NULL, 'SELECT add_column(%2$L)'),
	('add_partition_field', NULL, 'SELECT add_partition_field(%2$L)'),
	('upgrade', NULL, 'SELECT upgrade(%2$L)');

CREATE PROCEDURE first(operation text, VARIADIC tables text[] = '{t_rc, t_rr, t_ser}') LANGUAGE plpgsql AS $$
DECLARE
	o first_operations := (SELECT o FROM first_operations o WHERE o.name = operation);
	t text;
	statement text;
BEGIN
	FOREACH t IN ARRAY tables
	LOOP
		IF o.mode IS NOT NULL THEN
			PERFORM change_mode(t, o.mode);
			COMMIT;
		END IF;
		FOREACH statement IN ARRAY string_to_array(o.statements, ';')
		LOOP
			EXECUTE format(statement, t || '_too', t);
			COMMIT;
		END LOOP;
	END LOOP;
END $$;

-- statements, each after the mode that it shall have and as a commit of its own;
-- the table has its own mode again afterwards
CREATE PROCEDURE commit_each(name text, own_mode text, VARIADIC parts text[]) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. cardinality(parts) BY 2
	LOOP
		PERFORM change_mode(name, parts[i]);
		COMMIT;
		EXECUTE parts[i + 1];
		COMMIT;
		PERFORM change_mode(name, own_mode);
		COMMIT;
	END LOOP;
END $$;
