/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/arena.h>

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

/* A line of a statistics file, and how many halves of its number can be allocated without swapping. */
struct share {
	const char *label;
	int halves;
};

/*
 * As in MemAvailable, page cache counts, dirty or not: reclaim writes it first. Of the kernel's reclaimable caches, some
 * objects are in use.
 */
static const struct share MACHINE[] = {{"MemAvailable:", 2}, {NULL, 0}};
static const struct share NODE[] = {
	{"MemFree:", 2}, {"Active(file):", 2}, {"Inactive(file):", 2}, {"SReclaimable:", 1}, {NULL, 0}};
static const struct share GROUP_V1[] = {{"total_active_file ", 2}, {"total_inactive_file ", 2}, {NULL, 0}};
static const struct share GROUP_V2[] = {{"active_file ", 2}, {"inactive_file ", 2}, {"slab_reclaimable ", 1}, {NULL, 0}};

static int64_t minimum(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

/* Far above any memory, and so low that sums of such numbers, in kB or over all nodes, stay within 64 bits. */
#define MOST (INT64_C(1) << 52)

/* Return the number at the start of the @text, between 0 and MOST: no sum of what the kernel serves overflows. */
static int64_t natural(const char *text)
{
	const long long value = strtoll(text, NULL, 10);

	return value < 0 ? 0 : minimum(value, MOST);
}

/* Return the sum of the @shares of a file, in its own unit; -ENOENT if it cannot be read. */
static int64_t sum_shares(const char *path, const struct share *shares)
{
	char line[512];
	int64_t halves = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return -ENOENT;
	while (fgets(line, sizeof(line), file))
		for (const struct share *share = shares; share->label; share++) {
			const char *const found = strstr(line, share->label);

			if (found && (found == line || found[-1] == ' '))
				halves = minimum(halves + share->halves * natural(found + strlen(share->label)), MOST);
		}
	fclose(file);
	return halves / 2;
}

/* Return the one number of a file; INT64_MAX for "max", any other text or a file that cannot be read. */
static int64_t read_limit(const char *path)
{
	char text[64] = "";
	char *end;
	FILE *file = fopen(path, "re");

	if (!file)
		return INT64_MAX;
	const char *const line = fgets(text, sizeof(text), file);

	fclose(file);
	const long long value = strtoll(text, &end, 10);

	return line && end != text && value >= 0 ? value : INT64_MAX;
}

/* Pages that reclaim keeps free on each node: the sum of its zones' high watermarks. */
static int64_t high_watermark_pages[SIZEUP_NODES];

/* Long on a machine with many CPUs and nodes, and set at boot or by an administrator: read once, not per allocation. */
static void read_high_watermarks(void)
{
	char line[256];
	int node = -1;
	FILE *zones = fopen("/proc/zoneinfo", "re");

	if (!zones)
		return;
	while (fgets(line, sizeof(line), zones)) {
		char high[24];

		if (sscanf(line, "Node %d,", &node) == 1)
			continue;
		/* "        high     12345" under "pages free"; the per-CPU sets write "high:". */
		if (node >= 0 && node < SIZEUP_NODES && sscanf(line, " high %23[0-9]", high) == 1)
			high_watermark_pages[node] = minimum(high_watermark_pages[node] + natural(high), MOST >> 16);
	}
	fclose(zones);
}

static int64_t node_available_bytes(int32_t node)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char path[96];

	pthread_once(&once, read_high_watermarks);
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	const int64_t kilobytes = sum_shares(path, NODE);

	if (kilobytes < 0)
		return -EINVAL;
	const int64_t available = kilobytes * 1024 - high_watermark_pages[node] * sysconf(_SC_PAGESIZE);

	return available > 0 ? minimum(available, MOST) : 0;
}

