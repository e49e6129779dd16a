/*
 * The PostgreSQL side below the executor: relations resolved to lake tables,
 * types, Datums, options, settings.
 */
#ifndef LAKE_SERVER_H
#define LAKE_SERVER_H

#include "postgres.h"

#include "foreign/foreign.h"
#include "nodes/pg_list.h"
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
 * one of the listed exact widenings and checked narrowings (decisions 3.5).
 */
extern bool typemap_is_readable(const LakeType *type, Oid type_oid,
								int32 typmod);

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

/* ---- option.c ---- */

typedef struct LakeServerOptions
{
	const char *catalog;		/* "file" */
	const char *warehouse;		/* NULL: none */
	const char *allowed_locations;	/* comma list, NULL: none */
	const char *path_map;
	bool		mapping_by_usage;	/* mapping 'usage' */
} LakeServerOptions;

typedef struct LakeTableOptions
{
	const char *name_space;
	const char *table;
	const char *metadata_location;
	const char *path_map;
} LakeTableOptions;

/* strings are UTF-8, in the current memory context */
extern void options_get_server(Oid server_oid, LakeServerOptions *options);
extern void options_get_table(Oid relid, LakeTableOptions *options);

/* column_name (NULL) and field_id (-1) of an attribute */
extern void options_get_column(Oid relid, AttrNumber attnum,
							   const char **column_name, int32 *field_id);

/* ---- guc.c ---- */

extern bool lake_truncate_nanoseconds;
extern int	lake_metadata_cache_kb;
extern void guc_define(void);

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

typedef struct LakeRelation
{
	Oid			relid;
	const char *name;			/* schema-qualified, for messages */
	LakeStore  *store;			/* with this table's path rules */
	const LakeTable *table;
	const LakeSnapshot *snapshot;	/* pinned; NULL: no rows */
	const LakeSchema *schema;	/* to read with */
	int			column_count;	/* = relnatts */
	LakeColumn *columns;		/* by attnum - 1 */
} LakeRelation;

/*
 * Resolves a foreign table under the pin of the snapshot (a statement's in READ
 * COMMITTED, the transaction's otherwise), checks who may map it and which
 * paths it may read (decisions 1.1-1.4), and binds its columns to fields.  In
 * the current memory context; the parsed metadata is shared through a cache
 * keyed by its immutable location.  snapshot NULL: newest.
 */
extern LakeRelation *lake_relation_open(Oid relid, Snapshot snapshot);

/*
 * The newest metadata of a table that has no foreign table yet, for IMPORT and
 * for CREATE FOREIGN TABLE without columns.  role is the foreign table's owner
 * to be; the checks are those of lake_relation_open.
 */
extern const LakeTable *lake_table_open(Oid server_oid,
										const LakeTableOptions *options,
										Oid role);

/*
 * A store with the server's path rules (decisions 1.2), for its catalog.
 * Throws 42501 unless the role may map the server's tables and the server's
 * owner may read files.
 */
extern LakeStore *lake_server_store(Oid server_oid, Oid role);

/* throws unless the server's catalog can be read: 0A000 names it */
extern void server_check_catalog(const ForeignServer *server,
								 const LakeServerOptions *options);

#endif							/* LAKE_SERVER_H */
