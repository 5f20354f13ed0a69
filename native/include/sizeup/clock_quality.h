/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CLOCK_QUALITY_H
#define SIZEUP_CLOCK_QUALITY_H

#include <stdint.h>
#include <sizeup/job.h>

/** struct sizeup_clock_steps - How finely a clock moves, seen from one CPU. */
struct sizeup_clock_steps {
	uint64_t reads;
	int64_t resolution_ns;  /* what clock_getres says; -1: this method has none */
	uint64_t smallest_step; /* least difference that is not 0: ticks of a counter, else ns */
	uint64_t backwards;     /* reads below the one before */
};

/** struct sizeup_clock_order - What two CPUs see of each other's clock. */
struct sizeup_clock_order {
	uint64_t reads;           /* of both */
	uint64_t backwards;       /* reads below one that the other CPU had already published */
	uint64_t worst_backwards; /* ticks of a counter, else ns */
	double offset;            /* partner's clock less ours, same units */
	double offset_bound;      /* it cannot be known better: half of the shortest round trip */
};

/** sizeup_clock_is_counter() - Whether method @index counts ticks and not nanoseconds. */
int sizeup_clock_is_counter(uint32_t index);

/** sizeup_clock_can_read() - Whether method @index gives a value to compare. */
int sizeup_clock_can_read(uint32_t index);

/** sizeup_clock_steps_read() - Read method @index @reads times on this CPU. Return: 0 or -EINVAL. */
int sizeup_clock_steps_read(uint32_t index, uint64_t reads, struct sizeup_clock_steps *steps);

/**
 * sizeup_clock_order_run() - Read method @index on two CPUs, each against what the other published.
 *
 * Then exchange readings for the offset. Runs on the calling thread, which is left pinned to @cpu.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_clock_order_run(struct sizeup_job *job, uint32_t index, int32_t cpu, int32_t partner, uint64_t reads,
			   struct sizeup_clock_order *order);

/** sizeup_clock_vdso_has() - Whether the kernel's vDSO exports a clock_gettime; 0 without a vDSO. */
int sizeup_clock_vdso_has(void);

#endif
