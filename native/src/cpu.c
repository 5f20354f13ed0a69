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

static int new_set(struct sizeup_cpu_set *set, size_t cpus)
{
	set->bytes = CPU_ALLOC_SIZE(cpus);
	set->mask = CPU_ALLOC(cpus);
	if (!set->mask)
		return -ENOMEM;
	CPU_ZERO_S(set->bytes, (cpu_set_t *)set->mask);
	return 0;
}

int sizeup_cpu_set_read(struct sizeup_cpu_set *set)
{
	/* EINVAL: the kernel knows more CPU numbers than the mask has bits. */
	for (size_t cpus = 1024; cpus <= MOST_CPUS; cpus *= 2) {
		int status = new_set(set, cpus);

		if (status)
			return status;
		if (!sched_getaffinity(0, set->bytes, set->mask))
			return 0;
		status = -errno;
		sizeup_cpu_set_free(set);
		if (status != -EINVAL)
			return status;
	}
	return -EINVAL;
}

int sizeup_cpu_set_apply(const struct sizeup_cpu_set *set)
{
	return sched_setaffinity(0, set->bytes, set->mask) ? -errno : 0;
}

int sizeup_cpu_set_has(const struct sizeup_cpu_set *set, int32_t cpu)
{
	return cpu >= 0 && CPU_ISSET_S((size_t)cpu, set->bytes, (const cpu_set_t *)set->mask);
}

void sizeup_cpu_set_free(struct sizeup_cpu_set *set)
{
	CPU_FREE(set->mask);
	set->mask = NULL;
	set->bytes = 0;
}

int sizeup_cpu_pin(int32_t cpu)
{
	struct sizeup_cpu_set set;

	if (cpu < 0 || cpu >= MOST_CPUS)
		return -EINVAL;
	int status = new_set(&set, (size_t)cpu + 1);

	if (status)
		return status;
	CPU_SET_S((size_t)cpu, set.bytes, (cpu_set_t *)set.mask);
	status = sizeup_cpu_set_apply(&set);
	sizeup_cpu_set_free(&set);
	if (!status && sched_getcpu() != cpu)
		status = -ENODEV;
	return status;
}

/* Return the character of a CPU's file "online", '\0' if there is none: it is then always online. */
static char online(const char *folder, int32_t cpu)
{
	char path[256];
	char state = '\0';

	snprintf(path, sizeof(path), "%s/cpu%d/online", folder, cpu);
	FILE *const file = fopen(path, "re");

	if (!file)
		return '\0';
	if (fread(&state, 1, 1, file) != 1)
		state = '\0';
	fclose(file);
	return state;
}

void sizeup_cpu_explain(const char *folder, int32_t cpu, int status, char *text, size_t capacity)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
	if (status != -EINVAL && status != -ENODEV)
		snprintf(text, capacity, "%s", strerror(-status));
	else if (access(folder, F_OK))
		snprintf(text, capacity, "%s; %s cannot be read to tell why", strerror(-status), folder);
	else if (access(path, F_OK))
		snprintf(text, capacity, "this machine has no CPU %d", cpu);
	else if (online(folder, cpu) == '0')
		snprintf(text, capacity, "it is offline; bring it online with: echo 1 > %s/online", path);
	else
		snprintf(text, capacity, "this process may not use it: its cpuset (of a control group or container) leaves it out");
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
