/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_JOB_INTERNAL_H
#define SIZEUP_JOB_INTERNAL_H

#include <stdint.h>

struct sizeup_job;

/** sizeup_job_stop_word() - Return the word that becomes nonzero once the job is canceled, for loops to poll. */
const uint32_t *sizeup_job_stop_word(const struct sizeup_job *job);

/**
 * sizeup_job_fail() - Record why the job failed, unless a reason is recorded already; formatted as by printf.
 * Return: @status unchanged.
 */
int sizeup_job_fail(struct sizeup_job *job, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * sizeup_job_pin() - Pin the calling thread to @cpu; see sizeup_cpu_pin().
 * Return: 0, or negative with the reason in @job.
 */
int sizeup_job_pin(struct sizeup_job *job, int32_t cpu);

#endif
