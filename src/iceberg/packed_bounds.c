/*
 * Bounds of one column in many files, packed, and merged by blocks of files.
 *
 * A block's bounds hold for each file in it: where they exclude a predicate, no
 * file of the block is looked at, which makes short work of a table that is
 * clustered by the column.  Merging must never know more than the files do:
 * packed_bounds_match() gives what predicate_may_match() gives file by file.
 *
 * Of counts, predicates on bounds ask four questions only.  Their answers are
 * kept instead of the counts; that also makes them safe to merge, where sums
 * could overflow, or hide that one file's counts contradict each other.
 */
#include "iceberg/iceberg_int.h"

#include <stddef.h>

typedef enum BoundsFact
{
	FACT_ALL_NULL = 1,			/* value and null counts are known, and equal */
	FACT_NO_NULL = 2,			/* the null count is 0 */
	FACT_NO_NAN = 4,
	FACT_ALL_NAN = 8,			/* what is not NULL is NaN, and there is one */
	FACT_LOWER = 16,			/* the bound is known */
	FACT_UPPER = 32
} BoundsFact;

struct PackedBounds
{
	int32_t		field_id;
	LakeType	type;
	size_t		value_size;		/* bytes of a bound; 0: none are kept */
	size_t		count;			/* of files */
	BytesPool	pool;			/* what bounds of text and bytes point to */
	/* of the files, once finished of the blocks behind them */
	LakeBuffer	facts;			/* uint8_t, BoundsFact */
	LakeBuffer	lower;			/* the members of LakeValue that type has */
	LakeBuffer	upper;
	LakeBuffer	counts;			/* of the files: PackedCounts */
};

/* what estimates ask for, in half of the memory; -1 unknown */
typedef struct PackedCounts
{
	float		values;
	float		nulls;
} PackedCounts;

/* ---- one set of bounds ---- */

static size_t
value_size(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
		case LAKE_INT:
		case LAKE_LONG:
		case LAKE_FLOAT:
		case LAKE_DOUBLE:
		case LAKE_DATE:
		case LAKE_TIME:
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return sizeof(int64_t);
		case LAKE_DECIMAL:
			return sizeof(LakeInt128);
		case LAKE_STRING:
		case LAKE_FIXED:
		case LAKE_BINARY:
			return sizeof(LakeBytes);
		default:
			/* those of uuids are not believed by predicates */
			return 0;
	}
}

static bool
is_bytes(const LakeType *type)
{
	return type->kind == LAKE_STRING || type->kind == LAKE_FIXED ||
		type->kind == LAKE_BINARY;
}

static uint8_t
facts_of(const LakeBounds *bounds)
{
	bool		has_counts = bounds->value_count >= 0 &&
		bounds->null_count >= 0;
	int			facts = 0;

	if (has_counts && bounds->null_count == bounds->value_count)
		facts |= FACT_ALL_NULL;
	if (bounds->null_count == 0)
		facts |= FACT_NO_NULL;
	if (bounds->nan_count == 0)
		facts |= FACT_NO_NAN;
	if (has_counts && bounds->nan_count > 0 &&
		bounds->value_count - bounds->null_count == bounds->nan_count)
		facts |= FACT_ALL_NAN;
	return (uint8_t) facts;
}

/* counts of which the same facts hold */
static void
set_counts(LakeBounds *bounds, uint8_t facts)
{
	bounds->value_count = -1;
	bounds->null_count = (facts & FACT_NO_NULL) != 0 ? 0 : -1;
	bounds->nan_count = (facts & FACT_NO_NAN) != 0 ? 0 : -1;
	if ((facts & (FACT_ALL_NULL | FACT_ALL_NAN)) == 0)
		return;
	bounds->null_count = (facts & FACT_NO_NULL) == 0;
	bounds->value_count = bounds->null_count;
	if ((facts & FACT_ALL_NAN) != 0)
	{
		bounds->nan_count = 1;
		bounds->value_count++;
	}
}

