/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RUSAGE_THREAD, sched_getcpu */
/* What a worker of direct I/O counts: requests, errors, CPU time; and the sum over workers. */
#include "direct_io_worker.h"

#include <sizeup/clock.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

void io_counters_read_usage(struct io_counters *counters, int schedstat_fd)
{
	struct rusage usage;
	char text[96];

	io_counter_set(&counters->usage_requests, io_counter_get(&counters->reads) + io_counter_get(&counters->writes));
	io_counter_set(&counters->usage_bytes, io_counter_get(&counters->read_bytes) + io_counter_get(&counters->written_bytes));
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		io_counter_set(&counters->user_ns, (uint64_t)usage.ru_utime.tv_sec * 1000000000u +
					    (uint64_t)usage.ru_utime.tv_usec * 1000u);
		io_counter_set(&counters->system_ns, (uint64_t)usage.ru_stime.tv_sec * 1000000000u +
					      (uint64_t)usage.ru_stime.tv_usec * 1000u);
		io_counter_set(&counters->voluntary_switches, (uint64_t)usage.ru_nvcsw);
		atomic_store_explicit(&counters->cpu, sched_getcpu(), memory_order_relaxed);
		io_counter_set(&counters->usage_time_ns, (uint64_t)sizeup_clock_now_ns());
	}
	/* "on-cpu-ns run-delay-ns slices"; absent without CONFIG_SCHED_INFO. */
	const ssize_t length = schedstat_fd < 0 ? 0 : pread(schedstat_fd, text, sizeof(text) - 1, 0);

	if (length > 0) {
		char *end;

		text[length] = '\0';
		strtoull(text, &end, 10);
		io_counter_set(&counters->run_delay_ns, strtoull(end, NULL, 10));
	}
}

void io_counters_set_status(struct io_counters *counters, int status)
{
	if (atomic_load_explicit(&counters->status, memory_order_relaxed) == 0)
		atomic_store_explicit(&counters->status, status, memory_order_relaxed);
}

/* After these no request can succeed; EINVAL: it is misaligned for this target. */
static const int FATAL[] = { ENOSPC, EDQUOT, ESTALE, ENODEV, ENXIO, EROFS, EBADF, EINVAL, EOPNOTSUPP, EFBIG };

/* A failed request ends fast and would improve the average: only the error counter includes it. */
void io_counters_count_error(struct io_counters *counters, int64_t error, uint32_t error_limit)
{
	io_counter_add(&counters->errors, 1);
	if (atomic_load_explicit(&counters->first_error, memory_order_relaxed) == 0)
		atomic_store_explicit(&counters->first_error, (int32_t)error, memory_order_relaxed);
	bool fatal = io_counter_get(&counters->errors) >= error_limit;

	for (size_t i = 0; i < sizeof(FATAL) / sizeof(FATAL[0]); i++)
		fatal = fatal || error == -FATAL[i];
	if (fatal)
		io_counters_set_status(counters, (int)error);
}

void io_counters_add(const struct io_counters *counters, struct sizeup_io_sample *sample)
{
	const uint64_t ended = io_counter_get(&counters->reads) + io_counter_get(&counters->writes) + io_counter_get(&counters->errors);
	const uint64_t submitted = io_counter_get(&counters->submitted);
	const int64_t progress_ns = (int64_t)io_counter_get(&counters->last_progress_ns);

	sample->workers++;
	sample->running += !io_counters_ended(counters);
#define ADD(name) sample->name += io_counter_get(&counters->name);
	IO_SUMS(ADD)
	sample->in_flight += submitted > ended ? submitted - ended : 0;
	if (progress_ns > sample->last_progress_ns)
		sample->last_progress_ns = progress_ns;
	sample->flags &= atomic_load_explicit(&counters->flags, memory_order_relaxed);
	if (sample->status == 0)
		sample->status = atomic_load_explicit(&counters->status, memory_order_relaxed);
	if (sample->first_error == 0)
		sample->first_error = atomic_load_explicit(&counters->first_error, memory_order_relaxed);
	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++) {
		sample->read_ns[i] += io_counter_get(&counters->read_ns[i]);
		sample->write_ns[i] += io_counter_get(&counters->write_ns[i]);
		sample->response_ns[i] += io_counter_get(&counters->response_ns[i]);
	}
}
