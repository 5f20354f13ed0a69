/* SPDX-License-Identifier: Apache-2.0 */
/* Each thing that can disturb a batch flags it, and nothing else does. */
#include <sizeup/batch.h>
#include <sizeup/clock.h>

#include <string.h>
#include <unistd.h>

#include "check.h"

#define CPU 3
#define SIBLING 7

static struct sizeup_usage usage;
static struct sizeup_cpu_time own, sibling;
static int64_t now_ns;

void __wrap_sizeup_cpu_usage(struct sizeup_usage *current);
int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);
int64_t __wrap_sizeup_clock_now_ns(void);

void __wrap_sizeup_cpu_usage(struct sizeup_usage *current)
{
	*current = usage;
}

int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time)
{
	check(cpu == CPU || cpu == SIBLING, "no other CPU is looked at");
	*time = cpu == CPU ? own : sibling;
	return 0;
}

int64_t __wrap_sizeup_clock_now_ns(void)
{
	return now_ns;
}

/* Flags of a batch of @wall_ns in which the thread used @cpu_ns. */
static uint32_t batch(int64_t wall_ns, int64_t cpu_ns, int64_t switches, int32_t to)
{
	struct sizeup_watch watch;

	usage = (struct sizeup_usage){ .cpu_ns = 5000, .involuntary = 4, .cpu = CPU };
	sizeup_watch_init(&watch, CPU, -1);
	sizeup_watch_start(&watch);
	usage.cpu_ns += cpu_ns;
	usage.involuntary += switches;
	usage.cpu = to;
	return sizeup_watch_flags(&watch, wall_ns);
}

/* Flags of a group of batches of a second together. */
static uint32_t group(uint64_t stolen, uint64_t sibling_ticks, int32_t with_sibling)
{
	const struct sizeup_sample clean = { .value = 1 };
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_watch watch;
	struct sizeup_sample found;
	uint32_t flags = 0, count = 0;

	check(job != NULL, "memory for a job");
	sizeup_watch_init(&watch, CPU, with_sibling ? SIBLING : -1);
	for (uint32_t i = 1; i <= SIZEUP_BATCH_GROUP; i++)
		check(sizeup_watch_add(&watch, &clean) == (i == SIZEUP_BATCH_GROUP), "a group is full with its last batch");
	now_ns += 1000000000;
	own.steal += stolen;
	own.busy += 1000;
	sibling.busy += sibling_ticks;
	sizeup_watch_flush(&watch, job);
	for (; sizeup_job_drain(job, &found, 1); count++)
		flags |= found.flags;
	check(count == SIZEUP_BATCH_GROUP && watch.count == 0, "every batch becomes a sample");
	sizeup_job_free(job);
	return flags;
}

int main(void)
{
	const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);

	check(batch(1000000, 1000000, 0, CPU) == 0, "a batch of CPU time alone is undisturbed");
	check(batch(1020000, 1000000, 0, CPU) == 0, "and so is one that read its counters");
	check(batch(1100000, 1000000, 0, CPU) == SIZEUP_DISTURBED_OTHER, "one in which the thread waited is not");
	check(batch(1000000, 1000000, 1, CPU) == SIZEUP_DISTURBED_PREEMPTED, "nor one that it was switched out of");
	check(batch(1000000, 1000000, 0, CPU + 1) == SIZEUP_DISTURBED_MIGRATED, "nor one that ended on another CPU");
	check(group(0, 0, 1) == 0, "a group beside an idle sibling is undisturbed");
	check(group(1, 0, 0) == SIZEUP_DISTURBED_STOLEN, "one from which a tick was stolen is not");
	check(group(0, ticks / 20, 1) == SIZEUP_DISTURBED_SIBLING_BUSY, "nor one beside a sibling that works");
	check(group(0, ticks / 100, 1) == 0, "a hundredth is idle");
	check(group(0, ticks, 0) == 0, "other CPUs do not matter");
	return 0;
}
