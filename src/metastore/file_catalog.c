/*
 * The file catalog: a warehouse directory in which namespaces and tables are
 * directories, and a table's newest metadata file is found by its name.
 *
 * version-hint.text is a hint, written after the commit and by hand: it can be
 * empty, behind, or name a file that is gone.  README.md has the rules.
 */
#include "metastore/metastore.h"

#include <string.h>

#include "base/json.h"
#include "iceberg/iceberg.h"

/* a hint is a number or a file name */
#define MAX_HINT_BYTES 1024
/* longer digit strings are no version */
#define MAX_VERSION_DIGITS 18
/* versions that one call steps forward from the hint before it lists */
#define MAX_PROBES 1000

static const char *const version_suffixes[] = {
	".metadata.json", ".gz.metadata.json", ".metadata.json.gz"
};

#define SUFFIX_COUNT (sizeof version_suffixes / sizeof version_suffixes[0])

typedef struct MetadataName
{
	bool		is_versioned;	/* v<N>, else <N>-<anything> */
	int64_t		number;
} MetadataName;

/* digits at text, their number in length (0: none, or too many) */
static int64_t
parse_digits(const char *text, size_t *length)
{
	int64_t		number = 0;
	size_t		len = strspn(text, "0123456789");

	*length = 0;
	if (len == 0 || len > MAX_VERSION_DIGITS)
		return 0;
	for (size_t i = 0; i < len; i++)
		number = number * 10 + (text[i] - '0');
	*length = len;
	return number;
}

