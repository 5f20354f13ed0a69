/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_TRAFFIC_H
#define SIZEUP_TRAFFIC_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

#define SIZEUP_ROLE_CHASE 0  /* dependent loads: gives the latency */
#define SIZEUP_ROLE_STREAM 1 /* reads and writes in order: gives the bandwidth */
#define SIZEUP_MEMBERS 1024

/** struct sizeup_traffic_member - One thread with memory of its own. */
struct sizeup_traffic_member {
	int32_t role;          /* SIZEUP_ROLE_* */
	int32_t cpu;
	uint32_t stride_bytes; /* of a chase: the cache line */
	struct sizeup_arena_spec memory;
};

/** struct sizeup_traffic_point - What the streams do while one point is measured. */
struct sizeup_traffic_point {
	uint32_t streams;       /* how many of the streaming members take part, in their order */
	uint32_t delay_ns;      /* each waits this long after every 4 KiB */
	uint32_t write_percent; /* share of the 4 KiB blocks that is written; the others are read */
};

/**
 * sizeup_traffic_run() - Measure latency and bandwidth together, points interleaved.
 *
 * All members pin, populate, build and warm up, then start at once; only windows in which all of
 * them ran are counted. Point i gives samples and estimates as 2i (ns a load over all chasing
 * members; none without one) and 2i + 1 (bytes/s over all streams). The calling thread only
 * watches. Placements of the members' memory go to @placements[@count].
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_traffic_run(struct sizeup_job *job, const struct sizeup_traffic_member *members, uint32_t count,
		       const struct sizeup_traffic_point *points, uint32_t point_count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements);

#endif