/*
 * Where a value's bits are, whichever member has them: decimals and bytes are
 * larger than the one named here.
 */
static void *
value_bits(LakeValue *value)
{
	return (char *) value + offsetof(LakeValue, i);
}

static void
get_value(const PackedBounds *packed, const LakeBuffer *values, size_t i,
		  LakeValue *value)
{
	value->is_null = false;
	/* sizes that the compiler knows: this is what a plan's time goes into */
	if (packed->value_size == sizeof(int64_t))
		memcpy(value_bits(value), values->data + i * sizeof(int64_t),
			   sizeof(int64_t));
	else
		memcpy(value_bits(value), values->data + i * sizeof(LakeInt128),
			   sizeof(LakeInt128));
}

static void
get_bounds(const PackedBounds *packed, size_t i, LakeBounds *bounds)
{
	uint8_t		facts = packed->facts.data[i];

	set_counts(bounds, facts);
	bounds->has_lower = (facts & FACT_LOWER) != 0;
	bounds->has_upper = (facts & FACT_UPPER) != 0;
	if (bounds->has_lower)
		get_value(packed, &packed->lower, i, &bounds->lower);
	if (bounds->has_upper)
		get_value(packed, &packed->upper, i, &bounds->upper);
}

/* ---- making ---- */

PackedBounds *
packed_bounds_create(LakeArena *arena, int32_t field_id, const LakeType *type)
{
	PackedBounds *packed = lake_alloc(arena, sizeof *packed);

	packed->field_id = field_id;
	packed->type = *type;
	packed->value_size = value_size(type);
	bytes_pool_init(&packed->pool, arena);
	buffer_init(&packed->facts, arena);
	buffer_init(&packed->lower, arena);
	buffer_init(&packed->upper, arena);
	buffer_init(&packed->counts, arena);
	return packed;
}

/* values are read where facts say that they are known */
static void
append(PackedBounds *packed, int facts, LakeValue *lower, LakeValue *upper)
{
	LakeValue	none;

	memset(&none, 0, sizeof none);
	buffer_append_byte(&packed->facts, (uint8_t) facts);
	buffer_append(&packed->lower,
				  value_bits((facts & FACT_LOWER) != 0 ? lower : &none),
				  packed->value_size);
	buffer_append(&packed->upper,
				  value_bits((facts & FACT_UPPER) != 0 ? upper : &none),
				  packed->value_size);
}

void
packed_bounds_add(PackedBounds *packed, const LakeBounds *bounds)
{
	const PackedCounts counts = {
		(float) bounds->value_count, (float) bounds->null_count
	};
	LakeValue	lower = bounds->lower;
	LakeValue	upper = bounds->upper;
	int			facts = facts_of(bounds);

	if (packed->value_size > 0)
	{
		facts |= bounds->has_lower ? FACT_LOWER : 0;
		facts |= bounds->has_upper ? FACT_UPPER : 0;
	}
	if (is_bytes(&packed->type))
	{
		if (bounds->has_lower)
			lower.bytes = bytes_pool_copy(&packed->pool, lower.bytes);
		if (bounds->has_upper)
			upper.bytes = bytes_pool_copy(&packed->pool, upper.bytes);
	}
	append(packed, facts, &lower, &upper);
	buffer_append(&packed->counts, &counts, sizeof counts);
}

/* sign: 1 for the greatest value, -1 for the least */
static void
widen(const PackedBounds *packed, LakeValue *extreme, const LakeValue *value,
	  int sign, bool is_first)
{
	if (is_first ||
		lake_value_compare(&packed->type, value, extreme) * sign > 0)
		*extreme = *value;
}

/*
 * Appends what holds for each of the files first to end.  A file of NULLs only
 * has no bounds, and needs none: nothing but IS NULL looks further.
 */
