/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/latency.h>

#include <sizeup/chase.h>
#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/permutation.h>

#include "job_internal.h"
#include "replicates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
/*
 * Small working sets take random pages from a pool of this size: populating it takes 10 to 40 ms, and it
 * holds enough pages that two replicates rarely have the same page colors.
 */
#define SMALL_SPAN_BYTES (4 * MIB)
#define SMALL_POOL_BYTES (32 * MIB)
#define KEPT_RING_BYTES (256 * MIB) /* linking takes 30 ns per line: longer than a replicate from here on */
#define CALIBRATION_NS 50000

struct run {
	struct sizeup_job *job;
	const struct sizeup_latency_point *points;
	uint32_t count;
	const struct sizeup_stop_rule *rule;
	struct sizeup_placement *placements;
	struct sizeup_arena arenas[SIZEUP_POINTS]; /* by the first point that uses it */
	void *positions[SIZEUP_POINTS];            /* in the ring of a point that has an arena of its own; NULL: none yet */
};

static int small(const struct sizeup_latency_point *point)
{
	return point->span_bytes <= SMALL_SPAN_BYTES;
}

/* Pages of a pool that the administrator reserved: they are scarce. */
static int reserved(const struct sizeup_latency_point *point)
{
	return point->pages == SIZEUP_PAGES_HUGE2M || point->pages == SIZEUP_PAGES_HUGE1G;
}

static int same_kind(const struct sizeup_latency_point *left, const struct sizeup_latency_point *right)
{
	return small(left) == small(right) && left->pages == right->pages && left->placement == right->placement &&
	       left->nodes == right->nodes;
}

/*
 * Whether a point is large, and at least twice as large as any other of its kind. Its arena is its own, so that its
 * ring can stay from one replicate to the next, each of which follows another part of it.
 */
static int alone(const struct run *run, uint32_t index)
{
	const struct sizeup_latency_point *const point = &run->points[index];

	if (point->span_bytes < KEPT_RING_BYTES || reserved(point))
		return 0;
	for (uint32_t i = 0; i < run->count; i++)
		if (i != index && same_kind(&run->points[i], point) && run->points[i].span_bytes > point->span_bytes / 2)
			return 0;
	return 1;
}

static int same_memory(const struct run *run, uint32_t left, uint32_t right)
{
	return left == right || (same_kind(&run->points[left], &run->points[right]) && !alone(run, left) &&
				 !alone(run, right));
}

/* The arena of @index, opened at first use: large enough for all points that share it. */
static int arena_for(struct run *run, uint32_t index, struct sizeup_arena **arena)
{
	const struct sizeup_latency_point *const point = &run->points[index];
	struct sizeup_arena_spec spec = {
		.pages = point->pages,
		.placement = point->placement,
		.nodes = point->nodes,
		.touch_cpu = point->touch_cpu,
	};
	uint32_t first = index;

	for (uint32_t i = run->count; i-- > 0;) {
		if (!same_memory(run, i, index))
			continue;
		first = i;
		if (run->points[i].span_bytes > spec.bytes)
			spec.bytes = run->points[i].span_bytes;
	}
	*arena = &run->arenas[first];
	if ((*arena)->start)
		return 0;
	if (!reserved(point) && (small(point) || spec.bytes < SMALL_POOL_BYTES))
		spec.bytes = SMALL_POOL_BYTES;
	return sizeup_arena_open(*arena, &spec, run->job);
}

static int warm_up(struct run *run, const struct sizeup_latency_point *point, void **position)
{
	const int64_t end_ns = sizeup_clock_now_ns() + run->rule->warm_up_ns;
	const uint64_t rounds = point->span_bytes / point->stride_bytes / SIZEUP_CHASE_LOADS + 1;
	const uint64_t slice = 64;

	for (uint64_t done = 0; done < 2 * rounds && sizeup_clock_now_ns() < end_ns; done += slice) {
		if (sizeup_job_canceled(run->job))
			return -ECANCELED;
		*position = sizeup_chase_follow(*position, slice);
	}
	return 0;
}

static int measure(struct run *run, uint32_t index, void **position, struct sizeup_replicates *replicates)
{
	struct sizeup_batches batches = {
		.run = sizeup_chase_ns,
		.context = position,
		.count = sizeup_batches_per_replicate(run->rule),
		.units = SIZEUP_CHASE_LOADS,
	};
	struct sizeup_watch watch;

	sizeup_batches_calibrate(&batches, 1, CALIBRATION_NS, run->rule->batch_ns);
	sizeup_watch_init(&watch, run->points[index].cpu, run->points[index].sibling);
	return sizeup_replicates_measure(replicates, &batches, &watch, index, run->job);
}

/* Link the ring of one replicate: new random pages where the pool is larger than the span, and a new cycle. */
static int link_ring(struct run *run, uint32_t index, uint32_t round, const struct sizeup_arena *arena, void **position)
{
	const struct sizeup_latency_point *const point = &run->points[index];
	const struct sizeup_ring ring = {
		.pool = arena->start,
		.pool_bytes = arena->bytes,
		.span_bytes = point->span_bytes,
		.page_bytes = arena->page_bytes,
		.stride_bytes = point->stride_bytes,
		.block_bytes = point->block_bytes,
		.seed = sizeup_mix(run->rule->seed ^ sizeup_mix((uint64_t)index << 32 | round)),
	};

	*position = sizeup_ring_link(&ring, sizeup_job_stop_word(run->job));
	if (*position)
		return 0;
	return sizeup_job_canceled(run->job) ? -ECANCELED :
		       sizeup_job_fail(run->job, -EINVAL, "a working set of %llu bytes does not fit pages of %llu bytes",
					 (unsigned long long)point->span_bytes, (unsigned long long)arena->page_bytes);
}

static int replicate(void *context, uint32_t index, uint32_t round, struct sizeup_replicates *values)
{
	struct run *const run = context;
	const struct sizeup_latency_point *const point = &run->points[index];
	struct sizeup_arena *arena;
	void *position = run->positions[index];
	int status = sizeup_job_pin(run->job, point->cpu);

	if (!status)
		status = arena_for(run, index, &arena);
	if (status)
		return status;
	run->placements[index] = arena->placement;
	if (!position)
		status = link_ring(run, index, round, arena, &position);
	if (!status)
		status = warm_up(run, point, &position);
	if (!status)
		status = measure(run, index, &position, values);
	/* Nothing else writes to this arena: the next replicate goes on where this one ended. */
	if (!status && alone(run, index) && arena->bytes == point->span_bytes)
		run->positions[index] = position;
	return status;
}

int sizeup_latency_run(struct sizeup_job *job, const struct sizeup_latency_point *points, uint32_t count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements,
		       struct sizeup_clock_rates *rates)
{
	struct run *const run = calloc(1, sizeof(*run));

	if (!run)
		return -ENOMEM;
	run->job = job;
	run->points = points;
	run->count = count;
	run->rule = rule;
	run->placements = placements;
	*rates = (struct sizeup_clock_rates){ .cpu = -1 };
	const int status = sizeup_interleave_run(job, rule, count, 1, replicate, run);

	if (!status)
		sizeup_clock_rates_measure(rates);
	for (uint32_t i = 0; i < count && i < SIZEUP_POINTS; i++)
		sizeup_arena_close(&run->arenas[i]);
	free(run);
	return status;
}
