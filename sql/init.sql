-- the sample lake, mapped for the tests that follow
\getenv lake LAKE_DIR
\set map 'file:///srv/lake=' :lake
CREATE EXTENSION lakefdw;
CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake', path_map :'map');
CREATE SCHEMA shop;
CREATE SCHEMA cases;
CREATE SCHEMA transforms;
CREATE SCHEMA py;
CREATE SCHEMA nested;
IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO shop;
IMPORT FOREIGN SCHEMA cases FROM SERVER lake INTO cases;
IMPORT FOREIGN SCHEMA transforms FROM SERVER lake INTO transforms;
IMPORT FOREIGN SCHEMA py FROM SERVER lake INTO py;
IMPORT FOREIGN SCHEMA "nested.deep" FROM SERVER lake INTO nested;
SELECT foreign_table_schema, foreign_table_name
FROM information_schema.foreign_tables ORDER BY 1, 2;
