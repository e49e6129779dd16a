/*
 * Files of deletes, read back by the readers of deletes: as whole scans would,
 * and byte by byte where other engines look.
 */
#include "table/file_sink.h"

#include <math.h>

#include "base/json.h"
#include "encode.h"
#include "sink_fixture.h"
#include "table/deletes.h"
#include "table/table_int.h"
#include "unit.h"

#define DATA_FILES 12

static LakeType type_int = {.kind = LAKE_INT};
static LakeType type_float = {.kind = LAKE_FLOAT};
static LakeField fields[] = {{.id = 1, .name = "n", .type = &type_int}};
static const LakeSchema schema = {.field_count = 1, .fields = fields};

/* deletes of several data files, in two specs and some partitions */
typedef struct Deletes
{
	SinkFixture *fixture;
	PartitionField partition_fields[2];
	LakePartitionSpec specs[2];
	LakeValue	partitions[DATA_FILES][2];
	FileDeletes deletes[DATA_FILES];
} Deletes;

static LakeBitmap *
random_positions(LakeArena *arena, uint64_t *random, int i)
{
	LakeBitmap *bitmap = bitmap_create(arena);
	uint64_t	count = i % 4 == 0 ? 1 : i % 4 == 1 ? 20000 : 500;

	for (uint64_t at = 0; at < count; at++)
		bitmap_add(bitmap, i % 3 == 0 ? 70000 + at :
				   encode_random(random) % (i % 4 == 1 ? 100000 : 1 << 20));
	return bitmap;
}

static Deletes *
make_deletes(LakeArena *arena)
{
	Deletes    *all = lake_alloc(arena, sizeof *all);
	uint64_t	random = 42;

	all->fixture = sink_fixture_create(arena, &schema);
	for (int i = 0; i < 2; i++)
	{
		all->partition_fields[0].result_type = &type_int;
		all->partition_fields[1].result_type = &type_float;
		all->specs[i] = (LakePartitionSpec)
		{
			.id = i, .field_count = 2, .fields = all->partition_fields
		};
	}
	for (int i = 0; i < DATA_FILES; i++)
	{
		LakeValue  *partition = all->partitions[i];

		partition[0].i = i % 2;
		partition[0].is_null = i % 5 == 0;
		partition[1].d = i % 3 == 0 ? (double) NAN : i % 3 == 1 ? 0.0 : -0.0;
		all->deletes[i] = (FileDeletes)
		{
			.path = lake_printf(arena, "%s/data/file-%02d.parquet",
								all->fixture->top, (i * 7) % DATA_FILES),
				.spec = &all->specs[i == DATA_FILES - 1],
				.partition = partition,
				.positions = random_positions(arena, &random, i)
		};
	}
	return all;
}

static const FileDeletes *
deletes_of(const Deletes *all, const char *path)
{
	for (int i = 0; i < DATA_FILES; i++)
	{
		if (strcmp(all->deletes[i].path, path) == 0)
			return &all->deletes[i];
	}
	return NULL;
}

static bool
is_equal(const LakeBitmap *a, const LakeBitmap *b, LakeArena *arena)
{
	LakeBuffer	left;
	LakeBuffer	right;

	buffer_init(&left, arena);
	buffer_init(&right, arena);
	bitmap_format64(a, &left);
	bitmap_format64(b, &right);
	return left.len == right.len &&
		memcmp(left.data, right.data, left.len) == 0;
}

static bool
has_same_tuple(const FileDeletes *a, const FileDeletes *b, LakeArena *arena)
{
	LakeBuffer	left;
	LakeBuffer	right;

	buffer_init(&left, arena);
	buffer_init(&right, arena);
	partition_values_key(a->spec, a->partition, &left);
	partition_values_key(b->spec, b->partition, &right);
	return left.len == right.len &&
		memcmp(left.data, right.data, left.len) == 0;
}

/* ---- position deletes ---- */

static DeleteScan
open_scan(LakeArena *arena, const Deletes *all, const WrittenFile *file)
{
	TaskReaderOptions options = {
		.store = all->fixture->store, .schema = &schema
	};
	DeleteScan	scan;

	memset(&scan, 0, sizeof scan);
	delete_scan_open(&scan, arena, &options, file->path, NULL);
	return scan;
}

static void
add_row(void *arg, const LakeVector *const *columns, uint32_t count)
{
	LakeBuffer *rows = arg;

	for (uint32_t i = 0; i < count; i++)
	{
		LakeBytes	path = *(const LakeBytes *) vector_value(columns[0], i);

		buffer_append(rows, path.data, path.len);
		buffer_printf(rows, " %012lld\n", (long long)
					  *(const int64_t *) vector_value(columns[1], i));
	}
}

