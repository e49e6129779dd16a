/*
 * What the files of this folder share: the table behind a LakeTable, and the
 * readers of manifest lists and manifests that planning is made of.
 */
#ifndef LAKE_ICEBERG_INT_H
#define LAKE_ICEBERG_INT_H

#include "avro/avro.h"
#include "base/bytes.h"
#include "iceberg/iceberg.h"

typedef struct IcebergProperty
{
	LakeBytes	raw_key;		/* as it is written, for messages */
	const char *key;			/* NULL: it has a NUL character */
	const char *value;			/* NULL: null */
	const char *fault;			/* NULL, or why the value cannot be used */
} IcebergProperty;

struct IcebergTable
{
	LakeTable	table;			/* first: a LakeTable of ours is cast to this */
	/* JSON, borrowed from the metadata text; empty if absent */
	LakeBytes	snapshots;
	LakeBytes	current_snapshot;	/* the one among them */
	LakeBytes	snapshot_log;
	LakeBytes	metadata_log;
	LakeBytes	refs;
	int64_t		last_updated_ms;
	int64_t		last_sequence_number;	/* 0 in v1 */
	int64_t		next_row_id;	/* v3; 0 when the file has none */
	int32_t		default_spec_id;
	int32_t		default_sort_order_id;	/* 0: unsorted */
	int			spec_count;
	LakePartitionSpec *specs;
	int			property_count;
	IcebergProperty *properties;
};

/* every LakeSnapshot of ours is one of these */
typedef struct IcebergSnapshot
{
	LakeSnapshot snapshot;		/* first: the two are cast to each other */
	const char *manifest_list;	/* NULL: manifests say it */
	int			manifest_count;
	const char **manifests;		/* locations, inline in v1 */
} IcebergSnapshot;

static inline const IcebergTable *
iceberg_table(const LakeTable *table)
{
	return (const IcebergTable *) table;
}

/* ---- metadata.c ---- */

/* LakeFormat.open */
extern LakeTable *iceberg_metadata_read(LakeArena *arena, LakeStore *store,
										const char *metadata_location);

/* ---- partition_summary.c: of the tuples of a new manifest ---- */

typedef struct PartitionSummary PartitionSummary;

extern PartitionSummary *partition_summary_create(LakeArena *arena,
												  const LakePartitionSpec *spec);
extern void partition_summary_add(PartitionSummary *summary,
								  const LakeValue *partition);

/* one of each field, in the summary's arena */
extern const FieldSummary *partition_summary_finish(PartitionSummary *summary);

/* ---- manifest_writer.c ---- */

/*
 * What a manifest list says of a manifest, as the writer knows it: all of it
 * but what the list gives (sequence_number and first_row_id are -1).
 * min_sequence_number is of the live entries that were carried, -1: of none.
 */
typedef struct NewManifest
{
	ManifestFile file;
} NewManifest;

typedef struct ManifestWriter ManifestWriter;

/*
 * Begins a manifest of one spec and content in the store's put set.
 * schema: the table's current one.  codec as write.manifest.compression-codec
 * says.  Throws UNSUPPORTED, naming the field, when values of the spec cannot
 * be written.
 */
extern ManifestWriter *manifest_writer_create(LakeArena *arena,
											  LakeStore *store,
											  const char *location,
											  int format_version,
											  const LakeSchema *schema,
											  const LakePartitionSpec *spec,
											  bool has_deletes,
											  int64_t snapshot_id,
											  LakeCodec codec, int32_t level);

/* ADDED by this commit: numbers that are inherited are left out */
extern void manifest_writer_add(ManifestWriter *writer,
								const WrittenFile *file);

/*
 * An entry of another manifest, with all that it inherited made explicit:
 * STATUS_EXISTING, or STATUS_DELETED by this commit's snapshot.  partition: of
 * the spec's fields.  CORRUPT when it lacks what must be explicit.
 */
extern void manifest_writer_carry(ManifestWriter *writer,
								  const IcebergEntry *entry,
								  const LakeValue *partition,
								  EntryStatus status);

