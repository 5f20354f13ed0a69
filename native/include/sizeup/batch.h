/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_BATCH_H
#define SIZEUP_BATCH_H

#include <stdint.h>
#include <sizeup/cpu.h>
#include <sizeup/job.h>

#define SIZEUP_BATCH_GROUP 16

/**
 * struct sizeup_watch - Tells whether the calling thread had its CPU to itself.
 *
 * Batches are collected in small groups: what one batch shows by itself (preemption, migration,
 * more wall than CPU time) is read around it, outside the timed window; what the kernel counts in
 * ticks (steal, a busy sibling) is read once a group and marks all of it.
 */
struct sizeup_watch {
	int32_t cpu;
	int32_t sibling;  /* -1: none */
	struct sizeup_usage usage;
	struct sizeup_cpu_time own_time;
	struct sizeup_cpu_time sibling_time;
	int64_t group_start_ns;
	uint32_t count;
	struct sizeup_sample group[16];
};

/** sizeup_watch_init() - Begin to watch the calling thread, which is pinned to @cpu. */
void sizeup_watch_init(struct sizeup_watch *watch, int32_t cpu, int32_t sibling);

/** sizeup_watch_start() - Read the thread's account just before a timed window. */
void sizeup_watch_start(struct sizeup_watch *watch);

/** sizeup_watch_flags() - SIZEUP_DISTURBED_* for a window of @wall_ns since sizeup_watch_start(). */
uint32_t sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns);

/**
 * sizeup_watch_add() - Keep a batch until its group is complete.
 * Return: 1 when the group is full and wants sizeup_watch_flush().
 */
int sizeup_watch_add(struct sizeup_watch *watch, const struct sizeup_sample *sample);

/** sizeup_watch_flush() - Mark the group with what the kernel counted, and push it to @job. */
void sizeup_watch_flush(struct sizeup_watch *watch, struct sizeup_job *job);

#endif
