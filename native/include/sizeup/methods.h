/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_METHODS_H
#define SIZEUP_METHODS_H

#include <stdint.h>

/** struct sizeup_method - One method of reading the time. */
struct sizeup_method {
	const char *name;
	void (*calls)(uint64_t calls); /* back to back, unrolled: to measure the cost */
	uint64_t (*read)(void);        /* one value; NULL: values cannot be compared */
	int32_t clock;                 /* for clock_getres; -1: none */
	int counter;                   /* values are ticks */
};

/** sizeup_method() - Return method @index, or NULL beyond the last that exists here. */
const struct sizeup_method *sizeup_method(uint32_t index);

#endif
