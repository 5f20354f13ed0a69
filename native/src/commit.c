/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a database: one writer, and committers that append a record each and wait until it is durable.
 *
 * One thread keeps the times at which each asked, so that 512 cost no thread each. A flush takes all that asked while
 * the last one was under way; those that it releases do their next transaction, on the CPUs that the host has, and then
 * ask again and wait for the next. Where none waits, the first that asks flushes alone. So do PostgreSQL (XLogFlush,
 * WALWriteLock), InnoDB and Oracle.
 */
#include "direct_io_worker.h"

#include <sizeup/clock.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES 8192    /* a flush is padded to whole pages, as PostgreSQL and InnoDB pad theirs */
#define STAMP_BYTES 4096
#define TICK_NS 100000000 /* how often usage is read, and the stop word while all committers work */

struct log {
	const struct sizeup_io_worker *spec;
	const atomic_bool *stop;
	struct io_counters *counters;
	const struct io_engine *engine; /* NULL: system calls */
	struct io_queue queue;
	uint64_t written_bytes; /* of the region */
	uint64_t stamps;
	int64_t *asked_ns; /* when each committer asked, or will ask */
	int64_t *free_ns;  /* when each CPU has done what it was given; all work is equal, so they end in turn */
	uint32_t next_cpu;
};

/* A write through io_uring, and an fsync linked to it that starts when it has ended. */
static int put_linked(struct log *log, uint64_t offset, bool last)
{
	int64_t done_bytes = 0;

	log->engine->stage(&log->queue, 0, true, offset);
	if (last)
		io_uring_stage_flush(&log->queue);
	for (int left = last ? 2 : 1; left > 0;) {
		struct io_completion done;
		const int status = log->engine->enter(&log->queue, 1, TICK_NS);

		if (status < 0)
			return status;
		for (; log->engine->reap(&log->queue, &done, 1); left--)
			done_bytes = done_bytes < 0 ? done_bytes : done.result < 0 ? done.result : done_bytes + done.result;
	}
	return done_bytes < 0 ? (int)done_bytes : done_bytes == (int64_t)log->queue.block_bytes ? 0 : -ENODATA;
}

static int put(struct log *log, uint64_t offset, bool last)
{
	const size_t bytes = log->queue.block_bytes;

	for (size_t i = 0; i < bytes; i += STAMP_BYTES) { /* no two blocks are equal, so that nothing is deduplicated */
		const uint64_t words[2] = { log->spec->seed, log->stamps++ };

		memcpy(log->queue.buffers + i, words, sizeof(words));
	}
	if (log->engine)
		return put_linked(log, offset, last);
	const ssize_t written = pwrite(log->spec->fd, log->queue.buffers, bytes, (off_t)offset);

	if (written != (ssize_t)bytes)
		return written < 0 ? -errno : -ENODATA;
	return last && log->spec->fdatasync_each && fdatasync(log->spec->fd) < 0 ? -errno : 0;
}

