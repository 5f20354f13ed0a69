/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_ENGINE_H
#define SIZEUP_DIRECT_IO_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request that ended: which slot, and bytes or negative errno. */
struct io_completion {
	uint32_t slot;
	int64_t result;
};

/* What an asynchronous engine is given; one queue per worker, used by its thread alone. */
struct io_queue {
	int fd;
	uint32_t depth;
	size_t block_bytes;
	char *buffers; /* depth * block_bytes */
	bool huge_pages;
	uint32_t flags; /* SIZEUP_IO_FIXED_*, set by the engine */
	uint64_t submit_calls;
	void *state; /* the engine's own */
};

/* An engine is a table of functions; all return 0 or more, or a negative errno. */
struct io_engine {
	int (*open)(struct io_queue *queue);
	/* Put a request on the list for the next enter(). */
	void (*stage)(struct io_queue *queue, uint32_t slot, bool write, uint64_t offset_bytes);
	/*
	 * Submit what is staged, then wait for @wait_for completions or @timeout_ns. What the
	 * kernel would not take yet stays staged.
	 */
	int (*enter)(struct io_queue *queue, uint32_t wait_for, int64_t timeout_ns);
	/* Take up to @most completions that are there; never blocks. */
	uint32_t (*reap)(struct io_queue *queue, struct io_completion *done, uint32_t most);
	void (*close)(struct io_queue *queue);
};

extern const struct io_engine io_engine_uring;
extern const struct io_engine io_engine_aio;

#endif
