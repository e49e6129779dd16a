/*
 * Locations: how they are compared, and what they mean as paths.
 *
 * Everything here is about text.  What a path really leads to (symbolic links)
 * is checked by the store when it has it open; but text that leads out of the
 * allowed prefixes is refused before anything is opened.
 */
#include "io/io_int.h"

#include <limits.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"

#define MAX_LOCATION	PATH_MAX

typedef struct LocationParts
{
	const char *scheme;			/* not NUL-terminated; NULL: no scheme */
	size_t		scheme_len;
	const char *authority;		/* not NUL-terminated */
	size_t		authority_len;
	const char *path;			/* the rest */
} LocationParts;

static bool
is_scheme_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/*
 * RFC 3986, except that a colon makes a scheme only before a slash: relative
 * paths may have colons.
 */
static void
split_location(const char *location, LocationParts *parts)
{
	const char *p = location;

	memset(parts, 0, sizeof *parts);
	parts->path = location;
	while (is_scheme_char(*p))
		p++;
	if (p == location || p[0] != ':' || p[1] != '/')
		return;
	parts->scheme = location;
	parts->scheme_len = (size_t) (p - location);
	parts->path = p + 1;
	if (p[2] != '/')
		return;
	parts->authority = p + 3;
	parts->authority_len = strcspn(parts->authority, "/");
	parts->path = parts->authority + parts->authority_len;
}

static bool
is_dot(const char *component)
{
	return component[0] == '.' &&
		(component[1] == '/' || component[1] == '\0');
}

/* called for each row of a position delete file: strchr takes long strides */
static bool
is_clean(const char *path)
{
	const char *slash;

	if (is_dot(path))
		return false;
	for (slash = strchr(path, '/'); slash != NULL;
		 slash = strchr(slash + 1, '/'))
	{
		if (slash[1] == '/' || is_dot(slash + 1))
			return false;
	}
	return true;
}

const char *
location_comparable(LakeArena *arena, const char *location)
{
	LocationParts parts;
	char	   *clean;
	char	   *out;
	const char *p;

	split_location(location, &parts);
	if (is_clean(parts.path))
		return parts.path;
	clean = out = lake_alloc_raw(arena, strlen(parts.path) + 1);
	p = parts.path;
	while (*p != '\0')
	{
		size_t		len = strcspn(p, "/");

		if (len == 0)
		{
			if (p == parts.path || (out > clean && out[-1] != '/'))
				*out++ = '/';
			p++;
			continue;
		}
		if (len != 1 || *p != '.')
		{
			memcpy(out, p, len);
			out += len;
		}
		else if (out == clean && p[len] == '/')
			len++;				/* "./a" is "a", not "/a" */
		p += len;
	}
	*out = '\0';
	return clean;
}

char *
location_join(LakeArena *arena, const char *dir, const char *name)
{
	size_t		len = strlen(dir);

	while (len > 0 && dir[len - 1] == '/')
		len--;
	while (*name == '/')
		name++;
	return lake_printf(arena, "%.*s/%s", (int) len, dir, name);
}

/* a copy without trailing slashes: "/" becomes "" */
static char *
trim_slashes(LakeArena *arena, const char *text)
{
	size_t		len = strlen(text);

	while (len > 0 && text[len - 1] == '/')
		len--;
	return lake_strndup(arena, text, len);
}

/*
 * Resolves ".", ".." and doubled slashes of an absolute path; ".." of the root
 * is the root.  No trailing slash.
 */
static char *
normalize_path(LakeArena *arena, const char *path)
{
	char	   *result = lake_alloc_raw(arena, strlen(path) + 1);
	char	   *out = result;

	while (*path != '\0')
	{
		size_t		len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.')
		{
			while (out > result && *--out != '/')
				;
		}
		else if (len > 0 && !(len == 1 && path[0] == '.'))
		{
			*out++ = '/';
			memcpy(out, path, len);
			out += len;
		}
		path += len;
		if (*path == '/')
			path++;
	}
	*out = '\0';
	return result;
}

