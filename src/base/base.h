/*
 * The seam between the core half and whatever hosts it.
 *
 * The core half calls outward through these functions only.  Two files
 * implement them: server/seam.c on PostgreSQL's memory contexts and error
 * reports, and test/support/seam_std.c on malloc and siglongjmp for unit tests,
 * fuzzers and command-line tools.
 *
 * Rules of the seam:
 *  1. The core throws and never catches.  Expected outcomes (absent file, lost
 *     race, end of data) are return values.
 *  2. No throw crosses a foreign library's frame, and none leaves a thread.
 *     Every foreign handle goes on an arena with lake_defer() in the line after
 *     its creation.
 *  3. Long-lived state changes by one store, after everything that can throw.
 */
#ifndef LAKE_BASE_H
#define LAKE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What went wrong, by kind.  server/seam.c maps each kind to one SQLSTATE; the
 * message carries the particulars.
 */
typedef enum LakeErrorCode
{
	LAKE_ERROR_CORRUPT,			/* XX001 the bytes break the format's rules */
	LAKE_ERROR_UNSUPPORTED,		/* 0A000 valid, but refused by name */
	LAKE_ERROR_IO,				/* 58030 the store failed */
	LAKE_ERROR_MISSING,			/* 58P01 a file that must exist is absent */
	LAKE_ERROR_DENIED,			/* 42501 path outside the allowed prefixes */
	LAKE_ERROR_CONFLICT,		/* 40001 lost a race */
	LAKE_ERROR_LIMIT,			/* 54000 a documented limit is exceeded */
	LAKE_ERROR_NO_MEMORY,		/* 53200 */
	LAKE_ERROR_INVALID,			/* 22023 bad argument of the user's */
	LAKE_ERROR_OUT_OF_RANGE,	/* 22003 number does not fit the target type */
	LAKE_ERROR_DATETIME,		/* 22008 date or time does not fit */
	LAKE_ERROR_ENCODING,		/* 22021 text is not valid UTF-8 or has NUL */
	LAKE_ERROR_UNDEFINED,		/* 42704 unknown snapshot or ref */
	LAKE_ERROR_NO_TABLE,		/* 42P01 no such lake table */
	LAKE_ERROR_INTERNAL			/* XX000 a bug of ours */
} LakeErrorCode;

/*
 * An arena owns memory and foreign handles; destroying it (or unwinding past
 * its owner) releases both, children first.  In the server an arena is a
 * memory context.  Returned memory is 8-byte aligned.
 */
typedef struct LakeArena LakeArena;

/* parent NULL: the host's current context.  name: a string literal */
extern LakeArena *lake_arena_create(LakeArena *parent, const char *name);

/* frees all memory, runs the deferred calls, destroys the children */
extern void lake_arena_reset(LakeArena *arena);
extern void lake_arena_destroy(LakeArena *arena);

/*
 * Moves an arena with all it owns below another parent, whose end is its own
 * from then on.  Cannot fail: what was built below the caller's arena, where a
 * throw would have released it, is handed over by this one step.
 */
extern void lake_arena_adopt(LakeArena *parent, LakeArena *arena);

/* bytes that the arena and its children have taken from the host */
extern size_t lake_arena_size(const LakeArena *arena);

/* zeroed, never NULL; throws NO_MEMORY */
extern void *lake_alloc(LakeArena *arena, size_t size);

/* the same, not zeroed */
extern void *lake_alloc_raw(LakeArena *arena, size_t size);

/* not zeroed, NULL when there is no memory: for foreign callbacks */
extern void *lake_alloc_try(LakeArena *arena, size_t size);

/* count * size with overflow check, zeroed */
extern void *lake_alloc_array(LakeArena *arena, size_t count, size_t size);

/*
 * Grows (or shrinks) ptr of this arena, which may be NULL; keeps
 * min(old_size, new_size) bytes; the old pointer is invalid afterwards.
 */
extern void *lake_realloc(LakeArena *arena, void *ptr, size_t old_size,
						  size_t new_size);

/* gives ptr back early; a hint that an arena may ignore for small blocks */
extern void lake_free(LakeArena *arena, void *ptr);
extern char *lake_strdup(LakeArena *arena, const char *text);

/* copies len bytes and adds a NUL */
extern char *lake_strndup(LakeArena *arena, const char *text, size_t len);
extern char *lake_printf(LakeArena *arena, const char *fmt,...)
			__attribute__((format(printf, 2, 3)));

/* fn(arg) runs once when the arena is reset or destroyed, newest first */
extern void lake_defer(LakeArena *arena, void (*fn) (void *), void *arg);

extern _Noreturn void lake_throw(LakeErrorCode code, const char *fmt,...)
			__attribute__((format(printf, 2, 3)));

/*
 * The same with a second line that says what to do about it (PostgreSQL's
 * HINT).  hint is a complete sentence, not a format.
 */
extern _Noreturn void lake_throw_hint(LakeErrorCode code, const char *hint,
									  const char *fmt,...)
			__attribute__((format(printf, 3, 4)));

/*
 * A frame says what was being done ("reading manifest", its path) while the
 * code between push and pop threw; the host shows the frames as the error's
 * context.  The frame lives in the caller's stack, what and name are borrowed
 * until the pop.  An unwinding throw pops by itself.
 */
typedef struct LakeFrame
{
	void	   *host[3];		/* the host's own link */
	const char *what;			/* "reading manifest" */
	const char *name;			/* a path or a name, may be NULL */
} LakeFrame;

extern void lake_frame_push(LakeFrame *frame, const char *what,
							const char *name);
extern void lake_frame_pop(LakeFrame *frame);

/* answers a cancel request by throwing; cheap enough for every page or file */
extern void lake_check_interrupts(void);

typedef enum LakeLogLevel
{
	LAKE_LOG_DEBUG,
	LAKE_LOG_NOTICE,
	LAKE_LOG_WARNING
} LakeLogLevel;

extern void lake_log(LakeLogLevel level, const char *fmt,...)
			__attribute__((format(printf, 2, 3)));

/*
 * Accounts for one descriptor that the host does not know of.  acquire throws
 * LIMIT when the host has none to give.
 */
extern void lake_fd_acquire(void);
extern void lake_fd_release(void);

/* a borrowed run of bytes, not NUL-terminated */
typedef struct LakeBytes
{
	const uint8_t *data;
	size_t		len;
} LakeBytes;

/* see decimal.h for arithmetic; 8-byte aligned, since arenas give no more */
typedef __int128 LakeInt128 __attribute__((aligned(8)));

#endif							/* LAKE_BASE_H */
