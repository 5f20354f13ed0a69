/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/batch.h>
#include <sizeup/clock.h>

#include <string.h>
#include <unistd.h>

/* Allows for the bookkeeping of a window and one timer interrupt. */
#define SLACK_NS 20000
#define SLACK_SHARE 0.01
#define SIBLING_BUSY_SHARE 0.02

static void read_times(struct sizeup_watch *watch)
{
	sizeup_cpu_time_read(watch->cpu, &watch->own_time);
	if (watch->sibling >= 0)
		sizeup_cpu_time_read(watch->sibling, &watch->sibling_time);
	if (watch->partner >= 0)
		sizeup_cpu_time_read(watch->partner, &watch->partner_time);
	watch->group_start_ns = sizeup_clock_now_ns();
}

static int is_longer(int64_t wall_ns, int64_t cpu_ns)
{
	return (double)wall_ns > (1 + SLACK_SHARE) * (double)cpu_ns + SLACK_NS;
}

void sizeup_watch_init(struct sizeup_watch *watch, int32_t cpu, int32_t sibling)
{
	memset(watch, 0, sizeof(*watch));
	watch->cpu = cpu;
	watch->sibling = sibling;
	watch->partner = -1;
	watch->group_size = SIZEUP_BATCH_GROUP;
	read_times(watch);
}

void sizeup_watch_partner(struct sizeup_watch *watch, int32_t cpu, pthread_t thread)
{
	if (pthread_getcpuclockid(thread, &watch->partner_clock))
		return;
	watch->partner = cpu;
	sizeup_cpu_time_read(cpu, &watch->partner_time);
}

void sizeup_watch_start(struct sizeup_watch *watch)
{
	if (watch->partner >= 0)
		watch->partner_ns = sizeup_cpu_clock_ns(watch->partner_clock);
	sizeup_cpu_usage(&watch->usage);
}

uint32_t sizeup_watch_flags(const struct sizeup_watch *watch, int64_t wall_ns)
{
	struct sizeup_usage now;
	uint32_t flags = 0;

	sizeup_cpu_usage(&now);
	const int64_t cpu_ns = now.cpu_ns - watch->usage.cpu_ns;

	if (now.involuntary != watch->usage.involuntary)
		flags |= SIZEUP_DISTURBED_PREEMPTED;
	if (now.cpu != watch->usage.cpu || now.cpu != watch->cpu)
		flags |= SIZEUP_DISTURBED_MIGRATED;
	if (is_longer(wall_ns, cpu_ns))
		flags |= SIZEUP_DISTURBED_OTHER;
	if (watch->partner >= 0 && is_longer(wall_ns, sizeup_cpu_clock_ns(watch->partner_clock) - watch->partner_ns))
		flags |= SIZEUP_DISTURBED_OTHER;
	return flags;
}

int sizeup_watch_add(struct sizeup_watch *watch, const struct sizeup_sample *sample)
{
	watch->group[watch->count++] = *sample;
	return watch->count == watch->group_size;
}

void sizeup_watch_flush(struct sizeup_watch *watch, struct sizeup_job *job)
{
	const struct sizeup_cpu_time own = watch->own_time;
	const struct sizeup_cpu_time sibling = watch->sibling_time;
	const struct sizeup_cpu_time partner = watch->partner_time;
	const int64_t start_ns = watch->group_start_ns;
	uint32_t flags = 0;

	read_times(watch);
	if (watch->own_time.steal != own.steal || watch->partner_time.steal != partner.steal)
		flags |= SIZEUP_DISTURBED_STOLEN;
	/* A tick is 10 ms: a single one in a group this short exceeds 2 % by far. */
	const double ticks = (double)(watch->group_start_ns - start_ns) * 1e-9 * (double)sysconf(_SC_CLK_TCK);

	if (watch->sibling >= 0 && (double)(watch->sibling_time.busy - sibling.busy) > SIBLING_BUSY_SHARE * ticks)
		flags |= SIZEUP_DISTURBED_SIBLING_BUSY;
	for (uint32_t i = 0; i < watch->count; i++) {
		watch->group[i].flags |= flags;
		sizeup_job_push(job, &watch->group[i]);
	}
	watch->count = 0;
}
