/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CHASE_H
#define SIZEUP_CHASE_H

#include <stdint.h>

#define SIZEUP_CHASE_LOADS 64

/** struct sizeup_ring - The lines of an arena that form the pointer ring, and their order. */
struct sizeup_ring {
	void *pool;            /* the arena's first byte */
	uint64_t pool_bytes;   /* a multiple of page_bytes */
	uint64_t span_bytes;   /* the working set: a multiple of stride_bytes, at most pool_bytes */
	uint64_t page_bytes;   /* the working set takes random pages of this size from the pool */
	uint32_t stride_bytes; /* distance of elements: the cache line, or a multiple */
	uint32_t block_bytes;  /* 0: random over the span; else all of one block before the next */
	uint64_t seed;
};

/**
 * sizeup_ring_link() - Link every element of the ring to its successor: one Hamiltonian cycle.
 *
 * @stop is read every 64 Ki links; the ring is incomplete once it is not 0.
 * Return: the first element, or NULL when @ring does not fit its pool or was stopped.
 */
void *sizeup_ring_link(const struct sizeup_ring *ring, const uint32_t *stop);

/**
 * sizeup_chase_follow() - Follow the ring for @rounds times SIZEUP_CHASE_LOADS dependent loads.
 *
 * Each address is the last load's value: loads can neither overlap nor be prefetched by stride.
 * Return: the last element.
 */
void *sizeup_chase_follow(void *start, uint64_t rounds);

/** sizeup_chase_ns() - Time @rounds from the element that @position points to, which advances, in ns. */
int64_t sizeup_chase_ns(void *position, uint64_t rounds);

#endif