/* bytes so far, without those of the block that is not full yet */
extern uint64_t manifest_writer_size(const ManifestWriter *writer);
extern const NewManifest *manifest_writer_finish(ManifestWriter *writer);

/* ---- manifest_list_writer.c ---- */

/* one row: an old manifest, carried over as its list had it, or a new one */
typedef struct ListedManifest
{
	const ManifestFile *old;	/* NULL: it is a new one */
	const NewManifest *added;
} ListedManifest;

typedef struct ManifestListHeader
{
	int			format_version;
	int64_t		snapshot_id;
	int64_t		parent_id;		/* -1 none */
	int64_t		sequence_number;
	int64_t		first_row_id;	/* v3: the table's next-row-id */
} ManifestListHeader;

/*
 * Writes a list into the store's put set and returns the next row id after all
 * of its manifests (v3; else first_row_id).  What newer versions require of old
 * rows is looked up in their manifests, which may throw as reading them does.
 */
extern int64_t manifest_list_write(LakeArena *arena, LakeStore *store,
								   const char *location,
								   const ManifestListHeader *header,
								   const ListedManifest *manifests,
								   size_t count, LakeCodec codec,
								   int32_t level);

/* ---- metadata_writer.c: the next metadata file out of the last one's text ---- */

typedef struct NewSnapshot
{
	int64_t		id;
	int64_t		parent_id;		/* -1 none */
	int64_t		sequence_number;	/* 0 in v1 */
	int64_t		timestamp_ms;
	const char *operation;
	int			summary_count;	/* pairs: key, value, ... */
	const char *const *summary;
	const char *manifest_list;
	int32_t		schema_id;
	int64_t		first_row_id;	/* v3 */
	int64_t		added_rows;
} NewSnapshot;

/* all of it is optional: NULL, 0 or -1 */
typedef struct MetadataUpdate
{
	int64_t		last_updated_ms;	/* required; raised to the base's */
	int			snapshot_count;
	const NewSnapshot *snapshots;
	/* moved to a snapshot; created as a branch when it is new */
	const char *ref;
	int64_t		ref_snapshot_id;
	int			property_count; /* pairs: key, value (NULL: unset), ... */
	const char *const *properties;
} MetadataUpdate;

/*
 * The base's text with the update applied (reference, 1.4): last sequence
 * number, next row id, logs and all; members that are not concerned keep their
 * bytes.  base_location goes to the metadata log.
 */
extern LakeBytes metadata_apply(LakeArena *arena, LakeBytes base,
								const char *base_location,
								const MetadataUpdate *update);

/*
 * Puts a metadata file for the text into a directory (metadata_directory() of
 * the new properties), named after the version that follows
 * base_location's (NULL: the first one), compressed as the properties say;
 * returns its location.
 */
extern const char *metadata_put(LakeArena *arena, LakeStore *store,
								const char *directory,
								const char *base_location, bool hadoop_names,
								LakeBytes text);

/* where manifests and metadata files go: write.metadata.path, or its default */
extern const char *metadata_directory(LakeArena *arena,
									  const LakeTable *table);

/* throws INVALID for names that no table property can have */
extern void metadata_check_property(const char *key);

/* ---- field_term.c: partition and sort fields in the words of DDL ---- */

typedef struct LakeTerm
{
	const LakeField *source;
	const char *path;			/* its full name, "a.b" */
	LakeTransform transform;	/* one that the source can take */
	bool		descending;
	bool		nulls_first;
} LakeTerm;

/*
 * The terms of 'day(a), bucket(16, b), c', with order 'a DESC NULLS LAST, b'; in
 * arena.  Ids of the schema's fields are set.  what: the option, for messages.
 * Throws INVALID.
 */
extern const LakeTerm *lake_terms_parse(LakeArena *arena,
										const LakeSchema *schema,
										const char *what, const char *text,
										bool ordered, int *count);

/* ---- table_creation.c ---- */

/* LakeFormat.create */
extern const char *iceberg_create(LakeArena *arena, LakeStore *store,
								  const TableCreation *creation);

/* ---- write_options.c ---- */

