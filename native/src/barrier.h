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

#endif
