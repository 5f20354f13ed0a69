/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/traffic.h>

#include <sizeup/chase.h>
#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/permutation.h>

#include "gate.h"
#include "interleave.h"
#include "job_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE_BYTES 4096u
#define CHASE_ROUNDS 8       /* 512 loads: below 0.1 ms between looks */
#define SETTLE_NS 5000000    /* after the streams' orders have changed */
#define IDLE_NS 1000000
#define LEAST_CPU_SHARE 0.95 /* of a window: below, somebody else had the CPU */

typedef uint64_t wide __attribute__((vector_size(16)));

/* What the streams are told; changed between points, while nothing is counted. */
struct orders {
	uint32_t streams;
	uint32_t delay_ns;
	uint32_t write_percent;
	uint32_t stop;
};

/* One thread. What it publishes lies on lines of its own: the watcher must not slow it down. */
struct member {
	const struct sizeup_traffic_member *spec;
	struct crew *crew;
	uint32_t rank; /* among the streams */
	int status;
	pthread_t thread;
	struct sizeup_placement placement;
	_Alignas(64) uint64_t work; /* loads or bytes */
	int64_t t_ns;               /* when a chase had done them */
};

struct crew {
	struct sizeup_job *job;
	struct sizeup_gate gate;
	uint32_t count;
	uint64_t seed;
	_Alignas(64) struct orders orders;
	_Alignas(64) struct member members[];
};

static uint64_t read_piece(const char *piece)
{
	const wide *words = (const wide *)piece;
	wide sum = { 0, 0 };

	for (uint32_t i = 0; i < PIECE_BYTES / sizeof(wide); i += 4)
		sum ^= words[i] ^ words[i + 1] ^ words[i + 2] ^ words[i + 3];
	return sum[0] ^ sum[1];
}

static void write_piece(char *piece, uint64_t value)
{
	volatile wide *words = (volatile wide *)piece;
	const wide both = { value, value };

	for (uint32_t i = 0; i < PIECE_BYTES / sizeof(wide); i++)
		words[i] = both;
}

static void wait_ns(int64_t ns)
{
	const int64_t end_ns = sizeup_clock_now_ns() + ns;

	while (sizeup_clock_now_ns() < end_ns)
		;
}

static void stream(struct member *member, const struct sizeup_arena *arena)
{
	const struct orders *const orders = &member->crew->orders;
	const struct timespec idle = { .tv_nsec = IDLE_NS };
	uint64_t value = 1;
	uint64_t offset = 0;
	uint32_t turn = 0;

	while (!__atomic_load_n(&orders->stop, __ATOMIC_RELAXED)) {
		const uint32_t delay_ns = __atomic_load_n(&orders->delay_ns, __ATOMIC_RELAXED);
		char *const piece = (char *)arena->start + offset;

		if (member->rank >= __atomic_load_n(&orders->streams, __ATOMIC_RELAXED)) {
			nanosleep(&idle, NULL);
			continue;
		}
		turn += __atomic_load_n(&orders->write_percent, __ATOMIC_RELAXED);
		if (turn >= 100) {
			turn -= 100;
			write_piece(piece, value);
		} else {
			value += read_piece(piece);
		}
		offset = offset + 2 * PIECE_BYTES <= arena->bytes ? offset + PIECE_BYTES : 0;
		__atomic_store_n(&member->work, member->work + PIECE_BYTES, __ATOMIC_RELAXED);
		if (delay_ns)
			wait_ns(delay_ns);
	}
}

static void chase(struct member *member, void *position)
{
	while (!__atomic_load_n(&member->crew->orders.stop, __ATOMIC_RELAXED)) {
		position = sizeup_chase_follow(position, CHASE_ROUNDS);
		__atomic_store_n(&member->work, member->work + CHASE_ROUNDS * SIZEUP_CHASE_LOADS, __ATOMIC_RELAXED);
		__atomic_store_n(&member->t_ns, sizeup_clock_now_ns(), __ATOMIC_RELEASE);
	}
}

static int prepare(struct member *member, struct sizeup_arena *arena, void **position)
{
	struct crew *const crew = member->crew;
	const struct sizeup_traffic_member *const spec = member->spec;
	int status = sizeup_cpu_pin(spec->cpu);

	if (status)
		return sizeup_job_refuse(crew->job, status, "cannot run on CPU %d: %s", spec->cpu, strerror(-status));
	status = sizeup_arena_open(arena, &spec->memory, crew->job);
	member->placement = arena->placement;
	if (status || spec->role != SIZEUP_ROLE_CHASE)
		return status;
	const struct sizeup_ring ring = {
		.pool = arena->start,
		.pool_bytes = arena->bytes,
		.span_bytes = arena->bytes,
		.page_bytes = arena->page_bytes,
		.stride_bytes = spec->stride_bytes,
		.seed = sizeup_mix(crew->seed ^ (uint64_t)spec->cpu),
	};

	*position = sizeup_ring_link(&ring, sizeup_job_stop_word(crew->job));
	if (*position)
		return 0;
	return sizeup_job_canceled(crew->job) ? -ECANCELED :
		       sizeup_job_refuse(crew->job, -EINVAL, "a ring with a stride of %u bytes cannot be built",
					 spec->stride_bytes);
}

