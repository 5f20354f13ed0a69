/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_ENGINE_H
#define SIZEUP_DIRECT_IO_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A completed request: its slot, and its bytes or negative errno. */
struct io_completion {
	uint32_t slot;
	int64_t result;
};

/* Input of an asynchronous engine; one queue per worker, used only by its thread. */
struct io_queue {
	int fd;
	uint32_t depth;
	size_t block_bytes;
	char *buffers; /* depth * block_bytes */
	bool huge_pages;
	const struct sizeup_io_client *client; /* of that engine */
	uint32_t flags; /* SIZEUP_IO_FIXED_*, set by the engine */
	uint64_t submit_calls;
	void *state; /* the engine's own */
};

/* The functions of an engine; all return 0 or more, or a negative errno. */
struct io_engine {
	int (*open)(struct io_queue *queue);
	/* Add a request to those of the next enter(). */
	void (*stage)(struct io_queue *queue, uint32_t slot, bool write, uint64_t offset_bytes);
	/*
	 * Submit the staged requests, then wait for @wait_for completions or @timeout_ns. Requests
	 * that the kernel does not accept yet stay staged.
	 */
	int (*enter)(struct io_queue *queue, uint32_t wait_for, int64_t timeout_ns);
	/* Return up to @most available completions; never blocks. */
	uint32_t (*reap)(struct io_queue *queue, struct io_completion *done, uint32_t most);
	void (*close)(struct io_queue *queue); /* or NULL */
};

extern const struct io_engine io_engine_uring;
/* Link an fsync of the data to the write that was staged last. */
void io_uring_stage_flush(struct io_queue *queue);
extern const struct io_engine io_engine_aio;
extern const struct io_engine io_engine_client;

#endif
