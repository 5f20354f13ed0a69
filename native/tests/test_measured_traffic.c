/* SPDX-License-Identifier: Apache-2.0 */
/* A thread group reports the bytes and loads that its threads had, and runs as many of them, as slowly, as it says. */
#define _GNU_SOURCE
#include <sizeup/arena.h>
#include <sizeup/chase.h>
#include <sizeup/clock.h>
#include <sizeup/cpu.h>
#include <sizeup/traffic.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "cpu_set.h"

#define BLOCK 4096u
#define ARENA (UINT64_C(2) << 20)
#define BLOCKS (ARENA / BLOCK)
#define LOAD_NS 5
#define TICK_NS 1000 /* of a stream's clock: each reading moves it by this */
#define SECOND_NS INT64_C(1000000000)
#define MOST 4
#define WINDOWS 64

static pthread_t main_thread;
static _Thread_local int64_t own_ns;
static _Thread_local int own_index = -1;
static struct {
	uint64_t *words;
	uint64_t readings; /* of the clock */
	uint64_t loads;
} member[MOST];
static uint32_t arenas;
static uint64_t readings_at[WINDOWS][MOST]; /* when the main thread read the clock */
static uint32_t windows;
static struct sizeup_job *job;
static uint32_t written[MOST][BLOCKS]; /* words that are not 0 any more */
static int64_t first_reading_ns;
static int guarding;
static char *guarded; /* the page that holds the second half of the only block */
static volatile sig_atomic_t guard_hits;

int __real_sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job);
int __wrap_sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *owner);
void __real_sizeup_arena_close(struct sizeup_arena *arena);
void __wrap_sizeup_arena_close(struct sizeup_arena *arena);
int64_t __real_sizeup_clock_now_ns(void);
int64_t __wrap_sizeup_clock_now_ns(void);
void *__wrap_sizeup_chase_follow(void *start, uint64_t rounds);

/* The tag of a member: the CPU that its memory is touched from, which first touch does not use. */
int __wrap_sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *owner)
{
	const int status = __real_sizeup_arena_open(arena, spec, owner);
	cpu_set_t *const set = CPU_ALLOC(4096);
	const size_t bytes = CPU_ALLOC_SIZE(4096);

	check(set && !sched_getaffinity(0, bytes, set), "the CPUs of a thread");
	check(CPU_COUNT_S(bytes, set) == 1 && CPU_ISSET_S((size_t)spec->touch_cpu, bytes, set), "each is pinned to its own");
	CPU_FREE(set);
	own_index = (int)__atomic_fetch_add(&arenas, 1, __ATOMIC_SEQ_CST);
	check(own_index < MOST, "no more arenas than members");
	member[own_index].words = arena->start;
	if (guarding) {
		guarded = (char *)arena->start + BLOCK;
		arena->start = (char *)arena->start + BLOCK / 2;
		arena->bytes = BLOCK;
		check(!mprotect(guarded, BLOCK, PROT_NONE), "a page is guarded");
	}
	return status;
}

static void at_guard(int number)
{
	(void)number;
	guard_hits++;
	if (mprotect(guarded, BLOCK, PROT_READ))
		_Exit(1);
}

void __wrap_sizeup_arena_close(struct sizeup_arena *arena)
{
	for (uint64_t block = 0; own_index >= 0 && arena->start && !guarding && block < BLOCKS; block++)
		for (uint64_t i = 0; i < BLOCK / 8; i++)
			written[own_index][block] += member[own_index].words[block * BLOCK / 8 + i] != 0;
	__real_sizeup_arena_close(arena);
}

/* A second between two readings of the observer; a microsecond between two of a stream; a chase's moves with its loads. */
int64_t __wrap_sizeup_clock_now_ns(void)
{
	if (pthread_equal(pthread_self(), main_thread)) {
		check(windows < WINDOWS, "readings of the clock");
		for (uint32_t i = 0; i < MOST; i++)
			readings_at[windows][i] = __atomic_load_n(&member[i].readings, __ATOMIC_RELAXED);
		windows++;
		own_ns += SECOND_NS;
		return own_ns;
	}
	if (!member[own_index].loads) {
		__atomic_store_n(&member[own_index].readings, member[own_index].readings + 1, __ATOMIC_RELAXED);
		own_ns += TICK_NS;
	}
	return own_ns;
}

