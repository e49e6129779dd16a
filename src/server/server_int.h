/*
 * What the files of server/ share among themselves.
 */
#ifndef LAKE_SERVER_INT_H
#define LAKE_SERVER_INT_H

#include "server/server.h"

#include "access/genam.h"
#include "base/vector.h"
#include "lib/stringinfo.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

/* ---- option.c ---- */

/* finds the candidate that wanted was probably meant to be */
typedef struct NearMatch
{
	const char *wanted;
	const char *best;			/* borrowed candidate; NULL: none is near */
	int			distance;		/* of best, in edits */
} NearMatch;

extern void near_match_init(NearMatch *match, const char *wanted);
extern void near_match_consider(NearMatch *match, const char *candidate);

/* allows each location of a comma-separated list; throws INVALID */
extern void options_allow_list(LakeArena *arena, LakePathRules *rules,
							   const char *list);

/* ---- typemap.c ---- */

/* a scalar type's own PostgreSQL type and modifier; InvalidOid: none */
extern Oid	typemap_scalar(const LakeType *type, int32 *typmod);

/* of a true array type; InvalidOid: it is none */
extern Oid	typemap_element_oid(Oid array_oid);

/* what a list has in the elements of an array with so many dimensions */
extern const LakeType *typemap_array_element(const LakeType *list,
											 Oid element_oid,
											 int *dimensions);

/* ---- numeric_build.c ---- */

/* room for any numeric that is built from 64 or 128 bits, 8-byte aligned */
#define NUMERIC_BUILD64_SIZE	24
#define NUMERIC_BUILD128_SIZE	32

/*
 * Writes value / 10^scale, 0 <= scale <= 38, as a numeric with a four-byte
 * header to dst; returns its size.
 */
extern size_t numeric_build64(void *dst, int64 value, int scale);
extern size_t numeric_build128(void *dst, LakeInt128 value, int scale);

/*
 * floor(numeric * 10^scale), and whether that is exact.  BELOW and ABOVE are
 * beyond 10^38; NaN and infinity are ABOVE.
 */
extern ValueFit numeric_to_scaled(Numeric numeric, int scale,
								  LakeInt128 *value);

/*
 * The same for a numeric with any header that is exact and has at most 18
 * digits then; false for every other one, and maybe for some of those.
 */
extern bool numeric_to_scaled64(const struct varlena *numeric, int scale,
								int64 *value);

/* ---- convert_json.c ---- */

/* shows a nested type or a variant as jsonb; made once a column */
typedef struct JsonConverter JsonConverter;

/* throws 0A000 when some part of the type cannot be shown */
extern JsonConverter *json_converter_create(MemoryContext context,
											const LakeType *type);

/* the jsonb of a row that is not NULL, in context */
extern Datum json_converter_make(JsonConverter *converter,
								 const LakeVector *vector, uint32 row,
								 MemoryContext context);

/* ---- variant.c ---- */

/*
 * Adds a value of the Parquet variant encoding to a jsonb under construction,
 * in the current memory context; token (WJB_VALUE, WJB_ELEM) says as what.
 * Where nothing is under construction (*state NULL) the whole value is
 * returned.  Borrows from the bytes.  Throws CORRUPT for bytes that break the
 * encoding.
 */
extern JsonbValue *variant_push(JsonbParseState **state,
								JsonbIteratorToken token, LakeBytes metadata,
								LakeBytes value);

/* ---- coerce.c ---- */

/* what a column's declared modifier asks of values that are there already */
typedef struct Coercion Coercion;

/* NULL when every value of the lake type satisfies the modifier */
extern Coercion *coercion_create(MemoryContext context, const LakeType *type,
								 Oid base, int32 typmod);

/* replaces values by coerced ones, in context; throws 22001, 22003, 22008 */
extern void coercion_apply(const Coercion *coercion, Datum *values,
						   const bool *nulls, uint32 count,
						   MemoryContext context);

typedef struct DomainCheck DomainCheck;

extern DomainCheck *domain_check_create(MemoryContext context, Oid domain);

/* throws 23502 and 23514 as the domain says */
extern void domain_check_apply(DomainCheck *check, const Datum *values,
							   const bool *nulls, uint32 count);

/* ---- hosted_catalog.c ---- */

/* columns of iceberg_tables; the key's come first, in its order */
enum
{
	HOSTED_CATALOG_NAME,
	HOSTED_TABLE_NAMESPACE,
	HOSTED_TABLE_NAME,
	HOSTED_METADATA_LOCATION,
	HOSTED_PREVIOUS_LOCATION,
	HOSTED_ICEBERG_TYPE,		/* layout V1 only */
	HOSTED_COLUMNS
};

#define HOSTED_KEY_COLUMNS 3

/* one of the two tables, open and of the shape that is expected */
typedef struct HostedHeap
{
	const char *schema;			/* in the database's encoding, as is table */
	const char *table;
	Relation	rel;
	Oid			key_index;
	bool		index_ok;		/* may the snapshot use it? */
	AttrNumber	columns[HOSTED_COLUMNS];	/* 0: there is none */
} HostedHeap;

/* iceberg_tables; throws as hosted_catalog_find does */
extern void hosted_heap_open(HostedHeap *heap,
							 const LakeServerOptions *options);
extern void hosted_heap_close(HostedHeap *heap);

