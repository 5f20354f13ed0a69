/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_HISTOGRAM_H
#define SIZEUP_HISTOGRAM_H

#include <stdint.h>

/*
 * A log-linear histogram of times: exact below 128 ns, then 64 buckets an octave up to 2^41 ns
 * (2,199 s). A bucket stands for its middle, so the error is at most 1/128 (0.8 %).
 * The size is fixed (18 KiB): histograms add and subtract bucket by bucket.
 */
#define SIZEUP_HISTOGRAM_BUCKETS 2304

/** sizeup_histogram_bucket() - Return the bucket of a time in nanoseconds; times beyond the range are in the last. */
uint32_t sizeup_histogram_bucket(uint64_t value_ns);

/** sizeup_histogram_middle_ns() - Return the time that a bucket represents, in nanoseconds. */
uint64_t sizeup_histogram_middle_ns(uint32_t bucket);

/** sizeup_histogram_count() - Return the number of values in all buckets of @counts. */
uint64_t sizeup_histogram_count(const uint64_t *counts);

/**
 * sizeup_histogram_quantile_ns() - The smallest time that at least @quantile of the values reach.
 * @quantile: 0 to 1; 0 gives the smallest value, 1 the largest.
 * Return: nanoseconds, or 0 for an empty histogram.
 */
uint64_t sizeup_histogram_quantile_ns(const uint64_t *counts, double quantile);

/**
 * sizeup_histogram_mean_ns() - Mean of the values, each taken as the middle of its bucket.
 * Return: nanoseconds, or 0 for an empty histogram.
 */
double sizeup_histogram_mean_ns(const uint64_t *counts);

#endif
