/*
 * Private declarations of table/.
 */
#ifndef LAKE_TABLE_INT_H
#define LAKE_TABLE_INT_H

#include "io/io.h"
#include "parquet/parquet.h"
#include "table/changes.h"
#include "table/deletes.h"
#include "table/table.h"

/* ---- name_mapping.c ---- */

typedef struct MappedName
{
	const char *name;
	int32_t		field_id;		/* -1: the name is known and to be ignored */
	const NameMapping *children;	/* never NULL */
} MappedName;

/* one level, sorted by name */
struct NameMapping
{
	int			count;
	MappedName *names;
};

/* NULL when the level does not have the name */
extern const MappedName *name_mapping_find(const NameMapping *mapping,
										   const char *name);

/* ---- schema.c ---- */

/* where a file's field ids come from */
typedef enum FileIds
{
	FILE_IDS_STORED,			/* the file has them */
	FILE_IDS_MAPPED,			/* by a name mapping */
	FILE_IDS_POSITION			/* 1.. at top level, names below it */
} FileIds;

/* a top-level field's id and its place in the file */
typedef struct FileFieldId
{
	int32_t		id;
	int			position;
} FileFieldId;

/* an open Parquet file with ids for its fields */
typedef struct FileSchema
{
	const char *what;			/* "data file" */
	LakeFile   *file;
	ParquetFile *parquet;
	FileIds		ids;
	const NameMapping *mapping; /* FILE_IDS_MAPPED */
	int			field_count;
	const ParquetField *const *fields;	/* top level, in file order */
	int			index_count;
	FileFieldId *index;			/* sorted by id */
} FileSchema;

/*
 * Opens a file and reads its footer; all of it lives in arena.  Throws MISSING
 * when it is absent, UNSUPPORTED when it is an ORC or Avro file.  mapping
 * (NULL: none) matters for files without any ids only.  keep: the footer is
 * taken from the store's cache, and put there.
 */
extern FileSchema *file_schema_open(LakeArena *arena, LakeStore *store,
									const char *path, const char *what,
									const NameMapping *mapping, bool keep);

/*
 * How a wanted field comes out of a file.  Without a source every row has the
 * same value: constant, or NULL, or (structs) what the children say.
 */
typedef struct ColumnMap ColumnMap;
struct ColumnMap
{
	const LakeField *field;
	const ParquetField *source; /* NULL: not in the file */
	bool		is_null;		/* no source: every row is NULL */
	bool		is_raw;			/* whatever the file has, not converted */
	LakeValue	constant;		/* no source, primitive */
	int			child_count;	/* of nested types, in the wanted order */
	ColumnMap  *children;
	int			position;		/* among the source's siblings, -1 without */
};

/* false when the file has no such top-level field: map is unchanged then */
extern bool column_map_resolve(ColumnMap *map, LakeArena *arena,
							   const FileSchema *schema,
							   const LakeField *field);

/*
 * A field that the file lacks: its initial default, else NULL.  Throws CORRUPT
 * when it is required and has no default.
 */
extern void column_map_absent(ColumnMap *map, LakeArena *arena,
							  const LakeField *field);

/* a primitive field with one value for all rows */
extern void column_map_constant(ColumnMap *map, const LakeField *field,
								const LakeValue *value);

/* ---- conversion.c ---- */

/* why a value does not convert; a set while many values are looked at */
typedef enum Misfit
{
	FITS = 0,
	MISFIT_RANGE = 1,			/* does not fit the wanted type */
	MISFIT_NANOSECONDS = 2,		/* would lose digits */
	MISFIT_LENGTH = 4			/* bytes of the wrong length */
} Misfit;

typedef struct Conversion Conversion;

/*
 * Converts count values, NULL ones with any result, and returns count or the
 * row of the first value that does not fit (conversion->misfit says why).
 */
typedef uint32_t (*ConvertFunction) (Conversion *conversion, const void *in,
									 const uint8_t *nulls, uint32_t count,
									 void *out);

struct Conversion
{
	ConvertFunction convert;	/* NULL: values are right as they are */
	bool		checks_only;	/* convert writes nothing */
	bool		truncate;		/* caller's: round nanoseconds down */
	int64_t		factor;			/* of units; or the wanted length */
	Misfit		misfit;
};

/*
 * Sets all but truncate.  Throws CORRUPT, naming column and both types, when
 * the wanted type cannot be read from source, a primitive field.
 */
extern void conversion_find(Conversion *conversion, LakeArena *arena,
							const ParquetField *source, const LakeType *type);

/* the error for a value that convert refused */
extern _Noreturn void conversion_throw(const Conversion *conversion,
									   LakeArena *arena,
									   const ParquetField *source,
									   const LakeType *type);

