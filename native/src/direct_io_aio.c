/* SPDX-License-Identifier: Apache-2.0 */
#include "direct_io_worker.h"

#include <sizeup/direct_io.h>

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct aio {
	aio_context_t context;
	uint32_t staged;
	uint32_t ready; /* events fetched by enter() and not reaped yet */
	uint32_t reaped;
	/* Of all slots, behind this structure: */
	struct iocb *requests;
	struct io_event *events;
	struct iocb **pointers; /* the staged ones, in order */
};

static int aio_open(struct io_queue *queue)
{
	const size_t slot_bytes = sizeof(struct iocb) + sizeof(struct io_event) + sizeof(struct iocb *);
	struct aio *const aio = calloc(1, sizeof(*aio) + queue->depth * slot_bytes);

	if (!aio)
		return -ENOMEM;
	aio->requests = (struct iocb *)(aio + 1);
	aio->events = (struct io_event *)(aio->requests + queue->depth);
	aio->pointers = (struct iocb **)(aio->events + queue->depth);
	if (syscall(SYS_io_setup, queue->depth, &aio->context) < 0) {
		const int status = -errno;

		free(aio);
		return status;
	}
	queue->state = aio;
	return 0;
}

static void aio_stage(struct io_queue *queue, uint32_t slot, bool write, uint64_t offset_bytes)
{
	struct aio *const aio = queue->state;
	struct iocb *const request = &aio->requests[slot];

	memset(request, 0, sizeof(*request));
	request->aio_data = slot;
	request->aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
	request->aio_fildes = (uint32_t)queue->fd;
	request->aio_buf = (uint64_t)(uintptr_t)(queue->buffers + slot * queue->block_bytes);
	request->aio_nbytes = queue->block_bytes;
	request->aio_offset = (int64_t)offset_bytes;
	aio->pointers[aio->staged++] = request;
}

static int aio_enter(struct io_queue *queue, uint32_t wait_for, int64_t timeout_ns)
{
	struct aio *const aio = queue->state;
	struct timespec timeout = { timeout_ns / 1000000000, timeout_ns % 1000000000 };

	aio->ready = 0;
	aio->reaped = 0;
	if (aio->staged) {
		queue->submit_calls++;
		const long taken = syscall(SYS_io_submit, aio->context, (long)aio->staged, aio->pointers);

		if (taken < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (taken > 0) {
			aio->staged -= (uint32_t)taken;
			memmove(aio->pointers, aio->pointers + taken, aio->staged * sizeof(struct iocb *));
		}
	}
	if (wait_for == 0)
		return 0;
	const long ended = syscall(SYS_io_getevents, aio->context, (long)wait_for, (long)queue->depth,
				   aio->events, &timeout);

	if (ended < 0)
		return errno == EINTR ? 0 : -errno;
	aio->ready = (uint32_t)ended;
	return 0;
}

static uint32_t aio_reap(struct io_queue *queue, struct io_completion *done, uint32_t most)
{
	struct aio *const aio = queue->state;
	uint32_t count = 0;

	while (aio->reaped < aio->ready && count < most) {
		const struct io_event *const event = &aio->events[aio->reaped++];

		done[count].slot = (uint32_t)event->data;
		done[count].result = event->res;
		count++;
	}
	return count;
}

static void aio_close(struct io_queue *queue)
{
	struct aio *const aio = queue->state;

	syscall(SYS_io_destroy, aio->context);
	free(aio);
}

const struct io_engine io_engine_aio = {
	.open = aio_open,
	.stage = aio_stage,
	.enter = aio_enter,
	.reap = aio_reap,
	.close = aio_close,
};
