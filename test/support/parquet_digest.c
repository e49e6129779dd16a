/*
 * parquet_digest FILE...: one JSON line a file that says what the core reads
 * from it: rows, and for each top-level column its NULLs and the SHA-256 of its
 * values in canonical text, one a line.
 *
 * {"file":...,"rows":...,"columns":[{"name":...,"nulls":...,"digest":...}]}
 * or {"file":...,"error":...}.  The text: NULL \N; integers, dates (days), times
 * and timestamps (nanoseconds) in decimal; decimals with all digits of their
 * scale; floating-point numbers as the hex of their bits; text with \\, \n, \r
 * escaped; bytes as x and hex; [lists], {name:structs}, <key=maps>, in which
 * NULL is null and text is quoted.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/decimal.h"
#include "base/text.h"
#include "parquet/parquet.h"
#include "seam_std.h"

#define BATCH_ROWS		4096
#define FLUSH_BYTES		65536
#define UNIX_EPOCH_JDN	2440588 /* INT96 counts Julian days */
#define NANOS_A_DAY		((LakeInt128) 86400 * 1000000000)

static void write_value(LakeBuffer *out, const ParquetField *field,
						const LakeVector *vector, uint32_t row, bool nested);

/* ---- canonical text ---- */

static void
write_int(LakeBuffer *out, LakeInt128 value)
{
	char		digits[48];

	buffer_append(out, digits, decimal_format(value, 0, digits));
}

static void
write_hex(LakeBuffer *out, LakeBytes bytes)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes.len; i++)
	{
		buffer_append_byte(out, (uint8_t) hex[bytes.data[i] >> 4]);
		buffer_append_byte(out, (uint8_t) hex[bytes.data[i] & 15]);
	}
}

static void
write_text(LakeBuffer *out, LakeBytes text, bool nested)
{
	if (nested)
		buffer_append_byte(out, '"');
	for (size_t i = 0; i < text.len; i++)
	{
		uint8_t		byte = text.data[i];

		if (byte == '\\' || (nested && byte == '"'))
			buffer_append_byte(out, '\\');
		if (byte == '\n' || byte == '\r')
		{
			buffer_append_byte(out, '\\');
			byte = byte == '\n' ? 'n' : 'r';
		}
		buffer_append_byte(out, byte);
	}
	if (nested)
		buffer_append_byte(out, '"');
}

static void
write_float(LakeBuffer *out, float value)
{
	uint32_t	bits;

	memcpy(&bits, &value, sizeof bits);
	buffer_printf(out, "%08" PRIx32, isnan(value) ? 0x7fc00000 : bits);
}

static void
write_double(LakeBuffer *out, double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof bits);
	buffer_printf(out, "%016" PRIx64,
				  isnan(value) ? UINT64_C(0x7ff8000000000000) : bits);
}

static void
write_int96(LakeBuffer *out, LakeBytes bytes)
{
	int64_t		nanos = (int64_t) bits_load_u64le(bytes.data);
	uint32_t	day = bits_load_u32le(bytes.data + 8);

	write_int(out, ((LakeInt128) (int32_t) day - UNIX_EPOCH_JDN) *
			  NANOS_A_DAY + nanos);
}

static void
write_bytes(LakeBuffer *out, const ParquetField *field, LakeBytes bytes,
			bool nested)
{
	char		uuid[37];

	switch (field->logical)
	{
		case PARQUET_LOGICAL_STRING:
		case PARQUET_LOGICAL_ENUM:
		case PARQUET_LOGICAL_JSON:
			write_text(out, bytes, nested);
			break;
		case PARQUET_LOGICAL_UUID:
			text_format_uuid(bytes.data, uuid);
			buffer_append_text(out, uuid);
			break;
		case PARQUET_LOGICAL_INTERVAL:
			buffer_printf(out, "P%" PRIu32 "M%" PRIu32 "D%" PRIu32,
						  bits_load_u32le(bytes.data),
						  bits_load_u32le(bytes.data + 4),
						  bits_load_u32le(bytes.data + 8));
			break;
		default:
			if (field->physical == PARQUET_INT96)
			{
				write_int96(out, bytes);
				break;
			}
			buffer_append_byte(out, 'x');
			write_hex(out, bytes);
	}
}

