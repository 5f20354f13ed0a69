/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of each engine, seen where they enter the kernel: offsets, sizes, directions, queue depth, flushes and
 * pace; and their times and numbers, on a device of which each request takes as long as is known here.
 */
#define _GNU_SOURCE
#include <sizeup/clock.h>
#include <sizeup/direct_io.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../src/io_uring_abi.h"
#include "check.h"

#define BLOCK 8192u
#define BLOCKS 512u
#define START (UINT64_C(3) * BLOCK)
#define MS 1000000
#define FLUSH_NS (20 * MS)
#define MOST 20000
#define ENTRIES 64u
#define NO_LIMIT (INT64_MAX / 4)

static const int32_t ENGINES[] = { SIZEUP_IO_THREADS, SIZEUP_IO_AIO, SIZEUP_IO_URING };

/* A request as the kernel got it. */
struct request {
	uint64_t offset;
	uint64_t length;
	uint64_t id;
	char *buffer;
	int write;
	int64_t end_ns;
	int64_t begin_ns;
};

static pthread_t main_thread;
static int target; /* the only descriptor that requests may name */
static int ring_fd;
static int registered;
static int64_t now_ns;
static int64_t service_ns; /* of each request, but of the first that takes first_ns longer */
static int64_t first_ns;
static uint32_t error_every; /* one in so many requests fails */
static struct request seen[MOST];
static uint32_t requests;
static uint32_t flushes;
static uint32_t writes_unflushed, most_unflushed;
static struct request in_flight[ENTRIES];
static uint32_t in_flight_count, most_in_flight;
static uint64_t succeeded_reads, succeeded_writes, failed;
static uint64_t last_stamp[2];

static _Alignas(4096) char rings[65536];
static _Alignas(4096) struct uring_sqe sqes[ENTRIES];
enum { SQ_HEAD = 0, SQ_TAIL = 64, SQ_MASK = 128, CQ_HEAD = 192, CQ_TAIL = 256, CQ_MASK = 320, ARRAY = 1024, CQES = 4096 };

int64_t __wrap_sizeup_clock_now_ns(void);
int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);
ssize_t __wrap_pread(int fd, void *buffer, size_t length, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *buffer, size_t length, off_t offset);
int __wrap_fdatasync(int fd);
void *__real_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *start, size_t length);
int __wrap_munmap(void *start, size_t length);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
ssize_t __real_pread(int fd, void *buffer, size_t length, off_t offset);

int64_t __wrap_sizeup_clock_now_ns(void)
{
	return __atomic_load_n(&now_ns, __ATOMIC_SEQ_CST);
}

static void pass(int64_t ns)
{
	__atomic_add_fetch(&now_ns, ns > 0 ? ns : 0, __ATOMIC_SEQ_CST);
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	if (pthread_equal(pthread_self(), main_thread))
		return __real_nanosleep(pause, left);
	pass((int64_t)pause->tv_sec * 1000000000 + pause->tv_nsec);
	return 0;
}

static void different_data(const struct request *request)
{
	for (uint64_t i = 0; i < request->length; i += 4096) {
		uint64_t stamp[2];

		memcpy(stamp, request->buffer + i, sizeof(stamp));
		check(memcmp(stamp, last_stamp, sizeof(stamp)) != 0, "no two blocks that are written are alike");
		memcpy(last_stamp, stamp, sizeof(stamp));
	}
}

static struct request arrived(int fd, int write, void *buffer, uint64_t length, uint64_t offset, uint64_t id)
{
	struct request request = { .offset = offset, .length = length, .id = id, .buffer = buffer, .write = write };

	check(fd == target, "requests go to the target");
	check(length == BLOCK && offset % BLOCK == 0, "whole blocks at their places");
	if (write)
		different_data(&request);
	for (uint32_t i = 0; i < in_flight_count; i++)
		check(in_flight[i].buffer != buffer, "no two requests in flight share a buffer");
	request.begin_ns = now_ns;
	request.end_ns = now_ns + service_ns + (requests ? 0 : first_ns);
	if (requests < MOST)
		seen[requests] = request;
	__atomic_add_fetch(&requests, 1, __ATOMIC_SEQ_CST);
	return request;
}

