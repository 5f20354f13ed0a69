/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_TRAFFIC_H
#define SIZEUP_TRAFFIC_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

#define SIZEUP_ROLE_CHASE 0  /* dependent loads: measures the latency */
#define SIZEUP_ROLE_STREAM 1 /* sequential reads and writes: measures the bandwidth */
#define SIZEUP_MEMBERS 1024

/** struct sizeup_traffic_member - One thread with its own memory. */
struct sizeup_traffic_member {
	int32_t role;          /* SIZEUP_ROLE_* */
	int32_t cpu;
	uint32_t stride_bytes; /* of a chase: the cache line */
	struct sizeup_arena_spec memory;
};

/** struct sizeup_traffic_point - The load of the streams at one point. */
struct sizeup_traffic_point {
	uint32_t streams;       /* number of active streams, the first ones of the members */
	uint32_t delay_ns;      /* each stream waits this long after every 4 KiB */
	uint32_t write_percent; /* share of the 4 KiB blocks that is written; the others are read */
};

/**
 * sizeup_traffic_run() - Measure latency and bandwidth together, points interleaved.
 *
 * All members pin themselves, allocate, build their rings and warm up, then start together; a window in
 * which a member lacked its CPU is flagged. Point i has the estimates 2i (ns per load over all chasing
 * members; none without one) and 2i + 1 (bytes/s over all streams). The calling thread only observes.
 * Placements of the members' memory go to @placements[@count].
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_traffic_run(struct sizeup_job *job, const struct sizeup_traffic_member *members, uint32_t count,
		       const struct sizeup_traffic_point *points, uint32_t point_count,
		       const struct sizeup_stop_rule *rule, struct sizeup_placement *placements);

#endif
