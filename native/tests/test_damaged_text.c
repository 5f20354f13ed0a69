/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of the kernel that is damaged, as a container's file system or an emulated /proc may serve it: the sanitizers find
 * no fault in what reads it, and no figure is negative. SIZEUP_FUZZ_SECONDS=120 tries for longer than a moment.
 */
#define _GNU_SOURCE
#include "check.h"

#include <sizeup/arena.h>
#include <sizeup/cpu.h>

#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GROUP "/sys/fs/cgroup/a"
#define MOST 4096
#define ROUNDS_PER_PROCESS 200 /* /proc/zoneinfo is read once in each */

static const struct {
	const char *path; /* its end */
	const char *text;
} FILES[] = {
	{"/proc/meminfo", "MemTotal: 16000000 kB\nMemFree: 100 kB\nMemAvailable: 9000000 kB\n"},
	{"/meminfo", "Node 0 MemFree: 100 kB\nNode 0 Active(file): 40 kB\nNode 0 Inactive(file): 60 kB\n"
		     "Node 0 SReclaimable: 20 kB\n"},
	{"/proc/zoneinfo", "Node 0, zone Normal\n  pages free 9\n        high     12\nNode 1, zone DMA\n        high 7\n"},
	{"/proc/self/cgroup", "4:memory:/a\n0::/a/b\n"},
	{"/memory.stat", "total_inactive_file 7\ntotal_active_file 600\ninactive_file 9\nactive_file 200\nslab_reclaimable 5\n"},
	{"/proc/stat", "cpu  1 2 3 4 5 6 7 8 9\ncpu0 1 2 3 4 5 6 7 8 9\ncpu1 10 20 30 40 50 60 70 80 90\nintr 5\n"},
	{"/proc/self/numa_maps", "7f0000000000 default\n"},
	{"/proc/self/smaps", "00400000-7fffffffffff rw-p 0 00:00 0\nSize: 4 kB\nAnonHugePages: 2048 kB\n"},
	{"/online", "0\n"},
	{"", "1900\n"}, /* every limit */
};
static const char *const NUMBERS[] = {"-1", "0", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
				      "99999999999999999999999999", "max", "4611686018427387904", "4194304", "63", "64"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t state;

static size_t below(size_t bound)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % bound);
}

/* Put the @text in place of @removed bytes of the @data at @at; return the new length. */
static size_t splice(char *data, size_t length, size_t at, size_t removed, const char *text, size_t added)
{
	if (at + removed > length || length - removed + added > MOST)
		return length;
	memmove(data + at + added, data + at + removed, length - at - removed);
	memmove(data + at, text, added);
	return length - removed + added;
}

/* Up to six kinds of damage, often none, as else few lines would be understood. */
static size_t damage(char *data, size_t length)
{
	char copy[MOST];

	for (size_t turns = below(2) ? below(7) : 0; turns && length; turns--) {
		const size_t at = below(length);
		size_t digits = 0;
		const char *const number = NUMBERS[below(COUNT(NUMBERS))];

		switch (below(6)) {
		case 0:
			data[at] = (char)below(256);
			break;
		case 1:
			length = at;
			break;
		case 2: /* a line without an end */
			memset(copy, data[at], sizeof(copy));
			length = splice(data, length, at, 0, copy, below(1500));
			break;
		case 3: /* lines twice */
			memcpy(copy, data + at, length - at);
			length = splice(data, length, at, 0, copy, length - at);
			break;
		default:
			while (at + digits < length && data[at + digits] >= '0' && data[at + digits] <= '9')
				digits++;
			length = splice(data, length, at, digits, number, strlen(number));
		}
	}
	return length;
}

static size_t served;

/* Replaces the C library's function: a damaged file, or none. */
FILE *fopen(const char *path, const char *mode)
{
	static char data[MOST + 1];
	const size_t length = strlen(path);
	size_t which = 0;

	(void)mode; /* only ever read */
	while (strlen(FILES[which].path) > length || strcmp(path + length - strlen(FILES[which].path), FILES[which].path))
		which++;
	memcpy(data, FILES[which].text, strlen(FILES[which].text));
	const size_t bytes = damage(data, strlen(FILES[which].text));

	if (!bytes || !below(20)) {
		errno = ENOENT;
		return NULL;
	}
	served++;
	FILE *const file = fmemopen(NULL, bytes, "w+");

	check(file && fwrite(data, 1, bytes, file) == bytes, "the text is served");
	rewind(file);
	return file;
}

int __wrap_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found);

int __wrap_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found)
{
	static char child[] = GROUP "/child/memory.min";
	static char *children[] = {child, child};

	(void)pattern;
	(void)flags;
	(void)failed;
	*found = (glob_t){.gl_pathc = 2, .gl_pathv = children};
	return 0;
}

void __wrap_globfree(glob_t *found);

void __wrap_globfree(glob_t *found)
{
	(void)found;
}

long __wrap_syscall(long number, ...);

/* No move_pages(2): the placement of memory is read from numa_maps. */
long __wrap_syscall(long number, ...)
{
	(void)number;
	errno = EPERM;
	return -1;
}

static void read_all(void)
{
	struct sizeup_cpu_time cpu_time;
	char text[200];

	check(sizeup_available_bytes(0, SIZEUP_PLACE_FIRST_TOUCH) >= 0, "memory");
	check(sizeup_available_bytes(3, SIZEUP_PLACE_BIND) >= -EINVAL, "memory of nodes");
	check(sizeup_available_bytes(UINT64_MAX, SIZEUP_PLACE_INTERLEAVE) >= -EINVAL, "memory of all nodes");
	check(sizeup_huge_pages_free(2 << 20, (int32_t)below(2) - 1) >= 0, "huge pages");
	sizeup_cpu_time_read((int32_t)below(3), &cpu_time);
	sizeup_cpu_explain(SIZEUP_CPU_FOLDER, (int32_t)below(3), -ENODEV, text, below(2) ? sizeof(text) : 1);
}

int main(void)
{
	const char *const asked = getenv("SIZEUP_FUZZ_SECONDS");
	const time_t end = time(NULL) + (asked ? atoi(asked) : 0);
	uint64_t seed = 0;

	for (; seed < 10 || time(NULL) < end; seed++) {
		const pid_t child = fork();
		int status = 0;

		check(child >= 0, "a process starts");
		if (!child) {
			state = seed * 0x9E3779B97F4A7C15u + 1;
			for (int round = 0; round < ROUNDS_PER_PROCESS; round++)
				read_all();
			check(served > ROUNDS_PER_PROCESS, "most files are served");
			return 0;
		}
		check(waitpid(child, &status, 0) == child, "the process is waited for");
		if (status) {
			fprintf(stderr, "seed %llu: status %d\n", (unsigned long long)seed, status);
			return 1;
		}
	}
	printf("%llu readings of damaged text\n", (unsigned long long)seed * ROUNDS_PER_PROCESS);
	return 0;
}