static int64_t finished(const struct request *request)
{
	static uint32_t ended;

	if (error_every && ++ended % error_every == 0) {
		failed++;
		return -EIO;
	}
	succeeded_reads += !request->write;
	succeeded_writes += request->write != 0;
	return (int64_t)request->length;
}

static ssize_t synchronous(int fd, int write, void *buffer, size_t length, off_t offset)
{
	const struct request request = arrived(fd, write, buffer, length, (uint64_t)offset, 0);

	pass(request.end_ns - now_ns);
	writes_unflushed += write != 0;
	most_unflushed = writes_unflushed > most_unflushed ? writes_unflushed : most_unflushed;
	most_in_flight = 1;
	const int64_t result = finished(&request);

	errno = result < 0 ? (int)-result : 0;
	return result < 0 ? -1 : (ssize_t)result;
}

ssize_t __wrap_pread(int fd, void *buffer, size_t length, off_t offset)
{
	return fd == target ? synchronous(fd, 0, buffer, length, offset) : __real_pread(fd, buffer, length, offset);
}

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t length, off_t offset)
{
	return synchronous(fd, 1, (void *)buffer, length, offset);
}

int __wrap_fdatasync(int fd)
{
	check(fd == target, "the target is flushed");
	flushes++;
	writes_unflushed = 0;
	pass(FLUSH_NS);
	return 0;
}

static void submitted(const struct request *request)
{
	check(in_flight_count < ENTRIES, "no more requests than the ring has");
	in_flight[in_flight_count++] = *request;
	most_in_flight = in_flight_count > most_in_flight ? in_flight_count : most_in_flight;
}

/* The time until the first request ends, or the timeout; then take what has ended. */
static uint32_t wait_for_one(int64_t timeout_ns, struct request *ended)
{
	int64_t until_ns = now_ns + timeout_ns;
	uint32_t count = 0, kept = 0;

	for (uint32_t i = 0; i < in_flight_count; i++)
		until_ns = in_flight[i].end_ns < until_ns ? in_flight[i].end_ns : until_ns;
	pass(until_ns - now_ns);
	for (uint32_t i = 0; i < in_flight_count; i++) {
		if (in_flight[i].end_ns <= now_ns)
			ended[count++] = in_flight[i];
		else
			in_flight[kept++] = in_flight[i];
	}
	in_flight_count = kept;
	return count;
}

static uint32_t *word(uint32_t at)
{
	return (uint32_t *)(rings + at);
}

static long uring_setup(struct uring_params *params)
{
	memset(rings, 0, sizeof(rings));
	in_flight_count = 0;
	registered = -1;
	params->sq_entries = ENTRIES;
	params->cq_entries = 2 * ENTRIES;
	params->features = URING_FEATURE_EXT_ARG | URING_FEATURE_SINGLE_MMAP;
	params->sq = (struct uring_sq_offsets){ .head = SQ_HEAD, .tail = SQ_TAIL, .ring_mask = SQ_MASK, .array = ARRAY };
	params->cq = (struct uring_cq_offsets){ .head = CQ_HEAD, .tail = CQ_TAIL, .ring_mask = CQ_MASK, .cqes = CQES };
	*word(SQ_MASK) = ENTRIES - 1;
	*word(CQ_MASK) = 2 * ENTRIES - 1;
	return ring_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static long uring_enter(uint32_t count, uint32_t wait, const struct uring_getevents_arg *arg)
{
	const struct uring_timespec *const limit = (const struct uring_timespec *)(uintptr_t)arg->timespec;
	struct request ended[ENTRIES];
	uint32_t ended_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct uring_sqe *const sqe = &sqes[word(ARRAY)[(*word(SQ_HEAD))++ & (ENTRIES - 1)]];
		const int write = sqe->opcode == URING_OP_WRITE || sqe->opcode == URING_OP_WRITE_FIXED;
		const int fd = sqe->flags & URING_SQE_FIXED_FILE ? registered : sqe->fd;

		check(write || sqe->opcode == URING_OP_READ || sqe->opcode == URING_OP_READ_FIXED, "reads and writes");
		const struct request request =
			arrived(fd, write, (char *)(uintptr_t)sqe->address, sqe->length, sqe->offset, sqe->user_data);

		submitted(&request);
	}
	check(*word(SQ_HEAD) == *word(SQ_TAIL), "all that are staged are submitted");
	if (wait)
		ended_count = wait_for_one(limit->seconds * 1000000000 + limit->nanoseconds, ended);
	for (uint32_t i = 0; i < ended_count; i++) {
		struct uring_cqe *const cqes = (struct uring_cqe *)(rings + CQES);

		cqes[*word(CQ_TAIL) & (2 * ENTRIES - 1)] =
			(struct uring_cqe){ .user_data = ended[i].id, .result = (int32_t)finished(&ended[i]) };
		__atomic_store_n(word(CQ_TAIL), *word(CQ_TAIL) + 1, __ATOMIC_RELEASE);
	}
	if (wait && !ended_count && !count) {
		errno = ETIME;
		return -1;
	}
	return count;
}

