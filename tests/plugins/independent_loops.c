/* Loops that share nothing with the probes: a chase through an array of indexes, and passes over an array. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *allocate(uint64_t bytes)
{
	void *const memory = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) >> 21 << 21);

	if (memory)
		madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

/* Sattolo's shuffle: one cycle through all cache lines, and the index of the next one in each. */
uint32_t *chain_new(uint32_t lines)
{
	uint32_t *const chain = allocate((uint64_t)lines * 64);
	uint32_t *const order = malloc(lines * sizeof(*order));
	uint32_t random = 12345;

	if (!chain || !order)
		return NULL;
	for (uint32_t i = 0; i < lines; i++)
		order[i] = i;
	for (uint32_t i = lines - 1; i; i--) {
		random = random * 1664525u + 1013904223u;
		const uint32_t other = (uint32_t)((uint64_t)random * i >> 32);
		const uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 0; i < lines; i++)
		chain[(uint64_t)order[i] * 16] = order[(i + 1) % lines] * 16;
	free(order);
	return chain;
}

/* Return nanoseconds per step. */
double chain_ns(const uint32_t *chain, uint32_t steps)
{
	static volatile uint32_t kept;
	uint32_t at = kept;
	const double start = seconds();

	for (uint32_t i = 0; i < steps; i++)
		at = chain[at];
	kept = at;
	return (seconds() - start) * 1e9 / steps;
}

uint64_t *array_new(uint64_t bytes)
{
	uint64_t *const array = allocate(bytes);

	for (uint64_t i = 0; array && i < bytes / 8; i++)
		array[i] = i;
	return array;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Return bytes per second; 0 if the thread did not have its CPU for all of the time. */
static double rate(uint64_t bytes, double start, double cpu_start)
{
	const double cpu_time = cpu_seconds() - cpu_start;
	const double time = seconds() - start;

	return time > 1.05 * cpu_time + 5e-6 ? 0 : (double)bytes / time;
}

double read_rate(const uint64_t *array, uint64_t bytes)
{
	static volatile uint64_t kept;
	uint64_t sum = 0;
	const double start = seconds(), cpu_start = cpu_seconds();

	for (uint64_t i = 0; i < bytes / 8; i++)
		sum += array[i];
	kept = sum;
	return rate(bytes, start, cpu_start);
}

/* A store takes a place in the queue of stores whatever its width: narrow ones keep fewer lines under way. */
typedef uint64_t pair __attribute__((vector_size(16)));

double write_rate(uint64_t *array, uint64_t bytes)
{
	const double start = seconds(), cpu_start = cpu_seconds();

	for (uint64_t i = 0; i < bytes / sizeof(pair); i++)
		((volatile pair *)array)[i] = (pair){i, i};
	return rate(bytes, start, cpu_start);
}

/* Return the frequency of the core by a chain of a shift and an exclusive or, two cycles. */
double core_hz(uint32_t steps)
{
	static volatile uint64_t kept = 1;
	uint64_t value = kept;
	const double start = seconds();

	for (uint32_t i = 0; i < steps; i++) {
		value ^= value << 1;
		__asm__ volatile("" : "+r"(value));
		value ^= value << 1;
		__asm__ volatile("" : "+r"(value));
	}
	kept = value;
	return 4.0 * steps / (seconds() - start);
}

/* Return the ticks of the CPU's counter in a second, counted for 20 ms; 0 where none is known. */
double counter_hz(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	const double start = seconds();
	uint64_t first, last;
	double duration;

#if defined(__x86_64__)
	first = __builtin_ia32_rdtsc();
#else
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(first));
#endif
	do {
		duration = seconds() - start;
#if defined(__x86_64__)
		last = __builtin_ia32_rdtsc();
#else
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(last));
#endif
	} while (duration < 0.02);
	return (double)(last - first) / duration;
#else
	return 0;
#endif
}
