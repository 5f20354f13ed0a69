/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_COUNTER_H
#define SIZEUP_COUNTER_H

#include <stdint.h>

/* Without a fence: the CPU may read the counter early, so the order between CPUs is not guaranteed. */
static inline uint64_t counter_unfenced(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

/* After all earlier instructions have finished. */
static inline uint64_t counter_fenced(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
	return counter_unfenced();
}

#if defined(__x86_64__)
/* Waits for earlier instructions by itself. */
static inline uint64_t counter_rdtscp(void)
{
	uint32_t low, high, cpu;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
	return (uint64_t)high << 32 | low;
}

/* cpuid serializes, and causes an exit of a virtual machine. */
static inline uint64_t counter_cpuid(void)
{
	uint32_t a = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return counter_unfenced();
}
#endif

#endif
