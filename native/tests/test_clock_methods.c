/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a clock is that of the call that its name says, and of each of them. */
#define _GNU_SOURCE
#include <sizeup/batch.h>
#include <sizeup/clock.h>
#include <sizeup/clock_cost.h>
#include <sizeup/methods.h>

#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

#define CALL_NS 11

enum { LIBRARY = 0, OF_DAY = 100, SECONDS, SYSTEM_CALL = 200, KINDS = 600 };

static uint64_t calls[KINDS]; /* of clock_gettime by clock, of the others, of system calls by number */
static int counting;

int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_gettimeofday(struct timeval *now, void *zone);
time_t __wrap_time(time_t *now);
long __wrap_syscall(long number, ...);
int64_t __wrap_sizeup_clock_now_ns(void);
uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns);
void __wrap_sizeup_cpu_usage(struct sizeup_usage *usage);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	check(id >= 0 && id < OF_DAY, "a clock of the kernel");
	calls[LIBRARY + id] += (uint64_t)counting;
	*now = (struct timespec){ 0, 0 };
	return 0;
}

int __wrap_gettimeofday(struct timeval *now, void *zone)
{
	(void)zone;
	calls[OF_DAY] += (uint64_t)counting;
	*now = (struct timeval){ 0, 0 };
	return 0;
}

time_t __wrap_time(time_t *now)
{
	(void)now;
	calls[SECONDS] += (uint64_t)counting;
	return 0;
}

long __wrap_syscall(long number, ...)
{
	check(number >= 0 && number < KINDS - SYSTEM_CALL, "a system call that exists");
	calls[SYSTEM_CALL + number] += (uint64_t)counting;
	return 0;
}

/* Between two readings there is the time of the calls between them; without any, what the frequency needs. */
int64_t __wrap_sizeup_clock_now_ns(void)
{
	static uint64_t last;
	static int64_t idle_ns;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KINDS; i++)
		sum += calls[i];
	idle_ns += sum == last ? 1000000 : 0;
	last = sum;
	return (int64_t)sum * CALL_NS + idle_ns;
}

uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns)
{
	(void)watch, (void)wall_ns;
	return 0;
}

void __wrap_sizeup_cpu_usage(struct sizeup_usage *usage)
{
	memset(usage, 0, sizeof(*usage));
}

static const struct {
	const char *name;
	uint32_t kind;
} EXPECTED[] = {
	{ "gettimeofday", OF_DAY },
	{ "clock_gettime-monotonic", LIBRARY + CLOCK_MONOTONIC },
	{ "clock_gettime-realtime", LIBRARY + CLOCK_REALTIME },
	{ "clock_gettime-monotonic-raw", LIBRARY + CLOCK_MONOTONIC_RAW },
	{ "clock_gettime-monotonic-coarse", LIBRARY + CLOCK_MONOTONIC_COARSE },
	{ "clock_gettime-realtime-coarse", LIBRARY + CLOCK_REALTIME_COARSE },
	{ "time", SECONDS },
	{ "clock_gettime-thread-cputime", LIBRARY + CLOCK_THREAD_CPUTIME_ID },
	{ "clock_gettime-process-cputime", LIBRARY + CLOCK_PROCESS_CPUTIME_ID },
	{ "syscall-clock_gettime", SYSTEM_CALL + SYS_clock_gettime },
	{ "syscall-gettimeofday", SYSTEM_CALL + SYS_gettimeofday },
};
#define EXPECTED_COUNT (sizeof(EXPECTED) / sizeof(EXPECTED[0]))

static uint32_t method_named(const char *name)
{
	const char *found;

	for (uint32_t index = 0; (found = sizeup_method(index) ? sizeup_method(index)->name : NULL); index++)
		if (!strcmp(found, name))
			return index;
	check(0, name);
	return 0;
}

int main(void)
{
	static const struct sizeup_stop_rule RULE = {
		.batch_ns = 100000, .replicate_ns = 300000, .budget_ns = 1, .replicates_min = 2, .replicates_max = 2,
		.target = 0.5,
	};
	struct sizeup_job *const job = sizeup_job_new();
	const int32_t cpu = sched_getcpu();

	check(job != NULL, "memory for a job");
	for (uint32_t i = 0; i < EXPECTED_COUNT; i++) {
		const uint32_t method = method_named(EXPECTED[i].name);
		struct sizeup_clock_rates rates = { .cpu = -1 };
		struct sizeup_estimate estimate;
		struct sizeup_sample sample;
		uint32_t samples = 0;

		memset(calls, 0, sizeof(calls));
		counting = 1;
		check(sizeup_clock_cost_run(job, &method, 1, cpu, &RULE, &rates) == 0, EXPECTED[i].name);
		counting = 0;
		for (uint32_t kind = 0; kind < KINDS; kind++)
			check((calls[kind] > 0) == (kind == EXPECTED[i].kind), EXPECTED[i].name);
		sizeup_job_estimate(job, 0, &estimate);
		check(estimate.median > CALL_NS - 0.001 && estimate.median < CALL_NS + 0.001, "a call takes the time of a call");
		for (; sizeup_job_drain(job, &sample, 1); samples++)
			check(sample.value > CALL_NS - 0.001 && sample.value < CALL_NS + 0.001, "in each batch");
		check(samples == 2 * 4, "four batches in each of two replicates");
	}
	sizeup_job_free(job);
	return 0;
}
