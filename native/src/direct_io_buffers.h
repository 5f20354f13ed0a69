/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_DIRECT_IO_BUFFERS_H
#define SIZEUP_DIRECT_IO_BUFFERS_H

#include <sizeup/direct_io.h>

#include <stddef.h>

/* The buffers of one worker, one block per slot. */
struct io_buffers {
	char *start;
	size_t bytes; /* of the mapping */
};

/* Return the next number of the sequence that @state holds. */
uint64_t io_random(uint64_t *state);
/* Map and populate buffers for the depth of a worker, random if it writes. Return: 0 or a negative errno. */
int io_buffers_map(const struct sizeup_io_worker *spec, uint64_t *random, struct io_buffers *buffers);
void io_buffers_unmap(const struct io_buffers *buffers);
/* Make a block differ from every block written before; @stamps counts the 4 KiB blocks stamped so far. */
void io_buffers_refresh(const struct sizeup_io_worker *spec, char *block, uint64_t *random, uint64_t *stamps);

#endif
