/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs of the calling thread, beyond the 1023 of a plain set too; a test defines _GNU_SOURCE. */
#ifndef SIZEUP_CPU_SET_H
#define SIZEUP_CPU_SET_H

#include <sched.h>

struct sizeup_cpu_set {
	cpu_set_t *mask;
	size_t bytes;
};

static inline int sizeup_cpu_set_read(struct sizeup_cpu_set *set)
{
	set->bytes = CPU_ALLOC_SIZE(1 << 16); /* more than any kernel has */
	set->mask = CPU_ALLOC(1 << 16);
	return !set->mask || sched_getaffinity(0, set->bytes, set->mask);
}

static inline int sizeup_cpu_set_apply(const struct sizeup_cpu_set *set)
{
	return sched_setaffinity(0, set->bytes, set->mask);
}

static inline int sizeup_cpu_set_has(const struct sizeup_cpu_set *set, int cpu)
{
	return cpu >= 0 && CPU_ISSET_S((size_t)cpu, set->bytes, set->mask);
}

static inline void sizeup_cpu_set_free(struct sizeup_cpu_set *set)
{
	CPU_FREE(set->mask);
}

#endif
