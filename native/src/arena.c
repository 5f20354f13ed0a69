/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/arena.h>

#include "job_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define CHUNK_BYTES (4 * MIB)
#define ALIGNMENT (2 * MIB)
#define PAGES_PER_QUERY 4096
#define QUERIES_PER_PAGE 4 /* of one that is absent */

/* From linux/mempolicy.h and asm-generic/mman.h; older headers lack some of them. */
#define POLICY_BIND 2
#define POLICY_INTERLEAVE 3
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define HUGE_2MB (21 << 26)
#define HUGE_1GB (30 << 26)

static int map(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job)
{
	const int huge = spec->pages == SIZEUP_PAGES_HUGE2M || spec->pages == SIZEUP_PAGES_HUGE1G;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	/* Without MAP_NORESERVE: an empty pool then returns ENOMEM here instead of SIGBUS at the first access. */
	if (huge)
		flags |= MAP_HUGETLB | (spec->pages == SIZEUP_PAGES_HUGE2M ? HUGE_2MB : HUGE_1GB);
	arena->mapping_bytes = huge ? arena->bytes : arena->bytes + ALIGNMENT;
	arena->mapping = mmap(NULL, arena->mapping_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (arena->mapping == MAP_FAILED) {
		const int error = errno;

		arena->mapping = NULL;
		return sizeup_job_fail(job, -error, "mapping %llu MiB failed: %s",
					 (unsigned long long)(arena->bytes / MIB), strerror(error));
	}
	const uintptr_t start = (uintptr_t)arena->mapping;

	arena->start = huge ? arena->mapping : (void *)((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
	/* Only advice: verify() reads back the result. */
	if (spec->pages == SIZEUP_PAGES_THP)
		madvise(arena->start, arena->bytes, MADV_HUGEPAGE);
	if (spec->pages == SIZEUP_PAGES_BASE)
		madvise(arena->start, arena->bytes, MADV_NOHUGEPAGE);
	return 0;
}

/* Bind the range, not the thread: the thread's stack and heap keep their placement. */
static int bind_range(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job)
{
	const int policy = spec->placement == SIZEUP_PLACE_INTERLEAVE ? POLICY_INTERLEAVE : POLICY_BIND;
	unsigned long mask = spec->nodes;

	arena->placement.bound = 1;
	/* The kernel uses one bit less than the given maximum. */
	if (!syscall(SYS_mbind, arena->start, arena->bytes, policy, &mask, SIZEUP_NODES + 1, 0))
		return 0;
	const int error = errno;

	arena->placement.bound = 0;
	if (error != EPERM && error != ENOSYS) /* containers return either */
		return sizeup_job_fail(job, -error,
					 "memory on node mask %#lx is not available: %s (no such node, no memory on "
					 "it, or not in the cpuset of this process)",
					 mask, strerror(error));
	if (spec->placement == SIZEUP_PLACE_INTERLEAVE)
		return sizeup_job_fail(job, -EPERM,
					 "memory cannot be interleaved: mbind is forbidden (in a container)");
	if (spec->touch_cpu < 0)
		return sizeup_job_fail(job, -EPERM,
					 "memory of a node without CPUs cannot be measured: mbind is forbidden (in a "
					 "container)");
	return 0;
}

int sizeup_arena_check(uint64_t needed, const struct sizeup_arena_spec *spec, struct sizeup_job *job)
{
	const uint64_t nodes = spec->placement == SIZEUP_PLACE_FIRST_TOUCH ? 0 : spec->nodes;
	const int64_t available = sizeup_available_bytes(nodes, spec->placement);
	char nodes_text[64] = "this machine";

	if (nodes)
		snprintf(nodes_text, sizeof(nodes_text), "node mask %#llx", (unsigned long long)nodes);
	if (available == -EINVAL)
		return sizeup_job_fail(job, -EINVAL, "%s names a node that does not exist", nodes_text);
	if (available < 0 || needed > (uint64_t)available / 2)
		return sizeup_job_fail(job, -ENOMEM,
					 "not enough memory: %llu MiB needed, %s has %lld MiB available and sizeup uses "
					 "at most half of it",
					 (unsigned long long)(needed / MIB), nodes_text, (long long)(available / (int64_t)MIB));
	return 0;
}

/* The pool is reserved for the whole machine; the pool of one node may still be empty. */
static int check_huge_pages(const struct sizeup_arena *arena, const struct sizeup_arena_spec *spec,
			   struct sizeup_job *job)
{
	const uint64_t needed = arena->bytes / arena->page_bytes;
	const char *const size = spec->pages == SIZEUP_PAGES_HUGE1G ? "1048576" : "2048";
	int64_t free_pages = 0;

	if (spec->placement == SIZEUP_PLACE_FIRST_TOUCH)
		free_pages = sizeup_huge_pages_free(arena->page_bytes, -1);
	for (int32_t node = 0; spec->placement != SIZEUP_PLACE_FIRST_TOUCH && node < SIZEUP_NODES; node++)
		if (spec->nodes >> node & 1)
			free_pages += sizeup_huge_pages_free(arena->page_bytes, node);
	if ((uint64_t)free_pages >= needed)
		return 0;
	return sizeup_job_fail(job, -ENOMEM,
				 "%llu free huge pages of %s kB needed, %lld found; reserve them with: echo %llu > "
				 "/sys/kernel/mm/hugepages/hugepages-%skB/nr_hugepages",
				 (unsigned long long)needed, size, (long long)free_pages, (unsigned long long)needed, size);
}

static int populate_chunk(const struct sizeup_arena_spec *spec, char *start, uint64_t bytes, struct sizeup_job *job)
{
	if (!madvise(start, bytes, MADV_POPULATE_WRITE))
		return 0;
	const int error = errno;
	const int huge = spec->pages == SIZEUP_PAGES_HUGE2M || spec->pages == SIZEUP_PAGES_HUGE1G;

	/* Kernels before 5.14: one fault per page. Not for hugetlb, where a fault can raise SIGBUS. */
	if (error == EINVAL && !huge) {
		for (uint64_t offset = 0; offset < bytes; offset += (uint64_t)sysconf(_SC_PAGESIZE))
			*(volatile char *)(start + offset) = 0;
		return 0;
	}
	if (error == EINVAL)
		return sizeup_job_fail(job, -EOPNOTSUPP,
					 "huge pages need MADV_POPULATE_WRITE (Linux 5.14): without it an empty pool "
					 "ends the process");
	return sizeup_job_fail(job, -ENOMEM, "allocating another %llu MiB failed: %s",
				 (unsigned long long)(bytes / MIB), strerror(error));
}

static int populate(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job)
{
	const int huge = spec->pages == SIZEUP_PAGES_HUGE2M || spec->pages == SIZEUP_PAGES_HUGE1G;
	const uint64_t chunk = arena->page_bytes > CHUNK_BYTES ? arena->page_bytes : CHUNK_BYTES;
	int status = 0;

	for (uint64_t done = 0; !status && done < arena->bytes; done += chunk) {
		const uint64_t left = arena->bytes - done;

		if (sizeup_job_canceled(job))
			return -ECANCELED;
		if (!huge) /* pages of a pool are reserved already and are not part of free memory */
			status = sizeup_arena_check(left, spec, job);
		if (!status)
			status = populate_chunk(spec, (char *)arena->start + done, left < chunk ? left : chunk, job);
	}
	return status;
}

/* The work of a thread on a CPU of the node: where mbind is forbidden, its first touch places the memory there. */
struct toucher {
	struct sizeup_arena *arena;
	const struct sizeup_arena_spec *spec;
	struct sizeup_job *job;
	int status;
};

static void *touch_main(void *argument)
{
	struct toucher *const toucher = argument;

	toucher->status = sizeup_job_pin(toucher->job, toucher->spec->touch_cpu);
	if (!toucher->status)
		toucher->status = populate(toucher->arena, toucher->spec, toucher->job);
	return NULL;
}

static int populate_from(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job)
{
	struct toucher toucher = { arena, spec, job, 0 };
	pthread_t thread;

	if (spec->placement != SIZEUP_PLACE_BIND || arena->placement.bound)
		return populate(arena, spec, job);
	const int error = pthread_create(&thread, NULL, touch_main, &toucher);

	if (error)
		return sizeup_job_fail(job, -error, "starting a thread failed: %s", strerror(error));
	pthread_join(thread, NULL);
	return toucher.status;
}

/*
 * Without target nodes move_pages only reports the placement: exact, hugetlb included. A page that automatic NUMA
 * balancing watches is reported as absent until its next access (-EFAULT for a huge page): it is read and asked for
 * again at once, by itself and more than once, as on a busy host the kernel may have begun to watch it again meanwhile.
 */
static int query_nodes(void **pages, unsigned long count, int *status)
{
	if (syscall(SYS_move_pages, 0, count, pages, NULL, status, 0))
		return -errno;
	for (unsigned long i = 0; i < count; i++) {
		for (int turn = 0; turn < QUERIES_PER_PAGE && (status[i] == -ENOENT || status[i] == -EFAULT); turn++) {
			(void)*(volatile const char *)pages[i];
			if (syscall(SYS_move_pages, 0, 1, &pages[i], NULL, &status[i], 0))
				return -errno;
		}
	}
	return 0;
}

int sizeup_placement_query(const void *start, uint64_t bytes, uint64_t step, struct sizeup_placement *placement,
			 const struct sizeup_job *job)
{
	void *pages[PAGES_PER_QUERY];
	int status[PAGES_PER_QUERY];

	for (uint64_t offset = 0; offset < bytes;) {
		unsigned long count = 0;

		if (sizeup_job_canceled(job))
			return -ECANCELED;
		for (; count < PAGES_PER_QUERY && offset < bytes; offset += step)
			pages[count++] = (char *)start + offset;
		const int failed = query_nodes(pages, count, status);

		if (failed)
			return failed;
		for (unsigned long i = 0; i < count; i++) {
			placement->pages++;
			if (status[i] >= 0 && status[i] < SIZEUP_NODES)
				placement->on_node[status[i]]++;
			else
				placement->elsewhere++;
		}
	}
	return 0;
}

/* /proc/self/numa_maps: "7f00... bind:0 anon=512 dirty=512 N0=512 kernelpagesize_kB=4". */
static int read_numa_maps(struct sizeup_arena *arena)
{
	struct sizeup_placement *const placement = &arena->placement;
	char line[4096];
	int found = -ENOENT;
	FILE *maps = fopen("/proc/self/numa_maps", "re");

	if (!maps)
		return -errno;
	while (fgets(line, sizeof(line), maps)) {
		const uintptr_t start = (uintptr_t)strtoull(line, NULL, 16);

		if (start < (uintptr_t)arena->start || start >= (uintptr_t)arena->start + arena->bytes)
			continue;
		found = 0;
		for (char *word = strstr(line, " N"); word; word = strstr(word + 1, " N")) {
			unsigned node;
			unsigned long long pages;

			if (sscanf(word, " N%u=%llu", &node, &pages) != 2)
				continue;
			placement->pages += pages;
			if (node < SIZEUP_NODES)
				placement->on_node[node] += pages;
			else
				placement->elsewhere += pages;
		}
	}
	fclose(maps);
	return found;
}

/* Return the share of the arena on transparent huge pages, by /proc/self/smaps. */
static double huge_share(const struct sizeup_arena *arena)
{
	char line[512];
	uint64_t huge_kb = 0;
	int inside = 0;
	FILE *smaps = fopen("/proc/self/smaps", "re");

	if (!smaps)
		return 0;
	while (fgets(line, sizeof(line), smaps)) {
		unsigned long long start, end, kilobytes;

		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			inside = start < (uintptr_t)arena->start + arena->bytes && end > (uintptr_t)arena->start;
		else if (inside && sscanf(line, "AnonHugePages: %llu kB", &kilobytes) == 1)
			huge_kb += kilobytes;
	}
	fclose(smaps);
	const double share = (double)(huge_kb * KIB) / (double)arena->bytes;
	return share < 1 ? share : 1;
}

/* Query the placement of each page of the arena. */
static int verify(struct sizeup_arena *arena, const struct sizeup_job *job)
{
	const int32_t bound = arena->placement.bound;
	const int hugetlb = arena->start == arena->mapping && arena->page_bytes >= 2 * MIB &&
			    arena->mapping_bytes == arena->bytes;

	memset(&arena->placement, 0, sizeof(arena->placement));
	arena->placement.bound = bound;
	/* A transparent huge page may have been split or refused, so query each base page. */
	const uint64_t step = hugetlb ? arena->page_bytes : (uint64_t)sysconf(_SC_PAGESIZE);

	const int status = sizeup_placement_query(arena->start, arena->bytes, step, &arena->placement, job);

	if (status == -ECANCELED)
		return status;
	arena->placement.verified = !status || !read_numa_maps(arena);
	arena->placement.huge_share = hugetlb ? 1 : huge_share(arena);
	return 0;
}

void sizeup_arena_close(struct sizeup_arena *arena)
{
	if (arena->mapping)
		munmap(arena->mapping, arena->mapping_bytes);
	memset(arena, 0, sizeof(*arena));
}

int sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job)
{
	const int huge = spec->pages == SIZEUP_PAGES_HUGE2M || spec->pages == SIZEUP_PAGES_HUGE1G;
	int status;

	memset(arena, 0, sizeof(*arena));
	/*
	 * Base pages are placed 2 MiB at a time: single random pages would leave most entries of each cache line of
	 * the page table unused, and page walks would miss the cache as in a working set several times as large.
	 */
	arena->page_bytes = spec->pages == SIZEUP_PAGES_HUGE1G ? 1024 * MIB : 2 * MIB;
	arena->bytes = (spec->bytes + arena->page_bytes - 1) / arena->page_bytes * arena->page_bytes;
	status = huge ? check_huge_pages(arena, spec, job) : sizeup_arena_check(arena->bytes, spec, job);
	if (!status)
		status = map(arena, spec, job);
	if (!status && spec->placement != SIZEUP_PLACE_FIRST_TOUCH)
		status = bind_range(arena, spec, job);
	if (!status)
		status = populate_from(arena, spec, job);
	if (!status)
		status = verify(arena, job);
	if (status)
		sizeup_arena_close(arena);
	return status;
}
