/*
 * What the files of the writer share: Thrift and hybrid encoding, the
 * dictionary, bounds, a leaf's pages, and what is remembered of them until the
 * footer.
 *
 * Values are kept as they come, in the field's layout ("native"), until their
 * page ends: statistics see numbers, and only then they get the bytes of their
 * physical type.  Byte arrays are kept in the PLAIN encoding at once.
 */
#ifndef LAKE_PARQUET_WRITER_H
#define LAKE_PARQUET_WRITER_H

#include "parquet/parquet_int.h"

/* ---- thrift_writer.c: compact protocol ---- */

/* the deepest structure is a time unit in a schema element: 6 */
#define THRIFT_OUTPUT_DEPTH 8

/* start with the out set and all else zero: inside of the outermost struct */
typedef struct ThriftOutput
{
	LakeBuffer *out;
	int			depth;
	int32_t		last[THRIFT_OUTPUT_DEPTH];	/* field id before, by depth */
} ThriftOutput;

extern void thrift_write_bool(ThriftOutput *output, int32_t id, bool value);
extern void thrift_write_byte(ThriftOutput *output, int32_t id, int8_t value);
extern void thrift_write_i32(ThriftOutput *output, int32_t id, int32_t value);
extern void thrift_write_i64(ThriftOutput *output, int32_t id, int64_t value);
extern void thrift_write_binary(ThriftOutput *output, int32_t id,
								const void *data, size_t len);
extern void thrift_write_text(ThriftOutput *output, int32_t id,
							  const char *text);

/* the head of a list of count elements of a THRIFT_ type, which follow */
extern void thrift_write_list(ThriftOutput *output, int32_t id, int type,
							  size_t count);
extern void thrift_begin(ThriftOutput *output, int32_t id);

/* ends the innermost struct, at last the outermost */
extern void thrift_end(ThriftOutput *output);

/* a struct without fields: members of unions */
extern void thrift_write_empty(ThriftOutput *output, int32_t id);

/* elements of lists; booleans have a byte there */
extern void thrift_add_bool(ThriftOutput *output, bool value);
extern void thrift_add_integer(ThriftOutput *output, int64_t value);
extern void thrift_add_binary(ThriftOutput *output, const void *data,
							  size_t len);
extern void thrift_add_text(ThriftOutput *output, const char *text);
extern void thrift_add_struct(ThriftOutput *output);

/* ---- hybrid_writer.c ---- */

extern void hybrid_write_varint(LakeBuffer *out, uint64_t value);

/*
 * Appends count values in runs and groups of eight; each is below 2^width,
 * 0 <= width <= 32.
 */
extern void hybrid_write(LakeBuffer *out, const uint32_t *values, size_t count,
						 int width);

/* the same for one value repeated */
extern void hybrid_write_run(LakeBuffer *out, uint32_t value, uint64_t count,
							 int width);

/* ---- how values are kept ---- */

/* numbers of any kind, floating-point ones too, by their bits */
typedef uint32_t Bits32 __attribute__((may_alias));
typedef uint64_t Bits64 __attribute__((may_alias));

typedef enum ValueKind
{
	KIND_1,						/* booleans */
	KIND_4,						/* 4 bytes: integers, floats */
	KIND_8,
	KIND_16,					/* wide decimals */
	KIND_BYTES,					/* byte arrays, each behind its length */
	KIND_FIXED					/* byte arrays of type_length */
} ValueKind;

extern ValueKind value_kind(const ParquetField *field);

/* how count values become bytes of the file: the PLAIN encoding */
extern void values_encode(const ParquetField *field, const void *values,
						  size_t count, LakeBuffer *out);

/* is that just the native bytes? */
extern bool values_are_plain(const ParquetField *field);

/* bytes that a value takes in a page; of KIND_BYTES its length alone */
extern size_t value_plain_width(const ParquetField *field);

/*
 * Values of a vector, one after the other: rows[0 .. count - 1], or (rows NULL)
 * first .. first + count - 1.  Borrowed from the vector or in scratch.
 */
