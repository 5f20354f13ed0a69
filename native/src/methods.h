/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_METHODS_H
#define SIZEUP_METHODS_H

#include <stdint.h>
#include <time.h>

/** struct sizeup_method - One way to read time. */
struct sizeup_method {
	const char *name;
	void (*calls)(uint64_t calls); /* back to back, unrolled: what it costs */
	uint64_t (*read)(void);        /* one value; NULL: nothing to compare */
	clockid_t clock;               /* for clock_getres; -1: none */
	int counter;                   /* values are ticks */
};

/** sizeup_method() - Method @index, or NULL beyond the last. */
const struct sizeup_method *sizeup_method(uint32_t index);

#endif
