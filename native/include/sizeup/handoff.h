/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_HANDOFF_H
#define SIZEUP_HANDOFF_H

#include <stdint.h>
#include <sizeup/arena.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/** struct sizeup_pair - Two CPUs that transfer one cache line back and forth. */
struct sizeup_pair {
	int32_t cpu;
	int32_t partner;
	uint64_t home; /* mask of the one node whose memory holds the line; 0: any node */
};

/**
 * sizeup_handoff_run() - Measure the transfer of a cache line between CPUs in nanoseconds, pairs interleaved.
 *
 * The figure is half a round trip. Each replicate uses a new line, because the home of a line affects
 * its route. A sample is a batch of about 0.2 ms, so that a hypervisor that migrates CPUs shows as two modes.
 * A batch is disturbed if either thread lost its CPU for a part of it.
 * Runs on the calling thread, which is left pinned, and one more thread per replicate.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_handoff_run(struct sizeup_job *job, const struct sizeup_pair *pairs, uint32_t count,
		       const struct sizeup_stop_rule *rule);

#endif
