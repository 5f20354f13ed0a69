/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and processes that measure together: all of them or none, with reasons, and canceled soon. */
#define _GNU_SOURCE
#include <sizeup/clock.h>
#include <sizeup/clock_quality.h>
#include <sizeup/cpu.h>
#include <sizeup/hammer.h>
#include <sizeup/handoff.h>
#include <sizeup/traffic.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cpu_set.h"

#define MIB (UINT64_C(1) << 20)

static const struct sizeup_stop_rule QUICK = {
	.batch_ns = 2000000,
	.replicate_ns = 6000000,
	.budget_ns = 50000000,
	.replicates_min = 2,
	.replicates_max = 2,
	.target = 0.5,
	.seed = 1,
};

static struct sizeup_cpu_set allowed;

/* Jobs leave their thread pinned; the next one may need other CPUs. */
static void unpin(void)
{
	check(!sizeup_cpu_set_apply(&allowed), "back on all CPUs");
}

static int other_cpu(int cpu)
{
	for (int other = 0; other < (int)(8 * allowed.bytes); other++)
		if (other != cpu && sizeup_cpu_set_has(&allowed, other))
			return other;
	return -1;
}

static void *cancel_soon(void *job)
{
	const struct timespec soon = { .tv_nsec = 20000000 };

	nanosleep(&soon, NULL);
	sizeup_job_cancel(job);
	return NULL;
}

static void hammers(struct sizeup_job *job, int cpu)
{
	const int32_t cpus[] = { cpu, cpu };
	const struct sizeup_arena_spec memory = { .touch_cpu = -1 };
	struct sizeup_hammer_result results[2];
	pthread_t canceler;

	check(sizeup_hammer_run(job, 256, 10, cpus, 2, &memory, results) == 0, "two processes hammer");
	check(results[0].ops == 2560 && results[1].ops == 2560, "one store a page and loop");
	check(results[0].wall_us >= 0 && results[0].cpu_ns > 0, "with times");
	check(results[1].cpu == cpu, "on the requested CPU");

	const int32_t absent[] = { cpu, 8000 };

	check(sizeup_hammer_run(job, 256, 10, absent, 2, &memory, results) < 0, "an absent CPU stops all");
	check(strstr(sizeup_job_reason(job), "process 2: cannot run on CPU 8000") != NULL, "with the reason");
	check(sizeup_hammer_run(job, UINT64_C(1) << 40, 1, cpus, 2, &memory, results) == -ENOMEM, "too much is refused");
	check(sizeup_hammer_run(job, 0, 1, cpus, 2, &memory, results) == -EINVAL, "nothing is refused");
	check(sizeup_hammer_run(job, UINT64_C(1) << 52, 1, cpus, 2, &memory, results) == -EINVAL,
	      "bytes beyond what can be counted are refused");
	check(sizeup_hammer_run(job, 256, UINT64_MAX, cpus, 2, &memory, results) == -EINVAL,
	      "stores beyond what can be counted are refused");
	check(sizeup_hammer_run(job, 1, 1, cpus, 1, &memory, results) == 0 && results[0].ops == 1, "one store is one");

	struct sizeup_job *const long_job = sizeup_job_new();
	const int64_t start_ns = sizeup_clock_now_ns();

	check(long_job && !pthread_create(&canceler, NULL, cancel_soon, long_job), "a canceler");
	check(sizeup_hammer_run(long_job, 256, UINT64_C(1) << 40, cpus, 2, &memory, results) == -ECANCELED,
	      "a long run is canceled");
	check(sizeup_clock_now_ns() - start_ns < INT64_C(180000000000), "soon");
	pthread_join(canceler, NULL);
	sizeup_job_free(long_job);
}

static void traffic(struct sizeup_job *job, int cpu)
{
	const struct sizeup_arena_spec memory = { .bytes = 2 * MIB, .touch_cpu = -1 };
	struct sizeup_traffic_member members[2] = {
		{ .role = SIZEUP_ROLE_CHASE, .cpu = cpu, .stride_bytes = 64, .memory = memory },
		{ .role = SIZEUP_ROLE_STREAM, .cpu = cpu, .memory = memory },
	};
	const struct sizeup_traffic_point points[2] = { { .streams = 1, .write_percent = 50 }, { .streams = 0 } };
	struct sizeup_placement placements[2];
	struct sizeup_sample samples[64];

	check(sizeup_traffic_run(job, members, 2, points, 2, &QUICK, placements) == 0, "a chase beside a stream");
	const uint32_t count = sizeup_job_drain(job, samples, 64);

	check(count > 0, "gives samples");
	for (uint32_t i = 0; i < count; i++)
		check(samples[i].point != 3, "no bandwidth where no stream takes part");
	check(placements[1].pages > 0 || !placements[1].verified, "each member's placement is verified");

	members[1].cpu = 8000;
	check(sizeup_traffic_run(job, members, 2, points, 2, &QUICK, placements) < 0, "an absent CPU stops all");
	check(strstr(sizeup_job_reason(job), "CPU 8000") != NULL, "with the reason");
	members[1].cpu = cpu;
	members[1].memory.bytes = UINT64_C(1) << 50;
	check(sizeup_traffic_run(job, members, 2, points, 2, &QUICK, placements) == -ENOMEM, "too much is refused");
}

static void pairs(struct sizeup_job *job, int cpu, int other)
{
	const struct sizeup_stop_rule rule = {
		.batch_ns = 200000, .replicate_ns = 1000000, .budget_ns = 1, .replicates_min = 2, .replicates_max = 2,
		.target = 0.5,
	};
	const struct sizeup_pair self = { .cpu = cpu, .partner = cpu };
	const struct sizeup_pair pair = { .cpu = cpu, .partner = other };
	struct sizeup_clock_order order;
	struct sizeup_clock_steps steps;
	struct sizeup_sample sample;

	check(sizeup_handoff_run(job, &self, 1, &rule) == -EINVAL, "no CPU is its own partner");
	check(sizeup_clock_steps_read(0, 10000, &steps) == 0 && steps.reads == 10000, "a clock is read");
	check(steps.smallest_step > 0, "and moves");
	check(sizeup_clock_steps_read(1000, 1, &steps) == -EINVAL, "an absent method is refused");
	if (other < 0)
		return;
	check(sizeup_handoff_run(job, &pair, 1, &rule) == 0, "a line is passed to and fro");

	struct sizeup_stop_rule warm = rule;
	const int64_t start_ns = sizeup_clock_now_ns();

	warm.warm_up_ns = 20000000;
	check(sizeup_handoff_run(job, &pair, 1, &warm) == 0, "and warmed up before");
	check(sizeup_clock_now_ns() - start_ns >= 2 * warm.warm_up_ns, "the warm-up takes its full time in each replicate");
	while (sizeup_job_drain(job, &sample, 1))
		check(sample.value > 1 && sample.value < 1e8, "in a plausible time");
	unpin();
	check(sizeup_clock_order_run(job, 1, cpu, other, 20000, &order) == 0, "two CPUs compare their clocks");
	check(order.reads == 20000 && order.backwards == 0, "a fenced counter never runs backwards");
	check(order.offset_bound > 0, "the offset has a bound");
}

int main(void)
{
	struct sizeup_job *const job = sizeup_job_new();
	const int cpu = sched_getcpu();

	check(job != NULL, "memory for a job");
	check(!sizeup_cpu_set_read(&allowed), "this thread's CPUs");
	hammers(job, cpu);
	traffic(job, cpu);
	pairs(job, cpu, other_cpu(cpu));
	sizeup_job_free(job);
	sizeup_cpu_set_free(&allowed);
	return 0;
}
