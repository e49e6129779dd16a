/*
 * Random bytes from the operating system.
 */
#include "base/random.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"

void
random_fill(void *dst, size_t size)
{
	size_t		done = 0;

	while (done < size)
	{
		ssize_t		got = getrandom((char *) dst + done, size - done, 0);

		if (got < 0 && errno != EINTR)
			lake_throw(LAKE_ERROR_IO, "could not get random bytes: %s",
					   strerror(errno));
		if (got > 0)
			done += (size_t) got;
	}
}

void
random_uuid(char out[37])
{
	uint8_t		uuid[16];

	random_fill(uuid, sizeof uuid);
	uuid[6] = (uint8_t) ((uuid[6] & 0x0F) | 0x40);
	uuid[8] = (uint8_t) ((uuid[8] & 0x3F) | 0x80);
	text_format_uuid(uuid, out);
}
