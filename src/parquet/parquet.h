/*
 * Parquet files: footer, schema, statistics, and column vectors out of row
 * groups.
 *
 * The schema is given in normalised shape: whatever legacy list or map layout a
 * writer chose, a list is one child, a map two, and the vectors have the same
 * shape.  Values come in the layout of their physical type; only decimals and
 * half floats are converted (see ParquetField.layout), everything else the
 * logical type says is left to the reader's user.
 */
#ifndef LAKE_PARQUET_H
#define LAKE_PARQUET_H

#include "base/base.h"
#include "base/vector.h"
#include "codec/codec.h"
#include "io/io.h"

typedef enum ParquetPhysical
{
	PARQUET_BOOLEAN,
	PARQUET_INT32,
	PARQUET_INT64,
	PARQUET_INT96,
	PARQUET_FLOAT,
	PARQUET_DOUBLE,
	PARQUET_BYTE_ARRAY,
	PARQUET_FIXED_LEN_BYTE_ARRAY
} ParquetPhysical;

typedef enum ParquetLogical
{
	PARQUET_LOGICAL_NONE,
	PARQUET_LOGICAL_STRING,
	PARQUET_LOGICAL_ENUM,
	PARQUET_LOGICAL_JSON,
	PARQUET_LOGICAL_BSON,
	PARQUET_LOGICAL_UUID,
	PARQUET_LOGICAL_DATE,
	PARQUET_LOGICAL_TIME,		/* unit, utc */
	PARQUET_LOGICAL_TIMESTAMP,	/* unit, utc */
	PARQUET_LOGICAL_INTEGER,	/* bits, is_signed */
	PARQUET_LOGICAL_DECIMAL,	/* precision, scale */
	PARQUET_LOGICAL_FLOAT16,
	PARQUET_LOGICAL_INTERVAL,
	PARQUET_LOGICAL_UNKNOWN,	/* always NULL */
	PARQUET_LOGICAL_GEOMETRY,
	PARQUET_LOGICAL_GEOGRAPHY,
	/* of groups */
	PARQUET_LOGICAL_LIST,
	PARQUET_LOGICAL_MAP,
	PARQUET_LOGICAL_VARIANT
} ParquetLogical;

typedef enum ParquetUnit
{
	PARQUET_MILLIS,
	PARQUET_MICROS,
	PARQUET_NANOS
} ParquetUnit;

typedef enum ParquetShape
{
	PARQUET_PRIMITIVE,
	PARQUET_STRUCT,				/* any number of children, also none */
	PARQUET_LIST,				/* children[0] the element */
	PARQUET_MAP					/* children[0] key, children[1] value; a map
								 * without values has one child */
} ParquetShape;

typedef struct ParquetField ParquetField;
struct ParquetField
{
	const char *name;
	int32_t		field_id;		/* -1: the file gives none */
	ParquetShape shape;
	bool		optional;		/* may be NULL */
	ParquetLogical logical;
	/* PARQUET_PRIMITIVE only */
	ParquetPhysical physical;
	int32_t		type_length;	/* bytes, of FIXED_LEN_BYTE_ARRAY */
	int32_t		precision;		/* of DECIMAL */
	int32_t		scale;
	ParquetUnit unit;			/* of TIME, TIMESTAMP */
	bool		utc;
	int32_t		bits;			/* of INTEGER */
	bool		is_signed;
	int			leaf;			/* column index in a row group, -1 if nested */

	/*
	 * Layout of the vectors: BOOL, I32, I64, F32, F64 by physical type;
	 * FLOAT16 is F32; DECIMAL over bytes is I64 up to precision 18, else
	 * I128; INT96 and other bytes are BYTES.
	 */
	VectorLayout layout;
	int			child_count;
	ParquetField *const *children;
	const ParquetField *parent; /* NULL at top level */
};

typedef struct ParquetFile ParquetFile;

/* limits, all LAKE_ERROR_LIMIT when exceeded */
#define PARQUET_MAX_FOOTER_BYTES	((size_t) 256 << 20)
#define PARQUET_MAX_PAGE_BYTES		((size_t) 512 << 20)
/* of all pages that a reader holds at a time, decompressed */
#define PARQUET_MAX_HELD_BYTES		((uint64_t) 2 << 30)
#define PARQUET_MAX_SCHEMA_NODES	100000
#define PARQUET_MAX_NESTING			200
/* elements of lists, NULLs and empty lists included, a read and leaf */
#define PARQUET_MAX_BATCH_LEVELS	((uint32_t) 1 << 27)

/*
 * Reads and checks the footer.  CORRUPT for broken files, UNSUPPORTED for
 * encrypted footers.  The file is borrowed and stays open.
 */
extern ParquetFile *parquet_file_open(LakeArena *arena, LakeFile *file);

/*
 * A file whose footer was parsed before, when it was opened by another handle;
 * parsed is borrowed.
 */
extern ParquetFile *parquet_file_attach(LakeArena *arena,
										const ParquetFile *parsed,
										LakeFile *file);
