/*
 * What the files of this folder share: Thrift reading, the parsed footer, and
 * the three layers of reading (pages, a leaf's values, a field's vectors).
 *
 * A leaf is a column of the file in Parquet's sense; a column of a
 * ParquetReader is a top-level field, which has one leaf or many.
 */
#ifndef LAKE_PARQUET_INT_H
#define LAKE_PARQUET_INT_H

#include "base/bytes.h"
#include "codec/codec.h"
#include "parquet/encoding.h"
#include "parquet/parquet.h"

/* ---- Thrift compact protocol ---- */

enum
{
	THRIFT_STOP,
	THRIFT_TRUE,
	THRIFT_FALSE,
	THRIFT_BYTE,
	THRIFT_I16,
	THRIFT_I32,
	THRIFT_I64,
	THRIFT_DOUBLE,
	THRIFT_BINARY,
	THRIFT_LIST,
	THRIFT_SET,
	THRIFT_MAP,
	THRIFT_STRUCT,
	THRIFT_UUID
};

/* start a struct with {0}: ids are stored as differences */
typedef struct ThriftField
{
	int			type;
	int32_t		id;
} ThriftField;

/*
 * All throw CORRUPT on truncated or malformed input and on a value of another
 * type than asked for; integers of any size are taken where they fit.
 */

/* the next field's head; false at the end of the struct */
extern bool thrift_next(ByteCursor *cursor, ThriftField *field);
extern int64_t thrift_i64(ByteCursor *cursor, const ThriftField *field);
extern int32_t thrift_i32(ByteCursor *cursor, const ThriftField *field);
extern bool thrift_bool(ByteCursor *cursor, const ThriftField *field);

/* borrowed from the cursor's input */
extern LakeBytes thrift_binary(ByteCursor *cursor, const ThriftField *field);

/* checks that a struct follows, whose fields the caller reads */
extern void thrift_struct(ByteCursor *cursor, const ThriftField *field);

/*
 * The number of elements, never above the bytes that are left; element is
 * what to give to the functions above for each of them.
 */
extern uint32_t thrift_list(ByteCursor *cursor, const ThriftField *field,
							ThriftField *element);
extern void thrift_skip(ByteCursor *cursor, const ThriftField *field);

/*
 * Do the bytes begin with a whole struct?  Then the functions above read it
 * without throwing, when they are asked for values of the types that it has.
 */
extern bool thrift_is_struct(LakeBytes bytes);

/*
 * Bytes of the struct at the cursor, which does not move.  False when the input
 * ends inside of it.
 */
extern bool thrift_measure_struct(const ByteCursor *cursor, size_t *size);

/* ---- footer ---- */

/*
 * A field with its levels.  field comes first: every ParquetField of a file is
 * the field of a node.
 *
 * A definition level below `defined` means that the field is NULL or in
 * something that is NULL or empty.  For lists and maps, `repeated` is the
 * repetition level at which a further element of the same list begins, and a
 * definition level of at least `element` says that there is an element.
 */
typedef struct ParquetNode
{
	ParquetField field;
	uint16_t	defined;
	uint16_t	repeated;
	uint16_t	element;
	/* leaves below this node: first_leaf .. first_leaf + leaf_count - 1 */
	int			first_leaf;
	int			leaf_count;
} ParquetNode;

static inline const ParquetNode *
parquet_node(const ParquetField *field)
{
	return (const ParquetNode *) field;
}

/* what reading this chunk would need and we do not have */
typedef enum ParquetRefusal
{
	PARQUET_REFUSE_NONE,
	PARQUET_REFUSE_ENCRYPTED,
	PARQUET_REFUSE_ELSEWHERE	/* its pages are in another file */
} ParquetRefusal;

/* a structure outside of the footer; size 0: there is none */
typedef struct ParquetPlace
{
	int64_t		offset;			/* in the file */
	int64_t		size;
} ParquetPlace;

