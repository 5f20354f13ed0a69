/* SPDX-License-Identifier: Apache-2.0 */
/* Workers of every engine keep their pace, run on their CPUs, are sampled by group, and end when canceled. */
#include "file_target.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

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
	/* Some may end between the two histograms being read, in this order: as many as were due until then. */
	CHECK(sizeup_histogram_count(sample.response_ns) <= (uint64_t)(took_ns / interval_ns) + 1);
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
#ifdef __SANITIZE_THREAD__
	return 0; /* ThreadSanitizer has a thread of its own */
#endif
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

int main(void)
{
	static int (*const of_engine[])(int32_t) = {
		cancel_ends_within_a_quarter_of_a_second,
		a_pace_is_kept,
		groups_are_sampled_apart,
		a_stall_shows_in_the_response_time,
		workers_run_on_their_cpus_only,
	};
	static int (*const others[])(void) = { absent_cpus_are_refused, usage_is_that_of_each_worker };

	return run_tests(of_engine, COUNT(of_engine), others, COUNT(others));
}
