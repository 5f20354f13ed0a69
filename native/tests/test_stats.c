/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles interpolate, intervals are Student's, replicates converge when they agree. */
#include <sizeup/stats.h>

#include <errno.h>
#include <math.h>

#include "../src/replicates.h"
#include "check.h"

static int near(double value, double expected)
{
	return fabs(value - expected) < 1e-3;
}

static void replicate_of(struct sizeup_replicates *replicates, double value)
{
	check(sizeup_replicates_begin(replicates, 3, NULL) == 0, "space for three batches");
	sizeup_replicates_add(replicates, value - 1, 0);
	sizeup_replicates_add(replicates, value, 0);
	sizeup_replicates_add(replicates, value + 500, SIZEUP_DISTURBED_PREEMPTED);
	sizeup_replicates_add(replicates, value + 1, 0);
	sizeup_replicates_end(replicates);
}

int main(void)
{
	double values[] = { 4, 1, 3, 2 };
	struct sizeup_interval interval;

	sizeup_sort(values, 4);
	check(values[0] == 1 && values[3] == 4, "sorted upwards");
	check(near(sizeup_quantile(values, 4, 0.5), 2.5), "the median of four lies between two");
	check(near(sizeup_quantile(values, 4, 1), 4), "the last quantile is the last value");
	check(sizeup_interval_of(values, 1, &interval) == -EDOM, "one value has no interval");
	check(sizeup_interval_of(values, 4, &interval) == 0, "four have");
	/* mean 2.5, s = 1.290994, t(3) = 3.182: half width 2.05398 */
	check(near(interval.low, 0.4460) && near(interval.high, 4.5540), "Student's t over four values");

	const struct sizeup_stop_rule rule = { .replicates_min = 3, .replicates_max = 5, .target = 0.03 };
	struct sizeup_replicates replicates = { 0 };
	struct sizeup_estimate estimate;

	sizeup_replicates_estimate(&replicates, &rule, 1, &estimate);
	check(estimate.replicates == 0 && estimate.median == 0, "no measurement, no estimate");
	replicate_of(&replicates, 100);
	replicate_of(&replicates, 101);
	sizeup_replicates_estimate(&replicates, &rule, 1, &estimate);
	check(!estimate.converged, "two replicates are too few");
	replicate_of(&replicates, 100.5);
	sizeup_replicates_estimate(&replicates, &rule, 1, &estimate);
	check(estimate.replicates == 3 && near(estimate.median, 100.5), "the median over replicate medians");
	check(near(estimate.minimum, 99), "the minimum over undisturbed batches");
	check(near(estimate.disturbed_share, 0.25), "a quarter of the batches was disturbed");
	check(estimate.converged, "three replicates within 3 % have converged");
	sizeup_replicates_estimate(&replicates, &rule, 0, &estimate);
	check(!estimate.converged, "only where the rule looks");
	replicate_of(&replicates, 200);
	sizeup_replicates_estimate(&replicates, &rule, 1, &estimate);
	check(!estimate.converged, "a wild replicate takes that back");
	check(estimate.low <= estimate.median && estimate.median <= estimate.high, "the interval holds the median");
	sizeup_replicates_free(&replicates);

	/* mean 45.5, s = 14.8492, t(1) = 12.706, n = 2: 45.5 +- 133.4 */
	struct sizeup_replicates two = { 0 };

	replicate_of(&two, 35);
	replicate_of(&two, 56);
	sizeup_replicates_estimate(&two, &rule, 1, &estimate);
	check(estimate.low == 0, "no time is negative, however few values there are");
	check(near(estimate.high, 178.913), "and the interval keeps its other end");
	check(!estimate.converged, "nor does it converge by that");
	sizeup_replicates_free(&two);

	struct sizeup_replicates offsets = { 0 };

	replicate_of(&offsets, -35);
	replicate_of(&offsets, 56);
	sizeup_replicates_estimate(&offsets, &rule, 1, &estimate);
	check(estimate.low < -35, "values of both signs keep an interval across zero");
	sizeup_replicates_free(&offsets);
	return 0;
}
