/*
 * A unit-test program: functions that check, a list of them, a closing line.
 *
 *	static void reads_zero(LakeArena *arena) { CHECK(...); }
 *	static const UnitTest tests[] = { UNIT(reads_zero), ... };
 *	UNIT_MAIN(tests)
 *
 * Each test gets a fresh arena; a throw that the test does not catch fails it.
 */
#ifndef LAKE_UNIT_H
#define LAKE_UNIT_H

#include <stdio.h>
#include <string.h>

#include "seam_std.h"

/*
 * gcc takes every local of a function with CHECK_THROWS for lost; the rule of
 * seam_std.h (volatile, if changed inside and read after) is what matters.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

typedef struct UnitTest
{
	const char *name;
	void		(*run) (LakeArena *arena);
} UnitTest;

#define UNIT(fn) { #fn, fn }

static bool unit_failed;

#define CHECK(cond) \
	do { \
		if (!(cond)) \
		{ \
			unit_failed = true; \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
		} \
	} while (0)

#define CHECK_INT(actual, expected) \
	do { \
		long long unit_a = (long long) (actual); \
		long long unit_e = (long long) (expected); \
		if (unit_a != unit_e) \
		{ \
			unit_failed = true; \
			fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", \
					__FILE__, __LINE__, #actual, unit_a, unit_e); \
		} \
	} while (0)

#define CHECK_STRING(actual, expected) \
	do { \
		const char *unit_a = (actual); \
		const char *unit_e = (expected); \
		if (unit_a == NULL || strcmp(unit_a, unit_e) != 0) \
		{ \
			unit_failed = true; \
			fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", \
					__FILE__, __LINE__, #actual, \
					unit_a == NULL ? "(null)" : unit_a, unit_e); \
		} \
	} while (0)

/* the statement throws this code, with text in its message */
#define CHECK_THROWS(error_code, text, statement) \
	CHECK_THROWS_HINT(error_code, text, "", statement)

/* the hint has that text too */
#define CHECK_THROWS_HINT(error_code, text, hint_text, statement) \
	do { \
		LakeTry		unit_try; \
		if (lake_try_begin(&unit_try)) \
		{ \
			statement; \
			lake_try_end(&unit_try); \
			unit_failed = true; \
			fprintf(stderr, "%s:%d: no throw from %s\n", \
					__FILE__, __LINE__, #statement); \
		} \
		else if (unit_try.code != (error_code) || \
				 strstr(unit_try.message, text) == NULL || \
				 strstr(unit_try.hint, hint_text) == NULL) \
		{ \
			unit_failed = true; \
			fprintf(stderr, "%s:%d: %s threw %s: %s (%s)\n", \
					__FILE__, __LINE__, #statement, \
					lake_error_name(unit_try.code), unit_try.message, \
					unit_try.hint); \
		} \
	} while (0)

/* runs one test in an arena of its own; returns whether it passed */
static inline bool
unit_run_one(const UnitTest *test)
{
	LakeArena  *arena = lake_arena_create(NULL, "unit test");
	LakeTry		try;

	unit_failed = false;
	if (lake_try_begin(&try))
	{
		test->run(arena);
		lake_try_end(&try);
	}
	else
	{
		unit_failed = true;
		fprintf(stderr, "%s threw %s: %s\n%s", test->name,
				lake_error_name(try.code), try.message, try.context);
	}
	lake_arena_destroy(arena);
	if (unit_failed)
		fprintf(stderr, "FAILED %s\n", test->name);
	return !unit_failed;
}

static inline int
unit_run(const UnitTest *tests, size_t count)
{
	int			passed = 0;
	int			failed = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (unit_run_one(&tests[i]))
			passed++;
		else
			failed++;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}

#define UNIT_MAIN(tests) \
	int main(void) \
	{ return unit_run(tests, sizeof(tests) / sizeof((tests)[0])); }

#endif							/* LAKE_UNIT_H */