/* ---- vector_convert.c ---- */

/* room for one value of any scalar layout */
typedef union ScalarSlot
{
	LakeInt128	align;
	uint8_t		bytes[sizeof(LakeInt128)];
} ScalarSlot;

/* the layout that batch.h promises for a type */
extern VectorLayout lake_type_layout(const LakeType *type);

/*
 * Turns vectors of a file into vectors of the wanted type.  Dictionaries are
 * converted once; a converter that has nothing to do returns its argument.
 */
typedef struct VectorConverter VectorConverter;

/*
 * Throws CORRUPT, naming column and both types, when the file's type is none
 * that the wanted one can be read from.  map is borrowed.
 */
extern VectorConverter *vector_converter_create(LakeArena *arena,
												const ColumnMap *map,
												bool truncate_nanoseconds);

/*
 * vector: of map->source (NULL without one), count rows.  The result is valid
 * until the next call and as long as vector.  Throws OUT_OF_RANGE or DATETIME
 * for a value that does not fit.
 */
extern const LakeVector *vector_converter_apply(VectorConverter *converter,
												const LakeVector *vector,
												uint32_t count);

/*
 * One value of a source vector, for bounds; false when it does not fit.
 * Primitive columns only; bytes are borrowed from vector.
 */
extern bool vector_converter_value(VectorConverter *converter,
								   const LakeVector *vector, uint32_t row,
								   LakeValue *value);

/* a value slot of the type's layout, which is scalar */
extern void lake_value_from_slot(const LakeType *type, const void *slot,
								 LakeValue *value);

/* ---- value.c ---- */

/* the member of LakeValue that holds a type's values */
typedef enum ValueForm
{
	VALUE_NONE,					/* no scalar */
	VALUE_INTEGER,				/* i */
	VALUE_FLOAT,				/* d */
	VALUE_DECIMAL,				/* decimal */
	VALUE_BYTES					/* bytes */
} ValueForm;

extern ValueForm value_form(const LakeType *type);

/* unsigned bytes, the shorter one first */
extern int	value_compare_bytes(LakeBytes a, LakeBytes b);

/* ---- reader_column.c ---- */

/* a column of a task reader; all but field is of the current task */
typedef struct ReaderColumn
{
	const LakeField *field;
	ColumnMap	map;
	VectorConverter *converter;
	int			parquet_column; /* of the Parquet reader, -1: none */

	/*
	 * Rows have numbers: first_number + position * step, but for those where
	 * the file has a stored one.
	 */
	bool		is_numbered;
	int			step;			/* 0 or 1 */
	int64_t		first_number;
	int64_t    *numbers;		/* BATCH_MAX_ROWS */
	LakeVector	synthesised;
	/* of the current batch, NULL: not loaded */
	const LakeVector *vector;
} ReaderColumn;

/*
 * Resolves column->field; the rest was zero.  The caller sets parquet_column
 * where map.source is not NULL.
 */
extern void reader_column_begin(ReaderColumn *column, LakeArena *arena,
								const FileSchema *schema, const ScanTask *task,
								bool truncate_nanoseconds);

/* sets bounds to nothing known of so many rows */
extern void reader_bounds_unknown(const LakeType *type, int64_t rows,
								  LakeBounds *bounds);

/*
 * What is known of the column in some rows of a row group, from first_row of
 * the file on.  The caller has called reader_bounds_unknown; false: nothing
 * else is known.
 */
extern bool reader_column_bounds(const ReaderColumn *column, LakeArena *arena,
								 const FileSchema *schema, int row_group,
								 int64_t first_row, LakeBounds *bounds);

/* adds what the statistics of a stored column say; borrows from them */
extern void reader_bounds_take(const ReaderColumn *column,
							   const ParquetStatistics *statistics,
							   LakeBounds *bounds);

/* sets vector to count rows from start in the row group */
extern void reader_column_load(ReaderColumn *column, ParquetReader *parquet,
							   int64_t group_first, int64_t start,
							   uint32_t count);

/* ---- physical_value.c ---- */

typedef enum PhysicalForm
{
	PHYSICAL_KNOWN,				/* it has one form */
	PHYSICAL_ABSENT,			/* the file's type cannot have the value */
	PHYSICAL_UNKNOWN			/* it may have several */
} PhysicalForm;

/* room for what is not borrowed */
typedef struct PhysicalValue
{
	uint8_t		bytes[32];
	size_t		len;
	LakeBytes	borrowed;
} PhysicalValue;

/*
 * The PLAIN encoding of a value of type in a file's column, from which the type
 * can be read; bytes is set when the form is known, and borrows from value and
 * out.
 */
extern PhysicalForm physical_value_encode(const ParquetField *source,
										  const LakeType *type,
										  const LakeValue *value,
										  PhysicalValue *out,
										  LakeBytes *bytes);

