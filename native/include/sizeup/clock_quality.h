/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CLOCK_QUALITY_H
#define SIZEUP_CLOCK_QUALITY_H

#include <stdint.h>
#include <sizeup/job.h>

/** struct sizeup_clock_steps - Resolution of a clock, read on one CPU. */
struct sizeup_clock_steps {
	uint64_t reads;
	int64_t resolution_ns;  /* by clock_getres; -1: none for this method */
	uint64_t smallest_step; /* smallest nonzero difference: ticks of a counter, else ns */
	uint64_t backwards;     /* reads below the previous one */
};

/** struct sizeup_clock_order - Order and offset of the clocks of two CPUs. */
struct sizeup_clock_order {
	uint64_t reads;           /* of both */
	uint64_t backwards;       /* reads below one that the other CPU had already published */
	uint64_t worst_backwards; /* ticks of a counter, else ns */
	double offset;            /* partner's clock minus this one, same units */
	double offset_bound;      /* uncertainty of the offset: half of the shortest round trip */
};

/** sizeup_clock_steps_read() - Read method @index @reads times on this CPU. Return: 0 or -EINVAL. */
int sizeup_clock_steps_read(uint32_t index, uint64_t reads, struct sizeup_clock_steps *steps);

/**
 * sizeup_clock_order_run() - Read method @index on two CPUs, each against the values the other published.
 *
 * Then measure the offset of the clocks by exchanging readings. Runs on the calling thread,
 * which is left pinned to @cpu.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_clock_order_run(struct sizeup_job *job, uint32_t index, int32_t cpu, int32_t partner, uint64_t reads,
			   struct sizeup_clock_order *order);

/** sizeup_clock_vdso_has() - Whether the kernel's vDSO exports a clock_gettime; 0 without a vDSO. */
int sizeup_clock_vdso_has(void);

#endif
