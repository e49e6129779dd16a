-- random conditions keep the same rows as on the heap, under every transform
CREATE SCHEMA pushdown_random;
SET search_path = pushdown_random, transforms;
SELECT setseed(0.25);

CREATE TABLE literals (name text, value text);
INSERT INTO literals VALUES
    ('i', '0'), ('i', '-1'), ('i', '34'), ('i', '2147483647'), ('i', '3000000000'),
    ('i', '33.5'), ('i', '-11::smallint'), ('i', '1e10::float8'), ('i', 'NULL'),
    ('l', '0'), ('l', '34'), ('l', '-9223372036854775808'), ('l', '33.9'),
    ('l', '9223372036854775807.5'), ('l', 'NULL'),
    ('dec', '0'), ('dec', '14.2'), ('dec', '14.205'), ('dec', '-327.68'),
    ('dec', '1e9'), ('dec', '''NaN'''), ('dec', '999.99'), ('dec', 'NULL'),
    ('t', ''''''), ('t', '''ic'''), ('t', '''iceberg'''), ('t', '''icy'''),
    ('t', 'U&''\00e9'''), ('t', '''caf'''), ('t', '''j'''), ('t', 'NULL'),
    ('d', '''1970-01-01'''), ('d', '''1969-12-31'''), ('d', '''infinity'''),
    ('d', '''2017-11-16'''), ('d', 'timestamp ''2017-11-16 01:00'''),
    ('d', '''1582-10-15'''), ('d', 'NULL'),
    ('ts', '''1970-01-01 00:00:00 UTC'''), ('ts', '''2017-11-16 22:31:08 UTC'''),
    ('ts', '''1969-12-31 23:59:59.999999 UTC'''), ('ts', '''-infinity'''),
    ('ts', '''2026-03-01 15:00:00 UTC'''), ('ts', 'NULL');
CREATE TABLE patterns AS SELECT unnest(ARRAY['ic%', '%berg', 'i_y', '%', '', '_',
    'caf_ %', 'icy', '%e%r%', 'i%']) AS value;

CREATE FUNCTION pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT choices[1 + floor(random() * cardinality(choices))] $$;
CREATE FUNCTION literal(column_name text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT value FROM literals WHERE name = column_name ORDER BY random() LIMIT 1
$$;
CREATE FUNCTION leaf() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c text := pick('i', 'l', 'dec', 't', 'd', 'ts');
BEGIN
    CASE floor(random() * 5)::int
    WHEN 0 THEN
        RETURN format('%s IS %s NULL', c, pick('', 'NOT'));
    WHEN 1 THEN
        RETURN format('%s %s IN (%s, %s)', c, pick('', 'NOT'),
            regexp_replace(literal(c), '::.*|timestamp ', ''),
            regexp_replace(literal(c), '::.*|timestamp ', ''));
    WHEN 2 THEN
        IF c = 't' THEN
            RETURN format('t %s LIKE %L', pick('', 'NOT'),
                (SELECT value FROM patterns ORDER BY random() LIMIT 1));
        END IF;
        RETURN format('%s BETWEEN %s AND %s', c, literal(c), literal(c));
    ELSE
        RETURN format('%s %s %s', c, pick('=', '<>', '<', '<=', '>', '>='),
            literal(c));
    END CASE;
END $$;
CREATE FUNCTION condition(depth int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF depth = 0 OR random() < 0.3 THEN
        RETURN leaf();
    ELSIF random() < 0.25 THEN
        RETURN format('NOT (%s)', condition(depth - 1));
    END IF;
    RETURN format('(%s %s %s)', condition(depth - 1), pick('AND', 'OR'),
        condition(depth - 1));
END $$;

-- the conditions that went wrong, with the rows found and expected
CREATE FUNCTION differences(rounds int)
RETURNS TABLE (relation text, qual text, got int[], expected int[])
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TABLE heap AS TABLE identity_text;
    FOR round IN 1 .. rounds LOOP
        qual := condition(round % 4);
        EXECUTE 'SELECT array_agg(id ORDER BY id) FROM heap WHERE ' || qual
            INTO expected;
        FOR relation IN SELECT foreign_table_name
            FROM information_schema.foreign_tables
            WHERE foreign_table_schema = 'transforms' LOOP
            EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %I WHERE %s',
                relation, qual) INTO got;
            IF got IS DISTINCT FROM expected THEN
                RETURN NEXT;
            END IF;
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM differences(100);
-- ... and that they were pushed
CREATE FUNCTION is_pushed(qual text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN SELECT id FROM bucket_int WHERE ' || qual LOOP
        IF line ~ '^ *Filter' THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END $$;
SELECT count(*) FROM generate_series(1, 100) n WHERE NOT is_pushed(condition(n % 4));
SET client_min_messages = warning;
DROP SCHEMA pushdown_random CASCADE;
