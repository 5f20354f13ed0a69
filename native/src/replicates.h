/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_REPLICATES_H
#define SIZEUP_REPLICATES_H

#include <sizeup/batch.h>
#include <sizeup/job.h>
#include <sizeup/stop_rule.h>

/** struct sizeup_replicates - The data behind the estimate of one point. */
struct sizeup_replicates {
	double medians[SIZEUP_REPLICATES];
	uint32_t count;
	double *batches; /* undisturbed, of all replicates */
	uint32_t batch_count;
	uint32_t batch_capacity;
	uint32_t first;     /* index of the first batch of the current replicate */
	uint32_t disturbed;
};

/** sizeup_batches_per_replicate() - Return how many batches @rule asks of a replicate. */
uint32_t sizeup_batches_per_replicate(const struct sizeup_stop_rule *rule);

/**
 * sizeup_replicates_begin() - Begin a replicate of up to @batches batches; allocates outside any timed window.
 * Return: 0, or -ENOMEM with the reason in @job.
 */
int sizeup_replicates_begin(struct sizeup_replicates *replicates, uint32_t batches, struct sizeup_job *job);

/** sizeup_replicates_add() - Count one batch of the current replicate. */
void sizeup_replicates_add(struct sizeup_replicates *replicates, double value, uint32_t flags);

/** sizeup_replicates_end() - End the current replicate; one without an undisturbed batch does not count. */
void sizeup_replicates_end(struct sizeup_replicates *replicates);

/** struct sizeup_batches - The batches of a replicate, whose value is the time of each call, or a rate. */
struct sizeup_batches {
	int64_t (*run)(void *context, uint64_t calls); /* make them; return the ns that they took, or an error */
	void *context;
	uint32_t count;
	double units;     /* parts of a call whose time is the value */
	double *per_run;  /* NULL, or what each run writes: the value is then so much in a second */
	uint64_t calls;   /* of each batch */
};

/**
 * sizeup_batches_calibrate() - Set the calls of a batch of @batch_ns, at least @first.
 *
 * From the shortest of several trials of @least_ns: with one, an interrupt would make every batch too short.
 */
void sizeup_batches_calibrate(struct sizeup_batches *batches, uint64_t first, int64_t least_ns, int64_t batch_ns);

/**
 * sizeup_replicates_measure() - Measure a replicate of @point; @watch and the kernel's counters flag its batches.
 * Return: 0, -ECANCELED, or negative with the reason in @job.
 */
int sizeup_replicates_measure(struct sizeup_replicates *replicates, const struct sizeup_batches *batches,
			      struct sizeup_watch *watch, uint32_t point, struct sizeup_job *job);

/**
 * sizeup_replicates_estimate() - Compute the estimate so far, and whether it meets @rule.
 *
 * It can meet it only at a @look: see sizeup_planned_look().
 */
void sizeup_replicates_estimate(const struct sizeup_replicates *replicates, const struct sizeup_stop_rule *rule,
				int look, struct sizeup_estimate *estimate);

/** sizeup_replicates_free() - Free the batches. */
void sizeup_replicates_free(struct sizeup_replicates *replicates);

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
