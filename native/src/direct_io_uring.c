/* SPDX-License-Identifier: Apache-2.0 */
#include "direct_io_worker.h"
#include "io_uring_abi.h"

#include <sizeup/direct_io.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MANY_PAGES_BYTES ((size_t)64 * 1024)

struct uring {
	int fd;
	uint32_t staged;
	uint32_t local_tail; /* tail not published to the kernel yet */
	uint32_t *sq_head, *sq_tail, *sq_mask;
	uint32_t *cq_head, *cq_tail, *cq_mask;
	struct uring_sqe *sqes;
	struct uring_cqe *cqes;
	void *rings;
	size_t rings_bytes;
	size_t sqes_bytes;
};

static int uring_setup(uint32_t entries, struct uring_params *params)
{
	/*
	 * Newest first: completions that the submitting thread handles itself save an interrupt
	 * each. A kernel without a flag returns EINVAL.
	 */
	static const uint32_t flag_sets[] = {
		URING_SETUP_SINGLE_ISSUER | URING_SETUP_DEFER_TASKRUN,
		URING_SETUP_COOP_TASKRUN,
		0,
	};

	for (size_t i = 0; i < sizeof(flag_sets) / sizeof(flag_sets[0]); i++) {
		memset(params, 0, sizeof(*params));
		params->flags = flag_sets[i] | URING_SETUP_CLAMP;
		const long fd = syscall(URING_SYS_SETUP, entries, params);

		if (fd >= 0)
			return (int)fd;
		if (errno != EINVAL)
			return -errno;
	}
	return -EINVAL;
}

static int uring_map(struct uring *ring, const struct uring_params *params)
{
	const size_t sq_bytes = params->sq.array + params->sq_entries * sizeof(uint32_t);
	const size_t cq_bytes = params->cq.cqes + params->cq_entries * sizeof(struct uring_cqe);

	ring->rings_bytes = sq_bytes > cq_bytes ? sq_bytes : cq_bytes;
	ring->rings = mmap(NULL, ring->rings_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			   ring->fd, URING_OFFSET_RINGS);
	if (ring->rings == MAP_FAILED)
		return -errno;
	ring->sqes_bytes = params->sq_entries * sizeof(struct uring_sqe);
	ring->sqes = mmap(NULL, ring->sqes_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			  ring->fd, URING_OFFSET_SQES);
	if (ring->sqes == MAP_FAILED) {
		const int status = -errno;

		munmap(ring->rings, ring->rings_bytes);
		return status;
	}

	char *const base = ring->rings;

	ring->sq_head = (uint32_t *)(base + params->sq.head);
	ring->sq_tail = (uint32_t *)(base + params->sq.tail);
	ring->sq_mask = (uint32_t *)(base + params->sq.ring_mask);
	ring->cq_head = (uint32_t *)(base + params->cq.head);
	ring->cq_tail = (uint32_t *)(base + params->cq.tail);
	ring->cq_mask = (uint32_t *)(base + params->cq.ring_mask);
	ring->cqes = (struct uring_cqe *)(base + params->cq.cqes);

	/* Entry i of the submission ring is request i, always. */
	uint32_t *const array = (uint32_t *)(base + params->sq.array);

	for (uint32_t i = 0; i < params->sq_entries; i++)
		array[i] = i;
	return 0;
}

/*
 * Registration saves a page walk and a file reference per request, and is optional.
 * A registered buffer goes to the device page by page even if its pages are contiguous, so that
 * 1 MiB on 4K pages always exceeds the segments of one command; unregistered pages are merged.
 */
static void uring_register(struct uring *ring, struct io_queue *queue)
{
	const struct iovec whole = { queue->buffers, queue->depth * queue->block_bytes };
	const int32_t file = queue->fd;
	const bool many_pages = !queue->huge_pages && queue->block_bytes > MANY_PAGES_BYTES;

	if (!many_pages && syscall(URING_SYS_REGISTER, ring->fd, URING_REGISTER_BUFFERS, &whole, 1) == 0)
		queue->flags |= SIZEUP_IO_FIXED_BUFFERS; /* else -ENOMEM: RLIMIT_MEMLOCK */
	if (syscall(URING_SYS_REGISTER, ring->fd, URING_REGISTER_FILES, &file, 1) == 0)
		queue->flags |= SIZEUP_IO_FIXED_FILE;
}

