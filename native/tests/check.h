/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_CHECK_H
#define SIZEUP_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define SKIPPED 77

/* Unlike assert(), also in release builds. */
static inline void check(int holds, const char *claim)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", claim);
	exit(1);
}

/* In a function that returns 1 where something does not hold. */
#define CHECK(truth)                                                                            \
	do {                                                                                    \
		if (!(truth)) {                                                                 \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #truth);             \
			return 1;                                                               \
		}                                                                               \
	} while (0)

#endif
