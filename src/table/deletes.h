/*
 * Deletes of one data file, loaded from its delete files and applied to rows by
 * physical position and by equality keys.  Private to table/ but for tests.
 *
 * Iceberg spec, "Delete Formats", "Scan Planning".
 */
#ifndef LAKE_DELETES_H
#define LAKE_DELETES_H

#include "base/bitmap.h"
#include "base/vector.h"
#include "io/io.h"
#include "table/task.h"
#include "table/task_reader.h"

/*
 * What loaded delete files may occupy, in bytes, before the next task starts
 * with an empty cache.  One task's own deletes may exceed it.
 */
#define DELETES_CACHE_BYTES		((uint64_t) 128 << 20)
/*
 * A position delete file with more rows than this is not kept: each task reads
 * its own positions from it.  A row takes 2 bytes, or 80 where no other is near.
 */
#define DELETES_CACHED_ROWS		4000000
/*
 * Positions of one data file may lie in so many blocks of 65536; beyond it
 * LIMIT.  A block takes some 80 to 8,300 bytes.
 */
#define DELETES_MAX_BLOCKS		((size_t) 1 << 20)
/* a deletion vector's blob; beyond it LIMIT */
#define DELETES_MAX_VECTOR_BYTES ((int64_t) 512 << 20)
/* keys of equality deletes with the same field ids; beyond them LIMIT */
#define KEY_SET_MAX_KEYS		(UINT32_C(1) << 25)
#define KEY_SET_MAX_BYTES		((size_t) 512 << 20)
#define DELETES_MAX_KEY_FIELDS	1000

/*
 * Reads a deletion vector blob: length, magic, bitmap, CRC and cardinality are
 * checked (CORRUPT).  Needs no Puffin framing around it.
 */
extern LakeBitmap *deletes_read_vector(LakeArena *arena, LakeFile *file,
									   const DeleteFile *deletes);

/* ---- key_set.c ---- */

/* a set of byte strings, numbered 0.. in the order they were added */
typedef struct KeySet KeySet;

#define KEY_SET_NONE			UINT32_MAX

extern KeySet *key_set_create(LakeArena *arena);

/* the key's number, new or known; throws LIMIT */
extern uint32_t key_set_add(KeySet *set, LakeBytes key);
extern uint32_t key_set_find(const KeySet *set, LakeBytes key);
extern uint32_t key_set_count(const KeySet *set);

/* bytes of memory */
extern uint64_t key_set_size(const KeySet *set);

/* many keys at once: key i is data[starts[i]..starts[i + 1]) */
typedef struct KeyRows
{
	uint32_t	count;
	const uint8_t *data;
	const uint32_t *starts;		/* count + 1 of them */
} KeyRows;

/* what add and find give for each, into numbers */
extern void key_set_add_rows(KeySet *set, const KeyRows *rows,
							 uint32_t *numbers);
extern void key_set_find_rows(const KeySet *set, const KeyRows *rows,
							  uint32_t *numbers);

/* ---- delete_keys.c ---- */

/*
 * The keys of equality delete files with the same field ids.  Tuples are given
 * as one scalar vector a part, in the layouts of batch.h, at most
 * BATCH_MAX_ROWS rows at a time; the parts' types never change.
 */
typedef struct DeleteKeys DeleteKeys;

extern DeleteKeys *delete_keys_create(LakeArena *arena, int part_count);

/* file: the caller's number for the delete file that has these keys */
extern void delete_keys_add(DeleteKeys *keys, uint32_t file,
							const LakeVector *parts, uint32_t count);
extern uint64_t delete_keys_size(const DeleteKeys *keys);

/*
 * A look at the keys of some of the files: those with applies[file] != 0.
 * keys and applies are borrowed.
 */
typedef struct KeyProbe KeyProbe;

extern KeyProbe *key_probe_create(LakeArena *arena, DeleteKeys *keys,
								  const uint8_t *applies);

/* sets mask[i] = 1 for each row i whose tuple is among the keys */
extern void key_probe_mark(KeyProbe *probe, const LakeVector *parts,
						   uint32_t count, uint8_t *mask);

/* ---- position_deletes.c ---- */

/* the positions in one delete file, by comparable path of the data file */
typedef struct PositionFile PositionFile;
typedef struct DeleteScan DeleteScan;

/* for files without field ids */
extern const NameMapping *position_file_mapping(void);

/*
 * Reads an opened delete file.  Throws CORRUPT for NULL or negative positions,
 * also of data files that nobody asks for.
 */
extern PositionFile *position_file_read(LakeArena *arena, DeleteScan *scan);

/* bytes of memory, about */
extern uint64_t position_file_size(const PositionFile *file);

/* NULL when it has no positions of the data file */
extern LakeBitmap *position_file_find(const PositionFile *file,
									  const char *data_path);

/* the positions of one data file alone, the others are forgotten */
extern LakeBitmap *position_file_read_path(LakeArena *arena, DeleteScan *scan,
										   const char *data_path);

/* ---- equality_deletes.c ---- */

/*
 * One column of an equality key: a top-level field, or what is left of one
 * when only the path to the key is kept (children[0] all the way down).
 */
typedef struct KeyPart
{
	int32_t		field_id;
	const LakeField *column;
	int			depth;			/* structs above the key */
} KeyPart;

/* all equality delete files with the same field ids */
typedef struct KeyGroup
{
	int			part_count;
	KeyPart    *parts;			/* by ascending field id */
	DeleteKeys *keys;
	KeySet	   *files;			/* paths of the files that keys has */
} KeyGroup;

/*
 * A delete file's key ids in ascending order, each once; returns how many.
 * Throws CORRUPT when it has none.
 */
extern int	key_group_ids(LakeArena *arena, const DeleteFile *deletes,
						  int32_t **ids);

/* throws CORRUPT for an id that no schema has */
extern KeyGroup *key_group_create(LakeArena *arena,
								  const TaskReaderOptions *options,
								  const int32_t *ids, int count);
extern bool key_group_has_ids(const KeyGroup *group, const int32_t *ids,
							  int count);

/*
 * Adds a file's keys and returns its number.  arena is for what is needed only
 * meanwhile.
 */
extern uint32_t key_group_load(KeyGroup *group, LakeArena *arena,
							   const TaskReaderOptions *options,
							   const char *path);

/*
 * The key itself out of the column it is in: NULL where a struct above it is.
 * nulls has room for the column's rows.
 */
extern void key_part_vector(const KeyPart *part, const LakeVector *column,
							uint8_t *nulls, LakeVector *result);

/* ---- deletes.c ---- */

/* keys that apply to one task */
typedef struct TaskKeys
{
	int			part_count;
	const KeyPart *parts;
	KeyProbe   *probe;
} TaskKeys;

/* what removes rows of one data file */
typedef struct TaskDeletes
{
	const LakeBitmap *positions;	/* NULL: none */
	int			key_count;
	TaskKeys   *keys;
} TaskDeletes;

/*
 * Loads the task's delete files.  The result is in arena and valid until the
 * next call, which may empty the cache.
 */
extern void delete_cache_load(DeleteCache *cache, LakeArena *arena,
							  const ScanTask *task, TaskDeletes *deletes);

#endif							/* LAKE_DELETES_H */
