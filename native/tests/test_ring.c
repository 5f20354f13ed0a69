/* SPDX-License-Identifier: Apache-2.0 */
/* A ring visits every line of its working set exactly once, whatever the pages, blocks and strides. */
#include <sizeup/chase.h>
#include <sizeup/permutation.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define PAGE 4096u

static const uint32_t GO = 0;
static const uint32_t STOP = 1;

static void permutations_are_bijections(void)
{
	static const uint64_t COUNTS[] = { 1, 2, 3, 5, 64, 100, 1000, 4097 };
	static uint8_t seen[5000];

	for (unsigned i = 0; i < sizeof(COUNTS) / sizeof(COUNTS[0]); i++) {
		struct sizeup_permutation permutation;

		sizeup_permutation_init(&permutation, COUNTS[i], i + 7);
		memset(seen, 0, sizeof(seen));
		for (uint64_t index = 0; index < COUNTS[i]; index++) {
			const uint64_t value = sizeup_permutation_at(&permutation, index);

			check(value < COUNTS[i] && !seen[value], "each value comes once");
			seen[value] = 1;
		}
	}
}

/* Follow the ring; count lines and pages met before coming home. */
static void visits_all(struct sizeup_ring ring, const char *claim)
{
	static uint8_t line_seen[1 << 16];
	static uint8_t page_seen[1 << 10];
	const uint64_t lines = ring.span_bytes / ring.stride_bytes;
	uint64_t met = 0;
	uint64_t pages = 0;
	void *const first = sizeup_ring_link(&ring, &GO);
	void *element = first;

	check(first != NULL, claim);
	memset(line_seen, 0, sizeof(line_seen));
	memset(page_seen, 0, sizeof(page_seen));
	do {
		const uint64_t offset = (uint64_t)((char *)element - (char *)ring.pool);

		check(offset < ring.pool_bytes, "the element lies in the pool");
		check(offset % 16 == 0, "the element is a 16-byte cell");
		check(!line_seen[offset / ring.stride_bytes]++, "no line is met twice");
		pages += !page_seen[offset / ring.page_bytes]++;
		met++;
		element = *(void **)element;
	} while (element != first && met <= lines);
	check(met == lines, claim);
	check(pages == (ring.span_bytes + ring.page_bytes - 1) / ring.page_bytes, "no more pages than needed");
	check(sizeup_chase_follow(first, lines) == first, "64 rounds of the ring lead home");
}

int main(void)
{
	const uint64_t pool_bytes = 256 * PAGE;
	void *const pool = aligned_alloc(PAGE, pool_bytes);
	const struct sizeup_ring whole = { pool, pool_bytes, pool_bytes, PAGE, 64, 0, 1 };
	struct sizeup_ring ring = whole;

	check(pool != NULL, "memory for the pool");
	permutations_are_bijections();
	visits_all(whole, "the whole pool is one cycle");
	ring.span_bytes = 24 * PAGE;
	visits_all(ring, "a part of the pool is one cycle on drawn pages");
	ring.span_bytes = 1024;
	visits_all(ring, "less than a page is one cycle in one page");
	ring = whole;
	ring.block_bytes = 16 * PAGE;
	ring.stride_bytes = 256;
	visits_all(ring, "blocks one after the other are one cycle");
	ring = whole;
	ring.stride_bytes = 128;
	visits_all(ring, "lines of 128 bytes");

	ring = whole;
	ring.span_bytes = 2 * pool_bytes;
	check(!sizeup_ring_link(&ring, &GO), "a span beyond the pool is refused");
	ring.span_bytes = PAGE + 64;
	check(!sizeup_ring_link(&ring, &GO), "a broken page is refused");
	ring.span_bytes = 0;
	check(!sizeup_ring_link(&ring, &GO), "an empty span is refused");
	free(pool);

	const uint64_t large_bytes = 8u << 20;
	void *const large = aligned_alloc(PAGE, large_bytes);
	const struct sizeup_ring stopped = { large, large_bytes, large_bytes, PAGE, 64, 0, 1 };

	check(large != NULL, "memory for the large pool");
	check(!sizeup_ring_link(&stopped, &STOP), "linking ends when stopped");
	free(large);
	return 0;
}