/* Return what reclaim can free in @group without swapping: not what its child groups have protected (version 2). */
static int64_t reclaimable_bytes(const char *group, const struct share *shares)
{
	char path[PATH_MAX];
	glob_t children = {0};

	snprintf(path, sizeof(path), "%.3900s/memory.stat", group);
	const int64_t all = sum_shares(path, shares);
	int64_t left = all > 0 ? all : 0;

	snprintf(path, sizeof(path), "%.3900s/*/memory.min", group);
	if (!glob(path, GLOB_NOSORT | GLOB_NOESCAPE, NULL, &children))
		for (size_t i = 0; i < children.gl_pathc && left; i++)
			left -= minimum(left, read_limit(children.gl_pathv[i]));
	globfree(&children);
	return left;
}

/*
 * A group may use what every limit from its own up to that of the mounted hierarchy's root leaves. Version 1 writes
 * "no limit" as the largest multiple of a page.
 */
static int64_t hierarchy_available_bytes(const char *group, const char *limit, const char *usage,
					 const struct share *shares)
{
	char path[PATH_MAX];
	char parent[PATH_MAX];
	int64_t available = INT64_MAX;

	snprintf(parent, sizeof(parent), "%s", group);
	for (int depth = 0; depth < 64; depth++) {
		snprintf(path, sizeof(path), "%.3900s/%s", parent, limit);
		const int64_t maximum = read_limit(path);

		snprintf(path, sizeof(path), "%.3900s/%s", parent, usage);
		const int64_t current = read_limit(path);

		if (maximum < INT64_MAX / 2 && current != INT64_MAX) {
			const int64_t left = maximum - current + reclaimable_bytes(parent, shares);

			available = minimum(available, left > 0 ? left : 0);
		}
		char *const slash = strrchr(parent, '/');

		if (strlen(parent) <= strlen(CGROUP_ROOT) || !slash)
			break;
		*slash = '\0';
	}
	return available;
}

static int64_t cgroup_available_bytes(void)
{
	char line[PATH_MAX];
	char group[PATH_MAX];
	int64_t available = INT64_MAX;
	FILE *groups = fopen("/proc/self/cgroup", "re");

	if (!groups)
		return available;
	while (fgets(line, sizeof(line), groups)) {
		char *const path = strrchr(line, ':');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (!strncmp(line, "0::", 3)) {
			snprintf(group, sizeof(group), CGROUP_ROOT "%.3900s", path + 1);
			available = minimum(available, hierarchy_available_bytes(group, "memory.max", "memory.current", GROUP_V2));
			available = minimum(available, hierarchy_available_bytes(group, "memory.high", "memory.current", GROUP_V2));
		} else if (strstr(line, ":memory")) {
			snprintf(group, sizeof(group), CGROUP_ROOT "/memory%.3900s", path + 1);
			available = minimum(available, hierarchy_available_bytes(group, "memory.limit_in_bytes",
									 "memory.usage_in_bytes", GROUP_V1));
		}
	}
	fclose(groups);
	return available;
}

int64_t sizeup_available_bytes(uint64_t nodes, int32_t placement)
{
	const int64_t available_kb = sum_shares("/proc/meminfo", MACHINE);
	int64_t available = minimum(available_kb > 0 ? available_kb * 1024 : 0, cgroup_available_bytes());
	int64_t all_nodes = 0;
	int64_t smallest = INT64_MAX;
	int64_t count = 0;

	for (int32_t node = 0; node < SIZEUP_NODES; node++) {
		if (!(nodes >> node & 1))
			continue;
		const int64_t on_node = node_available_bytes(node);

		if (on_node < 0)
			return -EINVAL;
		all_nodes += on_node;
		smallest = minimum(smallest, on_node);
		count++;
	}
	if (count)
		available = minimum(available, placement == SIZEUP_PLACE_INTERLEAVE ? smallest * count : all_nodes);
	return available;
}

int64_t sizeup_huge_pages_free(uint64_t page_bytes, int32_t node)
{
	char path[160];
	const unsigned long long kilobytes = page_bytes / 1024;

	if (node < 0)
		snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%llukB/free_hugepages", kilobytes);
	else
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/hugepages/hugepages-%llukB/free_hugepages",
			 node, kilobytes);
	const int64_t pages = read_limit(path);

	return pages == INT64_MAX ? 0 : pages;
}
