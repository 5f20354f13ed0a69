/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/stats.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left;
	const double b = *(const double *)right;

	return (a > b) - (a < b);
}

void sizeup_sort(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare);
}

double sizeup_quantile(const double *sorted, uint32_t count, double share)
{
	const double position = share * (count - 1);
	const uint32_t below = (uint32_t)position;
	const uint32_t above = below + 1 < count ? below + 1 : below;

	return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

/* Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1. */
static const double T95[] = {
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120,	2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
};
#define T95_COUNT (sizeof(T95) / sizeof(T95[0]))

uint32_t sizeup_median_cut(uint32_t count)
{
	double chance = pow(0.5, count); /* that exactly i of count values lie below their distribution's median */
	double outside = 0;
	uint32_t cut = 0;

	for (uint32_t i = 0; i < count / 2; i++) {
		outside += 2 * chance;
		if (outside > 0.05)
			break;
		cut = i + 1;
		chance *= (double)(count - i) / (i + 1);
	}
	return cut;
}

int sizeup_interval_of_median(const double *sorted, uint32_t count, struct sizeup_interval *interval)
{
	const uint32_t cut = sizeup_median_cut(count);

	if (count < 2)
		return -EDOM;
	const double median = sizeup_quantile(sorted, count, 0.5);

	if (cut) {
		*interval = (struct sizeup_interval){ median, sorted[cut - 1], sorted[count - cut] };
		return 0;
	}
	sizeup_interval_of(sorted, count, interval);
	interval->middle = median;
	if (interval->low > median)
		interval->low = median;
	if (interval->high < median)
		interval->high = median;
	return 0;
}

int sizeup_interval_of(const double *values, uint32_t count, struct sizeup_interval *interval)
{
	double sum = 0;
	double squares = 0;

	if (count < 2)
		return -EDOM;
	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	interval->middle = sum / count;
	for (uint32_t i = 0; i < count; i++)
		squares += (values[i] - interval->middle) * (values[i] - interval->middle);
	/* Beyond the table the normal quantile with its first correction is within 0.1 %. */
	const uint32_t freedom = count - 1;
	const double t = freedom <= T95_COUNT ? T95[freedom - 1] : 1.960 + 2.4 / freedom;
	const double half = t * sqrt(squares / freedom / count);
	interval->low = interval->middle - half;
	interval->high = interval->middle + half;
	return 0;
}
