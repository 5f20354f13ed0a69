/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_JOB_H
#define SIZEUP_JOB_H

#include <stdint.h>

/* Why a sample is recorded but excluded from the estimate; the values of sizeup.model.sample.Disturbance. */
#define SIZEUP_DISTURBED_PREEMPTED 1
#define SIZEUP_DISTURBED_MIGRATED 2
#define SIZEUP_DISTURBED_STOLEN 4
#define SIZEUP_DISTURBED_SIBLING_BUSY 8
#define SIZEUP_DISTURBED_LATE 16
#define SIZEUP_DISTURBED_OTHER 32
#define SIZEUP_DISTURBED_WARMUP 64

/** struct sizeup_sample - One measured value. */
struct sizeup_sample {
	int64_t t_ns;       /* CLOCK_MONOTONIC_RAW at the end of the measurement */
	double value;       /* in the unit of the point's series */
	uint32_t point;     /* index into the points of the job */
	uint32_t flags;     /* SIZEUP_DISTURBED_* */
};

#define SIZEUP_POINTS 1024 /* most points of one job */

/** struct sizeup_estimate - Statistics of the undisturbed batches of a point so far. */
struct sizeup_estimate {
	double median;          /* over replicate medians */
	double low;             /* 95 % interval over replicates; equal to the median with one */
	double high;
	double minimum;         /* over batches */
	double p10;
	double p90;
	double disturbed_share; /* of batches; 0 to 1 */
	uint32_t replicates;
	int32_t converged;      /* 1: the interval met the target */
	int32_t finished;       /* 1: no further replicate follows */
};

/**
 * struct sizeup_job - State shared by a native job and the thread that observes it.
 *
 * One thread produces samples and another one drains them; any thread may cancel.
 */
struct sizeup_job;

/**
 * sizeup_job_new() - Create an idle job with an empty ring buffer of 8192 samples.
 * Return: the job, or NULL if out of memory.
 */
struct sizeup_job *sizeup_job_new(void);

/** sizeup_job_free() - Free a job in which nothing runs. */
void sizeup_job_free(struct sizeup_job *job);

/** sizeup_job_cancel() - Request that the job ends: one relaxed store, safe from any thread. */
void sizeup_job_cancel(struct sizeup_job *job);

/** sizeup_job_canceled() - Whether the job was canceled. */
int sizeup_job_canceled(const struct sizeup_job *job);

/** sizeup_job_set_progress() - Publish the progress, 0 to 1. */
void sizeup_job_set_progress(struct sizeup_job *job, double done);

/** sizeup_job_progress() - Return the progress, 0 to 1. */
double sizeup_job_progress(const struct sizeup_job *job);

/** sizeup_job_push() - Append a sample; it counts as dropped when the ring buffer is full. */
void sizeup_job_push(struct sizeup_job *job, const struct sizeup_sample *sample);

/**
 * sizeup_job_drain() - Take up to @capacity of the oldest samples.
 * Return: the number of samples written to @samples.
 */
uint32_t sizeup_job_drain(struct sizeup_job *job, struct sizeup_sample *samples, uint32_t capacity);

/** sizeup_job_publish() - Replace the estimate of @point, below SIZEUP_POINTS; never in a timed window. */
void sizeup_job_publish(struct sizeup_job *job, uint32_t point, const struct sizeup_estimate *estimate);

/** sizeup_job_estimate() - Copy the last published estimate of @point; all zero before the first. */
void sizeup_job_estimate(struct sizeup_job *job, uint32_t point, struct sizeup_estimate *estimate);

/** sizeup_job_dropped() - Return the number of samples lost because the ring buffer was full. */
uint64_t sizeup_job_dropped(const struct sizeup_job *job);

/** sizeup_job_reason() - Return why the job failed, as text; empty if it did not. */
const char *sizeup_job_reason(const struct sizeup_job *job);

#endif
