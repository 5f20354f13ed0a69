/* SPDX-License-Identifier: Apache-2.0 */
#include "replicates.h"

#include <sizeup/clock.h>
#include <sizeup/stats.h>

#include "job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALIBRATIONS 3

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

/* Count the batches that @watch holds, flagged by the kernel's counters, and push them to @job. */
static void take(struct sizeup_replicates *replicates, struct sizeup_watch *watch, struct sizeup_job *job)
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

void sizeup_batches_calibrate(struct sizeup_batches *batches, uint64_t first, int64_t least_ns, int64_t batch_ns)
{
	uint64_t calls = first;
	int64_t shortest_ns;

	while ((shortest_ns = batches->run(batches->context, calls)) < least_ns)
		calls *= 2;
	for (int trial = 1; trial < CALIBRATIONS; trial++) {
		const int64_t ns = batches->run(batches->context, calls);

		shortest_ns = ns < shortest_ns ? ns : shortest_ns;
	}
	const uint64_t needed = (uint64_t)((double)calls * (double)batch_ns / (double)(shortest_ns ? shortest_ns : 1));

	batches->calls = needed > first ? needed : first;
}

int sizeup_replicates_measure(struct sizeup_replicates *replicates, const struct sizeup_batches *batches,
			      struct sizeup_watch *watch, uint32_t point, struct sizeup_job *job)
{
	const int status = sizeup_replicates_begin(replicates, batches->count, job);

	if (status)
		return status;
	for (uint32_t batch = 0; batch < batches->count && !sizeup_job_canceled(job); batch++) {
		sizeup_watch_start(watch);
		const int64_t wall_ns = batches->run(batches->context, batches->calls);

		if (wall_ns < 0)
			return (int)wall_ns;
		const struct sizeup_sample sample = {
			.t_ns = sizeup_clock_now_ns(),
			.value = batches->per_run ? *batches->per_run * 1e9 / (double)(wall_ns ? wall_ns : 1) :
						    (double)wall_ns / ((double)batches->calls * batches->units),
			.point = point,
			.flags = sizeup_watch_flags(watch, wall_ns),
		};

		if (sizeup_watch_add(watch, &sample))
			take(replicates, watch, job);
	}
	take(replicates, watch, job);
	sizeup_replicates_end(replicates);
	return sizeup_job_canceled(job) ? -ECANCELED : 0;
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
