/*
 * The seam on malloc and siglongjmp.
 *
 * Small requests share blocks; large ones have a block each, so that sanitizers
 * see their ends and lake_realloc and lake_free work on them.
 */
#include "seam_std.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* an arena's first block, and its largest; they double as PostgreSQL's do */
#define FIRST_BLOCK		8192
#define LAST_BLOCK		65536
#define SHARED_MAX		2048

typedef struct Block
{
	struct Block *next;
	struct Block *prev;
	size_t		size;			/* of the payload */
	size_t		is_shared;		/* as wide as keeps the payload 16-byte
								 * aligned */
} Block;

typedef struct Defer
{
	struct Defer *next;
	void		(*fn) (void *);
	void	   *arg;
} Defer;

struct LakeArena
{
	LakeArena  *parent;
	LakeArena  *children;
	LakeArena  *next;			/* siblings */
	Block		blocks;			/* list head */
	Defer	   *defers;
	char	   *cur;			/* in the newest shared block */
	size_t		left;
	size_t		block_size;		/* of that; 0: there is none */
};

LakeTry    *lake_try_top;
size_t		lake_alloc_ceiling;
size_t		lake_allocated;
LakeLogLevel lake_log_threshold = LAKE_LOG_WARNING;

static LakeFrame *frames;

static Block *
block_create(LakeArena *arena, size_t size)
{
	Block	   *block;

	if (size > SIZE_MAX / 2 ||
		(lake_alloc_ceiling != 0 &&
		 (size > lake_alloc_ceiling ||
		  lake_allocated > lake_alloc_ceiling - size)))
		return NULL;
	block = malloc(sizeof(Block) + size);
	if (block == NULL)
		return NULL;
	block->size = size;
	block->is_shared = false;
	block->next = arena->blocks.next;
	block->prev = &arena->blocks;
	block->next->prev = block;
	arena->blocks.next = block;
	lake_allocated += size;
	return block;
}

static void
block_destroy(Block *block)
{
	block->prev->next = block->next;
	block->next->prev = block->prev;
	lake_allocated -= block->size;
	free(block);
}

LakeArena *
lake_arena_create(LakeArena *parent, const char *name)
{
	LakeArena  *arena = calloc(1, sizeof *arena);

	(void) name;
	if (arena == NULL)
		abort();
	arena->blocks.next = arena->blocks.prev = &arena->blocks;
	arena->parent = parent;
	if (parent != NULL)
	{
		arena->next = parent->children;
		parent->children = arena;
	}
	return arena;
}

static void
unlink_arena(LakeArena *arena)
{
	LakeArena **link;

	if (arena->parent == NULL)
		return;
	link = &arena->parent->children;
	while (*link != arena)
		link = &(*link)->next;
	*link = arena->next;
}

void
lake_arena_adopt(LakeArena *parent, LakeArena *arena)
{
	unlink_arena(arena);
	arena->parent = parent;
	arena->next = parent->children;
	parent->children = arena;
}

size_t
lake_arena_size(const LakeArena *arena)
{
	size_t		size = 0;

	for (const Block *block = arena->blocks.next; block != &arena->blocks;
		 block = block->next)
		size += block->size;
	for (const LakeArena *child = arena->children; child != NULL;
		 child = child->next)
		size += lake_arena_size(child);
	return size;
}

void
lake_arena_reset(LakeArena *arena)
{
	while (arena->children != NULL)
		lake_arena_destroy(arena->children);
	while (arena->defers != NULL)
	{
		Defer	   *defer = arena->defers;

		arena->defers = defer->next;
		defer->fn(defer->arg);
	}
	while (arena->blocks.next != &arena->blocks)
		block_destroy(arena->blocks.next);
	arena->cur = NULL;
	arena->left = 0;
	arena->block_size = 0;
}

void
lake_arena_destroy(LakeArena *arena)
{
	lake_arena_reset(arena);
	if (arena->parent != NULL)
	{
		LakeArena **link = &arena->parent->children;

		while (*link != arena)
			link = &(*link)->next;
		*link = arena->next;
	}
	free(arena);
}

void *
lake_alloc_try(LakeArena *arena, size_t size)
{
	Block	   *block;
	char	   *ptr;
	size_t		rounded;

	if (size > SIZE_MAX / 2)
		return NULL;
	rounded = size == 0 ? 16 : (size + 15) & ~(size_t) 15;
	if (rounded > SHARED_MAX)
	{
		/* exact size: a sanitizer then catches the first byte past the end */
		block = block_create(arena, size);
		return block == NULL ? NULL : block + 1;
	}
	if (rounded > arena->left)
	{
		size_t		next = arena->block_size == 0 ? FIRST_BLOCK :
			arena->block_size < LAST_BLOCK ? arena->block_size * 2 : LAST_BLOCK;

		block = block_create(arena, next);
		if (block == NULL)
			return NULL;
		block->is_shared = true;
		arena->cur = (char *) (block + 1);
		arena->left = arena->block_size = next;
	}
	ptr = arena->cur;
	arena->cur += rounded;
	arena->left -= rounded;
	return ptr;
}

void *
lake_alloc_raw(LakeArena *arena, size_t size)
{
	void	   *ptr = lake_alloc_try(arena, size);

	if (ptr == NULL)
		lake_throw(LAKE_ERROR_NO_MEMORY,
				   "out of memory: cannot allocate %zu bytes", size);
	return ptr;
}

