/* SPDX-License-Identifier: Apache-2.0 */
/* The times of random stores: no process uses more CPU than there is, and none takes less than no time. */
#define _GNU_SOURCE
#include <sizeup/hammer.h>

#include "check.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define RUNS 20
#define CLOCKS_DIFFER_NS 1000 /* CPU time and wall time come from two clocks */

static int set_back;

/* Replaces the C library's function, also in the processes that the run starts. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	static int readings;
	struct timespec time;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &time);
	now->tv_sec = time.tv_sec - (set_back ? 3600 * readings++ : 0);
	now->tv_usec = time.tv_nsec / 1000;
	return 0;
}

int main(void)
{
	struct sizeup_job *const job = sizeup_job_new();
	const struct sizeup_arena_spec memory = { .touch_cpu = -1 };
	const int32_t cpu = sched_getcpu();
	struct sizeup_hammer_result result;

	check(job != NULL, "memory for a job");
	for (int run = 0; run < RUNS; run++) {
		check(sizeup_hammer_run(job, 1, 1, &cpu, 1, &memory, &result) == 0, "one store");
		check(result.cpu_ns >= 0, "takes CPU time");
		check(result.cpu_ns <= result.end_ns - result.start_ns + CLOCKS_DIFFER_NS, "but no more than there was");
	}
	check(sizeup_hammer_run(job, 4096, 20, &cpu, 1, &memory, &result) == 0, "more stores");
	check(result.cpu_ns > 0, "use the CPU");
	set_back = 1;
	check(sizeup_hammer_run(job, 16, 1, &cpu, 1, &memory, &result) == -EAGAIN, "a clock that runs backwards is no time");
	check(strstr(sizeup_job_reason(job), "process 1: the time of day was set back") != NULL, "with the reason");
	sizeup_job_free(job);
	return 0;
}