/* LakeFormat.write_options */
extern const WriteOptions *iceberg_write_options(LakeArena *arena,
												 const LakeTable *table);

/* a property as a number; throws INVALID, naming it */
extern int64_t iceberg_property_int64(const LakeTable *table, const char *key,
									  int64_t minimum, int64_t if_unset);
extern bool iceberg_property_bool(const LakeTable *table, const char *key,
								  bool if_unset);

/* ---- commit.c ---- */

/* milliseconds since 1970 */
extern int64_t iceberg_now_ms(void);

/* LakeFormat.commit_create, commit_build */
extern LakeCommit *iceberg_commit_create(LakeArena *arena,
										 const CommitOptions *options);
extern CommitAttempt iceberg_commit_build(LakeCommit *commit,
										  const LakeTable *head);

/* a manifest of a commit's own */
typedef struct OwnManifest OwnManifest;
struct OwnManifest
{
	OwnManifest *next;			/* of all that the commit made */
	LakeArena  *arena;			/* of the manifest */
	const NewManifest *manifest;	/* NULL: not written, or given up */
	int			attempt;		/* that listed it last */
	int			file_count;		/* new files in it */
	const WrittenFile *const *files;
};

/* a manifest of the snapshot that an attempt makes */
typedef struct CommitManifest
{
	const ManifestFile *source; /* of the head's list; NULL: new files alone */
	OwnManifest *own;			/* NULL: source is carried over as it is */
	int			replaced;		/* manifests of the head that own replaces */
} CommitManifest;

typedef struct SnapshotSummary SnapshotSummary;
typedef struct Removal Removal;

/* what stands in the way of a commit */
typedef struct Conflict
{
	ConflictKind kind;
	const char *text;			/* a sentence */
} Conflict;
typedef struct ManifestMerge ManifestMerge;
typedef struct ManifestReader ManifestReader;

struct LakeCommit
{
	LakeArena  *arena;
	const CommitOptions *options;
	const ChangeSet *changes;	/* those of the options, or put on a newer
								 * head */
	const char *table_uuid;		/* NULL: not known */
	int64_t		snapshot_id;
	int			manifest_count; /* names that were given */
	OwnManifest *manifests;
	OwnManifest **added[2];		/* of new data files, of new deletes */
	int			added_count[2];
	Removal    *removal;		/* NULL: without changes */
	ManifestMerge *merge;

	/* ---- of the attempt ---- */
	int			attempt;		/* 1.. */
	LakeArena  *scratch;
	const LakeTable *head;
	int			format_version;
	LakeCodec	codec;			/* of manifests and their list */
	int32_t		level;
	SnapshotSummary *summary;
	const char *manifest_list;	/* NULL: not written */
	const char *metadata;
};

/* of the manifest as it will be listed */
static inline const ManifestFile *
commit_manifest_file(const CommitManifest *manifest)
{
	return manifest->own != NULL ? &manifest->own->manifest->file :
		manifest->source;
}

/* ---- own_manifest.c ---- */

extern OwnManifest *own_manifest_create(LakeCommit *commit);
extern ManifestWriter *own_manifest_begin(LakeCommit *commit,
										  OwnManifest *own,
										  const LakePartitionSpec *spec,
										  bool has_deletes);
extern void own_manifest_finish(OwnManifest *own, ManifestWriter *writer);

/* discards those that this attempt has not listed; -1: all */
extern void own_manifests_give_up(LakeCommit *commit, int attempt);

/*
 * Appends manifests of the new files of one content to rows, of CommitManifest:
 * one a spec, or more where they grow large.
 */
extern void own_manifests_add_files(LakeCommit *commit, bool has_deletes,
									LakeBuffer *rows);

/* ---- manifest_filter.c: what a commit removes from its head's manifests ---- */

extern Removal *removal_create(LakeArena *arena, const ChangeSet *changes);

/*
 * Appends the head's manifests of one content to rows, of CommitManifest:
 * rewritten where a live file goes, left out where no file is live.  Data comes
 * before deletes.
 */
