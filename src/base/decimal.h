/*
 * Decimals as scaled 128-bit integers, and their big-endian two's complement
 * bytes as the formats store them.
 */
#ifndef LAKE_DECIMAL_H
#define LAKE_DECIMAL_H

#include "base/base.h"

#define DECIMAL_MAX_PRECISION 38

/*
 * Big-endian two's complement of any length (0 bytes = 0).  False when the
 * value does not fit 128 bits.
 */
extern bool decimal_from_bytes(const uint8_t *data, size_t len,
							   LakeInt128 *result);

/* minimal length, as bucket hashes and bounds want it; returns 1..16 */
extern size_t decimal_to_bytes(LakeInt128 value, uint8_t bytes[16]);

/* 10^exponent, 0 <= exponent <= 38 */
extern LakeInt128 decimal_power10(int exponent);

/* |value| < 10^precision */
extern bool decimal_fits(LakeInt128 value, int precision);

/* exactly scale fraction digits; out has room for 48 bytes; returns length */
extern size_t decimal_format(LakeInt128 value, int scale, char *out);

/* digits with an optional sign, point and exponent; false if not exact */
extern bool decimal_parse(const char *text, size_t len, int scale,
						  LakeInt128 *result);

#endif							/* LAKE_DECIMAL_H */