extern int64_t parquet_file_rows(const ParquetFile *file);
extern int	parquet_file_row_groups(const ParquetFile *file);

/* top-level fields in file order */
extern int	parquet_file_fields(const ParquetFile *file,
								const ParquetField *const **fields);

/* does any field, at any depth, have a field id? */
extern bool parquet_file_has_field_ids(const ParquetFile *file);

/* NULL when absent */
extern const char *parquet_file_metadata(const ParquetFile *file,
										 const char *key);
extern const char *parquet_file_created_by(const ParquetFile *file);

extern int64_t parquet_row_group_rows(const ParquetFile *file, int row_group);

/* rows of all groups before it */
extern int64_t parquet_row_group_first_row(const ParquetFile *file,
										   int row_group);

/*
 * Where the group's first page begins, as far as the footer can be believed:
 * in the file's data, and never before the groups that precede it.
 */
extern int64_t parquet_row_group_offset(const ParquetFile *file,
										int row_group);

/* bytes of a top-level field's column chunks (compressed) */
extern int64_t parquet_row_group_field_bytes(const ParquetFile *file,
											 int row_group,
											 const ParquetField *field);

/*
 * What the footer says of a primitive field that is not inside a list or map,
 * as far as it can be believed: bounds of types, orders or writers known to be
 * wrong are not given, nor are bounds with min > max.
 */
typedef struct ParquetStatistics
{
	int64_t		value_count;	/* rows, NULLs included */
	int64_t		null_count;		/* -1 unknown */

	/*
	 * A vector of two values in the field's layout, min and max; an absent
	 * one is NULL.  Text and binary bounds may be truncated: min is a lower,
	 * max an upper bound.  NaNs are outside of the bounds of floating-point
	 * numbers: a row group may have some whatever max says.
	 */
	LakeVector	bounds;
	bool		has_min;
	bool		has_max;
} ParquetStatistics;

extern void parquet_statistics_get(const ParquetFile *file, LakeArena *arena,
								   int row_group, const ParquetField *field,
								   ParquetStatistics *statistics);

/* ---- page index and bloom filters ---- */

/*
 * The page index of one leaf in a row group: bounds and first rows of its data
 * pages.  Bounds are believed as those of the footer are; a file without an
 * index, or with one that contradicts itself or the footer, has none.
 */
typedef struct ParquetPageIndex ParquetPageIndex;

/* of one leaf and kind in a row group; an index above it counts for none */
#define PARQUET_MAX_INDEX_BYTES		((size_t) 4 << 20)

/* NULL: there is none.  Read from the file now, on arena. */
extern ParquetPageIndex *parquet_page_index_read(const ParquetFile *file,
												 LakeArena *arena,
												 int row_group,
												 const ParquetField *field);
extern int	parquet_page_index_count(const ParquetPageIndex *index);

/* the first row of a page in its row group; of count: the row group's rows */
extern int64_t parquet_page_index_row(const ParquetPageIndex *index, int page);

/* value_count is the page's rows */
extern void parquet_page_index_statistics(const ParquetPageIndex *index,
										  LakeArena *arena, int page,
										  ParquetStatistics *statistics);

/*
 * A split-block bloom filter of one leaf in a row group; NULL when there is
 * none, or none that we can read.  A filter above PARQUET_MAX_BLOOM_BYTES
 * counts for none.  Its blocks are read when they are asked for.
 */
typedef struct ParquetBloom ParquetBloom;

#define PARQUET_MAX_BLOOM_BYTES		((size_t) 128 << 20)

extern ParquetBloom *parquet_bloom_read(const ParquetFile *file,
										LakeArena *arena, int row_group,
										const ParquetField *field);

/*
 * False: surely absent.  value is in the PLAIN encoding of the leaf's physical
 * type (bytes without their length).
 */
extern bool parquet_bloom_may_contain(ParquetBloom *bloom, LakeBytes value);

/*
 * Reads the rows of one row group after the other.  Each column (a top-level
 * field) has its own position and advances alone; its pages are fetched and
 * decompressed when rows of them are read, not when they are skipped.
 */
typedef struct ParquetReader ParquetReader;

typedef struct ParquetReaderCounters
{
	uint64_t	pages_read;
	uint64_t	pages_skipped;	/* never decompressed */
	uint64_t	held_bytes;		/* in pages, now */
} ParquetReaderCounters;

extern ParquetReader *parquet_reader_create(LakeArena *arena,
											const ParquetFile *file,
											const ParquetField *const *columns,
											int column_count);

/* starts a row group; vectors of the former one become invalid */
extern void parquet_reader_begin(ParquetReader *reader, int row_group);

/* rows first .. end - 1 of a row group */
typedef struct ParquetRows
{
	int64_t		first;
	int64_t		end;
} ParquetRows;

/*
 * The same for a caller who will read rows of these ranges only, which ascend
 * and do not overlap: where there is an offset index, pages without any of them
 * are not even fetched.  The ranges are borrowed until the next begin.
 */
