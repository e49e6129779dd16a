/*
 * Random bytes from the operating system, and ids made of them.
 */
#ifndef LAKE_RANDOM_H
#define LAKE_RANDOM_H

#include "base/base.h"

/* throws IO when the system has none to give */
extern void random_fill(void *dst, size_t size);

/* a UUID of version 4, as text with a NUL */
extern void random_uuid(char out[37]);

#endif							/* LAKE_RANDOM_H */
