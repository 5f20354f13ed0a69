/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CLOCK_COST_H
#define SIZEUP_CLOCK_COST_H

#include <stdint.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/** struct sizeup_clock_rates - Frequencies that convert nanoseconds into cycles and ticks. */
struct sizeup_clock_rates {
	double core_hz;    /* measured by a chain of dependent additions, one a cycle */
	double counter_hz; /* of the time stamp counter, measured; Arm: cntfrq_el0 */
};

/** sizeup_clock_method_name() - The name of method @index, or NULL beyond the last that exists here. */
const char *sizeup_clock_method_name(uint32_t index);

/** sizeup_clock_rates_measure() - Measure the clocks of the calling thread's core, for 2 ms each. */
void sizeup_clock_rates_measure(struct sizeup_clock_rates *rates);

/**
 * sizeup_clock_cost_run() - Nanoseconds per call of each of @methods[@count], replicates interleaved.
 *
 * Runs on the calling thread, which is left pinned to @cpu. Returns as sizeup_latency_run().
 */
int sizeup_clock_cost_run(struct sizeup_job *job, const uint32_t *methods, uint32_t count, int32_t cpu,
			  const struct sizeup_stop_rule *rule);

#endif
