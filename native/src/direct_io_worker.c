/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
/* One worker: its buffers and their random data, its offsets, its pace and its two loops. */
#include "direct_io_worker.h"

#include <sizeup/clock.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define STAMP_BYTES 4096
#define TICK_NS 100000000 /* how often usage is read, and the stop word when idle */

/* A request in flight. */
struct slot {
	int64_t start_ns;
	int64_t intended_ns;
	bool write;
};

/* Private to the thread. */
struct run {
	struct io_worker *worker;
	struct io_counters *counters;
	struct io_queue queue;
	uint64_t random;
	uint64_t blocks;
	uint64_t cursor;
	uint64_t taken; /* blocks of a shuffled region so far */
	uint64_t writes_stamped;
	int64_t next_intended_ns;
	int64_t next_tick_ns;
	bool region_done;
	int schedstat_fd;
	size_t mapped_bytes; /* of the buffers, one block per slot */
	struct slot *slots;
};

/* SplitMix64: every seed gives a full-period sequence, so no two workers visit the same offsets in the same order. */
static uint64_t io_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void fill_random(char *bytes, size_t length, uint64_t *state)
{
	for (size_t i = 0; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t)) {
		const uint64_t word = io_random(state);

		memcpy(bytes + i, &word, sizeof(word));
	}
}

/*
 * Deduplication and compression must not make writes look faster: the data is random, and no two
 * blocks of 4 KiB that are ever written are equal.
 */
static void refresh_block(struct run *run, char *block)
{
	const struct sizeup_io_worker *const spec = &run->worker->spec;

	if (spec->fresh_data) {
		fill_random(block, spec->block_bytes, &run->random);
		return;
	}
	for (size_t i = 0; i < spec->block_bytes; i += STAMP_BYTES) {
		const uint64_t stamp[2] = { spec->seed, run->writes_stamped++ };

		memcpy(block + i, stamp, sizeof(stamp));
	}
}

/*
 * The page size matters: a 1 MiB buffer of scattered 4K pages takes 256 segments, more than many
 * devices accept in one command, so both kinds are requested explicitly and never left to the kernel's default.
 */
