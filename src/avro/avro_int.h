/*
 * Inside the Avro reader: a writer's schema as a tree of nodes, and the program
 * that it is compiled into.
 *
 *	avro_schema.c	JSON -> nodes
 *	avro_program.c	nodes and what was asked of them -> operations
 *	avro_decode.c	operations, bytes -> slots
 *	avro_reader.c	the container file around all that
 */
#ifndef LAKE_AVRO_INT_H
#define LAKE_AVRO_INT_H

#include "avro/avro.h"

/* levels of types within types; also bounds every recursion here */
#define AVRO_MAX_DEPTH	64
/* nodes of a schema, references to named types counted each time */
#define AVRO_MAX_NODES	100000

typedef enum AvroType
{
	AVRO_TYPE_NULL,
	AVRO_TYPE_BOOLEAN,
	AVRO_TYPE_INT,
	AVRO_TYPE_LONG,
	AVRO_TYPE_FLOAT,
	AVRO_TYPE_DOUBLE,
	AVRO_TYPE_BYTES,
	AVRO_TYPE_STRING,
	AVRO_TYPE_ENUM,
	AVRO_TYPE_FIXED,
	AVRO_TYPE_RECORD,
	AVRO_TYPE_ARRAY,
	AVRO_TYPE_MAP,
	AVRO_TYPE_UNION
} AvroType;

typedef struct AvroMapKey
{
	int32_t		key;
	int			slot;
} AvroMapKey;

/*
 * One occurrence of a type: a named type that is used twice has two nodes,
 * since different things may be asked of them.
 */
typedef struct AvroNode AvroNode;
struct AvroNode
{
	AvroType	type;
	AvroNode   *parent;
	const char *name;			/* as a record's field, else NULL */
	int32_t		field_id;		/* as a record's field, -1 = none */
	uint32_t	fixed_size;		/* bytes */
	/* the fewest bytes of a value; 0 = every value is empty */
	uint64_t	min_size;
	/* fields, branches, or the one type of items or map values */
	int			child_count;
	AvroNode  **children;

	/* what was asked for: all zero and -1 until avro_reader_project */
	bool		wanted;			/* it, or something below it */
	int			slot;			/* -1 = none; below an array: within an item */
	int			width;			/* array: slots an item has in the list */
	int			key_count;		/* array as a map: entries to look for */
	AvroMapKey *keys;			/* ascending once compiled */
};

/* throws CORRUPT, UNSUPPORTED, LIMIT */
extern AvroNode *avro_schema_parse(LakeArena *arena, LakeBytes text);

/* "record", "array", ... */
extern const char *avro_type_name(AvroType type);

typedef enum AvroOpCode
{
	AVRO_OP_END,				/* of the record or of an item */
	AVRO_OP_SKIP_VARINTS,		/* number of them */
	AVRO_OP_SKIP_FIXED,			/* number of bytes */
	AVRO_OP_SKIP_BYTES,			/* behind their length */
	AVRO_OP_READ_BOOL,
	AVRO_OP_READ_INT,			/* fails beyond 32 bits */
	AVRO_OP_READ_LONG,
	AVRO_OP_READ_FLOAT,
	AVRO_OP_READ_DOUBLE,
	AVRO_OP_READ_BYTES,
	AVRO_OP_READ_FIXED,			/* number of bytes */
	AVRO_OP_OPTIONAL,			/* number = the index of null; jumps then */
	AVRO_OP_UNION,				/* number of branches, a jump each follows */
	AVRO_OP_JUMP,
	/* these have an item's operations behind them and jump over those */
	AVRO_OP_SKIP_ITEMS,			/* array or map */
	AVRO_OP_LIST,				/* number of slots an item has */
	AVRO_OP_FIND				/* map entries, by keys */
} AvroOpCode;

/* item forms worth a loop of their own */
typedef enum AvroItemShape
{
	AVRO_ITEM_ANY,
	AVRO_ITEM_EMPTY,			/* no bytes */
	AVRO_ITEM_VARINTS,			/* only those */
	AVRO_ITEM_FIXED,			/* a fixed number of bytes */
	AVRO_ITEM_BYTES,
	AVRO_ITEM_INT_BYTES,		/* as in Iceberg's maps of bounds */
	AVRO_ITEM_INT_LONG			/* as in its maps of counts */
} AvroItemShape;

typedef struct AvroOp
{
	AvroOpCode	code;
	AvroItemShape shape;
	int			slot;
	uint32_t	jump;			/* operations forward */
	uint64_t	number;
	const AvroNode *node;		/* with items: the array or map */
} AvroOp;

/* operations of the top record */
extern const AvroOp *avro_program_compile(LakeArena *arena, AvroNode *top);

/* what runs a program */
typedef struct AvroDecoder
{
	LakeArena  *arena;			/* owns items */
	const char *what;			/* for messages */
	const uint8_t *end;			/* of the block */
	AvroSlot   *slots;			/* the record's */
	size_t	   *list_starts;	/* a slot's first item, in items */
	AvroSlot   *items;			/* of all the record's lists */
	size_t		item_count;
	size_t		item_capacity;
} AvroDecoder;

/* decodes one record at pos into slots, which are zeroed; returns its end */
extern const uint8_t *avro_decode_record(AvroDecoder *decoder,
										 const AvroOp *ops,
										 const uint8_t *pos);

#endif							/* LAKE_AVRO_INT_H */
