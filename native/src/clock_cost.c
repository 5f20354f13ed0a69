/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/clock_cost.h>

#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/methods.h>

#include "job_internal.h"
#include "replicates.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define RATE_NS 2000000
#define CALIBRATION_NS 20000

/* Without a fence: the CPU may read the counter early, so the order between CPUs is not guaranteed. */
static inline uint64_t counter_unfenced(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

/* After all earlier instructions have finished. */
static inline uint64_t counter_fenced(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
	return counter_unfenced();
}

#if defined(__x86_64__)
/* Waits for earlier instructions by itself. */
static inline uint64_t counter_rdtscp(void)
{
	uint32_t low, high, cpu;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
	return (uint64_t)high << 32 | low;
}

/* cpuid serializes, and causes an exit of a virtual machine. */
static inline uint64_t counter_cpuid(void)
{
	uint32_t a = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return counter_unfenced();
}
#endif

/* A function that makes so many calls: eight in each turn, so that the cost of the loop's own jump is negligible. */
#define CALLS(name, call) \
	static void calls_##name(uint64_t calls) \
	{ \
		union { struct timespec spec; struct timeval of_day; } now; \
		(void)&now; \
		_Pragma("GCC unroll 8") for (uint64_t i = 0; i < calls; i++) \
			call; /* NOLINT(bugprone-macro-parentheses): a statement */ \
	}

CALLS(unfenced, counter_unfenced())
CALLS(fenced, counter_fenced())
#if defined(__x86_64__)
CALLS(rdtscp, counter_rdtscp())
CALLS(cpuid, counter_cpuid())
#endif
CALLS(monotonic, clock_gettime(CLOCK_MONOTONIC, &now.spec))
CALLS(realtime, clock_gettime(CLOCK_REALTIME, &now.spec))
CALLS(raw, clock_gettime(CLOCK_MONOTONIC_RAW, &now.spec))
CALLS(monotonic_coarse, clock_gettime(CLOCK_MONOTONIC_COARSE, &now.spec))
CALLS(realtime_coarse, clock_gettime(CLOCK_REALTIME_COARSE, &now.spec))
CALLS(thread, clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now.spec))
CALLS(process, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now.spec))
CALLS(gettimeofday, gettimeofday(&now.of_day, NULL))
CALLS(time, time(NULL))
CALLS(clock_gettime_syscall, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now.spec))
CALLS(gettimeofday_syscall, syscall(SYS_gettimeofday, &now.of_day, NULL))

/* A function that reads a clock once. */
#define READS(name, id) \
	static uint64_t read_##name(void) \
	{ \
		struct timespec now; \
		clock_gettime(id, &now); \
		return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec; \
	}

READS(monotonic, CLOCK_MONOTONIC)
READS(realtime, CLOCK_REALTIME)
READS(raw, CLOCK_MONOTONIC_RAW)
READS(monotonic_coarse, CLOCK_MONOTONIC_COARSE)