static int map_buffers(struct run *run)
{
	const struct sizeup_io_worker *const spec = &run->worker->spec;
	const size_t used_bytes = spec->depth * spec->block_bytes;
	const size_t bytes = (used_bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
	char *const raw = mmap(NULL, bytes + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (raw == MAP_FAILED)
		return -errno;
	const size_t misaligned = (uintptr_t)raw % HUGE_PAGE_BYTES;
	const size_t skip = misaligned ? HUGE_PAGE_BYTES - misaligned : 0;

	if (skip)
		munmap(raw, skip);
	if (skip < HUGE_PAGE_BYTES)
		munmap(raw + skip + bytes, HUGE_PAGE_BYTES - skip);
	run->queue.buffers = raw + skip;
	run->mapped_bytes = bytes;
	/* Advice only: AnonHugePages of /proc/self/smaps_rollup shows whether the kernel followed it. */
	madvise(run->queue.buffers, bytes, spec->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (spec->read_percent < 100)
		fill_random(run->queue.buffers, used_bytes, &run->random);
	else
		memset(run->queue.buffers, 1, used_bytes); /* fault in every page before the clock starts */
	return 0;
}

const struct io_engine *io_engine_of(int32_t engine)
{
	static const struct io_engine *const engines[] = {
		[SIZEUP_IO_URING] = &io_engine_uring, [SIZEUP_IO_AIO] = &io_engine_aio, [SIZEUP_IO_CLIENT] = &io_engine_client,
	};

	return engine >= 0 && engine <= SIZEUP_IO_CLIENT ? engines[engine] : NULL;
}

static void publish_usage(struct run *run)
{
	io_counter_set(&run->counters->submit_calls, run->queue.submit_calls);
	io_counters_read_usage(run->counters, run->schedstat_fd);
}

static void tick(struct run *run, int64_t now_ns)
{
	if (now_ns < run->next_tick_ns)
		return;
	run->next_tick_ns = now_ns + TICK_NS;
	publish_usage(run);
}

static void count(struct run *run, const struct slot *slot, int64_t result, int64_t now_ns)
{
	struct io_counters *const counters = run->counters;
	const uint64_t service_ns = (uint64_t)(now_ns - slot->start_ns);

	io_counter_set(&counters->last_progress_ns, (uint64_t)now_ns);
	if (result != (int64_t)run->queue.block_bytes) {
		io_counters_count_error(counters, result < 0 ? result : -ENODATA, run->worker->spec.error_limit);
		return;
	}
	if (slot->write) {
		io_counter_add(&counters->writes, 1);
		io_counter_add(&counters->written_bytes, run->queue.block_bytes);
		io_counter_add(&counters->write_ns[sizeup_histogram_bucket(service_ns)], 1);
	} else {
		io_counter_add(&counters->reads, 1);
		io_counter_add(&counters->read_bytes, run->queue.block_bytes);
		io_counter_add(&counters->read_ns[sizeup_histogram_bucket(service_ns)], 1);
	}
	if (run->worker->spec.interval_ns) {
		const uint64_t response_ns = (uint64_t)(now_ns - slot->intended_ns);

		io_counter_add(&counters->response_ns[sizeup_histogram_bucket(response_ns)], 1);
	}
}

/*
 * The next block of a region of which each is taken once, in an order without a pattern: a congruential generator
 * of full period over the next power of two (multiplier 1 modulo 4, odd increment), without what lies beyond the region.
 * Its low bits have short periods, in step with stripes: the high ones are added to them, which keeps each number once.
 */
static uint64_t next_shuffled(struct run *run)
{
	unsigned int bits = 1;
	uint64_t block;

	while (bits < 63 && run->blocks >> bits)
		bits++;
	do {
		run->cursor = (run->cursor * 6364136223846793005u + 1442695040888963407u) & ((1ull << bits) - 1);
		block = run->cursor ^ run->cursor >> (bits + 1) / 2;
	} while (block >= run->blocks);
	run->region_done = ++run->taken == run->blocks;
	return block;
}

/* Where the next request goes; false where the region has no block left. */
static bool next_offset(struct run *run, uint64_t *offset)
{
	const struct sizeup_io_worker *const spec = &run->worker->spec;
	uint64_t block;

	if (spec->pattern == SIZEUP_IO_RANDOM) {
		/* The high word of the product is even over any number of blocks. */
		block = (uint64_t)(((unsigned __int128)io_random(&run->random) * run->blocks) >> 64);
	} else if (spec->pattern == SIZEUP_IO_APPEND) {
		block = atomic_fetch_add_explicit(run->worker->shared, 1, memory_order_relaxed);
		run->region_done = block + 1 >= run->blocks;
		if (block >= run->blocks)
			return false;
	} else if (spec->pattern == SIZEUP_IO_SHUFFLED) {
		block = next_shuffled(run);
	} else {
		block = run->cursor++;
		if (run->cursor == run->blocks) {
			run->cursor = 0;
			run->region_done = spec->pattern == SIZEUP_IO_ONCE;
		}
	}
	*offset = spec->start_bytes + block * spec->block_bytes;
	return true;
}

static bool next_is_write(struct run *run)
{
	const uint32_t read_percent = run->worker->spec.read_percent;

	if (read_percent == 100)
		return false;
	return read_percent == 0 || io_random(&run->random) % 100 >= read_percent;
}

/* Whether another request may start now; a paced worker starts at its intended times. */
static bool due(const struct run *run, int64_t now_ns)
{
	return run->worker->spec.interval_ns == 0 || run->next_intended_ns <= now_ns;
}

/* From one intended start to the next: of a Poisson process an exponential time, so that requests queue as real ones. */
static int64_t next_gap_ns(struct run *run)
{
	const struct sizeup_io_worker *const spec = &run->worker->spec;

	if (!spec->poisson)
		return spec->interval_ns;
	const double uniform = (double)((io_random(&run->random) >> 11) + 1) * 0x1p-53; /* above 0, up to 1 */

	return (int64_t)(-log(uniform) * (double)spec->interval_ns);
}

static void begin(struct run *run, struct slot *slot, int64_t now_ns)
{
	const int64_t interval_ns = run->worker->spec.interval_ns;

	slot->start_ns = now_ns;
	slot->intended_ns = interval_ns ? run->next_intended_ns : now_ns;
	slot->write = next_is_write(run);
	run->next_intended_ns += next_gap_ns(run);
	if (run->worker->spec.skip_missed && run->next_intended_ns < now_ns)
		run->next_intended_ns = now_ns + interval_ns;
	if (interval_ns && now_ns - slot->intended_ns > interval_ns)
		io_counter_add(&run->counters->late, 1);
	io_counter_add(&run->counters->submitted, 1);
}

static bool may_start(const struct run *run)
{
	return !run->region_done && !io_stopping(run->worker->stop) &&
	       atomic_load_explicit(&run->counters->status, memory_order_relaxed) == 0;
}

static int64_t until_due(const struct run *run, int64_t now_ns)
{
	const int64_t wait_ns = run->next_intended_ns - now_ns;

	return wait_ns < TICK_NS ? wait_ns : TICK_NS;
}

/* One request at a time through pread, pwrite and, if the worker requires it, fdatasync. */
static void run_synchronous(struct run *run)
{
	const int fd = run->worker->spec.fd;
	const size_t length = run->queue.block_bytes;
	char *const block = run->queue.buffers;
	struct slot slot;
	uint64_t offset;

	while (may_start(run)) {
		int64_t now_ns = sizeup_clock_now_ns();

		tick(run, now_ns);
		if (!due(run, now_ns)) {
			const struct timespec pause = { 0, until_due(run, now_ns) };

			nanosleep(&pause, NULL);
			continue;
		}
		if (!next_offset(run, &offset))
			break;
		begin(run, &slot, now_ns);
		int64_t result;

		if (slot.write) {
			refresh_block(run, block);
			slot.start_ns = sizeup_clock_now_ns();
			result = pwrite(fd, block, length, (off_t)offset);
			if (result >= 0 && run->worker->spec.fdatasync_each && fdatasync(fd) < 0)
				result = -1;
		} else {
			result = pread(fd, block, length, (off_t)offset);
		}
		if (result < 0)
			result = -errno;
		run->queue.submit_calls++;
		count(run, &slot, result, sizeup_clock_now_ns());
	}
}

static uint32_t stage_due(struct run *run, const struct io_engine *engine, uint32_t *free_slots,
			  uint32_t free_count, int64_t now_ns)
{
	const uint32_t batch = run->worker->spec.submit_batch;
	uint32_t staged = 0;
	uint64_t offset;

	while (staged < batch && free_count > 0 && may_start(run) && due(run, now_ns) && next_offset(run, &offset)) {
		const uint32_t index = free_slots[--free_count];
		struct slot *const slot = &run->slots[index];

		begin(run, slot, now_ns);
		if (slot->write)
			refresh_block(run, run->queue.buffers + index * run->queue.block_bytes);
		engine->stage(&run->queue, index, slot->write, offset);
		staged++;
	}
	return staged;
}

/*
 * Up to @depth requests in flight. Each call submits a few of them, however many completed:
 * submitting all at once puts the process and the device in lock-step, which makes the latency
 * a fifth too high. The clock is read once before a submission and once after a wait.
 */
static int run_queue(struct run *run, const struct io_engine *engine, uint32_t *free_slots, struct io_completion *done)
{
	const uint32_t depth = run->queue.depth;
	uint32_t free_count = depth;

	for (uint32_t i = 0; i < depth; i++)
		free_slots[i] = depth - 1 - i;
	while (free_count < depth || may_start(run)) {
		int64_t now_ns = sizeup_clock_now_ns();
		const uint32_t staged = stage_due(run, engine, free_slots, free_count, now_ns);

		free_count -= staged;
		const bool more = free_count > 0 && may_start(run) && due(run, now_ns);
		const bool pacing = run->worker->spec.interval_ns && free_count > 0 && may_start(run);
		const int status = engine->enter(&run->queue, more ? 0 : 1,
						 pacing && !more ? until_due(run, now_ns) : TICK_NS);

		if (status < 0)
			return status;
		const uint32_t ended = engine->reap(&run->queue, done, depth);

		now_ns = sizeup_clock_now_ns();
		for (uint32_t i = 0; i < ended; i++) {
			count(run, &run->slots[done[i].slot], done[i].result, now_ns);
			free_slots[free_count++] = done[i].slot;
		}
		tick(run, now_ns);
	}
	return 0;
}

static int run_asynchronous(struct run *run, const struct io_engine *engine)
{
	const uint32_t depth = run->queue.depth;
	uint32_t *const free_slots = calloc(depth, sizeof(*free_slots));
	struct io_completion *const done = calloc(depth, sizeof(*done));
	int status = -ENOMEM;

	run->slots = calloc(depth, sizeof(*run->slots));
	if (run->slots && free_slots && done)
		status = engine->open(&run->queue);
	if (status == 0) {
		atomic_store_explicit(&run->counters->flags, run->queue.flags, memory_order_relaxed);
		status = run_queue(run, engine, free_slots, done);
		if (engine->close)
			engine->close(&run->queue);
	}
	free(free_slots);
	free(done);
	free(run->slots);
	return status;
}

static void run_worker(struct run *run)
{
	const struct io_engine *const engine = io_engine_of(run->worker->spec.engine);
	int status = map_buffers(run);

	if (status < 0) {
		io_counters_set_status(run->counters, status);
		return;
	}
	/* The default timer slack of 50 us would delay paced starts. */
	if (run->worker->spec.interval_ns)
		prctl(PR_SET_TIMERSLACK, 1);
	run->next_intended_ns = sizeup_clock_now_ns();
	publish_usage(run);
	if (run->worker->spec.committers)
		status = io_commit_run(run->worker, run->queue.buffers, run->schedstat_fd);
	else if (engine)
		status = run_asynchronous(run, engine);
	else
		run_synchronous(run);
	if (status < 0)
		io_counters_set_status(run->counters, status);
	if (run->region_done)
		atomic_fetch_or_explicit(&run->counters->flags, SIZEUP_IO_REGION_DONE, memory_order_relaxed);
	publish_usage(run);
	munmap(run->queue.buffers, run->mapped_bytes);
}

void *io_worker_run(void *argument)
{
	struct io_worker *const worker = argument;
	struct run run = {
		.worker = worker,
		.counters = worker->counters,
		.queue = { .fd = worker->spec.fd,
			   .depth = worker->spec.depth,
			   .block_bytes = worker->spec.block_bytes,
			   .huge_pages = worker->spec.huge_pages,
			   .client = &worker->spec.client },
		.random = worker->spec.seed,
		.blocks = worker->spec.size_bytes / worker->spec.block_bytes,
		.cursor = worker->spec.pattern == SIZEUP_IO_SHUFFLED ? worker->spec.seed : worker->spec.first_block,
		.schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
	};

	run_worker(&run);
	if (run.schedstat_fd >= 0)
		close(run.schedstat_fd);
	atomic_store_explicit(&worker->counters->ended, true, memory_order_release);
	return NULL;
}
