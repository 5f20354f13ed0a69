/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/cpu.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MOST_CPUS (1 << 20) /* far beyond any kernel */

int sizeup_cpu_pin(int32_t cpu)
{
	if (cpu < 0 || cpu >= MOST_CPUS)
		return -EINVAL;
	const size_t bytes = CPU_ALLOC_SIZE((size_t)cpu + 1);
	cpu_set_t *const mask = CPU_ALLOC((size_t)cpu + 1);

	if (!mask)
		return -ENOMEM;
	CPU_ZERO_S(bytes, mask);
	CPU_SET_S((size_t)cpu, bytes, mask);
	const int status = sched_setaffinity(0, bytes, mask) ? -errno : 0;

	CPU_FREE(mask);
	return !status && sched_getcpu() != cpu ? -ENODEV : status;
}

void sizeup_cpu_explain(const char *folder, int32_t cpu, int status, char *text, size_t capacity)
{
	char path[256];
	char online = '\0'; /* without such a file it is always online */

	snprintf(path, sizeof(path), "%s/cpu%d/online", folder, cpu);
	FILE *const file = fopen(path, "re");

	if (file) {
		if (fread(&online, 1, 1, file) != 1)
			online = '\0';
		fclose(file);
	}
	snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
	if (status != -EINVAL && status != -ENODEV)
		snprintf(text, capacity, "%s", strerror(-status));
	else if (access(folder, F_OK))
		snprintf(text, capacity, "%s; %s cannot be read to tell why", strerror(-status), folder);
	else if (access(path, F_OK))
		snprintf(text, capacity, "this machine has no CPU %d", cpu);
	else if (online == '0')
		snprintf(text, capacity, "it is offline; bring it online with: echo 1 > %s/online", path);
	else
		snprintf(text, capacity, "this process may not use it: its cpuset (of a control group or container) leaves it out");
}

int64_t sizeup_cpu_clock_ns(clockid_t clock)
{
	struct timespec time = { 0, 0 };

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void sizeup_cpu_usage(struct sizeup_usage *usage)
{
	struct rusage resources;

	getrusage(RUSAGE_THREAD, &resources);
	usage->cpu_ns = sizeup_cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID);
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

		if (strncmp(line, label, strlen(label)) != 0)
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
