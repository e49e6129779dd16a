/*
 * Locations as text: the form in which they are compared, maps, prefixes.
 */
#include "io/io.h"

#include "unit.h"

static void
comparable_form_has_no_scheme_and_authority(LakeArena *arena)
{
	static const char *const pairs[][2] = {
		{"/srv/lake/a", "/srv/lake/a"},
		{"file:/srv/lake/a", "/srv/lake/a"},
		{"file:///srv/lake/a", "/srv/lake/a"},
		{"file://localhost/srv/a", "/srv/a"},
		{"hdfs://host:8020/x/y", "/x/y"},
		{"s3a://bucket/key", "/key"},
		{"s3://bucket", ""},
		{"data/t/metadata", "data/t/metadata"},
		{"a:b/c", "a:b/c"},
		{"/a/t=2020-01-01T00:00:00/c", "/a/t=2020-01-01T00:00:00/c"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		CHECK_STRING(location_comparable(arena, pairs[i][0]), pairs[i][1]);
}

static void
comparable_form_has_no_dots_and_doubled_slashes(LakeArena *arena)
{
	static const char *const pairs[][2] = {
		{"./a/b", "a/b"},
		{"././a", "a"},
		{".//a", "a"},
		{"a/./b", "a/b"},
		{"/a//b///c", "/a/b/c"},
		{"//a/b", "/a/b"},
		{"/./a", "/a"},
		{"/a/.", "/a/"},
		{"/a//", "/a/"},
		{".", ""},
		{"/a/.b/..c/...", "/a/.b/..c/..."},
		{"/a/../b", "/a/../b"},
		{"/a/%2e/b", "/a/%2e/b"},
		{"s3://b//a/./c", "/a/c"},
		{"file:////a", "/a"},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		CHECK_STRING(location_comparable(arena, pairs[i][0]), pairs[i][1]);
}

static void
a_clean_location_is_not_copied(LakeArena *arena)
{
	const char *location = "hdfs://host:8020/a/b";

	CHECK(location_comparable(arena, location) == location + 16);
}

static void
join_puts_one_slash_between(LakeArena *arena)
{
	CHECK_STRING(location_join(arena, "/a", "b"), "/a/b");
	CHECK_STRING(location_join(arena, "/a/", "b"), "/a/b");
	CHECK_STRING(location_join(arena, "s3://b//", "/c/d"), "s3://b/c/d");
	CHECK_STRING(location_join(arena, "/", "b"), "/b");
}

/* what location means when dirs (comma-separated) are allowed */
static const char *
resolve(LakeArena *arena, const char *allowed, const char *map,
		const char *location)
{
	LakePathRules rules = {0};

	if (map != NULL)
		path_rules_add_map(arena, &rules, map);
	if (allowed != NULL)
		path_rules_allow(arena, &rules, allowed);
	return path_rules_resolve(arena, &rules, location);
}

static void
plain_paths_and_file_uris_resolve(LakeArena *arena)
{
	CHECK_STRING(resolve(arena, "/srv/lake", NULL, "/srv/lake/a"),
				 "/srv/lake/a");
	CHECK_STRING(resolve(arena, "file:///srv/lake/", NULL, "/srv/lake/a"),
				 "/srv/lake/a");
	CHECK_STRING(resolve(arena, "/srv/lake", NULL, "file:/srv/lake/a"),
				 "/srv/lake/a");
	CHECK_STRING(resolve(arena, "/srv/lake", NULL, "FILE:///srv//lake/./a/"),
				 "/srv/lake/a");
	CHECK_STRING(resolve(arena, "/srv/lake", NULL,
						 "file://LOCALHOST/srv/lake/a"), "/srv/lake/a");
	CHECK_STRING(resolve(arena, "/srv/lake", NULL, "/srv/lake"), "/srv/lake");
	CHECK_STRING(resolve(arena, "/", NULL, "/etc/passwd"), "/etc/passwd");
	CHECK_STRING(resolve(arena, "/srv/x/../lake", NULL, "/srv/y/../lake/a"),
				 "/srv/lake/a");
}

static void
a_location_in_the_maps_target_stays(LakeArena *arena)
{
	/* a whole bucket: "from" is the root, and a prefix of everything */
	const char *bucket = "s3://bucket=file:///srv/copy/";

	CHECK_STRING(resolve(arena, NULL, bucket, "s3://bucket/ns/a"),
				 "/srv/copy/ns/a");
	CHECK_STRING(resolve(arena, NULL, bucket, "/srv/copy/ns/a"),
				 "/srv/copy/ns/a");
	CHECK_STRING(resolve(arena, NULL, bucket, "file:/srv/copy/ns/a"),
				 "/srv/copy/ns/a");
	CHECK_STRING(resolve(arena, NULL, bucket, "s3://bucket/srv/copy/a"),
				 "/srv/copy/srv/copy/a");
	CHECK_STRING(resolve(arena, NULL, "/a=/b,/a/keep=/a/keep", "/a/keep/x"),
				 "/a/keep/x");
}

static void
nothing_is_allowed_by_default(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_DENIED, "none",
				 resolve(arena, NULL, NULL, "/srv/lake/a"));
}

static void
a_path_outside_the_prefixes_is_denied_naming_both(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_DENIED, "\"/etc/passwd\"",
				 resolve(arena, "/srv/lake", NULL, "/etc/passwd"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "/srv/lake",
				 resolve(arena, "/srv/lake", NULL, "/etc/passwd"));
}

static void
a_longer_name_is_not_below_the_prefix(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_DENIED, "lakeside",
				 resolve(arena, "/srv/lake", NULL, "/srv/lakeside/a"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "/srv/lak\"",
				 resolve(arena, "/srv/lake", NULL, "/srv/lak"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "/srv",
				 resolve(arena, "/srv/lake", NULL, "/srv"));
}

static void
dots_that_leave_the_prefix_are_denied(LakeArena *arena)
{
	static const char *const locations[] = {
		"/srv/lake/../secret",
		"/srv/lake/a/../../secret",
		"file:///srv/lake/../../../../etc/passwd",
		"/srv/lake/..",
		"/../etc/passwd",
		"/srv/lake/%2e%2e/secret",
		"file:///srv/lake/%2e%2e/secret",
		"file:///srv/lake/%2E./secret",
		"file:///srv/lake/..%2fsecret",
		"file:///srv/lake/a%2f..%2f..%2fsecret",
	};

	for (size_t i = 0; i < sizeof locations / sizeof locations[0]; i++)
		CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
					 resolve(arena, "/srv/lake", NULL, locations[i]));
	CHECK_STRING(resolve(arena, "/srv/lake", NULL, "/srv/lake/a/../b"),
				 "/srv/lake/b");
}

static void
an_encoded_name_is_first_taken_as_it_stands(LakeArena *arena)
{
	CHECK_STRING(resolve(arena, "/srv/lake", NULL, "file:/srv/lake/d=a%2Fb"),
				 "/srv/lake/d=a%2Fb");
	/* only the decoded name lies below the prefix */
	CHECK_STRING(resolve(arena, "/srv/my lake", NULL,
						 "file:///srv/my%20lake/a"), "/srv/my lake/a");
}

static void
other_schemes_are_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"s3a\"",
				 resolve(arena, "/srv", NULL, "s3a://bucket/srv/a"));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"hdfs\"",
				 resolve(arena, "/srv", NULL, "hdfs://h:1/srv/a"));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "another host",
				 resolve(arena, "/srv", NULL, "file://h/srv/a"));
}

