/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_SHM_H
#define SIZEUP_SHM_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/**
 * sizeup_shm_fill() - Write the first @bytes of a file from @cpu, and query the placement of its pages.
 *
 * The pages of a tmpfs file are allocated on the node of the CPU that writes them first. The calling
 * thread is left pinned.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_shm_fill(struct sizeup_job *job, int32_t fd, uint64_t bytes, int32_t cpu,
		    struct sizeup_placement *placement);

/**
 * sizeup_shm_run() - Overwrite the file from each of @count CPUs in turn, as dd conv=notrunc does.
 *
 * A replicate is one pass over the whole file in writes of 1 MiB; each sample is the rate of 16 MiB in
 * bytes per second. The calling thread is left pinned.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_shm_run(struct sizeup_job *job, int32_t fd, uint64_t bytes, const int32_t *cpus, uint32_t count,
		   const struct sizeup_stop_rule *rule);

#endif
