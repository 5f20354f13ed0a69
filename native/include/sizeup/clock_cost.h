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
	int32_t cpu;       /* on which they were measured; -1 if they were not */
};

/** sizeup_clock_rates_measure() - Measure the clocks of the calling thread's core, for 2 ms each. */
void sizeup_clock_rates_measure(struct sizeup_clock_rates *rates);

/**
 * sizeup_clock_cost_run() - Nanoseconds per call of each of @methods[@count], replicates interleaved.
 *
 * Runs on the calling thread, which is left pinned to @cpu. Returns as sizeup_latency_run().
 * @rates: the frequencies of @cpu right after the measurement, when it is at the frequency that the calls ran at.
 */
int sizeup_clock_cost_run(struct sizeup_job *job, const uint32_t *methods, uint32_t count, int32_t cpu,
			  const struct sizeup_stop_rule *rule, struct sizeup_clock_rates *rates);

#endif