/* lines of path and position, as they are in the file */
static char *
list_rows(LakeArena *arena, const Deletes *all, const WrittenFile *file)
{
	static const LakeType type_string = {.kind = LAKE_STRING};
	static const LakeType type_long = {.kind = LAKE_LONG};
	static const LakeField path = {
		.id = LAKE_FIELD_DELETE_PATH, .name = "file_path",
		.required = true, .type = &type_string
	};
	static const LakeField position = {
		.id = LAKE_FIELD_DELETE_POS, .name = "pos", .required = true,
		.type = &type_long
	};
	static const LakeField *const columns[] = {&path, &position};
	DeleteScan	scan = open_scan(arena, all, file);
	LakeBuffer	rows;

	buffer_init(&rows, arena);
	delete_scan_begin(&scan, columns, 2);
	for (int i = 0; i < parquet_file_row_groups(scan.schema->parquet); i++)
		delete_scan_row_group(&scan, i, add_row, &rows);
	CHECK_STRING(parquet_file_metadata(scan.schema->parquet, "delete-type"),
				 "position");
	CHECK(parquet_file_has_field_ids(scan.schema->parquet));
	buffer_append_byte(&rows, '\0');
	return (char *) rows.data;
}

/* the rows ascend; returns how many there are */
static int64_t
check_order(char *rows)
{
	char	   *before = NULL;
	int64_t		count = 0;

	for (char *line = strtok(rows, "\n"); line != NULL;
		 line = strtok(NULL, "\n"))
	{
		CHECK(before == NULL || strcmp(before, line) < 0);
		before = line;
		count++;
	}
	return count;
}

/* all files together have what was to be deleted, each in its own partition */
static void
check_positions(LakeArena *arena, const Deletes *all,
				const WrittenFile *const *files, int count)
{
	for (int i = 0; i < DATA_FILES; i++)
	{
		const FileDeletes *deletes = &all->deletes[i];
		LakeBitmap *found = bitmap_create(arena);

		for (int j = 0; j < count; j++)
		{
			DeleteScan	scan = open_scan(arena, all, files[j]);
			FileDeletes of_file = {.spec = files[j]->spec,
			.partition = files[j]->partition};
			LakeBitmap *part = position_file_read_path(arena, &scan,
													   deletes->path);

			if (part == NULL || bitmap_cardinality(part) == 0)
				continue;
			CHECK(has_same_tuple(deletes, &of_file, arena));
			CHECK(files[j]->referenced_file == NULL ||
				  strcmp(files[j]->referenced_file, deletes->path) == 0);
			bitmap_union(found, part);
		}
		CHECK(is_equal(found, deletes->positions, arena));
	}
}

static const WrittenFile *const *
write_positions(LakeArena *arena, Deletes *all, int *count)
{
	return position_deletes_write(arena, &all->fixture->options, all->deletes,
								  DATA_FILES, count);
}

static void
a_file_each_has_the_positions_of_its_data_file(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	const WrittenFile *const *files;
	int			count;

	all->fixture->write.deletes_by_file = true;
	files = write_positions(arena, all, &count);
	CHECK_INT(count, DATA_FILES);
	for (int i = 0; i < count; i++)
	{
		const FileDeletes *deletes = deletes_of(all,
												files[i]->referenced_file);
		char	   *rows = list_rows(arena, all, files[i]);

		CHECK(deletes != NULL);
		CHECK_INT(check_order(rows), bitmap_cardinality(deletes->positions));
		CHECK_INT(files[i]->record_count,
				  bitmap_cardinality(deletes->positions));
		CHECK_INT(files[i]->kind, WRITTEN_POSITION_DELETES);
		CHECK_INT(files[i]->content_offset, -1);
		CHECK_INT(files[i]->sort_order_id, -1);
		CHECK(files[i]->split_count > 0 && files[i]->split_offsets[0] == 4);
	}
	check_positions(arena, all, files, count);
}

static void
a_partition_has_one_file(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	const WrittenFile *const *files;
	int			count;
	int			single = 0;

	files = write_positions(arena, all, &count);
	check_positions(arena, all, files, count);
	for (int i = 0; i < count; i++)
	{
		FileDeletes left = {.spec = files[i]->spec,
		.partition = files[i]->partition};

		CHECK_INT(check_order(list_rows(arena, all, files[i])),
				  files[i]->record_count);
		single += files[i]->referenced_file != NULL;
		for (int j = 0; j < i; j++)
		{
			FileDeletes right = {.spec = files[j]->spec,
			.partition = files[j]->partition};

			CHECK(!has_same_tuple(&left, &right, arena));
		}
	}
	/* 3 x 3 tuples, of which one more is in another spec */
	CHECK(count > 6 && count < DATA_FILES);
	CHECK(single > 0 && single < count);
}