static long aio_submit(long count, struct iocb **iocbs)
{
	for (long i = 0; i < count; i++) {
		const struct iocb *const one = iocbs[i];
		const struct request request = arrived((int)one->aio_fildes, one->aio_lio_opcode == IOCB_CMD_PWRITE,
						       (char *)(uintptr_t)one->aio_buf, one->aio_nbytes,
						       (uint64_t)one->aio_offset, one->aio_data);

		check(one->aio_lio_opcode == IOCB_CMD_PWRITE || one->aio_lio_opcode == IOCB_CMD_PREAD, "reads and writes");
		submitted(&request);
	}
	return count;
}

static long aio_getevents(struct io_event *events, const struct timespec *limit)
{
	struct request ended[ENTRIES];
	const uint32_t count = wait_for_one((int64_t)limit->tv_sec * 1000000000 + limit->tv_nsec, ended);

	for (uint32_t i = 0; i < count; i++)
		events[i] = (struct io_event){ .data = ended[i].id, .res = finished(&ended[i]) };
	return count;
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	(void)a, (void)f;
	switch (number) {
	case URING_SYS_SETUP:
		return uring_setup((struct uring_params *)b);
	case URING_SYS_REGISTER:
		if (b == URING_REGISTER_FILES)
			registered = *(const int32_t *)c;
		return 0;
	case URING_SYS_ENTER:
		return uring_enter((uint32_t)b, (uint32_t)c, (const struct uring_getevents_arg *)e);
	case SYS_io_setup:
		in_flight_count = 0;
		return 0;
	case SYS_io_submit:
		return aio_submit(b, (struct iocb **)c);
	case SYS_io_getevents:
		return aio_getevents((struct io_event *)d, (const struct timespec *)e);
	case SYS_io_destroy:
		return 0;
	default:
		check(0, "no other system call");
		return -1;
	}
}

void *__wrap_mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && fd == ring_fd)
		return offset == URING_OFFSET_RINGS ? (void *)rings : (void *)sqes;
	return __real_mmap(start, length, protection, flags, fd, offset);
}

int __wrap_munmap(void *start, size_t length)
{
	return start == (void *)rings || start == (void *)sqes ? 0 : __real_munmap(start, length);
}

static struct sizeup_io_sample sample;

static struct sizeup_io_worker made(int32_t engine, uint32_t depth)
{
	return (struct sizeup_io_worker){
		.engine = engine,
		.fd = target,
		.start_bytes = START,
		.size_bytes = (uint64_t)BLOCKS * BLOCK,
		.block_bytes = BLOCK,
		.seed = 7,
		.read_percent = 100,
		.depth = engine == SIZEUP_IO_THREADS ? 1 : depth,
		.submit_batch = 4,
		.error_limit = UINT32_MAX,
	};
}

