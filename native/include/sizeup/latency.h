/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_LATENCY_H
#define SIZEUP_LATENCY_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/clock_cost.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/** struct sizeup_latency_point - One working set to chase pointers in. */
struct sizeup_latency_point {
	uint64_t span_bytes;
	uint32_t stride_bytes; /* distance of elements: the cache line */
	uint32_t block_bytes;  /* 0: random over the whole span; else all of one block before the next */
	int32_t cpu;           /* the CPU that follows the pointers */
	int32_t sibling;       /* the other hardware thread of its core; -1: none */
	int32_t pages;         /* SIZEUP_PAGES_* */
	int32_t placement;     /* SIZEUP_PLACE_* */
	uint64_t nodes;        /* mask of os node ids */
	int32_t touch_cpu;     /* as in struct sizeup_arena_spec */
};

/**
 * sizeup_latency_run() - Measure the latency of every point, replicates interleaved, until each has converged.
 *
 * Each replicate uses new random pages and a new random cycle; one of a large working set, at least twice any other,
 * goes on in the cycle of the one before. Runs on the calling thread, which is left
 * pinned. Samples and, after every replicate, estimates go to @job, placements of the arenas to
 * @placements[@count], and the clocks of the last core right after the measurement to @rates. For the order of the replicates see sizeup_interleave_run().
 * Return: 0 (converged or not), -ECANCELED, or negative with the reason in @job.
 */
int sizeup_latency_run(struct sizeup_job *job, const struct sizeup_latency_point *points, uint32_t count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements,
		       struct sizeup_clock_rates *rates);

#endif
