/*
 * What is inside of a Parquet page: levels, dictionary codes and values.
 * Private to the folder.
 *
 * Decoders are structs of the caller.  They borrow the page's bytes, which must
 * stay valid and unchanged as long as the decoder and, for byte arrays, its
 * results are in use.  Every decoder throws CORRUPT when the input ends before
 * the values asked for, or breaks the rules of the encoding; none believes a
 * count or a length that the input has not proved.
 *
 * Parquet format: Encodings.md.
 */
#ifndef LAKE_PARQUET_ENCODING_H
#define LAKE_PARQUET_ENCODING_H

#include "base/base.h"
#include "base/bytes.h"
#include "parquet/parquet.h"

/*
 * So many bytes after the end of every input that is given to a decoder must
 * be readable (zero, if checkers of uninitialised memory shall stay quiet):
 * unpacking loads whole words.  No result depends on them.
 */
#define PARQUET_PAGE_SLACK 64

/* the numbers of parquet.thrift */
typedef enum ParquetEncoding
{
	PARQUET_ENCODING_PLAIN = 0,
	PARQUET_ENCODING_PLAIN_DICTIONARY = 2,
	PARQUET_ENCODING_RLE = 3,
	PARQUET_ENCODING_BIT_PACKED = 4,
	PARQUET_ENCODING_DELTA_BINARY_PACKED = 5,
	PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY = 6,
	PARQUET_ENCODING_DELTA_BYTE_ARRAY = 7,
	PARQUET_ENCODING_RLE_DICTIONARY = 8,
	PARQUET_ENCODING_BYTE_STREAM_SPLIT = 9
} ParquetEncoding;

/* "DELTA_BYTE_ARRAY"; NULL for a number that the format does not know */
extern const char *parquet_encoding_name(int32_t encoding);

static inline LakeBytes
encoding_bytes(const uint8_t *data, size_t len)
{
	LakeBytes	bytes;

	bytes.data = data;
	bytes.len = len;
	return bytes;
}

/* ---- bit unpacking ---- */

/*
 * Unpacks count values of width bits (0..32, least significant bit first) from
 * data.  Reads at most PARQUET_PAGE_SLACK bytes past the last value.
 */
extern void unpack_u32(const uint8_t *data, int width, uint32_t *out,
					   size_t count);

/* the same for widths 0..64 */
extern void unpack_u64(const uint8_t *data, int width, uint64_t *out,
					   size_t count);

/* bits first, first + 1, ... of data as bytes 0 or 1, each xored with flip */
extern void unpack_bools(const uint8_t *data, uint64_t first, uint8_t flip,
						 uint8_t *out, size_t count);

/* ---- RLE / bit-packed hybrid ---- */

typedef struct HybridDecoder
{
	const uint8_t *pos;			/* next run header */
	const uint8_t *end;
	int			width;			/* bits a value */
	/* the current run */
	uint64_t	run_left;		/* values */
	bool		packed;			/* bit-packed, else run_value repeated */
	uint32_t	run_value;
	uint32_t	packed_next;	/* next value's index in *packed_group */
	const uint8_t *packed_group;	/* 8 values, width bytes */
} HybridDecoder;

/*
 * width 0..32.  A decoder of width 0 gives any number of zeros and looks at no
 * byte, since some writers emit none.  A bit-packed run that is cut short by
 * the input's end has the values that are whole.
 */
extern void hybrid_init(HybridDecoder *decoder, LakeBytes data, int width);
extern void hybrid_read(HybridDecoder *decoder, uint32_t *out, size_t count);

/* the same for width 1: bytes 0 or 1, each xored with flip */
extern void hybrid_read_bools(HybridDecoder *decoder, uint8_t flip,
							  uint8_t *out, size_t count);
extern void hybrid_skip(HybridDecoder *decoder, uint64_t count);

/*
 * How many of the next values are known to be equal without unpacking them,
 * and that value; 0 when the next one is bit-packed or the input has ended.
 * Consumes nothing.
 */
