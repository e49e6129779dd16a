/*
 * Compiles what is asked of a schema into a flat program.
 *
 * What nobody asked for becomes as few operations as possible: neighbouring
 * integers and fixed bytes are skipped together, and items of the forms that
 * Iceberg's metrics have get loops of their own (AvroItemShape).
 */
#include "avro/avro_int.h"

#include <stdlib.h>

#include "base/bytes.h"

typedef struct Compiler
{
	LakeBuffer	ops;
	/* something jumps here: nothing may be merged into earlier operations */
	size_t		label;
} Compiler;

static void compile(Compiler *compiler, AvroNode *node);

static size_t
here(const Compiler *compiler)
{
	return compiler->ops.len / sizeof(AvroOp);
}

static AvroOp *
op_at(const Compiler *compiler, size_t index)
{
	return (AvroOp *) (void *) compiler->ops.data + index;
}

static size_t
emit(Compiler *compiler, AvroOpCode code, uint64_t number, int slot)
{
	AvroOp		op = {.code = code, .number = number, .slot = slot};

	buffer_append(&compiler->ops, &op, sizeof op);
	return here(compiler) - 1;
}

/* lets an operation jump to the next one that will be emitted */
static void
land_here(Compiler *compiler, size_t from)
{
	op_at(compiler, from)->jump = (uint32_t) (here(compiler) - from);
	compiler->label = here(compiler);
}

/* skips that add up */
static void
emit_skip(Compiler *compiler, AvroOpCode code, uint64_t number)
{
	size_t		next = here(compiler);

	if (number == 0)
		return;
	if (next > compiler->label && op_at(compiler, next - 1)->code == code)
		op_at(compiler, next - 1)->number += number;
	else
		emit(compiler, code, number, -1);
}

static AvroItemShape
item_shape(const AvroOp *ops, size_t count)
{
	if (count == 1)
		return AVRO_ITEM_EMPTY;
	if (count == 2 && ops[0].code == AVRO_OP_SKIP_VARINTS)
		return AVRO_ITEM_VARINTS;
	if (count == 2 && ops[0].code == AVRO_OP_SKIP_FIXED)
		return AVRO_ITEM_FIXED;
	if (count == 2 && ops[0].code == AVRO_OP_SKIP_BYTES)
		return AVRO_ITEM_BYTES;
	if (count == 3 && ops[0].code == AVRO_OP_SKIP_VARINTS &&
		ops[0].number == 1 && ops[1].code == AVRO_OP_SKIP_BYTES)
		return AVRO_ITEM_INT_BYTES;
	if (count == 3 && ops[0].code == AVRO_OP_READ_INT && ops[0].slot == 0 &&
		ops[1].slot == 1)
	{
		if (ops[1].code == AVRO_OP_READ_BYTES)
			return AVRO_ITEM_INT_BYTES;
		if (ops[1].code == AVRO_OP_READ_LONG)
			return AVRO_ITEM_INT_LONG;
	}
	return AVRO_ITEM_ANY;
}

static int
compare_keys(const void *a, const void *b)
{
	int32_t		x = ((const AvroMapKey *) a)->key;
	int32_t		y = ((const AvroMapKey *) b)->key;

	return (x > y) - (x < y);
}

static void
compile_collection(Compiler *compiler, AvroNode *node)
{
	AvroOpCode	code = AVRO_OP_SKIP_ITEMS;
	size_t		start;

	if (node->key_count > 0)
	{
		code = AVRO_OP_FIND;
		qsort(node->keys, (size_t) node->key_count, sizeof(AvroMapKey),
			  compare_keys);
	}
	else if (node->width > 0)
		code = AVRO_OP_LIST;
	start = emit(compiler, code, (uint64_t) node->width, node->slot);
	op_at(compiler, start)->node = node;
	compiler->label = here(compiler);
	if (node->type == AVRO_TYPE_MAP)
		emit(compiler, AVRO_OP_SKIP_BYTES, 0, -1);
	compile(compiler, node->children[0]);
	emit(compiler, AVRO_OP_END, 0, -1);
	op_at(compiler, start)->shape =
		item_shape(op_at(compiler, start + 1), here(compiler) - start - 1);
	land_here(compiler, start);
}

