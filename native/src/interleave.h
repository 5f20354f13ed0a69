/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_INTERLEAVE_H
#define SIZEUP_INTERLEAVE_H

#include "replicates.h"

/**
 * sizeup_replicate_function - Measure one replicate of @point into @values, one entry for each quantity.
 * Return: 0, -ECANCELED, or negative with the reason in the job.
 */
typedef int sizeup_replicate_function(void *context, uint32_t point, uint32_t round, struct sizeup_replicates *values);

/**
 * sizeup_interleave_run() - Measure points in rounds until each has converged or the budget ends.
 *
 * The first round is in ascending order, so that results appear early; later rounds are in random
 * order, so that drift does not look like a slope. Each replicate publishes estimates of its point's
 * quantities: point i has the estimates i * @quantities and following.
 * Return: 0 (converged or not), or what @replicate returned.
 */
int sizeup_interleave_run(struct sizeup_job *job, const struct sizeup_stop_rule *rule, uint32_t points,
			  uint32_t quantities, sizeup_replicate_function *replicate, void *context);

#endif
