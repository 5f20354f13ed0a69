/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/permutation.h>

uint64_t sizeup_mix(uint64_t value)
{
	value += 0x9e3779b97f4a7c15u;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

void sizeup_permutation_init(struct sizeup_permutation *permutation, uint64_t count, uint64_t seed)
{
	uint32_t bits = 1;

	while (bits < 63 && (UINT64_C(1) << bits) < count)
		bits++;
	permutation->count = count;
	permutation->mask = (UINT64_C(1) << bits) - 1;
	permutation->shift = (bits + 1) / 2;
	for (uint32_t i = 0; i < 3; i++) {
		seed = sizeup_mix(seed);
		permutation->keys[i] = seed | 1; /* odd: multiplication by it is invertible modulo 2^bits */
	}
}

/* Addition, multiplication by an odd number and xor with the high bits are bijections of @mask + 1 values. */
static inline uint64_t scramble(const struct sizeup_permutation *permutation, uint64_t value)
{
	for (uint32_t i = 0; i < 3; i++) {
		value = (value * permutation->keys[i] + (permutation->keys[i] >> 32)) & permutation->mask;
		value ^= value >> permutation->shift;
	}
	return value;
}

uint64_t sizeup_permutation_at(const struct sizeup_permutation *permutation, uint64_t index)
{
	/*
	 * The power of two above count is less than twice as large, so repeating the
	 * larger bijection until the index is in range takes two steps on average.
	 */
	do
		index = scramble(permutation, index);
	while (index >= permutation->count);
	return index;
}
