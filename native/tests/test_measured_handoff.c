/* SPDX-License-Identifier: Apache-2.0 */
/* A transfer takes half of a round trip, between the two CPUs of the pair, on a line of the home that is named. */
#define _GNU_SOURCE
#include <sizeup/arena.h>
#include <sizeup/batch.h>
#include <sizeup/clock.h>
#include <sizeup/handoff.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "cpu_set.h"

#define TRANSFER_NS 7

static pthread_t main_thread;
static uint64_t *words; /* of the arena that holds the line */
static uint64_t word_count;
static uint64_t *line;
static struct sizeup_arena_spec spec;
static int32_t pinned[2]; /* the main thread and the others */

int __real_sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *spec, struct sizeup_job *job);
int __wrap_sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *asked, struct sizeup_job *job);
int64_t __wrap_sizeup_clock_now_ns(void);
int __real_sizeup_cpu_pin(int32_t cpu);
int __wrap_sizeup_cpu_pin(int32_t cpu);
uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns);
int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time);

/* On memory of this node, whatever was asked for: this machine may have no other. */
int __wrap_sizeup_arena_open(struct sizeup_arena *arena, const struct sizeup_arena_spec *asked, struct sizeup_job *job)
{
	struct sizeup_arena_spec here = *asked;

	spec = *asked;
	here.placement = SIZEUP_PLACE_FIRST_TOUCH;
	const int status = __real_sizeup_arena_open(arena, &here, job);

	words = arena->start;
	word_count = arena->bytes / sizeof(*words);
	return status;
}

/* The time is the number of transfers so far: the one word that is not 0 counts them. */
int64_t __wrap_sizeup_clock_now_ns(void)
{
	static uint64_t before, past;

	for (uint64_t i = 0; !line && i < word_count; i += 8)
		if (__atomic_load_n(&words[i], __ATOMIC_RELAXED))
			line = &words[i];
	const uint64_t turn = line ? __atomic_load_n(line, __ATOMIC_ACQUIRE) : 0;

	if (!turn) /* the next replicate's may be another line */
		line = NULL;
	past += turn < before ? before : 0;
	before = turn;
	return (int64_t)(past + turn) * TRANSFER_NS;
}

int __wrap_sizeup_cpu_pin(int32_t cpu)
{
	pinned[!pthread_equal(pthread_self(), main_thread)] = cpu;
	return __real_sizeup_cpu_pin(cpu);
}

uint32_t __wrap_sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns)
{
	(void)watch, (void)wall_ns;
	return 0;
}

int __wrap_sizeup_cpu_time_read(int32_t cpu, struct sizeup_cpu_time *time)
{
	(void)cpu;
	memset(time, 0, sizeof(*time));
	return 0;
}

static void transfer(struct sizeup_job *job, int32_t cpu, int32_t other, uint64_t home)
{
	static const struct sizeup_stop_rule RULE = {
		.batch_ns = 7000, .replicate_ns = 70000, .budget_ns = 1, .replicates_min = 1, .replicates_max = 1,
		.target = 0.5,
	};
	const struct sizeup_pair pair = { .cpu = cpu, .partner = other, .home = home };
	struct sizeup_sample sample;
	struct sizeup_estimate estimate;
	uint32_t samples = 0;

	words = NULL;
	line = NULL;
	word_count = 0;
	pinned[0] = pinned[1] = -1;
	check(!sizeup_handoff_run(job, &pair, 1, &RULE), "a line is transferred");
	check(pinned[0] == cpu && pinned[1] == other, "between the CPUs of the pair");
	check(spec.placement == (home ? SIZEUP_PLACE_BIND : SIZEUP_PLACE_FIRST_TOUCH) && spec.nodes == home,
	      "in memory of the home");
	for (; sizeup_job_drain(job, &sample, 1); samples++)
		check(sample.value > TRANSFER_NS - 0.01 && sample.value < TRANSFER_NS + 0.01, "one transfer is half a round trip");
	check(samples == 11, "in each batch");
	sizeup_job_estimate(job, 0, &estimate);
	check(estimate.median > TRANSFER_NS - 0.01 && estimate.median < TRANSFER_NS + 0.01, "and in all");
}

static void refused(struct sizeup_job *job, int32_t cpu, int32_t other)
{
	static const struct sizeup_stop_rule RULE = {
		.batch_ns = 7000, .replicate_ns = 70000, .budget_ns = 1, .replicates_min = 1, .replicates_max = 1,
		.target = 0.5,
	};
	const struct sizeup_pair pair = { .cpu = cpu, .partner = other };
	struct sizeup_sample sample;

	words = line = NULL;
	word_count = 0;
	check(sizeup_handoff_run(job, &pair, 1, &RULE) < 0, "a pair with an absent CPU is refused");
	check(strstr(sizeup_job_reason(job), "CPU 8000") != NULL, "with the reason");
	check(!sizeup_job_drain(job, &sample, 1), "and not measured");
}

int main(void)
{
	struct sizeup_job *const job = sizeup_job_new();
	struct sizeup_cpu_set allowed;
	int32_t cpu = -1, other = -1;

	main_thread = pthread_self();
	check(job && !sizeup_cpu_set_read(&allowed), "this thread's CPUs");
	for (int32_t i = 0; i < (int32_t)(8 * allowed.bytes); i++)
		if (sizeup_cpu_set_has(&allowed, i))
			*(cpu < 0 ? &cpu : &other) = i;
	if (other < 0) {
		fprintf(stderr, "one CPU has no partner\n");
		return SKIPPED;
	}
	transfer(job, cpu, other, 0);
	check(!sizeup_cpu_set_apply(&allowed), "back on all CPUs");
	transfer(job, other, cpu, 2);
	check(!sizeup_cpu_set_apply(&allowed), "back on all CPUs");
	refused(job, 8000, cpu);
	refused(job, cpu, 8000);
	sizeup_cpu_set_free(&allowed);
	sizeup_job_free(job);
	return 0;
}
