/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/clock_cost.h>

#include <sizeup/batch.h>
#include <sizeup/clock.h>
#include <sizeup/cpu.h>

#include "counter.h"
#include "job_internal.h"
#include "replicates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define RATE_NS 2000000
#define CALIBRATION_NS 20000
#define CALIBRATIONS 3

/* Each loop holds eight calls, so that the loop's own jump is lost beside them. */
#define EIGHT _Pragma("GCC unroll 8")

static void calls_unfenced(uint64_t calls)
{
	EIGHT for (uint64_t i = 0; i < calls; i++)
		counter_unfenced();
}

static void calls_fenced(uint64_t calls)
{
	EIGHT for (uint64_t i = 0; i < calls; i++)
		counter_fenced();
}

#if defined(__x86_64__)
static void calls_rdtscp(uint64_t calls)
{
	EIGHT for (uint64_t i = 0; i < calls; i++)
		counter_rdtscp();
}

static void calls_cpuid(uint64_t calls)
{
	EIGHT for (uint64_t i = 0; i < calls; i++)
		counter_cpuid();
}
#endif

static inline void read_clock(clockid_t id, uint64_t calls)
{
	struct timespec now;

	EIGHT for (uint64_t i = 0; i < calls; i++)
		clock_gettime(id, &now);
}

static void calls_monotonic(uint64_t calls)
{
	read_clock(CLOCK_MONOTONIC, calls);
}

static void calls_realtime(uint64_t calls)
{
	read_clock(CLOCK_REALTIME, calls);
}

static void calls_raw(uint64_t calls)
{
	read_clock(CLOCK_MONOTONIC_RAW, calls);
}

static void calls_monotonic_coarse(uint64_t calls)
{
	read_clock(CLOCK_MONOTONIC_COARSE, calls);
}

static void calls_realtime_coarse(uint64_t calls)
{
	read_clock(CLOCK_REALTIME_COARSE, calls);
}

static void calls_thread(uint64_t calls)
{
	read_clock(CLOCK_THREAD_CPUTIME_ID, calls);
}

static void calls_process(uint64_t calls)
{
	read_clock(CLOCK_PROCESS_CPUTIME_ID, calls);
}

static void calls_gettimeofday(uint64_t calls)
{
	struct timeval now;

	EIGHT for (uint64_t i = 0; i < calls; i++)
		gettimeofday(&now, NULL);
}

static void calls_time(uint64_t calls)
{
	EIGHT for (uint64_t i = 0; i < calls; i++)
		time(NULL);
}

static void calls_clock_gettime_syscall(uint64_t calls)
{
	struct timespec now;

	EIGHT for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void calls_gettimeofday_syscall(uint64_t calls)
{
	struct timeval now;

	EIGHT for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_gettimeofday, &now, NULL);
}

static const struct {
	const char *name;
	void (*calls)(uint64_t calls);
} METHODS[] = {
#if defined(__x86_64__)
	{ "rdtsc", calls_unfenced },
	{ "lfence-rdtsc", calls_fenced },
	{ "rdtscp", calls_rdtscp },
	{ "cpuid-rdtsc", calls_cpuid },
#elif defined(__aarch64__)
	{ "cntvct", calls_unfenced },
	{ "isb-cntvct", calls_fenced },
#endif
	{ "gettimeofday", calls_gettimeofday },
	{ "clock_gettime-monotonic", calls_monotonic },
	{ "clock_gettime-realtime", calls_realtime },
	{ "clock_gettime-monotonic-raw", calls_raw },
	{ "clock_gettime-monotonic-coarse", calls_monotonic_coarse },
	{ "clock_gettime-realtime-coarse", calls_realtime_coarse },
	{ "time", calls_time },
	{ "clock_gettime-thread-cputime", calls_thread },
	{ "clock_gettime-process-cputime", calls_process },
	{ "syscall-clock_gettime", calls_clock_gettime_syscall },
	{ "syscall-gettimeofday", calls_gettimeofday_syscall },
};
#define METHOD_COUNT (sizeof(METHODS) / sizeof(METHODS[0]))

const char *sizeup_clock_method_name(uint32_t index)
{
	return index < METHOD_COUNT ? METHODS[index].name : NULL;
}

void sizeup_clock_calls(uint32_t index, uint64_t calls)
{
	METHODS[index].calls(calls);
}

static int64_t calls_ns(uint32_t method, uint64_t calls)
{
	const int64_t start_ns = sizeup_clock_now_ns();

	METHODS[method].calls(calls);
	return sizeup_clock_now_ns() - start_ns;
}

