/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/traffic.h>

#include <sizeup/chase.h>
#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/permutation.h>

#include "barrier.h"
#include "job_internal.h"
#include "replicates.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_BYTES UINT64_C(4096)
#define CHASE_ROUNDS 8       /* 512 loads: below 0.1 ms between two checks of the stop word */
#define SETTLE_NS 5000000    /* after the settings of the streams have changed */
#define IDLE_NS 1000000
#define LEAST_CPU_SHARE 0.95 /* of a window; below it something else used the CPU */

typedef uint64_t wide __attribute__((vector_size(16)));

/* What the streams do; changed between points, while nothing is counted. */
struct thread_settings {
	uint32_t streams;
	uint32_t delay_ns;
	uint32_t write_percent;
	uint32_t stop;
};

/* One thread. What it publishes has cache lines of its own, so that reading it does not slow the thread down. */
struct member {
	const struct sizeup_traffic_member *spec;
	struct thread_group *group;
	uint32_t rank; /* among the streams */
	int status;
	pthread_t thread;
	struct sizeup_placement placement;
	_Alignas(64) uint64_t work; /* loads or bytes */
	int64_t t_ns;               /* when a chase had done them */
};

struct thread_group {
	struct sizeup_job *job;
	struct sizeup_barrier barrier;
	uint32_t count;
	uint64_t seed;
	_Alignas(64) struct thread_settings settings;
	_Alignas(64) struct member members[];
};

static uint64_t read_block(const char *block)
{
	const wide *words = (const wide *)block;
	wide sum = { 0, 0 };

	for (uint32_t i = 0; i < BLOCK_BYTES / sizeof(wide); i += 4)
		sum ^= words[i] ^ words[i + 1] ^ words[i + 2] ^ words[i + 3];
	return sum[0] ^ sum[1];
}

static void write_block(char *block, uint64_t value)
{
	volatile wide *words = (volatile wide *)block;
	const wide both = { value, value };

	for (uint32_t i = 0; i < BLOCK_BYTES / sizeof(wide); i++)
		words[i] = both;
}

static void stream(struct member *member, const struct sizeup_arena *arena)
{
	const struct thread_settings *const settings = &member->group->settings;
	const struct timespec idle = { .tv_nsec = IDLE_NS };
	uint64_t value = 1;
	uint64_t offset = 0;
	uint32_t turn = 0;

	while (!__atomic_load_n(&settings->stop, __ATOMIC_RELAXED)) {
		const uint32_t delay_ns = __atomic_load_n(&settings->delay_ns, __ATOMIC_RELAXED);
		char *const block = (char *)arena->start + offset;

		if (member->rank >= __atomic_load_n(&settings->streams, __ATOMIC_RELAXED)) {
			nanosleep(&idle, NULL);
			continue;
		}
		turn += __atomic_load_n(&settings->write_percent, __ATOMIC_RELAXED);
		if (turn >= 100) {
			turn -= 100;
			write_block(block, value);
		} else {
			value += read_block(block);
		}
		offset = offset + 2 * BLOCK_BYTES <= arena->bytes ? offset + BLOCK_BYTES : 0;
		__atomic_store_n(&member->work, member->work + BLOCK_BYTES, __ATOMIC_RELAXED);
		if (delay_ns) {
			const int64_t end_ns = sizeup_clock_now_ns() + delay_ns;

			while (sizeup_clock_now_ns() < end_ns)
				;
		}
	}
}

static void chase(struct member *member, void *position)
{
	while (!__atomic_load_n(&member->group->settings.stop, __ATOMIC_RELAXED)) {
		position = sizeup_chase_follow(position, CHASE_ROUNDS);
		__atomic_store_n(&member->work, member->work + (uint64_t)CHASE_ROUNDS * SIZEUP_CHASE_LOADS, __ATOMIC_RELAXED);
		__atomic_store_n(&member->t_ns, sizeup_clock_now_ns(), __ATOMIC_RELEASE);
	}
}

