/*
 * The PostgreSQL side below the executor: relations resolved to lake tables,
 * types, Datums, options, settings.
 */
#ifndef LAKE_SERVER_H
#define LAKE_SERVER_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "foreign/foreign.h"
#include "nodes/pg_list.h"
#include "portability/instr_time.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "table/table.h"

/* ---- seam.c ---- */

/* a memory context as an arena and back: they are the same object */
static inline LakeArena *
lake_arena_of(MemoryContext context)
{
	return (LakeArena *) context;
}

/* SQLSTATE of an error kind (the one table of them) */
extern int	lake_error_sqlstate(LakeErrorCode code);

/*
 * Names from the database's encoding to UTF-8 and back.  The argument itself if
 * there is nothing to convert, else palloc'd.  name_from_lake throws 22021 for
 * invalid UTF-8 and 22P05 for what the encoding cannot express.
 */
extern const char *name_to_lake(const char *name);
extern const char *name_from_lake(const char *name);

/* ---- typemap.c: lake types <-> PostgreSQL types ---- */

/*
 * The type that IMPORT gives a field: its name with modifiers for a column
 * definition ("numeric(9,2)", "bigint[]", "jsonb"), NULL when the lake type is
 * not supported (geometry, geography, unknown, and what has one of them inside).
 */
extern const char *typemap_declaration(LakeArena *arena,
									   const LakeType *type);

/*
 * May a column of this PostgreSQL type show the field?  The map's own type or
 * one of the listed exact widenings and checked narrowings (decisions 3.5); a
 * list as an array, a struct as a composite type, a map as an array of those,
 * whose attributes are looked at when a converter is made.
 */
extern bool typemap_is_readable(const LakeType *type, Oid type_oid,
								int32 typmod);

/*
 * May a column of this PostgreSQL type be written to the field?  The map's own
 * type, exact widenings and narrowings that row_writer_append checks; nested
 * ones as arrays, composites and jsonb.
 */
extern bool typemap_is_writable(const LakeType *type, Oid type_oid,
								int32 typmod);

/* the first field that cannot be written at all, whatever shows it, or NULL */
extern const LakeField *typemap_find_unwritable(const LakeSchema *schema);

/*
 * The lake type for a column of a table that is created; in arena.  Throws
 * 0A000, naming column and cure, for types without an exact counterpart
 * (numeric without precision, interval, ...).
 */
extern const LakeType *typemap_lake_type(LakeArena *arena, Oid type_oid,
										 int32 typmod,
										 const char *column_name);

/* ---- row_writer.c: slots to rows in memory ---- */

typedef struct LakeRelation LakeRelation;

/* the counters of a lake table; they live as long as the session */
typedef struct CommitStats CommitStats;
typedef struct RowWriter RowWriter;

/*
 * For rows of the schema of which the relation's columns are given by slots and
 * the others get their write default or NULL.  columns: attribute numbers to
 * take from slots, NULL: all, of which those with reserved fields must be NULL.
 * Throws 0A000, naming the column, when one cannot
 * be written; 23502 when a required field is in no column and has no default.
 */
extern RowWriter *row_writer_create(MemoryContext context,
									const LakeRelation *relation,
									const LakeSchema *schema,
									const Bitmapset *columns);

/*
 * Appends the slot's row, complete; an error leaves rows as they were.  Throws
 * 23502, 22003, 22008, 22021 and so on, naming the column.
 */
extern void row_writer_append(RowWriter *writer, RowStore *rows,
							  TupleTableSlot *slot);

/* ---- convert.c: vectors <-> Datums ---- */

/* how one column's vectors become Datums; made once a scan */
typedef struct ColumnConverter ColumnConverter;

/*
 * Throws 0A000 or 42804, naming column and types, when the pair is not
 * readable.
 */
extern ColumnConverter *column_converter_create(MemoryContext context,
												const LakeType *type,
												Oid type_oid, int32 typmod,
												const char *column_name);

/*
 * Datums of the selected rows, in selection order.  By-reference Datums are in
 * context (reset by the caller a batch) or, for dictionary entries, owned by
 * the converter until it meets another dictionary.  Returns the number of rows
 * converted: fewer than count, but one at least, once Datums in context have
 * taken room bytes.  Throws 22003, 22001, 22008, 22021 as decisions 3.5 says.
 */
