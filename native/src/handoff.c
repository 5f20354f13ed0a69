/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/handoff.h>

#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/permutation.h>

#include "barrier.h"
#include "job_internal.h"
#include "replicates.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (2u << 20)
#define LINE_STEP_BYTES 256 /* larger than a pair of lines that are prefetched together */
#define NODE_ARENAS SIZEUP_NODES
#define FIRST_ROUNDS 200

/* The turn counts up: odd values are the partner's. Alone on its cache line. */
struct shared_line {
	_Alignas(64) uint64_t turn;
};

struct partner {
	struct sizeup_job *job;
	struct shared_line *line;
	int32_t cpu;
	int status;
	uint32_t stop; /* its own: the partner must also end with the replicate */
	struct sizeup_barrier barrier;
};

static void *partner_main(void *argument)
{
	struct partner *const partner = argument;

	partner->status = sizeup_job_pin(partner->job, partner->cpu);
	if (sizeup_barrier_wait(&partner->barrier, &partner->stop) || partner->status)
		return NULL;
	for (uint64_t turn = 1; !__atomic_load_n(&partner->stop, __ATOMIC_RELAXED); turn += 2) {
		sizeup_turn_wait(&partner->line->turn, turn, &partner->stop);
		__atomic_store_n(&partner->line->turn, turn + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* The own side of the exchange. */
struct exchange {
	struct shared_line *line;
	const uint32_t *stop;
	uint64_t turn;
};

static int64_t round_trips_ns(void *context, uint64_t rounds)
{
	struct exchange *const exchange = context;
	struct shared_line *const line = exchange->line;
	uint64_t turn = exchange->turn;
	const int64_t start_ns = sizeup_clock_now_ns();

	for (uint64_t i = 0; i < rounds; i++) {
		__atomic_store_n(&line->turn, turn + 1, __ATOMIC_RELEASE);
		turn += 2;
		sizeup_turn_wait(&line->turn, turn, exchange->stop);
	}
	exchange->turn = turn;
	return sizeup_clock_now_ns() - start_ns;
}

struct run {
	struct sizeup_job *job;
	const struct sizeup_pair *pairs;
	const struct sizeup_stop_rule *rule;
	struct sizeup_arena arenas[NODE_ARENAS + 1]; /* by home node; the last one for pairs without a home */
};

static int arena_for(struct run *run, const struct sizeup_pair *pair, struct sizeup_arena **arena)
{
	const uint32_t home = pair->home ? (uint32_t)__builtin_ctzll(pair->home) : NODE_ARENAS;
	const struct sizeup_arena_spec spec = {
		.bytes = ARENA_BYTES,
		.pages = SIZEUP_PAGES_BASE,
		.placement = pair->home ? SIZEUP_PLACE_BIND : SIZEUP_PLACE_FIRST_TOUCH,
		.nodes = pair->home,
		.touch_cpu = -1,
	};

	*arena = &run->arenas[home];
	return (*arena)->start ? 0 : sizeup_arena_open(*arena, &spec, run->job);
}

static int measure(const struct run *run, uint32_t index, struct shared_line *line, pthread_t partner,
		   struct sizeup_replicates *replicates)
{
	struct exchange exchange = { .line = line, .stop = sizeup_job_stop_word(run->job) };
	struct sizeup_batches batches = {
		.run = round_trips_ns,
		.context = &exchange,
		.count = sizeup_batches_per_replicate(run->rule),
		.units = 2,
	};
	struct sizeup_watch watch;
	const int64_t warm_ns = sizeup_clock_now_ns() + run->rule->warm_up_ns;

	while (sizeup_clock_now_ns() < warm_ns && !sizeup_job_canceled(run->job))
		round_trips_ns(&exchange, FIRST_ROUNDS);
	sizeup_batches_calibrate(&batches, FIRST_ROUNDS, 0, run->rule->batch_ns);
	sizeup_watch_init(&watch, run->pairs[index].cpu, -1);
	sizeup_watch_partner(&watch, run->pairs[index].partner, partner);
	watch.group_size = SIZEUP_BATCH_GROUP_SHORT;
	return sizeup_replicates_measure(replicates, &batches, &watch, index, run->job);
}

static int replicate(void *context, uint32_t index, uint32_t round, struct sizeup_replicates *values)
{
	struct run *const run = context;
	const struct sizeup_pair *const pair = &run->pairs[index];
	struct partner partner = { .job = run->job, .cpu = pair->partner };
	struct sizeup_arena *arena;
	pthread_t thread;
	int status = sizeup_job_pin(run->job, pair->cpu);

	if (!status)
		status = arena_for(run, pair, &arena);
	if (status)
		return status;
	const uint64_t lines = arena->bytes / LINE_STEP_BYTES;
	const uint64_t line = sizeup_mix(run->rule->seed ^ (uint64_t)index << 32 ^ round) % lines;

	partner.line = (struct shared_line *)((char *)arena->start + line * LINE_STEP_BYTES);
	partner.line->turn = 0;
	sizeup_barrier_init(&partner.barrier, 2);
	status = -pthread_create(&thread, NULL, partner_main, &partner);
	if (status)
		return sizeup_job_fail(run->job, status, "starting a thread failed: %s", strerror(-status));
	status = sizeup_barrier_wait(&partner.barrier, sizeup_job_stop_word(run->job));
	if (!status)
		status = partner.status;
	if (!status)
		status = measure(run, index, partner.line, thread, values);
	__atomic_store_n(&partner.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return status;
}

int sizeup_handoff_run(struct sizeup_job *job, const struct sizeup_pair *pairs, uint32_t count,
		       const struct sizeup_stop_rule *rule)
{
	struct run *const run = calloc(1, sizeof(*run));
	int status = 0;

	if (!run)
		return -ENOMEM;
	run->job = job;
	run->pairs = pairs;
	run->rule = rule;
	for (uint32_t i = 0; !status && i < count; i++)
		if (pairs[i].cpu == pairs[i].partner)
			status = sizeup_job_fail(job, -EINVAL, "CPU %d cannot be its own partner", pairs[i].cpu);
	if (!status)
		status = sizeup_interleave_run(job, rule, count, 1, replicate, run);
	for (uint32_t i = 0; i <= NODE_ARENAS; i++)
		sizeup_arena_close(&run->arenas[i]);
	free(run);
	return status;
}
