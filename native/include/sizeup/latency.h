/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_LATENCY_H
#define SIZEUP_LATENCY_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/** struct sizeup_latency_point - One working set to be chased through. */
struct sizeup_latency_point {
	uint64_t span_bytes;
	uint32_t stride_bytes; /* one element each: the cache line */
	uint32_t block_bytes;  /* 0: random over the whole span; else all of one block before the next */
	int32_t cpu;           /* where the chase runs */
	int32_t sibling;       /* the other hardware thread of its core; -1: none */
	int32_t pages;         /* SIZEUP_PAGES_* */
	int32_t placement;     /* SIZEUP_PLACE_* */
	uint64_t nodes;        /* mask of os node ids */
	int32_t touch_cpu;     /* as in struct sizeup_arena_spec */
};

/**
 * sizeup_latency_run() - Chase through every point, replicates interleaved, until each has converged.
 *
 * Each replicate draws fresh pages and a fresh cycle. The first round goes upwards so that
 * something shows at once; later rounds are in random order. Runs on the calling thread, which is
 * left pinned. Samples and, after every replicate, estimates go to @job, placements of the arenas
 * to @placements[@count].
 * Return: 0 (converged or not), -ECANCELED, or negative with the reason in @job.
 */
int sizeup_latency_run(struct sizeup_job *job, const struct sizeup_latency_point *points, uint32_t count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements);

#endif
