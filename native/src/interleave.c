/* SPDX-License-Identifier: Apache-2.0 */
#include "replicates.h"

#include <sizeup/clock.h>
#include <sizeup/permutation.h>

#include "job_internal.h"

#include <errno.h>
#include <stdlib.h>

int sizeup_planned_look(uint32_t count, uint32_t minimum)
{
	uint32_t look = 6;

	if (count <= look)
		return count >= minimum;
	while (look < count)
		look += (look + 1) / 2;
	return count == minimum || (count > minimum && count == look);
}

/* Return whether all quantities of the point are finished; one that was never measured counts as finished. */
static int publish(struct sizeup_job *job, const struct sizeup_stop_rule *rule, uint32_t quantities, uint32_t point,
		   const struct sizeup_replicates *values, uint32_t round, int last)
{
	/* By rounds: quantities of a point may differ in their replicates, where one was disturbed throughout. */
	const int look = last || sizeup_planned_look(round + 1, rule->replicates_min);
	int finished = 1;

	for (uint32_t quantity = 0; quantity < quantities; quantity++) {
		struct sizeup_estimate estimate;

		if (!values[quantity].count && !values[quantity].disturbed)
			continue;
		sizeup_replicates_estimate(&values[quantity], rule, look, &estimate);
		estimate.finished = estimate.converged || last;
		finished = finished && estimate.finished;
		sizeup_job_publish(job, point * quantities + quantity, &estimate);
	}
	return finished;
}

int sizeup_interleave_run(struct sizeup_job *job, const struct sizeup_stop_rule *rule, uint32_t points,
			  uint32_t quantities, sizeup_replicate_function *replicate, void *context)
{
	if (points == 0 || points * quantities > SIZEUP_POINTS)
		return sizeup_job_fail(job, -EINVAL, "expected 1 to %u points, found %u", SIZEUP_POINTS / quantities, points);
	if (rule->replicates_min == 0 || rule->replicates_max < rule->replicates_min ||
	    rule->replicates_max > SIZEUP_REPLICATES || rule->batch_ns <= 0 || rule->replicate_ns < rule->batch_ns)
		return sizeup_job_fail(job, -EINVAL, "expected 1 <= replicates <= replicates_max <= %d and a batch no longer than a replicate",
				       SIZEUP_REPLICATES);
	const uint32_t count = points * quantities;
	struct sizeup_replicates *const values = calloc(count, sizeof(*values));
	const int64_t start_ns = sizeup_clock_now_ns();
	uint8_t finished[SIZEUP_POINTS] = { 0 };
	uint32_t open = points;
	int status = values ? 0 : -ENOMEM;

	for (uint32_t round = 0; open && !status; round++) {
		struct sizeup_permutation order;

		open = 0;
		sizeup_permutation_init(&order, points, sizeup_mix(rule->seed ^ round));
		for (uint32_t turn = 0; turn < points && !status; turn++) {
			const uint32_t point = round ? (uint32_t)sizeup_permutation_at(&order, turn) : turn;
			struct sizeup_replicates *const of_point = &values[(size_t)point * quantities];

			if (!finished[point])
				status = replicate(context, point, round, of_point);
			if (finished[point] || status)
				continue;
			const int over = round + 1 >= rule->replicates_min && sizeup_clock_now_ns() - start_ns > rule->budget_ns;
			const int last = over || round + 1 >= rule->replicates_max;

			finished[point] = (uint8_t)publish(job, rule, quantities, point, of_point, round, last);
			open += !finished[point];
			sizeup_job_set_progress(job, (round + (turn + 1.0) / points) / (rule->replicates_min + 1.0));
		}
	}
	for (uint32_t i = 0; values && i < count; i++)
		sizeup_replicates_free(&values[i]);
	free(values);
	return status;
}