/* a column chunk; checked by parquet_chunk_check before its pages are read */
typedef struct ParquetChunk
{
	int64_t		value_count;	/* levels, that is with NULLs */
	int64_t		data_offset;	/* in the file */
	int64_t		dict_offset;	/* 0 = none given */
	int64_t		size;			/* bytes of all pages with their headers */
	LakeBytes	statistics;		/* Thrift, in the footer; empty if absent */
	int32_t		physical;
	int32_t		codec;			/* Parquet's number */
	ParquetRefusal refusal;
	ParquetPlace column_index;
	ParquetPlace offset_index;
	ParquetPlace bloom;			/* size may be unknown: then 0, with offset */
} ParquetChunk;

typedef struct ParquetRowGroup
{
	int64_t		rows;
	int64_t		first_row;
	int64_t		offset;			/* parquet_row_group_offset */
	ParquetChunk *chunks;		/* one a leaf */
} ParquetRowGroup;

typedef struct ParquetProperty
{
	const char *key;
	const char *value;
} ParquetProperty;

struct ParquetFile
{
	LakeFile   *file;			/* borrowed */
	uint64_t	data_end;		/* where the footer begins */
	/* what was read with the footer, from tail_offset on */
	uint64_t	tail_offset;
	LakeBytes	tail;
	int64_t		rows;
	int			row_group_count;
	ParquetRowGroup *row_groups;
	/* schema */
	int			field_count;
	const ParquetField **fields;
	int			leaf_count;
	const ParquetNode **leaves;
	bool		has_field_ids;
	/* per leaf: is the order of min_value and max_value declared? */
	bool	   *ordered;
	uint32_t	property_count;
	ParquetProperty *properties;
	const char *created_by;		/* NULL when absent */
};

/*
 * Is the file's writer this application ("parquet-mr") in a version before
 * major.minor.patch?  An unreadable version is before all.
 */
extern bool parquet_written_before(const ParquetFile *file,
								   const char *application, int major,
								   int minor, int patch);

/*
 * Where the pages of a chunk are, after checking it against its leaf, its row
 * group and the file's size.  UNSUPPORTED when it is encrypted or elsewhere.
 */
extern void parquet_chunk_check(const ParquetFile *file, int row_group,
								const ParquetNode *leaf, uint64_t *start,
								uint64_t *end);

/* the same place without a complaint; false: it is not within the data */
extern bool parquet_chunk_place(const ParquetFile *file,
								const ParquetChunk *chunk, uint64_t *start,
								uint64_t *end);

/*
 * Some of the file's data, borrowed if it was read with the footer, else on
 * arena.  False when it is not all within the data, or more than limit.
 */
extern bool parquet_file_bytes(const ParquetFile *file, LakeArena *arena,
							   const ParquetPlace *place, size_t limit,
							   LakeBytes *bytes);

/* ---- bounds ---- */

/* does the format define an order of the type's values? */
extern bool bounds_have_order(const ParquetField *field);

/*
 * May bounds in the form of min_value and max_value be believed?  They need a
 * declared order that the type has.
 */
extern bool bounds_are_ordered(const ParquetFile *file,
							   const ParquetField *field);

/*
 * Decodes two bounds, data NULL for an absent one, to values[0] and [1] in the
 * field's layout; nulls[i] is 1 where there is none after all.  False when one
 * cannot be a bound of the type, or they contradict each other.
 */
extern bool bounds_decode(const ParquetField *field, LakeBytes min,
						  LakeBytes max, void *values, uint8_t nulls[2]);

/* values and nulls as bounds_decode gives them; borrowed */
extern void statistics_set_bounds(ParquetStatistics *statistics,
								  const ParquetField *field,
								  const void *values, const uint8_t nulls[2]);

/* is *a above *b, two bounds, in the order of the field? */
extern bool bounds_are_inverted(const ParquetField *field, const void *a,
								const void *b);

/* ---- page index ---- */