static void *live(void *argument)
{
	struct member *const member = argument;
	struct crew *const crew = member->crew;
	struct sizeup_arena arena = { 0 };
	void *position = NULL;

	member->status = prepare(member, &arena, &position);
	if (member->status)
		__atomic_store_n(&crew->orders.stop, 1, __ATOMIC_RELAXED);
	else if (!sizeup_gate_pass(&crew->gate, &crew->orders.stop)) {
		if (position)
			chase(member, position);
		else
			stream(member, &arena);
	}
	sizeup_arena_close(&arena);
	return NULL;
}

/* What the members have done and used, at one moment. */
struct account {
	int64_t t_ns;
	uint64_t work[SIZEUP_MEMBERS];
	int64_t chase_ns[SIZEUP_MEMBERS];
	int64_t cpu_ns[SIZEUP_MEMBERS];
};

static int64_t thread_cpu_ns(pthread_t thread)
{
	clockid_t clock;
	struct timespec time = { 0, 0 };

	if (!pthread_getcpuclockid(thread, &clock))
		clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void take_account(const struct crew *crew, struct account *account)
{
	for (uint32_t i = 0; i < crew->count; i++) {
		const struct member *const member = &crew->members[i];

		/* The pair may be one piece apart: 0.1 ms in a window of 10. */
		account->chase_ns[i] = __atomic_load_n(&member->t_ns, __ATOMIC_ACQUIRE);
		account->work[i] = __atomic_load_n(&member->work, __ATOMIC_RELAXED);
		account->cpu_ns[i] = thread_cpu_ns(member->thread);
	}
	account->t_ns = sizeup_clock_now_ns();
}

struct rates {
	double load_ns;
	double bytes_per_second;
	uint32_t flags;
};

static struct rates rates_between(const struct crew *crew, const struct account *from, const struct account *to)
{
	const double wall_ns = (double)(to->t_ns - from->t_ns);
	struct rates rates = { 0, 0, 0 };
	double chase_ns = 0;
	uint64_t loads = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < crew->count; i++) {
		const struct member *const member = &crew->members[i];
		const uint64_t work = to->work[i] - from->work[i];

		if (member->spec->role == SIZEUP_ROLE_CHASE) {
			loads += work;
			chase_ns += (double)(to->chase_ns[i] - from->chase_ns[i]);
		} else {
			bytes += work;
			if (member->rank >= crew->orders.streams)
				continue;
		}
		if ((double)(to->cpu_ns[i] - from->cpu_ns[i]) < LEAST_CPU_SHARE * wall_ns)
			rates.flags |= SIZEUP_DISTURBED_PREEMPTED;
	}
	rates.load_ns = loads ? chase_ns / (double)loads : 0;
	rates.bytes_per_second = (double)bytes * 1e9 / wall_ns;
	return rates;
}

struct watch {
	struct crew *crew;
	const struct sizeup_traffic_point *points;
	const struct sizeup_stop_rule *rule;
	int chases;
	struct account before;
	struct account after;
};

static void push(const struct watch *watch, uint32_t index, double value, uint32_t flags,
		 struct sizeup_replicates *values)
{
	const struct sizeup_sample sample = {
		.t_ns = watch->after.t_ns,
		.value = value,
		.point = index,
		.replicate = values->count,
		.flags = flags,
	};

	sizeup_replicates_add(values, value, flags);
	sizeup_job_push(watch->crew->job, &sample);
}

static int pause_ns(const struct crew *crew, int64_t ns)
{
	const struct timespec pause = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&pause, NULL);
	return sizeup_job_canceled(crew->job) ? -ECANCELED : 0;
}

static void give_orders(struct orders *orders, const struct sizeup_traffic_point *point)
{
	__atomic_store_n(&orders->write_percent, point->write_percent, __ATOMIC_RELAXED);
	__atomic_store_n(&orders->delay_ns, point->delay_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&orders->streams, point->streams, __ATOMIC_RELAXED);
}

