/* SPDX-License-Identifier: Apache-2.0 */
/* What a latency job reports is what its loads took, on warm lines, the right CPU and new pages in each replicate. */
#define _GNU_SOURCE
#include <sizeup/batch.h>
#include <sizeup/chase.h>
#include <sizeup/latency.h>

#include <sched.h>
#include <string.h>

#include "check.h"
#include "cpu_set.h"

#define LOAD_NS 3
#define LINE 64
#define MOST_RINGS 64

static int32_t expected_cpu;
static double noise; /* added to each load of every other ring */
static uint32_t rings;
static struct sizeup_ring ring[MOST_RINGS];
static uint64_t rounds_before; /* the first timed round of the current ring */
static int timed;
static uint32_t flagged;

void *__real_sizeup_ring_link(const struct sizeup_ring *ring, const uint32_t *stop);
void *__wrap_sizeup_ring_link(const struct sizeup_ring *new, const uint32_t *stop);
void *__wrap_sizeup_chase_follow(void *start, uint64_t rounds);
int64_t __wrap_sizeup_chase_ns(void **position, uint64_t rounds);
uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns);
int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);

static void pinned(void)
{
	cpu_set_t *const set = CPU_ALLOC(4096);
	const size_t bytes = CPU_ALLOC_SIZE(4096);

	check(set && !sched_getaffinity(0, bytes, set), "this thread's CPUs");
	check(CPU_COUNT_S(bytes, set) == 1 && CPU_ISSET_S((size_t)expected_cpu, bytes, set), "it is pinned to the point's CPU");
	CPU_FREE(set);
}

void *__wrap_sizeup_ring_link(const struct sizeup_ring *new, const uint32_t *stop)
{
	check(rings < MOST_RINGS, "no more replicates than allowed");
	if (expected_cpu >= 0)
		pinned();
	ring[rings++] = *new;
	rounds_before = 0;
	timed = 0;
	return __real_sizeup_ring_link(new, stop);
}

void *__wrap_sizeup_chase_follow(void *start, uint64_t rounds)
{
	check(!timed, "warming up comes before timing");
	rounds_before += rounds;
	return start;
}

/* A machine on which each load takes exactly so long. */
int64_t __wrap_sizeup_chase_ns(void **position, uint64_t rounds)
{
	(void)position;
	timed = 1;
	return (int64_t)((double)(rounds * SIZEUP_CHASE_LOADS) * (LOAD_NS + (rings % 2 ? noise : 0)));
}

uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns)
{
	(void)watch, (void)wall_ns;
	return flagged;
}

int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time)
{
	(void)cpu;
	memset(time, 0, sizeof(*time));
	return 0;
}

static const struct sizeup_stop_rule RULE = {
	.batch_ns = 100000,
	.replicate_ns = 300000,
	.warm_up_ns = INT64_C(60000000000),
	.budget_ns = INT64_C(600000000000),
	.replicates_min = 3,
	.replicates_max = 8,
	.target = 0.03,
	.seed = 5,
};

static struct sizeup_estimate run(struct sizeup_job *job, const struct sizeup_latency_point *points, uint32_t count,
				  const struct sizeup_stop_rule *rule)
{
	struct sizeup_placement placements[16];
	struct sizeup_estimate estimate;
	struct sizeup_clock_rates rates;

	rings = 0;
	check(sizeup_latency_run(job, points, count, rule, placements, &rates) == 0, "a chase runs");
	sizeup_job_estimate(job, 0, &estimate);
	return estimate;
}

static void values(struct sizeup_job *job, const struct sizeup_latency_point *point)
{
	struct sizeup_sample sample;
	uint32_t samples = 0;
	struct sizeup_estimate estimate;

	noise = 0;
	estimate = run(job, point, 1, &RULE);
	for (; sizeup_job_drain(job, &sample, 1); samples++)
		check(sample.value > LOAD_NS - 0.01 && sample.value < LOAD_NS + 0.01, "a batch is worth the time of a load");
	check(samples == 3 * 4, "four batches in each of three replicates");
	check(estimate.median > LOAD_NS - 0.01 && estimate.median < LOAD_NS + 0.01, "and so is the estimate");
	check(estimate.replicates == 3 && rings == 3, "replicates that agree end it");
	check(rounds_before * SIZEUP_CHASE_LOADS >= point->span_bytes / LINE, "every line was visited before the clock started");
	check(estimate.converged && estimate.finished, "it has converged");
}

