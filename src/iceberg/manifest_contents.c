/*
 * The live entries of a manifest as planning wants them: parsed once, kept in
 * the store's cache, shared by all plans that are made from it.
 *
 * What an entry means depends on more than the manifest: numbers that it
 * inherits from the manifest list, and the types of the table's spec and
 * columns.  Lists and tables do not agree for ever (the upgrade to v3 gives row
 * ids to manifests that are there already, columns are promoted), so all of it
 * is compared before contents are taken from the cache.
 *
 * Bounds of a column are read when a predicate asks for the column first, and
 * added to the contents.
 */
#include "iceberg/iceberg_int.h"

#include "base/cache.h"

static const char what[] = "manifest";

/* bounds of one column, in an arena of their own below the contents' */
typedef struct ManifestColumn
{
	struct ManifestColumn *next;
	PackedBounds *bounds;
} ManifestColumn;

typedef struct Loader
{
	LakeArena  *arena;			/* the contents' */
	LakeArena  *scratch;		/* ends with loading */
	ManifestReader *reader;
	const BoundsColumn *columns;
	int			column_count;
	PackedBounds **column_bounds;
	ManifestContents *contents;
	PackedBounds **tuple_bounds;	/* one a field of the spec, or NULL */
	BytesPool	pool;			/* paths, formats, keys */
	LakeBuffer	files;			/* of ManifestDataFile, in arena */
	LakeBuffer	deletes;		/* of ManifestDeleteFile, in arena */
	BytesMap	tuples;			/* key -> ManifestTuple */
	LakeBuffer	key;
	ManifestTuple *last_tuple;	/* of the entry before */
} Loader;

/* ---- may contents be used? ---- */

static bool
is_same_type(const LakeType *a, const LakeType *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->kind == b->kind && a->precision == b->precision &&
		a->scale == b->scale && a->length == b->length;
}

/* do both find the same values in a manifest? */
static bool
is_same_spec(const LakePartitionSpec *a, const LakePartitionSpec *b)
{
	if (a->id != b->id || a->field_count != b->field_count)
		return false;
	for (int i = 0; i < a->field_count; i++)
	{
		const PartitionField *x = &a->fields[i];
		const PartitionField *y = &b->fields[i];

		if (x->field_id != y->field_id || x->source_id != y->source_id ||
			strcmp(x->transform.text, y->transform.text) != 0 ||
			!is_same_type(x->result_type, y->result_type))
			return false;
	}
	return true;
}

static bool
is_usable(const ManifestContents *contents, const ManifestFile *manifest,
		  const LakePartitionSpec *spec)
{
	const ManifestFile *listed = &contents->listed;

	return spec != NULL && listed->spec_id == manifest->spec_id &&
		listed->has_deletes == manifest->has_deletes &&
		listed->sequence_number == manifest->sequence_number &&
		listed->first_row_id == manifest->first_row_id &&
		is_same_spec(&contents->spec, spec);
}

static void
copy_spec(LakeArena *arena, const LakePartitionSpec *spec,
		  LakePartitionSpec *copy)
{
	*copy = *spec;
	copy->fields = lake_alloc_array(arena, (size_t) spec->field_count,
									sizeof *copy->fields);
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *field = &spec->fields[i];
		LakeType   *type = NULL;

		if (field->result_type != NULL)
		{
			type = lake_alloc(arena, sizeof *type);
			*type = *field->result_type;
		}
		copy->fields[i] = *field;
		copy->fields[i].name = NULL;
		copy->fields[i].source_type = NULL;
		copy->fields[i].result_type = type;
		copy->fields[i].transform.text = lake_strdup(arena,
													 field->transform.text);
	}
}

/* ---- loading ---- */

static ManifestTuple *
read_tuple(Loader *loader)
{
	LakeBuffer *buffer = &loader->key;
	LakeBytes	key;
	ManifestTuple *tuple = loader->last_tuple;

	buffer->len = 0;
	manifest_reader_partition_key(loader->reader, buffer);
	key.data = buffer->data;
	key.len = buffer->len;
	/* manifests are mostly written in order of partitions */
	if (tuple != NULL && tuple->key.len == key.len &&
		memcmp(tuple->key.data, key.data, key.len) == 0)
		return tuple;
	tuple = bytes_map_find(&loader->tuples, key);
	if (tuple == NULL)
	{
		tuple = lake_alloc(loader->arena, sizeof *tuple);
		tuple->index = (uint32_t) loader->tuples.count;
		tuple->key = bytes_pool_copy(&loader->pool, key);
		tuple->values = manifest_reader_partition(loader->reader,
												  loader->arena);
		bytes_map_add(&loader->tuples, tuple->key, tuple);
	}
	loader->last_tuple = tuple;
	return tuple;
}