static void
a_relative_location_is_denied(LakeArena *arena)
{
	LakeTry		try;

	CHECK_THROWS(LAKE_ERROR_DENIED, "relative",
				 resolve(arena, "/", NULL, "data/t/metadata/v1.json"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "relative", resolve(arena, "/", NULL, ""));
	if (lake_try_begin(&try))
	{
		resolve(arena, "/", NULL, "data/t");
		lake_try_end(&try);
	}
	CHECK(strstr(try.hint, "path_map") != NULL);
}

static void
a_map_replaces_its_prefix(LakeArena *arena)
{
	CHECK_STRING(resolve(arena, NULL, "s3://b/wh=/srv/lake",
						 "s3://b/wh/t/data/x"), "/srv/lake/t/data/x");
	CHECK_STRING(resolve(arena, NULL, "/wh=file:///srv/lake/", "s3a://b/wh"),
				 "/srv/lake");
	CHECK_STRING(resolve(arena, NULL, "s3://b/=/srv/lake/", "s3://b/x"),
				 "/srv/lake/x");
	CHECK_STRING(resolve(arena, NULL, "data/t=/srv/lake", "./data//t/m/v1"),
				 "/srv/lake/m/v1");
	CHECK_STRING(resolve(arena, NULL, "/wh=/", "/wh/x"), "/x");
	CHECK_STRING(resolve(arena, NULL, "/a=/srv/a , /b=/srv/b", "/b/x"),
				 "/srv/b/x");
	CHECK_STRING(resolve(arena, NULL, "/a=/srv/a=b", "/a/x"), "/srv/a=b/x");
}

static void
a_map_matches_at_a_separator_only(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 resolve(arena, NULL, "/wh=/srv/lake", "/whale/x"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "relative",
				 resolve(arena, NULL, "/wh=/srv/lake", "wh/x"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 resolve(arena, NULL, "wh=/srv/lake", "/wh/x"));
}

static void
the_longest_map_wins_and_then_the_first(LakeArena *arena)
{
	CHECK_STRING(resolve(arena, NULL, "/a=/x,/a/b=/y,/=/z", "/a/b/c"), "/y/c");
	CHECK_STRING(resolve(arena, NULL, "/a=/x,/a/b=/y,/=/z", "/a/bc"), "/x/bc");
	CHECK_STRING(resolve(arena, NULL, "/a=/x,/a/b=/y,/=/z", "/d"), "/z/d");
	CHECK_STRING(resolve(arena, NULL, "/a=/x,s3://b/a=/y", "/a/c"), "/x/c");
}

static void
dots_cannot_leave_a_map_target(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 resolve(arena, NULL, "s3://b/wh=/srv/lake",
						 "s3://b/wh/../../etc/passwd"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 resolve(arena, NULL, "s3://b/wh=/srv/lake",
						 "s3://b/wh/%2e%2e/secret"));
}

static void
malformed_maps_are_refused(LakeArena *arena)
{
	static const char *const maps[] = {
		"", "a", "=/a", "/a=", "/a=b", "/a=/b,", "/a=/b,,/c=/d", " = "
	};

	for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
		CHECK_THROWS(LAKE_ERROR_INVALID, "",
					 resolve(arena, NULL, maps[i], "/a"));
}

static void
a_relative_prefix_is_refused(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_INVALID, "\"srv/lake\"",
				 resolve(arena, "srv/lake", NULL, "/a"));
	CHECK_THROWS(LAKE_ERROR_INVALID, "", resolve(arena, "", NULL, "/a"));
}

static void
a_directory_is_allowed_once(LakeArena *arena)
{
	LakePathRules rules = {0};

	path_rules_allow(arena, &rules, "/srv/lake");
	path_rules_add_map(arena, &rules, "s3://b/d=/srv/lake/,/c=/srv/c");
	path_rules_allow(arena, &rules, "file:///srv/./c");
	CHECK_INT(rules.allowed_count, 2);
	CHECK_THROWS(LAKE_ERROR_DENIED, "directories: /srv/lake, /srv/c",
				 path_rules_resolve(arena, &rules, "/etc/passwd"));
}

static void
a_very_long_location_is_refused(LakeArena *arena)
{
	char	   *location = lake_alloc(arena, 100001);

	memset(location, 'a', 100000);
	location[0] = '/';
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "too long",
				 resolve(arena, "/", NULL, location));
}

