/* SPDX-License-Identifier: Apache-2.0 */
/* The same calls under Google Benchmark: g++ -O2 clock_peer.cc -lbenchmark -lpthread */
#include <benchmark/benchmark.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static void monotonic(benchmark::State &state)
{
	struct timespec now;

	for (auto _ : state)
		benchmark::DoNotOptimize(clock_gettime(CLOCK_MONOTONIC, &now));
}
BENCHMARK(monotonic)->Name("clock_gettime-monotonic");

static void of_day(benchmark::State &state)
{
	struct timeval now;

	for (auto _ : state)
		benchmark::DoNotOptimize(gettimeofday(&now, NULL));
}
BENCHMARK(of_day)->Name("gettimeofday");

static void raw_call(benchmark::State &state)
{
	struct timespec now;

	for (auto _ : state)
		benchmark::DoNotOptimize(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now));
}
BENCHMARK(raw_call)->Name("syscall-clock_gettime");

#if defined(__x86_64__)
static void counter(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(__rdtsc());
}
BENCHMARK(counter)->Name("rdtsc");
#endif

BENCHMARK_MAIN();
