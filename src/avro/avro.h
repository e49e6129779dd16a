/*
 * Avro object container files, as Iceberg uses them: read by field id through
 * a decoder compiled for the writer's schema, which skips what nobody asked
 * for.
 *
 * Use: open, then project each wanted field, then next until NULL.
 *
 * Limits (LAKE_ERROR_LIMIT): 64 MiB of header, 256 MiB a block, compressed or
 * not, 4 million values in the lists of one record, 64 levels of types within
 * types, 100,000 types.  The top type must be a record, and no type may contain
 * itself (UNSUPPORTED).
 */
#ifndef LAKE_AVRO_H
#define LAKE_AVRO_H

#include "base/base.h"
#include "codec/codec.h"
#include "io/io.h"

typedef enum AvroKind
{
	AVRO_NULL,					/* null, or the field is not in the file */
	AVRO_BOOL,					/* i: 0 or 1 */
	AVRO_INT,					/* i: int and long alike; enum: its index */
	AVRO_FLOAT,					/* d */
	AVRO_DOUBLE,				/* d */
	AVRO_BYTES,					/* bytes: bytes, string or fixed */
	AVRO_LIST					/* items, count */
} AvroKind;

/*
 * A decoded value.  bytes and items are borrowed from the reader until its next
 * call.
 */
typedef struct AvroSlot AvroSlot;
struct AvroSlot
{
	AvroKind	kind;
	union
	{
		int64_t		i;
		double		d;
		LakeBytes	bytes;
		struct
		{
			AvroSlot   *items;
			size_t		count;
		}			list;
	};
};

typedef struct AvroReader AvroReader;

/*
 * Reads header and schema.  The file is read block by block; a block's
 * decompressed size is limited (LIMIT).  what: "manifest", for messages.
 */
extern AvroReader *avro_reader_open(LakeArena *arena, LakeFile *file,
									const char *what);

/* a value of the header's map; false when absent */
extern bool avro_reader_header(const AvroReader *reader, const char *key,
							   LakeBytes *value);

/*
 * Asks for a field and returns the number of its slot.  path leads by field ids
 * from the top record: {2, 134} is data_file.content.  A field that the
 * writer's schema lacks always decodes as AVRO_NULL.  Only before the first
 * next.  Throws UNSUPPORTED when the field is there but is a record or map (for
 * which the functions below exist).
 *
 * An array of primitives gives AVRO_LIST of those.  Asking twice gives the same
 * slot twice.
 */
extern int	avro_reader_project(AvroReader *reader, const int32_t *path,
								int depth);

/*
 * The same for one entry of a map with int keys (an array of k/v records, with
 * or without logicalType "map"): the value under key, the last one if it is
 * repeated; AVRO_NULL when there is none.
 */
extern int	avro_reader_project_map_entry(AvroReader *reader,
										  const int32_t *path, int depth,
										  int32_t key);

/*
 * The same for all entries of such a map: AVRO_LIST of key, value, key, value
 * and so on, repeated keys too.  Once for each map.
 */
extern int	avro_reader_project_map(AvroReader *reader, const int32_t *path,
									int depth);

/*
 * For an array of records: AVRO_LIST whose items are, for each element, count
 * consecutive slots, one an id in element_ids (so list.count is elements *
 * count).  Once for each array.
 */
extern int	avro_reader_project_records(AvroReader *reader,
										const int32_t *path, int depth,
										const int32_t *element_ids, int count);

/*
 * The record at path (depth 0: the top record): how many fields the writer gave
 * it (0 when it is absent), their ids (-1 = none), and a slot for the field at
 * a position, for v1 partition tuples without usable ids.
 */
extern int	avro_reader_record_fields(AvroReader *reader, const int32_t *path,
									  int depth);
extern int32_t avro_reader_record_field_id(AvroReader *reader,
										   const int32_t *path, int depth,
										   int position);
extern int	avro_reader_project_position(AvroReader *reader,
										 const int32_t *path, int depth,
										 int position);

/* the slots of the next record in order of their numbers, NULL at the end */
extern const AvroSlot *avro_reader_next(AvroReader *reader);

/* ---- avro_writer.c ---- */

typedef struct AvroWriter AvroWriter;

/*
 * Begins a container: header entries (key, value, key, value, ...; "avro.schema"
 * and "avro.codec" are added) and the schema's JSON, which the caller makes and
 * whose records it must follow in what it appends.  The bytes go to output.
 * codec: CODEC_NONE, CODEC_DEFLATE, CODEC_SNAPPY_AVRO, CODEC_ZSTD.
 */
extern AvroWriter *avro_writer_create(LakeArena *arena, LakeOutput *output,
									  const char *schema,
									  const char *const *header,
									  int header_count, LakeCodec codec,
									  int32_t level);

/* parts of the current record, in the schema's order */
extern void avro_write_long(AvroWriter *writer, int64_t value); /* int too */
extern void avro_write_bool(AvroWriter *writer, bool value);
extern void avro_write_float(AvroWriter *writer, float value);
extern void avro_write_double(AvroWriter *writer, double value);

/* bytes and strings: with their length; fixed: without */
extern void avro_write_bytes(AvroWriter *writer, LakeBytes value);
extern void avro_write_fixed(AvroWriter *writer, LakeBytes value);

/* the branch of a union: 0 or 1 of ["null", T] */
extern void avro_write_branch(AvroWriter *writer, int branch);

/* an array of count items follows; after them, its end */
extern void avro_write_array_begin(AvroWriter *writer, size_t count);
extern void avro_write_array_end(AvroWriter *writer);
extern void avro_writer_end_record(AvroWriter *writer);

/* writes the last block; the output is the caller's to finish */
extern void avro_writer_finish(AvroWriter *writer);

#endif							/* LAKE_AVRO_H */