extern void parquet_reader_begin_rows(ParquetReader *reader, int row_group,
									  const ParquetRows *ranges, int count);

/* ends the row group: pages that were not reached count as skipped */
extern void parquet_reader_end(ParquetReader *reader);

/*
 * The next rows of a column.  count must not pass the row group's end.  The
 * vector is owned by the reader and valid until the next read or skip of the
 * same column or the next begin; dictionaries are valid until the next begin.
 */
extern const LakeVector *parquet_reader_read(ParquetReader *reader, int column,
											 uint32_t count);
extern void parquet_reader_skip(ParquetReader *reader, int column,
								uint64_t count);

/* rows of the column passed in this row group so far */
extern uint64_t parquet_reader_position(const ParquetReader *reader,
										int column);
extern const ParquetReaderCounters *parquet_reader_counters(
															const ParquetReader *reader);

/* ---- parquet_writer.c ---- */

/*
 * Memory that no writer needs between calls: the states of codecs, and some
 * pages' worth of buffers.  Any number of writers share it.
 */
typedef struct ParquetWorkspace ParquetWorkspace;

extern ParquetWorkspace *parquet_workspace_create(LakeArena *arena);

typedef struct ParquetWriterOptions
{
	ParquetWorkspace *workspace;	/* NULL: the writer has its own */
	LakeCodec	codec;
	int32_t		level;
	uint64_t	row_group_bytes;	/* encoded and compressed, about */
	size_t		page_bytes;		/* before compression, about */
	uint32_t	page_rows;		/* at most */
	size_t		dictionary_bytes;	/* of a column's dictionary, at most; 0:
									 * no dictionaries */
	const char *created_by;
	int			metadata_count; /* pairs */
	const char *const *metadata;	/* key, value, key, value, ... */

	/*
	 * One a leaf in order of the schema; NULL: no bloom filters.  Booleans
	 * and half floats never get one.
	 */
	const bool *bloom;
	double		bloom_fpp;
	size_t		bloom_max_bytes;	/* a filter and row group */
} ParquetWriterOptions;

/* what a leaf's values were; on the writer's arena */
typedef struct ParquetLeafTotals
{
	const ParquetField *field;
	int64_t		size;			/* compressed bytes, headers included */
	int64_t		value_count;	/* values, NULLs included */
	int64_t		null_count;
	int64_t		nan_count;		/* floats; 0 for the others */

	/*
	 * A vector of two values in the field's layout: the least and the
	 * greatest, whole, NULL and NaN aside, bytes unsigned, decimals by value;
	 * a zero is -0.0 as a minimum and 0.0 as a maximum.  Only of leaves
	 * outside of lists and maps.
	 */
	LakeVector	bounds;
	bool		has_bounds;
} ParquetLeafTotals;

typedef struct ParquetTotals
{
	int64_t		row_count;
	int64_t		size;			/* of the file */
	int			row_group_count;
	const int64_t *row_group_offsets;	/* first pages, ascending */
	int			leaf_count;
	const ParquetLeafTotals *leaves;	/* in order of the schema */
} ParquetTotals;

typedef struct ParquetWriter ParquetWriter;

/*
 * Begins a file.  fields are top-level ones, of which name, field_id, shape,
 * optional, logical, physical with what belongs to it, and children count; they
 * and options are borrowed.  Lists and maps get the three-level layout.
 * Throws UNSUPPORTED for what has no place in a file: a struct without fields.
 */
extern ParquetWriter *parquet_writer_create(LakeArena *arena,
											LakeOutput *output,
											const ParquetField *const *fields,
											int count,
											const ParquetWriterOptions *options);

/*
 * Adds the selected rows (selection NULL: rows 0 .. count - 1): one vector a
 * top-level field, as parquet_reader_read gives it (layout as ParquetField.layout
 * describes; decimals over bytes are I64 or I128).  Throws INTERNAL for a NULL in
 * a required field, LIMIT for a value that makes a page larger than
 * PARQUET_MAX_PAGE_BYTES, and at the end of a page, at the latest in finish,
 * OUT_OF_RANGE for a decimal beyond its precision.
 */
extern void parquet_writer_write(ParquetWriter *writer,
								 const LakeVector *const *columns,
								 const uint32_t *selection, uint32_t count);

/* bytes in the file so far, with what is not written yet */
extern uint64_t parquet_writer_size(const ParquetWriter *writer);

/*
 * Bytes of memory for rows that are not written yet, all that flush gives back.
 * A workspace is not among them: it has about four times a page.
 */
extern size_t parquet_writer_held_bytes(const ParquetWriter *writer);

/* writes the rows so far as a row group, to have their memory back */
extern void parquet_writer_flush(ParquetWriter *writer);

/*
 * Writes footer and page index; the output is the caller's to finish.  A file
 * without rows is one without row groups.
 */
extern const ParquetTotals *parquet_writer_finish(ParquetWriter *writer);

#endif							/* LAKE_PARQUET_H */