static void
add_tuple_bounds(Loader *loader, const ManifestTuple *tuple)
{
	const LakePartitionSpec *spec = &loader->contents->spec;
	LakeBounds	bounds;

	for (int i = 0; i < spec->field_count; i++)
	{
		if (loader->tuple_bounds[i] == NULL)
			continue;
		bounds_set_value(&bounds, spec->fields[i].result_type,
						 &tuple->values[i]);
		packed_bounds_add(loader->tuple_bounds[i], &bounds);
	}
}

static void
add_column_bounds(Loader *loader)
{
	LakeBounds	bounds;

	for (int i = 0; i < loader->column_count; i++)
	{
		const BoundsColumn *column = &loader->columns[i];

		memset(&bounds, 0, sizeof bounds);
		manifest_reader_bounds(loader->reader, column->field_id, column->type,
							   &bounds);
		packed_bounds_add(loader->column_bounds[i], &bounds);
	}
}

static const char *
copy_text(Loader *loader, LakeBytes bytes)
{
	return (const char *) bytes_pool_copy(&loader->pool, bytes).data;
}

static void
add_data_file(Loader *loader, const ManifestEntry *entry,
			  const ManifestTuple *tuple)
{
	ManifestDataFile file = {
		.path = copy_text(loader, entry->path),
		.record_count = entry->record_count,
		.size = entry->size,
		.sequence_number = entry->sequence_number,
		.first_row_id = entry->first_row_id,
		.tuple = tuple
	};

	if (!avro_field_is_word(entry->format, "parquet"))
		file.format = copy_text(loader, entry->format);
	buffer_append(&loader->files, &file, sizeof file);
	add_tuple_bounds(loader, tuple);
	add_column_bounds(loader);
}

static void
add_delete_file(Loader *loader, const ManifestEntry *entry,
				const ManifestTuple *tuple)
{
	ManifestDeleteFile file = {.entry = *entry, .tuple = tuple};
	LakeBytes  *texts[] = {
		&file.entry.path, &file.entry.format, &file.entry.referenced_file,
		&file.entry.lower_path, &file.entry.upper_path
	};
	size_t		size = (size_t) entry->equality_count * sizeof(AvroSlot);
	AvroSlot   *ids;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
	{
		if (texts[i]->data != NULL)
			*texts[i] = bytes_pool_copy(&loader->pool, *texts[i]);
	}
	if (size > 0)
	{
		ids = lake_alloc_raw(loader->arena, size);
		memcpy(ids, entry->equality_ids, size);
		file.entry.equality_ids = ids;
	}
	buffer_append(&loader->deletes, &file, sizeof file);
}

static PackedBounds **
create_column_bounds(Loader *loader, LakeArena *arena)
{
	PackedBounds **bounds = lake_alloc_array(loader->scratch,
											 (size_t) loader->column_count,
											 sizeof *bounds);

	for (int i = 0; i < loader->column_count; i++)
		bounds[i] = packed_bounds_create(arena, loader->columns[i].field_id,
										 loader->columns[i].type);
	return bounds;
}

/* completes the columns and makes them the contents'; they are in arena */
static void
link_columns(Loader *loader, LakeArena *arena)
{
	ManifestContents *contents = loader->contents;
	ManifestColumn *columns = lake_alloc_array(arena,
											   (size_t) loader->column_count,
											   sizeof *columns);

	for (int i = 0; i < loader->column_count; i++)
	{
		packed_bounds_finish(loader->column_bounds[i]);
		columns[i].bounds = loader->column_bounds[i];
		columns[i].next = i + 1 < loader->column_count ? &columns[i + 1] :
			contents->columns;
	}
	/* nothing throws from here on */
	if (arena != contents->arena)
		lake_arena_adopt(contents->arena, arena);
	if (loader->column_count > 0)
		contents->columns = columns;
}

