/* SPDX-License-Identifier: Apache-2.0 */
/* The offset between the clocks of two CPUs is the one that they have, and steps backwards are seen. */
#define _GNU_SOURCE
#include <sizeup/clock_quality.h>
#include <sizeup/cpu.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <sizeup/methods.h>
#include "check.h"
#include "cpu_set.h"

#define STEP 10
#define READS 20000
#define READS_APART 100

static pthread_t main_thread;
static int comparing;
static uint64_t clock_value = 1000000;
static int64_t ahead; /* of the partner's clock */
static uint32_t readings[2]; /* of this run, by thread */

const struct sizeup_method *__wrap_sizeup_method(uint32_t index);

/* All readings are one after the other and a step apart, whichever CPU they are made on. */
static uint64_t read_step(void)
{
	const int partner = !pthread_equal(pthread_self(), main_thread);
	const uint32_t own = __atomic_add_fetch(&readings[partner], 1, __ATOMIC_SEQ_CST);

	/* Neither gets far ahead of the other where both compare, however busy the machine is. */
	while (comparing && own < READS / 2 && own > READS_APART + __atomic_load_n(&readings[!partner], __ATOMIC_SEQ_CST))
		sched_yield();
	const uint64_t now = __atomic_add_fetch(&clock_value, STEP, __ATOMIC_SEQ_CST);

	return partner ? now + (uint64_t)ahead : now;
}

static const struct sizeup_method METHOD = { "steps", NULL, read_step, -1, 1 };

const struct sizeup_method *__wrap_sizeup_method(uint32_t index)
{
	return index == 0 ? &METHOD : NULL;
}

static struct sizeup_clock_order compare(int32_t cpu, int32_t other, int64_t offset)
{
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_clock_order order;

	ahead = offset;
	readings[0] = readings[1] = 0;
	comparing = 1;
	check(job && !sizeup_clock_order_run(job, 0, cpu, other, READS, &order), "two clocks are compared");
	sizeup_job_free(job);
	return order;
}

int main(void)
{
	struct sizeup_clock_steps steps;
	struct sizeup_clock_order order;
	struct sizeup_cpu_set allowed;
	int32_t cpu = -1, other = -1;

	main_thread = pthread_self();
	check(!sizeup_clock_steps_read(0, 1000, &steps), "a clock is read");
	check(steps.smallest_step == STEP && steps.reads == 1000 && !steps.backwards, "its step is known");
	check(steps.resolution_ns == -1, "it has no resolution of the kernel's");
	check(!sizeup_cpu_set_read(&allowed), "this thread's CPUs");
	for (int32_t i = 0; i < (int32_t)(8 * allowed.bytes); i++)
		if (sizeup_cpu_set_has(&allowed, i))
			*(cpu < 0 ? &cpu : &other) = i;
	sizeup_cpu_set_free(&allowed);
	if (other < 0) {
		fprintf(stderr, "one CPU has no partner\n");
		return SKIPPED;
	}

	order = compare(cpu, other, 0);
	check(order.reads == READS && order.backwards == 0 && order.worst_backwards == 0, "a common clock is never behind");
	check(order.offset == 0, "and has no offset");
	check(order.offset_bound == STEP + 0.5, "known to half of the shortest exchange and half a step");
	order = compare(cpu, other, 5000);
	check(order.offset == 5000, "a partner that is ahead has a positive offset");
	check(order.backwards > 0, "its values come back from the future");
	check(order.worst_backwards > 0 && order.worst_backwards <= 5000, "by no more than the offset");
	order = compare(cpu, other, -5000);
	check(order.offset == -5000, "one that is behind has a negative one");
	check(order.backwards > 0, "and sees this one's values from the future");
	return 0;
}