/* Each addition needs the last one's result: one a cycle on every core of the last twenty years. */
static uint64_t add_for(int64_t wanted_ns, int64_t *taken_ns)
{
	const int64_t start_ns = sizeup_clock_now_ns();
	uint64_t value = 0;
	uint64_t additions = 0;

	do {
		for (int i = 0; i < 64; i++) {
#if defined(__x86_64__)
			__asm__ volatile(".rept 64\n\tadd $1, %0\n\t.endr" : "+r"(value));
#elif defined(__aarch64__)
			__asm__ volatile(".rept 64\n\tadd %0, %0, #1\n\t.endr" : "+r"(value));
#else
			__asm__ volatile("" : "+r"(value));
#endif
		}
		additions += 64 * 64;
		*taken_ns = sizeup_clock_now_ns() - start_ns;
	} while (*taken_ns < wanted_ns);
	return additions;
}

void sizeup_clock_rates_measure(struct sizeup_clock_rates *rates)
{
	rates->core_hz = 0;
	/* The fastest of several: an interrupt or a neighbour only ever slows it. */
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

static uint64_t calls_per_batch(uint32_t method, int64_t batch_ns)
{
	uint64_t calls = 8;
	int64_t least_ns = calls_ns(method, calls); /* also fetches the vDSO's page */

	for (; (least_ns = calls_ns(method, calls)) < CALIBRATION_NS;)
		calls *= 2;
	for (int trial = 1; trial < CALIBRATIONS; trial++) {
		const int64_t ns = calls_ns(method, calls);

		least_ns = ns < least_ns ? ns : least_ns;
	}
	const uint64_t wanted = (uint64_t)((double)calls * (double)batch_ns / (double)least_ns);

	return wanted > 8 ? wanted : 8;
}

static int measure(struct sizeup_job *job, uint32_t point, uint32_t method, int32_t cpu,
		   const struct sizeup_stop_rule *rule, struct sizeup_replicates *replicates)
{
	const uint64_t calls = calls_per_batch(method, rule->batch_ns);
	const uint32_t batches = (uint32_t)(rule->replicate_ns / rule->batch_ns) + 1;
	struct sizeup_watch watch;

	if (sizeup_replicates_reserve(replicates, batches))
		return sizeup_job_refuse(job, -ENOMEM, "no memory for %u batches", batches);
	sizeup_watch_init(&watch, cpu, -1);
	for (uint32_t batch = 0; batch < batches && !sizeup_job_cancelled(job); batch++) {
		sizeup_watch_start(&watch);
		const int64_t wall_ns = calls_ns(method, calls);
		const struct sizeup_sample sample = {
			.t_ns = sizeup_clock_now_ns(),
			.value = (double)wall_ns / (double)calls,
			.point = point,
			.replicate = replicates->count,
			.flags = sizeup_watch_flags(&watch, wall_ns),
			.cpu = (uint32_t)cpu,
		};

		sizeup_replicates_add(replicates, sample.value, sample.flags);
		sizeup_job_push(job, &sample);
	}
	sizeup_replicates_close(replicates);
	return sizeup_job_cancelled(job) ? -ECANCELED : 0;
}

int sizeup_clock_cost_run(struct sizeup_job *job, const uint32_t *methods, uint32_t count, int32_t cpu,
			  const struct sizeup_stop_rule *rule)
{
	const int64_t start_ns = sizeup_clock_now_ns();
	struct sizeup_replicates *const replicates = calloc(METHOD_COUNT, sizeof(*replicates));
	int status = replicates ? 0 : -ENOMEM;
	struct sizeup_estimate estimates[METHOD_COUNT] = { 0 };
	uint32_t open = count;

	sizeup_job_begin(job);
	if (!status && (count == 0 || count > METHOD_COUNT))
		status = sizeup_job_refuse(job, -EINVAL, "expected 1 to %zu methods, found %u", METHOD_COUNT, count);
	for (uint32_t i = 0; !status && i < count; i++)
		if (methods[i] >= METHOD_COUNT)
			status = sizeup_job_refuse(job, -EINVAL, "there is no method %u", methods[i]);
	if (!status)
		status = sizeup_cpu_pin(cpu);
	if (status)
		sizeup_job_refuse(job, status, "cannot run on CPU %d: %s", cpu, strerror(-status));
	for (uint32_t round = 0; !status && open; round++) {
		open = 0;
		for (uint32_t i = 0; !status && i < count; i++) {
			struct sizeup_estimate *const estimate = &estimates[i];

			if (round && estimate->finished)
				continue;
			status = measure(job, i, methods[i], cpu, rule, &replicates[i]);
			sizeup_replicates_estimate(&replicates[i], rule, estimate);
			estimate->finished = estimate->converged || round + 1 >= rule->replicates_max ||
					     (round + 1 >= rule->replicates_min &&
					      sizeup_clock_now_ns() - start_ns > rule->budget_ns);
			sizeup_job_publish(job, i, estimate);
			open += !estimate->finished;
			sizeup_job_set_progress(job, (round + (i + 1.0) / count) / (rule->replicates_min + 1.0));
		}
	}
	sizeup_job_end(job, status);
	for (uint32_t i = 0; replicates && i < count && i < METHOD_COUNT; i++)
		sizeup_replicates_free(&replicates[i]);
	free(replicates);
	return status;
}
