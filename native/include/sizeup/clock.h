/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CLOCK_H
#define SIZEUP_CLOCK_H

#include <stdint.h>

/**
 * sizeup_clock_now_ns() - Read CLOCK_MONOTONIC_RAW, which no time service slews.
 * Return: nanoseconds since an arbitrary start.
 */
int64_t sizeup_clock_now_ns(void);

#endif
