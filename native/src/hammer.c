/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <sizeup/hammer.h>

#include <sizeup/clock.h>
#include <sizeup/cpu.h>

#include "barrier.h"
#include "job_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 64
#define OPS_PER_CHECK (1u << 16) /* about 1 ms between two checks of the stop word */
#define WAIT_NS 2000000

/* Shared by the processes of one run. */
struct control {
	struct sizeup_barrier barrier;
	uint32_t stop;
	struct sizeup_hammer_result results[];
};

/* The high bits of a multiplicative generator choose the line: two cycles, next to a store that misses. */
static uint64_t store_random(char *start, uint64_t lines, uint64_t ops, uint64_t state)
{
	for (uint64_t i = 0; i < ops; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const uint64_t line = (uint64_t)((unsigned __int128)state * lines >> 64);

		*(volatile uint64_t *)(start + line * LINE_BYTES) = state;
	}
	return state;
}

static int64_t now_us(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

static int hammer(struct control *control, uint32_t index, const struct sizeup_arena *arena, uint64_t pages,
		  uint64_t loops)
{
	struct sizeup_hammer_result *const result = &control->results[index];
	const uint64_t lines = pages * (SIZEUP_HAMMER_PAGE / LINE_BYTES);
	const uint64_t ops_planned = pages * loops;
	uint64_t state = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
	struct sizeup_usage before, after;

	if (sizeup_barrier_wait(&control->barrier, &control->stop))
		return -ECANCELED;
	/* The CPU time is read within the wall time: a process cannot have used more of its CPU than there was. */
	result->start_ns = sizeup_clock_now_ns();
	sizeup_cpu_usage(&before);
	const int64_t start_us = now_us();

	for (uint64_t left = ops_planned; left && !__atomic_load_n(&control->stop, __ATOMIC_RELAXED);) {
		const uint64_t some = left < OPS_PER_CHECK ? left : OPS_PER_CHECK;

		state = store_random(arena->start, lines, some, state);
		left -= some;
		result->ops += some;
	}
	result->wall_us = now_us() - start_us;
	sizeup_cpu_usage(&after);
	result->end_ns = sizeup_clock_now_ns();
	result->cpu_ns = after.cpu_ns - before.cpu_ns;
	result->cpu = after.cpu;
	if (result->ops != ops_planned)
		return -ECANCELED;
	if (result->wall_us >= 0)
		return 0;
	snprintf(result->reason, sizeof(result->reason), "the time of day was set back during the run; run it again");
	return -EAGAIN;
}

/* In the child: never returns. */
static void process_main(struct control *control, uint32_t index, int32_t cpu, uint64_t pages, uint64_t loops,
			 const struct sizeup_arena_spec *memory)
{
	struct sizeup_hammer_result *const result = &control->results[index];
	struct sizeup_arena arena = { 0 };
	struct sizeup_job *const job = sizeup_job_new(); /* the parent's belongs to the parent */

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	result->status = job ? sizeup_job_pin(job, cpu) : -ENOMEM;
	if (!result->status)
		result->status = sizeup_arena_open(&arena, memory, job);
	if (result->status) {
		snprintf(result->reason, sizeof(result->reason), "%.180s", job ? sizeup_job_reason(job) : "no memory");
		__atomic_store_n(&control->stop, 1, __ATOMIC_RELAXED); /* none starts unless all can */
	} else
		result->status = hammer(control, index, &arena, pages, loops);
	_exit(0);
}

/* Poll all of them: a process that dies before the barrier would leave the others waiting there. */
static void wait_for_all(struct sizeup_job *job, struct control *control, pid_t *children, uint32_t started)
{
	const struct timespec pause = { .tv_nsec = WAIT_NS };
	uint32_t running = started;

	while (running) {
		running = 0;
		if (sizeup_job_canceled(job))
			__atomic_store_n(&control->stop, 1, __ATOMIC_RELAXED);
		for (uint32_t i = 0; i < started; i++) {
			int status = 0;

			if (children[i] && waitpid(children[i], &status, WNOHANG) != 0)
				children[i] = 0;
			running += children[i] != 0;
			if (!WIFSIGNALED(status) || control->results[i].status)
				continue;
			control->results[i].status = -EIO;
			snprintf(control->results[i].reason, sizeof(control->results[i].reason), "killed by signal %d", WTERMSIG(status));
			__atomic_store_n(&control->stop, 1, __ATOMIC_RELAXED);
		}
		nanosleep(&pause, NULL);
	}
}

static int run_all(struct sizeup_job *job, struct control *control, uint64_t pages, uint64_t loops,
		   const int32_t *cpus, uint32_t count, const struct sizeup_arena_spec *memory)
{
	pid_t children[SIZEUP_HAMMERS];
	int status = 0;
	uint32_t started = 0;

	for (; started < count && !status; started++) {
		children[started] = fork();
		if (children[started] == 0)
			process_main(control, started, cpus[started], pages, loops, memory);
		if (children[started] < 0) {
			status = sizeup_job_fail(job, -errno, "starting process %u failed: %s", started + 1,
						   strerror(errno));
			__atomic_store_n(&control->stop, 1, __ATOMIC_RELAXED);
			break;
		}
	}
	wait_for_all(job, control, children, started);
	if (status || sizeup_job_canceled(job))
		return status ? status : -ECANCELED;
	/* A real error first: the other processes were stopped because of it. */
	for (uint32_t i = 0; i < count; i++)
		if (control->results[i].status && control->results[i].status != -ECANCELED)
			return sizeup_job_fail(job, control->results[i].status, "process %u: %s", i + 1,
						 control->results[i].reason);
	for (uint32_t i = 0; i < count; i++) {
		const struct sizeup_hammer_result *const result = &control->results[i];
		const struct sizeup_sample sample = {
			.t_ns = result->end_ns,
			.value = (double)result->wall_us * 1e3 / (double)result->ops,
			.point = i,
		};

		if (result->wall_us) /* a run too short for the clock has no result */
			sizeup_job_push(job, &sample);
	}
	return 0;
}

int sizeup_hammer_run(struct sizeup_job *job, uint64_t pages, uint64_t loops, const int32_t *cpus, uint32_t count,
		      const struct sizeup_arena_spec *memory, struct sizeup_hammer_result *results)
{
	const size_t bytes = sizeof(struct control) + count * sizeof(*results);
	struct sizeup_arena_spec spec = *memory;

	if (!pages || !loops || !count || count > SIZEUP_HAMMERS)
		return sizeup_job_fail(job, -EINVAL, "expected at least one page, one loop and one CPU");
	if (pages > INT64_MAX / SIZEUP_HAMMER_PAGE / count || loops > INT64_MAX / pages)
		return sizeup_job_fail(job, -EINVAL, "%llu pages times %llu loops exceed the range of the counter",
				       (unsigned long long)pages, (unsigned long long)loops);
	spec.bytes = pages * SIZEUP_HAMMER_PAGE;
	/* Each process checks for itself, but all allocate at the same time: check for all of them first. */
	int status = sizeup_arena_check(count * spec.bytes, &spec, job);

	if (status)
		return status;
	struct control *const control = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (control == MAP_FAILED)
		return sizeup_job_fail(job, -errno, "mapping shared memory failed: %s", strerror(errno));
	sizeup_barrier_init(&control->barrier, count);
	status = run_all(job, control, pages, loops, cpus, count, &spec);
	memcpy(results, control->results, count * sizeof(*results));
	munmap(control, bytes);
	return status;
}
