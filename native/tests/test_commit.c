/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a database on a device whose times are known: who waits for which flush, and for how long. */
#include "fake_device.h"

#include <math.h>

#define RECORD 8192u
#define LOG_BYTES ((uint64_t)64 << 20)

static struct sizeup_io_worker log_of(int32_t engine, uint32_t committers)
{
	struct sizeup_io_worker worker = made(engine, 2);

	worker.size_bytes = LOG_BYTES;
	worker.block_bytes = (uint64_t)1 << 20;
	worker.read_percent = 0;
	worker.fdatasync_each = 1;
	worker.committers = committers;
	worker.record_bytes = RECORD;
	worker.work_cpus = 1;
	return worker;
}

/* Runs a log until so many requests have arrived; return the time that took. */
static int64_t keep(const struct sizeup_io_worker *worker, uint32_t enough)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	const int64_t start_ns = now_ns;
	struct sizeup_io_job *job;

	requests = flushes = in_flight_count = 0;
	check(sizeup_io_start(worker, 1, &job) == 0, "a log starts");
	do {
		__real_nanosleep(&pause, NULL);
		sizeup_io_sample(job, 0, &sample);
	} while (__atomic_load_n(&requests, __ATOMIC_SEQ_CST) < enough && sample.running);
	sizeup_io_cancel(job);
	check(sizeup_io_wait(job, NO_LIMIT) == 0, "and ends");
	sizeup_io_sample(job, 0, &sample);
	sizeup_io_free(job);
	check(sample.in_flight == 0, "nobody waits for ever");
	requests = requests < MOST ? requests : MOST;
	return now_ns - start_ns;
}

static uint64_t flushed(void)
{
	return sizeup_histogram_count(sample.response_ns);
}

static void alone(int32_t engine)
{
	const struct sizeup_io_worker worker = log_of(engine, 1);

	service_ns = 5 * MS;
	keep(&worker, 200);
	check(sample.writes == flushed() && flushes >= sample.writes, "one commit a flush");
	check(sample.written_bytes == sample.writes * RECORD, "of one record");
	check(near((double)sizeup_histogram_quantile_ns(sample.write_ns, 0.01), 25 * MS), "each waits for its own");
	check(near((double)sizeup_histogram_quantile_ns(sample.write_ns, 1), 25 * MS), "and no longer");
	check(near((double)sizeup_histogram_quantile_ns(sample.response_ns, 0.5), 25 * MS), "which is a write and a flush");
}

/* The first to ask has a flush of its own; all others wait for the next, while it asks again. */
static void together(int32_t engine, uint32_t committers)
{
	const struct sizeup_io_worker worker = log_of(engine, committers);
	const int64_t took_ns = keep(&worker, 200);
	const uint64_t pairs = flushed() / 2;

	check(sample.writes >= pairs * committers && sample.writes <= (pairs + 1) * committers, "two flushes release all once");
	check(seen[0].length == RECORD && seen[1].length == (committers - 1) * RECORD && seen[2].length == RECORD, "in turn");
	check(seen[1].offset == seen[0].offset + RECORD && seen[2].offset == seen[1].offset + seen[1].length, "one after the other");
	check(near((double)sizeup_histogram_quantile_ns(sample.write_ns, 0.5), 50 * MS), "one under way, and one's own");
	check(sizeup_histogram_count(sample.write_ns) == sample.writes, "each commit has its time");
	check(near((double)flushed() * 25 * MS, (double)took_ns), "one flush at a time");
}

/* Each transaction works for as long as four flushes take, on the CPUs that there are. */
static void working(uint32_t committers, uint32_t cpus, int64_t cycle_ns)
{
	struct sizeup_io_worker worker = log_of(SIZEUP_IO_THREADS, committers);

	worker.work_ns = 100 * MS;
	worker.work_cpus = cpus;
	reading_ns = MS / 100;
	const int64_t took_ns = keep(&worker, 400);

	reading_ns = 0;

	check(fabs((double)took_ns / (double)sample.writes - (double)cycle_ns) < 0.03 * (double)cycle_ns, "so long for each");
	check(near((double)sizeup_histogram_quantile_ns(sample.write_ns, 0.5), 25 * MS), "and work is no waiting");
}

static void large(int32_t engine)
{
	struct sizeup_io_worker worker = log_of(engine, 513);

	keep(&worker, 60);
	check(seen[1].length == 1 << 20 && seen[4].length == 1 << 20 && seen[5].length == RECORD, "pieces of a buffer");
	check(flushes == flushed() || flushes == flushed() + 1, "and one flush behind the last of them");
	worker.record_bytes = 512;
	worker.committers = 4;
	keep(&worker, 20);
	check(seen[0].length == 8192 && seen[1].length == 8192 && seen[1].offset == seen[0].offset + 8192, "whole pages");
	check(sample.written_bytes == flushed() * 8192, "which are counted");
}

static void ends(int32_t engine)
{
	struct sizeup_io_worker worker = log_of(engine, 2);

	worker.size_bytes = 1 << 20;
	keep(&worker, 1000);
	check(requests == (1 << 20) / RECORD && sample.writes == requests, "the region is written once");
	check(!sample.running && sample.status == 0, "and that ends it");
	error_every = 10;
	keep(&worker, 1000);
	check(sample.status == -EIO && sample.errors == 1 && requests == sample.writes + 1, "so does the first error");
	error_every = 0;
	short_by = 4096;
	keep(&worker, 1000);
	check(sample.status == -ENODATA && sample.writes == 0, "and the first write that is not whole");
	short_by = 0;
}

int main(void)
{
	static const int32_t engines[] = { SIZEUP_IO_THREADS, SIZEUP_IO_URING };

	make_device();
	longest = 1 << 20;
	for (size_t i = 0; i < 2; i++) {
		alone(engines[i]);
		together(engines[i], 2);
		together(engines[i], 64);
		large(engines[i]);
		ends(engines[i]);
	}
	working(1, 1, 125 * MS); /* the work of one session and its flush */
	working(1, 8, 125 * MS);
	working(8, 1, 100 * MS); /* a CPU does one after the other, while others flush */
	working(8, 2, 50 * MS);
	struct sizeup_io_worker wrong = log_of(SIZEUP_IO_AIO, 2);
	struct sizeup_io_job *job;

	check(sizeup_io_start(&wrong, 1, &job) == -EINVAL, "not with Linux AIO");
	wrong = log_of(SIZEUP_IO_THREADS, 2);
	wrong.record_bytes = 100;
	check(sizeup_io_start(&wrong, 1, &job) == -EINVAL, "nor of less than a sector");
	return 0;
}
