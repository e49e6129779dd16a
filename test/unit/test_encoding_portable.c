/*
 * The portable kernels of bit unpacking, on machines that would use others.
 */
#include "unit.h"

/* compiled in here a second time, under names of their own */
#define LAKE_PORTABLE_KERNELS
#define unpack_u32 portable_unpack_u32
#define unpack_u64 portable_unpack_u64
#define unpack_bools portable_unpack_bools
#include "parquet/unpack.c"
#undef unpack_u32

#include "encode.h"

extern void unpack_u32(const uint8_t *data, int width, uint32_t *out,
					   size_t count);

static void
portable_and_chosen_kernels_agree(LakeArena *arena)
{
	uint64_t	random = 1;

	for (int width = 0; width <= 32; width++)
	{
		for (size_t count = 0; count < 50; count++)
		{
			uint8_t		bytes[200];
			uint32_t	portable[50];
			uint32_t	chosen[50];
			LakeBytes	page;

			for (size_t i = 0; i < sizeof bytes; i++)
				bytes[i] = (uint8_t) encode_random(&random);
			page = encode_page(arena, bytes, sizeof bytes);
			portable_unpack_u32(page.data, width, portable, count);
			unpack_u32(page.data, width, chosen, count);
			CHECK(memcmp(portable, chosen, count * sizeof *chosen) == 0);
		}
	}
}

static const UnitTest tests[] = {
	UNIT(portable_and_chosen_kernels_agree),
};

UNIT_MAIN(tests)
