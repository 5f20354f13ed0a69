/* SPDX-License-Identifier: Apache-2.0 */
#include "replicates.h"

#include <sizeup/clock.h>
#include <sizeup/permutation.h>

#include "job_internal.h"

#include <errno.h>
#include <stdlib.h>

struct plan {
	struct sizeup_job *job;
	const struct sizeup_stop_rule *rule;
	uint32_t points;
	uint32_t quantities;
	sizeup_replicate_function *replicate;
	void *context;
};

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
static int publish(const struct plan *plan, uint32_t point, const struct sizeup_replicates *values,
		   uint32_t round, int last)
{
	/* By rounds: quantities of a point may differ in their replicates, where one was disturbed throughout. */
	const int look = last || sizeup_planned_look(round + 1, plan->rule->replicates_min);
	int finished = 1;

	for (uint32_t quantity = 0; quantity < plan->quantities; quantity++) {
		struct sizeup_estimate estimate;

		if (!values[quantity].count && !values[quantity].disturbed)
			continue;
		sizeup_replicates_estimate(&values[quantity], plan->rule, look, &estimate);
		estimate.finished = estimate.converged || last;
		finished = finished && estimate.finished;
		sizeup_job_publish(plan->job, point * plan->quantities + quantity, &estimate);
	}
	return finished;
}

static int run_rounds(const struct plan *plan, struct sizeup_replicates *values)
{
	const int64_t start_ns = sizeup_clock_now_ns();
	uint8_t finished[SIZEUP_POINTS] = { 0 };
	uint32_t open = plan->points;

	for (uint32_t round = 0; open; round++) {
		struct sizeup_permutation order;

		open = 0;
		sizeup_permutation_init(&order, plan->points, sizeup_mix(plan->rule->seed ^ round));
		for (uint32_t turn = 0; turn < plan->points; turn++) {
			const uint32_t point = round ? (uint32_t)sizeup_permutation_at(&order, turn) : turn;

			if (finished[point])
				continue;
			const int status = plan->replicate(plan->context, point, round, &values[point * plan->quantities]);

			if (status)
				return status;
			const int over = round + 1 >= plan->rule->replicates_min &&
					 sizeup_clock_now_ns() - start_ns > plan->rule->budget_ns;
			const int last = over || round + 1 >= plan->rule->replicates_max;

			finished[point] = (uint8_t)publish(plan, point, &values[point * plan->quantities], round, last);
			open += !finished[point];
			sizeup_job_set_progress(plan->job, (round + (turn + 1.0) / plan->points) /
								   (plan->rule->replicates_min + 1.0));
		}
	}
	return 0;
}

int sizeup_interleave_run(struct sizeup_job *job, const struct sizeup_stop_rule *rule, uint32_t points,
			  uint32_t quantities, sizeup_replicate_function *replicate, void *context)
{
	const struct plan plan = { job, rule, points, quantities, replicate, context };

	if (points == 0 || points * quantities > SIZEUP_POINTS)
		return sizeup_job_fail(job, -EINVAL, "expected 1 to %u points, found %u", SIZEUP_POINTS / quantities, points);
	if (rule->replicates_min == 0 || rule->replicates_max < rule->replicates_min ||
	    rule->replicates_max > SIZEUP_REPLICATES || rule->batch_ns <= 0 || rule->replicate_ns < rule->batch_ns)
		return sizeup_job_fail(job, -EINVAL, "expected 1 <= replicates <= replicates_max <= %d and a batch no longer than a replicate",
				       SIZEUP_REPLICATES);
	const uint32_t count = points * quantities;
	struct sizeup_replicates *const values = calloc(count, sizeof(*values));

	if (!values)
		return -ENOMEM;
	const int status = run_rounds(&plan, values);

	for (uint32_t i = 0; i < count; i++)
		sizeup_replicates_free(&values[i]);
	free(values);
	return status;
}
