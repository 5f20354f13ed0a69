/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
/* One worker: its offsets, its two loops and its counters. */
#include "direct_io_worker.h"

#include <sizeup/clock.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
	uint64_t writes_stamped;
	int64_t next_intended_ns;
	int64_t next_tick_ns;
	bool region_done;
	int schedstat_fd;
	size_t arena_bytes;
	struct slot *slots;
};

static void add(io_counter *counter, uint64_t amount)
{
	const uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, value + amount, memory_order_relaxed);
}

static void set(io_counter *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

static uint64_t get(const io_counter *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static bool stopping(const struct run *run)
{
	return atomic_load_explicit(&run->worker->stop->requested, memory_order_relaxed);
}

const struct io_engine *io_engine_of(int32_t engine)
{
	switch (engine) {
	case SIZEUP_IO_URING:
		return &io_engine_uring;
	case SIZEUP_IO_AIO:
		return &io_engine_aio;
	default:
		return NULL;
	}
}

/* SplitMix64: every seed gives a full-period sequence, so no two workers visit the same offsets in the same order. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void fill_random(char *bytes, size_t length, uint64_t *state)
{
	for (size_t i = 0; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t)) {
		const uint64_t word = next_random(state);

		memcpy(bytes + i, &word, sizeof(word));
	}
}

/*
 * Deduplication and compression must not make writes look faster: the data is random, and no two
 * blocks of 4 KiB that are ever written are equal.
 */
static void refresh_data(struct run *run, char *block)
{
	const size_t length = run->queue.block_bytes;

	if (run->worker->spec.fresh_data) {
		fill_random(block, length, &run->random);
		return;
	}
	for (size_t i = 0; i < length; i += STAMP_BYTES) {
		const uint64_t stamp[2] = { run->worker->spec.seed, run->writes_stamped++ };

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
	run->arena_bytes = bytes;
	/* Advice only: AnonHugePages of /proc/self/smaps_rollup shows whether the kernel followed it. */
	madvise(run->queue.buffers, bytes, spec->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (spec->read_percent < 100)
		fill_random(run->queue.buffers, used_bytes, &run->random);
	else
		memset(run->queue.buffers, 1, used_bytes); /* fault in every page before the clock starts */
	return 0;
}

static void read_usage(struct run *run)
{
	struct io_counters *const counters = run->counters;
	struct rusage usage;
	char text[96];

	set(&counters->usage_requests, get(&counters->reads) + get(&counters->writes));
	set(&counters->usage_bytes, get(&counters->read_bytes) + get(&counters->written_bytes));
	set(&counters->submit_calls, run->queue.submit_calls);
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		set(&counters->user_ns, (uint64_t)usage.ru_utime.tv_sec * 1000000000u +
					    (uint64_t)usage.ru_utime.tv_usec * 1000u);
		set(&counters->system_ns, (uint64_t)usage.ru_stime.tv_sec * 1000000000u +
					      (uint64_t)usage.ru_stime.tv_usec * 1000u);
		set(&counters->voluntary_switches, (uint64_t)usage.ru_nvcsw);
	}
	/* "on-cpu-ns run-delay-ns slices"; absent without CONFIG_SCHED_INFO. */
	const ssize_t length = run->schedstat_fd < 0 ? 0 : pread(run->schedstat_fd, text, sizeof(text) - 1, 0);

	if (length > 0) {
		char *end;

		text[length] = '\0';
		strtoull(text, &end, 10);
		set(&counters->run_delay_ns, strtoull(end, NULL, 10));
	}
}

static void tick(struct run *run, int64_t now_ns)
{
	if (now_ns < run->next_tick_ns)
		return;
	run->next_tick_ns = now_ns + TICK_NS;
	read_usage(run);
}

static void set_status(struct run *run, int status)
{
	if (atomic_load_explicit(&run->counters->status, memory_order_relaxed) == 0)
		atomic_store_explicit(&run->counters->status, status, memory_order_relaxed);
}

/* After some errors no request can succeed. */
static bool is_fatal(int64_t error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
	case ESTALE:
	case ENODEV:
	case ENXIO:
	case EROFS:
	case EBADF:
	case EINVAL: /* misaligned for this target */
	case EOPNOTSUPP:
	case EFBIG:
		return true;
	default:
		return false;
	}
}

/* A failed request ends fast and would improve the average: only the error counter includes it. */
static void count_error(struct run *run, int64_t error)
{
	struct io_counters *const counters = run->counters;

	add(&counters->errors, 1);
	if (atomic_load_explicit(&counters->first_error, memory_order_relaxed) == 0)
		atomic_store_explicit(&counters->first_error, (int32_t)error, memory_order_relaxed);
	if (is_fatal(error) || get(&counters->errors) >= run->worker->spec.error_limit)
		set_status(run, (int)error);
}

static void count(struct run *run, const struct slot *slot, int64_t result, int64_t now_ns)
{
	struct io_counters *const counters = run->counters;
	const uint64_t service_ns = (uint64_t)(now_ns - slot->start_ns);

	set(&counters->last_progress_ns, (uint64_t)now_ns);
	if (result != (int64_t)run->queue.block_bytes) {
		count_error(run, result < 0 ? result : -ENODATA);
		return;
	}
	if (slot->write) {
		add(&counters->writes, 1);
		add(&counters->written_bytes, run->queue.block_bytes);
		add(&counters->write_ns[sizeup_histogram_bucket(service_ns)], 1);
	} else {
		add(&counters->reads, 1);
		add(&counters->read_bytes, run->queue.block_bytes);
		add(&counters->read_ns[sizeup_histogram_bucket(service_ns)], 1);
	}
	if (run->worker->spec.interval_ns) {
		const uint64_t response_ns = (uint64_t)(now_ns - slot->intended_ns);

		add(&counters->response_ns[sizeup_histogram_bucket(response_ns)], 1);
	}
}

/* Where the next request goes; false where the region has no block left. */
static bool next_offset(struct run *run, uint64_t *offset)
{
	const struct sizeup_io_worker *const spec = &run->worker->spec;
	uint64_t block;

	if (spec->pattern == SIZEUP_IO_RANDOM) {
		/* The high word of the product is even over any number of blocks. */
		block = (uint64_t)(((unsigned __int128)next_random(&run->random) * run->blocks) >> 64);
	} else if (spec->pattern == SIZEUP_IO_APPEND) {
		block = atomic_fetch_add_explicit(run->worker->shared, 1, memory_order_relaxed);
		run->region_done = block + 1 >= run->blocks;
		if (block >= run->blocks)
			return false;
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
	return read_percent == 0 || next_random(&run->random) % 100 >= read_percent;
}

/* Whether another request may start now; a paced worker starts at its intended times. */
static bool due(const struct run *run, int64_t now_ns)
{
	return run->worker->spec.interval_ns == 0 || run->next_intended_ns <= now_ns;
}

static void begin(struct run *run, struct slot *slot, int64_t now_ns)
{
	const int64_t interval_ns = run->worker->spec.interval_ns;

	slot->start_ns = now_ns;
	slot->intended_ns = interval_ns ? run->next_intended_ns : now_ns;
	slot->write = next_is_write(run);
	run->next_intended_ns += interval_ns;
	if (interval_ns && now_ns - slot->intended_ns > interval_ns)
		add(&run->counters->late, 1);
	add(&run->counters->submitted, 1);
}

static bool may_start(const struct run *run)
{
	return !run->region_done && !stopping(run) &&
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
			refresh_data(run, block);
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

	while (staged < batch && free_count > 0 && may_start(run) && due(run, now_ns) &&
	       next_offset(run, &offset)) {
		const uint32_t index = free_slots[--free_count];
		struct slot *const slot = &run->slots[index];

		begin(run, slot, now_ns);
		if (slot->write)
			refresh_data(run, run->queue.buffers + index * run->queue.block_bytes);
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
static int run_queue(struct run *run, const struct io_engine *engine, uint32_t *free_slots,
		     struct io_completion *done)
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
		set_status(run, status);
		return;
	}
	/* The default timer slack of 50 us would delay paced starts. */
	if (run->worker->spec.interval_ns)
		prctl(PR_SET_TIMERSLACK, 1);
	run->next_intended_ns = sizeup_clock_now_ns();
	read_usage(run);
	if (engine)
		status = run_asynchronous(run, engine);
	else
		run_synchronous(run);
	if (status < 0)
		set_status(run, status);
	if (run->region_done)
		atomic_fetch_or_explicit(&run->counters->flags, SIZEUP_IO_REGION_DONE, memory_order_relaxed);
	read_usage(run);
	munmap(run->queue.buffers, run->arena_bytes);
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
			   .huge_pages = worker->spec.huge_pages },
		.random = worker->spec.seed,
		.blocks = worker->spec.size_bytes / worker->spec.block_bytes,
		.cursor = worker->spec.first_block,
		.schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
	};

	run_worker(&run);
	if (run.schedstat_fd >= 0)
		close(run.schedstat_fd);
	atomic_store_explicit(&worker->counters->ended, true, memory_order_release);
	return NULL;
}

int io_worker_prepare(struct io_worker *worker, const struct sizeup_io_worker *spec,
		      const struct io_stop *stop)
{
	worker->spec = *spec;
	worker->stop = stop;
	worker->counters = calloc(1, sizeof(*worker->counters));
	if (!worker->counters)
		return -ENOMEM;
	/* Until the first request ends, set-up counts as progress: a thread that starts late is not a hung device. */
	set(&worker->counters->last_progress_ns, (uint64_t)sizeup_clock_now_ns());
	return 0;
}

void io_worker_release(struct io_worker *worker)
{
	free(worker->counters);
}

bool io_worker_ended(const struct io_worker *worker)
{
	return atomic_load_explicit(&worker->counters->ended, memory_order_acquire);
}

void io_worker_add(const struct io_worker *worker, struct sizeup_io_sample *sample)
{
	const struct io_counters *const counters = worker->counters;
	const uint64_t ended = get(&counters->reads) + get(&counters->writes) + get(&counters->errors);
	const uint64_t submitted = get(&counters->submitted);
	const int64_t progress_ns = (int64_t)get(&counters->last_progress_ns);
	const int32_t status = atomic_load_explicit(&counters->status, memory_order_relaxed);
	const int32_t first_error = atomic_load_explicit(&counters->first_error, memory_order_relaxed);

	sample->workers++;
	sample->running += !io_worker_ended(worker);
	sample->reads += get(&counters->reads);
	sample->writes += get(&counters->writes);
	sample->read_bytes += get(&counters->read_bytes);
	sample->written_bytes += get(&counters->written_bytes);
	sample->errors += get(&counters->errors);
	sample->submit_calls += get(&counters->submit_calls);
	sample->in_flight += submitted > ended ? submitted - ended : 0;
	sample->late += get(&counters->late);
	if (progress_ns > sample->last_progress_ns)
		sample->last_progress_ns = progress_ns;
	sample->usage_requests += get(&counters->usage_requests);
	sample->usage_bytes += get(&counters->usage_bytes);
	sample->user_ns += (int64_t)get(&counters->user_ns);
	sample->system_ns += (int64_t)get(&counters->system_ns);
	sample->run_delay_ns += (int64_t)get(&counters->run_delay_ns);
	sample->voluntary_switches += get(&counters->voluntary_switches);
	sample->flags &= atomic_load_explicit(&counters->flags, memory_order_relaxed);
	if (sample->status == 0)
		sample->status = status;
	if (sample->first_error == 0)
		sample->first_error = first_error;
	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++) {
		sample->read_ns[i] += get(&counters->read_ns[i]);
		sample->write_ns[i] += get(&counters->write_ns[i]);
		sample->response_ns[i] += get(&counters->response_ns[i]);
	}
}