static void stop_rule(struct sizeup_job *job, const struct sizeup_latency_point *point)
{
	struct sizeup_stop_rule rule = RULE;
	struct sizeup_sample sample;
	struct sizeup_estimate estimate;

	noise = LOAD_NS;
	estimate = run(job, point, 1, &rule);
	check(estimate.replicates == 8 && rings == 8, "replicates that disagree are made up to the maximum");
	check(!estimate.converged && estimate.finished, "and have not converged");
	check(estimate.low < LOAD_NS + 1 && estimate.high > LOAD_NS + 2, "their interval holds both of their values");
	rule.budget_ns = 1;
	estimate = run(job, point, 1, &rule);
	check(estimate.replicates == 3 && rings == 3, "after the budget no more than the minimum are made");
	noise = 0;
	flagged = SIZEUP_DISTURBED_OTHER;
	while (sizeup_job_drain(job, &sample, 1))
		;
	estimate = run(job, point, 1, &rule);
	check(estimate.replicates == 0 && estimate.disturbed_share == 1, "disturbed batches are in no estimate");
	check(sizeup_job_drain(job, &sample, 1) && sample.flags == flagged, "and in the samples, with the reason");
	flagged = 0;
}

static void rings_differ(struct sizeup_job *job, const struct sizeup_latency_point *point)
{
	struct sizeup_stop_rule rule = RULE;
	uint64_t first;

	run(job, point, 1, &rule);
	first = ring[0].seed;
	for (uint32_t i = 0; i < rings; i++) {
		check(ring[i].span_bytes == point->span_bytes && ring[i].stride_bytes == LINE, "a ring of the point's size");
		for (uint32_t j = 0; j < i; j++)
			check(ring[i].seed != ring[j].seed, "each replicate has a ring of its own");
	}
	rule.seed++;
	run(job, point, 1, &rule);
	check(ring[0].seed != first, "which another seed changes");
}

/* Sizes tell the points apart. */
static void order(struct sizeup_job *job, const struct sizeup_latency_point *point)
{
	struct sizeup_latency_point points[8];
	int same = 1;

	for (uint32_t i = 0; i < 8; i++) {
		points[i] = *point;
		points[i].span_bytes = (uint64_t)LINE << (i + 4);
	}
	run(job, points, 8, &RULE);
	check(rings == 24, "three replicates of each point");
	for (uint32_t turn = 0; turn < 24; turn++) {
		uint32_t met = 0;

		for (uint32_t i = turn / 8 * 8; i < turn / 8 * 8 + 8; i++)
			met += ring[i].span_bytes == ring[turn].span_bytes;
		check(met == 1, "each round has each point once");
		check(turn >= 8 || ring[turn].span_bytes == points[turn].span_bytes, "the first round is in order");
		same = same && ring[turn].span_bytes == points[turn % 8].span_bytes;
	}
	check(!same, "later ones are not");
}

int main(void)
{
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_cpu_set allowed;
	struct sizeup_latency_point point = {
		.span_bytes = 65536, .stride_bytes = LINE, .sibling = -1, .touch_cpu = -1,
	};

	check(job != NULL && !sizeup_cpu_set_read(&allowed), "memory for a job");
	for (int32_t cpu = 0, tried = 0; cpu < (int32_t)(8 * allowed.bytes) && tried < 2; cpu++) {
		if (!sizeup_cpu_set_has(&allowed, cpu))
			continue;
		tried++;
		expected_cpu = point.cpu = cpu;
		check(!sizeup_cpu_set_apply(&allowed), "back on all CPUs");
		values(job, &point);
	}
	stop_rule(job, &point);
	rings_differ(job, &point);
	order(job, &point);
	sizeup_cpu_set_free(&allowed);
	sizeup_job_free(job);
	return 0;
}
