/* SPDX-License-Identifier: Apache-2.0 */
/* No successor can be guessed: neither lines nor pages follow each other at a distance that comes often. */
#include <sizeup/chase.h>
#include <sizeup/clock.h>
#include <sizeup/permutation.h>

#include <stdint.h>
#include <string.h>

#include "check.h"

#define PAGE 4096u
#define LINE 64u
#define PAGES 1024u
#define LINES (PAGES * PAGE / LINE)
#define NEAR 16 /* lines: how far a prefetcher looks ahead */

static const uint32_t GO;
static int64_t now_ns;
static uint32_t distances[2 * LINES];

int64_t __wrap_sizeup_clock_now_ns(void);

/* Each reading is 1 us after the one before. */
int64_t __wrap_sizeup_clock_now_ns(void)
{
	return now_ns += 1000;
}

static uint64_t line_of(const struct sizeup_ring *ring, const void *element)
{
	return (uint64_t)((const char *)element - (const char *)ring->pool) / LINE;
}

/* One of LINES distances comes once on average, and in @blocks blocks of the same order that many times: 25 is a pattern. */
static void no_stride(const struct sizeup_ring *ring, uint64_t blocks)
{
	const uint64_t lines = LINES;
	void *const first = sizeup_ring_link(ring, &GO);
	void *element = first;
	uint64_t near = 0, most = 0, followed = 0;

	check(first != NULL, "a ring is linked");
	memset(distances, 0, sizeof(distances));
	for (uint64_t i = 0; i < lines; i++) {
		void *const next = *(void **)element;
		const int64_t step = (int64_t)line_of(ring, next) - (int64_t)line_of(ring, element);
		uint32_t *const seen = &distances[step + (int64_t)LINES];

		near += step > -NEAR && step < NEAR;
		followed += step == 1;
		most = ++*seen > most ? *seen : most;
		element = next;
	}
	check(element == first, "it is one cycle");
	check(most < 25 * blocks, "no distance comes often");
	check(near < lines / 16, "few successors are near");
	check(followed < lines / 64, "and few are next");
}

static int differ(const struct sizeup_ring *ring, uint64_t other_seed)
{
	struct sizeup_ring other = *ring;
	uint32_t differing = 0;
	void *element = sizeup_ring_link(ring, &GO);
	static uint64_t lines[1000];

	for (uint32_t i = 0; i < 1000; i++, element = *(void **)element)
		lines[i] = line_of(ring, element);
	other.seed = other_seed;
	element = sizeup_ring_link(&other, &GO);
	for (uint32_t i = 0; i < 1000; i++, element = *(void **)element)
		differing += lines[i] != line_of(ring, element);
	return differing > 900;
}

/* Which pages of the pool a small working set takes is drawn, too. */
static void pages_are_drawn(struct sizeup_ring ring)
{
	uint32_t beyond = 0, pages = 0;
	void *const first = (ring.span_bytes = 16 * PAGE, sizeup_ring_link(&ring, &GO));
	void *element = first;
	static uint8_t seen[PAGES];

	check(first != NULL, "a small ring is linked");
	do {
		const uint64_t page = line_of(&ring, element) * LINE / PAGE;

		pages += !seen[page];
		beyond += !seen[page]++ && page >= 32;
		element = *(void **)element;
	} while (element != first);
	check(pages == 16, "it has its pages");
	check(beyond > 8, "from all of the pool");
}

/* Every load is made, and the next address is what it returned. */
static void loads_depend(const struct sizeup_ring *ring)
{
	void *const first = sizeup_ring_link(ring, &GO);
	void *expected = first;
	void *position = first;

	for (uint32_t i = 0; i < 3 * SIZEUP_CHASE_LOADS; i++)
		expected = *(void **)expected;
	check(sizeup_chase_follow(first, 3) == expected, "three rounds are 192 loads on");
	check(sizeup_chase_ns(&position, 3) == 1000, "the time between two readings of the clock is the chase's");
	check(position == expected, "which moves on");
}

int main(void)
{
	void *const pool = aligned_alloc(PAGE, PAGES * PAGE);
	struct sizeup_ring ring = { pool, PAGES * PAGE, PAGES * PAGE, PAGE, LINE, 0, 1 };

	check(pool != NULL, "memory for the pool");
	no_stride(&ring, 1);
	ring.seed = 99;
	no_stride(&ring, 1);
	check(differ(&ring, 100), "another seed is another order");
	pages_are_drawn(ring);
	loads_depend(&ring);
	ring.block_bytes = 64 * PAGE;
	no_stride(&ring, 16);
	free(pool);
	return 0;
}
