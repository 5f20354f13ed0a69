/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_STATS_H
#define SIZEUP_STATS_H

#include <stdint.h>

/** struct sizeup_interval - A 95 % Student-t interval of a mean. */
struct sizeup_interval {
	double mean;
	double low;
	double high;
};

/** sizeup_sort() - Sort @values in ascending order, in place. */
void sizeup_sort(double *values, uint32_t count);

/**
 * sizeup_quantile() - Return the @share quantile of @sorted[@count], 0 to 1.
 *
 * Interpolates linearly; @count must not be 0.
 */
double sizeup_quantile(const double *sorted, uint32_t count, double share);

/**
 * sizeup_interval_of() - Interval of the mean of independent @values.
 * Return: 0, or -EDOM with fewer than two values.
 */
int sizeup_interval_of(const double *values, uint32_t count, struct sizeup_interval *interval);

#endif
