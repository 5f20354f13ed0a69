/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/shm.h>

#include <sizeup/clock.h>
#include <sizeup/cpu.h>

#include "job_internal.h"
#include "replicates.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
#define BLOCK_BYTES MIB
#define BATCH_BYTES (16 * MIB)

struct run {
	struct sizeup_job *job;
	const int32_t *cpus;
	uint64_t bytes;
	int32_t fd;
};

static int write_all(const struct run *run, const char *block, uint64_t start, uint64_t end)
{
	for (uint64_t offset = start; offset < end;) {
		const uint64_t left = end - offset;

		if (sizeup_job_canceled(run->job))
			return -ECANCELED;
		const ssize_t written = pwrite(run->fd, block, left < BLOCK_BYTES ? left : BLOCK_BYTES, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return sizeup_job_fail(run->job, written ? -errno : -EIO, "writing the file failed: %s",
						 strerror(written ? errno : EIO));
		offset += (uint64_t)written;
	}
	return 0;
}

/* Each CPU has its own source block, so that the source is on the node of the CPU that copies. */
static int open_block(struct run *run, int32_t cpu, char **block)
{
	const int status = sizeup_job_pin(run->job, cpu);

	if (status)
		return status;
	*block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*block == MAP_FAILED)
		return sizeup_job_fail(run->job, -errno, "mapping a source block failed: %s", strerror(errno));
	memset(*block, 0x5a, BLOCK_BYTES);
	return 0;
}

/* The next part of the file, which a CPU overwrites with its block. */
struct part {
	const struct run *run;
	char *block;
	uint64_t start;
	double bytes;
};

static int64_t overwrite_ns(void *context, uint64_t calls)
{
	struct part *const part = context;
	const uint64_t start = part->start, left = part->run->bytes - start;
	const int64_t start_ns = sizeup_clock_now_ns();

	(void)calls;
	part->start += left < BATCH_BYTES ? left : BATCH_BYTES;
	part->bytes = (double)(part->start - start);
	const int status = write_all(part->run, part->block, start, part->start);

	return status ? status : sizeup_clock_now_ns() - start_ns;
}

static int replicate(void *context, uint32_t index, uint32_t round, struct sizeup_replicates *values)
{
	struct run *const run = context;
	struct part part = { .run = run };
	const struct sizeup_batches batches = {
		.run = overwrite_ns,
		.context = &part,
		.count = (uint32_t)((run->bytes + BATCH_BYTES - 1) / BATCH_BYTES),
		.per_run = &part.bytes,
	};
	struct sizeup_watch watch;
	int status = open_block(run, run->cpus[index], &part.block);

	(void)round;
	if (status)
		return status;
	sizeup_watch_init(&watch, run->cpus[index], -1);
	status = sizeup_replicates_measure(values, &batches, &watch, index, run->job);
	munmap(part.block, BLOCK_BYTES);
	return status;
}

/* Only mapped pages can be queried; MAP_POPULATE maps the existing ones and allocates no others. */
static int query_placement(const struct run *run, struct sizeup_placement *placement)
{
	void *const map = mmap(NULL, run->bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, run->fd, 0);
	int status;

	memset(placement, 0, sizeof(*placement));
	if (map == MAP_FAILED)
		return 0;
	status = sizeup_placement_query(map, run->bytes, (uint64_t)sysconf(_SC_PAGESIZE), placement, run->job);
	munmap(map, run->bytes);
	placement->verified = !status;
	return status == -ECANCELED ? status : 0;
}

int sizeup_shm_fill(struct sizeup_job *job, int32_t fd, uint64_t bytes, int32_t cpu, struct sizeup_placement *placement)
{
	struct run run = { .job = job, .bytes = bytes, .fd = fd };
	char *block;

	int status = open_block(&run, cpu, &block);

	if (!status) {
		status = write_all(&run, block, 0, bytes);
		munmap(block, BLOCK_BYTES);
	}
	if (!status)
		status = query_placement(&run, placement);
	return status;
}

int sizeup_shm_run(struct sizeup_job *job, int32_t fd, uint64_t bytes, const int32_t *cpus, uint32_t count,
		   const struct sizeup_stop_rule *rule)
{
	struct run run = { .job = job, .cpus = cpus, .bytes = bytes, .fd = fd };

	return sizeup_interleave_run(job, rule, count, 1, replicate, &run);
}
