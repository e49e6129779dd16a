/*
 * Datums to values of rows in memory: what the files that write share.
 * Private to this folder.
 */
#ifndef LAKE_WRITER_INT_H
#define LAKE_WRITER_INT_H

#include "server/server_int.h"

typedef struct DatumWriter DatumWriter;

/*
 * Appends one value that is not NULL; allocates in the current memory context,
 * which the caller resets.
 */
typedef void (*WriteDatum) (const DatumWriter *writer, Datum datum,
							VectorBuilder *out);

typedef struct ArrayWriter ArrayWriter;
typedef struct CompositeWriter CompositeWriter;
typedef struct JsonWriter JsonWriter;

/* how one column's, or one part's, Datums become values; made once a statement */
struct DatumWriter
{
	WriteDatum	write;
	const char *name;			/* of the column, with the path in it */
	const LakeType *type;
	bool		required;
	int64		limit;			/* 10^precision of short decimals */
	/* arrays, composites, jsonb; NULL for other types */
	ArrayWriter *array;
	CompositeWriter *composite;
	JsonWriter *json;
};

/* ---- row_writer.c ---- */

/* for a pair of types that is writable; allocates in the current context */
extern DatumWriter *datum_writer_create(const LakeType *type, bool required,
										Oid type_oid, int32 typmod,
										const char *name);
extern _Noreturn void writer_throw_null(const char *name);

static inline void
datum_writer_put(const DatumWriter *writer, Datum datum, bool is_null,
				 VectorBuilder *out)
{
	if (likely(!is_null))
		writer->write(writer, datum, out);
	else if (unlikely(writer->required))
		writer_throw_null(writer->name);
	else
		vector_append_null(out);
}

/* ---- write_scalar.c ---- */

extern void datum_writer_init_scalar(DatumWriter *writer, Oid base);

/* "value 12 of column "a" does not fit lake type int": 22003 */
extern _Noreturn void writer_throw_range(const char *name, const LakeType *type,
										 const char *value);

/* a decimal whose scaled value is exact, checked against the precision */
extern void writer_put_numeric(const char *name, const LakeType *type,
							   Numeric numeric, VectorBuilder *out);
extern void writer_put_integer(const char *name, const LakeType *type,
							   int64 value, VectorBuilder *out);
extern void writer_put_float(const char *name, const LakeType *type,
							 double value, VectorBuilder *out);

/* text of the database's encoding */
extern void writer_put_text(const char *data, int len, VectorBuilder *out);

/* checks the length of fixed: 22001 */
extern void writer_put_bytes(const char *name, const LakeType *type,
							 LakeBytes bytes, VectorBuilder *out);

/* ---- write_nested.c ---- */

extern void datum_writer_init_array(DatumWriter *writer, Oid array_oid,
									int32 typmod);
extern void datum_writer_init_composite(DatumWriter *writer, Oid row_oid);

/* ---- write_json.c ---- */

extern void datum_writer_init_json(DatumWriter *writer);

#endif							/* LAKE_WRITER_INT_H */
