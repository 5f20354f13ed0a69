/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is asked for on the nodes and pages that are named, and where it is reported is where the kernel says. */
#define _GNU_SOURCE
#include <sizeup/arena.h>

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "check.h"
#include "cpu_set.h"

#define MIB (UINT64_C(1) << 20)
#define BYTES (4 * MIB)
#define BIND 2 /* MPOL_BIND and MPOL_INTERLEAVE of linux/mempolicy.h */
#define INTERLEAVE 3

static int binds;
static int policy;
static uint64_t mask;
static char *bound_start;
static uint64_t bound_bytes;
static int advice; /* about pages, the last one */
static int populated;
static int populated_on; /* a CPU */
static int touch_cpu = -1;
static int denied; /* mbind, as in a container */
static uint64_t queried; /* pages, each once */
static char *batch; /* the first page of the last query of several */
static uint64_t batch_bytes;
static uint64_t step;
static uint64_t first_queried; /* the number of that page */
static char *again; /* the page that was asked for by itself last */
static int mapped; /* flags of the last anonymous mapping */

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_madvise(void *start, size_t bytes, int what);
int __wrap_madvise(void *start, size_t bytes, int what);
int64_t __wrap_sizeup_available_bytes(uint64_t nodes, int32_t placement);
int64_t __wrap_sizeup_huge_pages_free(uint64_t page_bytes, int32_t node);
void *__real_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset);

/*
 * A machine with nodes 0 to 2; every fourth page has gone. Every second page of node 1 is watched by NUMA balancing:
 * absent when it is first asked for, and once more when it is asked for by itself. Half of these are parts of huge
 * pages, which Linux 6.1 reports as -EFAULT and not as -ENOENT.
 */
static int status_of(uint64_t page, int watched)
{
	if (page % 4 == 3)
		return -ENOENT;
	if (page % 8 == 1 && watched)
		return page % 16 == 1 ? -ENOENT : -EFAULT;
	return (int)(page % 4);
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	(void)f;
	if (number == SYS_mbind) {
		check(!populated, "memory is bound before it is populated");
		binds++;
		bound_start = (char *)a;
		bound_bytes = (uint64_t)b;
		policy = (int)c;
		mask = *(const uint64_t *)d;
		check(e == SIZEUP_NODES + 1, "the mask has a bit for every node");
		errno = EPERM;
		return denied ? -1 : 0;
	}
	check(number == SYS_move_pages, "no other system call");
	const unsigned long count = (unsigned long)b;
	int *const status = (int *)e;

	char *const *const pages = (char *const *)c;

	check(!d, "pages are looked for and not moved");
	if (count == 1 && batch && pages[0] >= batch && pages[0] < batch + batch_bytes) {
		const uint64_t page = first_queried + (uint64_t)(pages[0] - batch) / step;

		status[0] = status_of(page, pages[0] != again);
		again = pages[0];
		return 0;
	}
	batch = pages[0];
	first_queried = queried;
	step = count > 1 ? (uint64_t)(pages[1] - pages[0]) : 1;
	batch_bytes = count * step;
	for (unsigned long i = 0; i < count; i++, queried++)
		status[i] = status_of(queried, 1);
	return 0;
}

int __wrap_madvise(void *start, size_t bytes, int what)
{
	if (what == MADV_HUGEPAGE || what == MADV_NOHUGEPAGE)
		advice = what;
	else {
		populated = 1;
		populated_on = sched_getcpu();
	}
	return __real_madvise(start, bytes, what);
}

int64_t __wrap_sizeup_available_bytes(uint64_t nodes, int32_t placement)
{
	(void)nodes, (void)placement;
	return (int64_t)(1024 * MIB);
}

int64_t __wrap_sizeup_huge_pages_free(uint64_t page_bytes, int32_t node)
{
	(void)node;
	return page_bytes == 2 * MIB ? 64 : 0;
}

/* Reserved huge pages are base pages here: this machine may have none. */
void *__wrap_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset)
{
	mapped = flags;
	return __real_mmap(start, length, protection, flags & (MAP_PRIVATE | MAP_ANONYMOUS), fd, offset);
}

static struct sizeup_placement opened(int32_t pages, int32_t placement, uint64_t nodes)
{
	struct sizeup_job *const job = sizeup_job_new();
	const struct sizeup_arena_spec spec = {
		.bytes = BYTES, .pages = pages, .placement = placement, .nodes = nodes, .touch_cpu = touch_cpu,
	};
	struct sizeup_arena arena;
	struct sizeup_placement found;

	binds = policy = advice = populated = 0;
	mask = queried = bound_bytes = 0;
	batch = again = NULL;
	check(job && !sizeup_arena_open(&arena, &spec, job), "memory is allocated");
	check(arena.bytes == BYTES && populated, "all of it");
	check(!binds || (bound_start == arena.start && bound_bytes == arena.bytes), "the whole range is bound");
	found = arena.placement;
	sizeup_arena_close(&arena);
	sizeup_job_free(job);
	return found;
}

int main(void)
{
	cpu_set_t *const after = CPU_ALLOC(1 << 16);
	struct sizeup_placement found = opened(SIZEUP_PAGES_BASE, SIZEUP_PLACE_FIRST_TOUCH, 0);

	check(binds == 0 && !found.bound, "first touch binds nothing");
	check(advice == MADV_NOHUGEPAGE, "base pages are asked for");
	check(found.verified && found.pages == queried && queried > 0, "every page is looked for");
	for (int node = 0; node < 3; node++)
		check(found.on_node[node] == queried / 4, "and counted where it is");
	check(found.elsewhere == queried / 4, "or as elsewhere");
	check(found.huge_share < 0.01, "on base pages");

	found = opened(SIZEUP_PAGES_THP, SIZEUP_PLACE_BIND, 1 << 2);
	check(binds == 1 && policy == BIND && mask == 1 << 2, "memory is bound to the node that is named");
	check(found.bound, "and said to be");
	check(advice == MADV_HUGEPAGE, "huge pages are asked for");
	opened(SIZEUP_PAGES_BASE, SIZEUP_PLACE_INTERLEAVE, 5);
	check(binds == 1 && policy == INTERLEAVE && mask == 5, "or interleaved over those that are named");
	check(!(mapped & MAP_HUGETLB), "from the system's memory");
	found = opened(SIZEUP_PAGES_HUGE2M, SIZEUP_PLACE_BIND, 2);
	check(mapped == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21 << 26), "or from the pool of pages of 2 MiB");
	check(binds == 1 && mask == 2 && found.huge_share == 1, "which are huge");
	check(queried == BYTES / (2 * MIB), "and looked for one by one");

	struct sizeup_cpu_set allowed;

	denied = 1;
	check(!sizeup_cpu_set_read(&allowed), "this thread's CPUs");
	for (touch_cpu = 0; touch_cpu < (int)(8 * allowed.bytes); touch_cpu++) {
		if (!sizeup_cpu_set_has(&allowed, touch_cpu))
			continue;
		found = opened(SIZEUP_PAGES_BASE, SIZEUP_PLACE_BIND, 2);
		check(!found.bound && populated_on == touch_cpu, "where mbind is denied, a CPU of the node populates it");
		check(!sched_getaffinity(0, allowed.bytes, after), "and this thread");
		check(CPU_EQUAL_S(allowed.bytes, allowed.mask, after), "keeps its CPUs");
	}
	CPU_FREE(after);
	sizeup_cpu_set_free(&allowed);
	return 0;
}