static void
write_number(LakeBuffer *out, const ParquetField *field, LakeInt128 value)
{
	static const int32_t unit_nanos[] = {1000000, 1000, 1};
	char		digits[48];

	if (field->logical == PARQUET_LOGICAL_DECIMAL)
	{
		buffer_append(out, digits,
					  decimal_format(value, field->scale, digits));
		return;
	}
	if (field->logical == PARQUET_LOGICAL_TIME ||
		field->logical == PARQUET_LOGICAL_TIMESTAMP)
		value *= unit_nanos[field->unit];
	if (field->logical == PARQUET_LOGICAL_INTEGER && !field->is_signed)
		value = field->layout == VECTOR_I32 ? (LakeInt128) (uint32_t) value :
			(LakeInt128) (uint64_t) value;
	write_int(out, value);
}

static void
write_scalar(LakeBuffer *out, const ParquetField *field, const void *value,
			 bool nested)
{
	switch (field->layout)
	{
		case VECTOR_BOOL:
			buffer_append_text(out, *(const uint8_t *) value ?
							   "true" : "false");
			break;
		case VECTOR_I32:
			write_number(out, field, *(const int32_t *) value);
			break;
		case VECTOR_I64:
			write_number(out, field, *(const int64_t *) value);
			break;
		case VECTOR_I128:
			write_number(out, field, *(const LakeInt128 *) value);
			break;
		case VECTOR_F32:
			write_float(out, *(const float *) value);
			break;
		case VECTOR_F64:
			write_double(out, *(const double *) value);
			break;
		case VECTOR_BYTES:
			write_bytes(out, field, *(const LakeBytes *) value, nested);
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			break;
	}
}

static void
write_list(LakeBuffer *out, const ParquetField *field,
		   const LakeVector *vector, uint32_t row)
{
	buffer_append_byte(out, '[');
	for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++)
	{
		if (i > vector->offsets[row])
			buffer_append_byte(out, ',');
		write_value(out, field->children[0], vector->children[0], i, true);
	}
	buffer_append_byte(out, ']');
}

static void
write_map(LakeBuffer *out, const ParquetField *field,
		  const LakeVector *vector, uint32_t row)
{
	buffer_append_byte(out, '<');
	for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++)
	{
		if (i > vector->offsets[row])
			buffer_append_byte(out, ',');
		write_value(out, field->children[0], vector->children[0], i, true);
		buffer_append_byte(out, '=');
		if (field->child_count == 1)
			buffer_append_text(out, "null");
		else
			write_value(out, field->children[1], vector->children[1], i,
						true);
	}
	buffer_append_byte(out, '>');
}

static void
write_struct(LakeBuffer *out, const ParquetField *field,
			 const LakeVector *vector, uint32_t row)
{
	buffer_append_byte(out, '{');
	for (int i = 0; i < field->child_count; i++)
	{
		if (i > 0)
			buffer_append_byte(out, ',');
		buffer_append_text(out, field->children[i]->name);
		buffer_append_byte(out, ':');
		write_value(out, field->children[i], vector->children[i], row, true);
	}
	buffer_append_byte(out, '}');
}

/* as deep as the schema, which the reader limits */
static void
write_value(LakeBuffer *out, const ParquetField *field,
			const LakeVector *vector, uint32_t row, bool nested)
{
	if (vector_is_null(vector, row))
		buffer_append_text(out, nested ? "null" : "\\N");
	else if (field->shape == PARQUET_LIST)
		write_list(out, field, vector, row);
	else if (field->shape == PARQUET_MAP)
		write_map(out, field, vector, row);
	else if (field->shape == PARQUET_STRUCT)
		write_struct(out, field, vector, row);
	else
		write_scalar(out, field, vector_value(vector, row), nested);
}

/* ---- files ---- */

static void
write_json_string(LakeBuffer *out, const char *text)
{
	buffer_append_byte(out, '"');
	for (; *text != '\0'; text++)
	{
		uint8_t		byte = (uint8_t) *text;

		if (byte < 0x20)
		{
			buffer_printf(out, "\\u%04x", byte);
			continue;
		}
		if (byte == '"' || byte == '\\')
			buffer_append_byte(out, '\\');
		buffer_append_byte(out, byte);
	}
	buffer_append_byte(out, '"');
}

static void
close_stream(void *stream)
{
	fclose(stream);
}