static int prepare(struct member *member, struct sizeup_arena *arena, void **position)
{
	struct thread_group *const group = member->group;
	const struct sizeup_traffic_member *const spec = member->spec;
	int status = sizeup_job_pin(group->job, spec->cpu);

	if (status)
		return status;
	status = sizeup_arena_open(arena, &spec->memory, group->job);
	member->placement = arena->placement;
	if (status || spec->role != SIZEUP_ROLE_CHASE)
		return status;
	const struct sizeup_ring ring = {
		.pool = arena->start,
		.pool_bytes = arena->bytes,
		.span_bytes = arena->bytes,
		.page_bytes = arena->page_bytes,
		.stride_bytes = spec->stride_bytes,
		.seed = sizeup_mix(group->seed ^ (uint64_t)spec->cpu),
	};

	*position = sizeup_ring_link(&ring, sizeup_job_stop_word(group->job));
	if (*position)
		return 0;
	return sizeup_job_canceled(group->job) ? -ECANCELED :
		       sizeup_job_fail(group->job, -EINVAL, "a stride of %u bytes is not possible: expected a power of two of at least 16",
					 spec->stride_bytes);
}

static void *thread_main(void *argument)
{
	struct member *const member = argument;
	struct thread_group *const group = member->group;
	struct sizeup_arena arena = { 0 };
	void *position = NULL;

	member->status = prepare(member, &arena, &position);
	if (member->status)
		__atomic_store_n(&group->settings.stop, 1, __ATOMIC_RELAXED);
	else if (!sizeup_barrier_wait(&group->barrier, &group->settings.stop)) {
		if (position)
			chase(member, position);
		else
			stream(member, &arena);
	}
	sizeup_arena_close(&arena);
	return NULL;
}

/* Work and CPU time of all members at one moment. */
struct counters {
	int64_t t_ns;
	uint64_t work[SIZEUP_MEMBERS];
	int64_t chase_ns[SIZEUP_MEMBERS];
	int64_t cpu_ns[SIZEUP_MEMBERS];
};

static void read_counters(const struct thread_group *group, struct counters *counters)
{
	for (uint32_t i = 0; i < group->count; i++) {
		const struct member *const member = &group->members[i];
		clockid_t clock;

		/* The pair may be one block apart: 0.1 ms in a window of 10. */
		counters->chase_ns[i] = __atomic_load_n(&member->t_ns, __ATOMIC_ACQUIRE);
		counters->work[i] = __atomic_load_n(&member->work, __ATOMIC_RELAXED);
		counters->cpu_ns[i] = pthread_getcpuclockid(member->thread, &clock) ? 0 : sizeup_cpu_clock_ns(clock);
	}
	counters->t_ns = sizeup_clock_now_ns();
}

struct rates {
	double load_ns;
	double bytes_per_second;
	uint32_t flags;
};

static struct rates rates_between(const struct thread_group *group, const struct counters *from,
				  const struct counters *to)
{
	const double wall_ns = (double)(to->t_ns - from->t_ns);
	struct rates rates = { 0, 0, 0 };
	double chase_ns = 0;
	uint64_t loads = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct member *const member = &group->members[i];
		const uint64_t work = to->work[i] - from->work[i];

		if (member->spec->role == SIZEUP_ROLE_CHASE) {
			loads += work;
			chase_ns += (double)(to->chase_ns[i] - from->chase_ns[i]);
		} else {
			bytes += work;
			if (member->rank >= group->settings.streams)
				continue;
		}
		if ((double)(to->cpu_ns[i] - from->cpu_ns[i]) < LEAST_CPU_SHARE * wall_ns)
			rates.flags |= SIZEUP_DISTURBED_PREEMPTED;
	}
	rates.load_ns = loads ? chase_ns / (double)loads : 0;
	rates.bytes_per_second = (double)bytes * 1e9 / wall_ns;
	return rates;
}

struct measurement {
	struct thread_group *group;
	const struct sizeup_traffic_point *points;
	const struct sizeup_stop_rule *rule;
	int chases;
	struct counters before;
	struct counters after;
};

static void push(const struct measurement *measurement, uint32_t index, double value, uint32_t flags,
		 struct sizeup_replicates *values)
{
	const struct sizeup_sample sample = {
		.t_ns = measurement->after.t_ns,
		.value = value,
		.point = index,
		.flags = flags,
	};

	sizeup_replicates_add(values, value, flags);
	sizeup_job_push(measurement->group->job, &sample);
}

static int pause_ns(const struct thread_group *group, int64_t ns)
{
	const struct timespec pause = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&pause, NULL);
	return sizeup_job_canceled(group->job) ? -ECANCELED : 0;
}

