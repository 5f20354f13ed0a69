/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* CPU sets */
/* Jobs of direct I/O: start, watch, stop. The work itself is in direct_io_worker.c. */
#include "direct_io_worker.h"

#include <sizeup/clock.h>
#include <sizeup/direct_io.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Enough for the loop under a sanitizer; a thousand workers take 256 MiB of address space only. */
#define STACK_BYTES ((size_t)256 * 1024)
#define MOST_CPU 0xffff /* far beyond the kernel's limit of 8,192 CPUs */

struct sizeup_io_job {
	atomic_bool stop;
	uint32_t count;
	struct io_worker *workers;
	pthread_t *threads;
};

int sizeup_io_available(int32_t engine)
{
	char page[4096] __attribute__((aligned(4096)));
	struct io_queue queue = { .fd = -1, .depth = 1, .block_bytes = sizeof(page), .buffers = page };
	const struct io_engine *const table = io_engine_of(engine);

	if (engine == SIZEUP_IO_THREADS)
		return 0;
	if (!table)
		return -EINVAL;
	const int status = table->open(&queue);

	if (status == 0)
		table->close(&queue);
	return status;
}

static bool is_valid(const struct sizeup_io_worker *worker)
{
	if (worker->engine != SIZEUP_IO_THREADS && !io_engine_of(worker->engine))
		return false;
	if (worker->engine == SIZEUP_IO_THREADS && worker->depth != 1)
		return false;
	if (worker->committers && (worker->record_bytes < 512 || !worker->work_cpus || worker->engine == SIZEUP_IO_AIO))
		return false;
	if (worker->engine != SIZEUP_IO_THREADS && worker->fdatasync_each && !worker->committers)
		return false;
	if (worker->engine == SIZEUP_IO_CLIENT && (!worker->client.service || worker->read_percent < 100))
		return false;
	if (worker->depth == 0 || worker->depth > SIZEUP_IO_MAX_DEPTH || worker->submit_batch == 0)
		return false;
	if (worker->block_bytes < 512 || worker->block_bytes > (1u << 30))
		return false;
	if (worker->size_bytes < worker->block_bytes || worker->size_bytes > (uint64_t)INT64_MAX ||
	    worker->start_bytes > (uint64_t)INT64_MAX - worker->size_bytes)
		return false;
	for (uint32_t i = 0; i < worker->cpu_count; i++) {
		if (worker->cpus[i] < 0 || worker->cpus[i] > MOST_CPU)
			return false;
	}
	return worker->pattern >= SIZEUP_IO_RANDOM && worker->pattern <= SIZEUP_IO_SHUFFLED &&
	       worker->read_percent <= 100 && worker->interval_ns >= 0 &&
	       worker->first_block < worker->size_bytes / worker->block_bytes;
}

static void release(struct sizeup_io_job *job)
{
	for (uint32_t i = 0; i < job->count; i++)
		free(job->workers[i].counters);
	free(job->workers);
	free(job->threads);
	free(job);
}

/* The CPUs that a thread starts on, so that its stack and buffers lie on their node as well. */
static int set_cpus(pthread_attr_t *attributes, const struct sizeup_io_worker *spec)
{
	size_t count = 0;

	for (uint32_t i = 0; i < spec->cpu_count; i++)
		count = (size_t)spec->cpus[i] >= count ? (size_t)spec->cpus[i] + 1 : count;
	cpu_set_t *const cpus = CPU_ALLOC(count);
	const size_t bytes = CPU_ALLOC_SIZE(count);

	if (!cpus)
		return -ENOMEM;
	CPU_ZERO_S(bytes, cpus);
	for (uint32_t i = 0; i < spec->cpu_count; i++)
		CPU_SET_S((size_t)spec->cpus[i], bytes, cpus);
	const int status = -pthread_attr_setaffinity_np(attributes, bytes, cpus);

	CPU_FREE(cpus);
	return status;
}

static int spawn_one(pthread_t *thread, struct io_worker *worker)
{
	pthread_attr_t attributes;
	int status = -pthread_attr_init(&attributes);

	if (status < 0)
		return status;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (worker->spec.cpu_count)
		status = set_cpus(&attributes, &worker->spec);
	if (status == 0)
		status = -pthread_create(thread, &attributes, io_worker_run, worker);
	pthread_attr_destroy(&attributes);
	return status;
}