static void
append_block(PackedBounds *packed, size_t first, size_t end)
{
	int			facts = FACT_NO_NULL | FACT_NO_NAN | FACT_LOWER | FACT_UPPER;
	size_t		with_values = 0;	/* files */
	size_t		with_nans_only = 0;
	LakeBounds	merged;

	memset(&merged, 0, sizeof merged);
	for (size_t i = first; i < end; i++)
	{
		int			known = packed->facts.data[i];
		LakeBounds	bounds;

		if ((known & FACT_ALL_NULL) != 0)
		{
			facts &= known | FACT_LOWER | FACT_UPPER;
			continue;
		}
		facts &= known;
		get_bounds(packed, i, &bounds);
		/* what one file lacks is not in facts any more */
		if ((facts & FACT_LOWER) != 0)
			widen(packed, &merged.lower, &bounds.lower, -1, with_values == 0);
		if ((facts & FACT_UPPER) != 0)
			widen(packed, &merged.upper, &bounds.upper, 1, with_values == 0);
		with_values++;
		with_nans_only += (known & FACT_ALL_NAN) != 0;
	}
	if (with_values == 0)
		facts = (facts & (FACT_NO_NULL | FACT_NO_NAN)) | FACT_ALL_NULL;
	else if (with_nans_only == with_values)
		facts |= FACT_ALL_NAN;
	append(packed, facts, &merged.lower, &merged.upper);
}

void
packed_bounds_finish(PackedBounds *packed)
{
	packed->count = packed->facts.len;
	for (size_t first = 0; first < packed->count; first += PACKED_BLOCK)
	{
		size_t		end = first + PACKED_BLOCK;

		append_block(packed, first, end < packed->count ? end : packed->count);
	}
	buffer_trim(&packed->facts);
	buffer_trim(&packed->lower);
	buffer_trim(&packed->upper);
	buffer_trim(&packed->counts);
}

/* a large float is no integer above the largest one, which it rounds to */
static int64_t
unpack_count(float count)
{
	return count >= (float) INT64_MAX ? INT64_MAX : (int64_t) count;
}

void
packed_bounds_get(const PackedBounds *packed, size_t i, LakeBounds *bounds)
{
	uint8_t		facts = packed->facts.data[i];
	PackedCounts counts;

	get_bounds(packed, i, bounds);
	memcpy(&counts, packed->counts.data + i * sizeof counts, sizeof counts);
	bounds->value_count = unpack_count(counts.values);
	bounds->null_count = unpack_count(counts.nulls);
	bounds->nan_count = (facts & FACT_NO_NAN) != 0 ? 0 : -1;
	if ((facts & FACT_ALL_NAN) != 0)
		bounds->nan_count = bounds->value_count - bounds->null_count;
}

bool
packed_bounds_is_of(const PackedBounds *packed, int32_t field_id,
					const LakeType *type)
{
	return packed->field_id == field_id &&
		packed->type.kind == type->kind &&
		packed->type.precision == type->precision &&
		packed->type.scale == type->scale &&
		packed->type.length == type->length;
}

/* ---- pruning ---- */

/* where a BoundsLookup looks: one index of all columns */
typedef struct PackedPlace
{
	const PackedBounds *const *columns;
	int			column_count;
	size_t		block;			/* shown if whole, else one file */
	bool		is_whole;
	size_t		file;
} PackedPlace;

static const PackedBounds *
find_column(const PackedPlace *place, int32_t field_id, const LakeType *type)
{
	for (int i = 0; i < place->column_count; i++)
	{
		if (place->columns[i]->field_id == field_id &&
			place->columns[i]->type.kind == type->kind)
			return place->columns[i];
	}
	return NULL;
}

static bool
look_up(void *arg, int32_t field_id, const LakeType *type, LakeBounds *bounds)
{
	const PackedPlace *place = arg;
	const PackedBounds *packed = find_column(place, field_id, type);

	if (packed == NULL)
		return false;
	get_bounds(packed, place->is_whole ? packed->count + place->block :
			   place->file, bounds);
	return true;
}

