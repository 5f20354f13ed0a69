/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fallocate, statx */
#include <sizeup/direct_io_target.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYS_NUMBER_CACHESTAT 451 /* the same on every architecture but alpha; Linux 6.5 */
#define MASK_DIOALIGN 0x2000u    /* Linux 6.1, newer than many build hosts */

#define WINDOW_PAGES 1024  /* of one mincore(2): 4 MiB with 4 KiB pages */
#define MOST_WINDOWS 4096u /* 16 GiB with 4 KiB pages, a fraction of a second */

/* Fields of struct statx that older headers only reserve; see statx(2). */
#define STATX_BYTES 256
#define STATX_MASK_AT 0
#define STATX_MEMORY_ALIGN_AT 0x98
#define STATX_OFFSET_ALIGN_AT 0x9c

int sizeup_io_alignment(int fd, uint32_t *memory_bytes, uint32_t *offset_bytes)
{
	char answer[STATX_BYTES] = { 0 };
	uint32_t mask;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, MASK_DIOALIGN, answer) < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	memcpy(&mask, answer + STATX_MASK_AT, sizeof(mask));
	if (!(mask & MASK_DIOALIGN))
		return -EOPNOTSUPP;
	memcpy(memory_bytes, answer + STATX_MEMORY_ALIGN_AT, sizeof(*memory_bytes));
	memcpy(offset_bytes, answer + STATX_OFFSET_ALIGN_AT, sizeof(*offset_bytes));
	return 0;
}

static int64_t resident_pages(int fd, uint64_t offset, size_t bytes, unsigned char *resident, size_t page_bytes)
{
	void *const map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset);
	const size_t pages = (bytes + page_bytes - 1) / page_bytes;
	int64_t count = 0;

	if (map == MAP_FAILED)
		return -errno;
	if (mincore(map, bytes, resident) < 0)
		count = -errno;
	for (size_t i = 0; count >= 0 && i < pages; i++)
		count += resident[i] & 1;
	munmap(map, bytes);
	return count;
}

/*
 * mincore(2) takes a byte and a lookup for every page: a file of 4 TiB would need 1 GiB of answers and about a minute.
 * So it is asked for one window after the other, and in a large file for evenly spaced ones that stand for the rest.
 */
int64_t sizeup_io_cached_bytes(int fd, uint64_t size_bytes)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const struct {
		uint64_t offset, length;
	} range = { 0, size_bytes };
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted;
	} known;
	struct stat status;
	unsigned char resident[WINDOW_PAGES];
	const uint64_t window_bytes = WINDOW_PAGES * page_bytes;
	const uint64_t windows = (size_bytes + window_bytes - 1) / window_bytes;
	const uint64_t looked = windows < MOST_WINDOWS ? windows : MOST_WINDOWS;
	uint64_t seen_bytes = 0;
	int64_t pages = 0;

	if (syscall(SYS_NUMBER_CACHESTAT, fd, &range, &known, 0) == 0)
		return (int64_t)(known.cached * page_bytes);
	/* The kernel says so only to the owner of a file and to who may write it; for others every page looks resident. */
	if (fstat(fd, &status) < 0 || (status.st_uid != geteuid() && geteuid() != 0 &&
				       faccessat(fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) != 0))
		return -EPERM;
	for (uint64_t i = 0; i < looked; i++) {
		const uint64_t offset = windows * i / looked * window_bytes;
		const uint64_t left = size_bytes - offset;
		const uint64_t bytes = left < window_bytes ? left : window_bytes;
		const int64_t found = resident_pages(fd, offset, bytes, resident, page_bytes);

		if (found < 0)
			return found;
		pages += found;
		seen_bytes += bytes;
	}
	if (seen_bytes == size_bytes)
		return pages * (int64_t)page_bytes;
	return (int64_t)((double)pages * (double)page_bytes * ((double)size_bytes / (double)seen_bytes));
}

int sizeup_io_extents(int fd, uint64_t size_bytes, int flush, struct sizeup_io_extents *extents)
{
	enum { BATCH = 128 };
	const uint32_t odd = FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DELALLOC |
			     FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DATA_TAIL;
	const size_t bytes = sizeof(struct fiemap) + BATCH * sizeof(struct fiemap_extent);
	struct fiemap *const map = malloc(bytes);
	uint64_t at = 0;
	int status = 0;

	if (!map)
		return -ENOMEM;
	memset(extents, 0, sizeof(*extents));
	while (at < size_bytes) {
		memset(map, 0, bytes);
		map->fm_start = at;
		map->fm_length = size_bytes - at;
		map->fm_flags = flush ? FIEMAP_FLAG_SYNC : 0;
		map->fm_extent_count = BATCH;
		if (ioctl(fd, FS_IOC_FIEMAP, map) < 0) {
			status = errno == ENOTTY || errno == EINVAL ? -EOPNOTSUPP : -errno;
			break;
		}
		for (uint32_t i = 0; i < map->fm_mapped_extents && at < size_bytes; i++) {
			const struct fiemap_extent *const extent = &map->fm_extents[i];
			const uint64_t start = extent->fe_logical > at ? extent->fe_logical : at;
			const uint64_t end = extent->fe_logical + extent->fe_length;
			const uint64_t stop = end < size_bytes ? end : size_bytes;

			if (start >= size_bytes || stop <= start)
				continue;
			extents->hole_bytes += start - at;
			extents->count++;
			if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
				extents->unwritten_bytes += stop - start;
			else if (extent->fe_flags & odd)
				extents->odd_bytes += stop - start;
			else
				extents->written_bytes += stop - start;
			at = stop;
		}
		if (map->fm_mapped_extents < BATCH) /* that was the last batch */
			break;
	}
	if (status == 0)
		extents->hole_bytes += size_bytes - at;
	free(map);
	return status;
}

int sizeup_io_allocate(int fd, uint64_t size_bytes)
{
	return fallocate(fd, 0, 0, (off_t)size_bytes) < 0 ? -errno : 0;
}