static int uring_open(struct io_queue *queue)
{
	struct uring_params params;
	struct uring *const ring = calloc(1, sizeof(*ring));
	int status;

	if (!ring)
		return -ENOMEM;
	ring->fd = uring_setup(queue->depth, &params);
	if (ring->fd < 0)
		status = ring->fd;
	else if (!(params.features & URING_FEATURE_EXT_ARG) || !(params.features & URING_FEATURE_SINGLE_MMAP))
		status = -EOPNOTSUPP;
	else if (params.sq_entries < queue->depth)
		status = -EINVAL;
	else
		status = uring_map(ring, &params);
	if (!ring->sq_tail) { /* not mapped */
		if (ring->fd >= 0)
			close(ring->fd);
		free(ring);
		return status;
	}
	if (params.flags & URING_SETUP_DEFER_TASKRUN)
		queue->flags |= SIZEUP_IO_DEFER_TASKRUN;
	uring_register(ring, queue);
	ring->local_tail = *ring->sq_tail;
	queue->state = ring;
	return 0;
}

static void uring_stage(struct io_queue *queue, uint32_t slot, bool write, uint64_t offset_bytes)
{
	struct uring *const ring = queue->state;
	struct uring_sqe *const sqe = &ring->sqes[ring->local_tail & *ring->sq_mask];
	const bool fixed_buffers = queue->flags & SIZEUP_IO_FIXED_BUFFERS;
	const bool fixed_file = queue->flags & SIZEUP_IO_FIXED_FILE;

	memset(sqe, 0, sizeof(*sqe));
	if (fixed_buffers)
		sqe->opcode = write ? URING_OP_WRITE_FIXED : URING_OP_READ_FIXED;
	else
		sqe->opcode = write ? URING_OP_WRITE : URING_OP_READ;
	sqe->flags = fixed_file ? URING_SQE_FIXED_FILE : 0;
	sqe->fd = fixed_file ? 0 : queue->fd;
	sqe->offset = offset_bytes;
	sqe->address = (uint64_t)(uintptr_t)(queue->buffers + slot * queue->block_bytes);
	sqe->length = (uint32_t)queue->block_bytes;
	sqe->user_data = slot;
	ring->local_tail++;
	ring->staged++;
}

void io_uring_stage_flush(struct io_queue *queue)
{
	struct uring *const ring = queue->state;
	struct uring_sqe *const write = &ring->sqes[(ring->local_tail - 1) & *ring->sq_mask];
	struct uring_sqe *const sync = &ring->sqes[ring->local_tail & *ring->sq_mask];

	memset(sync, 0, sizeof(*sync));
	sync->opcode = URING_OP_FSYNC;
	sync->flags = write->flags;
	sync->fd = write->fd;
	sync->rw_flags = URING_FSYNC_DATASYNC;
	write->flags |= URING_SQE_IO_LINK;
	ring->local_tail++;
	ring->staged++;
}

static int uring_enter(struct io_queue *queue, uint32_t wait_for, int64_t timeout_ns)
{
	struct uring *const ring = queue->state;
	const struct uring_timespec timeout = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	const struct uring_getevents_arg arg = { .timespec = (uint64_t)(uintptr_t)&timeout };

	/* The requests must be written before the kernel sees the tail that covers them. */
	__atomic_store_n(ring->sq_tail, ring->local_tail, __ATOMIC_RELEASE);
	queue->submit_calls += ring->staged > 0;
	const long submitted = syscall(URING_SYS_ENTER, ring->fd, ring->staged, wait_for,
				       URING_ENTER_GETEVENTS | URING_ENTER_EXT_ARG, &arg, sizeof(arg));

	if (submitted >= 0) {
		ring->staged -= (uint32_t)submitted;
		return 0;
	}
	/* ETIME: nothing ended in time; EAGAIN: no request memory at the moment, and still staged. */
	return errno == ETIME || errno == EINTR || errno == EAGAIN || errno == EBUSY ? 0 : -errno;
}

static uint32_t uring_reap(struct io_queue *queue, struct io_completion *done, uint32_t most)
{
	struct uring *const ring = queue->state;
	const uint32_t tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
	uint32_t head = *ring->cq_head;
	uint32_t count = 0;

	while (head != tail && count < most) {
		const struct uring_cqe *const cqe = &ring->cqes[head & *ring->cq_mask];

		done[count].slot = (uint32_t)cqe->user_data;
		done[count].result = cqe->result;
		count++;
		head++;
	}
	/* The entries must be read before the kernel reuses them. */
	__atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
	return count;
}

static void uring_close(struct io_queue *queue)
{
	struct uring *const ring = queue->state;

	munmap(ring->sqes, ring->sqes_bytes);
	munmap(ring->rings, ring->rings_bytes);
	close(ring->fd);
	free(ring);
}

const struct io_engine io_engine_uring = {
	.open = uring_open,
	.stage = uring_stage,
	.enter = uring_enter,
	.reap = uring_reap,
	.close = uring_close,
};