static const ColumnMetrics *
metrics_of(const WrittenFile *file, int32_t field_id)
{
	CHECK_INT(file->metric_count, 2);
	CHECK(file->metrics[0].field_id < file->metrics[1].field_id);
	return &file->metrics[file->metrics[1].field_id == field_id];
}

static void
bounds_are_those_of_one_data_file_or_none(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	int			count;
	const WrittenFile *const *files = write_positions(arena, all, &count);

	for (int i = 0; i < count; i++)
	{
		const ColumnMetrics *path = metrics_of(files[i],
											   LAKE_FIELD_DELETE_PATH);
		const ColumnMetrics *position = metrics_of(files[i],
												   LAKE_FIELD_DELETE_POS);
		const char *referenced = files[i]->referenced_file;
		int64_t		bounds[2];
		const LakeBitmap *positions;

		CHECK(path->size > 0 && position->size > 0);
		CHECK_INT(path->value_count, -1);
		CHECK_INT(position->null_count, -1);
		if (referenced == NULL)
		{
			CHECK(path->lower.data == NULL && path->upper.data == NULL);
			CHECK(position->lower.data == NULL &&
				  position->upper.data == NULL);
			continue;
		}
		CHECK_INT(path->lower.len, strlen(referenced));
		CHECK(memcmp(path->lower.data, referenced, path->lower.len) == 0);
		CHECK(memcmp(path->upper.data, referenced, path->upper.len) == 0);
		memcpy(&bounds[0], position->lower.data, 8);
		memcpy(&bounds[1], position->upper.data, 8);
		positions = deletes_of(all, referenced)->positions;
		CHECK(bitmap_contains(positions, (uint64_t) bounds[0]));
		CHECK(bitmap_contains(positions, (uint64_t) bounds[1]));
		CHECK_INT(bitmap_count_range(positions, (uint64_t) bounds[0],
									 (uint64_t) bounds[1] + 1),
				  bitmap_cardinality(positions));
	}
}

static void
files_roll_at_the_target_size(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	const WrittenFile *const *files;
	int			count;
	int			rolled;

	(void) write_positions(arena, all, &count);
	all->fixture->write.target_delete_bytes = 4096;
	all->fixture->write.page_rows = 1000;
	files = write_positions(arena, all, &rolled);
	CHECK(rolled > count + 3);
	check_positions(arena, all, files, rolled);
}

static void
no_deletes_are_no_files(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	int			count = -1;

	(void) position_deletes_write(arena, &all->fixture->options, NULL, 0,
								  &count);
	CHECK_INT(count, 0);
	(void) deletion_vectors_write(arena, &all->fixture->options, NULL, 0);
	CHECK_INT(all->fixture->file_number, 0);
}

/* ---- deletion vectors ---- */

static LakeBytes
read_whole(LakeArena *arena, const Deletes *all, const char *path)
{
	LakeFile   *file = lake_file_open(all->fixture->store, arena, path,
									  "Puffin file");

	return lake_file_read_all(file, arena, 1 << 24);
}

static void
a_vector_each_has_its_positions(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	const WrittenFile *const *files =
	deletion_vectors_write(arena, &all->fixture->options, all->deletes,
						   DATA_FILES);

	CHECK_INT(all->fixture->file_number, 1);
	for (int i = 0; i < DATA_FILES; i++)
	{
		DeleteFile	vector = {
			.kind = DELETE_VECTOR, .path = files[i]->path,
			.record_count = files[i]->record_count, .size = files[i]->size,
			.content_offset = files[i]->content_offset,
			.content_size = files[i]->content_size
		};
		LakeFile   *file = lake_file_open(all->fixture->store, arena,
										  files[i]->path, "Puffin file");

		CHECK_INT(file->size, files[i]->size);
		CHECK(is_equal(deletes_read_vector(arena, file, &vector),
					   all->deletes[i].positions, arena));
		CHECK_STRING(files[i]->referenced_file, all->deletes[i].path);
		CHECK_INT(files[i]->kind, WRITTEN_DELETION_VECTOR);
		CHECK_INT(files[i]->metric_count, 0);
		CHECK(files[i]->spec == all->deletes[i].spec);
		CHECK(files[i]->partition == all->deletes[i].partition);
	}
}

