/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_REPLICATES_H
#define SIZEUP_REPLICATES_H

#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/** struct sizeup_replicates - What the estimate of one point is made from. */
struct sizeup_replicates {
	double medians[SIZEUP_REPLICATES];
	uint32_t count;
	double *batches; /* undisturbed, of all replicates */
	uint32_t batch_count;
	uint32_t batch_capacity;
	uint32_t fresh;     /* index of the first batch of the running replicate */
	uint32_t disturbed;
};

/** sizeup_replicates_reserve() - Allocate space for @batches more, outside any timed window. Return: 0 or -ENOMEM. */
int sizeup_replicates_reserve(struct sizeup_replicates *replicates, uint32_t batches);

/** sizeup_replicates_add() - Count one batch of the running replicate. */
void sizeup_replicates_add(struct sizeup_replicates *replicates, double value, uint32_t flags);

/** sizeup_replicates_close() - End the running replicate; one without an undisturbed batch does not count. */
void sizeup_replicates_close(struct sizeup_replicates *replicates);

/** sizeup_replicates_estimate() - Say what is known, and whether @rule is met. */
void sizeup_replicates_estimate(const struct sizeup_replicates *replicates, const struct sizeup_stop_rule *rule,
				struct sizeup_estimate *estimate);

/** sizeup_replicates_free() - Give the batches back. */
void sizeup_replicates_free(struct sizeup_replicates *replicates);

#endif