extern void removal_apply(LakeCommit *commit, const ManifestFile *manifests,
						  size_t count, bool has_deletes, LakeBuffer *rows);

/* a file that should have been removed and was not live, or another conflict */
extern const Conflict *removal_conflict(LakeCommit *commit);

/*
 * Writes the live entries of a manifest of the head: existing ones, and those
 * that go as deleted, which summary (may be NULL) counts.
 */
extern void removal_copy(LakeCommit *commit, const ManifestFile *source,
						 ManifestWriter *writer, SnapshotSummary *summary);

/* the spec of a manifest of the head */
extern const LakePartitionSpec *commit_source_spec(LakeCommit *commit,
												   const ManifestFile *source);

/* appends what tells a manifest, and what its entries inherit, from others */
extern void commit_source_key(const ManifestFile *source, LakeBuffer *key);

/* ---- vector_rebase.c ---- */

/*
 * The commit's changes on its head: where others have given data files new
 * vectors, which conflict_find has no objections to, with vectors of both's
 * positions that replace them.  The commit's own changes if there are none.
 */
extern const ChangeSet *vectors_rebase(LakeCommit *commit);

/* ---- manifest_merge.c ---- */

extern ManifestMerge *manifest_merge_create(LakeArena *arena);

/*
 * Replaces groups of small manifests among rows, which are of one content, by
 * one manifest each (reference, 2.9).
 */
extern void manifest_merge_apply(LakeCommit *commit, LakeBuffer *rows);

/* ---- conflict.c ---- */

extern const Conflict *conflict_make(LakeArena *arena, ConflictKind kind,
									 const char *format,...)
			__attribute__((format(printf, 3, 4)));

/*
 * Checks the changes against the snapshots between their base and head (NULL
 * snapshot: the table is empty), by reference 6.2-6.4 and decisions 6.1.  NULL,
 * or what stands in the way, in arena.  That removed files are live is not looked
 * at here, but where they are removed.
 */
extern const Conflict *conflict_find(LakeArena *arena, LakeStore *store,
									 const LakeTable *head,
									 const ChangeSet *changes);

/* what the checks for conflicts share */
typedef struct ConflictCheck
{
	LakeArena  *arena;			/* of the sentence */
	LakeArena  *scratch;
	LakeStore  *store;
	const LakeTable *head;
	const ChangeSet *changes;
	/* added between base and head, from old to new */
	int			snapshot_count;
	const LakeSnapshot **snapshots;
	/* of the reads' filters */
	LakeBuffer	columns;		/* of BoundsColumn */
} ConflictCheck;

/* does a check concern this statement? */
typedef bool (*ReadTest) (const ChangeRead *read);

/*
 * The first of those reads whose filter the reader's current entry may match;
 * NULL if there is none.
 */
extern const ChangeRead *conflict_match(const ConflictCheck *check,
										ReadTest test, LakeArena *arena,
										ManifestReader *reader);

/* "that match (a = 3), as this transaction's DELETE looked for" */
extern const char *conflict_filter_text(const ConflictCheck *check,
										const ChangeRead *read);

/*
 * Has the snapshot, one of those in between, only deletes of deletions?  Not so
 * if rows may have been updated before it: who merges delete files takes over
 * what others have in them.
 */
extern bool conflict_only_deletes(const ConflictCheck *check, int64_t id);

/* ---- conflict_deletes.c ---- */

/* new deletes, of rows that the changes concern; as conflict_find */
extern const Conflict *conflict_find_deletes(const ConflictCheck *check);

/* ---- partition_path.c ---- */

/* "a=1/b=x+y", by the names and values of a spec's fields; in arena */
extern const char *iceberg_partition_path(LakeArena *arena,
										  const LakePartitionSpec *spec,
										  const LakeValue *partition);

/* ---- summary.c: what a snapshot's summary says of its changes ---- */

extern SnapshotSummary *summary_create(LakeArena *arena);
extern void summary_add_file(SnapshotSummary *summary,
							 const WrittenFile *file);