static bool
is_text(const char *text, size_t len, const char *expected)
{
	if (len != strlen(expected))
		return false;
	for (size_t i = 0; i < len; i++)
	{
		if ((text[i] | 0x20) != (expected[i] | 0x20))
			return false;
	}
	return true;
}

/* the absolute path of a location; throws UNSUPPORTED, DENIED */
static const char *
local_path(const char *location, const LocationParts *parts)
{
	if (parts->scheme == NULL && parts->path[0] != '/')
		lake_throw_hint(LAKE_ERROR_DENIED,
						"Use path_map to say which directory its first part stands for.",
						"location \"%s\" is relative", location);
	if (parts->scheme == NULL)
		return parts->path;
	if (!is_text(parts->scheme, parts->scheme_len, "file"))
		lake_throw_hint(LAKE_ERROR_UNSUPPORTED,
						"If the files are also in a local directory, use path_map to name it.",
						"scheme \"%.*s\" of location \"%s\" is not supported",
						(int) parts->scheme_len, parts->scheme, location);
	if (parts->authority_len != 0 &&
		!is_text(parts->authority, parts->authority_len, "localhost"))
		lake_throw_hint(LAKE_ERROR_UNSUPPORTED,
						"If the files are also in a local directory, use path_map to name it.",
						"location \"%s\" is on another host", location);
	return parts->path;
}

bool
path_is_below(const char *path, const char *prefix)
{
	size_t		len = strlen(prefix);

	return strncmp(path, prefix, len) == 0 &&
		(path[len] == '/' || path[len] == '\0');
}

static bool
is_allowed(const LakePathRules *rules, const char *path)
{
	for (int i = 0; i < rules->allowed_count; i++)
	{
		if (path_is_below(path, rules->allowed[i]))
			return true;
	}
	return false;
}

const char *
path_rules_describe(LakeArena *arena, const LakePathRules *rules)
{
	LakeBuffer	text;

	if (rules->allowed_count == 0)
		return "none";
	buffer_init(&text, arena);
	for (int i = 0; i < rules->allowed_count; i++)
		buffer_printf(&text, "%s%s", i == 0 ? "" : ", ",
					  rules->allowed[i][0] == '\0' ? "/" : rules->allowed[i]);
	buffer_append_byte(&text, '\0');
	return (const char *) text.data;
}

void
path_rules_allow(LakeArena *arena, LakePathRules *rules, const char *location)
{
	size_t		size = (size_t) rules->allowed_count * sizeof(char *);
	LocationParts parts;
	const char *prefix;
	const char **allowed;

	split_location(location, &parts);
	if (parts.scheme == NULL && parts.path[0] != '/')
		lake_throw(LAKE_ERROR_INVALID,
				   "\"%s\" is not an absolute path or URI", location);
	if (parts.scheme == NULL ||
		is_text(parts.scheme, parts.scheme_len, "file"))
		prefix = normalize_path(arena, local_path(location, &parts));
	else
		prefix = trim_slashes(arena, location);
	/* a warehouse is often the target of a path map too */
	for (int i = 0; i < rules->allowed_count; i++)
	{
		if (strcmp(rules->allowed[i], prefix) == 0)
			return;
	}
	allowed = lake_alloc(arena, size + sizeof(char *));
	if (size > 0)
		memcpy(allowed, rules->allowed, size);
	allowed[rules->allowed_count] = prefix;
	rules->allowed = allowed;
	rules->allowed_count++;
}