extern uint32_t column_converter_convert(ColumnConverter *converter,
										 const LakeVector *vector,
										 const uint32_t *selection,
										 uint32_t count, Size room,
										 MemoryContext context,
										 Datum *values, bool *nulls);

typedef enum ValueFit
{
	VALUE_EXACT,				/* *value is the Datum */
	VALUE_BELOW,				/* less than every value of the lake type */
	VALUE_ABOVE,				/* greater than every value; nothing is, of
								 * floats, since NaN is the greatest */
	VALUE_BETWEEN,				/* between two adjacent values; *value is the
								 * lower of the two */
	VALUE_UNKNOWN				/* cannot be told: do not push */
} ValueFit;

/*
 * Can a value of the PostgreSQL type always be told (never VALUE_UNKNOWN)?
 * For the planner, which knows no values.
 */
extern bool value_is_comparable(const LakeType *type, Oid type_oid);

/*
 * A literal of a pushed comparison as a value of the field's lake type.
 * Bytes are copied into arena.
 */
extern ValueFit value_from_datum(LakeArena *arena, const LakeType *type,
								 Oid type_oid, Datum datum, LakeValue *value);

/* ---- json_scalar.c: scalars as parts of jsonb, in the current context ---- */

extern void json_set_bool(JsonbValue *json, bool value);
extern void json_set_integer(JsonbValue *json, int64 value);

/* 0 <= scale <= 38 */
extern void json_set_decimal(JsonbValue *json, LakeInt128 value, int scale);
extern void json_set_float(JsonbValue *json, float value);
extern void json_set_double(JsonbValue *json, double value);

/* checked as text_check does; may borrow from text */
extern void json_set_string(JsonbValue *json, LakeBytes text);
extern void json_set_bytes(JsonbValue *json, LakeBytes bytes);
extern void json_set_uuid(JsonbValue *json, const uint8 uuid[16]);

/* days since 1970-01-01 */
extern void json_set_date(JsonbValue *json, int64 days);

/* microseconds since midnight; throws 22008 outside of a day */
extern void json_set_time(JsonbValue *json, int64 usecs);

/* since 1970; digits 6: microseconds, 9: nanoseconds; zone: UTC, marked so */
extern void json_set_timestamp(JsonbValue *json, int64 ticks, int digits,
							   bool zone);

/* a value of a scalar type; text is checked, as by json_set_string */
extern void json_set_value(JsonbValue *json, const LakeType *type,
						   const LakeValue *value);

/* ---- option.c ---- */

typedef struct LakeServerOptions
{
	Oid			owner;			/* of the server */
	const char *catalog;		/* "hosted", "file" */
	const char *warehouse;		/* NULL: none */
	const char *allowed_locations;	/* comma list, NULL: none */
	const char *path_map;
	bool		mapping_by_usage;	/* mapping 'usage' */
	const char *catalog_schema; /* of a hosted catalog; "lake" */
	const char *catalog_name;	/* its key in the tables; "lake" */
} LakeServerOptions;

typedef struct LakeTableOptions
{
	const char *name_space;
	const char *table;
	const char *metadata_location;
	const char *path_map;
	LakeSelector selector;		/* of snapshot_id, as_of_timestamp, ref */
} LakeTableOptions;

/* strings are UTF-8, in the current memory context */
extern void options_get_server(Oid server_oid, LakeServerOptions *options);
extern void options_get_table(Oid relid, LakeTableOptions *options);

/*
 * The version that DefElems named snapshot_id, as_of_timestamp or ref ask for;
 * throws 22023 for two of them, and as selector.c does for their values.
 */
extern void options_get_selector(List *options, LakeSelector *selector);

/* column_name (NULL) and field_id (-1) of an attribute */
extern void options_get_column(Oid relid, AttrNumber attnum,
							   const char **column_name, int32 *field_id);

/* ---- guc.c ---- */

