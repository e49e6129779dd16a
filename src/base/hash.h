/*
 * The hash functions of the formats: murmur3 for bucket partitions, xxh64 for
 * bloom filters, crc32 for pages and deletion vectors, and a seeded 64-bit
 * hash for our own tables.
 */
#ifndef LAKE_HASH_H
#define LAKE_HASH_H

#include "base/base.h"

/* murmur3_x86_32 (Iceberg spec, appendix B); seed 0 in all of its uses */
extern int32_t hash_murmur3(const void *data, size_t len, uint32_t seed);
extern uint64_t hash_xxh64(const void *data, size_t len, uint64_t seed);

/* zlib's polynomial; start with crc 0 */
extern uint32_t hash_crc32(uint32_t crc, const void *data, size_t len);

#endif							/* LAKE_HASH_H */
