/*
 * Where files are: stores, locations and the rules that confine them.
 *
 * A location is what metadata says (URI, absolute or relative path).  It
 * becomes a path of a store only through LakePathRules: path_map first, then
 * the allowed prefixes, checked again on what was really opened.  No caller
 * opens a file in any other way.
 */
#ifndef LAKE_IO_H
#define LAKE_IO_H

#include "base/base.h"

/*
 * A location without scheme and authority, "./" and doubled slashes: the form
 * in which locations are compared with each other (decisions: a delete file
 * says hdfs://host:port/x where the manifest says /x).  Returns location itself
 * if there is nothing to remove, else text in arena.  No percent-decoding, no
 * "..": those belong to opening.
 */
extern const char *location_comparable(LakeArena *arena, const char *location);

/* dir + "/" + name, with one slash between */
extern char *location_join(LakeArena *arena, const char *dir, const char *name);

typedef struct LakePathMap
{
	const char *from;			/* comparable form, no trailing slash */
	const char *to;				/* plain path or URI, no trailing slash */
} LakePathMap;

/* zeroed, it allows nothing; the functions below fill it */
typedef struct LakePathRules
{
	int			map_count;
	LakePathMap *maps;			/* a table's before its server's */
	int			allowed_count;
	/* directories: normalised plain paths ("" is the root), or other URIs */
	const char **allowed;
} LakePathRules;

/*
 * Parses 'from=to[,from=to]' and appends to rules; the targets become allowed
 * prefixes too.  from may be relative, to may not.  Neither can contain a
 * comma, and from no equals sign.  Throws INVALID.
 */
extern void path_rules_add_map(LakeArena *arena, LakePathRules *rules,
							   const char *text);

/* one directory; throws INVALID when it is not absolute */
extern void path_rules_allow(LakeArena *arena, LakePathRules *rules,
							 const char *location);

/*
 * The path that a location means: longest matching map (at a path separator,
 * compared in comparable form; of equal ones the first), else the location
 * itself; a file: URI's path, ".." resolved.  A local path below the map's
 * target stays as it is where the target is below "from".  Throws DENIED,
 * naming location and prefixes, when it is not below an allowed one, neither as
 * it stands nor with percent-encoding decoded; UNSUPPORTED, naming the scheme,
 * when no store serves it.  A relative location is DENIED unless a map matches.
 *
 * The result is the name as it stands: Hadoop and pyarrow do not encode the
 * names in their URIs.  Opening a URI tries the decoded name next.
 */
extern char *path_rules_resolve(LakeArena *arena, const LakePathRules *rules,
								const char *location);

typedef struct LakeStore LakeStore;
typedef struct LakeFile LakeFile;
typedef struct LakeOutput LakeOutput;
typedef struct LakePutSet LakePutSet;

typedef struct LakeRange
{
	uint64_t	offset;
	size_t		len;
	void	   *dst;			/* caller's, len bytes */
} LakeRange;

typedef struct LakeListEntry
{
	const char *name;			/* last component, without slash */
	bool		is_directory;
	uint64_t	size;			/* bytes, files only */
} LakeListEntry;

/* which file a location leads to, without what it takes to read it */
typedef struct LakeFileStatus
{
	const char *path;			/* where it was really found; in arena */
	uint64_t	version;		/* see LakeFile */
} LakeFileStatus;

/*
 * What a store must offer.  Local files implement it now, object stores later.
 * path is a result of path_rules_resolve.
 */
typedef struct LakeStoreOps
{
	const char *name;
	/* NULL when absent; the file is closed with arena */
	LakeFile   *(*open) (LakeStore *store, LakeArena *arena, const char *path);
	/* fills every range or throws; short files are CORRUPT */
	void		(*read_ranges) (LakeFile *file, const LakeRange *ranges,
								size_t count);
	/* entries of one directory, sorted by name; false when absent */
	bool		(*list) (LakeStore *store, LakeArena *arena, const char *path,
						 LakeListEntry **entries, size_t *count);

	/*
	 * As open, rules included, but false when absent; NULL: the store has
	 * nothing that is cheaper than to open the file.
	 */
	bool		(*inspect) (LakeStore *store, LakeArena *arena,
							const char *path, LakeFileStatus *status);

	/* ---- writing; NULL: the store cannot ---- */

	/*
	 * A new file, of which nobody sees anything before publish.  Its
	 * directories are made.  Unfinished output vanishes with arena.
	 */
	LakeOutput *(*create) (LakeStore *store, LakeArena *arena,
						   const char *path);
	void		(*write) (LakeOutput *output, const void *data, size_t size);
	/* no more writes: the bytes have left the process */
	void		(*finish) (LakeOutput *output);

	/*
	 * Makes finished files durable, then visible under their names, without
	 * replacing a file.  All of them in one pass; throws IO when one exists.
	 */
	void		(*publish) (LakeStore *store, LakeOutput *const *outputs,
							size_t count);
	/* an output that is not published goes; never throws */
	void		(*discard) (LakeOutput *output);
	/* a file, if it is there; false: it could not be removed */
	bool		(*remove) (LakeStore *store, const char *path);
} LakeStoreOps;

