/*
 * Hashes against published vectors: murmur3 of the Iceberg spec's appendix B,
 * xxh64 of the reference implementation, crc32 of the zip format.
 */
#include "unit.h"

#include "base/hash.h"

static int32_t
murmur3_hex(const char *hex)
{
	uint8_t		bytes[32];
	size_t		len = strlen(hex) / 2;

	for (size_t i = 0; i < len; i++)
	{
		unsigned	byte;

		sscanf(hex + 2 * i, "%2x", &byte);
		bytes[i] = (uint8_t) byte;
	}
	return hash_murmur3(bytes, len, 0);
}

static void
murmur3_gives_the_iceberg_vectors(LakeArena *arena)
{
	static const struct
	{
		const char *hex;
		int32_t		hash;
	}			vectors[] = {
		{"2200000000000000", 2017239379}, {"22000000", -1928742653},
		{"0000000000000000", 1669671676}, {"0100000000000000", 1392991556},
		{"ffffffffffffffff", 1651860712}, {"ffffff7f00000000", 1819228606},
		{"00000080ffffffff", -2073034792}, {"ffffffffffffff7f", -2106506049},
		{"0000000000000080", 1366273829}, {"4e44000000000000", -653330422},
		{"4e440000", 1087118125}, {"00c3262d215e0500", -2047944441},
		{"01c3262d215e0500", -1207196810}, {"058c", -500754589},
		{"00", 1364076727}, {"01", -463810133}, {"ff", -43192051},
		{"7f", 1435096473}, {"0080", 1544076949}, {"80", 267099677},
		{"ff7f", -435537839}, {"fa74", 667775751},
		{"69636562657267", 1210000089}, {"3334", -427558391}, {"", 0},
		{"61", 1009084850}, {"c3a9", 269551495}, {"f09fa78a", 847417219},
		{"f79c3e09677c4bbda4793f349cb785e7", 1488055340},
		{"00010203", -188683207},
	};

	(void) arena;
	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
		CHECK_INT(murmur3_hex(vectors[i].hex), vectors[i].hash);
}

static void
xxh64_gives_the_reference_vectors(LakeArena *arena)
{
	const char *text = "Nobody inspects the spammish repetition";

	(void) arena;
	CHECK(hash_xxh64("", 0, 0) == 0xef46db3751d8e999u);
	CHECK(hash_xxh64("a", 1, 0) == 0xd24ec4f1a98c6e5bu);
	CHECK(hash_xxh64("abc", 3, 0) == 0x44bc2cf5ad770999u);
	CHECK(hash_xxh64(text, strlen(text), 0) == 0xfbcea83c8a378bf1u);
	CHECK(hash_xxh64("", 0, 1) == 0xd5afba1336a3be4bu);
}

static void
crc32_is_the_one_of_zip_and_continues(LakeArena *arena)
{
	uint32_t	crc = hash_crc32(0, "12345", 5);

	(void) arena;
	CHECK(hash_crc32(0, "123456789", 9) == 0xcbf43926u);
	CHECK(hash_crc32(crc, "6789", 4) == 0xcbf43926u);
	CHECK(hash_crc32(crc, NULL, 0) == crc);
}

static const UnitTest tests[] = {
	UNIT(murmur3_gives_the_iceberg_vectors),
	UNIT(xxh64_gives_the_reference_vectors),
	UNIT(crc32_is_the_one_of_zip_and_continues),
};

UNIT_MAIN(tests)