/*
 * Most leaves compare integers of some kind.  Those keep what has a value from
 * low to high.
 */
static bool
find_range(const Predicate *leaf, int64_t *low, int64_t *high)
{
	int64_t		value;

	if (leaf->type->kind == LAKE_FLOAT || leaf->type->kind == LAKE_DOUBLE ||
		value_size(leaf->type) != sizeof(int64_t) || leaf->value_count != 1)
		return false;
	value = leaf->values[0].i;
	*low = INT64_MIN;
	*high = INT64_MAX;
	switch (leaf->op)
	{
		case PREDICATE_EQ:
			*low = *high = value;
			return true;
		case PREDICATE_LE:
			*high = value;
			return true;
		case PREDICATE_GE:
			*low = value;
			return true;
		case PREDICATE_LT:
			*high = value - (value != INT64_MIN);
			return value != INT64_MIN;
		case PREDICATE_GT:
			*low = value + (value != INT64_MAX);
			return value != INT64_MAX;
		default:
			return false;
	}
}

static uint64_t
match_range(const PackedBounds *packed, int64_t low, int64_t high,
			size_t block, uint64_t files)
{
	size_t		first = block * PACKED_BLOCK;
	const uint8_t *facts = packed->facts.data + first;
	const int64_t *lower = (const int64_t *) (const void *)
	packed->lower.data + first;
	const int64_t *upper = (const int64_t *) (const void *)
	packed->upper.data + first;
	uint64_t	matches = 0;

	for (uint64_t left = files; left != 0; left &= left - 1)
	{
		int			i = __builtin_ctzll(left);
		bool		is_out = (facts[i] & FACT_ALL_NULL) != 0 ||
			((facts[i] & FACT_LOWER) != 0 && lower[i] > high) ||
			((facts[i] & FACT_UPPER) != 0 && upper[i] < low);

		matches |= (uint64_t) !is_out << i;
	}
	return matches;
}

static uint64_t
match_leaf(const Predicate *leaf, PackedPlace *place, uint64_t files)
{
	const PackedBounds *packed = find_column(place, leaf->field_id,
											 leaf->type);
	uint64_t	matches = 0;
	int64_t		low;
	int64_t		high;

	if (packed == NULL)
		return files;
	if (find_range(leaf, &low, &high))
		return match_range(packed, low, high, place->block, files);
	place->is_whole = false;
	for (uint64_t left = files; left != 0; left &= left - 1)
	{
		int			i = __builtin_ctzll(left);

		place->file = place->block * PACKED_BLOCK + (size_t) i;
		matches |= (uint64_t) predicate_may_match(leaf, look_up, place) << i;
	}
	return matches;
}

static uint64_t
match_files(const Predicate *predicate, PackedPlace *place, uint64_t files)
{
	uint64_t	matches = 0;

	switch (predicate->op)
	{
		case PREDICATE_TRUE:
		case PREDICATE_NOT:
			return files;
		case PREDICATE_FALSE:
			return 0;
		case PREDICATE_AND:
			for (int i = 0; i < predicate->child_count && files != 0; i++)
				files = match_files(predicate->children[i], place, files);
			return files;
		case PREDICATE_OR:
			for (int i = 0; i < predicate->child_count; i++)
				matches |= match_files(predicate->children[i], place,
									   files & ~matches);
			return matches;
		default:
			return match_leaf(predicate, place, files);
	}
}

uint64_t
packed_bounds_match(const Predicate *predicate,
					const PackedBounds *const *columns, int column_count,
					size_t block, uint64_t files)
{
	PackedPlace place = {
		.columns = columns,
		.column_count = column_count,
		.block = block,
		.is_whole = true
	};

	if (!predicate_may_match(predicate, look_up, &place))
		return 0;
	return match_files(predicate, &place, files);
}