static const UnitTest tests[] = {
	UNIT(comparable_form_has_no_scheme_and_authority),
	UNIT(comparable_form_has_no_dots_and_doubled_slashes),
	UNIT(a_clean_location_is_not_copied),
	UNIT(join_puts_one_slash_between),
	UNIT(plain_paths_and_file_uris_resolve),
	UNIT(a_location_in_the_maps_target_stays),
	UNIT(nothing_is_allowed_by_default),
	UNIT(a_path_outside_the_prefixes_is_denied_naming_both),
	UNIT(a_longer_name_is_not_below_the_prefix),
	UNIT(dots_that_leave_the_prefix_are_denied),
	UNIT(an_encoded_name_is_first_taken_as_it_stands),
	UNIT(other_schemes_are_refused_by_name),
	UNIT(a_relative_location_is_denied),
	UNIT(a_map_replaces_its_prefix),
	UNIT(a_map_matches_at_a_separator_only),
	UNIT(the_longest_map_wins_and_then_the_first),
	UNIT(dots_cannot_leave_a_map_target),
	UNIT(malformed_maps_are_refused),
	UNIT(a_relative_prefix_is_refused),
	UNIT(a_directory_is_allowed_once),
	UNIT(a_very_long_location_is_refused),
};

UNIT_MAIN(tests)
