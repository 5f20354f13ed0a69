/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/clock_quality.h>

#include <sizeup/cpu.h>
#include <sizeup/methods.h>

#include "barrier.h"
#include "job_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define EXCHANGES 5000
#define READS_PER_CHECK (1u << 14)

int sizeup_clock_steps_read(uint32_t index, uint64_t reads, struct sizeup_clock_steps *steps)
{
	const struct sizeup_method *const method = sizeup_method(index);
	struct timespec resolution;

	memset(steps, 0, sizeof(*steps));
	if (!method || !method->read)
		return -EINVAL;
	steps->reads = reads;
	steps->resolution_ns = -1;
	if (method->clock != -1 && !clock_getres(method->clock, &resolution))
		steps->resolution_ns = (int64_t)resolution.tv_sec * 1000000000 + resolution.tv_nsec;
	uint64_t before = method->read();

	for (uint64_t i = 0; i < reads; i++) {
		const uint64_t now = method->read();

		if (now < before)
			steps->backwards++;
		else if (now > before && (!steps->smallest_step || now - before < steps->smallest_step))
			steps->smallest_step = now - before;
		before = now;
	}
	return 0;
}

/* The value that each CPU publishes, on a cache line of its own. */
struct slot {
	_Alignas(64) uint64_t value;
	uint64_t turn;
};

struct comparison {
	struct sizeup_job *job;
	const struct sizeup_method *method;
	uint64_t reads; /* each */
	const uint32_t *job_stop;
	int32_t partner;
	int status;
	struct sizeup_barrier barrier;
	struct slot slots[2];
	uint64_t backwards[2];
	uint64_t worst[2];
};

/* The partner's value is read first: the own clock must not read below it afterwards. */
static void check_order(struct comparison *comparison, int side)
{
	struct slot *const own = &comparison->slots[side];
	const struct slot *const other = &comparison->slots[!side];

	for (uint64_t i = 0; i < comparison->reads; i++) {
		const uint64_t seen = __atomic_load_n(&other->value, __ATOMIC_ACQUIRE);
		const uint64_t now = comparison->method->read();

		if (now < seen) {
			comparison->backwards[side]++;
			comparison->worst[side] = seen - now > comparison->worst[side] ? seen - now : comparison->worst[side];
		}
		__atomic_store_n(&own->value, now, __ATOMIC_RELEASE);
		if (i % READS_PER_CHECK == 0 && __atomic_load_n(comparison->job_stop, __ATOMIC_RELAXED))
			return;
	}
}

static void *partner_main(void *argument)
{
	struct comparison *const comparison = argument;

	comparison->status = sizeup_job_pin(comparison->job, comparison->partner);
	if (sizeup_barrier_wait(&comparison->barrier, comparison->job_stop) || comparison->status)
		return NULL;
	check_order(comparison, 1);
	for (uint64_t turn = 1; turn <= EXCHANGES && !__atomic_load_n(comparison->job_stop, __ATOMIC_RELAXED); turn++) {
		sizeup_turn_wait(&comparison->slots[0].turn, turn, comparison->job_stop);
		comparison->slots[1].value = comparison->method->read();
		__atomic_store_n(&comparison->slots[1].turn, turn, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The partner reads between the two own readings: the shortest round trip bounds the offset best. */
static void measure_offset(struct comparison *comparison, struct sizeup_clock_order *order)
{
	uint64_t shortest = UINT64_MAX;

	for (uint64_t turn = 1; turn <= EXCHANGES && !__atomic_load_n(comparison->job_stop, __ATOMIC_RELAXED); turn++) {
		const uint64_t sent = comparison->method->read();

		__atomic_store_n(&comparison->slots[0].turn, turn, __ATOMIC_RELEASE);
		sizeup_turn_wait(&comparison->slots[1].turn, turn, comparison->job_stop);
		const uint64_t theirs = comparison->slots[1].value;
		const uint64_t back = comparison->method->read();

		if (back - sent >= shortest || back < sent)
			continue;
		shortest = back - sent;
		order->offset = (double)(int64_t)(theirs - sent) - (double)shortest / 2;
		/* A counter of 25 MHz may not have moved at all: its own step is part of the bound. */
		order->offset_bound = ((double)shortest + 1) / 2;
	}
}

int sizeup_clock_order_run(struct sizeup_job *job, uint32_t index, int32_t cpu, int32_t partner, uint64_t reads,
			   struct sizeup_clock_order *order)
{
	struct comparison comparison = {
		.job = job,
		.method = sizeup_method(index),
		.reads = reads / 2,
		.job_stop = sizeup_job_stop_word(job),
		.partner = partner,
	};
	pthread_t thread;

	memset(order, 0, sizeof(*order));
	if (!comparison.method || !comparison.method->read || cpu == partner)
		return sizeup_job_fail(job, -EINVAL, "method %u cannot be compared between CPUs %d and %d", index, cpu, partner);
	int status = sizeup_job_pin(job, cpu);

	if (status)
		return status;
	sizeup_barrier_init(&comparison.barrier, 2);
	status = -pthread_create(&thread, NULL, partner_main, &comparison);
	if (status)
		return status;
	status = sizeup_barrier_wait(&comparison.barrier, comparison.job_stop);
	if (!status && !comparison.status) {
		check_order(&comparison, 0);
		measure_offset(&comparison, order);
	}
	pthread_join(thread, NULL);
	if (comparison.status)
		status = comparison.status;
	if (!status && sizeup_job_canceled(job))
		status = -ECANCELED;
	order->reads = 2 * comparison.reads;
	order->backwards = comparison.backwards[0] + comparison.backwards[1];
	order->worst_backwards = comparison.worst[0] > comparison.worst[1] ? comparison.worst[0] : comparison.worst[1];
	return status;
}

int sizeup_clock_vdso_has(void)
{
	/* Both C libraries list the image under a name, though it is no file. */
	void *const glibc = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *const image = glibc ? glibc : dlopen("linux-gate.so.1", RTLD_LAZY | RTLD_NOLOAD); /* musl */

	return image && (dlsym(image, "__vdso_clock_gettime") || dlsym(image, "__kernel_clock_gettime")); /* x86, Arm */
}