/* a union of null and one other type */
static void
compile_optional(Compiler *compiler, AvroNode *node)
{
	int			null_index = node->children[0]->type != AVRO_TYPE_NULL;
	size_t		start = emit(compiler, AVRO_OP_OPTIONAL, (uint64_t) null_index,
							 -1);

	compiler->label = here(compiler);
	compile(compiler, node->children[1 - null_index]);
	land_here(compiler, start);
}

static void
compile_union(Compiler *compiler, AvroNode *node)
{
	size_t		branches = emit(compiler, AVRO_OP_UNION,
								(uint64_t) node->child_count, -1) + 1;

	for (int i = 0; i < node->child_count; i++)
		emit(compiler, AVRO_OP_JUMP, 0, -1);
	for (int i = 0; i < node->child_count; i++)
	{
		land_here(compiler, branches + (size_t) i);
		compile(compiler, node->children[i]);
		/* the table's entry leads in, this one out */
		emit(compiler, AVRO_OP_JUMP, 0, -1);
	}
	for (size_t i = branches + (size_t) node->child_count;
		 i < here(compiler); i++)
	{
		AvroOp	   *op = op_at(compiler, i);

		if (op->code == AVRO_OP_JUMP && op->jump == 0)
			land_here(compiler, i);
	}
}

static bool
is_optional(const AvroNode *node)
{
	return node->child_count == 2 &&
		(node->children[0]->type == AVRO_TYPE_NULL) !=
		(node->children[1]->type == AVRO_TYPE_NULL);
}

typedef struct ScalarOps
{
	AvroOpCode	read;
	AvroOpCode	skip;
	uint64_t	skip_number;
} ScalarOps;

static const ScalarOps scalar_ops[] = {
	[AVRO_TYPE_BOOLEAN] = {AVRO_OP_READ_BOOL, AVRO_OP_SKIP_FIXED, 1},
	[AVRO_TYPE_INT] = {AVRO_OP_READ_INT, AVRO_OP_SKIP_VARINTS, 1},
	[AVRO_TYPE_LONG] = {AVRO_OP_READ_LONG, AVRO_OP_SKIP_VARINTS, 1},
	[AVRO_TYPE_FLOAT] = {AVRO_OP_READ_FLOAT, AVRO_OP_SKIP_FIXED, 4},
	[AVRO_TYPE_DOUBLE] = {AVRO_OP_READ_DOUBLE, AVRO_OP_SKIP_FIXED, 8},
	[AVRO_TYPE_ENUM] = {AVRO_OP_READ_INT, AVRO_OP_SKIP_VARINTS, 1},
};

static void
compile(Compiler *compiler, AvroNode *node)
{
	switch (node->type)
	{
		case AVRO_TYPE_NULL:
			break;
		case AVRO_TYPE_BOOLEAN:
		case AVRO_TYPE_INT:
		case AVRO_TYPE_LONG:
		case AVRO_TYPE_FLOAT:
		case AVRO_TYPE_DOUBLE:
		case AVRO_TYPE_ENUM:
			if (node->slot >= 0)
				emit(compiler, scalar_ops[node->type].read, 0, node->slot);
			else
				emit_skip(compiler, scalar_ops[node->type].skip,
						  scalar_ops[node->type].skip_number);
			break;
		case AVRO_TYPE_BYTES:
		case AVRO_TYPE_STRING:
			emit(compiler, node->slot >= 0 ? AVRO_OP_READ_BYTES :
				 AVRO_OP_SKIP_BYTES, 0, node->slot);
			break;
		case AVRO_TYPE_FIXED:
			if (node->slot >= 0)
				emit(compiler, AVRO_OP_READ_FIXED, node->fixed_size,
					 node->slot);
			else
				emit_skip(compiler, AVRO_OP_SKIP_FIXED, node->fixed_size);
			break;
		case AVRO_TYPE_RECORD:
			for (int i = 0; i < node->child_count; i++)
				compile(compiler, node->children[i]);
			break;
		case AVRO_TYPE_ARRAY:
		case AVRO_TYPE_MAP:
			compile_collection(compiler, node);
			break;
		case AVRO_TYPE_UNION:
			if (is_optional(node))
				compile_optional(compiler, node);
			else
				compile_union(compiler, node);
			break;
	}
}

const AvroOp *
avro_program_compile(LakeArena *arena, AvroNode *top)
{
	Compiler	compiler = {.label = 0};

	buffer_init(&compiler.ops, arena);
	compile(&compiler, top);
	emit(&compiler, AVRO_OP_END, 0, -1);
	return (const AvroOp *) (void *) compiler.ops.data;
}