static uint64_t read_gettimeofday(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return ((uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_usec) * 1000u;
}

static const struct sizeup_method METHODS[] = {
#if defined(__x86_64__)
	{ "rdtsc", calls_unfenced, counter_unfenced, -1, 1 },
	{ "lfence-rdtsc", calls_fenced, counter_fenced, -1, 1 },
	{ "rdtscp", calls_rdtscp, counter_rdtscp, -1, 1 },
	{ "cpuid-rdtsc", calls_cpuid, NULL, -1, 1 },
#elif defined(__aarch64__)
	{ "cntvct", calls_unfenced, counter_unfenced, -1, 1 },
	{ "isb-cntvct", calls_fenced, counter_fenced, -1, 1 },
#endif
	{ "gettimeofday", calls_gettimeofday, read_gettimeofday, CLOCK_REALTIME, 0 },
	{ "clock_gettime-monotonic", calls_monotonic, read_monotonic, CLOCK_MONOTONIC, 0 },
	{ "clock_gettime-realtime", calls_realtime, read_realtime, CLOCK_REALTIME, 0 },
	{ "clock_gettime-monotonic-raw", calls_raw, read_raw, CLOCK_MONOTONIC_RAW, 0 },
	{ "clock_gettime-monotonic-coarse", calls_monotonic_coarse, read_monotonic_coarse, CLOCK_MONOTONIC_COARSE, 0 },
	{ "clock_gettime-realtime-coarse", calls_realtime_coarse, NULL, CLOCK_REALTIME_COARSE, 0 },
	{ "time", calls_time, NULL, -1, 0 },
	{ "clock_gettime-thread-cputime", calls_thread, NULL, CLOCK_THREAD_CPUTIME_ID, 0 },
	{ "clock_gettime-process-cputime", calls_process, NULL, CLOCK_PROCESS_CPUTIME_ID, 0 },
	{ "syscall-clock_gettime", calls_clock_gettime_syscall, NULL, -1, 0 },
	{ "syscall-gettimeofday", calls_gettimeofday_syscall, NULL, -1, 0 },
};
#define METHOD_COUNT (sizeof(METHODS) / sizeof(METHODS[0]))

const struct sizeup_method *sizeup_method(uint32_t index)
{
	return index < METHOD_COUNT ? &METHODS[index] : NULL;
}

static int64_t calls_ns(void *method, uint64_t calls)
{
	const int64_t start_ns = sizeup_clock_now_ns();

	METHODS[*(const uint32_t *)method].calls(calls);
	return sizeup_clock_now_ns() - start_ns;
}

/*
 * Each addition depends on the previous one: one per cycle on every core of the last twenty years.
 * Both operands are registers, because recent cores add constants during renaming, at no cost.
 */
static uint64_t add_for(int64_t least_duration_ns, int64_t *duration_ns)
{
	const int64_t start_ns = sizeup_clock_now_ns();
	uint64_t value = 0;
	uint64_t additions = 0;
	const uint64_t one = 1;

	do {
		for (int i = 0; i < 64; i++) {
#if defined(__x86_64__)
			__asm__ volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(value) : "r"(one));
#elif defined(__aarch64__)
			__asm__ volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(value) : "r"(one));
#else
			__asm__ volatile("" : "+r"(value) : "r"(one));
#endif
		}
		additions += 4096; /* 64 times 64 */
		*duration_ns = sizeup_clock_now_ns() - start_ns;
	} while (*duration_ns < least_duration_ns);
	return additions;
}

void sizeup_clock_rates_measure(struct sizeup_clock_rates *rates)
{
	rates->core_hz = 0;
	rates->cpu = sched_getcpu();
	/* The fastest of several trials: an interrupt or a busy sibling can only slow it down. */
	for (int trial = 0; trial < 5; trial++) {
		int64_t ns;
		const uint64_t additions = add_for(RATE_NS / 5, &ns);
		const double hz = (double)additions * 1e9 / (double)ns;

		rates->core_hz = hz > rates->core_hz ? hz : rates->core_hz;
	}
	const int64_t start_ns = sizeup_clock_now_ns();
	const uint64_t start = counter_fenced();
	int64_t end_ns;

	do
		end_ns = sizeup_clock_now_ns();
	while (end_ns - start_ns < RATE_NS);
	rates->counter_hz = (double)(counter_fenced() - start) * 1e9 / (double)(end_ns - start_ns);
#if defined(__aarch64__)
	uint64_t frequency;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	rates->counter_hz = (double)frequency;
#endif
}

struct run {
	struct sizeup_job *job;
	const struct sizeup_stop_rule *rule;
	const uint32_t *methods;
	int32_t cpu;
};

static int replicate(void *context, uint32_t point, uint32_t round, struct sizeup_replicates *values)
{
	const struct run *const run = context;
	uint32_t method = run->methods[point];
	struct sizeup_batches batches = {
		.run = calls_ns,
		.context = &method,
		.count = sizeup_batches_per_replicate(run->rule),
		.units = 1,
	};
	struct sizeup_watch watch;

	(void)round;
	sizeup_batches_calibrate(&batches, 8, CALIBRATION_NS, run->rule->batch_ns);
	sizeup_watch_init(&watch, run->cpu, -1);
	watch.group_size = SIZEUP_BATCH_GROUP_SHORT;
	return sizeup_replicates_measure(values, &batches, &watch, point, run->job);
}

int sizeup_clock_cost_run(struct sizeup_job *job, const uint32_t *methods, uint32_t count, int32_t cpu,
			  const struct sizeup_stop_rule *rule, struct sizeup_clock_rates *rates)
{
	struct run run = { .job = job, .rule = rule, .methods = methods, .cpu = cpu };

	*rates = (struct sizeup_clock_rates){ .cpu = -1 };
	for (uint32_t i = 0; i < count; i++)
		if (methods[i] >= METHOD_COUNT)
			return sizeup_job_fail(job, -EINVAL, "unknown method %u", methods[i]);
	int status = sizeup_job_pin(job, cpu);

	if (!status)
		status = sizeup_interleave_run(job, rule, count, 1, replicate, &run);
	if (!status)
		sizeup_clock_rates_measure(rates);
	return status;
}
