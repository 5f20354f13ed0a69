/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
/* The buffers that direct I/O reads into and writes from, and their random data. */
#include "direct_io_buffers.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define STAMP_BYTES 4096

/* SplitMix64: every seed gives a full-period sequence, so no two workers visit the same offsets in the same order. */
uint64_t io_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void fill_random(char *bytes, size_t length, uint64_t *state)
{
	for (size_t i = 0; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t)) {
		const uint64_t word = io_random(state);

		memcpy(bytes + i, &word, sizeof(word));
	}
}

/*
 * Deduplication and compression must not make writes look faster: the data is random, and no two
 * blocks of 4 KiB that are ever written are equal.
 */
void io_buffers_refresh(const struct sizeup_io_worker *spec, char *block, uint64_t *random, uint64_t *stamps)
{
	const size_t length = spec->block_bytes;

	if (spec->fresh_data) {
		fill_random(block, length, random);
		return;
	}
	for (size_t i = 0; i < length; i += STAMP_BYTES) {
		const uint64_t stamp[2] = { spec->seed, (*stamps)++ };

		memcpy(block + i, stamp, sizeof(stamp));
	}
}

/*
 * The page size matters: a 1 MiB buffer of scattered 4K pages takes 256 segments, more than many
 * devices accept in one command, so both kinds are requested explicitly and never left to the kernel's default.
 */
int io_buffers_map(const struct sizeup_io_worker *spec, uint64_t *random, struct io_buffers *buffers)
{
	const size_t used_bytes = spec->depth * spec->block_bytes;
	const size_t bytes = (used_bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
	char *const raw = mmap(NULL, bytes + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (raw == MAP_FAILED)
		return -errno;
	const size_t misaligned = (uintptr_t)raw % HUGE_PAGE_BYTES;
	const size_t skip = misaligned ? HUGE_PAGE_BYTES - misaligned : 0;

	if (skip)
		munmap(raw, skip);
	if (skip < HUGE_PAGE_BYTES)
		munmap(raw + skip + bytes, HUGE_PAGE_BYTES - skip);
	buffers->start = raw + skip;
	buffers->bytes = bytes;
	/* Advice only: AnonHugePages of /proc/self/smaps_rollup shows whether the kernel followed it. */
	madvise(buffers->start, bytes, spec->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (spec->read_percent < 100)
		fill_random(buffers->start, used_bytes, random);
	else
		memset(buffers->start, 1, used_bytes); /* fault in every page before the clock starts */
	return 0;
}

void io_buffers_unmap(const struct io_buffers *buffers)
{
	munmap(buffers->start, buffers->bytes);
}
