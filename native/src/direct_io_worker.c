/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
/* One worker: where it reads and writes, the two loops, and what it counts. */
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
#define TICK_NS 100000000 /* how often usage is read and the stop word looked at when idle */

/* A request that is out. */
struct slot {
	int64_t start_ns;
	int64_t intended_ns;
	bool write;
};

/* What the thread keeps to itself. */
struct run {
	struct io_worker *worker;
	struct io_live *live;
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
	return atomic_load_explicit(&run->worker->stop->asked, memory_order_relaxed);
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

/* SplitMix64: every seed gives a full-period sequence, so workers never walk in step. */
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
 * An array that removes duplicates or compresses must not be flattered: the data is random, and
 * no two blocks of 4 KiB that are ever written are alike.
 */
static void renew(struct run *run, char *block)
{
	const size_t length = run->queue.block_bytes;

	if (run->worker->asked.fresh_data) {
		fill_random(block, length, &run->random);
		return;
	}
	for (size_t i = 0; i < length; i += STAMP_BYTES) {
		const uint64_t stamp[2] = { run->worker->asked.seed, run->writes_stamped++ };

		memcpy(block + i, stamp, sizeof(stamp));
	}
}

/*
 * The page size matters: a 1 MiB buffer of scattered 4K pages takes 256 segments, more than many
 * devices accept in one command, so both kinds are asked for by name and never left to chance.
 */
static int map_buffers(struct run *run)
{
	const struct sizeup_io_worker *const asked = &run->worker->asked;
	const size_t wanted = asked->depth * asked->block_bytes;
	const size_t bytes = (wanted + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
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
	/* Advice: whether it was followed is seen in AnonHugePages of /proc/self/smaps_rollup. */
	madvise(run->queue.buffers, bytes, asked->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (asked->read_percent < 100)
		fill_random(run->queue.buffers, wanted, &run->random);
	else
		memset(run->queue.buffers, 1, wanted); /* every page is there before the clock starts */
	return 0;
}

static void read_usage(struct run *run)
{
	struct io_live *const live = run->live;
	struct rusage usage;
	char text[96];

	set(&live->usage_requests, get(&live->reads) + get(&live->writes));
	set(&live->usage_bytes, get(&live->read_bytes) + get(&live->written_bytes));
	set(&live->submit_calls, run->queue.submit_calls);
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		set(&live->user_ns, (uint64_t)usage.ru_utime.tv_sec * 1000000000u +
					    (uint64_t)usage.ru_utime.tv_usec * 1000u);
		set(&live->system_ns, (uint64_t)usage.ru_stime.tv_sec * 1000000000u +
					      (uint64_t)usage.ru_stime.tv_usec * 1000u);
		set(&live->voluntary_switches, (uint64_t)usage.ru_nvcsw);
		set(&live->involuntary_switches, (uint64_t)usage.ru_nivcsw);
	}
	/* "on-cpu-ns run-delay-ns slices"; absent without CONFIG_SCHED_INFO. */
	const ssize_t length = run->schedstat_fd < 0 ? 0 : pread(run->schedstat_fd, text, sizeof(text) - 1, 0);

	if (length > 0) {
		char *end;

		text[length] = '\0';
		strtoull(text, &end, 10);
		set(&live->run_delay_ns, strtoull(end, NULL, 10));
	}
}

static void tick(struct run *run, int64_t now_ns)
{
	if (now_ns < run->next_tick_ns)
		return;
	run->next_tick_ns = now_ns + TICK_NS;
	read_usage(run);
}

static void end_with(struct run *run, int status)
{
	if (atomic_load_explicit(&run->live->status, memory_order_relaxed) == 0)
		atomic_store_explicit(&run->live->status, status, memory_order_relaxed);
}

/* Some errors say that nothing after them can succeed. */
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

/* A failed request ends fast and would make the average better: it is counted and nothing else. */
static void count_error(struct run *run, int64_t error)
{
	struct io_live *const live = run->live;

	add(&live->errors, 1);
	if (atomic_load_explicit(&live->first_error, memory_order_relaxed) == 0)
		atomic_store_explicit(&live->first_error, (int32_t)error, memory_order_relaxed);
	if (is_fatal(error) || get(&live->errors) >= run->worker->asked.error_limit)
		end_with(run, (int)error);
}

static void count(struct run *run, const struct slot *slot, int64_t result, int64_t now_ns)
{
	struct io_live *const live = run->live;
	const uint64_t service_ns = (uint64_t)(now_ns - slot->start_ns);

	set(&live->last_progress_ns, (uint64_t)now_ns);
	if (result != (int64_t)run->queue.block_bytes) {
		count_error(run, result < 0 ? result : -ENODATA);
		return;
	}
	if (slot->write) {
		add(&live->writes, 1);
		add(&live->written_bytes, run->queue.block_bytes);
		add(&live->write_ns[sizeup_histogram_bucket(service_ns)], 1);
	} else {
		add(&live->reads, 1);
		add(&live->read_bytes, run->queue.block_bytes);
		add(&live->read_ns[sizeup_histogram_bucket(service_ns)], 1);
	}
	if (run->worker->asked.interval_ns) {
		const uint64_t response_ns = (uint64_t)(now_ns - slot->intended_ns);

		add(&live->response_ns[sizeup_histogram_bucket(response_ns)], 1);
	}
}

/* Where the next request goes; false where the region has no block left. */
static bool next_offset(struct run *run, uint64_t *offset)
{
	const struct sizeup_io_worker *const asked = &run->worker->asked;
	uint64_t block;

	if (asked->pattern == SIZEUP_IO_RANDOM) {
		/* The high word of the product is even over any number of blocks. */
		block = (uint64_t)(((unsigned __int128)next_random(&run->random) * run->blocks) >> 64);
	} else if (asked->pattern == SIZEUP_IO_APPEND) {
		block = atomic_fetch_add_explicit(run->worker->shared, 1, memory_order_relaxed);
		run->region_done = block + 1 >= run->blocks;
		if (block >= run->blocks)
			return false;
	} else {
		block = run->cursor++;
		if (run->cursor == run->blocks) {
			run->cursor = 0;
			run->region_done = asked->pattern == SIZEUP_IO_ONCE;
		}
	}
	*offset = asked->start_bytes + block * asked->block_bytes;
	return true;
}

static bool next_is_write(struct run *run)
{
	const uint32_t read_percent = run->worker->asked.read_percent;

	if (read_percent == 100)
		return false;
	return read_percent == 0 || next_random(&run->random) % 100 >= read_percent;
}

/* Whether another request may start now; a paced worker keeps the times it meant to keep. */
static bool due(const struct run *run, int64_t now_ns)
{
	return run->worker->asked.interval_ns == 0 || run->next_intended_ns <= now_ns;
}

static void begin(struct run *run, struct slot *slot, int64_t now_ns)
{
	const int64_t interval_ns = run->worker->asked.interval_ns;

	slot->start_ns = now_ns;
	slot->intended_ns = interval_ns ? run->next_intended_ns : now_ns;
	slot->write = next_is_write(run);
	run->next_intended_ns += interval_ns;
	if (interval_ns && now_ns - slot->intended_ns > interval_ns)
		add(&run->live->late, 1);
	add(&run->live->submitted, 1);
}

static bool may_start(const struct run *run)
{
	return !run->region_done && !stopping(run) &&
	       atomic_load_explicit(&run->live->status, memory_order_relaxed) == 0;
}

static int64_t until_due(const struct run *run, int64_t now_ns)
{
	const int64_t wait_ns = run->next_intended_ns - now_ns;

	return wait_ns < TICK_NS ? wait_ns : TICK_NS;
}

/* One request at a time through pread, pwrite and, where asked, fdatasync. */
static void run_synchronous(struct run *run)
{
	const int fd = run->worker->asked.fd;
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
			renew(run, block);
			slot.start_ns = sizeup_clock_now_ns();
			result = pwrite(fd, block, length, (off_t)offset);
			if (result >= 0 && run->worker->asked.fdatasync_each && fdatasync(fd) < 0)
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
	const uint32_t batch = run->worker->asked.submit_batch;
	uint32_t staged = 0;
	uint64_t offset;

	while (staged < batch && free_count > 0 && may_start(run) && due(run, now_ns) &&
	       next_offset(run, &offset)) {
		const uint32_t index = free_slots[--free_count];
		struct slot *const slot = &run->slots[index];

		begin(run, slot, now_ns);
		if (slot->write)
			renew(run, run->queue.buffers + index * run->queue.block_bytes);
		engine->stage(&run->queue, index, slot->write, offset);
		staged++;
	}
	return staged;
}

/*
 * Up to @depth requests out at a time. A few go in with each call, whatever number came back:
 * handing all of them in at once puts the process and the device in lock-step, which shows as a
 * latency a fifth too high. The clock is read once before a submission and once after a wait.
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
		const bool pacing = run->worker->asked.interval_ns && free_count > 0 && may_start(run);
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
		atomic_store_explicit(&run->live->flags, run->queue.flags, memory_order_relaxed);
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
	const struct io_engine *const engine = io_engine_of(run->worker->asked.engine);
	int status = map_buffers(run);

	if (status < 0) {
		end_with(run, status);
		return;
	}
	/* A paced start is meant to the nanosecond; the default slack is 50 us. */
	if (run->worker->asked.interval_ns)
		prctl(PR_SET_TIMERSLACK, 1);
	run->next_intended_ns = sizeup_clock_now_ns();
	read_usage(run);
	if (engine)
		status = run_asynchronous(run, engine);
	else
		run_synchronous(run);
	if (status < 0)
		end_with(run, status);
	if (run->region_done)
		atomic_fetch_or_explicit(&run->live->flags, SIZEUP_IO_REGION_DONE, memory_order_relaxed);
	read_usage(run);
	munmap(run->queue.buffers, run->arena_bytes);
}

void *io_worker_run(void *argument)
{
	struct io_worker *const worker = argument;
	struct run run = {
		.worker = worker,
		.live = worker->live,
		.queue = { .fd = worker->asked.fd,
			   .depth = worker->asked.depth,
			   .block_bytes = worker->asked.block_bytes,
			   .huge_pages = worker->asked.huge_pages },
		.random = worker->asked.seed,
		.blocks = worker->asked.size_bytes / worker->asked.block_bytes,
		.cursor = worker->asked.first_block,
		.schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC),
	};

