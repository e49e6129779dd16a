/*
 * Put sets: files that a transaction has written and nobody may see yet.
 *
 * A set is a list of outputs by location.  They leave it by being published or
 * discarded; what is still there when the set's arena ends is taken away.
 */
#include "io/io_int.h"

#include <string.h>

#include "base/bytes.h"

/* temporary files that the end of an arena removes: it must not take long */
#define MAX_REMOVED_AT_END 64

typedef struct Put
{
	LakeOutput *output;			/* NULL: dropped */
	LakeStore  *store;
	LakeArena  *arena;			/* the output's */
	const char *location;
	const char *path;
	bool		is_published;
} Put;

struct LakePutSet
{
	LakeArena  *arena;
	LakeBuffer	puts;			/* of Put */
	LakeArena  *failed;			/* of an output that was not created */
	int			removals_left;	/* when the arena ends */
};

/* arenas end with what is below them first: each output sees to itself */
typedef struct PutEnd
{
	LakePutSet *set;
	size_t		index;
} PutEnd;

static Put *
put_at(const LakePutSet *set, size_t i)
{
	return (Put *) (void *) set->puts.data + i;
}

static size_t
put_count(const LakePutSet *set)
{
	return set->puts.len / sizeof(Put);
}

static Put *
find_put(const LakePutSet *set, const char *location)
{
	/* who asks usually asks for what is new */
	for (size_t i = put_count(set); i-- > 0;)
	{
		Put		   *put = put_at(set, i);

		if (put->output != NULL && strcmp(put->location, location) == 0)
			return put;
	}
	return NULL;
}

/* an output's arena ends, and it is still in the set */
static void
end_put(void *arg)
{
	const PutEnd *end = arg;
	Put		   *put = put_at(end->set, end->index);

	if (put->output == NULL || put->is_published || end->set->removals_left == 0)
		return;
	end->set->removals_left--;
	put->store->ops->discard(put->output);
}

LakePutSet *
put_set_create(LakeArena *arena)
{
	LakeArena  *own = lake_arena_create(arena, "lake put set");
	LakePutSet *set = lake_alloc(own, sizeof *set);

	set->arena = own;
	set->removals_left = MAX_REMOVED_AT_END;
	buffer_init(&set->puts, own);
	return set;
}

LakeOutput *
lake_output_create(LakeStore *store, const char *location)
{
	LakePutSet *set = store->puts;
	LakeFrame	frame;
	PutEnd	   *end;
	Put			put = {0};

	if (set == NULL || store->ops->create == NULL)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "file \"%s\" cannot be written: its store is read-only",
				   location);
	if (find_put(set, location) != NULL)
		lake_throw(LAKE_ERROR_INVALID, "file \"%s\" is written twice",
				   location);
	/* a transaction can fail here often, and go on */
	if (set->failed != NULL)
		lake_arena_destroy(set->failed);
	put.store = store;
	put.arena = set->failed = lake_arena_create(set->arena, "lake output");
	put.location = lake_strdup(put.arena, location);
	lake_frame_push(&frame, "writing file", put.location);
	put.path = path_rules_resolve(put.arena, store->rules, put.location);
	/* the place first: what is created must be known to the set */
	buffer_reserve(&set->puts, sizeof put);
	end = lake_alloc(put.arena, sizeof *end);
	end->set = set;
	end->index = put_count(set);
	put.output = store->ops->create(store, put.arena, put.path);
	put.output->store = store;
	put.output->location = put.location;
	lake_defer(put.arena, end_put, end);
	buffer_append(&set->puts, &put, sizeof put);
	set->failed = NULL;
	lake_frame_pop(&frame);
	return put.output;
}

void
lake_output_write(LakeOutput *output, const void *data, size_t size)
{
	LakeFrame	frame;

	if (size == 0)
		return;
	if (output->is_finished)
		lake_throw(LAKE_ERROR_INTERNAL, "file \"%s\" is written after its end",
				   output->location);
	lake_frame_push(&frame, "writing file", output->location);
	output->store->ops->write(output, data, size);
	output->size += size;
	output->store->bytes_written += size;
	lake_frame_pop(&frame);
}

uint64_t
lake_output_size(const LakeOutput *output)
{
	return output->size;
}

void
lake_output_finish(LakeOutput *output)
{
	LakeFrame	frame;

	if (output->is_finished)
		return;
	lake_frame_push(&frame, "writing file", output->location);
	output->store->ops->finish(output);
	output->is_finished = true;
	lake_frame_pop(&frame);
}

void
lake_store_put(LakeStore *store, const char *location, LakeBytes bytes)
{
	LakeOutput *output = lake_output_create(store, location);

	lake_output_write(output, bytes.data, bytes.len);
	lake_output_finish(output);
}

void
put_set_publish(LakeStore *store, LakePutSet *set)
{
	size_t		count = 0;
	LakeArena  *scratch = lake_arena_create(set->arena, "lake publish");
	LakeOutput **outputs = lake_alloc_array(scratch, put_count(set) + 1,
											sizeof *outputs);

	for (size_t i = 0; i < put_count(set); i++)
	{
		Put		   *put = put_at(set, i);

		if (put->output == NULL || put->is_published)
			continue;
		if (!put->output->is_finished)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "file \"%s\" is published before its end",
					   put->location);
		outputs[count++] = put->output;
	}
	if (count > 0)
		store->ops->publish(store, outputs, count);
	for (size_t i = 0; i < put_count(set); i++)
		put_at(set, i)->is_published = put_at(set, i)->output != NULL;
	lake_arena_destroy(scratch);
}

static void
drop(Put *put)
{
	if (put->is_published)
		(void) put->store->ops->remove(put->store, put->path);
	else
		put->store->ops->discard(put->output);
	put->output = NULL;
	lake_arena_destroy(put->arena);
}

void
put_set_discard(LakePutSet *set, const char *location)
{
	Put		   *put = find_put(set, location);

	if (put != NULL)
		drop(put);
}

size_t
put_set_remove_published(LakePutSet *set, size_t limit)
{
	size_t		left = 0;

	for (size_t i = 0; i < put_count(set); i++)
	{
		Put		   *put = put_at(set, i);

		if (put->output == NULL || !put->is_published)
			continue;
		if (limit == 0)
		{
			left++;
			continue;
		}
		limit--;
		if (put->store->ops->remove(put->store, put->path))
			put->output = NULL;
		else
			left++;
	}
	return left;
}

bool
lake_store_remove(LakeStore *store, const char *location)
{
	LakeArena  *scratch = lake_arena_create(NULL, "lake remove");
	bool		done;

	if (store->ops->remove == NULL)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "file \"%s\" cannot be removed: its store is read-only",
				   location);
	done = store->ops->remove(store,
							  path_rules_resolve(scratch, store->rules,
												 location));
	lake_arena_destroy(scratch);
	return done;
}

const char *
put_set_path(const LakePutSet *set, const char *location)
{
	const Put  *put = find_put(set, location);

	if (put == NULL || put->is_published || !put->output->is_finished)
		return NULL;
	return put->output->temporary;
}
