/*
 * Replays inputs against a fuzz harness without libFuzzer: each argument is a
 * file, or a directory whose files are all run.
 *
 * A crash must not go unnoticed in a count, so that the number of failures is
 * what was begun less what came back; the name of the input that is running is
 * printed when a signal ends the program.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seam_std.h"

#define ALLOC_CEILING ((size_t) 1 << 30)

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *current = "(none)";
static int	begun;
static int	passed;

/* a sanitizer ends the program without a signal, but calls this first */
extern void __sanitizer_set_death_callback(void (*callback) (void))
			__attribute__((weak));

/* stdio may be in any state here */
static void
report_death(void)
{
	char		line[4200];
	int			len = snprintf(line, sizeof line,
							   "FAILED %s\n%d passed, %d failed\n",
							   current, passed, begun - passed);

	if (len > 0 && write(STDOUT_FILENO, line, (size_t) len) < 0)
		_exit(3);
}

static void
die_of_signal(int signo)
{
	(void) signo;
	report_death();
	_exit(2);
}

static void
catch_deaths(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

	/* a harness aborts when its property does not hold */
	signal(SIGABRT, die_of_signal);
	if (__sanitizer_set_death_callback != NULL)
	{
		__sanitizer_set_death_callback(report_death);
		return;
	}
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		signal(signals[i], die_of_signal);
}

static void
run_file(const char *path)
{
	FILE	   *file = fopen(path, "rb");
	uint8_t    *data;
	long		size;

	current = path;
	begun++;
	if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
		(size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
	{
		printf("FAILED %s (cannot be read)\n", path);
		if (file != NULL)
			fclose(file);
		return;
	}
	/* exactly as large as the input: a sanitizer then sees its end */
	data = malloc(size == 0 ? 1 : (size_t) size);
	if (data != NULL && fread(data, 1, (size_t) size, file) == (size_t) size)
	{
		LLVMFuzzerTestOneInput(data, (size_t) size);
		passed++;
	}
	else
		printf("FAILED %s (cannot be read)\n", path);
	free(data);
	fclose(file);
}

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void
run_directory(const char *path)
{
	struct dirent **entries;
	int			count = scandir(path, &entries, is_visible, alphasort);

	for (int i = 0; i < count; i++)
	{
		char		name[4096];

		snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
		run_file(name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int
main(int argc, char **argv)
{
	lake_alloc_ceiling = ALLOC_CEILING;
	catch_deaths();
	for (int i = 1; i < argc; i++)
	{
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			run_directory(argv[i]);
		else
			run_file(argv[i]);
	}
	printf("%d passed, %d failed\n", passed, begun - passed);
	return passed != begun;
}
