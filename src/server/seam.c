/*
 * The seam on PostgreSQL: arenas are memory contexts, throws are error reports,
 * frames are error contexts.
 *
 * Text that leaves the core in a message can come from a hostile file.  It is
 * shown only after bytes that the database encoding does not allow, and control
 * characters, have been replaced.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "server/server_int.h"

/* longer messages are cut; they come from long names in files */
#define MESSAGE_MAX 2048

StaticAssertDecl(sizeof(ErrorContextCallback) ==
				 sizeof(((LakeFrame *) NULL)->host),
				 "a frame must have room for an error context callback");

static const int sqlstates[] = {
	[LAKE_ERROR_CORRUPT] = ERRCODE_DATA_CORRUPTED,
	[LAKE_ERROR_UNSUPPORTED] = ERRCODE_FEATURE_NOT_SUPPORTED,
	[LAKE_ERROR_IO] = ERRCODE_IO_ERROR,
	[LAKE_ERROR_MISSING] = ERRCODE_UNDEFINED_FILE,
	[LAKE_ERROR_DENIED] = ERRCODE_INSUFFICIENT_PRIVILEGE,
	[LAKE_ERROR_CONFLICT] = ERRCODE_T_R_SERIALIZATION_FAILURE,
	[LAKE_ERROR_LIMIT] = ERRCODE_PROGRAM_LIMIT_EXCEEDED,
	[LAKE_ERROR_NO_MEMORY] = ERRCODE_OUT_OF_MEMORY,
	[LAKE_ERROR_INVALID] = ERRCODE_INVALID_PARAMETER_VALUE,
	[LAKE_ERROR_OUT_OF_RANGE] = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
	[LAKE_ERROR_DATETIME] = ERRCODE_DATETIME_FIELD_OVERFLOW,
	[LAKE_ERROR_ENCODING] = ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
	[LAKE_ERROR_UNDEFINED] = ERRCODE_UNDEFINED_OBJECT,
	[LAKE_ERROR_NO_TABLE] = ERRCODE_UNDEFINED_TABLE,
	[LAKE_ERROR_INTERNAL] = ERRCODE_INTERNAL_ERROR,
};

int
lake_error_sqlstate(LakeErrorCode code)
{
	return sqlstates[code];
}

/* ---- memory ---- */

static MemoryContext
context_of(LakeArena *arena)
{
	return (MemoryContext) arena;
}

LakeArena *
lake_arena_create(LakeArena *parent, const char *name)
{
	MemoryContext above = parent == NULL ?
		CurrentMemoryContext : context_of(parent);

	return lake_arena_of(AllocSetContextCreateInternal(above, name,
													   ALLOCSET_DEFAULT_SIZES));
}

void
lake_arena_reset(LakeArena *arena)
{
	MemoryContextReset(context_of(arena));
}

void
lake_arena_destroy(LakeArena *arena)
{
	MemoryContextDelete(context_of(arena));
}

void
lake_arena_adopt(LakeArena *parent, LakeArena *arena)
{
	MemoryContextSetParent(context_of(arena), context_of(parent));
}

size_t
lake_arena_size(const LakeArena *arena)
{
	return MemoryContextMemAllocated((MemoryContext) arena, true);
}

/* palloc calls an absurd size a bug; here it comes from a file */
static void
check_size(size_t size)
{
	if (!AllocHugeSizeIsValid(size))
		lake_throw(LAKE_ERROR_NO_MEMORY,
				   "out of memory: cannot allocate %zu bytes", size);
}

