/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of writes to shared memory are bytes over time, and every byte is written. */
#define _GNU_SOURCE
#include <sizeup/batch.h>
#include <sizeup/clock.h>
#include <sizeup/shm.h>

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define MIB (UINT64_C(1) << 20)
#define STEP_NS 4000000
#define BYTES (20 * MIB + 4096)

static int64_t now_ns;

int64_t __wrap_sizeup_clock_now_ns(void);
uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns);
int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);

/* Each batch lies between two readings. */
int64_t __wrap_sizeup_clock_now_ns(void)
{
	return now_ns += STEP_NS;
}

uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns)
{
	check(wall_ns == STEP_NS, "the batch is watched for its time");
	(void)watch;
	return 0;
}

int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time)
{
	(void)cpu;
	memset(time, 0, sizeof(*time));
	return 0;
}

static void all_written(int fd, const char *claim)
{
	char *const map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t count = 0;

	check(map != MAP_FAILED, "the file is mapped");
	for (uint64_t i = 0; i < BYTES; i++)
		count += map[i] != 0;
	check(count == BYTES, claim);
	munmap(map, BYTES);
}

int main(void)
{
	static const struct sizeup_stop_rule RULE = {
		.batch_ns = 1000000, .replicate_ns = 1000000, .budget_ns = 1, .replicates_min = 2, .replicates_max = 2,
		.target = 0.5,
	};
	struct sizeup_job *const job = sizeup_job_new();
	const int32_t cpu = sched_getcpu();
	const int fd = memfd_create("test_measured_shm", MFD_CLOEXEC);
	struct sizeup_placement placement;
	struct sizeup_sample sample;
	struct sizeup_estimate estimate;
	const double rates[2] = { 16.0 * MIB * 1e9 / STEP_NS, (4.0 * MIB + 4096) * 1e9 / STEP_NS };
	uint32_t samples = 0;

	check(job != NULL, "memory for a job");
	if (fd < 0)
		return SKIPPED;
	check(!sizeup_shm_fill(job, fd, BYTES, cpu, &placement), "a file is filled");
	all_written(fd, "every byte of it");
	check(!ftruncate(fd, 0) && !ftruncate(fd, (off_t)BYTES), "the file is emptied");
	check(!sizeup_shm_run(job, fd, BYTES, &cpu, 1, &RULE), "it is written over");
	all_written(fd, "every byte of it again");
	for (; sizeup_job_drain(job, &sample, 1); samples++)
		check(sample.value > 0.999 * rates[samples % 2] && sample.value < 1.001 * rates[samples % 2], "bytes over time");
	check(samples == 4, "two batches in each of two replicates");
	sizeup_job_estimate(job, 0, &estimate);
	check(estimate.median > rates[1] && estimate.median < rates[0], "the estimate lies between them");
	close(fd);
	sizeup_job_free(job);
	return 0;
}
