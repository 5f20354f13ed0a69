/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/cpu.h>
#include <sizeup/job.h>

#include "job_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_SLOTS 8192u /* a power of two: holds 8 s of 1 ms batches if the reader stalls */

struct sizeup_job {
	uint32_t cancel;
	uint64_t progress_ppm;
	char reason[512];
	pthread_mutex_t lock; /* of reason and estimates; never taken in a timed window */
	struct sizeup_estimate estimates[SIZEUP_POINTS];
	/* Producer and consumer write to separate cache lines. */
	_Alignas(64) uint64_t head;
	uint64_t dropped;
	_Alignas(64) uint64_t tail;
	_Alignas(64) struct sizeup_sample ring[RING_SLOTS];
};

struct sizeup_job *sizeup_job_new(void)
{
	struct sizeup_job *job = aligned_alloc(64, sizeof(*job));

	if (!job)
		return NULL;
	memset(job, 0, sizeof(*job)); /* page faults happen here, not during a measurement */
	pthread_mutex_init(&job->lock, NULL);
	return job;
}

void sizeup_job_free(struct sizeup_job *job)
{
	pthread_mutex_destroy(&job->lock);
	free(job);
}

void sizeup_job_cancel(struct sizeup_job *job)
{
	__atomic_store_n(&job->cancel, 1, __ATOMIC_RELAXED);
}

int sizeup_job_canceled(const struct sizeup_job *job)
{
	return (int)__atomic_load_n(&job->cancel, __ATOMIC_RELAXED);
}

const uint32_t *sizeup_job_stop_word(const struct sizeup_job *job)
{
	return &job->cancel;
}

void sizeup_job_set_progress(struct sizeup_job *job, double done)
{
	__atomic_store_n(&job->progress_ppm, (uint64_t)(done * 1e6), __ATOMIC_RELAXED);
}

double sizeup_job_progress(const struct sizeup_job *job)
{
	return (double)__atomic_load_n(&job->progress_ppm, __ATOMIC_RELAXED) / 1e6;
}

void sizeup_job_push(struct sizeup_job *job, const struct sizeup_sample *sample)
{
	const uint64_t tail = __atomic_load_n(&job->tail, __ATOMIC_ACQUIRE);

	if (job->head - tail == RING_SLOTS) {
		__atomic_store_n(&job->dropped, job->dropped + 1, __ATOMIC_RELAXED);
		return;
	}
	job->ring[job->head % RING_SLOTS] = *sample;
	__atomic_store_n(&job->head, job->head + 1, __ATOMIC_RELEASE);
}

uint32_t sizeup_job_drain(struct sizeup_job *job, struct sizeup_sample *samples, uint32_t capacity)
{
	const uint64_t head = __atomic_load_n(&job->head, __ATOMIC_ACQUIRE);
	uint32_t count = 0;

	for (; count < capacity && job->tail + count < head; count++)
		samples[count] = job->ring[(job->tail + count) % RING_SLOTS];
	__atomic_store_n(&job->tail, job->tail + count, __ATOMIC_RELEASE);
	return count;
}

void sizeup_job_publish(struct sizeup_job *job, uint32_t point, const struct sizeup_estimate *estimate)
{
	pthread_mutex_lock(&job->lock);
	job->estimates[point] = *estimate;
	pthread_mutex_unlock(&job->lock);
}

void sizeup_job_estimate(struct sizeup_job *job, uint32_t point, struct sizeup_estimate *estimate)
{
	pthread_mutex_lock(&job->lock);
	*estimate = job->estimates[point];
	pthread_mutex_unlock(&job->lock);
}

uint64_t sizeup_job_dropped(const struct sizeup_job *job)
{
	return __atomic_load_n(&job->dropped, __ATOMIC_RELAXED);
}

const char *sizeup_job_reason(const struct sizeup_job *job)
{
	return job->reason;
}

int sizeup_job_fail(struct sizeup_job *job, int status, const char *format, ...)
{
	va_list arguments;

	pthread_mutex_lock(&job->lock);
	if (job->reason[0] == '\0') { /* later failures follow from the first one */
		va_start(arguments, format);
		vsnprintf(job->reason, sizeof(job->reason), format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
		va_end(arguments);
	}
	pthread_mutex_unlock(&job->lock);
	return status;
}

int sizeup_job_pin(struct sizeup_job *job, int32_t cpu)
{
	const int status = sizeup_cpu_pin(cpu);

	char why[192];

	if (!status)
		return 0;
	sizeup_cpu_explain(SIZEUP_CPU_FOLDER, cpu, status, why, sizeof(why));
	return sizeup_job_fail(job, status, "cannot run on CPU %d: %s", cpu, why);
}