extern bool lake_truncate_nanoseconds;
extern int	lake_metadata_cache_kb;
extern bool lake_write_lock;
extern int	lake_write_memory_kb;
extern int	lake_commit_timeout_ms; /* 0: none */
extern char *lake_as_of;		/* text, parsed when it is used; "": unset */
extern void guc_define(void);

/* ---- selector.c: which version is asked for ---- */

/* the version at a time; throws 22023 for infinity */
extern void selector_set_time(LakeSelector *selector, TimestampTz time);

/*
 * The same for a timestamptz literal in the session's time zone, or digits:
 * milliseconds since 1970.  Throws 22007, 22008, 22023.
 */
extern void selector_parse_time(LakeSelector *selector, const char *text);

/* an integer in digits; throws 22P02, 22003 */
extern void selector_parse_snapshot(LakeSelector *selector, const char *text);

/* what the session's settings ask of tables that nobody else decides on */
extern bool selector_of_settings(LakeSelector *selector);

/* ---- hosted_catalog.c: tables of the database that are a catalog ---- */

/* a row of iceberg_tables */
typedef struct HostedTable
{
	const char *name_space;		/* UTF-8, as are all of them */
	const char *name;
	const char *type;			/* "TABLE", "VIEW"; NULL: a table */
	const char *metadata_location;	/* NULL: the row has none */
} HostedTable;

/*
 * The row of a table as the snapshot sees it, an MVCC read that SSI tracks;
 * snapshot NULL: the active one's.  False when there is none.  The user needs
 * no grants on the catalog's tables, the server's owner does (42501).  Throws
 * 42P01 when catalog_schema has no iceberg_tables; 42809, 42703, 42804, 42P16
 * when it has one of another shape (decisions 2.1).
 */
extern bool hosted_catalog_find(const LakeServerOptions *options,
								const char *name_space, const char *table,
								Snapshot snapshot, HostedTable *row);

/*
 * HostedTable rows of a namespace (NULL: of all), views among them, by
 * namespace and name; *exists: is there such a namespace (by a table of its own
 * or a property)?
 */
extern List *hosted_catalog_list(const LakeServerOptions *options,
								 const char *name_space, bool *exists);

/*
 * Adds a row, and its namespace if that has no properties yet, by INSERTs with
 * the rights of the server's owner.  Throws 42P07 when there is one by that name.
 */
extern void hosted_catalog_insert(const LakeServerOptions *options,
								  const HostedTable *row);

/* ---- hosted_swap.c: the pointer, moved inside of PostgreSQL's transaction ---- */

typedef enum HostedLock
{
	HOSTED_UNCHANGED,			/* it is as expected: locked, or moved */
	HOSTED_MOVED,				/* it points somewhere else */
	HOSTED_GONE,				/* no such row, or another table's by now */
	HOSTED_VIEW					/* it has become a view */
} HostedLock;

/*
 * Locks a table's row until the end of the (sub)transaction, waiting for others
 * who do, and compares the newest version of it with the expected pointer; then
 * points it to replacement (NULL: locks it alone, against change if shared).
 * Low-level: no snapshot of the transaction's counts, no triggers fire, no
 * grants are asked for but the server's owner's.  *current: where it points,
 * palloc'd; *locked_at: since when the row is locked.  Waits are counted.
 */
extern HostedLock hosted_catalog_swap(const LakeRelation *relation,
									  const char *expected,
									  const char *replacement, bool shared,
									  CommitStats *stats,
									  const char **current,
									  instr_time * locked_at);

/* where it points now, whatever snapshots say; NULL: there is no such table */
extern const char *hosted_catalog_latest(const LakeServerOptions *options,
										 const char *name_space,
										 const char *table);

/* ---- pin.c: which version each running statement reads ---- */

/* what lake.pins() shows of one pin */
typedef struct LakePin
{
	Oid			relid;			/* by which it was taken */
	const char *key;			/* of the lake table, whatever maps it */
	const char *catalog;		/* the server's; NULL: a metadata_location */
	const char *ident;			/* ns.table, or the metadata location */
	const char *ref;			/* NULL: none was asked for */
	int64		snapshot_id;	/* -1: an empty table */
	const char *metadata_location;
	TimestampTz pinned_at;
	bool		is_transaction; /* else a statement's */
} LakePin;

