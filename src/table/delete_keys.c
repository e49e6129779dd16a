/*
 * Keys of equality deletes.
 *
 * A tuple of key values becomes a string of bytes, so that equality is
 * equality of bytes: NULL equals NULL, NaN equals NaN, and -0.0 is not 0.0,
 * as in Java's total order of floats.  Vectors are encoded a part at a time.
 *
 * The keys of all delete files with the same field ids are in one set, each
 * with the list of files that have it.  A data file is probed once, however
 * many delete files apply to it, and only lists that name one of those count.
 *
 * Iceberg spec, "Equality Delete Files".
 */
#include "table/deletes.h"

#include <string.h>

#include "base/bytes.h"
#include "table/table_int.h"

#define NO_LINK			UINT32_MAX
#define FIRST_LINKS		64

/* for functions that are only fast when their arguments are constants */
#define ALWAYS_INLINE	inline __attribute__((always_inline))

/* ---- tuples as byte strings ---- */

/* rows of a batch, encoded; row i is bytes[starts[i]..starts[i + 1]) */
typedef struct EncodedRows
{
	LakeBuffer	bytes;
	uint32_t	starts[BATCH_MAX_ROWS + 1];
	uint32_t	ends[BATCH_MAX_ROWS];	/* while parts are appended */
	uint32_t	numbers[BATCH_MAX_ROWS];	/* of the keys in the set */
} EncodedRows;

static inline bool
part_is_null(const LakeVector *part, uint32_t row)
{
	return part->nulls != NULL && part->nulls[row] != 0;
}

static inline const uint8_t *
part_slot(const LakeVector *part, uint32_t row, size_t width)
{
	if (part->dict != NULL)
		return (const uint8_t *) part->dict->values +
			(size_t) part->codes[row] * width;
	return (const uint8_t *) part->values + (size_t) row * width;
}

/*
 * A part is a NULL flag and the value, zeros if it is NULL; bytes come with
 * their length.  Without bytes all rows are equally long.
 */
static uint32_t
fixed_size(const LakeVector *part)
{
	return 1 + (part->layout == VECTOR_BYTES ? (uint32_t) sizeof(uint32_t) :
				(uint32_t) vector_layout_width(part->layout));
}

static _Noreturn void
throw_too_long(void)
{
	lake_throw(LAKE_ERROR_LIMIT,
			   "keys of equality deletes are longer than %zu bytes",
			   KEY_SET_MAX_BYTES);
}

static void
add_lengths(EncodedRows *rows, const LakeVector *part, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		const LakeBytes *value;

		if (part_is_null(part, i))
			continue;
		value = (const LakeBytes *) part_slot(part, i, sizeof(LakeBytes));
		if (value->len > KEY_SET_MAX_BYTES - rows->ends[i])
			throw_too_long();
		rows->ends[i] += (uint32_t) value->len;
	}
}

/* sets starts, and ends to the same; returns the bytes of all rows */
static size_t
measure_rows(EncodedRows *rows, const LakeVector *parts, int part_count,
			 uint32_t count)
{
	uint32_t	fixed = 0;
	size_t		total = 0;

	for (int i = 0; i < part_count; i++)
		fixed += fixed_size(&parts[i]);
	for (uint32_t i = 0; i < count; i++)
		rows->ends[i] = fixed;
	for (int i = 0; i < part_count; i++)
		if (parts[i].layout == VECTOR_BYTES)
			add_lengths(rows, &parts[i], count);
	for (uint32_t i = 0; i < count; i++)
	{
		rows->starts[i] = (uint32_t) total;
		total += rows->ends[i];
		if (total > KEY_SET_MAX_BYTES)
			throw_too_long();
		rows->ends[i] = rows->starts[i];
	}
	rows->starts[count] = (uint32_t) total;
	return total;
}

/* one NaN for all, so that equal values are equal bytes */
static ALWAYS_INLINE void
copy_value(uint8_t *dst, const uint8_t *src, VectorLayout layout,
		   size_t width)
{
	static const float nan_single = __builtin_nanf("");
	static const double nan_double = __builtin_nan("");
	float		single;
	double		number;

	memcpy(dst, src, width);
	if (layout == VECTOR_F32)
	{
		memcpy(&single, src, sizeof single);
		if (single != single)
			memcpy(dst, &nan_single, sizeof single);
	}
	else if (layout == VECTOR_F64)
	{
		memcpy(&number, src, sizeof number);
		if (number != number)
			memcpy(dst, &nan_double, sizeof number);
	}
}