static void
create_tuple_bounds(Loader *loader)
{
	ManifestContents *contents = loader->contents;
	size_t		count = (size_t) contents->spec.field_count;

	loader->tuple_bounds = lake_alloc_array(loader->scratch, count,
											sizeof *loader->tuple_bounds);
	contents->tuple_bounds = lake_alloc_array(loader->arena, count,
											  sizeof *contents->tuple_bounds);
	for (size_t i = 0; i < count; i++)
	{
		const PartitionField *field = &contents->spec.fields[i];
		PackedBounds *bounds;

		if (field->result_type == NULL)
			continue;
		bounds = packed_bounds_create(loader->arena, field->field_id,
									  field->result_type);
		loader->tuple_bounds[i] = bounds;
		contents->tuple_bounds[contents->tuple_bounds_count++] = bounds;
	}
}

static void
read_entries(Loader *loader)
{
	ManifestEntry entry;

	while (manifest_reader_next(loader->reader, &entry))
	{
		const ManifestTuple *tuple = read_tuple(loader);

		lake_check_interrupts();
		if (entry.content == CONTENT_DATA)
			add_data_file(loader, &entry, tuple);
		else
			add_delete_file(loader, &entry, tuple);
		if ((loader->files.len / sizeof(ManifestDataFile)) +
			(loader->deletes.len / sizeof(ManifestDeleteFile)) >
			ICEBERG_MAX_PLANNED_FILES)
			lake_throw(LAKE_ERROR_LIMIT, "manifest has more than %d files",
					   ICEBERG_MAX_PLANNED_FILES);
	}
}

static void
finish(Loader *loader)
{
	ManifestContents *contents = loader->contents;

	buffer_trim(&loader->files);
	buffer_trim(&loader->deletes);
	contents->files = (const void *) loader->files.data;
	contents->file_count = loader->files.len / sizeof *contents->files;
	contents->deletes = (const void *) loader->deletes.data;
	contents->delete_count = loader->deletes.len / sizeof *contents->deletes;
	contents->tuple_count = loader->tuples.count;
	for (int i = 0; i < contents->spec.field_count; i++)
	{
		if (loader->tuple_bounds[i] != NULL)
			packed_bounds_finish(loader->tuple_bounds[i]);
	}
	link_columns(loader, loader->arena);
}

/* all of the manifest, in loader->arena */
static ManifestContents *
load(Loader *loader, const ManifestFile *manifest,
	 const LakePartitionSpec *spec)
{
	ManifestContents *contents = lake_alloc(loader->arena, sizeof *contents);

	loader->contents = contents;
	contents->arena = loader->arena;
	contents->listed = *manifest;
	contents->listed.path = NULL;
	contents->listed.key_metadata.data = NULL;
	contents->listed.summary_count = 0;
	contents->listed.summaries = NULL;
	copy_spec(loader->arena, spec, &contents->spec);
	bytes_pool_init(&loader->pool, loader->arena);
	buffer_init(&loader->files, loader->arena);
	buffer_init(&loader->deletes, loader->arena);
	buffer_init(&loader->key, loader->scratch);
	bytes_map_init(&loader->tuples, loader->scratch);
	create_tuple_bounds(loader);
	loader->column_bounds = create_column_bounds(loader, loader->arena);
	read_entries(loader);
	finish(loader);
	return contents;
}

/* ---- columns that are asked for later ---- */

static const ManifestColumn *
find_column(const ManifestContents *contents, const BoundsColumn *column)
{
	const ManifestColumn *known = contents->columns;

	while (known != NULL && !packed_bounds_is_of(known->bounds,
												 column->field_id,
												 column->type))
		known = known->next;
	return known;
}

/*
 * Adds what is missing to contents that are shared.  False when the file is not
 * the one any more that they were read from.
 */