static LakeFile *
read_file(LakeArena *arena, const char *path)
{
	FILE	   *stream = fopen(path, "rb");
	LakeBuffer	buffer;
	LakeBytes	bytes;
	size_t		got;

	if (stream == NULL)
		lake_throw(LAKE_ERROR_MISSING, "cannot open \"%s\": %s", path,
				   strerror(errno));
	lake_defer(arena, close_stream, stream);
	buffer_init(&buffer, arena);
	do
	{
		buffer_reserve(&buffer, FLUSH_BYTES);
		got = fread(buffer.data + buffer.len, 1, FLUSH_BYTES, stream);
		buffer.len += got;
	} while (got > 0);
	if (ferror(stream))
		lake_throw(LAKE_ERROR_IO, "cannot read \"%s\": %s", path,
				   strerror(errno));
	bytes.data = buffer.data;
	bytes.len = buffer.len;
	return lake_file_from_memory(arena, path, bytes);
}

static void
free_digest(void *digest)
{
	EVP_MD_CTX_free(digest);
}

static void
flush_text(EVP_MD_CTX *digest, LakeBuffer *text)
{
	EVP_DigestUpdate(digest, text->data, text->len);
	text->len = 0;
}

static void
write_column(LakeArena *arena, LakeBuffer *out, const ParquetFile *file,
			 const ParquetField *field)
{
	ParquetReader *reader = parquet_reader_create(arena, file, &field, 1);
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	uint8_t		hash[EVP_MAX_MD_SIZE];
	unsigned	hash_len;
	LakeBytes	bytes;
	uint64_t	nulls = 0;
	LakeBuffer	text;

	lake_defer(arena, free_digest, digest);
	EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
	buffer_init(&text, arena);
	for (int group = 0; group < parquet_file_row_groups(file); group++)
	{
		int64_t		left = parquet_row_group_rows(file, group);

		parquet_reader_begin(reader, group);
		while (left > 0)
		{
			uint32_t	rows = left < BATCH_ROWS ? (uint32_t) left :
				BATCH_ROWS;
			const LakeVector *vector = parquet_reader_read(reader, 0, rows);

			for (uint32_t row = 0; row < rows; row++)
			{
				nulls += vector_is_null(vector, row);
				write_value(&text, field, vector, row, false);
				buffer_append_byte(&text, '\n');
				if (text.len >= FLUSH_BYTES)
					flush_text(digest, &text);
			}
			left -= rows;
		}
	}
	flush_text(digest, &text);
	EVP_DigestFinal_ex(digest, hash, &hash_len);
	buffer_append_text(out, "{\"name\":");
	write_json_string(out, field->name);
	buffer_printf(out, ",\"nulls\":%" PRIu64 ",\"digest\":\"", nulls);
	bytes.data = hash;
	bytes.len = hash_len;
	write_hex(out, bytes);
	buffer_append_text(out, "\"}");
}

static void
write_file(LakeArena *arena, LakeBuffer *out, const char *path)
{
	ParquetFile *file = parquet_file_open(arena, read_file(arena, path));
	const ParquetField *const *fields;
	int			count = parquet_file_fields(file, &fields);

	buffer_append_text(out, "{\"file\":");
	write_json_string(out, path);
	buffer_printf(out, ",\"rows\":%" PRId64 ",\"columns\":[",
				  parquet_file_rows(file));
	for (int i = 0; i < count; i++)
	{
		LakeArena  *column = lake_arena_create(arena, "column");

		if (i > 0)
			buffer_append_byte(out, ',');
		write_column(column, out, file, fields[i]);
		lake_arena_destroy(column);
	}
	buffer_append_text(out, "]}\n");
}

/* a file's line, whatever the file is */
static void
report(const char *path)
{
	LakeArena  *arena = lake_arena_create(NULL, "file");
	LakeBuffer	out;
	LakeTry		try;

	buffer_init(&out, arena);
	if (lake_try_begin(&try))
	{
		write_file(arena, &out, path);
		lake_try_end(&try);
	}
	else
	{
		buffer_init(&out, arena);
		buffer_append_text(&out, "{\"file\":");
		write_json_string(&out, path);
		buffer_append_text(&out, ",\"error\":");
		write_json_string(&out, try.message);
		buffer_append_text(&out, "}\n");
	}
	fwrite(out.data, 1, out.len, stdout);
	lake_arena_destroy(arena);
}

int
main(int argc, char **argv)
{
	if (argc < 2)
	{
		fprintf(stderr, "usage: parquet_digest FILE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		report(argv[i]);
	return fflush(stdout) == 0 ? 0 : 1;
}