/* Runs a worker until so many requests have arrived, or until it ends by itself. */
static void run(const struct sizeup_io_worker *worker, uint32_t enough)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	struct sizeup_io_job *job;

	requests = flushes = in_flight_count = most_in_flight = writes_unflushed = most_unflushed = 0;
	succeeded_reads = succeeded_writes = failed = 0;
	check(sizeup_io_start(worker, 1, &job) == 0, "a worker starts");
	for (int i = 0; i < 300000; i++) {
		sizeup_io_sample(job, 0, &sample);
		if (__atomic_load_n(&requests, __ATOMIC_SEQ_CST) >= enough || !sample.running)
			break;
		__real_nanosleep(&pause, NULL);
	}
	sizeup_io_cancel(job);
	check(sizeup_io_wait(job, NO_LIMIT) == 0, "and ends");
	sizeup_io_sample(job, 0, &sample);
	sizeup_io_free(job);
	check(sample.status == 0 && sample.in_flight == 0, "with nothing in flight");
	check(requests >= enough, "after enough requests");
	check(sample.reads == succeeded_reads && sample.writes == succeeded_writes, "each that succeeded counts once");
	check(sample.read_bytes == succeeded_reads * BLOCK && sample.written_bytes == succeeded_writes * BLOCK, "with its bytes");
	check(sample.errors == failed, "each that failed is an error");
	check(sizeup_histogram_count(sample.read_ns) == succeeded_reads && sizeup_histogram_count(sample.write_ns) == succeeded_writes,
	      "and has no time");
	requests = requests < MOST ? requests : MOST;
}

static int near(double value, double expected)
{
	return value > 0.99 * expected && value < 1.01 * expected;
}

static void random_offsets(int32_t engine)
{
	static uint32_t first[1000], met[BLOCKS];
	struct sizeup_io_worker worker = made(engine, 8);
	uint32_t same = 0, distinct = 0, followed = 0;

	memset(met, 0, sizeof(met));
	run(&worker, 5000);
	for (uint32_t i = 0; i < requests; i++) {
		check(seen[i].offset >= START && seen[i].offset < START + (uint64_t)BLOCKS * BLOCK, "within the region");
		distinct += !met[(seen[i].offset - START) / BLOCK]++;
		followed += i && seen[i].offset == seen[i - 1].offset + BLOCK;
		if (i < 1000)
			first[i] = (uint32_t)(seen[i].offset / BLOCK);
	}
	check(distinct > BLOCKS * 99 / 100, "every block of the region is met");
	for (uint32_t i = 0; i < BLOCKS; i++)
		check(met[i] < 20 + 6 * requests / BLOCKS, "about as often as any other");
	check(followed < requests / 50, "and not in order");
	run(&worker, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		same += first[i] == seen[i].offset / BLOCK;
	check(same == 1000, "a seed gives the same offsets again");
	worker.seed = 8;
	run(&worker, 1000);
	same = 0;
	for (uint32_t i = 0; i < 1000; i++)
		same += first[i] == seen[i].offset / BLOCK;
	check(same < 50, "another one others");
}

static void sequential_offsets(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);

	worker.pattern = SIZEUP_IO_SEQUENTIAL;
	worker.first_block = 100;
	run(&worker, 2 * BLOCKS);
	for (uint32_t i = 0; i < requests; i++)
		check(seen[i].offset == START + (uint64_t)((100 + i) % BLOCKS) * BLOCK, "each block follows the last, and the first the last one");
	for (worker.pattern = SIZEUP_IO_ONCE; worker.pattern <= SIZEUP_IO_APPEND; worker.pattern++) {
		worker.first_block = 0;
		run(&worker, BLOCKS);
		check(requests == BLOCKS, "each block once");
		for (uint32_t i = 0; i < requests; i++)
			check(seen[i].offset == START + (uint64_t)i * BLOCK, "in order");
		check(sample.flags & SIZEUP_IO_REGION_DONE, "to the end of the region");
	}
}

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
	check(sizeup_histogram_count(sample.response_ns) == 0, "without a pace there is no response time");
	/* A tick that ends the wait and no request may pass at the end. */
	check(near((double)(now_ns - start_ns), (double)sample.reads / worker.depth * 5 * MS) || depth > 1, "one after the other");
	check(sample.submit_calls <= sample.reads && sample.submit_calls >= sample.reads / 4, "up to four with one call");
}

static void errors(int32_t engine)
{
	const struct sizeup_io_worker worker = made(engine, 4);

	error_every = 4;
	run(&worker, 400);
	error_every = 0;
	check(failed > 90 && sample.first_error == -EIO, "one in four fails");
}

