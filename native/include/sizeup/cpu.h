/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CPU_H
#define SIZEUP_CPU_H

#include <stdint.h>

/** struct sizeup_usage - What the calling thread has consumed so far. */
struct sizeup_usage {
	int64_t cpu_ns;       /* CLOCK_THREAD_CPUTIME_ID */
	int64_t involuntary;  /* times the kernel took the CPU away */
	int32_t cpu;          /* where it runs now */
};

/** struct sizeup_cpu_time - What the kernel says a CPU was used for, in clock ticks of 1/USER_HZ s. */
struct sizeup_cpu_time {
	uint64_t busy;
	uint64_t steal; /* the hypervisor ran somebody else */
};

/**
 * sizeup_cpu_pin() - Run the calling thread on @cpu alone.
 *
 * The kernel accepts a mask with an offline CPU in it, so where the thread runs is looked at afterwards.
 * Return: 0, -EINVAL for a CPU that cannot be, -ENODEV when the thread is not on it, or the call's error.
 */
int sizeup_cpu_pin(int32_t cpu);

/** sizeup_cpu_usage() - Read what the calling thread has consumed. */
void sizeup_cpu_usage(struct sizeup_usage *usage);

/**
 * sizeup_cpu_time_read() - Read /proc/stat for @cpu.
 * Return: 0, or -ENOENT where the kernel does not list it; @time is then zero.
 */
int sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);

#endif
