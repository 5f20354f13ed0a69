/* SPDX-License-Identifier: Apache-2.0 */
/* The ring keeps order across threads, counts what it drops, and the cancel word ends a job. */
#include <sizeup/job.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "../src/job_internal.h"
#include "check.h"

#define SAMPLES 100000u

static void *produce(void *argument)
{
	struct sizeup_job *const job = argument;

	for (uint32_t i = 0; i < SAMPLES; i++) {
		const struct sizeup_sample sample = { .t_ns = i, .value = i, .point = i % 64 };

		sizeup_job_push(job, &sample);
	}
	return NULL;
}

int main(void)
{
	static struct sizeup_sample samples[1000];
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_estimate estimate = { .median = 2.5, .replicates = 3 };
	uint64_t taken = 0;
	int64_t last = -1;
	pthread_t producer;

	check(job != NULL, "memory for a job");
	check(!pthread_create(&producer, NULL, produce, job), "a producer");
	while (taken + sizeup_job_dropped(job) < SAMPLES) {
		const uint32_t count = sizeup_job_drain(job, samples, 1000);

		for (uint32_t i = 0; i < count; i++) {
			check(samples[i].t_ns > last && samples[i].value == (double)samples[i].t_ns, "in order, whole");
			last = samples[i].t_ns;
		}
		taken += count;
	}
	pthread_join(producer, NULL);
	check(taken + sizeup_job_dropped(job) == SAMPLES, "every sample was taken or counted as dropped");

	sizeup_job_publish(job, 63, &estimate);
	memset(&estimate, 0, sizeof(estimate));
	sizeup_job_estimate(job, 63, &estimate);
	check(estimate.median == 2.5 && estimate.replicates == 3, "an estimate is read as published");

	check(sizeup_job_fail(job, -ENOMEM, "%d pages", 7) == -ENOMEM, "a refusal passes its status on");
	sizeup_job_fail(job, -EIO, "later");
	check(!strcmp(sizeup_job_reason(job), "7 pages"), "the first reason stays");
	check(!sizeup_job_canceled(job), "nobody has canceled");
	sizeup_job_cancel(job);
	check(sizeup_job_canceled(job) && *sizeup_job_stop_word(job), "canceled");
	sizeup_job_free(job);
	return 0;
}
