/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "barrier.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK_NS 5000000 /* how long a waiting member may take to notice a cancel */

void sizeup_barrier_init(struct sizeup_barrier *barrier, uint32_t members)
{
	barrier->missing = members;
	barrier->open = 0;
}

int sizeup_barrier_wait(struct sizeup_barrier *barrier, const uint32_t *stop)
{
	const struct timespec interval = { .tv_nsec = CHECK_NS };

	if (__atomic_sub_fetch(&barrier->missing, 1, __ATOMIC_ACQ_REL) == 0) {
		__atomic_store_n(&barrier->open, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &barrier->open, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	while (!__atomic_load_n(&barrier->open, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(stop, __ATOMIC_RELAXED))
			return -ECANCELED;
		syscall(SYS_futex, &barrier->open, FUTEX_WAIT, 0, &interval, NULL, 0);
	}
	return 0;
}