/*
 * LakePin, oldest first, in the current memory context: one for each version of
 * a lake table that running statements and open cursors, or the transaction,
 * read.
 */
extern List *pin_list(void);

/*
 * From now on to the end of the transaction, or to pin_release, a lake table is
 * read at this version under every snapshot of READ COMMITTED (decisions 3.2);
 * snapshot is the one that it was read under, and stays registered.
 */
extern void pin_keep(const LakePin *pin, Snapshot snapshot);
extern void pin_release(const char *key);

/* ---- commit_stats.c: what commits have met ---- */

/* conflicts that the core knows nothing of, after its own (ConflictKind) */
typedef enum ServerConflict
{
	SERVER_CONFLICT_SERIALIZABLE = CONFLICT_KINDS,
	SERVER_CONFLICT_LOCKED_ROWS,	/* the table of FOR UPDATE has changed */
	SERVER_CONFLICT_TABLE_LOCK, /* it has before it was locked */
	SERVER_CONFLICT_RETRIES,	/* others were faster each time */
	SERVER_CONFLICT_COLUMNS,	/* the schema has changed, and rows are staged */
	SERVER_CONFLICT_KINDS
} ServerConflict;

typedef enum CommitCounter
{
	COMMIT_COMMITS,				/* pointers that were moved, and committed */
	COMMIT_REBASES,				/* commits that were made for a newer version */
	COMMIT_CAS_LOSSES,			/* swaps that found the pointer moved */
	COMMIT_LOCK_WAIT_US,
	COMMIT_LOCK_WAIT_MAX_US,	/* of one wait */
	COMMIT_RETRY_US,			/* from a lost swap to the end of the next try */
	COMMIT_BYTES_REWRITTEN,		/* of metadata, by tries after the first */
	COMMIT_COUNTERS
} CommitCounter;

/* asks for shared memory while the postmaster loads the library */
extern void commit_stats_init(void);

/* finds the table's counters, or makes them; before anything is critical */
extern CommitStats *commit_stats_of(const LakeRelation *relation);

/* counting never throws */
extern void commit_stats_add(CommitStats *stats, CommitCounter counter,
							 uint64 count);
extern void commit_stats_conflict(CommitStats *stats, int kind);

/* a wait for the table's pointer or its lock is over */
extern void commit_stats_waited(CommitStats *stats, const instr_time * since);
extern uint64 commit_stats_microseconds(const instr_time * since);

/* bytes of an ident, with the end; longer ones are cut */
#define COMMIT_STATS_IDENT_BYTES	512

/* a table's counters as they are now */
typedef struct CommitStatsRow
{
	uint64		table;			/* see commit_stats_table */
	bool		is_others;		/* tables that found no place: no ident */
	bool		is_zero;		/* nothing has been counted */
	char		ident[COMMIT_STATS_IDENT_BYTES];
	uint64		counters[COMMIT_COUNTERS];
	uint64		conflicts[SERVER_CONFLICT_KINDS];
} CommitStatsRow;

/* CommitStatsRow of this database's tables, in the current memory context */
extern List *commit_stats_list(void);

/* of the cluster, else of this session */
extern bool commit_stats_are_shared(void);
extern const char *commit_stats_conflict_name(int kind);

/* what a lake table is known by, of its key */
extern uint64 commit_stats_table(const char *key);

/* ---- relation.c: a foreign table resolved to a lake table ---- */

typedef struct LakeColumn
{
	AttrNumber	attnum;
	const char *name;			/* the attribute's */
	Oid			type_oid;
	int32		typmod;
	Oid			collation;
	const LakeField *field;		/* NULL: the attribute is dropped */
} LakeColumn;

struct LakeRelation
{
	Oid			relid;
	const char *name;			/* schema-qualified, for messages */
	LakeStore  *store;			/* with this table's path rules */
	const LakeTable *table;
	LakeSelector selector;		/* that decided on the version */
	const LakeSnapshot *snapshot;	/* pinned; NULL: no rows */
	const LakeSchema *schema;	/* to read with */
	bool		is_branch;		/* the version is a branch's head */
	bool		is_main;		/* main's, whether it is named or not */
	int			column_count;	/* = relnatts */
	LakeColumn *columns;		/* by attnum - 1 */
	/* which lake table it is (decisions 1.5), and by which options */
	const char *key;
	Oid			server_oid;
	const LakeServerOptions *server;
	const LakeTableOptions *options;
};

