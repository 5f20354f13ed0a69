/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_INTERLEAVE_H
#define SIZEUP_INTERLEAVE_H

#include "replicates.h"

/** struct sizeup_interleave - Points measured in turn, replicate by replicate, until the rule is met. */
struct sizeup_interleave {
	struct sizeup_job *job;
	const struct sizeup_stop_rule *rule;
	uint32_t points;
	uint32_t quantities; /* quantities a point; point i publishes estimates i * quantities and following */
	/* One replicate of @point into @values[@quantities]. Return: 0, -ECANCELED or negative with a reason. */
	int (*replicate)(void *context, uint32_t point, uint32_t round, struct sizeup_replicates *values);
	void *context;
};

/**
 * sizeup_interleave_run() - Go round the points until each has converged or the budget ends.
 *
 * The first round goes upwards, so that something shows at once; the later ones are in random
 * order, so that drift is no slope. An estimate is published after every replicate.
 * Return: 0 (converged or not), or what the replicate returned.
 */
int sizeup_interleave_run(const struct sizeup_interleave *plan);

#endif