/* an entry of a manifest that the commit removes; partition: of spec */
extern void summary_remove_entry(SnapshotSummary *summary,
								 const IcebergEntry *entry,
								 const LakePartitionSpec *spec,
								 const LakeValue *partition);

/* adds what another one has counted */
extern void summary_merge(SnapshotSummary *summary,
						  const SnapshotSummary *other);

/* nothing is added or removed */
extern bool summary_is_empty(const SnapshotSummary *summary);

/* of the snapshot's list */
typedef struct ManifestCounts
{
	int64_t		created;
	int64_t		kept;			/* of the parent's */
	int64_t		replaced;		/* of the parent's, by created ones */
} ManifestCounts;

/*
 * The pairs of the reference's 5.8, with totals that follow from the parent's
 * summary (NULL: none), and the caller's own pairs last; count is of pairs.
 * partition_limit: write.summary.partition-limit.
 */
extern const char *const *summary_pairs(SnapshotSummary *summary,
										const IcebergSnapshotInfo *parent,
										int64_t partition_limit,
										const ManifestCounts *manifests,
										const char *const *extra,
										int extra_count, int *pair_count);

/* "append", "delete", "overwrite" (reference, 5.7) */
extern const char *summary_operation(const SnapshotSummary *summary);

/* ---- properties.c ---- */

/* text: a JSON object, which must live as long as the table */
extern void properties_parse(LakeArena *arena, LakeBytes text,
							 IcebergTable *table);

/* ---- resolve.c ---- */

/* LakeFormat.resolve */
extern LakeVersion iceberg_resolve(LakeArena *arena, const LakeTable *table,
								   const LakeSelector *selector);

/* ---- table_history.c ---- */

/* a snapshot with its summary out of its JSON, in arena */
extern const IcebergSnapshotInfo *snapshot_info_read(LakeArena *arena,
													 LakeBytes text);

/* ---- snapshot.c ---- */

/*
 * A snapshot id; false when it is none.  There are writers of ids above
 * INT64_MAX (DuckDB's tests have one): they wrap around.
 */
extern bool snapshot_parse_id(LakeBytes value, int64_t *id);

/*
 * The two members of a snapshot's JSON that checks over all snapshots need;
 * stops when both are found.  sequence_number may be NULL, for who does not
 * need it, and is 0 when it is absent.
 */
extern void snapshot_scan(LakeBytes text, int64_t *id,
						  int64_t *sequence_number);

/* a whole snapshot, whose id has been found to be that */
extern IcebergSnapshot *snapshot_parse(LakeArena *arena, LakeBytes text,
									   int64_t id);

/* ---- partition_spec.c ---- */

/*
 * A spec from its JSON array of fields.  Types are those of the table's
 * current schema; of a dropped column, those of the newest schema that has it.
 */
extern void partition_spec_parse(LakeArena *arena, LakeJson *fields,
								 int32_t id, const LakeTable *table,
								 LakePartitionSpec *spec);

/* the member "partition-specs" */
extern LakePartitionSpec *partition_specs_parse(LakeArena *arena,
												LakeJson *specs,
												const LakeTable *table,
												int *count);

/* appends the JSON array of a spec's fields */
extern void partition_spec_to_json(LakeBuffer *out,
								   const LakePartitionSpec *spec);

/* ---- bytes_map.c ---- */

typedef struct BytesMapEntry
{
	LakeBytes	key;			/* the caller's, as long as the map lives */
	uint64_t	hash;
	void	   *value;			/* NULL: the place is free */
} BytesMapEntry;

typedef struct BytesMap
{
	LakeArena  *arena;
	size_t		count;
	size_t		capacity;		/* a power of two */
	BytesMapEntry *entries;
} BytesMap;

extern void bytes_map_init(BytesMap *map, LakeArena *arena);

/* NULL when the key is absent */
extern void *bytes_map_find(const BytesMap *map, LakeBytes key);

/* adds a key that is absent */
extern void bytes_map_add(BytesMap *map, LakeBytes key, void *value);

/* ---- bytes_pool.c ---- */

typedef struct BytesPool
{
	LakeArena  *arena;
	uint8_t    *next;			/* in the newest piece */
	size_t		left;
} BytesPool;

