/*
 * Any bytes as an Avro file.  Asking for fields does not change how many
 * records there are: where reading them succeeds, skipping them finds as many.
 */
#include <stdlib.h>

#include "seam_std.h"

#include "avro/avro.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* makes a slot's bytes matter, so that a sanitizer sees where they are */
static volatile uint8_t sink;

static void
touch(const AvroSlot *slot)
{
	switch (slot->kind)
	{
		case AVRO_BYTES:
			for (size_t i = 0; i < slot->bytes.len; i += 64)
				sink ^= slot->bytes.data[i];
			if (slot->bytes.len > 0)
				sink ^= slot->bytes.data[slot->bytes.len - 1];
			break;
		case AVRO_LIST:
			for (size_t i = 0; i < slot->list.count; i++)
				touch(&slot->list.items[i]);
			break;
		case AVRO_NULL:
		case AVRO_BOOL:
		case AVRO_INT:
		case AVRO_FLOAT:
		case AVRO_DOUBLE:
			break;
	}
}

typedef enum Asking
{
	ASK_FIELD,
	ASK_POSITION,
	ASK_ENTRY,
	ASK_RECORDS
} Asking;

/* what cannot be asked for throws, and then is not */
static void
ask(AvroReader *reader, Asking asking, const int32_t *path, int depth,
	int number)
{
	static const int32_t ids[] = {509, 518, 510, 511};
	LakeTry		try;

	if (!lake_try_begin(&try))
		return;
	switch (asking)
	{
		case ASK_FIELD:
			avro_reader_project(reader, path, depth);
			break;
		case ASK_POSITION:
			avro_reader_project_position(reader, path, depth, number);
			break;
		case ASK_ENTRY:
			avro_reader_project_map_entry(reader, path, depth, number);
			break;
		case ASK_RECORDS:
			avro_reader_project_records(reader, path, depth, ids, 4);
			break;
	}
	lake_try_end(&try);
}

/* fields of manifests and manifest lists; then whatever the record has */
static void
ask_for_fields(AvroReader *reader)
{
	static const int32_t paths[][3] = {
		{0}, {1}, {500}, {2, 100}, {2, 103}, {2, 132}, {2, 102, 1000},
		{2, 125}, {2, 128}, {2, 108}, {507}
	};
	static const int depths[] = {1, 1, 1, 2, 2, 2, 3, 2, 2, 2, 1};

	for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++)
	{
		ask(reader, ASK_FIELD, paths[i], depths[i], 0);
		ask(reader, ASK_ENTRY, paths[i], depths[i], 1);
		ask(reader, ASK_ENTRY, paths[i], depths[i], 3);
		ask(reader, ASK_RECORDS, paths[i], depths[i], 0);
	}
	for (int i = 0; i < avro_reader_record_fields(reader, NULL, 0) && i < 50;
		 i++)
		ask(reader, ASK_POSITION, NULL, 0, i);
}

/* the number of records, -1 if the file is refused */
static long
count_records(const uint8_t *data, size_t size, bool asking)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	LakeBytes	bytes = {.data = data, .len = size};
	volatile long count = 0;
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		LakeFile   *file = lake_file_from_memory(arena, "input", bytes);
		AvroReader *reader = avro_reader_open(arena, file, "manifest");
		const AvroSlot *slots;
		int			slot_count;

		if (asking)
			ask_for_fields(reader);
		/* an absent field gets the next slot, which tells their number */
		slot_count = avro_reader_project_position(reader, NULL, 0, -1);
		while ((slots = avro_reader_next(reader)) != NULL)
		{
			for (int i = 0; i < slot_count; i++)
				touch(&slots[i]);
			/* records without bytes would only take time */
			if (++count > 100000)
				break;
		}
		lake_try_end(&try);
	}
	else
		count = -1;
	lake_arena_destroy(arena);
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	long		asked = count_records(data, size, true);
	long		skipped = count_records(data, size, false);

	if (asked >= 0 && asked != skipped)
		abort();
	return 0;
}
