/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_PERMUTATION_H
#define SIZEUP_PERMUTATION_H

#include <stdint.h>

/**
 * struct sizeup_permutation - A keyed bijection of 0..count-1, computed instead of stored.
 *
 * A shuffled array of a 2 GiB ring would itself take 256 MiB and a cache-missing pass;
 * this takes 2 ns per element and no memory, and any thread can build any part of it.
 */
struct sizeup_permutation {
	uint64_t count;
	uint64_t mask;
	uint64_t keys[3];
	uint32_t shift;
};

/** sizeup_permutation_init() - Initialize the bijection of 0..@count-1 that belongs to @seed; @count is not 0. */
void sizeup_permutation_init(struct sizeup_permutation *permutation, uint64_t count, uint64_t seed);

/** sizeup_permutation_at() - Return the image of @index, which is below count. */
uint64_t sizeup_permutation_at(const struct sizeup_permutation *permutation, uint64_t index);

/** sizeup_mix() - Spread the bits of @value over 64: a hash, and the source of derived seeds. */
uint64_t sizeup_mix(uint64_t value);

#endif