extern void bytes_pool_init(BytesPool *pool, LakeArena *arena);

/* a copy in the pool's arena, with a NUL behind it */
extern LakeBytes bytes_pool_copy(BytesPool *pool, LakeBytes bytes);

/* ---- packed_bounds.c: one column's bounds in the files of a manifest ---- */

typedef struct PackedBounds PackedBounds;

/* files of a block, one bit each */
#define PACKED_BLOCK 64

/* of a scalar type, which is copied */
extern PackedBounds *packed_bounds_create(LakeArena *arena, int32_t field_id,
										  const LakeType *type);

/* the next file's, of the type; bytes are copied */
extern void packed_bounds_add(PackedBounds *packed, const LakeBounds *bounds);

/* after the last file: merges them by blocks */
extern void packed_bounds_finish(PackedBounds *packed);

/* a file's, for estimates: counts are rounded */
extern void packed_bounds_get(const PackedBounds *packed, size_t i,
							  LakeBounds *bounds);
extern bool packed_bounds_is_of(const PackedBounds *packed, int32_t field_id,
								const LakeType *type);

/*
 * Which of a block's files may match the (normalised) predicate, as
 * predicate_may_match() would say of each.  files: those to look at; nothing is
 * known of columns that are not among the given ones.
 */
extern uint64_t packed_bounds_match(const Predicate *predicate,
									const PackedBounds *const *columns,
									int column_count, size_t block,
									uint64_t files);

/* ---- avro_field.c: fields of Avro records, checked ---- */

/*
 * Opens a manifest list or manifest; what: "manifest".  The file is closed
 * with arena.  Throws MISSING, UNSUPPORTED when the file is encrypted.
 */
extern AvroReader *avro_field_open(LakeArena *arena, LakeStore *store,
								   const char *path, const char *what);

/* name: the spec's word for the field; CORRUPT when it is no integer */
extern int64_t avro_field_int64(const AvroSlot *slot, const char *name,
								int64_t if_null);

/* data is NULL when the field is; CORRUPT when it has other than bytes */
extern LakeBytes avro_field_bytes(const AvroSlot *slot, const char *name);

/* is it that word (given in lower case) in any case? */
extern bool avro_field_is_word(LakeBytes bytes, const char *word);

/* a required location: CORRUPT when it is NULL, empty or has a NUL */
extern LakeBytes avro_field_location(const AvroSlot *slot, const char *name);

/* ---- manifest_schema.c: Avro schemas, written ---- */

/*
 * Appends a record's field, with a comma behind another one.  type is JSON.
 * Names that Avro does not take are replaced as Java does.
 */
extern void avro_schema_field(LakeBuffer *schema, const char *name,
							  int32_t id, const char *type,
							  bool is_optional);

/* the record type of a spec's tuples; throws UNSUPPORTED, naming the field */
extern const char *avro_schema_partition(LakeArena *arena,
										 const LakePartitionSpec *spec);

/* bytes of a decimal in it */
extern size_t avro_decimal_size(int precision);

/* ---- partition_tuple.c; slot: NULL when the value is NULL ---- */

/* appends bytes that are equal exactly for equal values of the field */
extern void partition_value_key(const PartitionField *field,
								const AvroSlot *slot, LakeBuffer *key);

/* bytes are copied to arena; CORRUPT when the slot is no such value */
extern void partition_value_read(LakeArena *arena, const PartitionField *field,
								 const AvroSlot *slot, LakeValue *value);

/* as avro_schema_partition has the field */
extern void partition_value_write(AvroWriter *avro,
								  const PartitionField *field,
								  const LakeValue *value);

/* ---- manifest_spec.c: whose spec a manifest is of, and its tuples ---- */

typedef struct ManifestSpec
{
	const LakePartitionSpec *spec;
	LakeJson   *header_fields;	/* the header's "partition-spec", or NULL */
	int		   *slots;			/* of the spec's fields; -1: not in the file */
} ManifestSpec;

