/*
 * A file that a test writes into memory.
 */
#ifndef LAKE_MEMORY_OUTPUT_H
#define LAKE_MEMORY_OUTPUT_H

#include "base/bytes.h"
#include "io/io.h"

typedef struct MemoryOutput
{
	LakeOutput	output;			/* first: the two are cast to each other */
	LakeStore	store;
	LakeBuffer	bytes;
} MemoryOutput;

static inline void
memory_output_write(LakeOutput *output, const void *data, size_t size)
{
	buffer_append(&((MemoryOutput *) output)->bytes, data, size);
}

static inline MemoryOutput *
memory_output_create(LakeArena *arena)
{
	static const LakeStoreOps ops = {
		.name = "memory", .write = memory_output_write
	};
	MemoryOutput *output = lake_alloc(arena, sizeof *output);

	output->store.ops = &ops;
	output->output.store = &output->store;
	output->output.location = "test.parquet";
	buffer_init(&output->bytes, arena);
	return output;
}

/* what was written so far */
static inline LakeFile *
memory_output_open(MemoryOutput *output, LakeArena *arena)
{
	LakeBytes	bytes = {output->bytes.data, output->bytes.len};

	return lake_file_from_memory(arena, output->output.location, bytes);
}

#endif							/* LAKE_MEMORY_OUTPUT_H */
