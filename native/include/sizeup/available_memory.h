/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_AVAILABLE_MEMORY_H
#define SIZEUP_AVAILABLE_MEMORY_H

#include <stdint.h>

/**
 * sizeup_available_bytes() - Memory that can be allocated on @nodes without swapping.
 *
 * The minimum of: MemAvailable; free memory above the high watermarks of the nodes; the remainder of the control
 * groups' limits. What reclaim frees without swapping counts as free: page cache and half of the reclaimable slab. For an
 * interleaved arena the smallest node counts once per node. @nodes 0 means: wherever the kernel allocates.
 * @placement is one of SIZEUP_PLACE_*.
 * Return: bytes, or -EINVAL for a node that does not exist.
 */
int64_t sizeup_available_bytes(uint64_t nodes, int32_t placement);

#endif
