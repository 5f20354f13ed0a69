/* SPDX-License-Identifier: Apache-2.0 */
/* Reads through a user-space client of a file server: one connection, used by the worker's thread alone. */
#include "direct_io_worker.h"

#include <sizeup/direct_io.h>

#include <errno.h>
#include <poll.h>
#include <string.h>

/* Of the worker of this thread, in which the library calls client_done(); after a lost connection never again. */
static _Thread_local const struct io_queue *thread_queue;
static _Thread_local struct io_completion ready[SIZEUP_IO_MAX_DEPTH];
static _Thread_local uint32_t ready_count;

static int client_open(struct io_queue *queue)
{
	thread_queue = queue;
	return 0;
}

static void client_done(int result, void *context, void *data, void *buffer)
{
	const size_t bytes = thread_queue->block_bytes;
	const size_t slot = (size_t)((char *)buffer - thread_queue->buffers) / bytes;

	(void)context;
	if (result > 0 && !thread_queue->client->read_into)
		memcpy(buffer, data, (size_t)result < bytes ? (size_t)result : bytes);
	ready[ready_count++] = (struct io_completion){ (uint32_t)slot, result };
}

static void client_stage(struct io_queue *queue, uint32_t slot, bool write, uint64_t offset_bytes)
{
	const struct sizeup_io_client *const of = queue->client;
	const size_t bytes = queue->block_bytes;
	char *const buffer = queue->buffers + slot * bytes;
	const int status = of->read_into ?
		of->read_into(of->context, of->file, buffer, bytes, offset_bytes, client_done, buffer) :
		of->read_at(of->context, of->file, offset_bytes, bytes, client_done, buffer);

	(void)write; /* sizeup_io_start() refuses writes */
	if (status < 0)
		client_done(-EIO, NULL, NULL, buffer);
}

static int client_enter(struct io_queue *queue, uint32_t wait_for, int64_t timeout_ns)
{
	const struct sizeup_io_client *const of = queue->client;
	struct pollfd server = { of->get_fd(of->context), (short)of->which_events(of->context), 0 };

	queue->submit_calls++;
	if (poll(&server, 1, ready_count < wait_for ? (int)(timeout_ns / 1000000) : 0) < 0 && errno != EINTR)
		return -errno;
	return of->service(of->context, server.revents) < 0 ? -ECONNRESET : 0;
}

/* Never more are ready than the depth, for which the caller has room. */
static uint32_t client_reap(struct io_queue *queue, struct io_completion *done, uint32_t most)
{
	const uint32_t count = ready_count;

	(void)queue;
	(void)most;
	memcpy(done, ready, count * sizeof(*done));
	ready_count = 0;
	return count;
}

const struct io_engine io_engine_client = {
	.open = client_open,
	.stage = client_stage,
	.enter = client_enter,
	.reap = client_reap,
};
