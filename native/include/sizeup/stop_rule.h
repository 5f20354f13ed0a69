/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_STOP_RULE_H
#define SIZEUP_STOP_RULE_H

#include <stdint.h>

#define SIZEUP_REPLICATES 128 /* most replicates of one point */

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

/**
 * sizeup_planned_look() - Return whether a point may end after @count rounds, with a minimum of @minimum.
 *
 * A point that ends as soon as its interval happens to be narrow has an interval that is too narrow. So it is
 * looked at only at planned counts: the minimum, then every count up to 6, then 9, 14, 21, each half as many again.
 */
int sizeup_planned_look(uint32_t count, uint32_t minimum);

#endif
