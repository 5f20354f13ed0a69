/* SPDX-License-Identifier: Apache-2.0 */
/* Samples subtract and add up, figure by figure, and have those of all workers of a group. */
#include <sizeup/direct_io.h>

#include <errno.h>

#include "../src/direct_io_worker.h"
#include "check.h"

static void samples_subtract(void)
{
	static struct sizeup_io_sample later, earlier, zero;

	for (uint64_t i = 0; i < 3; i++) {
		uint64_t *const histogram[] = { later.read_ns, later.write_ns, later.response_ns };
		uint64_t *const before[] = { earlier.read_ns, earlier.write_ns, earlier.response_ns };

		histogram[i][40 + i] = 10;
		before[i][40 + i] = 4;
	}
	later.time_ns = 900, earlier.time_ns = 400;
	later.reads = 50, earlier.reads = 20;
	later.writes = 40, earlier.writes = 15;
	later.read_bytes = 500, earlier.read_bytes = 200;
	later.written_bytes = 400, earlier.written_bytes = 150;
	later.errors = 9, earlier.errors = 2;
	later.submit_calls = 30, earlier.submit_calls = 10;
	later.late = 8, earlier.late = 3;
	later.usage_requests = 60, earlier.usage_requests = 30;
	later.usage_bytes = 600, earlier.usage_bytes = 300;
	later.user_ns = 70, earlier.user_ns = 10;
	later.system_ns = 80, earlier.system_ns = 10;
	later.run_delay_ns = 90, earlier.run_delay_ns = 10;
	later.voluntary_switches = 6, earlier.voluntary_switches = 1;
	for (int turn = 0; turn < 2; turn++) {
		check(later.time_ns == (turn ? 500 : 900), "a sample or an interval");
		if (!turn)
			sizeup_io_combine(&later, &earlier, -1);
		else
			sizeup_io_combine(&later, &zero, 1);
		check(later.reads == 30 && later.writes == 25 && later.read_bytes == 300 && later.written_bytes == 250, "requests");
		check(later.errors == 7 && later.submit_calls == 20 && later.late == 5, "what else is counted");
		check(later.usage_requests == 30 && later.usage_bytes == 300 && later.voluntary_switches == 5, "with its usage");
		check(later.user_ns == 60 && later.system_ns == 70 && later.run_delay_ns == 80, "and CPU time");
		check(later.read_ns[40] == 6 && later.write_ns[41] == 6 && later.response_ns[42] == 6, "and every histogram");
	}
	sizeup_io_combine(&later, &earlier, 1);
	check(later.time_ns == 900 && later.reads == 50 && later.read_ns[40] == 10 && later.system_ns == 80, "pools add up");
}

static void workers_add_up(void)
{
	static struct io_counters one, other;
	static struct sizeup_io_sample sample = { .flags = UINT32_MAX };
	io_counter *const values[] = { &one.reads, &one.read_bytes, &one.written_bytes, &one.submit_calls, &one.late,
				       &one.usage_requests, &one.usage_bytes, &one.user_ns, &one.system_ns, &one.run_delay_ns,
				       &one.voluntary_switches, &one.read_ns[5], &one.write_ns[6], &one.response_ns[7] };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		io_counter *const same = (io_counter *)((char *)&other + ((char *)values[i] - (char *)&one));

		io_counter_set(values[i], 10 * (i + 1));
		io_counter_set(same, i + 1);
	}
	io_counter_set(&one.submitted, 13);   /* 10 reads ended */
	io_counter_set(&other.submitted, 8); /* a read, 2 writes and an error ended */
	io_counter_set(&other.writes, 2);
	io_counter_set(&other.errors, 1);
	io_counter_set(&one.last_progress_ns, 900);
	io_counter_set(&other.last_progress_ns, 400);
	one.flags = SIZEUP_IO_FIXED_FILE | SIZEUP_IO_FIXED_BUFFERS;
	other.flags = SIZEUP_IO_FIXED_FILE;
	other.first_error = -EIO;
	other.ended = true;
	io_counters_add(&one, &sample);
	io_counters_add(&other, &sample);
	check(sample.workers == 2 && sample.running == 1 && sample.in_flight == 3 + 4, "workers and what is in flight");
	check(sample.reads == 11 && sample.writes == 2 && sample.errors == 1 && sample.first_error == -EIO, "requests");
	check(sample.read_bytes == 22 && sample.written_bytes == 33 && sample.submit_calls == 44 && sample.late == 55, "bytes and calls");
	check(sample.usage_requests == 66 && sample.usage_bytes == 77, "what the usage is of");
	check(sample.user_ns == 88 && sample.system_ns == 99 && sample.run_delay_ns == 110 && sample.voluntary_switches == 121, "usage");
	check(sample.read_ns[5] == 132 && sample.write_ns[6] == 143 && sample.response_ns[7] == 154, "every histogram");
	check(sample.last_progress_ns == 900, "the last progress is that of any");
	check(sample.flags == SIZEUP_IO_FIXED_FILE, "a feature is that of all");
}

int main(void)
{
	workers_add_up();
	samples_subtract();
	return 0;
}
