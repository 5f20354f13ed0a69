/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_TARGET_H
#define SIZEUP_DIRECT_IO_TARGET_H

#include <stdint.h>

/* What the kernel says about the file under a test; all of it by descriptor. */

/* How the bytes of a file lie on its device, by FIEMAP. */
struct sizeup_io_extents {
	uint64_t written_bytes;
	uint64_t unwritten_bytes; /* allocated, but read as zeros without asking the device */
	uint64_t hole_bytes;
	uint64_t odd_bytes; /* compressed, inline, encrypted or not yet allocated */
	uint32_t count;
	uint32_t padding;
};

/**
 * sizeup_io_alignment() - What direct I/O to this file must be aligned to (statx, STATX_DIOALIGN).
 * Both results are 0 where the file system says that it does no direct I/O.
 * Return: 0, or -EOPNOTSUPP where the kernel or the file system does not say (before Linux 6.1).
 */
int sizeup_io_alignment(int fd, uint32_t *memory_bytes, uint32_t *offset_bytes);

/**
 * sizeup_io_cached_bytes() - How much of the first @size_bytes lies in the page cache.
 * By cachestat(2), else by mincore(2) over a mapping.
 * Return: bytes, or a negative errno.
 */
int64_t sizeup_io_cached_bytes(int fd, uint64_t size_bytes);

/**
 * sizeup_io_extents() - Add up the extents of the first @size_bytes.
 * @flush: write out what is dirty first, so that it has extents; only for a file that is ours.
 * Return: 0, or -EOPNOTSUPP where the file system has no FIEMAP, as NFS.
 */
int sizeup_io_extents(int fd, uint64_t size_bytes, int flush, struct sizeup_io_extents *extents);

/**
 * sizeup_io_allocate() - Reserve @size_bytes from the start of the file, by fallocate(2) alone.
 * The C library's posix_fallocate() would write a byte into every block where this is missing.
 * Return: 0, or a negative errno; -EOPNOTSUPP means that writing must do it.
 */
int sizeup_io_allocate(int fd, uint64_t size_bytes);

#endif
