/* SPDX-License-Identifier: Apache-2.0 */
/* Every engine reads and writes its region, counts its requests, and ends when canceled. */
#define _GNU_SOURCE
#include <sizeup/clock.h>
#include <sizeup/direct_io.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES ((uint64_t)4 << 20)
#define SECOND_NS 1000000000
#define PATIENCE_NS (60LL * SECOND_NS) /* how long a starved machine may take for what is sure to happen */

static struct sizeup_io_sample sample;
static char path[] = "direct_io_XXXXXX";
static int target;

#define CHECK(truth)                                                                            \
	do {                                                                                    \
		if (!(truth)) {                                                                 \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #truth);             \
			return 1;                                                               \
		}                                                                               \
	} while (0)

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

static int run_for(const struct sizeup_io_worker *workers, uint32_t count, long milliseconds)
{
	struct sizeup_io_job *job;
	int status = sizeup_io_start(workers, count, &job);

	if (status < 0)
		return status;
	pause_ms(milliseconds);
	sizeup_io_sample(job, 0, &sample);
	return stop(job, 5LL * SECOND_NS);
}

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

static int reads_are_counted_and_timed(int32_t engine)
{
	const struct sizeup_io_worker worker = random_reader(engine, 16);
	int64_t took_ns;

	CHECK(run_until(&worker, 1, 10, &took_ns) == 0);
	CHECK(sample.status == 0 && sample.errors == 0);
	CHECK(sample.reads >= 10 && sample.writes == 0);
	CHECK(sample.read_bytes == sample.reads * 8192);
	CHECK(sizeup_histogram_count(sample.read_ns) >= sample.reads);
	CHECK(sizeup_histogram_quantile_ns(sample.read_ns, 0.5) > 0);
	CHECK(sample.in_flight <= 16);
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

static int cancel_ends_within_a_quarter_of_a_second(int32_t engine)
{
	const struct sizeup_io_worker worker = random_reader(engine, 16);
	struct sizeup_io_job *job;

	CHECK(sizeup_io_start(&worker, 1, &job) == 0);
	pause_ms(50);
	CHECK(stop(job, SECOND_NS / 4) == 0);
	return 0;
}

static int a_pace_is_kept(int32_t engine)
{
	struct sizeup_io_worker worker = random_reader(engine, 4);

	const int64_t interval_ns = 2000000;
	int64_t took_ns;

	worker.interval_ns = interval_ns;
	CHECK(run_until(&worker, 1, 100, &took_ns) == 0);
	/* However late a busy machine runs, no request starts before its time: the first at 0, each other an
	 * interval after the one before it. Late ones catch up, so that in the end all that were due were made. */
	CHECK(sample.reads >= 100 && sample.reads <= (uint64_t)(took_ns / interval_ns) + 1);
	/* One may end between the two histograms being read. */
	CHECK(sizeup_histogram_count(sample.response_ns) <= sizeup_histogram_count(sample.read_ns) + 4);
	CHECK(sizeup_histogram_count(sample.response_ns) + 4 >= sizeup_histogram_count(sample.read_ns));
	return 0;
}

static int groups_are_sampled_apart(int32_t engine)
{
	struct sizeup_io_worker workers[2] = { random_reader(engine, 2), random_reader(engine, 2) };
	struct sizeup_io_job *job;
	struct sizeup_io_sample other;

	workers[1].group = 1;
	workers[1].read_percent = 0;
	CHECK(sizeup_io_start(workers, 2, &job) == 0);
	for (int i = 0; i < 60000; i++) {
		pause_ms(1);
		sizeup_io_sample(job, 0, &sample);
		sizeup_io_sample(job, 1, &other);
		if (sample.reads && other.writes)
			break;
	}
	CHECK(stop(job, PATIENCE_NS) == 0);
	CHECK(sample.reads > 0 && sample.writes == 0 && sample.workers == 1);
	CHECK(other.writes > 0 && other.reads == 0 && other.workers == 1);
	return 0;
}

/*
 * Stopping the whole process for 300 ms is what a stalled device looks like to the one who waits:
 * one request is slow, and all that should have started meanwhile are late.
 */
static int a_stall_shows_in_the_response_time(int32_t engine)
{
	int answer[2];
	uint64_t quantiles[2] = { 0, 0 };

	CHECK(pipe(answer) == 0);
	const pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		struct sizeup_io_worker worker = random_reader(engine, 4);

		worker.interval_ns = 1000000;
		if (run_for(&worker, 1, 6000) == 0) {
			quantiles[0] = sizeup_histogram_quantile_ns(sample.read_ns, 0.99);
			quantiles[1] = sizeup_histogram_quantile_ns(sample.response_ns, 0.99);
		}
		_exit(write(answer[1], quantiles, sizeof(quantiles)) != sizeof(quantiles));
	}
	for (int i = 0; i < 2; i++) {
		pause_ms(1500);
		kill(child, SIGSTOP);
		pause_ms(300);
		kill(child, SIGCONT);
	}
	CHECK(read(answer[0], quantiles, sizeof(quantiles)) == sizeof(quantiles));
	waitpid(child, NULL, 0);
	close(answer[0]);
	close(answer[1]);
	printf("engine %d, two stalls of 300 ms in 6 s at 1,000 a second: p99 %.1f ms of response, %.1f ms of service\n",
	       engine, (double)quantiles[1] / 1e6, (double)quantiles[0] / 1e6);
	/* 600 of 6,000 starts were due in the stalls: 1 % of all waited 270 ms or longer. */
	CHECK(quantiles[1] >= 200000000);
	CHECK(quantiles[0] < quantiles[1] / 2);
	return 0;
}