static void
the_footer_tells_the_blobs(LakeArena *arena)
{
	Deletes    *all = make_deletes(arena);
	const WrittenFile *const *files;
	LakeBytes	bytes;
	uint32_t	len;
	LakeJson   *footer;
	LakeJson   *blobs;

	all->deletes[2].path = "a \"quoted\"\tname";
	files = deletion_vectors_write(arena, &all->fixture->options, all->deletes,
								   DATA_FILES);
	bytes = read_whole(arena, all, files[0]->path);
	CHECK(memcmp(bytes.data, "PFA1", 4) == 0);
	CHECK(memcmp(bytes.data + bytes.len - 8, "\0\0\0\0PFA1", 8) == 0);
	memcpy(&len, bytes.data + bytes.len - 12, sizeof len);
	CHECK(memcmp(bytes.data + bytes.len - 16 - len, "PFA1", 4) == 0);
	bytes.data += bytes.len - 12 - len;
	bytes.len = len;
	footer = json_parse(arena, bytes, "Puffin footer");
	CHECK_STRING(json_get_string(json_get(footer, "properties"),
								 "created-by"),
				 "lakefdw version 0.0.0");
	blobs = json_get(footer, "blobs");
	CHECK_INT(json_array_count(blobs, "blobs"), DATA_FILES);
	for (int i = 0; i < DATA_FILES; i++)
	{
		LakeJson   *blob = json_array_at(blobs, (size_t) i);
		LakeJson   *properties = json_get(blob, "properties");

		CHECK_INT(json_get_int64(blob, "offset"),
				  files[i]->content_offset);
		CHECK_INT(json_get_int64(blob, "length"),
				  files[i]->content_size);
		CHECK_INT(json_get_int64(blob, "snapshot-id"), -1);
		CHECK_STRING(json_get_string(properties, "referenced-data-file"), all->deletes[i].path);
		CHECK_STRING(json_get_string(properties, "cardinality"),
					 lake_printf(arena, "%lld",
								 (long long) files[i]->record_count));
	}
}

/* as the reference implementation has them */
static void
blobs_are_those_of_the_reference(LakeArena *arena)
{
	static const struct
	{
		int			count;
		uint64_t	positions[5];
		const char *hex;
	}			cases[] = {
		{5, {1, 3, 5, 7, 9},
		"0000002ad1d339640100000000000000000000003a3000000100000000000400"
		"1000000001000300050007000900b3fb20be"},
		{4, {100, 101, 2147483747, 2147483748},
		"00000030d1d339640100000000000000000000003a3000000200000000000100"
		"00800100180000001c000000640065006300640015eb1c7c"},
		{1, {1},
		"00000022d1d339640100000000000000000000003a3000000100000000000000"
		"100000000100eebd85f4"},
		{3, {0, 5, 65536},
		"0000002ed1d339640100000000000000000000003a3000000200000000000100"
		"01000000180000001c000000000005000000277dbe16"},
		{2, {3, UINT64_C(1) << 32},
		"00000038d1d339640200000000000000000000003a3000000100000000000000"
		"100000000300010000003a30000001000000000000001000000000001fa4aeac"},
	};
	Deletes    *all = make_deletes(arena);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		LakeBitmap *bitmap = bitmap_create(arena);
		FileDeletes deletes = all->deletes[0];
		const WrittenFile *file;
		LakeBytes	bytes;
		LakeBuffer	hex;

		for (int j = 0; j < cases[i].count; j++)
			bitmap_add(bitmap, cases[i].positions[j]);
		deletes.positions = bitmap;
		file = deletion_vectors_write(arena, &all->fixture->options, &deletes,
									  1)[0];
		bytes = read_whole(arena, all, file->path);
		buffer_init(&hex, arena);
		for (int64_t at = 0; at < file->content_size; at++)
			buffer_printf(&hex, "%02x",
						  bytes.data[file->content_offset + at]);
		buffer_append_byte(&hex, '\0');
		CHECK_STRING((const char *) hex.data, cases[i].hex);
	}
}

static const UnitTest tests[] = {
	UNIT(a_file_each_has_the_positions_of_its_data_file),
	UNIT(a_partition_has_one_file),
	UNIT(bounds_are_those_of_one_data_file_or_none),
	UNIT(files_roll_at_the_target_size),
	UNIT(no_deletes_are_no_files),
	UNIT(a_vector_each_has_its_positions),
	UNIT(the_footer_tells_the_blobs),
	UNIT(blobs_are_those_of_the_reference),
};

UNIT_MAIN(tests)
