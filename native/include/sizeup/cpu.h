/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CPU_H
#define SIZEUP_CPU_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define SIZEUP_CPU_FOLDER "/sys/devices/system/cpu"

/** struct sizeup_usage - CPU use of the calling thread since its start. */
struct sizeup_usage {
	int64_t cpu_ns;       /* CLOCK_THREAD_CPUTIME_ID */
	int64_t involuntary;  /* involuntary context switches */
	int32_t cpu;          /* the current CPU */
};

/** struct sizeup_cpu_time - The kernel's accounting of a CPU, in clock ticks of 1/USER_HZ s. */
struct sizeup_cpu_time {
	uint64_t busy;
	uint64_t steal; /* the hypervisor ran something else */
};

/**
 * sizeup_cpu_pin() - Run the calling thread on @cpu alone.
 *
 * The kernel accepts a mask with an offline CPU, so the current CPU is checked afterwards.
 * Return: 0, -EINVAL for an impossible number, -ENODEV if the thread does not run there, or the call's error.
 */
int sizeup_cpu_pin(int32_t cpu);

/**
 * sizeup_cpu_explain() - Write why sizeup_cpu_pin() returned @status for @cpu, such as "it is offline".
 * @folder: SIZEUP_CPU_FOLDER, or a copy of it.
 */
void sizeup_cpu_explain(const char *folder, int32_t cpu, int status, char *text, size_t capacity);

/** sizeup_cpu_clock_ns() - Read the CPU time of a thread by its clock, in ns; 0 where it has ended. */
int64_t sizeup_cpu_clock_ns(clockid_t clock);

/** sizeup_cpu_usage() - Read the CPU use of the calling thread. */
void sizeup_cpu_usage(struct sizeup_usage *usage);

/**
 * sizeup_cpu_time_read() - Read /proc/stat for @cpu.
 * Return: 0, or -ENOENT if the kernel does not list it; @time is then zero.
 */
int sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);

#endif
