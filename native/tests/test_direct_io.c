/* SPDX-License-Identifier: Apache-2.0 */
/* Every engine reads and writes its region, and counts its requests and errors. */
#include "file_target.h"

/* A worker that ends by itself, however long the machine lets it wait for a CPU. */
static int run_to_its_end(const struct sizeup_io_worker *workers, uint32_t count)
{
	struct sizeup_io_job *job;
	int status = sizeup_io_start(workers, count, &job);

	if (status < 0)
		return status;
	status = sizeup_io_wait(job, PATIENCE_NS);
	if (status < 0)
		return status;
	sizeup_io_sample(job, 0, &sample);
	sizeup_io_free(job);
	return 0;
}

static int reads_are_counted_and_timed(int32_t engine)
{
	struct sizeup_io_worker worker = random_reader(engine, 16);
	int64_t took_ns;

	CHECK(run_until(&worker, 1, 10, &took_ns) == 0);
	CHECK(sample.status == 0 && sample.errors == 0);
	CHECK(sample.reads >= 10 && sample.writes == 0);
	CHECK(sample.read_bytes % 8192 == 0 && sample.read_bytes / 8192 + 1 >= sample.reads); /* one ends in between */
	CHECK(sizeup_histogram_count(sample.read_ns) >= sample.reads);
	CHECK(sizeup_histogram_quantile_ns(sample.read_ns, 0.5) > 0);
	CHECK(sample.in_flight <= 16);
	worker.pattern = SIZEUP_IO_ONCE;
	CHECK(run_to_its_end(&worker, 1) == 0);
	CHECK(sample.status == 0 && sample.reads == FILE_BYTES / 8192 && sample.read_bytes == FILE_BYTES);
	return 0;
}

static int a_mix_writes_its_share(int32_t engine)
{
	struct sizeup_io_worker worker = random_reader(engine, 8);

	int64_t took_ns;

	worker.read_percent = 70;
	CHECK(run_until(&worker, 1, 400, &took_ns) == 0);
	CHECK(sample.status == 0 && sample.errors == 0);
	CHECK(sample.reads + sample.writes >= 400);
	const double share = (double)sample.reads / (double)(sample.reads + sample.writes);

	CHECK(share > 0.6 && share < 0.8);
	return 0;
}

static int one_pass_ends_by_itself_and_covers_the_region(int32_t engine)
{
	struct sizeup_io_worker worker = random_reader(engine, 4);
	struct sizeup_io_job *job;
	char block[4096] __attribute__((aligned(4096)));
	uint64_t stamps[2][2];

	worker.pattern = SIZEUP_IO_ONCE;
	worker.read_percent = 0;
	worker.block_bytes = 65536;
	CHECK(sizeup_io_start(&worker, 1, &job) == 0);
	CHECK(sizeup_io_wait(job, PATIENCE_NS) == 0);
	sizeup_io_sample(job, 0, &sample);
	sizeup_io_free(job);
	CHECK(sample.running == 0 && sample.status == 0);
	CHECK(sample.written_bytes == FILE_BYTES);
	CHECK(sample.flags & SIZEUP_IO_REGION_DONE);
	/* No two 4 KiB of what was written are alike. */
	for (int i = 0; i < 2; i++) {
		CHECK(pread(target, block, sizeof(block), (off_t)i * 4096) == 4096);
		memcpy(stamps[i], block, sizeof(stamps[i]));
	}
	CHECK(memcmp(stamps[0], stamps[1], sizeof(stamps[0])) != 0);
	return 0;
}

/* Two workers share the blocks of one region: together they write each once, and no more. */
static int appending_workers_share_one_region(int32_t engine)
{
	struct sizeup_io_worker workers[3] = { random_reader(engine, 4), random_reader(engine, 4),
					       random_reader(engine, 4) };
	struct sizeup_io_job *job;
	struct sizeup_io_sample other;

	for (int i = 0; i < 3; i++) {
		workers[i].pattern = SIZEUP_IO_APPEND;
		workers[i].read_percent = 0;
		workers[i].block_bytes = 65536;
		workers[i].group = i / 2;
	}
	CHECK(sizeup_io_start(workers, 3, &job) == 0);
	CHECK(sizeup_io_wait(job, 10LL * SECOND_NS) == 0);
	sizeup_io_sample(job, 0, &sample);
	sizeup_io_sample(job, 1, &other);
	sizeup_io_free(job);
	CHECK(sample.status == 0 && sample.written_bytes == FILE_BYTES);
	CHECK(other.status == 0 && other.written_bytes == FILE_BYTES);
	CHECK(sample.flags & SIZEUP_IO_REGION_DONE);
	return 0;
}

static int reads_past_the_end_are_errors_and_no_times(int32_t engine)
{
	struct sizeup_io_worker worker = random_reader(engine, 4);

	worker.start_bytes = FILE_BYTES;
	worker.error_limit = 50;
	CHECK(run_to_its_end(&worker, 1) == 0);
	CHECK(sample.errors >= 50 && sample.errors < 60);
	CHECK(sample.status == -ENODATA && sample.first_error == -ENODATA);
	CHECK(sample.reads == 0 && sizeup_histogram_count(sample.read_ns) == 0);
	return 0;
}

static int a_bad_descriptor_ends_the_worker(int32_t engine)
{
	struct sizeup_io_worker worker = random_reader(engine, 4);

	worker.fd = -1;
	CHECK(run_to_its_end(&worker, 1) == 0);
	CHECK(sample.running == 0);
	CHECK(sample.status == -EBADF);
	return 0;
}

static int nonsense_is_refused(void)
{
	struct sizeup_io_worker worker = random_reader(SIZEUP_IO_THREADS, 1);
	struct sizeup_io_job *job;

	CHECK(sizeup_io_start(&worker, 0, &job) == -EINVAL);
	worker.depth = 2;
	CHECK(sizeup_io_start(&worker, 1, &job) == -EINVAL);
	worker = random_reader(9, 1);
	CHECK(sizeup_io_start(&worker, 1, &job) == -EINVAL);
	worker = random_reader(SIZEUP_IO_AIO, 1);
	worker.fdatasync_each = 1;
	CHECK(sizeup_io_start(&worker, 1, &job) == -EINVAL);
	worker = random_reader(SIZEUP_IO_AIO, 1);
	worker.size_bytes = 100;
	CHECK(sizeup_io_start(&worker, 1, &job) == -EINVAL);
	worker.size_bytes = UINT64_MAX;
	CHECK(sizeup_io_start(&worker, 1, &job) == -EINVAL);
	CHECK(sizeup_io_available(9) == -EINVAL);
	return 0;
}

static int every_write_can_be_flushed(void)
{
	struct sizeup_io_worker worker = random_reader(SIZEUP_IO_THREADS, 1);
	int64_t took_ns;

	worker.read_percent = 0;
	worker.fdatasync_each = 1;
	CHECK(run_until(&worker, 1, 1, &took_ns) == 0);
	CHECK(sample.writes > 0 && sample.errors == 0);
	return 0;
}

int main(void)
{
	static int (*const of_engine[])(int32_t) = {
		reads_are_counted_and_timed,
		a_mix_writes_its_share,
		one_pass_ends_by_itself_and_covers_the_region,
		appending_workers_share_one_region,
		reads_past_the_end_are_errors_and_no_times,
		a_bad_descriptor_ends_the_worker,
	};
	static int (*const others[])(void) = { nonsense_is_refused, every_write_can_be_flushed };

	return run_tests(of_engine, COUNT(of_engine), others, COUNT(others));
}