static bool
has_suffix(const char *name, const char *suffix)
{
	size_t		len = strlen(name);
	size_t		suffix_len = strlen(suffix);

	return len >= suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

/* v3.metadata.json, 00003-uuid.metadata.json; gzip in both spellings */
static bool
parse_metadata_name(const char *name, MetadataName *result)
{
	size_t		digits;
	const char *rest;

	result->is_versioned = name[0] == 'v';
	name += result->is_versioned ? 1 : 0;
	result->number = parse_digits(name, &digits);
	if (digits == 0)
		return false;
	rest = name + digits;
	if (!result->is_versioned)
		return rest[0] == '-' && (has_suffix(rest, version_suffixes[0]) ||
								  has_suffix(rest, version_suffixes[2]));
	for (size_t i = 0; i < SUFFIX_COUNT; i++)
	{
		if (strcmp(rest, version_suffixes[i]) == 0)
			return true;
	}
	return false;
}

static bool
file_exists(LakeStore *store, LakeArena *arena, const char *location)
{
	LakeArena  *scratch = lake_arena_create(arena, "metadata probe");
	bool		exists = lake_file_find(store, scratch, location) != NULL;

	lake_arena_destroy(scratch);
	return exists;
}

static bool
directory_exists(LakeStore *store, LakeArena *arena, const char *location)
{
	LakeArena  *scratch = lake_arena_create(arena, "directory probe");
	LakeListEntry *entries;
	size_t		count;
	bool		exists = lake_store_list(store, scratch, location, &entries,
										 &count);

	lake_arena_destroy(scratch);
	return exists;
}

/* the location of v<number> in whichever spelling it has, or NULL */
static const char *
find_version(LakeArena *arena, LakeStore *store, const char *directory,
			 int64_t number)
{
	for (size_t i = 0; i < SUFFIX_COUNT; i++)
	{
		char	   *name = lake_printf(arena, "v%lld%s", (long long) number,
									   version_suffixes[i]);
		char	   *location = location_join(arena, directory, name);

		if (file_exists(store, arena, location))
			return location;
	}
	return NULL;
}

/* the hint's text without white space around it; NULL if there is no hint */
static const char *
read_hint(LakeArena *arena, LakeStore *store, const char *directory)
{
	LakeArena  *scratch = lake_arena_create(arena, "version hint");
	LakeFile   *file = lake_file_find(store, scratch,
									  location_join(scratch, directory,
													"version-hint.text"));
	const char *hint = NULL;

	if (file != NULL && file->size > 0 && file->size <= MAX_HINT_BYTES)
	{
		LakeBytes	bytes = lake_file_read_all(file, scratch, MAX_HINT_BYTES);
		const char *start = (const char *) bytes.data;
		size_t		len = bytes.len;

		while (len > 0 && strchr(" \t\r\n", start[0]) != NULL)
			start++, len--;
		while (len > 0 && strchr(" \t\r\n", start[len - 1]) != NULL)
			len--;
		if (len > 0)
			hint = lake_strndup(arena, start, len);
	}
	lake_arena_destroy(scratch);
	return hint;
}

/*
 * From a numeric hint: its version, then as far forward as versions follow
 * without a gap.  NULL when the hinted version is not there.
 */
static const char *
follow_hint(LakeArena *arena, LakeStore *store, const char *directory,
			const char *hint)
{
	size_t		digits;
	int64_t		number = parse_digits(hint, &digits);
	const char *found;

	if (digits == 0 || hint[digits] != '\0')
		return NULL;
	found = find_version(arena, store, directory, number);
	for (int probes = 0; found != NULL; probes++)
	{
		const char *next;

		lake_check_interrupts();
		/* that far behind, one listing is cheaper */
		if (probes == MAX_PROBES)
			return NULL;
		next = find_version(arena, store, directory, ++number);
		if (next == NULL)
			break;
		found = next;
	}
	return found;
}

/* last-updated-ms of a metadata file; INT64_MIN when it does not say */
static int64_t
read_last_updated(LakeArena *arena, LakeStore *store, const char *location)
{
	LakeArena  *scratch = lake_arena_create(arena, "metadata file");
	int64_t		result = INT64_MIN;
	LakeBytes	value;

	if (json_scan_member(iceberg_read_metadata_text(scratch, store, location),
						 "last-updated-ms", &value))
		json_scan_int64(value, &result);
	lake_arena_destroy(scratch);
	return result;
}

typedef struct Candidate
{
	const char *name;			/* NULL: none */
	MetadataName parsed;
	int64_t		last_updated;	/* 0: not read yet */
} Candidate;

/* does b replace a, when their names cannot tell? */
static bool
is_newer(LakeArena *arena, LakeStore *store, const char *directory,
		 Candidate *a, Candidate *b)
{
	Candidate  *both[] = {a, b};

	for (int i = 0; i < 2; i++)
	{
		if (both[i]->last_updated == 0)
			both[i]->last_updated =
				read_last_updated(arena, store,
								  location_join(arena, directory,
												both[i]->name));
	}
	if (a->last_updated != b->last_updated)
		return b->last_updated > a->last_updated;
	if (a->parsed.is_versioned != b->parsed.is_versioned)
		return b->parsed.is_versioned;
	return strcmp(b->name, a->name) > 0;
}

/*
 * The newest metadata file by its name: of each naming scheme the highest
 * number; where names cannot decide (equal numbers, both schemes), the newest
 * last-updated-ms.
 */
static const char *
find_newest(LakeArena *arena, LakeStore *store, const char *directory)
{
	Candidate	newest[2] = {{NULL, {false, 0}, 0}, {NULL, {false, 0}, 0}};
	LakeListEntry *entries;
	size_t		count;
	Candidate  *best;

	if (!lake_store_list(store, arena, directory, &entries, &count))
		return NULL;
	for (size_t i = 0; i < count; i++)
	{
		Candidate	candidate = {entries[i].name, {false, 0}, 0};
		Candidate  *current;

		lake_check_interrupts();
		if (entries[i].is_directory ||
			!parse_metadata_name(entries[i].name, &candidate.parsed))
			continue;
		current = &newest[candidate.parsed.is_versioned];
		if (current->name == NULL ||
			candidate.parsed.number > current->parsed.number ||
			(candidate.parsed.number == current->parsed.number &&
			 is_newer(arena, store, directory, current, &candidate)))
			*current = candidate;
	}
	best = &newest[0];
	if (best->name == NULL ||
		(newest[1].name != NULL &&
		 is_newer(arena, store, directory, best, &newest[1])))
		best = &newest[1];
	if (best->name == NULL)
		return NULL;
	return location_join(arena, directory, best->name);
}

/* the other table format whose mark is in a directory, or NULL */
static const char *
find_other_format(LakeArena *arena, LakeStore *store, const char *directory)
{
	static const struct
	{
		const char *mark;
		const char *format;
	}			others[] = {{"_delta_log", "Delta"}, {".hoodie", "Hudi"}};

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
	{
		if (directory_exists(store, arena,
							 location_join(arena, directory, others[i].mark)))
			return others[i].format;
	}
	return NULL;
}

const char *
file_catalog_find_metadata(LakeArena *arena, LakeStore *store,
						   const char *table_location)
{
	char	   *directory = location_join(arena, table_location, "metadata");
	const char *hint = read_hint(arena, store, directory);
	const char *found = NULL;

	if (hint != NULL)
		found = follow_hint(arena, store, directory, hint);
	if (found == NULL)
		found = find_newest(arena, store, directory);
	if (found == NULL)
	{
		const char *format = find_other_format(arena, store, table_location);

		if (format != NULL)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "\"%s\" is a %s table, which is not supported",
					   table_location, format);
	}
	return found;
}