static void
append_bytes_part(EncodedRows *rows, const LakeVector *part, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		uint8_t    *dst = rows->bytes.data + rows->ends[i];
		LakeBytes	value = {0};
		uint32_t	len;

		*dst = part_is_null(part, i);
		if (!part_is_null(part, i))
			value = *(const LakeBytes *) part_slot(part, i, sizeof value);
		len = (uint32_t) value.len;
		memcpy(dst + 1, &len, sizeof len);
		if (len > 0)
			memcpy(dst + 1 + sizeof len, value.data, len);
		rows->ends[i] += 1 + (uint32_t) sizeof len + len;
	}
}

/* inlined for each width, so that the copies are single moves */
static ALWAYS_INLINE void
append_fixed_part(EncodedRows *rows, const LakeVector *part, uint32_t count,
				  size_t width)
{
	for (uint32_t i = 0; i < count; i++)
	{
		uint8_t    *dst = rows->bytes.data + rows->ends[i];
		bool		is_null = part_is_null(part, i);

		*dst++ = is_null;
		if (is_null)
			memset(dst, 0, width);
		else
			copy_value(dst, part_slot(part, i, width), part->layout, width);
		rows->ends[i] += 1 + (uint32_t) width;
	}
}

static void
append_part(EncodedRows *rows, const LakeVector *part, uint32_t count)
{
	switch (part->layout)
	{
		case VECTOR_BYTES:
			append_bytes_part(rows, part, count);
			break;
		case VECTOR_BOOL:
			append_fixed_part(rows, part, count, 1);
			break;
		case VECTOR_I32:
		case VECTOR_F32:
			append_fixed_part(rows, part, count, 4);
			break;
		case VECTOR_I64:
		case VECTOR_F64:
			append_fixed_part(rows, part, count, 8);
			break;
		case VECTOR_I128:
			append_fixed_part(rows, part, count, 16);
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_INTERNAL,
					   "a nested column is no key of an equality delete");
	}
}

/* count <= BATCH_MAX_ROWS */
static KeyRows
encode_rows(EncodedRows *rows, const LakeVector *parts, int part_count,
			uint32_t count)
{
	size_t		total = measure_rows(rows, parts, part_count, count);

	rows->bytes.len = 0;
	buffer_reserve(&rows->bytes, total);
	for (int i = 0; i < part_count; i++)
		append_part(rows, &parts[i], count);
	return (KeyRows)
	{
		count, rows->bytes.data, rows->starts
	};
}

/* ---- keys of delete files ---- */

/* a file that has a key, in the key's list */
typedef struct KeyLink
{
	uint32_t	file;
	uint32_t	next;			/* NO_LINK at the end */
} KeyLink;

struct DeleteKeys
{
	LakeArena  *arena;
	int			part_count;
	KeySet	   *set;
	uint32_t   *heads;			/* of each key's list */
	uint32_t	head_capacity;
	uint32_t	link_count;
	uint32_t	link_capacity;
	KeyLink    *links;
	EncodedRows rows;
};

DeleteKeys *
delete_keys_create(LakeArena *arena, int part_count)
{
	DeleteKeys *keys = lake_alloc(arena, sizeof(DeleteKeys));

	keys->arena = arena;
	keys->part_count = part_count;
	keys->set = key_set_create(arena);
	buffer_init(&keys->rows.bytes, arena);
	return keys;
}

uint64_t
delete_keys_size(const DeleteKeys *keys)
{
	return key_set_size(keys->set) + keys->head_capacity * sizeof(uint32_t) +
		keys->link_capacity * sizeof(KeyLink);
}

static void
add_link(DeleteKeys *keys, uint32_t key, uint32_t file)
{
	KeyLink    *link;

	if (keys->link_count == keys->link_capacity)
	{
		uint32_t	capacity = keys->link_capacity == 0 ? FIRST_LINKS :
			keys->link_capacity * 2;

		if (keys->link_count >= KEY_SET_MAX_KEYS)
			lake_throw(LAKE_ERROR_LIMIT, "delete files have more than %u keys",
					   KEY_SET_MAX_KEYS);
		keys->links = lake_realloc(keys->arena, keys->links,
								   keys->link_capacity * sizeof(KeyLink),
								   capacity * sizeof(KeyLink));
		keys->link_capacity = capacity;
	}
	link = &keys->links[keys->link_count];
	link->file = file;
	link->next = keys->heads[key];
	keys->heads[key] = keys->link_count++;
}

/* room for the lists of count keys, the first known ones of which exist */
static void
reserve_heads(DeleteKeys *keys, uint32_t known, uint32_t count)
{
	uint32_t	capacity = keys->head_capacity;

	if (count > capacity)
	{
		capacity = capacity > count / 2 ? capacity * 2 : count;
		keys->heads = lake_realloc(keys->arena, keys->heads,
								   known * sizeof(uint32_t),
								   capacity * sizeof(uint32_t));
		keys->head_capacity = capacity;
	}
	for (uint32_t i = known; i < count; i++)
		keys->heads[i] = NO_LINK;
}

