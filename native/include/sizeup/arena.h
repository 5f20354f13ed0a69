/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_ARENA_H
#define SIZEUP_ARENA_H

#include <stdint.h>
#include <sizeup/available_memory.h>
#include <sizeup/job.h>

#define SIZEUP_PAGES_BASE 0
#define SIZEUP_PAGES_THP 1
#define SIZEUP_PAGES_HUGE2M 2
#define SIZEUP_PAGES_HUGE1G 3

#define SIZEUP_PLACE_FIRST_TOUCH 0
#define SIZEUP_PLACE_BIND 1
#define SIZEUP_PLACE_INTERLEAVE 2

#define SIZEUP_NODES 64 /* nodes that a mask can name */

/** struct sizeup_arena_spec - Size, page size and placement of the memory to measure. */
struct sizeup_arena_spec {
	uint64_t bytes;
	int32_t pages;     /* SIZEUP_PAGES_* */
	int32_t placement; /* SIZEUP_PLACE_* */
	uint64_t nodes;    /* mask of os node ids; ignored for first touch */
	int32_t touch_cpu; /* a CPU of the node, for kernels that forbid mbind; -1: the node has none */
};

/** struct sizeup_placement - The nodes that hold the pages of an arena. */
struct sizeup_placement {
	uint64_t pages;           /* checked */
	uint64_t on_node[64];     /* by os node id */
	uint64_t elsewhere;       /* not present, or on a node that a mask cannot name */
	double huge_share;        /* of the bytes, on huge pages; 0 to 1 */
	int32_t verified;         /* 0: neither move_pages nor numa_maps was allowed */
	int32_t bound;            /* 0: mbind is forbidden, so the first touch placed the pages */
};

/** struct sizeup_arena - Populated memory; empty when bytes is 0. */
struct sizeup_arena {
	void *start;
	uint64_t bytes;
	uint64_t page_bytes;      /* unit of random placement: 2 MiB, or a huge page of 1 GiB */
	void *mapping;
	uint64_t mapping_bytes;
	struct sizeup_placement placement;
};

/** sizeup_huge_pages_free() - Free huge pages of @page_bytes on @node, or on all nodes with -1; 0 without a pool. */
int64_t sizeup_huge_pages_free(uint64_t page_bytes, int32_t node);

/** sizeup_arena_check() - Check that half of what is available there holds @needed bytes. Return: as sizeup_arena_open(). */
int sizeup_arena_check(uint64_t needed, const struct sizeup_arena_spec *spec, struct sizeup_job *job);

/**
 * sizeup_arena_open() - Map, bind, populate and verify memory.
 *
 * Allocates at most half of the available memory, and checks again before every 4 MiB: binding to a
 * full node invokes the OOM killer instead of returning an error. Never changes a kernel setting.
 * Return: 0; -ECANCELED; otherwise negative with the reason in @job: -ENOMEM too little memory or
 * huge pages, -EINVAL no such node, -EPERM and -EOPNOTSUPP not allowed or not possible here.
 */
int sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job);

/** sizeup_arena_close() - Unmap the memory; 1 GiB of base pages takes up to 0.6 s. */
void sizeup_arena_close(struct sizeup_arena *arena);

/**
 * sizeup_placement_query() - Add the node of each page of a mapping to @placement, one page every @step bytes.
 * Return: 0, -ECANCELED, or a negative errno if the kernel forbids move_pages.
 */
int sizeup_placement_query(const void *start, uint64_t bytes, uint64_t step, struct sizeup_placement *placement,
			   const struct sizeup_job *job);

#endif
