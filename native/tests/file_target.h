/* SPDX-License-Identifier: Apache-2.0 */
/* A file as the target of real requests, and workers that run against it. */
#ifndef SIZEUP_FILE_TARGET_H
#define SIZEUP_FILE_TARGET_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sizeup/clock.h>
#include <sizeup/direct_io.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define FILE_BYTES ((uint64_t)4 << 20)
#define SECOND_NS 1000000000
#define PATIENCE_NS (60LL * SECOND_NS) /* how long a starved machine may take for what is sure to happen */

static struct sizeup_io_sample sample;
static char path[] = "direct_io_XXXXXX";
static int target;

static void pause_ms(long milliseconds)
{
	const struct timespec pause = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

static struct sizeup_io_worker random_reader(int32_t engine, uint32_t depth)
{
	return (struct sizeup_io_worker){
		.engine = engine,
		.fd = target,
		.size_bytes = FILE_BYTES,
		.block_bytes = 8192,
		.seed = 7,
		.read_percent = 100,
		.depth = engine == SIZEUP_IO_THREADS ? 1 : depth,
		.submit_batch = 4,
		.error_limit = 1000,
	};
}

static int stop(struct sizeup_io_job *job, int64_t timeout_ns)
{
	sizeup_io_cancel(job);
	const int status = sizeup_io_wait(job, timeout_ns);

	if (status == 0)
		sizeup_io_free(job);
	return status;
}

/* Runs until @enough requests ended, and sets @took_ns to no less than the time that took. */
static int run_until(const struct sizeup_io_worker *workers, uint32_t count, uint64_t enough, int64_t *took_ns)
{
	const int64_t start_ns = sizeup_clock_now_ns();
	struct sizeup_io_job *job;
	int status = sizeup_io_start(workers, count, &job);

	if (status < 0)
		return status;
	do {
		pause_ms(1);
		sizeup_io_sample(job, 0, &sample);
		*took_ns = sizeup_clock_now_ns() - start_ns;
	} while (sample.reads + sample.writes < enough && sample.running && *took_ns < PATIENCE_NS);
	return stop(job, PATIENCE_NS);
}

static int make_target(void)
{
	static char zeros[65536];
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	for (uint64_t at = 0; at < FILE_BYTES; at += sizeof(zeros)) {
		if (write(fd, zeros, sizeof(zeros)) != sizeof(zeros))
			return -1;
	}
	close(fd);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0) /* a file system without it serves as well to test the counting */
		fd = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	return fd;
}

/* Run the tests on every engine that is available here, then those of no engine; return the exit status. */
static int run_tests(int (*const of_engine[])(int32_t), size_t engine_tests, int (*const others[])(void),
		     size_t other_tests)
{
	static const int32_t engines[] = { SIZEUP_IO_THREADS, SIZEUP_IO_AIO, SIZEUP_IO_URING };
	int failures = 0;
	int ran = 0;

	target = make_target();
	if (target < 0) {
		perror(path);
		return 1;
	}
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		const int status = sizeup_io_available(engines[i]);

		if (status < 0) {
			fprintf(stderr, "engine %d is not available: %s\n", engines[i], strerror(-status));
			continue;
		}
		ran++;
		for (size_t j = 0; j < engine_tests; j++)
			failures += of_engine[j](engines[i]);
	}
	for (size_t j = 0; j < other_tests; j++)
		failures += others[j]();
	printf("%d engines, %d failures\n", ran, failures);
	return failures != 0;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