/* ---- row_group_filter.c ---- */

typedef enum RowGroupVerdict
{
	ROW_GROUP_WANTED,
	ROW_GROUP_SKIPPED,
	ROW_GROUP_SKIPPED_BY_BLOOM
} RowGroupVerdict;

typedef struct RowGroupFilter RowGroupFilter;

/* fields has those of the predicate; both are borrowed */
extern RowGroupFilter *row_group_filter_create(LakeArena *arena,
											   const Predicate *predicate,
											   const LakeField *const *fields);

/* columns: those of the fields in the file; borrowed until the next call */
extern void row_group_filter_begin(RowGroupFilter *filter,
								   const FileSchema *schema,
								   const ReaderColumn *columns);

/*
 * May a row group have rows that satisfy the predicate?  Of one that may, the
 * ranges of such rows, valid until the next call; count 0: all of it.
 */
extern RowGroupVerdict row_group_filter_apply(RowGroupFilter *filter,
											  int row_group,
											  const ParquetRows **ranges,
											  int *count);

/* ---- delete_scan.c ---- */

/* a delete file being read */
struct DeleteScan
{
	LakeArena  *arena;			/* until the file's end */
	bool		truncate;		/* nanoseconds, as in TaskReaderOptions */
	FileSchema *schema;
	int			column_count;
	ColumnMap  *maps;
	VectorConverter **converters;
	ParquetReader *reader;
	const LakeVector **vectors; /* of the current rows */
};

/* takes at most BATCH_MAX_ROWS rows */
typedef void (*RowsFunction) (void *arg, const LakeVector *const *columns,
							  uint32_t count);

/* opens the file and reads its footer; mapping: see file_schema_open */
extern void delete_scan_open(DeleteScan *scan, LakeArena *arena,
							 const TaskReaderOptions *options,
							 const char *path, const NameMapping *mapping);

/* asks for columns; throws CORRUPT when the file lacks one */
extern void delete_scan_begin(DeleteScan *scan,
							  const LakeField *const *fields, int count);
extern void delete_scan_row_group(DeleteScan *scan, int row_group,
								  RowsFunction take, void *arg);

/* ---- parquet_fields.c ---- */

/*
 * Columns of a file for fields of a table, in arena, and how many leaves they
 * have.  Throws UNSUPPORTED, naming the column, for types that are not written.
 */
extern const ParquetField *const *parquet_fields_make(LakeArena *arena,
													  const LakeField *const *fields,
													  int count,
													  int *leaf_count);

/* the number of the leaf with the field id; -1: there is none */
extern int	parquet_fields_leaf(const ParquetField *const *fields, int count,
								int32_t field_id);

/*
 * A vector in the layout of batch.h as the file's column wants it; itself if
 * that is the same.  arena lives until the vector has been written.
 */
extern const LakeVector *parquet_fields_narrow(LakeArena *arena,
											   const ParquetField *field,
											   const LakeVector *vector);

/* ---- file_metrics.c ---- */

/* rows, size and row groups of a finished file; in arena */
extern void file_totals_set(LakeArena *arena, WrittenFile *file,
							const ParquetTotals *totals);

/* the same with its columns' metrics, as the options want them */
extern void file_metrics_set(LakeArena *arena, WrittenFile *file,
							 const WriteOptions *write,
							 const ParquetTotals *totals);

/* ---- partition_values.c ---- */

/* appends bytes that are equal when spec and tuple are (reference, 3.6) */
extern void partition_values_key(const LakePartitionSpec *spec,
								 const LakeValue *values, LakeBuffer *key);

/* with their bytes, and all NaNs the same */
extern const LakeValue *partition_values_copy(LakeArena *arena,
											  const LakePartitionSpec *spec,
											  const LakeValue *values);

/* the tuples of rows, by a spec that schema has the sources of */
typedef struct PartitionRows PartitionRows;

/* schema and spec are borrowed; UNSUPPORTED when a source is missing */
extern PartitionRows *partition_rows_create(LakeArena *arena,
											const LakeSchema *schema,
											const LakePartitionSpec *spec);

/*
 * The tuples of at most BATCH_MAX_ROWS rows as partition_values_key has them:
 * selection[0 .. count - 1], or (selection NULL) first .. first + count - 1.
 * Valid until the next call.
 */
extern KeyRows partition_rows_keys(PartitionRows *rows,
								   const LakeVector *const *columns,
								   const uint32_t *selection, uint32_t first,
								   uint32_t count);

/* one of them as values, which may borrow from the columns */
extern const LakeValue *partition_rows_tuple(PartitionRows *rows,
											 uint32_t row);

#endif							/* LAKE_TABLE_INT_H */
