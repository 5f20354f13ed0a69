/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/clock.h>

#include <time.h>

int64_t sizeup_clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