/* one data page by the offset index */
typedef struct PageLocation
{
	uint64_t	offset;			/* of its header */
	uint64_t	end;			/* of its bytes; a hint, writers differ */
	uint64_t	first_row;		/* in the row group */
} PageLocation;

/* at least one page; the first one begins with row 0 */
typedef struct OffsetIndex
{
	uint32_t	count;
	PageLocation *pages;		/* count + 1: the last begins after all rows */
} OffsetIndex;

/*
 * NULL: the chunk has none, or one that cannot be right.  Offsets and rows
 * ascend strictly, pages are apart from each other and in the chunk.
 */
extern const OffsetIndex *offset_index_read(const ParquetFile *file,
											LakeArena *arena, int row_group,
											const ParquetNode *leaf);

/* the page that has a row of the row group */
extern uint32_t offset_index_find(const OffsetIndex *index, uint64_t row);

/* ---- schema ---- */

enum
{
	REPETITION_REQUIRED,
	REPETITION_OPTIONAL,
	REPETITION_REPEATED
};

/* the older annotation of a map, beside PARQUET_LOGICAL_MAP */
#define LOGICAL_MAP_KEY_VALUE	(PARQUET_LOGICAL_VARIANT + 1)

/* a schema element as the footer has it */
typedef struct SchemaElement
{
	const char *name;
	int32_t		physical;		/* -1: a group */
	int32_t		type_length;
	int32_t		repetition;
	int32_t		child_count;
	int32_t		field_id;
	int			logical;		/* ParquetLogical, LOGICAL_MAP_KEY_VALUE */
	int32_t		precision;
	int32_t		scale;
	ParquetUnit unit;
	bool		utc;
	int32_t		bits;
	bool		is_signed;
} SchemaElement;

/* reads the struct at the cursor; name is copied to the arena */
extern void parquet_element_read(LakeArena *arena, ByteCursor *cursor,
								 SchemaElement *element);

/* CORRUPT if the annotation of a primitive does not fit its type */
extern void parquet_element_check(const SchemaElement *element);

/* see ParquetField.layout */
extern VectorLayout parquet_layout(ParquetPhysical physical, int logical,
								   int32_t precision);

/*
 * Reads the footer's list of schema elements and fills the schema's fields of
 * file.
 */
extern void parquet_schema_read(LakeArena *arena, ByteCursor *cursor,
								const ThriftField *field, ParquetFile *file);

/* ---- pages ---- */

typedef struct PageHeader
{
	int32_t		type;			/* PAGE_DATA, ... */
	uint32_t	size;			/* bytes after decompression, levels too */
	uint32_t	stored_size;	/* bytes in the file */
	bool		has_crc;
	uint32_t	crc;
	uint32_t	value_count;	/* levels, or entries of a dictionary */
	int32_t		encoding;
	/* v1 */
	int32_t		def_encoding;
	int32_t		rep_encoding;
	/* v2 */
	uint32_t	row_count;
	uint32_t	def_size;
	uint32_t	rep_size;
	bool		compressed;
	uint64_t	offset;			/* of the page's bytes, after the header */
} PageHeader;

enum
{
	PAGE_DATA,
	PAGE_INDEX,
	PAGE_DICTIONARY,
	PAGE_DATA_V2
};

/* the memory of a loaded page, reused for later ones */
typedef struct Page
{
	struct Page *next;
	LakeArena  *arena;			/* what its decoder puts together */
	uint8_t    *bytes;
	size_t		capacity;		/* without PARQUET_PAGE_SLACK */
	size_t		size;
} Page;

/* some ranges of rows, ascending and apart, and the only ones to be read */
typedef struct RowRanges
{
	int			count;			/* 0: all rows */
	const ParquetRows *ranges;
} RowRanges;

/*
 * Walks the pages of one column chunk.  The window holds the part of the chunk
 * that was fetched; it follows what is asked for.
 */
