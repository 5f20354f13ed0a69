/* SPDX-License-Identifier: Apache-2.0 */
/* Holes, unwritten and written extents are distinguished, and cached pages are counted. */
#define _GNU_SOURCE
#include <sizeup/direct_io_target.h>

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE ((uint64_t)1 << 20)

#define CHECK(truth)                                                                            \
	do {                                                                                    \
		if (!(truth)) {                                                                 \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #truth);             \
			return 1;                                                               \
		}                                                                               \
	} while (0)

static char data[PIECE];

static unsigned long requests[64];
static uint32_t flags[64];
static unsigned count;

/* Replaces the C library's function: records the call and forwards it. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;

	va_start(arguments, request);
	void *const argument = va_arg(arguments, void *);

	va_end(arguments);
	requests[count % 64] = request;
	flags[count % 64] = request == FS_IOC_FIEMAP ? ((struct fiemap *)argument)->fm_flags : 0;
	count++;
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

/* A file that is not ours is not written out by being looked at. */
static int only_ours_is_flushed(int fd)
{
	struct sizeup_io_extents extents;

	for (int flush = 0; flush < 2; flush++) {
		count = 0;
		CHECK(sizeup_io_extents(fd, 3 * PIECE, flush, &extents) == 0);
		CHECK(count == 1);
		CHECK(requests[0] == FS_IOC_FIEMAP);
		CHECK(flags[0] == (flush ? FIEMAP_FLAG_SYNC : 0));
	}
	return 0;
}

/* A file of a written megabyte, an unwritten one and a hole. */
static int make_file(void)
{
	char path[] = "direct_io_target_XXXXXX";
	const int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	unlink(path);
	memset(data, 7, sizeof(data));
	if (sizeup_io_allocate(fd, 2 * PIECE) < 0)
		return -1;
	if (write(fd, data, sizeof(data)) != (ssize_t)sizeof(data) || fsync(fd) < 0)
		return -1;
	return ftruncate(fd, (off_t)(3 * PIECE)) < 0 ? -1 : fd;
}

static int extents_are_told_apart(int fd)
{
	struct sizeup_io_extents extents;

	CHECK(sizeup_io_extents(fd, 3 * PIECE, 1, &extents) == 0);
	CHECK(extents.written_bytes + extents.unwritten_bytes + extents.hole_bytes + extents.odd_bytes ==
	      3 * PIECE);
	CHECK(extents.hole_bytes >= PIECE);
	CHECK(extents.written_bytes >= PIECE);
	CHECK(sizeup_io_extents(fd, 100, 1, &extents) == 0);
	CHECK(extents.written_bytes == 100);
	return 0;
}

static int cached_pages_are_counted(int fd)
{
	const int64_t cached = sizeup_io_cached_bytes(fd, PIECE);

	CHECK(cached >= 0 && cached <= (int64_t)PIECE);
	return 0;
}

static int bad_descriptors_are_said(void)
{
	struct sizeup_io_extents extents;
	uint32_t memory, offset;

	CHECK(sizeup_io_cached_bytes(-1, PIECE) < 0);
	CHECK(sizeup_io_extents(-1, PIECE, 1, &extents) == -EBADF);
	CHECK(sizeup_io_alignment(-1, &memory, &offset) < 0);
	CHECK(sizeup_io_allocate(-1, PIECE) == -EBADF);
	return 0;
}

int main(void)
{
	const int fd = make_file();
	struct sizeup_io_extents extents;

	if (fd < 0 || sizeup_io_extents(fd, PIECE, 1, &extents) == -EOPNOTSUPP) {
		fprintf(stderr, "no fallocate or no FIEMAP on this file system\n");
		return 77;
	}
	return only_ours_is_flushed(fd) + extents_are_told_apart(fd) + cached_pages_are_counted(fd) +
		       bad_descriptors_are_said() !=
	       0;
}