/*
 * The spec by the list's or the header's id.  One that the table metadata lacks
 * is taken from the header and lives in spec_arena; CORRUPT when that has none.
 */
extern void manifest_spec_find(ManifestSpec *spec, LakeArena *arena,
							   LakeArena *spec_arena, const LakeTable *table,
							   const ManifestFile *manifest,
							   const AvroReader *avro);

/* asks for the values of all fields; CORRUPT when the tuples lack one */
extern void manifest_spec_project(ManifestSpec *spec, LakeArena *arena,
								  AvroReader *avro);

/* a partition value of the record in slots; NULL when it is NULL or void */
extern const AvroSlot *manifest_spec_slot(const ManifestSpec *spec,
										  const AvroSlot *slots, int field);

/* the spec's id by the header; 0 if it is silent */
extern int32_t manifest_spec_header_id(const AvroReader *avro);

/* does the header say "content": "deletes"? */
extern bool manifest_spec_says_deletes(const AvroReader *avro);

/* ---- manifest.c ---- */

/* a live entry; bytes are borrowed until the reader's next call */
typedef struct ManifestEntry
{
	FileContent content;
	LakeBytes	path;
	LakeBytes	format;			/* "PARQUET", in any case */
	int64_t		snapshot_id;	/* that added the file */
	/* data sequence number; -1: missing, though it must not be */
	int64_t		sequence_number;
	int64_t		first_row_id;	/* -1 none */
	int64_t		record_count;	/* -1 unknown */
	int64_t		size;			/* bytes */
	/* of delete files */
	LakeBytes	referenced_file;	/* data NULL: none */
	int64_t		content_offset; /* -1 none */
	int64_t		content_size;
	LakeBytes	lower_path;		/* bounds of file_path, data NULL: unknown */
	LakeBytes	upper_path;
	int			equality_count;
	const AvroSlot *equality_ids;	/* integers, checked */
} ManifestEntry;

/* a column whose bounds a predicate asks for */
typedef struct BoundsColumn
{
	int32_t		field_id;
	const LakeType *type;
} BoundsColumn;

/*
 * Opens a manifest for reading in arena.  A spec that the table metadata lacks
 * is taken from the manifest's header and lives in spec_arena.
 */
extern ManifestReader *manifest_reader_open(LakeArena *arena,
											LakeArena *spec_arena,
											const LakeTable *table,
											LakeStore *store,
											const ManifestFile *manifest,
											const BoundsColumn *columns,
											int column_count);
extern const LakePartitionSpec *manifest_reader_spec(
													 const ManifestReader *reader);

/* the next entry that is not DELETED; false at the end */
extern bool manifest_reader_next(ManifestReader *reader,
								 ManifestEntry *entry);

/* appends bytes that are equal exactly for equal (spec id, partition tuple) */
extern void manifest_reader_partition_key(const ManifestReader *reader,
										  LakeBuffer *key);

/* the current entry's partition tuple, one value a field, in arena */
extern LakeValue *manifest_reader_partition(const ManifestReader *reader,
											LakeArena *arena);

/* a BoundsLookup for the current entry; arg is the reader */
extern bool manifest_reader_bounds(void *arg, int32_t field_id,
								   const LakeType *type, LakeBounds *bounds);

/* sets the bounds of a column from their bytes, if they can be believed */
extern void bounds_set(LakeBounds *bounds, const LakeType *type,
					   LakeBytes lower, LakeBytes upper);

/* bounds of a column that has that value only */
extern void bounds_set_value(LakeBounds *bounds, const LakeType *type,
							 const LakeValue *value);

/* ---- manifest_contents.c: what planning needs of a whole manifest ---- */

/* a partition tuple that occurs in a manifest */
typedef struct ManifestTuple
{
	uint32_t	index;			/* among the manifest's tuples */
	LakeBytes	key;			/* see manifest_reader_partition_key */
	const LakeValue *values;
} ManifestTuple;

typedef struct ManifestDataFile
{
	const char *path;
	const char *format;			/* NULL: Parquet */
	/* as in ManifestEntry */
	int64_t		record_count;
	int64_t		size;
	int64_t		sequence_number;
	int64_t		first_row_id;
	const ManifestTuple *tuple;
} ManifestDataFile;

