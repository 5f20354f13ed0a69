/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/cpu.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define CPU_LIMIT 8192 /* NR_CPUS of the largest kernels */

int sizeup_cpu_pin(int32_t cpu)
{
	cpu_set_t *set;
	int failure = 0;

	if (cpu < 0 || cpu >= CPU_LIMIT)
		return -EINVAL;
	set = CPU_ALLOC(CPU_LIMIT);
	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(CPU_LIMIT), set);
	CPU_SET_S((size_t)cpu, CPU_ALLOC_SIZE(CPU_LIMIT), set);
	if (sched_setaffinity(0, CPU_ALLOC_SIZE(CPU_LIMIT), set))
		failure = -errno;
	CPU_FREE(set);
	if (!failure && sched_getcpu() != cpu)
		failure = -ENODEV;
	return failure;
}

void sizeup_cpu_usage(struct sizeup_usage *usage)
{
	struct rusage resources;
	struct timespec time;

	getrusage(RUSAGE_THREAD, &resources);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	usage->cpu_ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
	usage->involuntary = resources.ru_nivcsw;
	usage->cpu = sched_getcpu();
}

int sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time)
{
	char line[512];
	char label[32];
	int found = -ENOENT;
	FILE *stat = fopen("/proc/stat", "re");

	memset(time, 0, sizeof(*time));
	if (!stat)
		return -ENOENT;
	snprintf(label, sizeof(label), "cpu%d ", cpu);
	while (found && fgets(line, sizeof(line), stat) && !strncmp(line, "cpu", 3)) {
		unsigned long long user = 0, nice = 0, system = 0, irq = 0, softirq = 0, steal = 0;

		if (strncmp(line, label, strlen(label)))
			continue;
		/* user nice system idle iowait irq softirq steal: Documentation/filesystems/proc.rst */
		sscanf(line + strlen(label), "%llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice, &system, &irq,
		       &softirq, &steal);
		time->busy = user + nice + system + irq + softirq;
		time->steal = steal;
		found = 0;
	}
	fclose(stat);
	return found;
}
