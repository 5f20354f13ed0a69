/* SPDX-License-Identifier: Apache-2.0 */
/* The times, errors and pace of each engine's requests, on a device whose times are known. */
#include "fake_device.h"

static void times(int32_t engine, uint32_t depth)
{
	struct sizeup_io_worker worker = made(engine, depth);
	const int64_t start_ns = now_ns;

	service_ns = 5 * MS;
	run(&worker, 1000);
	check(most_in_flight == worker.depth, "as many requests are in flight as the queue is deep");
	check(near((double)sizeup_histogram_quantile_ns(sample.read_ns, 0.01), 5 * MS), "the shortest takes its time");
	check(near((double)sizeup_histogram_quantile_ns(sample.read_ns, 1), 5 * MS), "and the longest");
	check(near(sizeup_histogram_mean_ns(sample.read_ns), 5 * MS), "and all of them");
	check(used_while_running > 0, "CPU time is published on the way");
	check(sizeup_histogram_count(sample.response_ns) == 0, "without a pace there is no response time");
	/* At the end, one wait may last a tick of 100 ms without a request. */
	const double idle_ns = (double)(now_ns - start_ns) - (double)sample.reads / worker.depth * 5 * MS;

	check((idle_ns >= 0 && idle_ns <= 100 * MS) || depth > 1, "one after the other");
	check(sample.submit_calls <= sample.reads && sample.submit_calls >= sample.reads / 4, "up to four with one call");
}

static void errors(int32_t engine)
{
	const struct sizeup_io_worker worker = made(engine, 4);

	error_every = 4;
	run(&worker, 400);
	check(failed > 90 && sample.first_error == -EIO, "one in four fails");
	error_result = BLOCK / 2;
	run(&worker, 400);
	check(failed > 90 && sample.first_error == -ENODATA, "or comes back short, which is as bad");
	error_result = -EIO;
	error_every = 0;
}

/* 1 in 10 ms, and each takes 5: nothing waits. In 3 ms, all do. */
static void pace(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);

	worker.interval_ns = 10 * MS;
	run(&worker, 300);
	for (uint32_t i = 1; i < requests; i++)
		check(near((double)(seen[i].begin_ns - seen[i - 1].begin_ns), 10 * MS), "each starts an interval after the last");
	check(sample.late == 0, "none is late");
	check(near((double)sizeup_histogram_quantile_ns(sample.response_ns, 1), 5 * MS), "and none has waited");
	worker.depth = 1;
	first_ns = 1000 * MS;
	run(&worker, 500);
	first_ns = 0;
	check(near((double)sizeup_histogram_quantile_ns(sample.response_ns, 1), 1005 * MS), "the first one stalls");
	check(near((double)sizeup_histogram_quantile_ns(sample.response_ns, 1 - 1.5 / (double)sample.reads), 1000 * MS),
	      "and the second waits from its intended start");
	check(near((double)sizeup_histogram_quantile_ns(sample.read_ns, 0.99), 5 * MS), "although its service is short");
	check(sample.late > 150 && sample.late < 250, "all that should have started meanwhile are late");
	worker.skip_missed = 1;
	first_ns = 1000 * MS;
	run(&worker, 500);
	first_ns = 0;
	check(sample.late <= 2, "unless what was missed is not made up for");
	for (uint32_t i = 2; i < requests; i++)
		check(seen[i].begin_ns - seen[i - 1].begin_ns > 9 * MS, "the pace after the stall is the one before");
}

/*
 * At random 1 in 10 ms on average: a share of exp(-1) of the times between two is longer. One at a time of 5 ms each, half
 * of the time, they wait 0.5 * 5 ms / (2 * (1 - 0.5)) on average (Pollaczek and Khinchine).
 */
static void arrivals(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 16);
	double sum_ms = 0, longer = 0;

	worker.interval_ns = 10 * MS;
	worker.poisson = 1;
	service_ns = 1;
	run(&worker, 15000);
	service_ns = 5 * MS;
	for (uint32_t i = 1; i < requests; i++) {
		const double gap_ms = (double)(seen[i].begin_ns - seen[i - 1].begin_ns) / MS;

		sum_ms += gap_ms / (requests - 1);
		longer += gap_ms > 10 ? 1.0 / (requests - 1) : 0;
	}
	check(sum_ms > 9.6 && sum_ms < 10.4, "the mean time between two starts is the interval");
	check(longer > 0.35 && longer < 0.39, "and these times are exponential");
	worker.depth = 1;
	run(&worker, 15000);
	const double response_ms = sizeup_histogram_mean_ns(sample.response_ns) / MS;

	check(response_ms > 7.1 && response_ms < 7.9, "they wait as in a queue of random arrivals");
}

int main(void)
{
	make_device();
	for (size_t i = 0; i < sizeof(ENGINES) / sizeof(ENGINES[0]); i++) {
		times(ENGINES[i], 1);
		times(ENGINES[i], 3);
		times(ENGINES[i], 16);
		errors(ENGINES[i]);
		pace(ENGINES[i]);
		arrivals(ENGINES[i]);
	}
	return 0;
}