typedef struct ManifestDeleteFile
{
	ManifestEntry entry;
	const ManifestTuple *tuple;
} ManifestDeleteFile;

/* live entries; shared, and unchanged but for bounds that are added */
typedef struct ManifestContents
{
	LakeArena  *arena;			/* owns all of it */
	ManifestFile listed;		/* what the entries inherited */
	LakePartitionSpec spec;		/* a copy, for comparison */
	size_t		file_count;
	const ManifestDataFile *files;
	size_t		delete_count;	/* entries that are deletes */
	const ManifestDeleteFile *deletes;
	size_t		tuple_count;
	/* the data files' values of the spec's fields of known types */
	int			tuple_bounds_count;
	const PackedBounds **tuple_bounds;
	struct ManifestColumn *columns; /* bounds of columns, so far */
} ManifestContents;

/*
 * The manifest's contents, parsed now or before, held for holder; its spec as
 * manifest_reader_open finds it.  They have the bounds of the columns given.
 */
extern const ManifestContents *manifest_contents_get(LakeArena *holder,
													 LakeArena *spec_arena,
													 const LakeTable *table,
													 LakeStore *store,
													 const ManifestFile *manifest,
													 const BoundsColumn *columns,
													 int column_count,
													 const LakePartitionSpec **spec);

/* of a column that the contents were asked for with */
extern const PackedBounds *manifest_contents_bounds(
													const ManifestContents *contents,
													const BoundsColumn *column);

/* ---- scan_plan.c: predicates on files ---- */

/* appends the columns of the predicate's leaves, of BoundsColumn, each once */
extern void plan_collect_columns(LakeBuffer *columns,
								 const Predicate *predicate);

/* what a tuple's bounds are told from */
typedef struct TupleLookup
{
	const LakePartitionSpec *spec;
	const LakeValue *values;
} TupleLookup;

/* a BoundsLookup for a projected predicate; arg is a TupleLookup */
extern bool plan_tuple_bounds(void *arg, int32_t field_id,
							  const LakeType *type, LakeBounds *bounds);

/* ---- column_bounds.c ---- */

/* LakeFormat.estimate */
extern void iceberg_estimate(LakeArena *arena, const LakeTable *table,
							 LakeStore *store, const LakeSnapshot *snapshot,
							 const LakeField *const *fields, int count,
							 ColumnEstimate *estimates);

/* ---- delete_index.c ---- */

typedef struct DeleteEntry DeleteEntry;

/* delete files in order of their sequence numbers, once sorted */
typedef struct DeleteList
{
	LakeBuffer	entries;		/* of DeleteEntry * */
	bool		is_sorted;
	const DeleteFile **files;	/* of the sorted entries; the plan's */
	size_t		counted_from;	/* entries from here on are in its numbers */
} DeleteList;

/* a partition that has deletes, or is asked for them */
typedef struct Partition
{
	const LakePartitionSpec *spec;
	LakeBytes	key;			/* see manifest_reader_partition_key */
	bool		may_match;		/* the predicate's projection */
	DeleteList	position_deletes;
	DeleteList	equality_deletes;	/* unless they are global */
} Partition;

typedef struct DeleteIndex DeleteIndex;

/*
 * DeleteFile objects are made in arena, everything else in scratch, which ends
 * with planning.
 */
extern DeleteIndex *delete_index_create(LakeArena *arena, LakeArena *scratch);
extern void delete_list_init(DeleteList *list, LakeArena *scratch);
extern void delete_index_add(DeleteIndex *index, const ManifestEntry *entry,
							 Partition *partition);
extern bool delete_index_is_empty(const DeleteIndex *index);

/*
 * When all deletes are in: sets task's, and counts them in plan.  A task's
 * sequence number may be -1, unknown: position deletes apply then.
 */
extern void delete_index_attach(DeleteIndex *index, ScanTask *task,
								Partition *partition, ScanPlan *plan);

#endif							/* LAKE_ICEBERG_INT_H */
