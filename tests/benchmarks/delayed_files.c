/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a directory, with flushes that take a stated time: a disk in memory that is as slow
 * as one wants, and always as slow. A loop device on one of its files is a slow device for ext4 or
 * XFS.
 *
 *     gcc -O2 -o delayed_files delayed_files.c $(pkg-config --cflags --libs fuse3)
 *     delayed_files DIRECTORY MICROSECONDS MOUNT_POINT -o allow_other,suid,max_idle_threads=32
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char *directory;
static struct timespec delay;

struct place {
	char text[4096];
};

static struct place beneath(const char *path)
{
	struct place place;

	snprintf(place.text, sizeof(place.text), "%s%s", directory, path);
	return place;
}

static int told(long result)
{
	return result < 0 ? -errno : (int)result;
}

static int slow_fsync(const char *path, int data_only, struct fuse_file_info *file)
{
	(void)path, (void)data_only, (void)file;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
}

static int opened(struct fuse_file_info *file, int descriptor)
{
	file->fh = (uint64_t)descriptor;
	return descriptor < 0 ? -errno : 0;
}

static int slow_create(const char *path, mode_t mode, struct fuse_file_info *file)
{
	return opened(file, open(beneath(path).text, (file->flags & ~O_DIRECT) | O_CREAT, mode));
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
	return opened(file, open(beneath(path).text, file->flags & ~O_DIRECT));
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
	(void)path;
	return told(close((int)file->fh));
}

static int slow_read(const char *path, char *to, size_t count, off_t at, struct fuse_file_info *file)
{
	(void)path;
	return told(pread((int)file->fh, to, count, at));
}

static int slow_write(const char *path, const char *from, size_t count, off_t at, struct fuse_file_info *file)
{
	(void)path;
	return told(pwrite((int)file->fh, from, count, at));
}

static int slow_fallocate(const char *path, int mode, off_t at, off_t count, struct fuse_file_info *file)
{
	(void)path;
	return told(fallocate((int)file->fh, mode, at, count));
}

static int slow_getattr(const char *path, struct stat *found, struct fuse_file_info *file)
{
	return told(file ? fstat((int)file->fh, found) : lstat(beneath(path).text, found));
}

static int slow_truncate(const char *path, off_t bytes, struct fuse_file_info *file)
{
	return told(file ? ftruncate((int)file->fh, bytes) : truncate(beneath(path).text, bytes));
}

static int slow_unlink(const char *path)
{
	return told(unlink(beneath(path).text));
}

static int slow_rename(const char *path, const char *to, unsigned int flags)
{
	(void)flags;
	return told(rename(beneath(path).text, beneath(to).text));
}

static int slow_mkdir(const char *path, mode_t mode)
{
	return told(mkdir(beneath(path).text, mode));
}

static int slow_rmdir(const char *path)
{
	return told(rmdir(beneath(path).text));
}

static int slow_chmod(const char *path, mode_t mode, struct fuse_file_info *file)
{
	(void)file;
	return told(chmod(beneath(path).text, mode));
}

static int slow_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *file)
{
	(void)file;
	return told(lchown(beneath(path).text, user, group));
}

static int slow_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *file)
{
	(void)file;
	return told(utimensat(AT_FDCWD, beneath(path).text, times, 0));
}

static int slow_statfs(const char *path, struct statvfs *found)
{
	return told(statvfs(beneath(path).text, found));
}

static int slow_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t at, struct fuse_file_info *file,
			enum fuse_readdir_flags flags)
{
	DIR *open = opendir(beneath(path).text);
	struct dirent *entry;

	(void)at, (void)file, (void)flags;
	if (!open)
		return -errno;
	while ((entry = readdir(open)))
		fill(to, entry->d_name, NULL, 0, 0);
	return told(closedir(open));
}

static const struct fuse_operations operations = {
	.create = slow_create,   .open = slow_open,	  .release = slow_release,     .read = slow_read,
	.write = slow_write,     .fsync = slow_fsync,	  .fallocate = slow_fallocate, .getattr = slow_getattr,
	.unlink = slow_unlink,   .rename = slow_rename,   .truncate = slow_truncate,   .mkdir = slow_mkdir,
	.rmdir = slow_rmdir,     .chmod = slow_chmod,	  .chown = slow_chown,	       .utimens = slow_utimens,
	.statfs = slow_statfs,   .readdir = slow_readdir,
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	const long microseconds = atol(argv[2]);

	directory = argv[1];
	delay = (struct timespec){.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
	umask(0);
	argv[2] = argv[0];
	return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
