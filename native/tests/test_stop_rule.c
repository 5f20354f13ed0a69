/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated points through the real rule: how often the interval holds the median of the distribution.
 *
 * Prints one line for each case; docs/results/simulations.md has them.
 */
#include <sizeup/permutation.h>
#include <sizeup/stats.h>

#include <math.h>
#include <string.h>

#include "../src/replicates.h"
#include "check.h"

#define POINTS 1000
#define RUNS 3
#define SEED 20260131
#define SPIKES 0.1 /* share of slow replicates */
#define MODE 0.2   /* share of replicates in the second mode */

enum distribution { NORMAL, LOGNORMAL, SPIKED, BIMODAL, DISTRIBUTIONS };

static const char *const NAMES[] = { "normal", "lognormal", "spikes", "two modes" };

struct simulation {
	enum distribution distribution;
	double cv;
	uint64_t state;
	uint32_t replicates;
};

struct result {
	double replicates, converged, covered, covered_converged;
};

static double uniform(struct simulation *simulation)
{
	simulation->state = sizeup_mix(simulation->state + 1);
	return ((double)(simulation->state >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct simulation *simulation)
{
	const double radius = sqrt(-2 * log(uniform(simulation)));

	return radius * cos(6.283185307179586 * uniform(simulation));
}

/* Each with the coefficient of variation of the simulation; @median is that of the distribution. */
static double draw(struct simulation *simulation, double *median)
{
	const double cv = simulation->cv;
	const double log_deviation = sqrt(log(1 + cv * cv));

	*median = 1;
	switch (simulation->distribution) {
	case LOGNORMAL:
		return exp(log_deviation * normal(simulation));
	case SPIKED: /* a third of the deviation is of the calm replicates; the normal quantile of 0.5 / 0.9 is 0.1397 */
		*median += 0.1397 * cv / 3;
		return 1 + cv / 3 * normal(simulation) +
		       (uniform(simulation) < SPIKES) * cv * sqrt(8.0 / 9 / (SPIKES * (1 - SPIKES)));
	case BIMODAL: /* modes five deviations apart; the normal quantile of 0.5 / 0.8 is 0.3186 */
		*median += 0.3186 * cv / sqrt(5);
		return 1 + cv / sqrt(5) * (normal(simulation) + 5 * (uniform(simulation) < MODE));
	default:
		return 1 + cv * normal(simulation);
	}
}

static int replicate(void *context, uint32_t point, uint32_t round, struct sizeup_replicates *values)
{
	struct simulation *const simulation = context;
	double median;

	(void)point;
	(void)round;
	check(!sizeup_replicates_begin(values, 1, NULL), "space for a batch");
	sizeup_replicates_add(values, draw(simulation, &median), 0);
	sizeup_replicates_end(values);
	simulation->replicates++;
	return 0;
}

static struct result simulate(enum distribution distribution, double cv, uint32_t least, uint32_t most, double target)
{
	const struct sizeup_stop_rule rule = {
		.batch_ns = 1,
		.replicate_ns = 1,
		.budget_ns = INT64_MAX,
		.replicates_min = least,
		.replicates_max = most,
		.target = target,
		.seed = SEED,
	};
	struct simulation simulation = { distribution, cv, SEED, 0 };
	struct result result = { 0 };
	double median;

	draw(&simulation, &median);
	for (int run = 0; run < RUNS; run++) {
		struct sizeup_job *const job = sizeup_job_new();

		check(job != NULL, "a job");
		check(!sizeup_interleave_run(job, &rule, POINTS, 1, replicate, &simulation), "the run");
		for (uint32_t point = 0; point < POINTS; point++) {
			struct sizeup_estimate estimate;

			sizeup_job_estimate(job, point, &estimate);
			const int covered = estimate.low <= median && median <= estimate.high;

			check(estimate.low <= estimate.median && estimate.median <= estimate.high,
			      "the interval holds the figure");
			check(!estimate.converged || (estimate.high - estimate.low <= 2 * target * estimate.median &&
						      (estimate.replicates == most ||
						       sizeup_planned_look(estimate.replicates, least))),
			      "converged at a planned number of replicates, within the target");
			result.covered += covered;
			result.converged += estimate.converged;
			result.covered_converged += covered && estimate.converged;
		}
		sizeup_job_free(job);
	}
	result.replicates = (double)simulation.replicates / (POINTS * RUNS);
	result.covered_converged /= result.converged > 0 ? result.converged : 1;
	result.converged /= POINTS * RUNS;
	result.covered /= POINTS * RUNS;
	printf("%-9s CV %4.1f %%, %u to %3u replicates, target %.0f %%: %5.1f replicates, %5.1f %% converged, interval holds "
	       "the median %4.1f %% (converged %5.1f %%)\n",
	       NAMES[distribution], 100 * cv, least, most, 100 * target, result.replicates, 100 * result.converged,
	       100 * result.covered, 100 * result.covered_converged);
	return result;
}

/* Without a limit that is in the way, points called converged hold their figure. */
static void converged_points_hold(void)
{
	static const double CVS[] = { 0.01, 0.03, 0.05, 0.08, 0.10 };
	/* With 1 %: no more than the minimum in most points, as the quick plan needs. */
	static const double MOST_REPLICATES[] = { 3.4, 11, 30, 66, 90 };

	for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++) {
		for (uint32_t i = 0; i < sizeof(CVS) / sizeof(*CVS); i++) {
			const struct result result = simulate(distribution, CVS[i], 3, SIZEUP_REPLICATES, 0.03);

			check(result.covered_converged >= 0.90, "90 % of what is called converged holds its figure");
			check(result.covered >= 0.90, "and 90 % of all points");
			if (distribution == NORMAL)
				check(result.replicates <= MOST_REPLICATES[i], "little is measured where little varies");
		}
	}
}

/*
 * Where a limit is in the way, most points do not converge and say so. Those that do are the lucky ones, so that
 * their share of wrong ones cannot be small; they are few.
 */
static void limited_points_hold(void)
{
	static const struct {
		uint32_t least, most;
		double target;
	} PLANS[] = { { 3, 20, 0.03 }, { 5, 15, 0.03 }, { 5, 10, 0.03 }, { 5, 8, 0.05 }, { 5, 30, 0.05 } };

	for (uint32_t plan = 0; plan < sizeof(PLANS) / sizeof(*PLANS); plan++) {
		for (double cv = 0.05; cv < 0.11; cv += 0.025) {
			const struct result result = simulate(NORMAL, cv, PLANS[plan].least, PLANS[plan].most,
							      PLANS[plan].target);

			check(result.covered >= 0.90, "90 % of all points hold their figure, whatever the limit");
			check(result.converged * (1 - result.covered_converged) <= 0.10,
			      "and 10 % at most are converged and wrong");
		}
	}
}

static void intervals_are_those_of_the_sign_test(void)
{
	static const uint32_t CUTS[] = { 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3 };
	static const uint32_t LOOKS[] = { 3, 4, 5, 6, 9, 14, 21, 32, 48, 72, 108 };
	const double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 100 };
	struct sizeup_interval interval;
	uint32_t next = 0;

	for (uint32_t count = 0; count < sizeof(CUTS) / sizeof(*CUTS); count++)
		check(sizeup_median_cut(count) == CUTS[count], "the cut of the sign test");
	check(sizeup_median_cut(100) == 40, "of many values too");
	check(!sizeup_interval_of_median(values, 9, &interval) && interval.low == 2 && interval.middle == 5 &&
		      interval.high == 8,
	      "of nine values from the second to the eighth");
	check(!sizeup_interval_of_median(values, 6, &interval) && interval.low == 1 && interval.high == 6,
	      "of six from the first to the last");
	for (uint32_t count = 1; count <= SIZEUP_REPLICATES; count++) {
		const int planned = next < sizeof(LOOKS) / sizeof(*LOOKS) && LOOKS[next] == count;

		next += (uint32_t)planned;
		check(sizeup_planned_look(count, 3) == planned, "planned counts from three replicates on");
	}
	check(sizeup_planned_look(10, 10) && !sizeup_planned_look(11, 10) && sizeup_planned_look(14, 10) &&
		      !sizeup_planned_look(9, 10),
	      "the minimum is one of them, and the first");
}