	run_worker(&run);
	if (run.schedstat_fd >= 0)
		close(run.schedstat_fd);
	atomic_store_explicit(&worker->live->ended, true, memory_order_release);
	return NULL;
}

int io_worker_prepare(struct io_worker *worker, const struct sizeup_io_worker *asked,
		      const struct io_stop *stop)
{
	worker->asked = *asked;
	worker->stop = stop;
	worker->live = calloc(1, sizeof(*worker->live));
	if (!worker->live)
		return -ENOMEM;
	/* Until a request ends, setting up counts as progress: a late thread is not a hung device. */
	set(&worker->live->last_progress_ns, (uint64_t)sizeup_clock_now_ns());
	return 0;
}

void io_worker_release(struct io_worker *worker)
{
	free(worker->live);
}

bool io_worker_ended(const struct io_worker *worker)
{
	return atomic_load_explicit(&worker->live->ended, memory_order_acquire);
}

void io_worker_add(const struct io_worker *worker, struct sizeup_io_sample *sample)
{
	const struct io_live *const live = worker->live;
	const uint64_t ended = get(&live->reads) + get(&live->writes) + get(&live->errors);
	const uint64_t submitted = get(&live->submitted);
	const int64_t progress_ns = (int64_t)get(&live->last_progress_ns);
	const int32_t status = atomic_load_explicit(&live->status, memory_order_relaxed);
	const int32_t first_error = atomic_load_explicit(&live->first_error, memory_order_relaxed);

	sample->workers++;
	sample->running += !io_worker_ended(worker);
	sample->reads += get(&live->reads);
	sample->writes += get(&live->writes);
	sample->read_bytes += get(&live->read_bytes);
	sample->written_bytes += get(&live->written_bytes);
	sample->errors += get(&live->errors);
	sample->submit_calls += get(&live->submit_calls);
	sample->in_flight += submitted > ended ? submitted - ended : 0;
	sample->late += get(&live->late);
	if (progress_ns > sample->last_progress_ns)
		sample->last_progress_ns = progress_ns;
	sample->usage_requests += get(&live->usage_requests);
	sample->usage_bytes += get(&live->usage_bytes);
	sample->user_ns += (int64_t)get(&live->user_ns);
	sample->system_ns += (int64_t)get(&live->system_ns);
	sample->run_delay_ns += (int64_t)get(&live->run_delay_ns);
	sample->voluntary_switches += get(&live->voluntary_switches);
	sample->involuntary_switches += get(&live->involuntary_switches);
	sample->flags &= atomic_load_explicit(&live->flags, memory_order_relaxed);
	if (sample->status == 0)
		sample->status = status;
	if (sample->first_error == 0)
		sample->first_error = first_error;
	for (uint32_t i = 0; i < SIZEUP_HISTOGRAM_BUCKETS; i++) {
		sample->read_ns[i] += get(&live->read_ns[i]);
		sample->write_ns[i] += get(&live->write_ns[i]);
		sample->response_ns[i] += get(&live->response_ns[i]);
	}
}
