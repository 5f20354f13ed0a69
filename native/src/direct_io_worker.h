/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_WORKER_H
#define SIZEUP_DIRECT_IO_WORKER_H

#include "direct_io_counters.h"
#include "direct_io_engine.h"

#include <sizeup/direct_io.h>

#include <stdatomic.h>

/* Checked by all workers of a job between two requests. */
struct io_stop {
	atomic_bool requested;
};

struct io_worker {
	struct sizeup_io_worker spec;
	const struct io_stop *stop;
	struct io_counters *counters;
	io_counter taken;   /* blocks of the region handed out so far, if this worker is the first of its group */
	io_counter *shared; /* the `taken` of the first worker of the group; for SIZEUP_IO_APPEND */
};

static inline void io_stop_request(struct io_stop *stop)
{
	atomic_store_explicit(&stop->requested, true, memory_order_relaxed);
}

/* The function table of an asynchronous engine; NULL for threads and for unknown numbers. */
const struct io_engine *io_engine_of(int32_t engine);

int io_worker_prepare(struct io_worker *worker, const struct sizeup_io_worker *spec,
		      const struct io_stop *stop);
void io_worker_release(struct io_worker *worker);
/* The thread; @worker is a struct io_worker. */
void *io_worker_run(void *worker);
/* Keep a log until the job stops or its region is full: a commit counts as a write, a flush as a response. */
int io_commit_run(struct io_worker *worker, char *buffers, int schedstat_fd);

#endif
