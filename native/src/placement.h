/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_PLACEMENT_H
#define SIZEUP_PLACEMENT_H

#include <sizeup/arena.h>

/**
 * sizeup_placement_query() - Add the node of each page of a mapping to @placement, one page every @step bytes.
 * Return: 0, -ECANCELED, or a negative errno if the kernel forbids move_pages.
 */
int sizeup_placement_query(const void *start, uint64_t bytes, uint64_t step, struct sizeup_placement *placement,
			 const struct sizeup_job *job);

#endif
