/*
 * The seam for programs outside the server: how they catch what the core
 * throws.
 *
 *	LakeTry		try;
 *
 *	if (lake_try_begin(&try))
 *	{
 *		... code that may throw ...
 *		lake_try_end(&try);
 *	}
 *	else
 *		... try.code, try.message, try.hint, try.context ...
 *
 * Locals that are changed inside and read after a throw must be volatile.
 */
#ifndef LAKE_SEAM_STD_H
#define LAKE_SEAM_STD_H

#include <setjmp.h>

#include "base/base.h"

typedef struct LakeTry
{
	sigjmp_buf	jump;
	struct LakeTry *outer;
	LakeFrame  *frames;			/* frame stack at begin */
	LakeErrorCode code;
	char		message[2048];
	char		hint[512];
	char		context[2048];	/* one line a frame, innermost first */
} LakeTry;

extern LakeTry *lake_try_top;
extern void lake_try_enter(LakeTry *try);
extern void lake_try_end(LakeTry *try);

#define lake_try_begin(try) \
	(lake_try_enter(try), sigsetjmp((try)->jump, 0) == 0)

/* "corrupt", "unsupported", ...: for test output */
extern const char *lake_error_name(LakeErrorCode code);

/*
 * Fuzzers set a ceiling so that a lying length shows up as an error or as a
 * finding instead of as swapping; 0 = no ceiling.
 */
extern size_t lake_alloc_ceiling;

/* bytes allocated now by all arenas */
extern size_t lake_allocated;

/* messages below this level are dropped; WARNING by default */
extern LakeLogLevel lake_log_threshold;

#endif							/* LAKE_SEAM_STD_H */
