/* SPDX-License-Identifier: Apache-2.0 */
/* Every time from 1 ns to 1,000 s is answered within 0.8 %, and quantiles are those of the sample. */
#include <sizeup/histogram.h>

#include <stdio.h>
#include <string.h>

static uint64_t counts[SIZEUP_HISTOGRAM_BUCKETS];

static int check(int truth, const char *what, uint64_t value)
{
	if (!truth)
		fprintf(stderr, "%s at %llu\n", what, (unsigned long long)value);
	return !truth;
}

static int every_value_is_within_its_error(void)
{
	int failures = 0;

	for (uint64_t value = 1; value < 1000000000000u; value += 1 + value / 1000) {
		const uint64_t middle = sizeup_histogram_middle_ns(sizeup_histogram_bucket(value));
		const double error = ((double)middle - (double)value) / (double)value;

		failures += check(error <= 0.008 && error >= -0.008, "off by more than 0.8 %", value);
	}
	return failures;
}

static int buckets_rise_and_name_themselves(void)
{
	int failures = 0;

	for (uint32_t bucket = 1; bucket < SIZEUP_HISTOGRAM_BUCKETS; bucket++) {
		const uint64_t middle = sizeup_histogram_middle_ns(bucket);

		failures += check(middle > sizeup_histogram_middle_ns(bucket - 1), "not rising", bucket);
		failures += check(sizeup_histogram_bucket(middle) == bucket, "not its own", bucket);
	}
	return failures;
}

static int quantiles_are_those_of_the_sample(void)
{
	int failures = 0;

	for (uint64_t value = 1; value <= 100; value++)
		counts[sizeup_histogram_bucket(value)]++;
	failures += check(sizeup_histogram_quantile_ns(counts, 0.0) == 1, "smallest", 1);
	failures += check(sizeup_histogram_quantile_ns(counts, 0.5) == 50, "median", 50);
	failures += check(sizeup_histogram_quantile_ns(counts, 0.99) == 99, "p99", 99);
	failures += check(sizeup_histogram_quantile_ns(counts, 1.0) == 100, "largest", 100);
	failures += check(sizeup_histogram_count(counts) == 100, "count", 100);
	failures += check(sizeup_histogram_mean_ns(counts) == 50.5, "mean", 50);
	return failures;
}

static int the_ends_are_safe(void)
{
	int failures = 0;

	memset(counts, 0, sizeof(counts));
	failures += check(sizeup_histogram_quantile_ns(counts, 0.99) == 0, "empty", 0);
	failures += check(sizeup_histogram_mean_ns(counts) == 0, "empty mean", 0);
	failures += check(sizeup_histogram_bucket(UINT64_MAX) == SIZEUP_HISTOGRAM_BUCKETS - 1, "last", 0);
	return failures;
}

int main(void)
{
	return every_value_is_within_its_error() + buckets_rise_and_name_themselves() +
		       quantiles_are_those_of_the_sample() + the_ends_are_safe() !=
	       0;
}
