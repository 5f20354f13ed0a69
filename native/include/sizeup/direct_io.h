/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_H
#define SIZEUP_DIRECT_IO_H

#include <stddef.h>
#include <stdint.h>

#include <sizeup/histogram.h>

/*
 * Reads and writes at a given concurrency or rate, watched from outside while they run.
 *
 * A job is a set of workers, each a thread with a descriptor, a region and a pattern of its own.
 * Each worker increments counters that only it writes; sizeup_io_sample() adds them up at any moment, and
 * the difference of two samples is the interval between them: subtraction discards the warm-up and
 * gives live percentiles, at no cost in the loop.
 */

#define SIZEUP_IO_URING 1
#define SIZEUP_IO_AIO 2
#define SIZEUP_IO_THREADS 3
#define SIZEUP_IO_CLIENT 4 /* reads only */

#define SIZEUP_IO_RANDOM 0
#define SIZEUP_IO_SEQUENTIAL 1
#define SIZEUP_IO_ONCE 2 /* sequential, and done at the region's end */
#define SIZEUP_IO_APPEND 3 /* the next block that no worker of the group has taken, to the region's end */
#define SIZEUP_IO_SHUFFLED 4 /* each block once, at random, and done when all were taken */

/* Optional features that a worker obtained; see sizeup_io_sample.flags. */
#define SIZEUP_IO_FIXED_BUFFERS 1
#define SIZEUP_IO_FIXED_FILE 2
#define SIZEUP_IO_DEFER_TASKRUN 4
#define SIZEUP_IO_REGION_DONE 8

#define SIZEUP_IO_MAX_WORKERS 1024
#define SIZEUP_IO_MAX_DEPTH 1024

typedef void (*sizeup_io_read_done)(int result, void *context, void *data, void *request);

/* One connection of a user-space client: functions of its library, and what they are called with, by one worker alone. */
struct sizeup_io_client {
	void *context;
	void *file;
	int (*read_into)(void *, void *, void *data, size_t bytes, uint64_t offset, sizeup_io_read_done, void *request);
	/* Where read_into is NULL; the callback gets the data. */
	int (*read_at)(void *, void *, uint64_t offset, uint64_t bytes, sizeup_io_read_done, void *request);
	int (*get_fd)(void *context);
	int (*which_events)(void *context);
	int (*service)(void *context, int events);
};

/* What one worker does. */
struct sizeup_io_worker {
	int32_t engine;  /* SIZEUP_IO_URING, _AIO, _THREADS or _CLIENT */
	int32_t fd;      /* opened by the caller with O_DIRECT, and with O_DSYNC if each write is to be durable */
	int32_t group;   /* a sample adds up one group: the data readers, or the log */
	int32_t pattern; /* SIZEUP_IO_RANDOM, _SEQUENTIAL, _ONCE, _APPEND or _SHUFFLED */
	uint64_t start_bytes; /* the region: */
	uint64_t size_bytes;  /* whole blocks of it are used */
	uint64_t block_bytes;
	uint64_t first_block; /* where a sequential worker starts in its region */
	uint64_t seed;
	int64_t interval_ns; /* between two intended starts; 0: the next one starts as one ends */
	uint32_t read_percent;
	uint32_t depth;        /* queue depth; 1 for the thread engine */
	uint32_t submit_batch; /* most to submit in one call */
	uint32_t error_limit;  /* give up after this many failed requests */
	int32_t huge_pages;    /* buffers on transparent huge pages, else on 4K pages */
	int32_t fdatasync_each; /* after every write, and part of its time; thread engine only */
	int32_t skip_missed;    /* intended starts that pass during a stall are not made up for */
	int32_t fresh_data;     /* rewrite the whole buffer before each write, not only a stamp per 4 KiB */
	const int32_t *cpus; /* the thread runs on these only; read by sizeup_io_start() alone */
	uint32_t cpu_count;  /* 0: wherever the caller may run */
	int32_t poisson;     /* the intended starts are random, interval_ns apart on average */
	uint32_t committers; /* those that wait for a log to be durable: a commit counts as a write; 0: no log */
	uint64_t record_bytes; /* what each of them appends */
	int64_t work_ns;       /* CPU time of a transaction before it commits */
	uint32_t work_cpus;    /* that do it; at least 1 */
	struct sizeup_io_client client; /* of that engine */
};