extern const void *values_gather(const LakeVector *vector,
								 const uint32_t *rows, uint32_t first,
								 uint32_t count, LakeBuffer *scratch);

/* appends gathered values as they are kept */
extern void values_append(const ParquetField *field, ValueKind kind,
						  const void *values, uint32_t count, LakeBuffer *out);

/* ---- dictionary_writer.c ---- */

typedef struct DictWriter
{
	LakeArena  *arena;
	ValueKind	kind;
	uint32_t	width;			/* native bytes, type_length of KIND_FIXED */
	size_t		limit;			/* bytes of values */
	uint64_t   *slots;			/* hash << 32 | code + 1; 0: free */
	int			slot_bits;
	uint32_t	count;			/* entries */
	LakeBuffer	values;			/* as kept, in order of their codes */
	LakeBuffer	starts;			/* KIND_BYTES: uint32_t, where in values */
} DictWriter;

extern void dict_init(DictWriter *dict, LakeArena *arena,
					  const ParquetField *field, size_t limit);

/*
 * The codes of gathered values, new ones added.  False, and the dictionary is
 * as it was but takes no more, when they do not fit.
 */
extern bool dict_add(DictWriter *dict, const void *values, uint32_t count,
					 uint32_t *codes);

/* appends the entries of count codes to out, as kept */
extern void dict_look_up(const DictWriter *dict, const uint32_t *codes,
						 size_t count, LakeBuffer *out);

/* bytes that look_up would append, at most limit: more is not counted */
extern size_t dict_measure(const DictWriter *dict, const uint32_t *codes,
						   size_t count, size_t limit);

/* the table goes, the entries stay */
extern void dict_close(DictWriter *dict);

/* ---- bounds_writer.c ---- */

typedef union BoundValue
{
	LakeInt128	wide;
	LakeBytes	bytes;
	int64_t		i64;
	int32_t		i32;
	double		f64;
	float		f32;
	uint8_t		u8;
} BoundValue;

/* least and greatest of some values, in the field's layout */
typedef struct Bounds
{
	bool		is_set;
	BoundValue	values[2];		/* bytes: borrowed, or in store */
	LakeBuffer	store[2];
} Bounds;

/* of bounds that will own their bytes */
extern void bounds_init(Bounds *bounds, LakeArena *arena);

/* of kept values, bytes borrowed from them; *nan_count: those left aside */
extern void bounds_find(const ParquetField *field, ValueKind kind,
						const LakeBuffer *values, size_t count,
						Bounds *bounds, uint64_t *nan_count);

/* widens bounds that own their bytes */
extern void bounds_widen(const ParquetField *field, Bounds *bounds,
						 const Bounds *by);

/* OUT_OF_RANGE when a decimal is beyond its precision */
extern void bounds_check(const ParquetField *field, const Bounds *bounds);

/* so many bytes of a text or byte string at most are in the file */
#define BOUND_BYTES 64
/* but so many where it cannot be cut */
#define BOUND_MAX_BYTES 4096

typedef struct EncodedBound
{
	LakeBytes	bytes;			/* data NULL: none */
	bool		is_exact;
} EncodedBound;

/* as footer and page index have them; bytes are on arena */
extern EncodedBound bound_encode(const ParquetField *field, LakeArena *arena,
								 const Bounds *bounds, int side);

/* ---- bloom_writer.c ---- */

/* hashes until a filter of the greatest size is smaller, then that filter */
typedef struct BloomWriter
{
	LakeArena  *arena;
	double		fpp;
	size_t		max_bytes;		/* a power of two */
	LakeBuffer	hashes;			/* uint64_t */
	uint32_t   *words;			/* NULL: not yet */
	size_t		word_count;
} BloomWriter;

extern void bloom_writer_init(BloomWriter *bloom, LakeArena *arena, double fpp,
							  size_t max_bytes);