void *
lake_alloc(LakeArena *arena, size_t size)
{
	return memset(lake_alloc_raw(arena, size), 0, size);
}

void *
lake_alloc_array(LakeArena *arena, size_t count, size_t size)
{
	size_t		total;

	if (__builtin_mul_overflow(count, size, &total))
		lake_throw(LAKE_ERROR_NO_MEMORY,
				   "out of memory: cannot allocate %zu times %zu bytes",
				   count, size);
	return lake_alloc(arena, total);
}

static bool
has_own_block(size_t size)
{
	return size > SHARED_MAX;
}

void *
lake_realloc(LakeArena *arena, void *ptr, size_t old_size, size_t new_size)
{
	void	   *fresh = lake_alloc_raw(arena, new_size);

	if (ptr != NULL)
	{
		memcpy(fresh, ptr, old_size < new_size ? old_size : new_size);
		if (has_own_block(old_size))
			block_destroy((Block *) ptr - 1);
	}
	return fresh;
}

void
lake_free(LakeArena *arena, void *ptr)
{
	/* only a pointer that starts its block has a block to give back */
	for (Block *b = arena->blocks.next; b != &arena->blocks; b = b->next)
	{
		if ((void *) (b + 1) == ptr && !b->is_shared)
		{
			block_destroy(b);
			return;
		}
	}
}

char *
lake_strndup(LakeArena *arena, const char *text, size_t len)
{
	char	   *copy = lake_alloc_raw(arena, len + 1);

	if (len > 0)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *
lake_strdup(LakeArena *arena, const char *text)
{
	return lake_strndup(arena, text, strlen(text));
}

char *
lake_printf(LakeArena *arena, const char *fmt,...)
{
	va_list		args;
	int			len;
	char	   *text;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0)
		lake_throw(LAKE_ERROR_INTERNAL, "cannot format \"%s\"", fmt);
	text = lake_alloc_raw(arena, (size_t) len + 1);
	va_start(args, fmt);
	vsnprintf(text, (size_t) len + 1, fmt, args);
	va_end(args);
	return text;
}

void
lake_defer(LakeArena *arena, void (*fn) (void *), void *arg)
{
	Defer	   *defer = lake_alloc(arena, sizeof *defer);

	defer->fn = fn;
	defer->arg = arg;
	defer->next = arena->defers;
	arena->defers = defer;
}

void
lake_try_enter(LakeTry *try)
{
	try->outer = lake_try_top;
	try->frames = frames;
	try->message[0] = try->hint[0] = try->context[0] = '\0';
	lake_try_top = try;
}

void
lake_try_end(LakeTry *try)
{
	lake_try_top = try->outer;
}

static _Noreturn void
unwind(LakeErrorCode code, const char *hint, const char *fmt, va_list args)
{
	LakeTry    *try = lake_try_top;
	size_t		used = 0;

	if (try == NULL)
	{
		vfprintf(stderr, fmt, args);
		fputc('\n', stderr);
		abort();
	}
	vsnprintf(try->message, sizeof try->message, fmt, args);
	snprintf(try->hint, sizeof try->hint, "%s", hint == NULL ? "" : hint);
	for (LakeFrame *f = frames; f != try->frames; f = f->host[0])
	{
		int			n = snprintf(try->context + used,
								 sizeof try->context - used, "%s%s%s\n",
								 f->what, f->name == NULL ? "" : " ",
								 f->name == NULL ? "" : f->name);

		if (n < 0 || (size_t) n >= sizeof try->context - used)
			break;
		used += (size_t) n;
	}
	frames = try->frames;
	try->code = code;
	lake_try_top = try->outer;
	siglongjmp(try->jump, 1);
}

void
lake_throw(LakeErrorCode code, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	unwind(code, NULL, fmt, args);
}

void
lake_throw_hint(LakeErrorCode code, const char *hint, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	unwind(code, hint, fmt, args);
}

void
lake_frame_push(LakeFrame *frame, const char *what, const char *name)
{
	frame->host[0] = frames;
	frame->what = what;
	frame->name = name;
	frames = frame;
}

void
lake_frame_pop(LakeFrame *frame)
{
	frames = frame->host[0];
}

void
lake_check_interrupts(void)
{
}

void
lake_log(LakeLogLevel level, const char *fmt,...)
{
	va_list		args;

	if (level < lake_log_threshold)
		return;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void
lake_fd_acquire(void)
{
}

void
lake_fd_release(void)
{
}

const char *
lake_error_name(LakeErrorCode code)
{
	static const char *const names[] = {
		[LAKE_ERROR_CORRUPT] = "corrupt",
		[LAKE_ERROR_UNSUPPORTED] = "unsupported",
		[LAKE_ERROR_IO] = "io",
		[LAKE_ERROR_MISSING] = "missing",
		[LAKE_ERROR_DENIED] = "denied",
		[LAKE_ERROR_CONFLICT] = "conflict",
		[LAKE_ERROR_LIMIT] = "limit",
		[LAKE_ERROR_NO_MEMORY] = "no_memory",
		[LAKE_ERROR_INVALID] = "invalid",
		[LAKE_ERROR_OUT_OF_RANGE] = "out_of_range",
		[LAKE_ERROR_DATETIME] = "datetime",
		[LAKE_ERROR_ENCODING] = "encoding",
		[LAKE_ERROR_UNDEFINED] = "undefined",
		[LAKE_ERROR_NO_TABLE] = "no_table",
		[LAKE_ERROR_INTERNAL] = "internal",
	};

	return names[code];
}