/* one from=to */
static void
add_map(LakeArena *arena, LakePathRules *rules, const char *text, size_t len)
{
	size_t		size = (size_t) rules->map_count * sizeof(LakePathMap);
	const char *end;
	const char *equals;
	LakePathMap *maps;
	LakePathMap *map;
	const char *from;
	const char *to;

	while (len > 0 && *text == ' ')
	{
		text++;
		len--;
	}
	while (len > 0 && text[len - 1] == ' ')
		len--;
	end = text + len;
	equals = memchr(text, '=', len);
	if (equals == NULL || equals == text || equals + 1 == end)
		lake_throw_hint(LAKE_ERROR_INVALID,
						"A path map is written from=to[,from=to].",
						"invalid path map \"%.*s\"", (int) len, text);
	maps = lake_alloc(arena, size + sizeof(LakePathMap));
	if (size > 0)
		memcpy(maps, rules->maps, size);
	map = &maps[rules->map_count];
	from = lake_strndup(arena, text, (size_t) (equals - text));
	to = lake_strndup(arena, equals + 1, (size_t) (end - equals - 1));
	map->from = trim_slashes(arena, location_comparable(arena, from));
	map->to = trim_slashes(arena, to);
	path_rules_allow(arena, rules, to);
	rules->maps = maps;
	rules->map_count++;
}

void
path_rules_add_map(LakeArena *arena, LakePathRules *rules, const char *text)
{
	for (;;)
	{
		size_t		len = strcspn(text, ",");

		add_map(arena, rules, text, len);
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
}

/*
 * Where "to" is below "from", as it is when "from" stands for a whole bucket, a
 * local location below "to" has been mapped already.
 */
static bool
is_mapped_already(LakeArena *arena, const LakePathMap *map,
				  const char *location, const char *comparable)
{
	const char *to = location_comparable(arena, map->to);
	LocationParts parts;

	split_location(location, &parts);
	return (parts.scheme == NULL ||
			is_text(parts.scheme, parts.scheme_len, "file")) &&
		path_is_below(to, map->from) && path_is_below(comparable, to);
}

/* NULL when the location stays as it is */
static const char *
apply_maps(LakeArena *arena, const LakePathRules *rules, const char *location)
{
	const char *comparable = location_comparable(arena, location);
	const LakePathMap *best = NULL;
	size_t		best_len = 0;

	for (int i = 0; i < rules->map_count; i++)
	{
		const LakePathMap *map = &rules->maps[i];
		size_t		len = strlen(map->from);

		if (!path_is_below(comparable, map->from) ||
			(best != NULL && len <= best_len))
			continue;
		best = map;
		best_len = len;
	}
	if (best == NULL || is_mapped_already(arena, best, location, comparable))
		return NULL;
	return lake_printf(arena, "%s%s", best->to, comparable + best_len);
}

void
path_rules_candidates(LakeArena *arena, const LakePathRules *rules,
					  const char *location, PathCandidates *candidates)
{
	const char *mapped = NULL;
	bool		is_uri;
	LocationParts parts;
	char	   *plain;
	char	   *decoded;

	if (strlen(location) >= MAX_LOCATION)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "location of %zu bytes is too long: \"%.100s...\"",
				   strlen(location), location);
	split_location(location, &parts);
	is_uri = parts.scheme != NULL;
	if (rules->map_count > 0)
		mapped = apply_maps(arena, rules, location);
	if (mapped != NULL)
		split_location(mapped, &parts);
	else
		mapped = location;
	plain = normalize_path(arena, local_path(mapped, &parts));
	decoded = plain;
	if (strchr(parts.path, '%') != NULL)
		decoded = normalize_path(arena,
								 text_percent_decode(arena, parts.path));
	if (!is_allowed(rules, decoded) || (!is_uri && !is_allowed(rules, plain)))
		lake_throw_hint(LAKE_ERROR_DENIED,
						"Locations are allowed by the server's warehouse, allowed_locations and path_map.",
						"location \"%s\" is outside the allowed directories: %s",
						location, path_rules_describe(arena, rules));
	candidates->count = 0;
	if (is_allowed(rules, plain))
		candidates->paths[candidates->count++] = plain;
	if (is_uri && strcmp(plain, decoded) != 0)
		candidates->paths[candidates->count++] = decoded;
}

char *
path_rules_resolve(LakeArena *arena, const LakePathRules *rules,
				   const char *location)
{
	PathCandidates candidates;

	path_rules_candidates(arena, rules, location, &candidates);
	return candidates.paths[0];
}