/* values in the PLAIN encoding; width 0: each behind its length */
extern void bloom_writer_add(BloomWriter *bloom, const uint8_t *values,
							 size_t count, size_t width);

/* appends header and bits */
extern void bloom_writer_finish(BloomWriter *bloom, LakeBuffer *out);

/* ---- what is remembered of a chunk ---- */

typedef struct PageRecord
{
	uint64_t	size;			/* in the file, header included */
	int64_t		first_row;		/* in the row group */
	int64_t		null_count;
	bool		is_null;		/* no value in it */
	EncodedBound bounds[2];
} PageRecord;

/* until the footer; on the writer's arena */
typedef struct ChunkRecord
{
	int64_t		offset;			/* of the first page */
	int64_t		data_offset;	/* of the first data page */
	bool		has_dictionary;
	int64_t		size;
	int64_t		plain_size;		/* before compression */
	int64_t		value_count;	/* levels */
	int64_t		null_count;
	EncodedBound bounds[2];
	int32_t		coded_pages;
	int32_t		plain_pages;
	ParquetPlace bloom;
	/* in the buffers of PageIndexWriter */
	ParquetPlace column_index;	/* size 0: none */
	ParquetPlace offset_index;
} ChunkRecord;

typedef struct GroupRecord
{
	int64_t		rows;
	ChunkRecord *chunks;		/* one a leaf */
} GroupRecord;

/* ---- page_index_writer.c ---- */

/* both kinds as they will be in the file */
typedef struct PageIndexWriter
{
	LakeBuffer	columns;
	LakeBuffer	offsets;
} PageIndexWriter;

/* pages of a chunk whose first one is at offset of the file */
extern void page_index_add(PageIndexWriter *writer, const ParquetField *field,
						   const PageRecord *pages, uint32_t count,
						   int64_t offset, ChunkRecord *chunk);

/* ---- a leaf ---- */

/* memory that writers share, none of which outlasts a call */
struct ParquetWorkspace
{
	LakeArena  *arena;
	CodecContext *context;
	LakeBuffer	page;			/* before compression */
	LakeBuffer	packed;			/* after it */
	LakeBuffer	header;
	LakeBuffer	values;			/* gathered or looked up */
	LakeBuffer	numbers;		/* uint32_t: levels, distinct codes */
	LakeBuffer	rows;			/* uint32_t: rows that are not NULL */
	uint8_t    *marks;			/* a byte a code, 0 between uses */
	size_t		mark_count;
	LakeArena  *nested;			/* levels of nested fields, reset after each */
};

/* a page or dictionary as it is in the file */
typedef struct PageBlock
{
	struct PageBlock *next;
	size_t		size;
	uint8_t		bytes[];
} PageBlock;

typedef struct LeafWriter
{
	const ParquetField *field;	/* a copy with its layout and leaf */
	const char *const *path;	/* names from the top */
	int			path_length;
	uint16_t	max_def;
	uint16_t	max_rep;
	ValueKind	kind;
	bool		has_bounds;		/* the type has an order */
	bool		has_totals;		/* not in a list or map */
	bool		has_bloom;
	const ParquetWriterOptions *options;
	ParquetWorkspace *workspace;
	LakeArena  *arena;			/* of the row group */
	/* the current page */
	uint32_t	page_rows;
	uint64_t	page_levels;
	uint64_t	page_values;	/* levels that have a value */
	uint16_t   *defs;			/* NULL: all are max_def so far */
	uint16_t   *reps;
	size_t		level_capacity; /* of both */
	LakeBuffer	values;			/* as kept, unless coded */
	LakeBuffer	codes;			/* uint32_t, if coded */
	/* the chunk */
	bool		coded;			/* new values become codes */
	bool		has_dictionary; /* a page is coded, or will be */
	DictWriter	dict;
	/* codes for those of the dictionary last met, + 1; 0: not known */
	uint32_t   *map;
	uint64_t	map_id;
	uint32_t	looks;			/* whether it pays */
	uint64_t	next_look;		/* chunk_values at which to look again */
	uint64_t	last_look;		/* and at which it was done */
	uint32_t	last_entries;	/* of the dictionary then */
	uint64_t	chunk_values;
	uint64_t	chunk_levels;
	uint64_t	chunk_nulls;	/* in finished pages */
	int64_t		chunk_rows;		/* in finished pages */
	uint64_t	encoded;		/* bytes of finished pages, in the file */
	uint64_t	plain;			/* before compression */
	uint32_t	coded_pages;
	PageBlock  *blocks;
	PageBlock **last_block;
	PageRecord *pages;
	uint32_t	page_count;
	uint32_t	page_capacity;
	Bounds		bounds;
	BloomWriter bloom;
	/* the file; on the writer's arena */
	ParquetLeafTotals *totals;
	Bounds		total_bounds;
} LeafWriter;

