/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_STOP_RULE_H
#define SIZEUP_STOP_RULE_H

#include <stdint.h>

#define SIZEUP_REPLICATES 64 /* most replicates of one point */

/** struct sizeup_stop_rule - Durations, and when to stop measuring a point. */
struct sizeup_stop_rule {
	int64_t batch_ns;
	int64_t replicate_ns;    /* measured time of a replicate, without its warm-up */
	int64_t warm_up_ns;      /* maximum; at most two passes over the ring */
	int64_t budget_ns;       /* after this only replicates below the minimum begin */
	uint32_t replicates_min;
	uint32_t replicates_max;
	double target;           /* half width of the interval over the median, such as 0.03 */
	uint64_t seed;
};

#endif