void *__wrap_sizeup_chase_follow(void *start, uint64_t rounds)
{
	const struct timespec pause = { .tv_nsec = 10000 };

	member[own_index].loads += rounds * SIZEUP_CHASE_LOADS;
	own_ns += (int64_t)(rounds * SIZEUP_CHASE_LOADS) * LOAD_NS;
	nanosleep(&pause, NULL);
	return start;
}

static void start(void)
{
	memset(member, 0, sizeof(member));
	memset(written, 0, sizeof(written));
	arenas = 0;
	windows = 0;
	own_ns = 0;
}

static const struct sizeup_stop_rule RULE = {
	.batch_ns = 20000000,
	.replicate_ns = 39000000, /* two windows */
	.budget_ns = 1,
	.replicates_min = 1,
	.replicates_max = 1,
	.target = 0.5,
};

static void run(const struct sizeup_traffic_member *members, uint32_t count, const struct sizeup_traffic_point *point,
		const struct sizeup_stop_rule *rule)
{
	struct sizeup_placement placements[MOST];

	start();
	check(!sizeup_traffic_run(job, members, count, point, 1, rule, placements), "threads run");
}

static struct sizeup_traffic_member made(int32_t role, int32_t cpu)
{
	return (struct sizeup_traffic_member){
		.role = role, .cpu = cpu, .stride_bytes = 64, .memory = { .bytes = ARENA, .touch_cpu = cpu },
	};
}

/* Each wait reads the clock a known number of times, so that the readings count the blocks. */
static void bytes_are_counted(int32_t cpu, uint32_t delay_ticks)
{
	const struct sizeup_traffic_member stream = made(SIZEUP_ROLE_STREAM, cpu);
	const struct sizeup_traffic_point point = { .streams = 1, .delay_ns = delay_ticks * TICK_NS };
	const uint32_t readings_per_block = 1 + delay_ticks;
	struct sizeup_sample sample;
	double bytes = 0;
	uint32_t samples = 0;
	uint64_t readings = 0;

	run(&stream, 1, &point, &RULE);
	/* The observer reads the clock first and last for the budget, and before and after its windows. */
	for (; sizeup_job_drain(job, &sample, 1); samples++) {
		check(sample.point == 1, "bandwidth and no latency");
		check(sample.flags & SIZEUP_DISTURBED_PREEMPTED, "a second without a second of CPU time is disturbed");
		bytes += sample.value;
	}
	check(samples == 2 && windows >= 4, "two windows of a second");
	readings = readings_at[3][0] - readings_at[1][0];
	const double expected = (double)readings / readings_per_block * BLOCK;

	check(readings > 0, "the streams wait after each block");
	check(bytes > 0.8 * expected && bytes < 1.25 * expected, "and the bytes are those of the blocks");
}

static uint32_t blocks_written(uint32_t index, uint32_t least)
{
	uint32_t count = 0;

	for (uint32_t block = 0; block < BLOCKS; block++)
		count += written[index][block] >= least;
	return count;
}

static void writes_are_made(int32_t cpu)
{
	const struct sizeup_traffic_member stream = made(SIZEUP_ROLE_STREAM, cpu);
	struct sizeup_traffic_point point = { .streams = 1, .write_percent = 100 };

	run(&stream, 1, &point, &RULE);
	check(blocks_written(0, BLOCK / 8) == BLOCKS, "a writer writes all of its memory, and each block as a whole");
	point.write_percent = 0;
	run(&stream, 1, &point, &RULE);
	check(blocks_written(0, 1) == 0, "a reader none of it");
	point.write_percent = 50;
	run(&stream, 1, &point, &RULE);
	check(blocks_written(0, BLOCK / 8) == BLOCKS / 2, "one that does both every second block");
	point.write_percent = 25;
	run(&stream, 1, &point, &RULE);
	check(blocks_written(0, BLOCK / 8) == BLOCKS / 4, "or every fourth");
}

