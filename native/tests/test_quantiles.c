/* SPDX-License-Identifier: Apache-2.0 */
/* A quantile is the smallest value that at least that share of all values reach, also of few values. */
#include <sizeup/histogram.h>

#include <string.h>

#include "check.h"

static uint64_t counts[SIZEUP_HISTOGRAM_BUCKETS];

/* Thousandths, so that the expected rank is exact. */
static uint64_t expected(uint64_t values, uint64_t thousandths)
{
	uint64_t rank = (values * thousandths + 999) / 1000;

	return rank ? rank : 1;
}

int main(void)
{
	for (uint64_t values = 1; values <= 40; values++) {
		memset(counts, 0, sizeof(counts));
		for (uint64_t value = 1; value <= values; value++)
			counts[sizeup_histogram_bucket(value)]++;
		for (uint64_t thousandths = 0; thousandths <= 1000; thousandths += 125)
			check(sizeup_histogram_quantile_ns(counts, (double)thousandths / 1000) == expected(values, thousandths),
			      "the rank of a quantile is rounded up");
	}
	memset(counts, 0, sizeof(counts));
	counts[sizeup_histogram_bucket(10)] = 3;
	counts[sizeup_histogram_bucket(20)] = 1;
	check(sizeup_histogram_quantile_ns(counts, 0.75) == 10, "three of four are no more than 10");
	check(sizeup_histogram_quantile_ns(counts, 0.76) == 20, "and no more than those");
	check(sizeup_histogram_mean_ns(counts) == 12.5, "the mean weighs each value by its number");
	return 0;
}