static void mixes(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);

	for (uint32_t percent = 0; percent < 100; percent += 30) {
		uint32_t reads = 0;

		worker.read_percent = percent;
		run(&worker, 4000);
		for (uint32_t i = 0; i < requests; i++)
			reads += !seen[i].write;
		const double share = (double)reads / requests - percent / 100.0;

		check(share > -0.04 && share < 0.04, "a mix reads its share");
		check(percent > 0 || reads == 0, "and no more");
	}
	check(near(sizeup_histogram_mean_ns(sample.write_ns), (double)service_ns), "a write takes its time");
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
}

static void flushed(void)
{
	struct sizeup_io_worker worker = made(SIZEUP_IO_THREADS, 1);

	worker.read_percent = 0;
	run(&worker, 50);
	check(flushes == 0, "what need not be durable is not flushed");
	worker.fdatasync_each = 1;
	run(&worker, 50);
	check(flushes == sample.writes && most_unflushed == 1, "each write is flushed before the next one");
	check(near(sizeup_histogram_mean_ns(sample.write_ns), (double)service_ns + FLUSH_NS), "and the flush is part of its time");
	check(!(fcntl(target, F_GETFL) & O_DIRECT), "the flags of the descriptor are its opener's");
}

static void samples_subtract(void)
{
	static struct sizeup_io_sample later, earlier, zero;

	for (uint64_t i = 0; i < 3; i++) {
		uint64_t *const histogram[] = { later.read_ns, later.write_ns, later.response_ns };
		uint64_t *const before[] = { earlier.read_ns, earlier.write_ns, earlier.response_ns };

		histogram[i][40 + i] = 10;
		before[i][40 + i] = 4;
	}
	later.time_ns = 900, earlier.time_ns = 400;
	later.reads = 50, earlier.reads = 20;
	later.writes = 40, earlier.writes = 15;
	later.read_bytes = 500, earlier.read_bytes = 200;
	later.written_bytes = 400, earlier.written_bytes = 150;
	later.errors = 9, earlier.errors = 2;
	later.submit_calls = 30, earlier.submit_calls = 10;
	later.late = 8, earlier.late = 3;
	later.usage_requests = 60, earlier.usage_requests = 30;
	later.usage_bytes = 600, earlier.usage_bytes = 300;
	later.user_ns = 70, earlier.user_ns = 10;
	later.system_ns = 80, earlier.system_ns = 10;
	later.run_delay_ns = 90, earlier.run_delay_ns = 10;
	later.voluntary_switches = 6, earlier.voluntary_switches = 1;
	for (int turn = 0; turn < 2; turn++) {
		check(later.time_ns == (turn ? 500 : 900), "a sample or an interval");
		if (!turn)
			sizeup_io_difference(&later, &earlier);
		else
			sizeup_io_pool(&later, &zero);
		check(later.reads == 30 && later.writes == 25 && later.read_bytes == 300 && later.written_bytes == 250, "requests");
		check(later.errors == 7 && later.submit_calls == 20 && later.late == 5, "what else is counted");
		check(later.usage_requests == 30 && later.usage_bytes == 300 && later.voluntary_switches == 5, "with its usage");
		check(later.user_ns == 60 && later.system_ns == 70 && later.run_delay_ns == 80, "and CPU time");
		check(later.read_ns[40] == 6 && later.write_ns[41] == 6 && later.response_ns[42] == 6, "and every histogram");
	}
	sizeup_io_pool(&later, &earlier);
	check(later.time_ns == 900 && later.reads == 50 && later.read_ns[40] == 10 && later.system_ns == 80, "pools add up");
}

int main(void)
{
	char path[] = "direct_io_calls_XXXXXX";

	main_thread = pthread_self();
	ring_fd = -1;
	target = mkstemp(path);
	check(target >= 0 && !unlink(path), "a file whose descriptor is the target");
	for (size_t i = 0; i < sizeof(ENGINES) / sizeof(ENGINES[0]); i++) {
		service_ns = 1 * MS;
		random_offsets(ENGINES[i]);
		sequential_offsets(ENGINES[i]);
		times(ENGINES[i], 1);
		times(ENGINES[i], 3);
		times(ENGINES[i], 16);
		errors(ENGINES[i]);
		mixes(ENGINES[i]);
		pace(ENGINES[i]);
	}
	flushed();
	samples_subtract();
	return 0;
}