int sizeup_io_start(const struct sizeup_io_worker *workers, uint32_t count, struct sizeup_io_job **job)
{
	struct sizeup_io_job *new;
	int status = 0;

	if (count == 0 || count > SIZEUP_IO_MAX_WORKERS)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_valid(&workers[i]))
			return -EINVAL;
	}
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->workers = calloc(count, sizeof(*new->workers));
	new->threads = calloc(count, sizeof(*new->threads));
	if (!new->workers || !new->threads)
		status = -ENOMEM;
	for (uint32_t i = 0; i < count && status == 0; i++) {
		struct io_worker *const worker = &new->workers[i];

		worker->spec = workers[i];
		worker->stop = &new->stop;
		worker->counters = calloc(1, sizeof(*worker->counters));
		if (!worker->counters) {
			status = -ENOMEM;
			break;
		}
		/* Until the first request ends, set-up counts as progress: a thread that starts late is not a hung device. */
		io_counter_set(&worker->counters->last_progress_ns, (uint64_t)sizeup_clock_now_ns());
		new->count++;
		/* Workers that append to one region take its blocks from the counter of the first of their group. */
		uint32_t leader = 0;

		while (new->workers[leader].spec.group != worker->spec.group)
			leader++;
		worker->shared = &new->workers[leader].taken;
	}
	for (uint32_t i = 0; i < new->count && status == 0; i++) {
		status = spawn_one(&new->threads[i], &new->workers[i]);
		if (status < 0) {
			/* Threads that did start end at once: none has a request in flight yet that could hang. */
			sizeup_io_cancel(new);
			for (uint32_t started = 0; started < i; started++)
				pthread_join(new->threads[started], NULL);
		}
	}
	if (status < 0) {
		release(new);
		return status;
	}
	*job = new;
	return 0;
}

void sizeup_io_cancel(struct sizeup_io_job *job)
{
	atomic_store_explicit(&job->stop, true, memory_order_relaxed);
}

void sizeup_io_sample(const struct sizeup_io_job *job, int32_t group, struct sizeup_io_sample *sample)
{
	memset(sample, 0, sizeof(*sample));
	sample->flags = UINT32_MAX;
	sample->time_ns = sizeup_clock_now_ns();
	for (uint32_t i = 0; i < job->count; i++) {
		if (job->workers[i].spec.group == group)
			io_counters_add(job->workers[i].counters, sample);
	}
	if (sample->workers == 0)
		sample->flags = 0;
}

int sizeup_io_usage(const struct sizeup_io_job *job, uint32_t index, struct sizeup_io_usage *usage)
{
	if (index >= job->count)
		return -EINVAL;
	const struct io_counters *const counters = job->workers[index].counters;

	usage->time_ns = (int64_t)io_counter_get(&counters->usage_time_ns);
	usage->cpu_ns = (int64_t)(io_counter_get(&counters->user_ns) + io_counter_get(&counters->system_ns));
	usage->cpu = atomic_load_explicit(&counters->cpu, memory_order_relaxed);
	return 0;
}

/* Counters are unsigned and wrap: adding the two's complement subtracts. */
void sizeup_io_combine(struct sizeup_io_sample *into, const struct sizeup_io_sample *other, int sign)
{
	const uint64_t factor = sign < 0 ? UINT64_MAX : 1;

	into->time_ns += sign * other->time_ns;
#define COMBINE(name) into->name += factor * (uint64_t)other->name;
	IO_SUMS(COMBINE)
	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++) {
		into->read_ns[i] += factor * other->read_ns[i];
		into->write_ns[i] += factor * other->write_ns[i];
		into->response_ns[i] += factor * other->response_ns[i];
	}
}

int sizeup_io_wait(const struct sizeup_io_job *job, int64_t timeout_ns)
{
	const int64_t deadline_ns = sizeup_clock_now_ns() + timeout_ns;
	const struct timespec pause = { 0, 1000000 };

	for (uint32_t i = 0; i < job->count; i++) {
		while (!io_counters_ended(job->workers[i].counters)) {
			if (sizeup_clock_now_ns() >= deadline_ns)
				return -ETIMEDOUT;
			nanosleep(&pause, NULL);
		}
	}
	return 0;
}

void sizeup_io_free(struct sizeup_io_job *job)
{
	for (uint32_t i = 0; i < job->count; i++)
		pthread_join(job->threads[i], NULL);
	release(job);
}
