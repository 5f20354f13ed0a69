/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_BARRIER_H
#define SIZEUP_BARRIER_H

#include <stdint.h>

/**
 * struct sizeup_barrier - All wait until the last has arrived; then all start at once.
 *
 * Processes need it in shared memory; threads may have it anywhere.
 */
struct sizeup_barrier {
	uint32_t missing;
	uint32_t open;
};

/** sizeup_barrier_init() - Set the barrier up for @members threads or processes. */
void sizeup_barrier_init(struct sizeup_barrier *barrier, uint32_t members);

/** sizeup_barrier_wait() - Arrive and wait. Return: 0, or -ECANCELED once @stop is not 0. */
int sizeup_barrier_wait(struct sizeup_barrier *barrier, const uint32_t *stop);

#define SIZEUP_SPINS_PER_CHECK (1u << 14)

/** sizeup_turn_wait() - Spin until @turn, which counts up, is at least @wanted, or @stop is not 0. */
static inline void sizeup_turn_wait(const uint64_t *turn, uint64_t wanted, const uint32_t *stop)
{
	for (uint32_t spins = 1; __atomic_load_n(turn, __ATOMIC_ACQUIRE) < wanted; spins++)
		if (spins % SIZEUP_SPINS_PER_CHECK == 0 && __atomic_load_n(stop, __ATOMIC_RELAXED))
			return;
}

#endif