/* ---- page_writer.c ---- */

/* bits of a code in the current page */
extern int	page_code_width(const LeafWriter *leaf);
extern size_t page_code_bytes(const LeafWriter *leaf);

/* bits of the levels of an entry, at most */
extern size_t page_level_width(const LeafWriter *leaf);

/* bytes of the current page before compression, about */
extern size_t page_size(const LeafWriter *leaf);

/* ends the current page, which is not empty */
extern void page_finish(LeafWriter *leaf);

/* the dictionary as the first of the blocks */
extern void page_add_dictionary(LeafWriter *leaf);

/* ---- column_writer.c ---- */

/* begins a chunk; arena is the row group's */
extern void leaf_writer_begin(LeafWriter *leaf);

/* some rows of a flat column: selection[0 .. count - 1], NULL: first .. */
extern void leaf_writer_add(LeafWriter *leaf, const LakeVector *vector,
							const uint32_t *selection, uint32_t first,
							uint32_t count);

/*
 * The levels of whole rows, and which elements of vector are the values of
 * those that have one.
 */
extern void leaf_writer_add_levels(LeafWriter *leaf, const uint16_t *reps,
								   const uint16_t *defs, uint32_t count,
								   const LakeVector *vector,
								   const uint32_t *values);

/* about what the chunk will take in the file */
extern uint64_t leaf_writer_size(const LeafWriter *leaf);

/* ends the last page; a dictionary becomes the first of the blocks */
extern void leaf_writer_finish(LeafWriter *leaf, LakeArena *arena,
							   ChunkRecord *chunk);

/* ---- nested_writer.c ---- */

/* a field with the levels of its values; parallel to the caller's fields */
typedef struct WriterNode
{
	const ParquetField *field;
	uint16_t	defined;		/* as in ParquetNode */
	uint16_t	repeated;
	uint16_t	element;
	LeafWriter *leaf;			/* PARQUET_PRIMITIVE */
	struct WriterNode *children;
} WriterNode;

extern void nested_write(const WriterNode *node, const LakeVector *vector,
						 const uint32_t *selection, uint32_t first,
						 uint32_t count, LakeArena *arena);

/* ---- schema_writer.c, footer_writer.c ---- */

/* UNSUPPORTED, INTERNAL for fields that cannot be in a file */
extern void schema_check(const ParquetField *field, int depth);

/* the fields' list of elements, the root before them */
extern void schema_write(ThriftOutput *output, int32_t id,
						 const ParquetField *const *fields, int count);

/* the names that the format has for the children of lists and maps */
extern const char *schema_child_name(const ParquetField *field, int child);

typedef struct FooterParts
{
	const ParquetField *const *fields;
	int			field_count;
	int			leaf_count;
	const LeafWriter *leaves;
	int64_t		rows;
	const GroupRecord *groups;
	int			group_count;
	int64_t		column_index;	/* where the indexes are in the file */
	int64_t		offset_index;
	const ParquetWriterOptions *options;
} FooterParts;

extern void footer_write(const FooterParts *parts, LakeBuffer *out);

#endif							/* LAKE_PARQUET_WRITER_H */