static bool
add_columns(Loader *loader, LakeStore *store, const ManifestFile *manifest,
			const LakeFileStatus *status)
{
	ManifestContents *contents = loader->contents;
	size_t		left = contents->file_count;
	ManifestEntry entry;
	LakeFileStatus now;

	loader->column_bounds = create_column_bounds(loader, loader->arena);
	while (manifest_reader_next(loader->reader, &entry))
	{
		lake_check_interrupts();
		if (entry.content != CONTENT_DATA)
			continue;
		if (left == 0)
			return false;
		left--;
		add_column_bounds(loader);
	}
	lake_file_inspect(store, loader->scratch, manifest->path, what, &now);
	if (left > 0 || now.version != status->version ||
		strcmp(now.path, status->path) != 0)
		return false;
	link_columns(loader, loader->arena);
	cache_measure(store->cache, contents);
	return true;
}

/* ---- what planning asks for ---- */

/* what a request is about, in the order of manifest_contents_get */
typedef struct Request
{
	LakeArena  *holder;
	LakeArena  *spec_arena;
	const LakeTable *table;
	LakeStore  *store;
	const ManifestFile *manifest;
	const BoundsColumn *columns;
	int			column_count;
} Request;

/* what is read goes to arena; of columns that contents, if given, lack */
static void
begin(Loader *loader, const Request *request, LakeArena *scratch,
	  LakeArena *arena, ManifestContents *contents)
{
	BoundsColumn *columns = lake_alloc_array(scratch,
											 (size_t) request->column_count,
											 sizeof *columns);

	memset(loader, 0, sizeof *loader);
	loader->scratch = scratch;
	loader->arena = arena;
	loader->contents = contents;
	loader->columns = columns;
	for (int i = 0; i < request->column_count; i++)
	{
		if (contents == NULL ||
			find_column(contents, &request->columns[i]) == NULL)
			columns[loader->column_count++] = request->columns[i];
	}
	loader->reader = manifest_reader_open(scratch, request->spec_arena,
										  request->table, request->store,
										  request->manifest, columns,
										  loader->column_count);
}

static bool
has_columns(const ManifestContents *contents, const Request *request)
{
	for (int i = 0; i < request->column_count; i++)
	{
		if (find_column(contents, &request->columns[i]) == NULL)
			return false;
	}
	return true;
}

static bool
extend(const Request *request, ManifestContents *contents,
	   const LakeFileStatus *status)
{
	LakeArena  *scratch = lake_arena_create(request->holder,
											"manifest reading");
	Loader		loader;
	bool		is_done;

	begin(&loader, request, scratch,
		  lake_arena_create(scratch, "manifest bounds"), contents);
	is_done = add_columns(&loader, request->store, request->manifest, status);
	lake_arena_destroy(scratch);
	return is_done;
}

static const ManifestContents *
load_and_keep(const Request *request, const LakeFileStatus *status,
			  const LakePartitionSpec **spec)
{
	LakeArena  *scratch = lake_arena_create(request->holder,
											"manifest reading");
	LakeArena  *entry = lake_arena_create(request->holder, "manifest");
	ManifestContents *contents;
	Loader		loader;

	begin(&loader, request, scratch, entry, NULL);
	*spec = manifest_reader_spec(loader.reader);
	contents = load(&loader, request->manifest, *spec);
	lake_arena_destroy(scratch);
	lake_file_keep(request->store, request->holder, what, status, entry,
				   contents);
	return contents;
}

const ManifestContents *
manifest_contents_get(LakeArena *holder, LakeArena *spec_arena,
					  const LakeTable *table, LakeStore *store,
					  const ManifestFile *manifest,
					  const BoundsColumn *columns, int column_count,
					  const LakePartitionSpec **spec)
{
	const Request request = {
		holder, spec_arena, table, store, manifest, columns, column_count
	};
	LakeFileStatus status;
	ManifestContents *contents = lake_file_recall(store, holder,
												  manifest->path, what,
												  &status);
	bool		is_current;

	if (contents != NULL)
	{
		*spec = iceberg_find_spec(table, contents->spec.id);
		is_current = is_usable(contents, manifest, *spec);
		if (is_current && has_columns(contents, &request))
			return contents;
		/* the file has to be read after all */
		store->cache_hits--;
		if (is_current && extend(&request, contents, &status))
			return contents;
	}
	return load_and_keep(&request, &status, spec);
}

const PackedBounds *
manifest_contents_bounds(const ManifestContents *contents,
						 const BoundsColumn *column)
{
	return find_column(contents, column)->bounds;
}