static _Noreturn void
throw_bad_name(const char *what, const char *name)
{
	lake_throw(LAKE_ERROR_INVALID, "invalid %s \"%s\" in a file catalog",
			   what, name);
}

/* one directory name, which no name may leave */
static bool
is_valid_level(const char *name, size_t len)
{
	return len > 0 && memchr(name, '/', len) == NULL &&
		!(len == 1 && name[0] == '.') &&
		!(len == 2 && name[0] == '.' && name[1] == '.');
}

/* warehouse/a/b for "a.b"; throws INVALID */
static char *
namespace_location(LakeArena *arena, const char *warehouse,
				   const char *name_space)
{
	char	   *location = lake_strdup(arena, warehouse);
	const char *level = name_space;

	for (;;)
	{
		size_t		len = strcspn(level, ".");

		if (!is_valid_level(level, len))
			throw_bad_name("namespace", name_space);
		location = location_join(arena, location,
								 lake_strndup(arena, level, len));
		if (level[len] == '\0')
			return location;
		level += len + 1;
	}
}

/*
 * The directory of an existing namespace, or NULL.  Hive's warehouses, which
 * Spark writes to as well, call the directory of a database "name.db".
 */
static const char *
find_namespace(LakeArena *arena, LakeStore *store, const char *warehouse,
			   const char *name_space)
{
	char	   *location = namespace_location(arena, warehouse, name_space);

	if (directory_exists(store, arena, location))
		return location;
	location = lake_printf(arena, "%s.db", location);
	return directory_exists(store, arena, location) ? location : NULL;
}

const char *
file_catalog_find(LakeArena *arena, LakeStore *store, const char *warehouse,
				  const char *name_space, const char *table)
{
	char	   *plain = namespace_location(arena, warehouse, name_space);
	const char *location;
	const char *found;

	if (!is_valid_level(table, strlen(table)))
		throw_bad_name("table name", table);
	/* without listing the namespace, which may have thousands of tables */
	found = file_catalog_find_metadata(arena, store,
									   location_join(arena, plain, table));
	if (found != NULL)
		return found;
	location = find_namespace(arena, store, warehouse, name_space);
	if (location == NULL || strcmp(location, plain) == 0)
		return NULL;
	return file_catalog_find_metadata(arena, store,
									  location_join(arena, location, table));
}

/*
 * Is there a metadata file in directory/metadata?  Tables of other formats are
 * tables too: whoever lists them must learn that they are refused.
 */
static bool
is_table(LakeArena *arena, LakeStore *store, const char *directory,
		 const char **other_format)
{
	LakeArena  *scratch = lake_arena_create(arena, "table directory");
	LakeListEntry *entries;
	size_t		count = 0;
	MetadataName name;
	bool		found = false;

	*other_format = NULL;
	if (lake_store_list(store, scratch,
						location_join(scratch, directory, "metadata"),
						&entries, &count))
	{
		for (size_t i = 0; i < count && !found; i++)
			found = !entries[i].is_directory &&
				parse_metadata_name(entries[i].name, &name);
	}
	if (!found)
		*other_format = find_other_format(scratch, store, directory);
	lake_arena_destroy(scratch);
	return found || *other_format != NULL;
}

