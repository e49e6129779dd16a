/*
 * The neutral type system: Iceberg's, which Delta's and Hudi's map into.
 *
 * Iceberg spec, "Schemas and Data Types".
 */
#ifndef LAKE_TYPE_H
#define LAKE_TYPE_H

#include "base/base.h"
#include "base/bytes.h"
#include "base/json.h"

typedef enum LakeTypeKind
{
	LAKE_BOOLEAN,
	LAKE_INT,
	LAKE_LONG,
	LAKE_FLOAT,
	LAKE_DOUBLE,
	LAKE_DECIMAL,				/* precision, scale */
	LAKE_DATE,					/* days since 1970-01-01 */
	LAKE_TIME,					/* microseconds since midnight */
	LAKE_TIMESTAMP,				/* microseconds since 1970, no zone */
	LAKE_TIMESTAMPTZ,			/* microseconds since 1970 UTC */
	LAKE_TIMESTAMP_NS,
	LAKE_TIMESTAMPTZ_NS,
	LAKE_STRING,
	LAKE_UUID,
	LAKE_FIXED,					/* length */
	LAKE_BINARY,
	LAKE_UNKNOWN,				/* always NULL */
	LAKE_VARIANT,
	LAKE_GEOMETRY,
	LAKE_GEOGRAPHY,
	LAKE_STRUCT,				/* fields */
	LAKE_LIST,					/* fields[0] the element */
	LAKE_MAP					/* fields[0] key, fields[1] value */
} LakeTypeKind;

typedef struct LakeField LakeField;

typedef struct LakeType
{
	LakeTypeKind kind;
	int			precision;		/* LAKE_DECIMAL */
	int			scale;
	int			length;			/* LAKE_FIXED, bytes */
	int			field_count;	/* nested kinds */
	LakeField  *fields;
} LakeType;

struct LakeField
{
	int32_t		id;
	const char *name;			/* "element", "key", "value" in lists, maps */
	bool		required;
	const LakeType *type;
	const char *doc;			/* NULL if none */
	/* NULL if none or null; of the JSON that the schema was parsed from */
	LakeJson   *initial_default;
	LakeJson   *write_default;
};

typedef struct LakeSchema
{
	int32_t		id;
	int			field_count;
	LakeField  *fields;			/* top level */
	int			identifier_count;
	int32_t    *identifier_ids;
} LakeSchema;

/* limits: LAKE_ERROR_LIMIT */
#define LAKE_MAX_TYPE_DEPTH		200
#define LAKE_MAX_SCHEMA_FIELDS	100000

/* reserved field ids (Iceberg spec, "Reserved Field IDs") */
#define LAKE_FIELD_FILE			2147483646	/* _file string */
#define LAKE_FIELD_POS			2147483645	/* _pos long */
#define LAKE_FIELD_SPEC_ID		2147483643	/* _spec_id int */
#define LAKE_FIELD_DELETE_PATH	2147483546	/* file_path of delete files */
#define LAKE_FIELD_DELETE_POS	2147483545	/* pos of delete files */
#define LAKE_FIELD_ROW_ID		2147483540	/* _row_id long */
#define LAKE_FIELD_SEQUENCE		2147483539	/* _last_updated_sequence_number */
#define LAKE_MAX_USER_FIELD_ID	2147483447

/* a type in Iceberg's JSON form; throws CORRUPT, UNSUPPORTED for unknown names */
extern LakeType *lake_type_parse(LakeArena *arena, LakeJson *json);

/* a struct with schema-id and identifier-field-ids; only defaults borrow json */
extern LakeSchema *lake_schema_parse(LakeArena *arena, LakeJson *json);

/* append the JSON form; ids, docs and defaults included */
extern void lake_type_to_json(LakeBuffer *out, const LakeType *type);
extern void lake_schema_to_json(LakeBuffer *out,
								const LakeSchema *schema);

/* "decimal(9,2)", "list<long>", "struct<...>": for messages */
extern const char *lake_type_text(LakeArena *arena, const LakeType *type);
extern bool lake_type_is_nested(const LakeType *type);

/* any depth; NULL if absent */
extern const LakeField *lake_schema_find_id(const LakeSchema *schema,
											int32_t id);

/* top level, case-sensitive; NULL if absent */
extern const LakeField *lake_schema_find_name(const LakeSchema *schema,
											  const char *name);

/* "a.b.element" of a field id; NULL if absent */
extern const char *lake_schema_path(LakeArena *arena, const LakeSchema *schema,
									int32_t id);

#endif							/* LAKE_TYPE_H */
