/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "gate.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 5000000 /* how long a cancel may go unnoticed by those who wait */

void sizeup_gate_init(struct sizeup_gate *gate, uint32_t members)
{
	gate->missing = members;
	gate->open = 0;
}

int sizeup_gate_pass(struct sizeup_gate *gate, const uint32_t *stop)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };

	if (__atomic_sub_fetch(&gate->missing, 1, __ATOMIC_ACQ_REL) == 0) {
		__atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &gate->open, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	while (!__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(stop, __ATOMIC_RELAXED))
			return -ECANCELED;
		syscall(SYS_futex, &gate->open, FUTEX_WAIT, 0, &look, NULL, 0);
	}
	return 0;
}