static int replicate(void *context, uint32_t index, uint32_t round, struct sizeup_replicates *values)
{
	struct watch *const watch = context;
	struct crew *const crew = watch->crew;
	const uint32_t windows = (uint32_t)(watch->rule->replicate_ns / watch->rule->batch_ns) + 1;

	(void)round; /* the memory stays the same: populating it for each replicate would take all the time */
	for (uint32_t side = 0; side < 2; side++)
		if (sizeup_replicates_reserve(&values[side], windows))
			return sizeup_job_refuse(crew->job, -ENOMEM, "no memory for %u windows", windows);
	give_orders(&crew->orders, &watch->points[index]);
	if (pause_ns(crew, SETTLE_NS + watch->rule->warm_up_ns))
		return -ECANCELED;
	take_account(crew, &watch->before);
	for (uint32_t window = 0; window < windows; window++) {
		if (pause_ns(crew, watch->rule->batch_ns))
			return -ECANCELED;
		take_account(crew, &watch->after);
		const struct rates rates = rates_between(crew, &watch->before, &watch->after);

		if (watch->chases)
			push(watch, 2 * index, rates.load_ns, rates.flags, &values[0]);
		if (watch->points[index].streams)
			push(watch, 2 * index + 1, rates.bytes_per_second, rates.flags, &values[1]);
		watch->before = watch->after;
	}
	for (uint32_t side = 0; side < 2; side++)
		sizeup_replicates_close(&values[side]);
	return 0;
}

static int watch_crew(struct crew *crew, const struct sizeup_traffic_point *points, uint32_t count,
		      const struct sizeup_stop_rule *rule)
{
	struct watch *const watch = calloc(1, sizeof(*watch));
	const struct sizeup_interleave plan = {
		.job = crew->job,
		.rule = rule,
		.points = count,
		.sides = 2,
		.replicate = replicate,
		.context = watch,
	};

	if (!watch)
		return -ENOMEM;
	watch->crew = crew;
	watch->points = points;
	watch->rule = rule;
	for (uint32_t i = 0; i < crew->count; i++)
		watch->chases |= crew->members[i].spec->role == SIZEUP_ROLE_CHASE;
	int status = sizeup_gate_pass(&crew->gate, &crew->orders.stop);

	if (!status)
		status = sizeup_interleave_run(&plan);
	free(watch);
	return status;
}

static int check(struct sizeup_job *job, const struct sizeup_traffic_member *members, uint32_t count)
{
	uint64_t bytes = 0;

	if (!count || count > SIZEUP_MEMBERS)
		return sizeup_job_refuse(job, -EINVAL, "expected 1 to %d threads, found %u", SIZEUP_MEMBERS, count);
	for (uint32_t i = 0; i < count; i++)
		bytes += members[i].memory.bytes;
	/* Each member looks for itself, but all take at the same time: look for all of them first. */
	const int64_t room = sizeup_room_bytes(0, SIZEUP_PLACE_FIRST_TOUCH);

	if (bytes > (uint64_t)room / 2)
		return sizeup_job_refuse(job, -ENOMEM,
					 "%u threads want %llu MiB but %lld MiB are to spare, and half of that is the "
					 "most this takes",
					 count, (unsigned long long)(bytes >> 20), (long long)(room >> 20));
	return 0;
}

int sizeup_traffic_run(struct sizeup_job *job, const struct sizeup_traffic_member *members, uint32_t count,
		       const struct sizeup_traffic_point *points, uint32_t point_count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements)
{
	const size_t bytes = sizeof(struct crew) + count * sizeof(struct member);
	uint32_t started = 0;
	uint32_t streams = 0;

	sizeup_job_begin(job);
	int status = check(job, members, count);

	if (status)
		return sizeup_job_end(job, status);
	struct crew *const crew = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!crew)
		return sizeup_job_end(job, -ENOMEM);
	memset(crew, 0, bytes);
	crew->job = job;
	crew->count = count;
	crew->seed = rule->seed;
	sizeup_gate_init(&crew->gate, count + 1);
	for (; started < count && !status; started++) {
		struct member *const member = &crew->members[started];

		member->spec = &members[started];
		member->crew = crew;
		member->rank = member->spec->role == SIZEUP_ROLE_STREAM ? streams++ : 0;
		status = -pthread_create(&member->thread, NULL, live, member);
		if (status)
			break;
	}
	if (!status)
		status = watch_crew(crew, points, point_count, rule);
	__atomic_store_n(&crew->orders.stop, 1, __ATOMIC_RELAXED);
	if (sizeup_job_canceled(job)) {
		status = -ECANCELED;
		sizeup_job_end(job, status); /* before the memory goes back, which takes long */
	}
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(crew->members[i].thread, NULL);
		placements[i] = crew->members[i].placement;
		if (crew->members[i].status && !sizeup_job_canceled(job))
			status = crew->members[i].status;
	}
	free(crew);
	return sizeup_job_end(job, status);
}
