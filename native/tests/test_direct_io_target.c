/* SPDX-License-Identifier: Apache-2.0 */
/* Holes, unwritten and written extents are distinguished, and cached pages are counted. */
#define _GNU_SOURCE
#include <sizeup/direct_io_target.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define PIECE ((uint64_t)1 << 20)
#define SYS_NUMBER_CACHESTAT 451
#define NOBODY 65534

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

static size_t longest_asked, all_asked;

/* Replaces the C library's function: records the call and forwards it. */
int mincore(void *start, size_t bytes, unsigned char *resident)
{
	longest_asked = bytes > longest_asked ? bytes : longest_asked;
	all_asked += bytes;
	return (int)syscall(SYS_mincore, start, bytes, resident);
}

static int deny_cachestat(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_NUMBER_CACHESTAT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0;
}

/* Return a file of 11 MiB of which 3 MiB, in two places, are in the page cache; -1 where that cannot be had. */
static int make_partly_cached(void)
{
	const int fd = make_file();
	uint64_t offset = 0;

	if (fd < 0)
		return -1;
	while (offset < 11 * PIECE)
		offset += (uint64_t)pwrite(fd, data, PIECE, (off_t)offset);
	if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		return -1;
	if (pread(fd, data, PIECE, 0) < 0 || pread(fd, data, PIECE, 6 * PIECE) < 0 || pread(fd, data, PIECE, 10 * PIECE) < 0)
		return -1;
	return fd;
}

/* Without cachestat (before Linux 6.5) the same is found with a bounded answer, and a large file by its windows. */
static int count_without_cachestat(int fd, int64_t by_cachestat)
{
	enum { TERABYTE_BITS = 40 };
	const size_t most_pages = 1024, page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (deny_cachestat())
		return 77;
	const int64_t cached = sizeup_io_cached_bytes(fd, 11 * PIECE);

	CHECK(all_asked == 11 * PIECE);
	CHECK(longest_asked <= most_pages * page_bytes);
	CHECK(cached >= (int64_t)(3 * PIECE) && cached < (int64_t)(11 * PIECE));
	CHECK(by_cachestat < 0 || cached == by_cachestat);
	if (ftruncate(fd, (off_t)1 << TERABYTE_BITS) == 0) {
		all_asked = 0;
		const int64_t spread = sizeup_io_cached_bytes(fd, (uint64_t)1 << TERABYTE_BITS);

		CHECK(longest_asked <= most_pages * page_bytes);
		CHECK(all_asked == 4096 * most_pages * page_bytes);
		CHECK(spread >= 0 && spread < (int64_t)1 << TERABYTE_BITS);
		/* Windows of one size: the first, which holds the file's first cached piece, stands for 64 of 4 MiB. */
		CHECK(page_bytes != 4096 || spread == (int64_t)(64 * PIECE));
	}
	if (geteuid() == 0 && setuid(NOBODY) == 0) {
		CHECK(sizeup_io_cached_bytes(fd, 11 * PIECE) == -EPERM); /* not "all of it", as mincore would say */
	}
	return 0;
}

static int cached_pages_are_counted_without_cachestat(void)
{
	int status;
	const int fd = make_partly_cached();

	if (fd < 0)
		return 0;
	const int64_t by_cachestat = sizeup_io_cached_bytes(fd, 11 * PIECE);
	const pid_t child = fork();

	if (child == 0)
		_exit(count_without_cachestat(fd, all_asked ? -1 : by_cachestat));
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
	close(fd);
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
		       cached_pages_are_counted_without_cachestat() + bad_descriptors_are_said() !=
	       0;
}
