/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_BATCH_H
#define SIZEUP_BATCH_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <sizeup/cpu.h>
#include <sizeup/job.h>

#define SIZEUP_BATCH_GROUP 16
#define SIZEUP_BATCH_GROUP_SHORT 64 /* of batches well below 1 ms: /proc/stat takes long to read on many CPUs */

/**
 * struct sizeup_watch - Detects whether anything disturbed the calling thread, and a thread that works with it.
 *
 * Preemption, migration and wall time beyond CPU time are checked around each batch, outside the
 * timed window; of a partner, wall time beyond CPU time alone. Steal time and a busy sibling, which the
 * kernel counts in ticks, are checked once per group of batches and flag the whole group.
 */
struct sizeup_watch {
	int32_t cpu;
	int32_t sibling;  /* -1: none */
	int32_t partner;  /* CPU of the thread that takes part in each batch; -1: none */
	clockid_t partner_clock;
	int64_t partner_ns;
	uint32_t group_size; /* SIZEUP_BATCH_GROUP unless changed after sizeup_watch_init() */
	struct sizeup_usage usage;
	struct sizeup_cpu_time own_time;
	struct sizeup_cpu_time sibling_time;
	struct sizeup_cpu_time partner_time;
	int64_t group_start_ns;
	uint32_t count;
	struct sizeup_sample group[SIZEUP_BATCH_GROUP_SHORT];
};

/** sizeup_watch_init() - Start watching the calling thread, which is pinned to @cpu. */
void sizeup_watch_init(struct sizeup_watch *watch, int32_t cpu, int32_t sibling);

/** sizeup_watch_partner() - Also watch @thread, which is pinned to @cpu and busy in each batch. */
void sizeup_watch_partner(struct sizeup_watch *watch, int32_t cpu, pthread_t thread);

/** sizeup_watch_start() - Read the thread's counters just before a timed window. */
void sizeup_watch_start(struct sizeup_watch *watch);

/** sizeup_watch_flags() - SIZEUP_DISTURBED_* for a window of @wall_ns since sizeup_watch_start(). */
uint32_t sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns);

/**
 * sizeup_watch_add() - Hold a batch until its group is complete.
 * Return: 1 when the group is full and sizeup_watch_flush() must follow.
 */
int sizeup_watch_add(struct sizeup_watch *watch, const struct sizeup_sample *sample);

/** sizeup_watch_flush() - Flag the group by the kernel's counters, and push it to @job. */
void sizeup_watch_flush(struct sizeup_watch *watch, struct sizeup_job *job);

#endif
