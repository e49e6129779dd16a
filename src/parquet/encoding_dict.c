/*
 * Dictionary codes.
 *
 * Codes stay codes until somebody needs values, so the one check that makes
 * looking them up safe is here.
 *
 * Parquet format: Encodings.md, "Dictionary Encoding".
 */
#include "parquet/encoding.h"

void
codes_init(CodeDecoder *decoder, LakeBytes data, uint32_t dict_count)
{
	int			width = 1;

	if (data.len > 0)
	{
		width = data.data[0];
		data.data++;
		data.len--;
	}
	if (width > 32)
		lake_throw(LAKE_ERROR_CORRUPT, "dictionary codes of %d bits", width);
	hybrid_init(&decoder->hybrid, data, width);
	decoder->dict_count = dict_count;
}

/*
 * All codes < dict_count?  Blocks of eight, for which compilers use vectors at
 * -O2 too; the sign bit of last - code tells as long as both are below 2^31.
 */
static bool
all_below(const uint32_t *codes, size_t count, uint32_t dict_count)
{
	uint32_t	wrong[8] = {0};
	uint32_t	any = 0;
	size_t		i = 0;

	if (dict_count == 0 || dict_count > (uint32_t) INT32_MAX)
		return count == 0;
	for (; i + 8 <= count; i += 8)
	{
		for (int k = 0; k < 8; k++)
			wrong[k] |= (dict_count - 1 - codes[i + (size_t) k]) |
				codes[i + (size_t) k];
	}
	for (; i < count; i++)
		any |= (dict_count - 1 - codes[i]) | codes[i];
	for (int k = 0; k < 8; k++)
		any |= wrong[k];
	return any >> 31 == 0;
}

void
codes_read(CodeDecoder *decoder, uint32_t *out, size_t count)
{
	hybrid_read(&decoder->hybrid, out, count);
	if (!all_below(out, count, decoder->dict_count))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "code outside of the dictionary of %u entries",
				   decoder->dict_count);
}

void
codes_skip(CodeDecoder *decoder, uint64_t count)
{
	hybrid_skip(&decoder->hybrid, count);
}
