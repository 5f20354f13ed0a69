/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/chase.h>
#include <sizeup/clock.h>
#include <sizeup/permutation.h>

#include <stddef.h>

#define CELL_BYTES 16u          /* granularity of the random offset of an element in its line */
#define LINKS_PER_CHECK (1u << 16)

#define LINKS_AHEAD 64u /* lines prefetched before the first of them is written */

/* Inner sizes are powers of two, so that computing an address takes shifts and no divisions. */
struct order {
	const struct sizeup_ring *ring;
	struct sizeup_permutation blocks;
	struct sizeup_permutation lines; /* within one block */
	struct sizeup_permutation pages;
	uint32_t page_shift; /* lines to pages */
	uint64_t cells;
	char *base; /* of the pool, or of the part of a page that holds a small span */
};

static int power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static void order_init(struct order *order, const struct sizeup_ring *ring)
{
	const uint64_t lines = ring->span_bytes / ring->stride_bytes;
	const uint64_t block_lines = ring->block_bytes ? ring->block_bytes / ring->stride_bytes : lines;
	const uint64_t slots = ring->span_bytes < ring->page_bytes ? ring->page_bytes / ring->span_bytes : 1;
	uint64_t seed = ring->seed;

	order->ring = ring;
	sizeup_permutation_init(&order->blocks, lines / block_lines, seed = sizeup_mix(seed));
	sizeup_permutation_init(&order->lines, block_lines, seed = sizeup_mix(seed));
	sizeup_permutation_init(&order->pages, ring->pool_bytes / ring->page_bytes, seed = sizeup_mix(seed));
	order->page_shift = (uint32_t)__builtin_ctzll(ring->page_bytes / ring->stride_bytes);
	order->cells = ring->stride_bytes / CELL_BYTES;
	order->base = (char *)ring->pool + sizeup_mix(seed) % slots * ring->span_bytes;
}

static inline char *order_at(const struct order *order, uint64_t index)
{
	const struct sizeup_ring *ring = order->ring;
	uint64_t line;

	if (order->blocks.count == 1) {
		line = sizeup_permutation_at(&order->lines, index);
	} else {
		const uint64_t block_lines = order->lines.count;
		const uint64_t block = sizeup_permutation_at(&order->blocks, index / block_lines);

		line = block * block_lines + sizeup_permutation_at(&order->lines, index % block_lines);
	}
	uint64_t page = line >> order->page_shift;
	/* With all pages of the pool in use their order does not matter: the lines are shuffled. */
	if (ring->span_bytes < ring->pool_bytes)
		page = sizeup_permutation_at(&order->pages, page);
	const uint64_t in_page = line & ((UINT64_C(1) << order->page_shift) - 1);
	const uint64_t cell = (line * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (order->cells - 1);

	return order->base + page * ring->page_bytes + in_page * ring->stride_bytes + cell * CELL_BYTES;
}

static int fits(const struct sizeup_ring *ring)
{
	if (!power_of_two(ring->stride_bytes) || ring->stride_bytes < CELL_BYTES)
		return 0;
	if (!power_of_two(ring->page_bytes) || ring->page_bytes < ring->stride_bytes)
		return 0;
	if (ring->span_bytes < ring->stride_bytes || ring->span_bytes % ring->stride_bytes)
		return 0;
	if (ring->span_bytes > ring->page_bytes && ring->span_bytes % ring->page_bytes)
		return 0;
	if (ring->block_bytes && (ring->block_bytes % ring->stride_bytes || ring->span_bytes % ring->block_bytes))
		return 0;
	return ring->pool_bytes % ring->page_bytes == 0 && ring->span_bytes <= ring->pool_bytes;
}

void *sizeup_ring_link(const struct sizeup_ring *ring, const uint32_t *stop)
{
	char *ahead[LINKS_AHEAD];
	struct order order;

	if (!fits(ring))
		return NULL;
	order_init(&order, ring);
	const uint64_t count = ring->span_bytes / ring->stride_bytes;
	char *const first = order_at(&order, 0);
	char *element = first;

	for (uint64_t done = 1; done < count;) {
		const uint64_t some = count - done < LINKS_AHEAD ? count - done : LINKS_AHEAD;

		/* Stores retire in order: without the prefetch each would wait for its own cache miss. */
		for (uint64_t i = 0; i < some; i++) {
			ahead[i] = order_at(&order, done + i);
			__builtin_prefetch(ahead[i], 1);
		}
		for (uint64_t i = 0; i < some; i++) {
			*(void **)element = ahead[i];
			element = ahead[i];
		}
		done += some;
		if (done / LINKS_AHEAD % (LINKS_PER_CHECK / LINKS_AHEAD) == 0 && __atomic_load_n(stop, __ATOMIC_RELAXED))
			return NULL;
	}
	*(void **)element = first;
	return first;
}

void *sizeup_chase_follow(void *start, uint64_t rounds)
{
	void *element = start;

	/* Assembly, so that no compiler can reorder, split or hoist the chain of loads. */
	for (; rounds; rounds--) {
#if defined(__x86_64__)
		__asm__ volatile(".rept 64\n\tmov (%0), %0\n\t.endr" : "+r"(element) : : "memory");
#elif defined(__aarch64__)
		__asm__ volatile(".rept 64\n\tldr %0, [%0]\n\t.endr" : "+r"(element) : : "memory");
#else
		for (int load = 0; load < SIZEUP_CHASE_LOADS; load++)
			element = *(void *volatile *)element;
#endif
	}
	return element;
}

int64_t sizeup_chase_ns(void *position, uint64_t rounds)
{
	void **const element = position;
	const int64_t start_ns = sizeup_clock_now_ns();

	*element = sizeup_chase_follow(*element, rounds);
	return sizeup_clock_now_ns() - start_ns;
}