/* The block begins in the middle of a page, and the page after it is guarded. */
static void blocks_are_read_whole(int32_t cpu)
{
	const struct sizeup_traffic_member stream = made(SIZEUP_ROLE_STREAM, cpu);
	const struct sizeup_traffic_point point = { .streams = 1 };
	const struct sigaction noticed = { .sa_handler = at_guard };
	struct sigaction before;

	check(!sigaction(SIGSEGV, &noticed, &before), "a handler");
	guarding = 1;
	run(&stream, 1, &point, &RULE);
	guarding = 0;
	check(!sigaction(SIGSEGV, &before, NULL), "the handler before");
	check(guard_hits == 1, "a reader reads the second half of a block, too");
}

static void as_many_take_part(int32_t cpu)
{
	const struct sizeup_traffic_member streams[3] = { made(SIZEUP_ROLE_STREAM, cpu), made(SIZEUP_ROLE_STREAM, cpu),
							  made(SIZEUP_ROLE_STREAM, cpu) };
	struct sizeup_traffic_point point = { .write_percent = 100 };

	for (uint32_t active = 0; active <= 3; active++) {
		uint32_t took_part = 0;

		point.streams = active;
		run(streams, 3, &point, &RULE);
		for (uint32_t i = 0; i < 3; i++)
			took_part += blocks_written(i, 1) > 0;
		check(took_part == active, "as many streams take part as the point says");
	}
}

static void chases_are_timed(int32_t cpu)
{
	const struct sizeup_traffic_member chases[2] = { made(SIZEUP_ROLE_CHASE, cpu), made(SIZEUP_ROLE_CHASE, cpu) };
	const struct sizeup_traffic_point point = { .streams = 0 };
	struct sizeup_sample sample;
	uint32_t samples = 0;

	for (uint32_t count = 1; count <= 2; count++) {
		run(chases, count, &point, &RULE);
		/* The pair of a member's counters may be a block of loads apart. */
		for (; sizeup_job_drain(job, &sample, 1); samples++)
			check(sample.point == 0 && sample.value > 0.9 * LOAD_NS && sample.value < 1.1 * LOAD_NS,
			      "a load takes what a load takes, however many threads make them");
	}
	check(samples == 4, "in each window");
}

static void settles(int32_t cpu)
{
	const struct sizeup_traffic_member stream = made(SIZEUP_ROLE_STREAM, cpu);
	const struct sizeup_traffic_point point = { .streams = 1 };
	struct sizeup_stop_rule rule = RULE;
	struct sizeup_sample sample;

	rule.warm_up_ns = 300000000;
	first_reading_ns = __real_sizeup_clock_now_ns();
	run(&stream, 1, &point, &rule);
	check(__real_sizeup_clock_now_ns() - first_reading_ns >= rule.warm_up_ns, "the warm-up takes its time");
	while (sizeup_job_drain(job, &sample, 1))
		;
}

int main(void)
{
	struct sizeup_cpu_set allowed;
	struct sizeup_sample sample;
	int32_t cpu = 0;

	main_thread = pthread_self();
	job = sizeup_job_new();
	check(job && !sizeup_cpu_set_read(&allowed), "this thread's CPUs");
	while (!sizeup_cpu_set_has(&allowed, cpu))
		cpu++;
	for (int32_t other = cpu + 1; other < (int32_t)(8 * allowed.bytes); other++)
		if (sizeup_cpu_set_has(&allowed, other))
			cpu = other; /* not the one where this thread began */
	bytes_are_counted(cpu, 1);
	bytes_are_counted(cpu, 10);
	writes_are_made(cpu);
	blocks_are_read_whole(cpu);
	as_many_take_part(cpu);
	while (sizeup_job_drain(job, &sample, 1))
		;
	chases_are_timed(cpu);
	settles(cpu);
	sizeup_cpu_set_free(&allowed);
	sizeup_job_free(job);
	return 0;
}
