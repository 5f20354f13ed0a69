/* SPDX-License-Identifier: Apache-2.0 */
/* A latency job measures every point, publishes estimates, verifies pages, refuses and cancels in words. */
#define _GNU_SOURCE
#include <sizeup/clock_cost.h>
#include <sizeup/methods.h>
#include <sizeup/latency.h>

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "check.h"

static const struct sizeup_stop_rule QUICK = {
	.batch_ns = 200000,
	.replicate_ns = 1000000,
	.warm_up_ns = 1000000,
	.budget_ns = 200000000,
	.replicates_min = 2,
	.replicates_max = 3,
	.target = 0.5,
	.seed = 3,
};

static struct sizeup_clock_rates rates;

static int latency(struct sizeup_job *job, struct sizeup_latency_point point, struct sizeup_placement *placement)
{
	return sizeup_latency_run(job, &point, 1, &QUICK, placement, &rates);
}

/* A job that fails with a reason; @expected 0: with any status. */
static void refused(struct sizeup_latency_point point, int expected, const char *reason)
{
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_placement placements[2];
	const int status = latency(job, point, placements);

	check(status < 0 && (!expected || status == expected), reason);
	check(strstr(sizeup_job_reason(job), reason) != NULL, "and the reason is told");
	sizeup_job_free(job);
}

int main(void)
{
	const int32_t cpu = sched_getcpu();
	struct sizeup_placement placements[2];
	struct sizeup_estimate estimate;
	struct sizeup_sample sample;
	struct sizeup_job *job = sizeup_job_new();
	const struct sizeup_latency_point small = {
		.span_bytes = 16384, .stride_bytes = 64, .cpu = cpu, .sibling = -1, .touch_cpu = -1,
	};
	struct sizeup_latency_point points[2] = { small, small };

	check(job != NULL, "memory for a job");
	points[1].span_bytes = 1 << 20;
	points[1].pages = SIZEUP_PAGES_THP;
	/* Neighbors may disturb each of the few batches of a point. */
	for (int attempt = 0, lacking = 1; lacking && attempt < 50; attempt++) {
		check(sizeup_latency_run(job, points, 2, &QUICK, placements, &rates) == 0, "two points are measured");
		lacking = 0;
		for (uint32_t i = 0; i < 2; i++) {
			sizeup_job_estimate(job, i, &estimate);
			lacking += estimate.replicates == 0;
		}
	}
	check(rates.cpu == cpu && rates.core_hz > 1e7, "and the clock of the CPU is measured after them");
	for (uint32_t i = 0; i < 2; i++) {
		sizeup_job_estimate(job, i, &estimate);
		check(estimate.finished && estimate.replicates >= 1, "each point has an estimate");
		check(estimate.median > 0.1 && estimate.median < 1e5, "of a plausible size");
		check(estimate.minimum <= estimate.median, "not below its minimum");
		check(placements[i].pages > 0 || !placements[i].verified, "its placement is verified");
	}
	check(sizeup_job_drain(job, &sample, 1) == 1 && sample.point == 0 && sample.value > 0, "each batch is a sample");

	struct sizeup_latency_point odd = small;

	odd.cpu = 8000;
	refused(odd, 0, "CPU 8000");
	odd = small;
	odd.span_bytes = UINT64_C(1) << 50;
	refused(odd, -ENOMEM, "not enough memory");
	odd = small;
	odd.placement = SIZEUP_PLACE_BIND;
	odd.nodes = UINT64_C(1) << 63;
	refused(odd, -EINVAL, "does not exist");
	odd = small;
	odd.pages = SIZEUP_PAGES_HUGE1G;
	odd.span_bytes = UINT64_C(1) << 40;
	refused(odd, -ENOMEM, "nr_hugepages");
	odd = small;
	odd.span_bytes = 100;
	refused(odd, -EINVAL, "does not fit");

	const uint32_t methods[] = { 0, 1, 2 };

	check(sizeup_clock_cost_run(job, methods, 3, cpu, &QUICK, &rates) == 0, "three clocks are measured");
	check(rates.cpu == cpu, "on the same CPU as the frequency");
	check(rates.core_hz > 1e7 && rates.core_hz < 1e11, "which is plausible");
	sizeup_job_estimate(job, 2, &estimate);
	check(estimate.median > 0 && estimate.median < 1e6, "a clock costs something");
	check(sizeup_method(1000) == NULL, "the list of methods ends");

	sizeup_job_cancel(job);
	check(latency(job, small, placements) == -ECANCELED, "a canceled job ends");
	sizeup_job_free(job);
	return 0;
}
