/* SPDX-License-Identifier: Apache-2.0 */
#include "replicates.h"

#include <sizeup/stats.h>

#include "job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t sizeup_batches_per_replicate(const struct sizeup_stop_rule *rule)
{
	return (uint32_t)(rule->replicate_ns / rule->batch_ns) + 1;
}

int sizeup_replicates_begin(struct sizeup_replicates *replicates, uint32_t batches, struct sizeup_job *job)
{
	const uint32_t needed = replicates->batch_count + batches;

	if (needed <= replicates->batch_capacity)
		return 0;
	double *const larger = realloc(replicates->batches, 2 * (size_t)needed * sizeof(*larger));

	if (!larger)
		return sizeup_job_fail(job, -ENOMEM, "no memory for %u batches", batches);
	replicates->batches = larger;
	replicates->batch_capacity = 2 * needed;
	return 0;
}

void sizeup_replicates_add(struct sizeup_replicates *replicates, double value, uint32_t flags)
{
	if (flags)
		replicates->disturbed++;
	else if (replicates->batch_count < replicates->batch_capacity)
		replicates->batches[replicates->batch_count++] = value;
}

void sizeup_replicates_record(struct sizeup_replicates *replicates, const struct sizeup_sample *sample,
			      struct sizeup_job *job)
{
	sizeup_replicates_add(replicates, sample->value, sample->flags);
	sizeup_job_push(job, sample);
}

void sizeup_replicates_take(struct sizeup_replicates *replicates, struct sizeup_watch *watch, struct sizeup_job *job)
{
	const uint32_t count = watch->count;

	if (!count)
		return;
	sizeup_watch_flush(watch, job);
	for (uint32_t i = 0; i < count; i++)
		sizeup_replicates_add(replicates, watch->group[i].value, watch->group[i].flags);
}

void sizeup_replicates_end(struct sizeup_replicates *replicates)
{
	const uint32_t batches = replicates->batch_count - replicates->first;
	double *const current = replicates->batches + replicates->first;

	replicates->first = replicates->batch_count;
	if (batches == 0 || replicates->count == SIZEUP_REPLICATES)
		return;
	sizeup_sort(current, batches);
	replicates->medians[replicates->count++] = sizeup_quantile(current, batches, 0.5);
}

void sizeup_replicates_estimate(const struct sizeup_replicates *replicates, const struct sizeup_stop_rule *rule,
				int look, struct sizeup_estimate *estimate)
{
	double medians[SIZEUP_REPLICATES];
	struct sizeup_interval interval;

	memset(estimate, 0, sizeof(*estimate));
	estimate->replicates = replicates->count;
	if (replicates->batch_count + replicates->disturbed)
		estimate->disturbed_share = (double)replicates->disturbed /
					    (replicates->batch_count + replicates->disturbed);
	if (!replicates->count)
		return;
	memcpy(medians, replicates->medians, replicates->count * sizeof(*medians));
	sizeup_sort(medians, replicates->count);
	estimate->median = sizeup_quantile(medians, replicates->count, 0.5);
	estimate->low = estimate->median;
	estimate->high = estimate->median;
	if (!sizeup_interval_of_median(medians, replicates->count, &interval)) {
		estimate->low = interval.low;
		estimate->high = interval.high;
		/* A time or a rate is not negative: what few values leave possible below 0 is not. */
		if (medians[0] >= 0 && estimate->low < 0)
			estimate->low = 0;
		estimate->converged = look && replicates->count >= rule->replicates_min &&
				      interval.high - interval.low <= 2 * rule->target * estimate->median;
	}
	double *const sorted = malloc(replicates->batch_count * sizeof(*sorted));

	if (!sorted)
		return;
	memcpy(sorted, replicates->batches, replicates->batch_count * sizeof(*sorted));
	sizeup_sort(sorted, replicates->batch_count);
	estimate->minimum = sorted[0];
	estimate->p10 = sizeup_quantile(sorted, replicates->batch_count, 0.1);
	estimate->p90 = sizeup_quantile(sorted, replicates->batch_count, 0.9);
	free(sorted);
}

void sizeup_replicates_free(struct sizeup_replicates *replicates)
{
	free(replicates->batches);
	memset(replicates, 0, sizeof(*replicates));
}
