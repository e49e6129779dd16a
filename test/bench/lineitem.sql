-- About six million rows in the shape of TPC-H lineitem for DuckDB: in random
-- order (li), and clustered by ship date (lic).  The number of orders, a quarter
-- of the rows, is put in for $orders.
SELECT setseed(0.42);
CREATE OR REPLACE MACRO word(h) AS (
    ['furiously', 'carefully', 'slyly', 'quickly', 'blithely', 'deposits',
     'requests', 'accounts', 'packages', 'theodolites', 'instructions',
     'foxes', 'ideas', 'dependencies', 'platelets', 'excuses', 'asymptotes',
     'sleep', 'wake', 'haggle', 'regular', 'final', 'special', 'express',
     'ironic', 'unusual', 'bold', 'even', 'silent',
     'pending'])[1 + (h % 30)::INT];
CREATE OR REPLACE TABLE lines AS
SELECT o AS l_orderkey, 1 + (random() * 199999)::BIGINT AS l_partkey,
       1 + (random() * 9999)::BIGINT AS l_suppkey, k::INT AS l_linenumber,
       (1 + random() * 49)::INT AS quantity,
       day + 1 + (random() * 120)::INT AS l_shipdate,
       day + 30 + (random() * 60)::INT AS l_commitdate,
       (random() * 10)::INT AS discount, (random() * 8)::INT AS tax,
       random() AS r1, random() AS r2, hash(random()) AS h1,
       hash(random()) AS h2
FROM (SELECT i AS o, DATE '1992-01-01' + (random() * 2405)::INT AS day,
             1 + floor(random() * 7)::INT AS n
      FROM range(1, $orders + 1) r(i)), range(1, 8) l(k)
WHERE k <= n;
CREATE OR REPLACE TABLE li AS
SELECT l_orderkey, l_partkey, l_suppkey, l_linenumber,
       quantity::DECIMAL(15,2) AS l_quantity,
       (quantity * (90000 + l_partkey % 110001) / 100)::DECIMAL(15,2)
           AS l_extendedprice,
       (discount / 100)::DECIMAL(15,2) AS l_discount,
       (tax / 100)::DECIMAL(15,2) AS l_tax,
       CASE WHEN l_shipdate > DATE '1995-06-01' THEN 'N'
            WHEN r2 < 0.5 THEN 'R' ELSE 'A' END AS l_returnflag,
       CASE WHEN l_shipdate > DATE '1995-06-17' THEN 'O' ELSE 'F' END
           AS l_linestatus,
       l_shipdate, l_commitdate, l_shipdate + 1 + (r1 * 29)::INT
           AS l_receiptdate,
       ['DELIVER IN PERSON', 'COLLECT COD', 'NONE',
        'TAKE BACK RETURN'][1 + (h1 % 4)::INT] AS l_shipinstruct,
       ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL',
        'FOB'][1 + (h2 % 7)::INT] AS l_shipmode,
       substr(word(h1 // 7) || ' ' || word(h1 // 400) || ' ' ||
              word(h2 // 11) || ' ' || word(h2 // 3000) || ' ' ||
              word(h1 // 99991), 1 + (r1 * 8)::INT, 10 + (r2 * 33)::INT)
           AS l_comment
FROM lines ORDER BY hash(l_orderkey * 8 + l_linenumber);
DROP TABLE lines;
CREATE OR REPLACE TABLE lic AS SELECT * FROM li ORDER BY l_shipdate;
