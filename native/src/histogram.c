/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/histogram.h>

#define EXACT_BITS 7 /* values below 2^7 have a bucket each */
#define SUB_BITS 6   /* 2^6 buckets an octave above */

uint32_t sizeup_histogram_bucket(uint64_t value_ns)
{
	if (value_ns < (1u << EXACT_BITS))
		return (uint32_t)value_ns;
	const uint32_t exponent = 63 - (uint32_t)__builtin_clzll(value_ns);
	const uint32_t sub = (uint32_t)(value_ns >> (exponent - SUB_BITS)) & ((1u << SUB_BITS) - 1);
	const uint32_t bucket = (1u << EXACT_BITS) + ((exponent - EXACT_BITS) << SUB_BITS) + sub;

	return bucket < SIZEUP_HISTOGRAM_BUCKETS ? bucket : SIZEUP_HISTOGRAM_BUCKETS - 1;
}

uint64_t sizeup_histogram_middle_ns(uint32_t bucket)
{
	if (bucket < (1u << EXACT_BITS))
		return bucket;
	const uint32_t above = bucket - (1u << EXACT_BITS);
	const uint32_t shift = (above >> SUB_BITS) + EXACT_BITS - SUB_BITS;
	const uint64_t low = (uint64_t)((1u << SUB_BITS) + (above & ((1u << SUB_BITS) - 1))) << shift;

	return low + (((uint64_t)1 << shift) >> 1);
}

uint64_t sizeup_histogram_count(const uint64_t *counts)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++)
		total += counts[i];
	return total;
}

uint64_t sizeup_histogram_quantile_ns(const uint64_t *counts, double quantile)
{
	const uint64_t total = sizeup_histogram_count(counts);
	const double exact_rank = quantile * (double)total;
	uint64_t rank = (uint64_t)exact_rank;
	uint64_t seen = 0;
	uint32_t last = 0;

	if (total == 0)
		return 0;
	if ((double)rank < exact_rank)
		rank++;
	if (rank == 0)
		rank = 1;
	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++) {
		if (counts[i] == 0)
			continue;
		last = i;
		seen += counts[i];
		if (seen >= rank)
			break;
	}
	return sizeup_histogram_middle_ns(last);
}

double sizeup_histogram_mean_ns(const uint64_t *counts)
{
	double sum = 0;
	uint64_t total = 0;

	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++) {
		sum += (double)counts[i] * (double)sizeup_histogram_middle_ns(i);
		total += counts[i];
	}
	return total ? sum / (double)total : 0;
}
