/* SPDX-License-Identifier: Apache-2.0 */
/* A device on which each request takes as long as is set here, and which notes every request of every engine. */
#ifndef SIZEUP_FAKE_DEVICE_H
#define SIZEUP_FAKE_DEVICE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
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
	int flush;
	int64_t end_ns;
	int64_t begin_ns;
};

static pthread_t main_thread;
static int target; /* the only descriptor that requests may name */
static int ring_fd;
static int registered;
static _Atomic int64_t now_ns;
static int64_t reading_ns; /* that a worker takes to read the clock */
static int64_t service_ns; /* of each request, but of the first that takes first_ns longer */
static int64_t first_ns;
static uint32_t error_every; /* one in so many requests fails */
static int64_t error_result = -EIO; /* with this, or comes back short */
static int64_t short_by; /* bytes that each request lacks */
static struct request seen[MOST];
static uint32_t requests;
static uint32_t flushes;
static uint32_t writes_unflushed, most_unflushed;
static uint64_t longest = BLOCK; /* requests may be shorter where this is set to more */
static struct request in_flight[ENTRIES];
static uint32_t in_flight_count, most_in_flight;
static uint64_t succeeded_reads, succeeded_writes, failed;
static uint64_t last_stamp[2];
static uint64_t last_word; /* of the middle of the block that was written last */
static uint32_t same_words;

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
	return now_ns += pthread_equal(pthread_self(), main_thread) ? 0 : reading_ns;
}

static void pass(int64_t ns)
{
	now_ns += ns > 0 ? ns : 0;
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
		const unsigned char *const bytes = (const unsigned char *)request->buffer + i;
		uint32_t times[256] = { 0 };
		uint64_t stamp[2], word;

		memcpy(stamp, bytes, sizeof(stamp));
		check(memcmp(stamp, last_stamp, sizeof(stamp)) != 0, "no two blocks that are written are alike");
		memcpy(last_stamp, stamp, sizeof(stamp));
		memcpy(&word, bytes + 2048, sizeof(word));
		same_words += word == last_word;
		last_word = word;
		/* Beyond the stamp; 16 of each are expected, so that 64 are twelve deviations more. */
		for (uint32_t at = sizeof(stamp); at < 4096; at++)
			check(++times[bytes[at]] < 64, "nor can they be compressed");
	}
}

static struct request arrived(int fd, int write, void *buffer, uint64_t length, uint64_t offset, uint64_t id)
{
	struct request request = { .offset = offset, .length = length, .id = id, .buffer = buffer, .write = write };

	check(fd == target, "requests go to the target");
	check((longest == BLOCK ? length == BLOCK : length <= longest) && length % 4096 == 0 && offset % (longest == BLOCK ? BLOCK : 4096) == 0,
	      "whole blocks at their places");
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

	if (request->flush)
		return 0;
	if (error_every && ++ended % error_every == 0) {
		failed++;
		return error_result;
	}
	succeeded_reads += !request->write;
	succeeded_writes += request->write != 0;
	return (int64_t)request->length - short_by;
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

		if (sqe->opcode == URING_OP_FSYNC) { /* linked: it begins when the write before it has ended */
			const struct request *const before = &in_flight[in_flight_count - 1];

			check(fd == target && sqe->rw_flags == URING_FSYNC_DATASYNC, "the data of the target are flushed");
			check(in_flight_count && (sqes[(*word(SQ_HEAD) - 2) & (ENTRIES - 1)].flags & URING_SQE_IO_LINK), "after the write");
			flushes++;
			submitted(&(struct request){ .id = sqe->user_data, .end_ns = before->end_ns + FLUSH_NS, .flush = 1 });
			continue;
		}
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
static uint64_t used_while_running; /* requests whose CPU time was published before the worker ended */

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
__attribute__((unused)) static void run(const struct sizeup_io_worker *worker, uint32_t enough)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	struct sizeup_io_job *job;

	requests = flushes = in_flight_count = most_in_flight = writes_unflushed = most_unflushed = 0;
	succeeded_reads = succeeded_writes = failed = same_words = 0;
	check(sizeup_io_start(worker, 1, &job) == 0, "a worker starts");
	for (int i = 0; i < 300000; i++) {
		sizeup_io_sample(job, 0, &sample);
		if (__atomic_load_n(&requests, __ATOMIC_SEQ_CST) >= enough || !sample.running)
			break;
		__real_nanosleep(&pause, NULL);
	}
	sizeup_io_sample(job, 0, &sample);
	used_while_running = sample.usage_requests;
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

/* Make the device, whose file no request reaches. */
static void make_device(void)
{
	char path[] = "fake_device_XXXXXX";

	main_thread = pthread_self();
	ring_fd = -1;
	target = mkstemp(path);
	check(target >= 0 && !unlink(path), "a file whose descriptor is the target");
}

#endif
