/* SPDX-License-Identifier: Apache-2.0 */
/* A file of many extents is added up to its last byte, whatever the kernel returns with one call. */
#include <sizeup/direct_io_target.h>

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stddef.h>

#include "check.h"

#define KIB UINT64_C(1024)
#define EXTENT (4 * KIB)
#define EVERY (3 * EXTENT) /* of each 12 KiB the first 4: written, reserved, compressed in turn */
#define EXTENTS 300

static uint32_t calls;
static int refusal;

int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	struct fiemap *map;

	va_start(arguments, request);
	map = va_arg(arguments, struct fiemap *);
	va_end(arguments);
	check(fd == 5 && request == FS_IOC_FIEMAP, "extents of the file are asked for");
	calls++;
	if (refusal) {
		errno = refusal;
		return -1;
	}
	map->fm_mapped_extents = 0;
	for (uint64_t i = 0; i < EXTENTS && map->fm_mapped_extents < map->fm_extent_count; i++) {
		static const uint32_t FLAGS[] = { 0, FIEMAP_EXTENT_UNWRITTEN, FIEMAP_EXTENT_ENCODED };

		if (i * EVERY + EXTENT <= map->fm_start || i * EVERY >= map->fm_start + map->fm_length)
			continue;
		map->fm_extents[map->fm_mapped_extents++] = (struct fiemap_extent){
			.fe_logical = i * EVERY,
			.fe_length = EXTENT,
			.fe_flags = FLAGS[i % 3] | (i == EXTENTS - 1 ? FIEMAP_EXTENT_LAST : 0),
		};
	}
	return 0;
}

int main(void)
{
	struct sizeup_io_extents extents;

	check(sizeup_io_extents(5, EXTENTS * EVERY, 0, &extents) == 0, "extents are added up");
	check(calls > 1, "by several calls");
	check(extents.count == EXTENTS, "each once");
	check(extents.written_bytes == EXTENTS / 3 * EXTENT, "what is written");
	check(extents.unwritten_bytes == EXTENTS / 3 * EXTENT, "what is only reserved");
	check(extents.odd_bytes == EXTENTS / 3 * EXTENT, "what is neither");
	check(extents.hole_bytes == EXTENTS * (EVERY - EXTENT), "and what is between them and after the last");

	check(sizeup_io_extents(5, 2 * EVERY + EXTENT / 2, 0, &extents) == 0, "a part of the file");
	check(extents.count == 3 && extents.odd_bytes == EXTENT / 2, "ends within an extent");
	check(extents.written_bytes == EXTENT && extents.unwritten_bytes == EXTENT, "after whole ones");
	check(extents.hole_bytes == 2 * (EVERY - EXTENT), "and their holes");
	refusal = ENOTTY;
	check(sizeup_io_extents(5, EVERY, 0, &extents) == -EOPNOTSUPP, "a file system without extents is told");
	refusal = EIO;
	check(sizeup_io_extents(5, EVERY, 0, &extents) == -EIO, "and an error as it is");
	return 0;
}