/* how a foreign table is opened; zeroed: the newest version, nothing is pinned */
typedef struct LakeOpen
{
	/*
	 * Pins: a statement's snapshot in READ COMMITTED, the transaction's
	 * otherwise.  NULL: newest, for planning and maintenance.
	 */
	Snapshot	snapshot;
	/* lake.at's; NULL: the table's options and the settings decide */
	const LakeSelector *selector;

	/*
	 * The version is not known yet, only that it need not be the newest:
	 * columns may be of any schema that the table ever had.
	 */
	bool		any_version;

	/* metadata alone is wanted: columns are not bound, there are none */
	bool		without_columns;

	/*
	 * A parallel leader's, together with its selector: the version that it
	 * reads, whatever the catalog says by now.  NULL otherwise.
	 */
	const char *metadata_location;
} LakeOpen;

/*
 * Resolves a foreign table to a version of a lake table, checks who may map it
 * and which paths it may read (decisions 1.1-1.4), and binds its columns to
 * fields.  In the current memory context; the parsed metadata is shared through
 * a cache keyed by its immutable location.  Without a selector of the caller's,
 * the foreign table's options decide on the version, then lakefdw.as_of.
 *
 * A column is looked for in the schema that the foreign table was declared by
 * (the current one, or that of the version which its own options name), then in
 * the other of the two: a column that the lake dropped since shows the values
 * of an old version again, and is an error (42703) under the newest.  Versions
 * that are no branch's head look in all of the table's schemas after that.
 */
extern LakeRelation *lake_relation_open(Oid relid, const LakeOpen *how);

/*
 * LakeRelation.key of the lake table that a foreign table maps; NULL if its owner
 * may not map tables of the server, so that it maps none, or if it is gone.
 */
extern const char *lake_relation_key(Oid relid);

/* what lake.pins() shows of the relation's version; borrows from it */
extern LakePin lake_relation_pin(const LakeRelation *relation);

/*
 * The relation's lake table as another metadata file has it; valid as long as the
 * current memory context.
 */
extern const LakeTable *lake_table_at(const LakeRelation *relation,
									  const char *metadata_location);

/*
 * Does a snapshot say by itself which version of the table is read, so that a
 * parallel worker finds the one that its leader reads?  Not for tables of a file
 * catalog, which a worker can open only by LakeOpen.metadata_location.
 */
extern bool relation_pins_by_snapshot(Oid relid);

/*
 * The newest metadata of a table that has no foreign table yet, for IMPORT and
 * for CREATE FOREIGN TABLE without columns.  role is the foreign table's owner
 * to be; the checks are those of lake_relation_open.
 */
extern const LakeTable *lake_table_open(Oid server_oid,
										const LakeTableOptions *options,
										Oid role);

/*
 * The table that a metadata file describes, which must be within the server's
 * own prefixes; the other checks are those of lake_relation_open.
 */
extern const LakeTable *lake_metadata_open(Oid server_oid,
										   const char *metadata_location,
										   Oid role);

/* the schema of the version that the options name, else the current one */
extern const LakeSchema *lake_table_schema(const LakeTable *table,
										   const LakeTableOptions *options);

/*
 * A store with the server's path rules (decisions 1.2), for its catalog.
 * Throws 42501 unless the role may map the server's tables and the server's
 * owner may read files.
 */
extern LakeStore *lake_server_store(Oid server_oid, Oid role);

/*
 * The same for who writes new files: durable, and 42501 unless the server's owner
 * may write files.
 */
extern LakeStore *lake_writing_store(Oid server_oid, Oid role);

/* the format of tables that are made */
extern const LakeFormat *lake_format(void);

/* throws unless the server's catalog can be read: 0A000 names it */
extern void server_check_catalog(const ForeignServer *server,
								 const LakeServerOptions *options);

#endif							/* LAKE_SERVER_H */
