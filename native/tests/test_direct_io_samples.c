/* SPDX-License-Identifier: Apache-2.0 */
/* Samples subtract and add up, figure by figure. */
#include <sizeup/direct_io.h>

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
			sizeup_io_difference(&later, &earlier);
		else
			sizeup_io_pool(&later, &zero);
		check(later.reads == 30 && later.writes == 25 && later.read_bytes == 300 && later.written_bytes == 250, "requests");
		check(later.errors == 7 && later.submit_calls == 20 && later.late == 5, "what else is counted");
		check(later.usage_requests == 30 && later.usage_bytes == 300 && later.voluntary_switches == 5, "with its usage");
		check(later.user_ns == 60 && later.system_ns == 70 && later.run_delay_ns == 80, "and CPU time");
		check(later.read_ns[40] == 6 && later.write_ns[41] == 6 && later.response_ns[42] == 6, "and every histogram");
	}
	sizeup_io_pool(&later, &earlier);
	check(later.time_ns == 900 && later.reads == 50 && later.read_ns[40] == 10 && later.system_ns == 80, "pools add up");
}

int main(void)
{
	samples_subtract();
	return 0;
}
