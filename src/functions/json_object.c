/*
 * Objects of the same members row after row.
 *
 * jsonb wants the members of an object sorted by the length of their names,
 * then by their bytes.  Done once, that leaves setting values for each row.
 */
#include "postgres.h"

#include "functions/functions_int.h"

typedef struct Member
{
	JsonbValue	name;
	int			position;		/* among the names */
} Member;

static int
compare_members(const void *a, const void *b)
{
	const JsonbValue *x = &((const Member *) a)->name;
	const JsonbValue *y = &((const Member *) b)->name;

	if (x->val.string.len != y->val.string.len)
		return x->val.string.len > y->val.string.len ? 1 : -1;
	return memcmp(x->val.string.val, y->val.string.val, x->val.string.len);
}

static void
set_name(JsonbValue *json, const char *name)
{
	LakeBytes	bytes = {(const uint8 *) name, strlen(name)};

	json_set_string(json, bytes);
}

/*
 * Sorts, and tells equal names apart: all but one get their number and, in a
 * schema that repeats even those, their position.
 */
static void
sort_members(Member *members, const char *const *names, const int32 *numbers,
			 int count)
{
	bool		is_unique = false;

	for (int pass = 0; !is_unique; pass++)
	{
		qsort(members, count, sizeof(Member), compare_members);
		is_unique = true;
		for (int i = count - 1; i > 0; i--)
		{
			int			position = members[i].position;

			if (compare_members(&members[i - 1], &members[i]) != 0)
				continue;
			is_unique = false;
			set_name(&members[i].name,
					 psprintf("%s_%d", names[position],
							  pass == 0 ? numbers[position] : position));
		}
	}
}

void
json_object_init(JsonObject *object, const char *const *names,
				 const int32 *numbers, int count)
{
	Member	   *members = palloc(sizeof(Member) * count);
	JsonbPair  *pairs = palloc0(sizeof(JsonbPair) * count);

	for (int i = 0; i < count; i++)
	{
		set_name(&members[i].name, names[i]);
		members[i].position = i;
	}
	sort_members(members, names, numbers, count);
	object->members = palloc(sizeof(JsonbValue *) * count);
	for (int i = 0; i < count; i++)
	{
		pairs[i].key = members[i].name;
		pairs[i].value.type = jbvNull;
		object->members[members[i].position] = &pairs[i].value;
	}
	object->value.type = jbvObject;
	object->value.val.object.nPairs = count;
	object->value.val.object.pairs = pairs;
	pfree(members);
}

Datum
json_object_datum(JsonObject *object)
{
	return JsonbPGetDatum(JsonbValueToJsonb(&object->value));
}