struct LakeStore
{
	const LakeStoreOps *ops;
	const LakePathRules *rules;
	/* what was parsed from immutable files before; NULL: nothing is kept */
	struct LakeCache *cache;

	/*
	 * Files that the current transaction wrote and has not published: they
	 * can be opened by their locations already.  NULL: there are none.
	 */
	LakePutSet *puts;
	bool		durable;		/* publish waits for the disk (fsync) */
	uint64_t	bytes_read;		/* by all files of this store object */
	uint64_t	bytes_written;
	uint64_t	requests;
	uint64_t	cache_hits;		/* files that the cache made unnecessary */
};

/* a store's own outputs begin with this */
struct LakeOutput
{
	LakeStore  *store;
	const char *location;		/* as metadata will say it */
	const char *temporary;		/* path to read it by before it is published */
	uint64_t	size;			/* bytes written */
	bool		is_finished;
};

struct LakeFile
{
	LakeStore  *store;
	const char *location;		/* as metadata says it: for messages */
	uint64_t	size;			/* bytes */
	/* another one after the file was replaced, as far as the store can tell */
	uint64_t	version;
};

/* a store for local files below rules' prefixes; rules are borrowed */
extern LakeStore *store_local_create(LakeArena *arena,
									 const LakePathRules *rules);

/* NULL when absent; DENIED, IO as the rules say.  Closed with arena. */
extern LakeFile *lake_file_find(LakeStore *store, LakeArena *arena,
								const char *location);

/* throws MISSING, naming location, when absent; what: "data file" */
extern LakeFile *lake_file_open(LakeStore *store, LakeArena *arena,
								const char *location, const char *what);

/* as lake_file_open, for who may not have to read the file */
extern void lake_file_inspect(LakeStore *store, LakeArena *arena,
							  const char *location, const char *what,
							  LakeFileStatus *status);

/*
 * What was parsed from a file before, held for holder.  what names file and
 * value, as in lake_file_open.  Finding it is no way around the path rules: the
 * location is resolved and the file inspected in any case.
 *
 * NULL: parse the file, after this call, and hand the result to lake_file_keep
 * with the same status; what was read meanwhile from a file that took its place
 * is then never found again.  status is in holder.
 */
extern void *lake_file_recall(LakeStore *store, LakeArena *holder,
							  const char *location, const char *what,
							  LakeFileStatus *status);

/*
 * Hands the arena of a complete value to the store's cache, and holds it for
 * holder; to holder alone if the store has no cache.
 */
extern void lake_file_keep(LakeStore *store, LakeArena *holder,
						   const char *what, const LakeFileStatus *status,
						   LakeArena *entry, void *value);
extern void lake_file_read(LakeFile *file, uint64_t offset, size_t len,
						   void *dst);
extern void lake_file_read_ranges(LakeFile *file, const LakeRange *ranges,
								  size_t count);

/* the whole file, at most limit bytes (LIMIT) */
extern LakeBytes lake_file_read_all(LakeFile *file, LakeArena *arena,
									size_t limit);
extern bool lake_store_list(LakeStore *store, LakeArena *arena,
							const char *location, LakeListEntry **entries,
							size_t *count);

/* ---- put_set.c: files that are written before anybody may see them ---- */

/*
 * Of one transaction.  The set owns its outputs on arena: what has not been
 * published when arena ends is removed then, as far as that goes quickly.
 */
extern LakePutSet *put_set_create(LakeArena *arena);

/*
 * Begins a new file in the store's set (store->puts must be set).  Throws
 * DENIED as path_rules_resolve does, INVALID when the set has the location
 * already.
 */
extern LakeOutput *lake_output_create(LakeStore *store, const char *location);
extern void lake_output_write(LakeOutput *output, const void *data,
							  size_t size);
extern uint64_t lake_output_size(const LakeOutput *output);

/*
 * Ends the file.  From now on lake_file_open finds it by its location, through
 * stores with this set alone.
 */
extern void lake_output_finish(LakeOutput *output);

/* create, write and finish in one */
extern void lake_store_put(LakeStore *store, const char *location,
						   LakeBytes bytes);

/*
 * Publishes all finished files of the set (in one pass, so that the disk sees
 * them together).  Afterwards the set is empty but for those published, which
 * put_set_remove_published can still remove.  Throws IO, DENIED; then none of
 * them is published: names that were given by then are taken back when the
 * store's arena ends, at the latest.
 */
extern void put_set_publish(LakeStore *store, LakePutSet *set);

/*
 * Drops one location, whether it is finished or published or not; nothing if it
 * is absent.
 */
extern void put_set_discard(LakePutSet *set, const char *location);

/*
 * Removes files that were published but turned out not to be needed (a lost
 * race, an abort): at most limit of them, never throws; returns how many are
 * left behind.
 */
extern size_t put_set_remove_published(LakePutSet *set, size_t limit);

/* a file by its location; false when it could not be removed */
extern bool lake_store_remove(LakeStore *store, const char *location);

/* a file over memory: for unit tests and fuzzers */
extern LakeFile *lake_file_from_memory(LakeArena *arena, const char *name,
									   LakeBytes bytes);

#endif							/* LAKE_IO_H */
