/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_STATS_H
#define SIZEUP_STATS_H

#include <stdint.h>

/** struct sizeup_interval - A figure with its 95 % interval. */
struct sizeup_interval {
	double middle; /* mean or median */
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
 * sizeup_median_cut() - Return k: the median lies between the k-th smallest and the k-th largest of @count values.
 *
 * With at least 95 % probability, for any distribution (sign test); 0 for fewer than six values, which are too few.
 */
uint32_t sizeup_median_cut(uint32_t count);

/**
 * sizeup_interval_of_median() - Interval of the median of independent values, @sorted.
 *
 * From six values on by order statistics, for any distribution; below by Student's t around their mean, extended to
 * the median, which assumes that they are nearly normal.
 * Return: 0, or -EDOM with fewer than two values.
 */
int sizeup_interval_of_median(const double *sorted, uint32_t count, struct sizeup_interval *interval);

/**
 * sizeup_interval_of() - Student's t interval of the mean of independent @values.
 * Return: 0, or -EDOM with fewer than two values.
 */
int sizeup_interval_of(const double *values, uint32_t count, struct sizeup_interval *interval);

#endif