/* Make @records durable: writes of at most a buffer each, then one flush. Return 1 at the end of the region. */
static int flush(struct log *log, uint32_t records)
{
	uint64_t left = (records * log->spec->record_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	int status = 0;

	if (log->written_bytes + left > log->spec->size_bytes)
		return 1;
	while (left > 0 && status == 0) {
		log->queue.block_bytes = left < log->spec->block_bytes ? left : log->spec->block_bytes;
		left -= log->queue.block_bytes;
		status = put(log, log->spec->start_bytes + log->written_bytes, left == 0);
		log->written_bytes += log->queue.block_bytes;
	}
	return status;
}

/* Wait for the first committer that asks, unless some did before the last flush ended. Return up to when they count. */
static int64_t next_flush(const struct log *log, int64_t ended_ns)
{
	int64_t first_ns = INT64_MAX, now_ns = ended_ns;

	for (uint32_t i = 0; i < log->spec->committers; i++)
		first_ns = log->asked_ns[i] < first_ns ? log->asked_ns[i] : first_ns;
	if (first_ns < ended_ns)
		return ended_ns - 1; /* those that the last flush released are too late for this one */
	while (now_ns < first_ns && !io_stopping(log->stop)) /* as busy as one of those who work; a sleep would end late */
		now_ns = sizeup_clock_now_ns();
	return now_ns;
}

/* Release those that asked by @limit_ns: each works on the CPU that is free first, and asks again. */
static void release(struct log *log, int64_t limit_ns, int64_t now_ns)
{
	for (uint32_t i = 0; i < log->spec->committers; i++) {
		if (log->asked_ns[i] > limit_ns)
			continue;
		const uint64_t waited_ns = (uint64_t)(now_ns - log->asked_ns[i]);

		io_counter_add(&log->counters->write_ns[sizeup_histogram_bucket(waited_ns)], 1);
		int64_t *const free_ns = &log->free_ns[log->next_cpu++ % log->spec->work_cpus];

		*free_ns = (*free_ns > now_ns ? *free_ns : now_ns) + log->spec->work_ns;
		log->asked_ns[i] = *free_ns;
	}
}

static void keep_log(struct log *log, int schedstat_fd)
{
	struct io_counters *const counters = log->counters;
	int64_t ended_ns = sizeup_clock_now_ns(), tick_ns = ended_ns;
	int status = 0;

	/* One after the other: were they released together, each flush would take all of them, which no database does. */
	for (uint32_t i = 0; i < log->spec->committers; i++)
		log->asked_ns[i] = ended_ns + i;
	io_counter_set(&counters->submitted, log->spec->committers);
	while (status == 0 && !io_stopping(log->stop)) {
		const int64_t limit_ns = next_flush(log, ended_ns), start_ns = sizeup_clock_now_ns();
		const uint64_t before_bytes = log->written_bytes;
		uint32_t records = 0;

		for (uint32_t i = 0; i < log->spec->committers; i++)
			records += log->asked_ns[i] <= limit_ns;
		status = flush(log, records);
		ended_ns = sizeup_clock_now_ns();
		io_counter_set(&counters->last_progress_ns, (uint64_t)ended_ns);
		if (status == 0) {
			release(log, limit_ns, ended_ns);
			io_counter_add(&counters->response_ns[sizeup_histogram_bucket((uint64_t)(ended_ns - start_ns))], 1);
			io_counter_add(&counters->written_bytes, log->written_bytes - before_bytes);
			io_counter_add(&counters->submitted, records);
			io_counter_add(&counters->writes, records);
		}
		if (ended_ns >= tick_ns) {
			tick_ns = ended_ns + TICK_NS;
			io_counters_read_usage(counters, schedstat_fd);
		}
	}
	if (status < 0)
		io_counters_count_error(counters, status, 1);
	io_counter_set(&counters->submitted, io_counter_get(&counters->writes)); /* none waits any more */
}

int io_commit_run(struct io_worker *worker, char *buffers, int schedstat_fd)
{
	const struct sizeup_io_worker *const spec = &worker->spec;
	struct log log = {
		.spec = spec,
		.stop = worker->stop,
		.counters = worker->counters,
		.engine = io_engine_of(spec->engine),
		.queue = { .fd = spec->fd, .depth = spec->depth, .block_bytes = spec->block_bytes, .buffers = buffers,
			   .huge_pages = spec->huge_pages },
		.asked_ns = calloc(spec->committers, sizeof(*log.asked_ns)),
		.free_ns = calloc(spec->work_cpus, sizeof(*log.free_ns)),
	};
	const int status = !log.asked_ns || !log.free_ns ? -ENOMEM : log.engine ? log.engine->open(&log.queue) : 0;

	if (status == 0) {
		keep_log(&log, schedstat_fd);
		if (log.engine)
			log.engine->close(&log.queue);
	}
	free(log.asked_ns);
	free(log.free_ns);
	return status;
}