extern uint64_t hybrid_peek_run(HybridDecoder *decoder, uint32_t *value);

/* ---- repetition and definition levels ---- */

typedef struct LevelDecoder
{
	uint16_t	max_level;
	bool		legacy;			/* BIT_PACKED, most significant bit first */
	bool		low_first;		/* the other way round, against the format:
								 * set after the start, for files of Impala */
	HybridDecoder hybrid;
	/* legacy */
	const uint8_t *data;
	uint64_t	bit;			/* next */
	uint64_t	bit_count;
} LevelDecoder;

/*
 * The levels of a v2 page (RLE without a length).  max_level 0: all levels are
 * 0 and data is not looked at.
 */
extern void levels_init(LevelDecoder *decoder, LakeBytes data,
						uint16_t max_level);

/*
 * Takes the levels of a v1 page off its front: RLE with a length of 4 bytes
 * before it, or BIT_PACKED of count levels.  Other encodings are CORRUPT.
 * Nothing is taken when max_level is 0.
 */
extern void levels_init_v1(LevelDecoder *decoder, ByteCursor *page,
						   int32_t encoding, uint16_t max_level,
						   uint32_t count);

/* the next levels, each checked to be <= max_level */
extern void levels_read(LevelDecoder *decoder, uint16_t *out, size_t count);

/*
 * The next levels as a NULL map: 1 where the level is below max_level, else 0.
 * Returns the number of zeros, the values that follow.
 */
extern size_t levels_read_nulls(LevelDecoder *decoder, uint8_t *nulls,
								size_t count);

/* skips count levels and returns how many of them equal max_level */
extern uint64_t levels_skip(LevelDecoder *decoder, uint64_t count);

/*
 * How many of the next levels are known to be equal without unpacking them, and
 * that level; 0 when that is not known.  Consumes nothing.
 */
extern uint64_t levels_peek_run(LevelDecoder *decoder, uint16_t *level);

/*
 * Are the next count levels one run of max_level (a page without NULLs)?  False
 * means "not known".  Consumes nothing.
 */
extern bool levels_all_max(LevelDecoder *decoder, uint64_t count);

/* ---- dictionary codes ---- */

typedef struct CodeDecoder
{
	HybridDecoder hybrid;
	uint32_t	dict_count;
} CodeDecoder;

/*
 * The values of a page encoded RLE_DICTIONARY or PLAIN_DICTIONARY: one byte of
 * bit width, then the hybrid.  Empty data is a page without values.
 */
extern void codes_init(CodeDecoder *decoder, LakeBytes data,
					   uint32_t dict_count);

/* every code given is < dict_count; others are CORRUPT */
extern void codes_read(CodeDecoder *decoder, uint32_t *out, size_t count);

/* codes that are skipped are not checked */
extern void codes_skip(CodeDecoder *decoder, uint64_t count);

/* ---- values ---- */

/*
 * DELTA_BINARY_PACKED as a stream.  Sums wrap around, in 64 bits; users of 32
 * bits take the low half.
 */
typedef struct DeltaDecoder
{
	ByteCursor	cursor;			/* next block or miniblock */
	uint64_t	left;			/* values not given yet */
	bool		at_first;		/* the next value is that of the header */
	uint64_t	value;			/* the last one given */
	uint64_t	min_delta;		/* of the block */
	uint32_t	mini_count;		/* miniblocks a block */
	uint32_t	mini_values;	/* values a miniblock, a multiple of 8 */
	const uint8_t *widths;		/* of the block's miniblocks */
	uint32_t	mini_next;		/* index of the miniblock after the current */
	/* the current miniblock */
	const uint8_t *mini;		/* first byte */
	size_t		mini_size;		/* bytes that are there */
	int			mini_width;
	uint32_t	mini_at;		/* next value's index in it */
	uint32_t	mini_left;		/* values in it not given yet */
} DeltaDecoder;

