/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs beyond 1023, of a kernel that is not here, and why a thread cannot run on a CPU. */
#define _GNU_SOURCE
#include <sizeup/cpu.h>
#include <sizeup/job.h>

#include "check.h"

#include "../src/job_internal.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_CPUS 2048
#define FAR_CPU 1500

/* The kernel's side: the CPUs of the only thread, and the CPU that it runs on. */
static uint8_t kernel_mask[KERNEL_CPUS / 8];
static int kernel_cpu;
static int kernel_error;

/* These replace the C library's functions. */
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
	if (pid || kernel_error) {
		errno = kernel_error ? kernel_error : EINVAL;
		return -1;
	}
	memset(kernel_mask, 0, sizeof(kernel_mask));
	memcpy(kernel_mask, set, bytes < sizeof(kernel_mask) ? bytes : sizeof(kernel_mask));
	for (kernel_cpu = 0; kernel_cpu < KERNEL_CPUS; kernel_cpu++)
		if (kernel_mask[kernel_cpu / 8] & 1 << kernel_cpu % 8)
			return 0;
	errno = EINVAL;
	return -1;
}

int sched_getcpu(void)
{
	return kernel_cpu;
}

static int kernel_has(int cpu)
{
	return kernel_mask[cpu / 8] >> cpu % 8 & 1;
}

static int kernel_count(void)
{
	int count = 0;

	for (int cpu = 0; cpu < KERNEL_CPUS; cpu++)
		count += kernel_has(cpu);
	return count;
}

static void far_cpus(void)
{
	check(sizeup_cpu_pin(FAR_CPU) == 0, "a thread is pinned to CPU 1500");
	check(kernel_has(FAR_CPU) && kernel_count() == 1, "to that CPU alone");
	check(sizeup_cpu_pin(0) == 0 && kernel_has(0) && kernel_count() == 1, "to the first one");
	check(sizeup_cpu_pin(KERNEL_CPUS - 1) == 0 && kernel_has(KERNEL_CPUS - 1) && kernel_count() == 1, "the last one");
	check(sizeup_cpu_pin(KERNEL_CPUS) == -EINVAL, "but to none that the kernel does not know");
	check(sizeup_cpu_pin(-1) == -EINVAL && sizeup_cpu_pin(INT32_MAX) == -EINVAL, "nor to an impossible one");
}

static void file(const char *path, const char *text)
{
	FILE *const made = fopen(path, "w");

	check(made && fputs(text, made) >= 0 && !fclose(made), "a file");
}

static void reasons(void)
{
	char folder[] = "cpu_XXXXXX";
	char path[64];
	char text[192];

	check(mkdtemp(folder) != NULL, "a folder");
	for (int cpu = 0; cpu < 3; cpu++) {
		snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
		check(!mkdir(path, 0700), "a folder of a CPU");
		snprintf(path, sizeof(path), "%s/cpu%d/online", folder, cpu);
		if (cpu) /* the first one cannot go offline */
			file(path, cpu == 1 ? "1\n" : "0\n");
	}
	for (int status = -EINVAL; status; status = status == -EINVAL ? -ENODEV : 0) {
		sizeup_cpu_explain(folder, 2, status, text, sizeof(text));
		check(strstr(text, "it is offline; bring it online with: echo 1 > cpu_") == text, "offline");
		check(strstr(text, "/cpu2/online") != NULL, "with its file");
		sizeup_cpu_explain(folder, 3, status, text, sizeof(text));
		check(!strcmp(text, "this machine has no CPU 3"), "absent");
		for (int cpu = 0; cpu < 2; cpu++) {
			sizeup_cpu_explain(folder, cpu, status, text, sizeof(text));
			check(strstr(text, "this process may not use it") == text, "not allowed");
		}
		sizeup_cpu_explain("absent", 2, status, text, sizeof(text));
		check(strstr(text, "; absent cannot be read to tell why") != NULL, "nothing is claimed without the files");
	}
	sizeup_cpu_explain(folder, 2, -ENOMEM, text, sizeof(text));
	check(!strcmp(text, strerror(ENOMEM)), "other errors are the kernel's own");
	for (int cpu = 0; cpu < 3; cpu++) {
		snprintf(path, sizeof(path), "%s/cpu%d/online", folder, cpu);
		unlink(path);
		snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
		check(!rmdir(path), "removed");
	}
	check(!rmdir(folder), "removed");
}

static void a_job_says_why(void)
{
	struct sizeup_job *const job = sizeup_job_new();

	check(job != NULL, "memory for a job");
	kernel_error = EINVAL;
	check(sizeup_job_pin(job, FAR_CPU) == -EINVAL, "a CPU that the kernel refuses");
	kernel_error = 0;
	check(strstr(sizeup_job_reason(job), "cannot run on CPU 1500: ") == sizeup_job_reason(job), "is named");
	check(!strstr(sizeup_job_reason(job), strerror(EINVAL)), "and not called an invalid argument");
	sizeup_job_free(job);
}

int main(void)
{
	far_cpus();
	reasons();
	a_job_says_why();
	return 0;
}
