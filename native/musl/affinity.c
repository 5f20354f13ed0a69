#include "affinity.h"

#include <errno.h>
#include <string.h>

#undef pthread_create

/* The most CPUs that a Linux kernel can be built for. */
enum { MASK_BYTES = 8192 / 8 };

static _Thread_local unsigned char wanted[MASK_BYTES];
static _Thread_local size_t wanted_bytes;

int sizeup_attr_setaffinity(pthread_attr_t *attributes, size_t bytes, const cpu_set_t *cpus)
{
	(void)attributes;
	if (bytes > sizeof wanted)
		return EINVAL;
	memcpy(wanted, cpus, bytes);
	wanted_bytes = bytes;
	return 0;
}

/* A thread inherits the CPUs of its creator (sched_setaffinity(2)), so the creator moves there meanwhile. */
int sizeup_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	unsigned char before[MASK_BYTES];
	const size_t bytes = wanted_bytes;

	wanted_bytes = 0;
	if (bytes == 0)
		return pthread_create(thread, attributes, run, argument);
	memset(before, 0, sizeof before);
	if (sched_getaffinity(0, sizeof before, (cpu_set_t *)before) < 0 ||
	    sched_setaffinity(0, bytes, (const cpu_set_t *)wanted) < 0)
		return errno;
	const int status = pthread_create(thread, attributes, run, argument);

	if (sched_setaffinity(0, sizeof before, (const cpu_set_t *)before) < 0 && status == 0)
		return 0; /* the thread runs where it should; its creator stays there too */
	return status;
}
