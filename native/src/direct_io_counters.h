/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_COUNTERS_H
#define SIZEUP_DIRECT_IO_COUNTERS_H

#include <sizeup/direct_io.h>

#include <stdatomic.h>
#include <stdbool.h>

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

#endif
