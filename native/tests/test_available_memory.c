/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reclaim gives back counts as available, on nodes and in control groups of both versions; what is protected does
 * not. /proc/zoneinfo, which is long on a large machine, is read once and not for every piece of memory.
 */
#define _GNU_SOURCE
#include "check.h"

#include <sizeup/arena.h>

#include <errno.h>
#include <glob.h>
#include <string.h>

#define GROUP "/sys/fs/cgroup"
#define V1 GROUP "/memory/a"
#define V2 GROUP "/a"
#define MINE "/sys/fs/cgroup/a/b"

struct file {
	const char *path;
	const char *text;
};

static const struct file *machine;
static int zoneinfo_opened;

/* Replaces the C library's function: the files of the machine, and nothing else. */
FILE *fopen(const char *path, const char *mode)
{
	(void)mode; /* only ever read */
	zoneinfo_opened += strcmp(path, "/proc/zoneinfo") == 0;
	for (const struct file *file = machine; file->path; file++)
		if (!strcmp(file->path, path))
			return fmemopen((void *)file->text, strlen(file->text), "r");
	errno = ENOENT;
	return NULL;
}

int __wrap_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found);

int __wrap_glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found)
{
	static char *children[] = {MINE "/memory.min", V2 "/sibling/memory.min"};

	(void)flags;
	(void)failed;
	if (strcmp(pattern, V2 "/*/memory.min"))
		return GLOB_NOMATCH;
	*found = (glob_t){.gl_pathc = 2, .gl_pathv = children};
	return 0;
}

void __wrap_globfree(glob_t *found);

void __wrap_globfree(glob_t *found)
{
	(void)found;
}

/* A machine without nodes, on which only its control group is short of memory. */
#define GROUPED(groups) {"/proc/meminfo", "MemAvailable: 9000000 kB\n"}, {"/proc/self/cgroup", groups}

static const struct file VERSION_1[] = {
	GROUPED("4:memory:/a\n0::/\n"),
	{V1 "/memory.limit_in_bytes", "2000"},
	{V1 "/memory.usage_in_bytes", "1900"},
	{V1 "/memory.stat", "inactive_file 7\ntotal_inactive_file 600\ntotal_active_file 200\ntotal_dirty 500\n"},
	{GROUP "/memory/memory.limit_in_bytes", "9223372036854771712"},
	{GROUP "/memory/memory.usage_in_bytes", "100"},
	{NULL, NULL},
};

static const struct file VERSION_2[] = {
	GROUPED("0::/a/b\n"),
	{MINE "/memory.max", "2000"},
	{MINE "/memory.high", "max"},
	{MINE "/memory.current", "1900"},
	{MINE "/memory.min", "300"},
	{MINE "/memory.stat", "anon 1000\ninactive_file 600\nactive_file 200\nslab_reclaimable 50\nslab 90\n"},
	{V2 "/memory.max", "max"},
	{V2 "/memory.current", "4000"},
	{NULL, NULL},
};

/* The limit of the parent counts too, but not the page cache that its children keep. */
static const struct file PROTECTED[] = {
	GROUPED("0::/a/b\n"),
	{MINE "/memory.min", "300"},
	{V2 "/memory.high", "4100"},
	{V2 "/memory.current", "4000"},
	{V2 "/memory.stat", "active_file 500\ninactive_file 500\n"},
	{V2 "/sibling/memory.min", "200"},
	{NULL, NULL},
};

static const struct file ALL_PROTECTED[] = {
	GROUPED("0::/a/b\n"),
	{V2 "/memory.max", "4100"},
	{V2 "/memory.current", "4000"},
	{V2 "/memory.stat", "active_file 500\n"},
	{V2 "/sibling/memory.min", "max"},
	{NULL, NULL},
};

static const struct file NODES[] = {
	{"/proc/meminfo", "MemAvailable: 9000000 kB\n"},
	{"/proc/zoneinfo", "Node 0, zone Normal\n  pages free 9\n        high     0\n"},
	{"/sys/devices/system/node/node0/meminfo",
	 "Node 0 MemFree: 100 kB\nNode 0 Active: 7000 kB\nNode 0 Inactive(anon): 5000 kB\nNode 0 Active(file): 40 kB\n"
	 "Node 0 Inactive(file): 60 kB\nNode 0 Dirty: 30 kB\nNode 0 Shmem: 900 kB\nNode 0 SReclaimable: 20 kB\n"},
	{NULL, NULL},
};

static int64_t available_on(const struct file *files, uint64_t nodes)
{
	machine = files;
	return sizeup_available_bytes(nodes, nodes ? SIZEUP_PLACE_BIND : SIZEUP_PLACE_FIRST_TOUCH);
}

int main(void)
{
	check(available_on(VERSION_1, 0) == 2000 - 1900 + 600 + 200, "version 1: page cache of the group is available");
	check(available_on(VERSION_2, 0) == 2000 - 1900 + 600 + 200 + 25, "version 2: and half of the slab");
	check(available_on(PROTECTED, 0) == 4100 - 4000 + 1000 - 500, "what memory.min protects is not");
	check(available_on(ALL_PROTECTED, 0) == 100, "nothing of it is reclaimable");
	for (int i = 0; i < 100; i++)
		check(available_on(NODES, 1) == (100 + 40 + 60 + 10) * 1024, "page cache of the node is available");
	check(zoneinfo_opened == 1, "/proc/zoneinfo was opened once in 100 calls");
	check(available_on(NODES, 2) == -EINVAL, "node 1 does not exist");
	return 0;
}
