/* SPDX-License-Identifier: Apache-2.0 */
/* Every job that watches its thread flags time that a hypervisor took, of a working partner as well. */
#define _GNU_SOURCE
#include <sizeup/batch.h>
#include <sizeup/clock.h>
#include <sizeup/clock_cost.h>
#include <sizeup/cpu.h>
#include <sizeup/handoff.h>
#include <sizeup/latency.h>
#include <sizeup/shm.h>

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "cpu_set.h"

#define MIB (UINT64_C(1) << 20)
#define WINDOW_NS 100000
#define TRIALS 10000

static const struct sizeup_stop_rule QUICK = {
	.batch_ns = 100000, .replicate_ns = 7000000, .budget_ns = 1, .replicates_min = 2, .replicates_max = 2,
	.target = 0.5,
};

#define BATCHES 142 /* two replicates of more than one group */

static struct sizeup_cpu_set allowed;
static int32_t stolen_cpu; /* loses a tick whenever it is looked at */
static uint64_t ticks;

int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);

/* The linker puts this in the place of the function that reads /proc/stat: see CMakeLists.txt. */
int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time)
{
	time->busy = 0;
	time->steal = cpu == stolen_cpu ? ++ticks : 0;
	return 0;
}

static int other_cpu(int cpu)
{
	for (int other = 0; other < (int)(8 * allowed.bytes); other++)
		if (other != cpu && sizeup_cpu_set_has(&allowed, other))
			return other;
	return -1;
}

static void expect(struct sizeup_job *job, uint32_t batches, int32_t stolen, const char *claim)
{
	struct sizeup_sample sample;
	uint32_t samples = 0;

	for (; sizeup_job_drain(job, &sample, 1); samples++)
		check(((sample.flags & SIZEUP_DISTURBED_STOLEN) != 0) == (stolen >= 0), claim);
	check(samples == batches, "each batch gives one sample");
	if (stolen >= 0) {
		struct sizeup_estimate estimate;

		sizeup_job_estimate(job, 0, &estimate);
		check(estimate.replicates == 0 && estimate.disturbed_share == 1, "no stolen batch is in an estimate");
	}
	check(!sizeup_cpu_set_apply(&allowed), "back on all CPUs");
}

static void one_thread(struct sizeup_job *job, int32_t cpu, int32_t stolen)
{
	const uint32_t method = 0;
	const int fd = memfd_create("test_watch", MFD_CLOEXEC);
	const struct sizeup_latency_point point = {
		.span_bytes = 65536, .stride_bytes = 64, .cpu = cpu, .sibling = -1, .touch_cpu = -1,
	};
	struct sizeup_placement placement;
	struct sizeup_clock_rates rates;

	stolen_cpu = stolen;
	check(sizeup_latency_run(job, &point, 1, &QUICK, &placement, &rates) == 0, "a chase runs");
	expect(job, BATCHES, stolen, "steal is flagged in a chase");
	check(sizeup_clock_cost_run(job, &method, 1, cpu, &QUICK, &rates) == 0, "a clock is read");
	expect(job, BATCHES, stolen, "steal is flagged in the cost of a clock");
	if (fd < 0)
		return;
	check(sizeup_shm_fill(job, fd, MIB, cpu, &placement) == 0, "a file is filled");
	check(sizeup_shm_run(job, fd, MIB, &cpu, 1, &QUICK) == 0, "and written over");
	expect(job, 2, stolen, "steal is flagged in writes to shared memory");
	close(fd);
}

static void pair(struct sizeup_job *job, const struct sizeup_pair *pair, int32_t stolen, const char *claim)
{
	stolen_cpu = stolen;
	check(sizeup_handoff_run(job, pair, 1, &QUICK) == 0, "a line is transferred");
	expect(job, BATCHES, stolen, claim);
}

static int32_t partner_cpu;
static uint32_t partner_state; /* 0: starting, 1: busy, 2: asked to wait, 3: waits, 4: ends */

static void *partner_main(void *argument)
{
	(void)argument;
	check(!sizeup_cpu_pin(partner_cpu), "a partner on its CPU");
	__atomic_store_n(&partner_state, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&partner_state, __ATOMIC_ACQUIRE) == 1)
		;
	__atomic_store_n(&partner_state, 3, __ATOMIC_RELEASE);
	while (__atomic_load_n(&partner_state, __ATOMIC_ACQUIRE) == 3)
		usleep(1000);
	return NULL;
}

static uint32_t window(struct sizeup_watch *watch)
{
	sizeup_watch_start(watch);
	const int64_t start_ns = sizeup_clock_now_ns();
	int64_t wall_ns;

	do
		wall_ns = sizeup_clock_now_ns() - start_ns;
	while (wall_ns < WINDOW_NS);
	return sizeup_watch_flags(watch, wall_ns);
}

/* A thread that works in the whole window does not disturb it; one that waits does, always. */
static void partners_time(int32_t cpu, int32_t other)
{
	struct sizeup_watch watch;
	pthread_t thread;
	int clean = 0;

	partner_cpu = other;
	check(!sizeup_cpu_pin(cpu), "this thread on its CPU");
	check(!pthread_create(&thread, NULL, partner_main, NULL), "a partner");
	while (!__atomic_load_n(&partner_state, __ATOMIC_ACQUIRE))
		usleep(100);
	sizeup_watch_init(&watch, cpu, -1);
	sizeup_watch_partner(&watch, other, thread);
	for (int trial = 0; trial < TRIALS && !clean; trial++)
		clean = !window(&watch);
	check(clean, "a window with a busy partner is undisturbed");
	__atomic_store_n(&partner_state, 2, __ATOMIC_RELEASE);
	while (__atomic_load_n(&partner_state, __ATOMIC_ACQUIRE) != 3)
		usleep(100);
	for (int trial = 0; trial < 10; trial++)
		check(window(&watch) & SIZEUP_DISTURBED_OTHER, "a window in which the partner waits is disturbed");
	__atomic_store_n(&partner_state, 4, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	check(!sizeup_cpu_set_apply(&allowed), "back on all CPUs");
}

int main(void)
{
	struct sizeup_job *const job = sizeup_job_new();
	const int32_t cpu = sched_getcpu();

	check(job != NULL, "memory for a job");
	check(!sizeup_cpu_set_read(&allowed), "this thread's CPUs");
	const int32_t other = other_cpu(cpu);

	one_thread(job, cpu, -1);
	one_thread(job, cpu, cpu);
	if (other >= 0) {
		const struct sizeup_pair both = { .cpu = cpu, .partner = other };

		pair(job, &both, -1, "without steal nothing is flagged");
		pair(job, &both, cpu, "steal of the first CPU is flagged");
		pair(job, &both, other, "steal of the partner's CPU is flagged");
		partners_time(cpu, other);
	}
	sizeup_cpu_set_free(&allowed);
	sizeup_job_free(job);
	return 0;
}