void
delete_keys_add(DeleteKeys *keys, uint32_t file, const LakeVector *parts,
				uint32_t count)
{
	EncodedRows *rows = &keys->rows;
	uint32_t	known = key_set_count(keys->set);
	KeyRows		encoded = encode_rows(rows, parts, keys->part_count, count);

	key_set_add_rows(keys->set, &encoded, rows->numbers);
	reserve_heads(keys, known, key_set_count(keys->set));
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	key = rows->numbers[i];
		uint32_t	head = keys->heads[key];

		/* a key may be in a file more than once */
		if (head == NO_LINK || keys->links[head].file != file)
			add_link(keys, key, file);
	}
}

/* ---- probing ---- */

struct KeyProbe
{
	LakeArena  *arena;
	DeleteKeys *keys;
	const uint8_t *applies;		/* a byte a file */
	/* single keys that come as a dictionary: one lookup an entry */
	uint64_t	dictionary;		/* id of the one that verdicts is of */
	uint8_t    *verdicts;		/* NULL: none yet */
	size_t		verdicts_size;
	uint8_t		null_verdict;
};

KeyProbe *
key_probe_create(LakeArena *arena, DeleteKeys *keys, const uint8_t *applies)
{
	KeyProbe   *probe = lake_alloc(arena, sizeof(KeyProbe));

	probe->arena = arena;
	probe->keys = keys;
	probe->applies = applies;
	return probe;
}

static inline uint8_t
is_deleted(const KeyProbe *probe, uint32_t key)
{
	const DeleteKeys *keys = probe->keys;

	if (key == KEY_SET_NONE)
		return 0;
	for (uint32_t link = keys->heads[key]; link != NO_LINK;
		 link = keys->links[link].next)
		if (probe->applies[keys->links[link].file])
			return 1;
	return 0;
}

/* mask[i] |= row i is deleted */
static void
probe_rows(KeyProbe *probe, const LakeVector *parts, uint32_t count,
		   uint8_t *mask)
{
	EncodedRows *rows = &probe->keys->rows;
	KeyRows		encoded = encode_rows(rows, parts, probe->keys->part_count,
									  count);

	key_set_find_rows(probe->keys->set, &encoded, rows->numbers);
	for (uint32_t i = 0; i < count; i++)
		mask[i] |= is_deleted(probe, rows->numbers[i]);
}

static void
judge_dictionary(KeyProbe *probe, const LakeDictionary *dictionary)
{
	static const uint8_t is_null = 1;
	size_t		width = vector_layout_width(dictionary->layout);
	LakeVector	part = {.layout = dictionary->layout, .count = 1,
	.nulls = &is_null, .values = dictionary->values};

	if (probe->verdicts_size < dictionary->count)
	{
		if (probe->verdicts != NULL)
			lake_free(probe->arena, probe->verdicts);
		probe->verdicts = NULL;
		probe->verdicts = lake_alloc(probe->arena, dictionary->count);
		probe->verdicts_size = dictionary->count;
	}
	else if (probe->verdicts != NULL)
		memset(probe->verdicts, 0, dictionary->count);
	probe->null_verdict = 0;
	probe_rows(probe, &part, 1, &probe->null_verdict);
	part.nulls = NULL;
	for (uint32_t done = 0; done < dictionary->count; done += part.count)
	{
		part.count = dictionary->count - done < BATCH_MAX_ROWS ?
			dictionary->count - done : BATCH_MAX_ROWS;
		part.values = (const char *) dictionary->values + done * width;
		probe_rows(probe, &part, part.count, probe->verdicts + done);
	}
	probe->dictionary = dictionary->id;
}

static bool
is_worth_judging(const LakeVector *part, const KeyProbe *probe)
{
	/* a dictionary is looked up whole, so it should not outweigh many rows */
	return part->dict != NULL && part->dict->count > 0 &&
		(probe->dictionary == part->dict->id ||
		 part->dict->count <= 4 * BATCH_MAX_ROWS);
}

void
key_probe_mark(KeyProbe *probe, const LakeVector *parts, uint32_t count,
			   uint8_t *mask)
{
	const LakeVector *part = &parts[0];

	if (probe->keys->part_count != 1 || !is_worth_judging(part, probe))
	{
		probe_rows(probe, parts, count, mask);
		return;
	}
	if (probe->verdicts == NULL || probe->dictionary != part->dict->id)
		judge_dictionary(probe, part->dict);
	if (part->nulls == NULL)
	{
		for (uint32_t i = 0; i < count; i++)
			mask[i] |= probe->verdicts[part->codes[i]];
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		mask[i] |= part->nulls[i] ? probe->null_verdict :
			probe->verdicts[part->codes[i]];
}