#define SET_BYTES CPU_ALLOC_SIZE(4096)

/* The CPUs that every thread but this one may run on; 0 threads if there is none. */
static int other_threads_cpus(cpu_set_t *cpus)
{
	cpu_set_t *const its = CPU_ALLOC(4096);
	DIR *const tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int threads = 0;

	CPU_ZERO_S(SET_BYTES, cpus);
	while (tasks && (entry = readdir(tasks))) {
		const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		CPU_ZERO_S(SET_BYTES, its);
		if (thread <= 0 || thread == getpid() || sched_getaffinity(thread, SET_BYTES, its) < 0)
			continue;
		CPU_OR_S(SET_BYTES, cpus, cpus, its);
		threads++;
	}
	if (tasks)
		closedir(tasks);
	CPU_FREE(its);
	return threads;
}

static int workers_run_on_their_cpus_only(int32_t engine)
{
	struct sizeup_io_worker workers[2] = { random_reader(engine, 4), random_reader(engine, 4) };
	struct sizeup_io_job *job;
	cpu_set_t *const allowed = CPU_ALLOC(4096), *const found = CPU_ALLOC(4096);
	int32_t first = -1;

	CPU_ZERO_S(SET_BYTES, allowed);
	CHECK(sched_getaffinity(0, SET_BYTES, allowed) == 0);
	for (int32_t cpu = 0; first < 0; cpu++)
		first = CPU_ISSET_S((size_t)cpu, SET_BYTES, allowed) ? cpu : -1;
	for (int i = 0; i < 2; i++) {
		workers[i].cpus = &first;
		workers[i].cpu_count = 1;
	}
	CHECK(sizeup_io_start(workers, 2, &job) == 0);
	const int threads = other_threads_cpus(found);

	CHECK(stop(job, PATIENCE_NS) == 0);
	CHECK(threads == 2);
	CHECK(CPU_COUNT_S(SET_BYTES, found) == 1 && CPU_ISSET_S((size_t)first, SET_BYTES, found));

	workers[1].cpu_count = 0;
	CHECK(sizeup_io_start(workers, 2, &job) == 0);
	CHECK(other_threads_cpus(found) == 2);
	CHECK(stop(job, PATIENCE_NS) == 0);
	CHECK(CPU_EQUAL_S(SET_BYTES, found, allowed));
	CPU_FREE(allowed);
	CPU_FREE(found);
	return 0;
}

/* Each worker for itself: a full CPU of one must not vanish in the mean of all. */
static int usage_is_that_of_each_worker(void)
{
	struct sizeup_io_worker workers[2] = { random_reader(SIZEUP_IO_THREADS, 1), random_reader(SIZEUP_IO_THREADS, 1) };
	struct sizeup_io_usage busy, idle;
	struct sizeup_io_job *job;
	struct timespec before, after;
	int status;

	workers[1].interval_ns = 50000000;
	CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before) == 0);
	CHECK(sizeup_io_start(workers, 2, &job) == 0);
	pause_ms(400);
	sizeup_io_cancel(job);
	status = sizeup_io_wait(job, PATIENCE_NS);
	CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after) == 0);
	CHECK(sizeup_io_usage(job, 0, &busy) == 0 && sizeup_io_usage(job, 1, &idle) == 0);
	CHECK(sizeup_io_usage(job, 2, &idle) == -EINVAL);
	CHECK(status == 0);
	sizeup_io_free(job);
	const int64_t used_ns = (after.tv_sec - before.tv_sec) * (int64_t)SECOND_NS + after.tv_nsec - before.tv_nsec;

	CHECK(busy.time_ns > 0 && busy.cpu >= 0 && busy.cpu_ns > idle.cpu_ns);
	CHECK(busy.cpu_ns + idle.cpu_ns > used_ns / 2 && busy.cpu_ns + idle.cpu_ns <= used_ns + SECOND_NS / 50);
	return 0;
}

/* As on a machine whose CPUs went offline meanwhile, or with a number that cannot be. */
static int absent_cpus_are_refused(void)
{
	struct sizeup_io_worker workers[2] = { random_reader(SIZEUP_IO_THREADS, 1), random_reader(SIZEUP_IO_THREADS, 1) };
	struct sizeup_io_job *job;

	for (int i = 0; i < 3; i++) {
		const int32_t cpu = (const int32_t[]){ -1, 60000, INT32_MAX }[i];

		workers[1].cpus = &cpu;
		workers[1].cpu_count = 1;
		CHECK(sizeup_io_start(workers, 2, &job) == -EINVAL);
	}
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

int main(void)
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
		const int32_t engine = engines[i];
		const int status = sizeup_io_available(engine);

		if (status < 0) {
			fprintf(stderr, "engine %d is not available: %s\n", engine, strerror(-status));
			continue;
		}
		ran++;
		failures += reads_are_counted_and_timed(engine);
		failures += a_mix_writes_its_share(engine);
		failures += one_pass_ends_by_itself_and_covers_the_region(engine);
		failures += appending_workers_share_one_region(engine);
		failures += reads_past_the_end_are_errors_and_no_times(engine);
		failures += a_bad_descriptor_ends_the_worker(engine);
		failures += cancel_ends_within_a_quarter_of_a_second(engine);
		failures += a_pace_is_kept(engine);
		failures += groups_are_sampled_apart(engine);
		failures += a_stall_shows_in_the_response_time(engine);
		failures += workers_run_on_their_cpus_only(engine);
	}
	failures += absent_cpus_are_refused();
	failures += usage_is_that_of_each_worker();
	failures += nonsense_is_refused();
	failures += every_write_can_be_flushed();
	printf("%d engines, %d failures\n", ran, failures);
	return failures != 0;
}
