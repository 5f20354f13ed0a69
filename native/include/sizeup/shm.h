/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_SHM_H
#define SIZEUP_SHM_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/**
 * sizeup_shm_fill() - Write the first @bytes of a file from @cpu, and ask where its pages are.
 *
 * The pages of a tmpfs file come from the node of the CPU that writes them first. The calling thread
 * is left pinned.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_shm_fill(struct sizeup_job *job, int32_t fd, uint64_t bytes, int32_t cpu,
		    struct sizeup_placement *placement);

/**
 * sizeup_shm_run() - Write the file over again from each of @count CPUs in turn, as dd conv=notrunc does.
 *
 * A replicate is one pass over the whole file in writes of 1 MiB; its samples are bytes a second of
 * 16 MiB each. The calling thread is left pinned.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_shm_run(struct sizeup_job *job, int32_t fd, uint64_t bytes, const int32_t *cpus, uint32_t count,
		   const struct sizeup_stop_rule *rule);

#endif