static int replicate(void *context, uint32_t index, uint32_t round, struct sizeup_replicates *values)
{
	struct measurement *const measurement = context;
	struct thread_group *const group = measurement->group;
	const struct sizeup_traffic_point *const point = &measurement->points[index];
	const uint32_t windows = sizeup_batches_per_replicate(measurement->rule);

	(void)round; /* the memory stays the same: populating it for each replicate would take too long */
	for (uint32_t quantity = 0; quantity < 2; quantity++) {
		const int status = sizeup_replicates_begin(&values[quantity], windows, group->job);

		if (status)
			return status;
	}
	__atomic_store_n(&group->settings.write_percent, point->write_percent, __ATOMIC_RELAXED);
	__atomic_store_n(&group->settings.delay_ns, point->delay_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&group->settings.streams, point->streams, __ATOMIC_RELAXED);
	if (pause_ns(group, SETTLE_NS + measurement->rule->warm_up_ns))
		return -ECANCELED;
	read_counters(group, &measurement->before);
	for (uint32_t window = 0; window < windows; window++) {
		if (pause_ns(group, measurement->rule->batch_ns))
			return -ECANCELED;
		read_counters(group, &measurement->after);
		const struct rates rates = rates_between(group, &measurement->before, &measurement->after);

		if (measurement->chases)
			push(measurement, 2 * index, rates.load_ns, rates.flags, &values[0]);
		if (point->streams)
			push(measurement, 2 * index + 1, rates.bytes_per_second, rates.flags, &values[1]);
		measurement->before = measurement->after;
	}
	for (uint32_t quantity = 0; quantity < 2; quantity++)
		sizeup_replicates_end(&values[quantity]);
	return 0;
}

static int measure_points(struct thread_group *group, const struct sizeup_traffic_point *points, uint32_t count,
			  const struct sizeup_stop_rule *rule)
{
	struct measurement *const measurement = calloc(1, sizeof(*measurement));

	if (!measurement)
		return -ENOMEM;
	measurement->group = group;
	measurement->points = points;
	measurement->rule = rule;
	for (uint32_t i = 0; i < group->count; i++)
		measurement->chases |= group->members[i].spec->role == SIZEUP_ROLE_CHASE;
	int status = sizeup_barrier_wait(&group->barrier, &group->settings.stop);

	if (!status)
		status = sizeup_interleave_run(group->job, rule, count, 2, replicate, measurement);
	free(measurement);
	return status;
}

int sizeup_traffic_run(struct sizeup_job *job, const struct sizeup_traffic_member *members, uint32_t count,
		       const struct sizeup_traffic_point *points, uint32_t point_count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements)
{
	const size_t bytes = sizeof(struct thread_group) + count * sizeof(struct member);
	const struct sizeup_arena_spec anywhere = { .placement = SIZEUP_PLACE_FIRST_TOUCH };
	uint64_t memory_bytes = 0;
	uint32_t started = 0;
	uint32_t streams = 0;

	if (!count || count > SIZEUP_MEMBERS)
		return sizeup_job_fail(job, -EINVAL, "expected 1 to %d threads, found %u", SIZEUP_MEMBERS, count);
	for (uint32_t i = 0; i < count; i++)
		memory_bytes += members[i].memory.bytes;
	/* Each member checks for itself, but all allocate at the same time: check for all of them first. */
	int status = sizeup_arena_check(memory_bytes, &anywhere, job);

	if (status)
		return status;
	struct thread_group *const group = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!group)
		return -ENOMEM;
	memset(group, 0, bytes);
	group->job = job;
	group->count = count;
	group->seed = rule->seed;
	sizeup_barrier_init(&group->barrier, count + 1);
	for (; started < count && !status; started++) {
		struct member *const member = &group->members[started];

		member->spec = &members[started];
		member->group = group;
		member->rank = member->spec->role == SIZEUP_ROLE_STREAM ? streams++ : 0;
		status = -pthread_create(&member->thread, NULL, thread_main, member);
		if (status)
			break;
	}
	if (!status)
		status = measure_points(group, points, point_count, rule);
	__atomic_store_n(&group->settings.stop, 1, __ATOMIC_RELAXED);
	if (sizeup_job_canceled(job))
		status = -ECANCELED;
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(group->members[i].thread, NULL);
		placements[i] = group->members[i].placement;
		if (group->members[i].status && !sizeup_job_canceled(job))
			status = group->members[i].status;
	}
	free(group);
	return status;
}