void *
lake_alloc(LakeArena *arena, size_t size)
{
	check_size(size);
	return MemoryContextAllocExtended(context_of(arena), size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void *
lake_alloc_raw(LakeArena *arena, size_t size)
{
	check_size(size);
	return MemoryContextAllocHuge(context_of(arena), size);
}

void *
lake_alloc_try(LakeArena *arena, size_t size)
{
	if (!AllocHugeSizeIsValid(size))
		return NULL;
	return MemoryContextAllocExtended(context_of(arena), size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
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

void *
lake_realloc(LakeArena *arena, void *ptr, size_t old_size, size_t new_size)
{
	if (ptr == NULL)
		return lake_alloc_raw(arena, new_size);
	check_size(new_size);
	return repalloc_huge(ptr, new_size);
}

void
lake_free(LakeArena *arena, void *ptr)
{
	if (ptr != NULL)
		pfree(ptr);
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
	MemoryContextCallback *callback;

	callback = MemoryContextAlloc(context_of(arena), sizeof *callback);
	callback->func = fn;
	callback->arg = arg;
	MemoryContextRegisterResetCallback(context_of(arena), callback);
}

/* ---- messages ---- */

/*
 * Replaces what the database's encoding does not allow, and control characters,
 * by '?'.  Cannot fail, since it runs while errors are reported: so UTF-8 from
 * a file is not converted, but shown as what it is in the other encoding.
 */
static void
make_presentable(char *text)
{
	int			encoding = GetDatabaseEncoding();
	int			left = (int) strlen(text);

	while (left > 0)
	{
		unsigned char byte = (unsigned char) *text;
		int			len = 1;

		if (byte >= 0x80)
			len = pg_encoding_verifymbchar(encoding, text, left);
		else if (byte == 0x7f || (byte < 0x20 && byte != '\n' && byte != '\t'))
			len = -1;
		if (len < 1)
		{
			*text = '?';
			len = 1;
		}
		text += len;
		left -= len;
	}
}

static pg_noinline void
format_message(char message[MESSAGE_MAX], const char *fmt, va_list args)
{
	vsnprintf(message, MESSAGE_MAX, fmt, args);
	make_presentable(message);
}

void
lake_throw(LakeErrorCode code, const char *fmt,...)
{
	char		message[MESSAGE_MAX];
	va_list		args;

	va_start(args, fmt);
	format_message(message, fmt, args);
	va_end(args);
	ereport(ERROR,
			(errcode(sqlstates[code]),
			 errmsg_internal("%s", message)));
	pg_unreachable();
}

void
lake_throw_hint(LakeErrorCode code, const char *hint, const char *fmt,...)
{
	char		message[MESSAGE_MAX];
	char		presentable[MESSAGE_MAX];
	va_list		args;

	va_start(args, fmt);
	format_message(message, fmt, args);
	va_end(args);
	/* it may have names from a file, too */
	snprintf(presentable, sizeof presentable, "%s", hint);
	make_presentable(presentable);
	ereport(ERROR,
			(errcode(sqlstates[code]),
			 errmsg_internal("%s", message),
			 errhint("%s", presentable)));
	pg_unreachable();
}

static void
show_frame(void *arg)
{
	const LakeFrame *frame = arg;
	char		name[MESSAGE_MAX];

	if (frame->name == NULL)
	{
		errcontext("%s", frame->what);
		return;
	}
	snprintf(name, sizeof name, "%s", frame->name);
	make_presentable(name);
	errcontext("%s %s", frame->what, name);
}

void
lake_frame_push(LakeFrame *frame, const char *what, const char *name)
{
	ErrorContextCallback *callback = (ErrorContextCallback *) frame->host;

	frame->what = what;
	frame->name = name;
	callback->callback = show_frame;
	callback->arg = frame;
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

void
lake_frame_pop(LakeFrame *frame)
{
	error_context_stack = ((ErrorContextCallback *) frame->host)->previous;
}

void
lake_check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

void
lake_log(LakeLogLevel level, const char *fmt,...)
{
	static const int levels[] = {
		[LAKE_LOG_DEBUG] = DEBUG1,
		[LAKE_LOG_NOTICE] = NOTICE,
		[LAKE_LOG_WARNING] = WARNING,
	};
	char		message[MESSAGE_MAX];
	va_list		args;

	if (!message_level_is_interesting(levels[level]))
		return;
	va_start(args, fmt);
	format_message(message, fmt, args);
	va_end(args);
	ereport(levels[level], (errmsg_internal("%s", message)));
}

/* ---- file descriptors ---- */

void
lake_fd_acquire(void)
{
	if (!AcquireExternalFD())
		lake_throw(LAKE_ERROR_LIMIT, "too many open files: %m");
}

void
lake_fd_release(void)
{
	ReleaseExternalFD();
}

/* ---- names: the core speaks UTF-8, the catalogs the database's encoding ---- */

const char *
name_to_lake(const char *name)
{
	return pg_server_to_any(name, (int) strlen(name), PG_UTF8);
}

const char *
name_from_lake(const char *name)
{
	return pg_any_to_server(name, (int) strlen(name), PG_UTF8);
}
