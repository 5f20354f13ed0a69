/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_GATE_H
#define SIZEUP_GATE_H

#include <stdint.h>

/**
 * struct sizeup_gate - All wait until the last has arrived; then all start at once.
 *
 * Lies in shared memory for processes, anywhere for threads.
 */
struct sizeup_gate {
	uint32_t missing;
	uint32_t open;
};

/** sizeup_gate_init() - Close the gate until @members have arrived. */
void sizeup_gate_init(struct sizeup_gate *gate, uint32_t members);

/** sizeup_gate_pass() - Arrive and wait. Return: 0, or -ECANCELED once @stop is not 0. */
int sizeup_gate_pass(struct sizeup_gate *gate, const uint32_t *stop);

#endif
