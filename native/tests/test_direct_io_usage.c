/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of a worker is that of its thread, in user mode and in the kernel, with what it waited for a CPU. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../src/direct_io_worker.h"
#include "check.h"

#define SECOND_NS UINT64_C(1000000000)

int __wrap_getrusage(int who, struct rusage *usage);

int __wrap_getrusage(int who, struct rusage *usage)
{
	check(who == RUSAGE_THREAD, "of the thread alone");
	*usage = (struct rusage){
		.ru_utime = { .tv_sec = 1, .tv_usec = 500000 },
		.ru_stime = { .tv_sec = 2, .tv_usec = 250000 },
		.ru_nvcsw = 7,
		.ru_nivcsw = 9,
	};
	return 0;
}

int main(void)
{
	static const char SCHEDSTAT[] = "3750000000 42000 17\n";
	struct io_counters *const counters = calloc(1, sizeof(*counters));
	char path[] = "direct_io_usage_XXXXXX";
	const int file = mkstemp(path);

	check(counters && file >= 0 && !unlink(path), "a file in the form of schedstat");
	check(write(file, SCHEDSTAT, sizeof(SCHEDSTAT) - 1) == sizeof(SCHEDSTAT) - 1, "written");
	io_counter_set(&counters->reads, 30);
	io_counter_set(&counters->writes, 12);
	io_counter_set(&counters->read_bytes, 3000);
	io_counter_set(&counters->written_bytes, 1200);
	io_counters_read_usage(counters, file);
	check(io_counter_get(&counters->user_ns) == 3 * SECOND_NS / 2, "time in user mode");
	check(io_counter_get(&counters->system_ns) == 9 * SECOND_NS / 4, "time in the kernel");
	check(io_counter_get(&counters->voluntary_switches) == 7, "voluntary switches alone");
	check(io_counter_get(&counters->run_delay_ns) == 42000, "time without a CPU");
	check(io_counter_get(&counters->usage_requests) == 42 && io_counter_get(&counters->usage_bytes) == 4200,
	      "with the requests that they are of");
	io_counter_set(&counters->run_delay_ns, 0);
	io_counters_read_usage(counters, -1);
	check(io_counter_get(&counters->run_delay_ns) == 0, "without schedstat it is not known");
	close(file);
	free(counters);
	return 0;
}