typedef struct PageStream
{
	LakeArena  *arena;			/* owns the buffers */
	LakeFile   *file;
	CodecContext *context;		/* shared */
	ParquetReaderCounters *counters;	/* the reader's */
	LakeCodec	codec;
	bool		always_compressed;	/* whatever the header of a v2 page says */
	uint64_t	pos;			/* next header, offset in the file */
	uint64_t	end;			/* of the chunk */
	/* with both of them, pages that are not wanted need not be fetched */
	const OffsetIndex *index;
	RowRanges	wanted;
	uint8_t    *window;
	size_t		window_capacity;
	uint64_t	window_offset;	/* in the file */
	size_t		window_len;
	Page	   *spare;			/* pages not in use */
} PageStream;

extern void page_stream_init(PageStream *stream, LakeArena *arena,
							 CodecContext *context,
							 ParquetReaderCounters *counters);
extern void page_stream_begin(PageStream *stream, LakeFile *file,
							  int32_t codec, uint64_t start, uint64_t end);

/* is what follows in memory already? */
extern bool page_stream_is_ahead(const PageStream *stream);

/*
 * The next page's header; false at the end of the chunk.  The page's bytes are
 * passed, whether they are loaded or not.
 */
extern bool page_stream_next(PageStream *stream, PageHeader *header);

/*
 * Fetches, checks and decompresses the page: its bytes as they were before
 * compression, followed by PARQUET_PAGE_SLACK zero bytes.  Only of the header
 * last given.  The page is the caller's until page_stream_recycle.
 */
extern Page *page_stream_load(PageStream *stream, const PageHeader *header);

/* a list of pages */
extern void page_stream_recycle(PageStream *stream, Page *pages);

/* ---- a leaf's values ---- */

/*
 * The values of one vector while they are put together.  They are codes as long
 * as all come from pages that are coded by the same dictionary.
 */
typedef struct ValueSink
{
	bool		empty;			/* nothing taken: neither codes nor values */
	const LakeDictionary *dict; /* set: codes into it, else values */
	uint32_t   *codes;
	size_t		codes_capacity; /* bytes */
	uint8_t    *values;
	size_t		values_capacity;
} ValueSink;

typedef struct LeafReader
{
	LakeArena  *arena;			/* of the reader: buffers that are reused */
	LakeArena  *chunk_arena;	/* the chunk's dictionary */
	const ParquetFile *file;
	const ParquetNode *node;
	ParquetReaderCounters *counters;
	PageStream	stream;
	LakeDictionary *dict;		/* of the chunk; NULL = none met so far */
	Page	   *dict_page;		/* its byte arrays point into this */
	uint64_t	start;			/* of the chunk, where its dictionary is */
	int			row_group;
	uint64_t	row;			/* the next to be read, but for pending ones */
	uint64_t	pending;		/* rows to skip before the next read */
	/* levels in pages after the current one; an upper bound after a seek */
	uint64_t	unread;

	/*
	 * The offset index, once it was worth reading.  next_page is then the
	 * number of the page that leaf_announce gives.  Until the first seek it
	 * is only a hope: if the pages are others, it is forgotten.
	 */
	bool		asked_index;
	bool		has_sought;
	const OffsetIndex *index;
	uint32_t	next_page;
	/* the current page, NULL before the first */
	bool		announced;		/* header is that of the page after it */
	PageHeader	header;
	uint64_t	header_offset;
	Page	   *page;
	Page	   *retired;		/* earlier ones that the vector points into */
	uint32_t	left;			/* levels that are not decoded */
	LevelDecoder rep;
	LevelDecoder def;
	bool		coded;
	CodeDecoder codes;
	ValueDecoder values;
	/* the values last read */
	ValueSink	sink;
	LakeBytes  *raw;			/* byte arrays before conversion */
	size_t		raw_capacity;	/* bytes */
	/* of a flat column: its vector */
	uint8_t    *nulls;
	size_t		nulls_capacity;
	LakeVector	vector;
	/* of a nested one: levels decoded ahead of their values */
	uint16_t   *block_reps;
	uint16_t   *block_defs;
	uint32_t	block_len;
	uint32_t	block_pos;
	/* and the levels of the rows last read, value_count dense values in sink */
	uint16_t   *reps;
	uint16_t   *defs;
	size_t		reps_capacity;	/* bytes */
	size_t		defs_capacity;
	uint32_t	level_count;
	uint32_t	value_count;
} LeafReader;

