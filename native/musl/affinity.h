#ifndef SIZEUP_MUSL_AFFINITY_H
#define SIZEUP_MUSL_AFFINITY_H

/*
 * pthread_attr_setaffinity_np(3), which musl lacks: included before every source where the C library has none. It holds
 * for the next thread that the caller creates, whatever its attributes are.
 */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

int sizeup_attr_setaffinity(pthread_attr_t *attributes, size_t bytes, const cpu_set_t *cpus);
int sizeup_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

#define pthread_attr_setaffinity_np sizeup_attr_setaffinity
#define pthread_create sizeup_thread_create

#endif