/* rows whose first key columns (UTF-8) are those */
extern SysScanDesc hosted_heap_scan(const HostedHeap *heap, Snapshot snapshot,
									const char *const *values, int count);

/* UTF-8; NULL for NULL and for a column that the layout lacks */
extern const char *hosted_heap_text(const HostedHeap *heap, HeapTuple tuple,
									int column);

/*
 * Throws unless the row is of a table that can be read: 42809 for a view, 0A000
 * for another type, XX001 when it has no metadata location.
 */
extern void hosted_table_check(const LakeServerOptions *options,
							   const HostedTable *row);

/*
 * The metadata location of a table as the snapshot (NULL: the active one) sees
 * it.  Throws as hosted_catalog_find and hosted_table_check do, 42P01 when there
 * is no such table.
 */
extern const char *hosted_catalog_locate(const LakeServerOptions *options,
										 const char *name_space,
										 const char *table,
										 Snapshot snapshot);

/* ---- convert.c ---- */

typedef struct ArrayConverter ArrayConverter;
typedef struct RowConverter RowConverter;

typedef void (*ConvertRows) (ColumnConverter *converter,
							 const LakeVector *vector,
							 const uint32 *selection, uint32 count,
							 MemoryContext context, Datum *values,
							 const bool *nulls);

/* one by-reference Datum, in the current memory context */
typedef Datum (*MakeDatum) (const ColumnConverter *converter,
							const void *value);

struct ColumnConverter
{
	const char *column_name;
	const LakeType *type;
	VectorLayout layout;
	ConvertRows convert;
	MakeDatum	make;
	Coercion   *coercion;		/* NULL: the Datums are right as they are */
	DomainCheck *domain;		/* NULL: no domain */
	int64		decimal_limit;	/* 10^precision, up to precision 18 */
	/* of the current call: bytes that may be used, rows that were converted */
	Size		room;
	uint32		done;
	/* Datums of the current dictionary's entries, 0 = not made yet */
	uint64		dict_id;		/* 0 none */
	Datum	   *entries;
	MemoryContext dict_context;
	/* arrays, composites, jsonb; NULL for other types */
	ArrayConverter *array;
	RowConverter *row;
	JsonConverter *json;
};

/* counts a row's Datum; false if it is the last that there is room for */
static inline bool
converter_has_room(ColumnConverter *converter, Datum value, uint32 row)
{
	Size		size = value == 0 ? 0 : VARSIZE(DatumGetPointer(value));

	converter->done = row + 1;
	if (size >= converter->room)
		return false;
	converter->room -= size;
	return true;
}

/* column_converter_convert without a frame of its own */
extern uint32 converter_convert(ColumnConverter *converter,
								const LakeVector *vector,
								const uint32 *selection, uint32 count,
								Size room, MemoryContext context,
								Datum *values, bool *nulls);

/* ---- convert_scalar.c ---- */

/* throws 22021 unless text is valid UTF-8 without NUL */
extern void text_check(LakeBytes text);

/* for a scalar type shown as the base type, which is readable */
extern void converter_init_scalar(ColumnConverter *converter,
								  MemoryContext context, Oid base);

/* the rows of a dictionary vector, where there is a maker of Datums */
extern void converter_dictionary_rows(ColumnConverter *converter,
									  const LakeVector *vector,
									  const uint32 *selection, uint32 count,
									  Datum *values, const bool *nulls);

/* ---- convert_nested.c ---- */

/* for a list or map shown as the array type, which is readable */
extern void converter_init_array(ColumnConverter *converter,
								 MemoryContext context, Oid array_oid,
								 int32 typmod);

/* for a struct, or an entry of a map, shown as the composite type */
extern void converter_init_row(ColumnConverter *converter,
							   MemoryContext context, Oid row_oid);

/* the field of a struct that an attribute of that name shows; -1: none */
extern int	struct_field_index(const LakeType *type, const char *attribute);
extern _Noreturn void struct_throw_no_field(const LakeType *type,
											const char *column_name, Oid row_oid,
											const char *attribute);

/* ---- pin.c ---- */

/*
 * The metadata location that a lake table of a file catalog is pinned to under
 * the snapshot, valid until the next pin is added; NULL when it has none yet.
 * key is the lake table's identity.
 */
extern const char *pin_find(const char *key, Snapshot snapshot);
extern void pin_add(const char *key, Snapshot snapshot,
					const char *metadata_location);

/* where pin_keep keeps a table, NULL: nowhere */
extern const char *pin_kept(const char *key);

/*
 * Lets lake.pins() show a version that was opened: to the end of the transaction
 * where that has one snapshot, else as long as the current memory context lives,
 * which must own the strings.
 */
extern void pin_show(const LakePin *pin);

/* ---- metadata_cache.c ---- */

/* the session's; every store of tables has it */
extern struct LakeCache *metadata_cache(void);

/* what lakefdw.metadata_cache says from now on; throws nothing */
extern void metadata_cache_set_limit(int kilobytes);

/*
 * The table that a metadata file describes, parsed now or before.  Valid until
 * the holder is reset.  Checks the path in any case; throws MISSING.
 */
extern const LakeTable *metadata_cache_open(LakeStore *store,
											const char *location,
											MemoryContext holder);

#endif							/* LAKE_SERVER_INT_H */
