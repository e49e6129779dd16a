/*
 * The hash map against its own keys, over many growths.
 */
#include "iceberg/iceberg_int.h"
#include "unit.h"

static LakeBytes
key(const char *string)
{
	return (LakeBytes) {(const uint8_t *) string, strlen(string)};
}

static void
keys_are_found_after_growing(LakeArena *arena)
{
	BytesMap	map;
	char	   *keys[5000];

	bytes_map_init(&map, arena);
	for (int i = 0; i < 5000; i++)
	{
		keys[i] = lake_printf(arena, "key %d", i);
		CHECK(bytes_map_find(&map, key(keys[i])) == NULL);
		bytes_map_add(&map, key(keys[i]), keys[i]);
	}
	for (int i = 0; i < 5000; i++)
		CHECK(bytes_map_find(&map, key(keys[i])) == keys[i]);
	CHECK(bytes_map_find(&map, key("key 5000")) == NULL);
}

static void
the_empty_key_is_a_key(LakeArena *arena)
{
	BytesMap	map;
	int			value;

	bytes_map_init(&map, arena);
	CHECK(bytes_map_find(&map, (LakeBytes) {NULL, 0}) == NULL);
	bytes_map_add(&map, (LakeBytes) {NULL, 0}, &value);
	CHECK(bytes_map_find(&map, key("")) == &value);
}

static const UnitTest tests[] = {
	UNIT(keys_are_found_after_growing),
	UNIT(the_empty_key_is_a_key),
};

UNIT_MAIN(tests)
