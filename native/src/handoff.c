/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/handoff.h>

#include <sizeup/batch.h>
#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/permutation.h>

#include "gate.h"
#include "interleave.h"
#include "job_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (2u << 20)
#define LINE_STEP_BYTES 256 /* further apart than a pair of lines that is fetched together */
#define NODE_ARENAS SIZEUP_NODES
#define SPINS_PER_LOOK (1u << 14)
#define FIRST_ROUNDS 200

/* Counts up: odd when it is the partner's turn. Alone on its line. */
struct ball {
	_Alignas(64) uint64_t turn;
};

struct partner {
	struct ball *ball;
	int32_t cpu;
	int status;
	uint32_t stop; /* own word: the partner must also end with the replicate */
	struct sizeup_gate gate;
};

static void wait_turn(const struct ball *ball, uint64_t turn, const uint32_t *stop)
{
	for (uint32_t spins = 0; __atomic_load_n(&ball->turn, __ATOMIC_ACQUIRE) != turn; spins++)
		if (spins % SPINS_PER_LOOK == SPINS_PER_LOOK - 1 && __atomic_load_n(stop, __ATOMIC_RELAXED))
			return;
}

static void *answer(void *argument)
{
	struct partner *const partner = argument;

	partner->status = sizeup_cpu_pin(partner->cpu);
	if (sizeup_gate_pass(&partner->gate, &partner->stop) || partner->status)
		return NULL;
	for (uint64_t turn = 1; !__atomic_load_n(&partner->stop, __ATOMIC_RELAXED); turn += 2) {
		wait_turn(partner->ball, turn, &partner->stop);
		__atomic_store_n(&partner->ball->turn, turn + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static int64_t play_ns(struct ball *ball, uint64_t *turn, uint64_t rounds, const uint32_t *stop)
{
	const int64_t start_ns = sizeup_clock_now_ns();

	for (uint64_t i = 0; i < rounds; i++) {
		__atomic_store_n(&ball->turn, *turn + 1, __ATOMIC_RELEASE);
		*turn += 2;
		wait_turn(ball, *turn, stop);
	}
	return sizeup_clock_now_ns() - start_ns;
}

struct game {
	struct sizeup_job *job;
	const struct sizeup_pair *pairs;
	const struct sizeup_stop_rule *rule;
	struct sizeup_arena arenas[NODE_ARENAS + 1]; /* by home node; the last for no wish */
};

static int home_of(struct game *game, const struct sizeup_pair *pair, struct sizeup_arena **arena)
{
	const uint32_t home = pair->home ? (uint32_t)__builtin_ctzll(pair->home) : NODE_ARENAS;
	const struct sizeup_arena_spec spec = {
		.bytes = ARENA_BYTES,
		.pages = SIZEUP_PAGES_BASE,
		.placement = pair->home ? SIZEUP_PLACE_BIND : SIZEUP_PLACE_FIRST_TOUCH,
		.nodes = pair->home,
		.touch_cpu = -1,
	};

	*arena = &game->arenas[home];
	return (*arena)->start ? 0 : sizeup_arena_open(*arena, &spec, game->job);
}

static int play(const struct game *game, uint32_t index, struct ball *ball, struct sizeup_replicates *replicates)
{
	const struct sizeup_stop_rule *const rule = game->rule;
	const uint32_t *const stop = sizeup_job_stop_word(game->job);
	const uint32_t batches = (uint32_t)(rule->replicate_ns / rule->batch_ns) + 1;
	struct sizeup_watch watch;
	uint64_t turn = 0;

	if (sizeup_replicates_reserve(replicates, batches))
		return sizeup_job_refuse(game->job, -ENOMEM, "no memory for %u batches", batches);
	const int64_t warm_ns = sizeup_clock_now_ns() + rule->warm_up_ns;

	while (sizeup_clock_now_ns() < warm_ns && !sizeup_job_canceled(game->job))
		play_ns(ball, &turn, FIRST_ROUNDS, stop);
	const int64_t first_ns = play_ns(ball, &turn, FIRST_ROUNDS, stop);
	const double wanted = (double)FIRST_ROUNDS * (double)rule->batch_ns / (double)(first_ns ? first_ns : 1);
	const uint64_t rounds = wanted > FIRST_ROUNDS ? (uint64_t)wanted : FIRST_ROUNDS;

	sizeup_watch_init(&watch, game->pairs[index].cpu, -1);
	for (uint32_t batch = 0; batch < batches && !sizeup_job_canceled(game->job); batch++) {
		sizeup_watch_start(&watch);
		const int64_t wall_ns = play_ns(ball, &turn, rounds, stop);
		const struct sizeup_sample sample = {
			.t_ns = sizeup_clock_now_ns(),
			.value = (double)wall_ns / (double)(2 * rounds),
			.point = index,
			.replicate = replicates->count,
			.flags = sizeup_watch_flags(&watch, wall_ns),
			.cpu = (uint32_t)game->pairs[index].cpu,
		};

		sizeup_replicates_add(replicates, sample.value, sample.flags);
		sizeup_job_push(game->job, &sample);
	}
	sizeup_replicates_close(replicates);
	return sizeup_job_canceled(game->job) ? -ECANCELED : 0;
}

static int replicate(void *context, uint32_t index, uint32_t round, struct sizeup_replicates *values)
{
	struct game *const game = context;
	const struct sizeup_pair *const pair = &game->pairs[index];
	struct partner partner = { .cpu = pair->partner };
	struct sizeup_arena *arena;
	pthread_t thread;
	int status = sizeup_cpu_pin(pair->cpu);

	if (status)
		return sizeup_job_refuse(game->job, status, "cannot run on CPU %d: %s", pair->cpu, strerror(-status));
	status = home_of(game, pair, &arena);
	if (status)
		return status;
	const uint64_t lines = arena->bytes / LINE_STEP_BYTES;
	const uint64_t line = sizeup_mix(game->rule->seed ^ (uint64_t)index << 32 ^ round) % lines;

	partner.ball = (struct ball *)((char *)arena->start + line * LINE_STEP_BYTES);
	partner.ball->turn = 0;
	sizeup_gate_init(&partner.gate, 2);
	status = -pthread_create(&thread, NULL, answer, &partner);
	if (status)
		return sizeup_job_refuse(game->job, status, "starting a thread failed: %s", strerror(-status));
	status = sizeup_gate_pass(&partner.gate, sizeup_job_stop_word(game->job));
	if (!status && partner.status)
		status = sizeup_job_refuse(game->job, partner.status, "cannot run on CPU %d: %s", pair->partner,
					   strerror(-partner.status));
	if (!status)
		status = play(game, index, partner.ball, values);
	__atomic_store_n(&partner.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return status;
}

int sizeup_handoff_run(struct sizeup_job *job, const struct sizeup_pair *pairs, uint32_t count,
		       const struct sizeup_stop_rule *rule)
{
	struct game *const game = calloc(1, sizeof(*game));
	const struct sizeup_interleave plan = {
		.job = job,
		.rule = rule,
		.points = count,
		.sides = 1,
		.replicate = replicate,
		.context = game,
	};
	int status = 0;

	if (!game)
		return -ENOMEM;
	game->job = job;
	game->pairs = pairs;
	game->rule = rule;
	sizeup_job_begin(job);
	for (uint32_t i = 0; !status && i < count; i++)
		if (pairs[i].cpu == pairs[i].partner)
			status = sizeup_job_refuse(job, -EINVAL, "CPU %d cannot be its own partner", pairs[i].cpu);
	if (!status)
		status = sizeup_interleave_run(&plan);
	sizeup_job_end(job, status);
	for (uint32_t i = 0; i <= NODE_ARENAS; i++)
		sizeup_arena_close(&game->arenas[i]);
	free(game);
	return status;
}