/* All counters since the start, summed over the workers of one group. */
struct sizeup_io_sample {
	int64_t time_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t reads;
	uint64_t writes;
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t errors;       /* requests that failed or came back short; in no histogram */
	uint64_t submit_calls; /* system calls that submitted */
	uint64_t in_flight;
	uint64_t late;            /* requests that started after their intended start by an interval */
	int64_t last_progress_ns; /* when a request last ended */
	/* Of the worker threads alone, published ten times a second with the counts they belong to. */
	uint64_t usage_requests;
	uint64_t usage_bytes;
	int64_t user_ns;
	int64_t system_ns;
	int64_t run_delay_ns; /* runnable, waiting for a CPU */
	uint64_t voluntary_switches;
	uint32_t workers;
	uint32_t running;
	uint32_t flags;       /* SIZEUP_IO_*, those that all workers have */
	int32_t status;       /* 0, or the negative errno that ended a worker */
	int32_t first_error;  /* 0, or the negative errno of a failed request; -ENODATA when short */
	uint64_t read_ns[SIZEUP_HISTOGRAM_BUCKETS];  /* submission to completion */
	uint64_t write_ns[SIZEUP_HISTOGRAM_BUCKETS];
	uint64_t response_ns[SIZEUP_HISTOGRAM_BUCKETS]; /* intended start to completion; paced only */
};

/* What one worker thread used since its start, published ten times a second. */
struct sizeup_io_usage {
	int64_t time_ns; /* CLOCK_MONOTONIC_RAW, when it was published; 0: not yet */
	int64_t cpu_ns;  /* user and system time */
	int32_t cpu;     /* where it ran then; -1 if unknown */
};

struct sizeup_io_job;

/**
 * sizeup_io_available() - Whether this process may use an engine.
 * Return: 0, or the negative errno of the set-up call: -EPERM and -ENOSYS from policy or an old
 * kernel, -EAGAIN when fs.aio-max-nr is used up, -EOPNOTSUPP for an io_uring without timed waits.
 */
int sizeup_io_available(int32_t engine);

/**
 * sizeup_io_start() - Start every worker and return at once; set-up happens in the threads.
 * @job: where the new job is put; it lives until sizeup_io_free().
 * Return: 0, -EINVAL for a worker with contradictory settings or without a CPU it may run on, -ENOMEM or -EAGAIN.
 */
int sizeup_io_start(const struct sizeup_io_worker *workers, uint32_t count, struct sizeup_io_job **job);

/** sizeup_io_cancel() - Request that all workers end; from any thread, returns at once. */
void sizeup_io_cancel(struct sizeup_io_job *job);

/** sizeup_io_sample() - Add up the counters of the workers of @group; from any thread. */
void sizeup_io_sample(const struct sizeup_io_job *job, int32_t group, struct sizeup_io_sample *sample);

/**
 * sizeup_io_usage() - Read the CPU use of worker @index, in the order of sizeup_io_start(); from any thread.
 * Return: 0, or -EINVAL if there is no such worker.
 */
int sizeup_io_usage(const struct sizeup_io_job *job, uint32_t index, struct sizeup_io_usage *usage);

/**
 * sizeup_io_combine() - Subtract an earlier sample (@sign -1), which leaves the interval since it, or add an interval.
 * Counters and histograms are summed up, and time_ns, the length of an interval; states keep @into's value.
 */
void sizeup_io_combine(struct sizeup_io_sample *into, const struct sizeup_io_sample *other, int sign);

/**
 * sizeup_io_wait() - Wait until all workers have ended; sizeup_io_cancel() makes them end.
 * Return: 0, or -ETIMEDOUT after @timeout_ns with a worker still running or inside the kernel.
 */
int sizeup_io_wait(const struct sizeup_io_job *job, int64_t timeout_ns);

/**
 * sizeup_io_free() - Free a job whose workers have ended.
 * A request on a hung device cannot be taken back: such a job is left in memory for good.
 */
void sizeup_io_free(struct sizeup_io_job *job);

#endif