extern void delta_init(DeltaDecoder *decoder, LakeBytes data);
extern void delta_read_i64(DeltaDecoder *decoder, int64_t *out, size_t count);
extern void delta_read_i32(DeltaDecoder *decoder, int32_t *out, size_t count);
extern void delta_skip(DeltaDecoder *decoder, uint64_t count);

/* the first byte after all blocks; of a decoder that has given nothing yet */
extern const uint8_t *delta_find_end(const DeltaDecoder *decoder);

typedef struct ValueDecoder ValueDecoder;

typedef struct ValueDecoderOps
{
	void		(*init) (ValueDecoder *decoder, LakeBytes data);
	void		(*read) (ValueDecoder *decoder, void *out, uint32_t count);
	void		(*skip) (ValueDecoder *decoder, uint64_t count);
} ValueDecoderOps;

struct ValueDecoder
{
	const ValueDecoderOps *ops;
	LakeArena  *arena;			/* of byte arrays that are put together */
	ParquetEncoding encoding;
	ParquetPhysical physical;
	uint32_t	width;			/* bytes a value, 0 for BYTE_ARRAY */
	uint64_t	left;			/* values, at most */
	ByteCursor	cursor;			/* PLAIN; suffixes or contents of DELTA_* */
	uint32_t	bit;			/* PLAIN BOOLEAN: next in the cursor's byte */
	HybridDecoder hybrid;		/* RLE */
	DeltaDecoder lengths;		/* DELTA_*: values, or (suffix) lengths */
	/* DELTA_BYTE_ARRAY */
	DeltaDecoder prefixes;
	LakeBytes	previous;		/* value, borrowed from page, arena, scratch */
	LakeBuffer	scratch;		/* the previous value, when it was skipped */
	uint64_t	copied;			/* bytes put together for this page */
	/* BYTE_STREAM_SPLIT */
	uint64_t	stride;			/* values a stream has */
	uint64_t	at;				/* next value's index */
};

/*
 * Starts on the values of a page (data ends where they end).  value_count is an
 * upper bound, the page's number of values with or without the NULLs.
 * type_length: bytes of FIXED_LEN_BYTE_ARRAY.  Throws UNSUPPORTED for encodings
 * that the format does not define for the type, and for dictionary encodings,
 * which have their own decoder above.
 */
extern void value_decoder_init(ValueDecoder *decoder, LakeArena *arena,
							   int32_t encoding, ParquetPhysical physical,
							   int32_t type_length, LakeBytes data,
							   uint64_t value_count);

/*
 * The next count values, dense (no slots for NULLs): uint8_t 0 or 1 for
 * BOOLEAN, int32_t, int64_t, float, double, LakeBytes for BYTE_ARRAY,
 * FIXED_LEN_BYTE_ARRAY and INT96 (12 bytes).  LakeBytes point into the page, or
 * into memory of the arena that stays valid until the arena is reset; the arena
 * may be reset before the next init, not between.  What DELTA_BYTE_ARRAY puts
 * together for a page may not exceed PARQUET_MAX_PAGE_BYTES (LIMIT).
 */
extern void value_decoder_read(ValueDecoder *decoder, void *out,
							   uint32_t count);
extern void value_decoder_skip(ValueDecoder *decoder, uint64_t count);

/* what the encodings' files offer to value_decoder_init */
extern const ValueDecoderOps plain_bool_ops;
extern const ValueDecoderOps plain_fixed_ops;	/* numbers */
extern const ValueDecoderOps plain_flba_ops;	/* and INT96 */
extern const ValueDecoderOps plain_bytes_ops;
extern const ValueDecoderOps rle_bool_ops;
extern const ValueDecoderOps delta_i32_ops;
extern const ValueDecoderOps delta_i64_ops;
extern const ValueDecoderOps delta_length_ops;
extern const ValueDecoderOps delta_bytes_ops;
extern const ValueDecoderOps split_fixed_ops;
extern const ValueDecoderOps split_flba_ops;

/* the input ended before the values asked for */
extern _Noreturn void encoding_throw_short(ParquetEncoding encoding,
										   uint64_t missing);

#endif							/* LAKE_PARQUET_ENCODING_H */
