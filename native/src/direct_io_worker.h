/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_WORKER_H
#define SIZEUP_DIRECT_IO_WORKER_H

#include <sizeup/direct_io.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by one thread, read by any: plain additions that other threads see with a short delay. */
typedef _Atomic uint64_t io_counter;

/* What a sample adds up, under the names that it has for a worker and for a group. */
#define IO_SUMS(each) \
	each(reads) each(writes) each(read_bytes) each(written_bytes) each(errors) each(submit_calls) each(late) \
	each(usage_requests) each(usage_bytes) each(user_ns) each(system_ns) each(run_delay_ns) each(voluntary_switches)

/* The counters of a running worker; only its thread writes them. */
struct io_counters {
	io_counter reads, writes, read_bytes, written_bytes;
	io_counter errors, submitted, submit_calls, late;
	io_counter last_progress_ns;
	io_counter usage_requests, usage_bytes, user_ns, system_ns, run_delay_ns;
	io_counter voluntary_switches;
	io_counter usage_time_ns;
	_Atomic int32_t cpu;
	_Atomic uint32_t flags;
	_Atomic int32_t status;
	_Atomic int32_t first_error;
	atomic_bool ended;
	io_counter read_ns[SIZEUP_HISTOGRAM_BUCKETS];
	io_counter write_ns[SIZEUP_HISTOGRAM_BUCKETS];
	io_counter response_ns[SIZEUP_HISTOGRAM_BUCKETS];
};

static inline void io_counter_add(io_counter *counter, uint64_t amount)
{
	const uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, value + amount, memory_order_relaxed);
}

static inline void io_counter_set(io_counter *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

static inline uint64_t io_counter_get(const io_counter *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline bool io_counters_ended(const struct io_counters *counters)
{
	return atomic_load_explicit(&counters->ended, memory_order_acquire);
}

/* Record the status that ends the worker, unless one is recorded already. */
void io_counters_set_status(struct io_counters *counters, int status);
/* Count a failed request; ends the worker after @error_limit of them, or at once after a fatal error. */
void io_counters_count_error(struct io_counters *counters, int64_t error, uint32_t error_limit);
/* Publish the CPU time and switches of the calling thread; @schedstat_fd is -1 without CONFIG_SCHED_INFO. */
void io_counters_read_usage(struct io_counters *counters, int schedstat_fd);
/* Add the counters to the sample of a group. */
void io_counters_add(const struct io_counters *counters, struct sizeup_io_sample *sample);

/* A completed request: its slot, and its bytes or negative errno. */
struct io_completion {
	uint32_t slot;
	int64_t result;
};

/* Input of an asynchronous engine; one queue per worker, used only by its thread. */
struct io_queue {
	int fd;
	uint32_t depth;
	size_t block_bytes;
	char *buffers; /* depth * block_bytes */
	bool huge_pages;
	const struct sizeup_io_client *client; /* of that engine */
	uint32_t flags; /* SIZEUP_IO_FIXED_*, set by the engine */
	uint64_t submit_calls;
	void *state; /* the engine's own */
};

/* The functions of an engine; all return 0 or more, or a negative errno. */
struct io_engine {
	int (*open)(struct io_queue *queue);
	/* Add a request to those of the next enter(). */
	void (*stage)(struct io_queue *queue, uint32_t slot, bool write, uint64_t offset_bytes);
	/*
	 * Submit the staged requests, then wait for @wait_for completions or @timeout_ns. Requests
	 * that the kernel does not accept yet stay staged.
	 */
	int (*enter)(struct io_queue *queue, uint32_t wait_for, int64_t timeout_ns);
	/* Return up to @most available completions; never blocks. */
	uint32_t (*reap)(struct io_queue *queue, struct io_completion *done, uint32_t most);
	void (*close)(struct io_queue *queue); /* or NULL */
};

extern const struct io_engine io_engine_uring;
/* Link an fsync of the data to the write that was staged last. */
void io_uring_stage_flush(struct io_queue *queue);
extern const struct io_engine io_engine_aio;
extern const struct io_engine io_engine_client;

/* Checked by all workers of a job between two requests. */
static inline bool io_stopping(const atomic_bool *stop)
{
	return atomic_load_explicit(stop, memory_order_relaxed);
}

struct io_worker {
	struct sizeup_io_worker spec;
	const atomic_bool *stop; /* of the job */
	struct io_counters *counters;
	io_counter taken;   /* blocks of the region handed out so far, if this worker is the first of its group */
	io_counter *shared; /* the `taken` of the first worker of the group; for SIZEUP_IO_APPEND */
};

/* The function table of an asynchronous engine; NULL for threads and for unknown numbers. */
const struct io_engine *io_engine_of(int32_t engine);

/* The thread; @worker is a struct io_worker. */
void *io_worker_run(void *worker);
/* Keep a log until the job stops or its region is full: a commit counts as a write, a flush as a response. */
int io_commit_run(struct io_worker *worker, char *buffers, int schedstat_fd);

#endif