/* Two values apart from the rest; the second quantity loses its seventh replicate. */
static int two_quantities(void *context, uint32_t point, uint32_t round, struct sizeup_replicates *values)
{
	(void)context;
	(void)point;
	for (int quantity = 0; quantity < 2; quantity++) {
		check(!sizeup_replicates_begin(&values[quantity], 1, NULL), "space for a batch");
		sizeup_replicates_add(&values[quantity], round == 0 ? 90 : round == 1 ? 110 : 100,
				      quantity && round == 6 ? SIZEUP_DISTURBED_PREEMPTED : 0);
		sizeup_replicates_end(&values[quantity]);
	}
	return 0;
}

static void a_lost_replicate_does_not_keep_the_other_quantity_from_its_end(void)
{
	const struct sizeup_stop_rule rule = {
		.batch_ns = 1,
		.replicate_ns = 1,
		.budget_ns = INT64_MAX,
		.replicates_min = 3,
		.replicates_max = SIZEUP_REPLICATES,
		.target = 0.03,
	};
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_estimate whole, short_of_one;

	check(job != NULL, "a job");
	check(!sizeup_interleave_run(job, &rule, 1, 2, two_quantities, NULL), "the run");
	sizeup_job_estimate(job, 0, &whole);
	sizeup_job_estimate(job, 1, &short_of_one);
	check(whole.converged && short_of_one.converged, "both converge");
	check(whole.replicates == 14 && short_of_one.replicates == 13, "at the same planned round");
	sizeup_job_free(job);
}

int main(void)
{
	a_lost_replicate_does_not_keep_the_other_quantity_from_its_end();
	intervals_are_those_of_the_sign_test();
	converged_points_hold();
	limited_points_hold();
	return 0;
}