extern void leaf_init(LeafReader *leaf, LakeArena *arena,
					  const ParquetFile *file, const ParquetNode *node,
					  CodecContext *context, ParquetReaderCounters *counters);
extern void leaf_begin(LeafReader *leaf, int row_group,
					   const RowRanges *wanted);

/* counts the pages that were not reached */
extern void leaf_end(LeafReader *leaf);

/* the next rows of a top-level primitive */
extern const LakeVector *leaf_read_flat(LeafReader *leaf, uint32_t count);

/*
 * The levels and values of the next rows of any leaf: reps, defs, level_count,
 * sink and value_count, valid until the next call.
 */
extern void leaf_read_levels(LeafReader *leaf, uint32_t rows);

/* CORRUPT if there are rows after those that leaf_read_levels has read */
extern void leaf_check_end(const LeafReader *leaf);

/*
 * What the two ways of reading share.  leaf_announce gives the header of the
 * next page that has values, for leaf_pass or leaf_open to go on with; CORRUPT
 * when there is none.  leaf_start forgets what was read.
 */
extern void leaf_start(LeafReader *leaf);
extern void leaf_announce(LeafReader *leaf);
extern void leaf_pass(LeafReader *leaf);
extern void leaf_open(LeafReader *leaf);

/* are there pages that have values after the current one? */
extern bool leaf_has_more(const LeafReader *leaf);

/*
 * Moves on to the page that has the first row after the pending ones, if the
 * offset index tells and it is not the current one; leaves less pending then.
 * What is left of the current page is dropped.
 */
extern void leaf_seek(LeafReader *leaf);

/*
 * The index and the pages contradict each other: forgets it, or throws CORRUPT
 * if a seek has trusted it.
 */
extern void leaf_doubt_index(LeafReader *leaf);

/* the next count values of the page to slot at and after of the sink */
extern void leaf_take_values(LeafReader *leaf, uint32_t at, uint32_t count);
extern void leaf_skip_values(LeafReader *leaf, uint64_t count);

/*
 * A buffer of the reader, grown geometrically; keeps its contents.  Never NULL,
 * also for no bytes, so that one may compute with it.
 */
extern void *leaf_reserve(LeafReader *leaf, void *buffer, size_t *capacity,
						  size_t size);

/*
 * Converts byte arrays to the layout of a decimal or half float.
 */
extern void values_convert(const ParquetField *field, const LakeBytes *raw,
						   void *out, uint32_t count);

/* does the leaf's layout differ from what its decoder gives? */
extern bool values_need_conversion(const ParquetField *field);

/*
 * Moves values of width bytes (1, 4, 8, 16) that are dense at the front of
 * slots to the slots whose nulls byte is 0; the other slots are zeroed.
 */
extern void values_spread(void *slots, size_t width, const uint8_t *nulls,
						  uint32_t count, uint32_t dense);

/* out[i] = the dictionary's value of codes[i], zero if it has no values */
extern void values_look_up(const LakeDictionary *dict, const uint32_t *codes,
						   void *out, uint32_t count);

/* ---- a field's vectors ---- */

/*
 * Builds the vectors of a nested field from its leaves, all of which have read
 * the same count of rows.  leaves is indexed from the field's first leaf.
 */
extern LakeVector *nested_build(LakeArena *arena, const ParquetNode *node,
								LeafReader *leaves, uint32_t rows);

#endif							/* LAKE_PARQUET_INT_H */