/* a namespace that is to be looked into */
typedef struct Namespace
{
	const char *name;			/* NULL: the warehouse itself */
	const char *location;
} Namespace;

/* what a listing found so far */
typedef struct Listing
{
	LakeArena  *arena;
	LakeStore  *store;
	CatalogTable *tables;
	size_t		table_count;
	size_t		table_room;
	Namespace  *namespaces;
	size_t		namespace_count;
	size_t		namespace_room;
} Listing;

/* array with room for one more element */
static void *
make_room(LakeArena *arena, void *array, size_t count, size_t *room,
		  size_t width)
{
	void	   *larger;

	if (count < *room)
		return array;
	*room = count == 0 ? 16 : 2 * count;
	larger = lake_alloc_array(arena, *room, width);
	if (count > 0)
		memcpy(larger, array, count * width);
	return larger;
}

static void
add_table(Listing *listing, const char *name_space, const char *name,
		  const char *other_format)
{
	CatalogTable *table;

	listing->tables = make_room(listing->arena, listing->tables,
								listing->table_count, &listing->table_room,
								sizeof *table);
	table = &listing->tables[listing->table_count++];
	table->name_space = name_space;
	table->name = name;
	table->other_format = other_format;
}

/* outer NULL: a namespace of one level */
static void
add_namespace(Listing *listing, const char *outer, const char *directory,
			  const char *location)
{
	LakeArena  *arena = listing->arena;
	char	   *name = lake_strdup(arena, directory);
	Namespace  *namespace;

	if (has_suffix(name, ".db"))
		name[strlen(name) - strlen(".db")] = '\0';
	/* no name means such a directory */
	if (name[0] == '\0' || strchr(name, '.') != NULL)
		return;
	if (listing->namespace_count == FILE_CATALOG_MAX_DIRECTORIES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the warehouse has more than %d directories",
				   FILE_CATALOG_MAX_DIRECTORIES);
	listing->namespaces = make_room(arena, listing->namespaces,
									listing->namespace_count,
									&listing->namespace_room,
									sizeof *namespace);
	namespace = &listing->namespaces[listing->namespace_count++];
	namespace->name = outer == NULL ? name :
		lake_printf(arena, "%s.%s", outer, name);
	namespace->location = location;
}

/* false when the directory does not exist */
static bool
list_namespace(Listing *listing, const char *name, const char *location)
{
	LakeListEntry *entries;
	size_t		count;

	if (!lake_store_list(listing->store, listing->arena, location, &entries,
						 &count))
		return false;
	for (size_t i = 0; i < count; i++)
	{
		const char *directory = location_join(listing->arena, location,
											  entries[i].name);
		const char *other_format;

		lake_check_interrupts();
		if (!entries[i].is_directory)
			continue;
		if (!is_table(listing->arena, listing->store, directory,
					  &other_format))
			add_namespace(listing, name, entries[i].name, directory);
		else if (name != NULL)
			add_table(listing, name, entries[i].name, other_format);
	}
	return true;
}

bool
file_catalog_list(LakeArena *arena, LakeStore *store, const char *warehouse,
				  const char *name_space, CatalogTable **tables,
				  size_t *count)
{
	Listing		listing = {.arena = arena, .store = store};
	const char *location = warehouse;
	bool		exists;

	if (name_space != NULL)
		location = find_namespace(arena, store, warehouse, name_space);
	exists = location != NULL &&
		list_namespace(&listing, name_space, location);
	if (name_space == NULL)
	{
		for (size_t i = 0; i < listing.namespace_count; i++)
			list_namespace(&listing, listing.namespaces[i].name,
						   listing.namespaces[i].location);
	}
	*tables = listing.tables;
	*count = listing.table_count;
	return exists;
}
