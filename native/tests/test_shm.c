/* SPDX-License-Identifier: Apache-2.0 */
/* A file is filled and overwritten from a CPU; a write that fails is reported. */
#define _GNU_SOURCE
#include <sizeup/shm.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define MIB (UINT64_C(1) << 20)

static const struct sizeup_stop_rule QUICK = {
	.batch_ns = 1000000, .replicate_ns = 1000000, .budget_ns = 1, .replicates_min = 2, .replicates_max = 2,
	.target = 0.5,
};

int main(void)
{
	struct sizeup_job *const job = sizeup_job_new();
	const int32_t cpu = sched_getcpu();
	const int32_t absent = 8000;
	const uint64_t bytes = 20 * MIB + 4096; /* a batch, a part of one, and a part of a block */
	const int fd = memfd_create("test_shm", MFD_CLOEXEC);
	struct sizeup_placement placement;
	struct sizeup_sample sample;
	struct stat status;
	uint32_t samples = 0;

	check(job != NULL, "memory for a job");
	if (fd < 0)
		return SKIPPED;
	check(sizeup_shm_fill(job, fd, bytes, cpu, &placement) == 0, "a file is filled");
	check(!fstat(fd, &status) && (uint64_t)status.st_size == bytes, "of the requested size");
	check(!placement.verified || placement.pages * (uint64_t)sysconf(_SC_PAGESIZE) >= bytes, "all of its pages are found");
	check(!placement.verified || placement.elsewhere == 0, "each on a node");
	check(sizeup_shm_run(job, fd, bytes, &cpu, 1, &QUICK) == 0, "it is written over");
	for (; sizeup_job_drain(job, &sample, 1); samples++)
		check(sample.value > 1e6 && sample.value < 1e13, "at a plausible rate");
	check(samples == 4, "two batches in each of two replicates");
	check(!fstat(fd, &status) && (uint64_t)status.st_size == bytes, "in place");

	check(sizeup_shm_run(job, fd, bytes, &absent, 1, &QUICK) < 0, "an absent CPU is refused");
	check(strstr(sizeup_job_reason(job), "CPU 8000") != NULL, "with the reason");
	check(sizeup_shm_fill(job, -1, bytes, cpu, &placement) == -EBADF, "a file that cannot be written is refused");

	const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (full >= 0)
		check(sizeup_shm_fill(job, full, bytes, cpu, &placement) == -ENOSPC, "a full file system is ENOSPC");
	sizeup_job_cancel(job);
	check(sizeup_shm_run(job, fd, bytes, &cpu, 1, &QUICK) == -ECANCELED, "a canceled job ends");
	sizeup_job_free(job);
	return 0;
}
