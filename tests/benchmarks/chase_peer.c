/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second way to the same figure, sharing no code with the library: a stored shuffle, indices
 * instead of pointers' addresses in assembly, one long timing instead of short batches.
 * Usage: chase_peer BYTES thp|4k  - prints the best of five samples in nanoseconds a load.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LINE 64
#define HUGE ((size_t)2 << 20)

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const size_t bytes = strtoull(argv[1], NULL, 10);
	const size_t count = bytes / LINE;
	const int huge = !strcmp(argv[2], "thp");
	char *raw = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *order = malloc(count * sizeof(*order));

	if (raw == MAP_FAILED || !order)
		return 1;
	char *const base = (char *)(((uintptr_t)raw + HUGE - 1) & ~(HUGE - 1));

	madvise(base, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(base, 0, bytes);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	uint64_t state = 88172645463325252u ^ (uint64_t)time(NULL);

	for (size_t i = count - 1; i > 0; i--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		const size_t j = state % (i + 1);
		const uint32_t swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	for (size_t i = 0; i < count; i++)
		*(char **)(base + (size_t)order[i] * LINE) = base + (size_t)order[(i + 1) % count] * LINE;
	free(order);

	char *volatile *position = (char *volatile *)base;
	double best = 1e9;

	for (size_t i = 0; i < count && i < 4000000; i++) /* warm-up */
		position = (char *volatile *)*position;
	for (int sample = 0; sample < 5; sample++) {
		const double start = seconds();
		uint64_t loads = 0;

		do {
			for (int i = 0; i < 20000; i += 10) {
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
				position = (char *volatile *)*position;
			}
			loads += 20000;
		} while (seconds() - start < 0.08);
		const double ns = (seconds() - start) * 1e9 / loads;

		best = ns < best ? ns : best;
	}
	printf("%.4f\n", best);
	return 0;
}
