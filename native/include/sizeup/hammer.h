/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_HAMMER_H
#define SIZEUP_HAMMER_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>

#define SIZEUP_HAMMER_PAGE 4096 /* the original's page, whatever the machine's */
#define SIZEUP_HAMMERS 1024

/** struct sizeup_hammer_result - Result of one process. */
struct sizeup_hammer_result {
	uint64_t ops;         /* random stores */
	int64_t start_ns;     /* CLOCK_MONOTONIC_RAW */
	int64_t end_ns;
	int64_t wall_us;      /* by gettimeofday, as the original */
	int64_t cpu_ns;       /* below the wall time if the CPU was shared */
	int32_t cpu;          /* the CPU at the end */
	int32_t status;       /* 0, or why it could not run */
	char reason[192];
};

/**
 * sizeup_hammer_run() - Random independent stores by @count processes bound to @cpus, started together.
 *
 * Each process owns @pages pages of 4 KiB and makes @pages times @loops stores, each into a random
 * line. They are processes, as in the original, so that nothing is shared but memory itself. A sample
 * (ns an op, point its index) is pushed for each.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_hammer_run(struct sizeup_job *job, uint64_t pages, uint64_t loops, const int32_t *cpus, uint32_t count,
		      const struct sizeup_arena_spec *memory, struct sizeup_hammer_result *results);

#endif
