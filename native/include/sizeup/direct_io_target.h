/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_TARGET_H
#define SIZEUP_DIRECT_IO_TARGET_H

#include <stdint.h>

/* Properties of the target file, all read through its descriptor. */

/* The allocation of a file on its device, by FIEMAP. */
struct sizeup_io_extents {
	uint64_t written_bytes;
	uint64_t unwritten_bytes; /* allocated, but read as zeros without a device access */
	uint64_t hole_bytes;
	uint64_t odd_bytes; /* compressed, inline, encrypted or not yet allocated */
	uint32_t count;
};

/**
 * sizeup_io_alignment() - Return the alignment that direct I/O to this file requires (statx, STATX_DIOALIGN).
 * Both results are 0 if the file system reports that it does no direct I/O.
 * Return: 0, or -EOPNOTSUPP if the kernel or the file system does not report it (before Linux 6.1).
 */
int sizeup_io_alignment(int fd, uint32_t *memory_bytes, uint32_t *offset_bytes);

/**
 * sizeup_io_cached_bytes() - Return how much of the first @size_bytes is in the page cache.
 * By cachestat(2) (Linux 6.5), else by mincore(2): then an estimate beyond 16 GiB, from evenly spaced windows.
 * Return: bytes, or a negative errno; -EPERM if the kernel does not report it to this user.
 */
int64_t sizeup_io_cached_bytes(int fd, uint64_t size_bytes);

/**
 * sizeup_io_extents() - Add up the extents of the first @size_bytes.
 * @flush: write dirty pages first, so that they have extents; only for a file created by this process.
 * Return: 0, or -EOPNOTSUPP if the file system has no FIEMAP, such as NFS.
 */
int sizeup_io_extents(int fd, uint64_t size_bytes, int flush, struct sizeup_io_extents *extents);

/**
 * sizeup_io_allocate() - Reserve @size_bytes from the start of the file, by fallocate(2) alone.
 * The C library's posix_fallocate() writes a byte into every block if the file system lacks it.
 * Return: 0, or a negative errno; -EOPNOTSUPP means that the caller must write the file instead.
 */
int sizeup_io_allocate(int fd, uint64_t size_bytes);

#endif
