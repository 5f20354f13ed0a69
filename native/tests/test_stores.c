/* SPDX-License-Identifier: Apache-2.0 */
/* As many stores are made as are counted, each to a random line of all of the memory, in the time that is reported. */
#define _GNU_SOURCE
#include "../src/hammer.c"

#include "check.h"

#define PAGES 256
#define LINES (PAGES * SIZEUP_HAMMER_PAGE / LINE_BYTES)

static int64_t now_seconds;

/* Replaces the C library's function: each reading is a second after the one before. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	(void)zone;
	*now = (struct timeval){ .tv_sec = ++now_seconds };
	return 0;
}

/* Of n lines, n random stores leave 1/e untouched. */
static void lines_are_random(uint64_t loops, double least, double most)
{
	const size_t bytes = (size_t)PAGES * SIZEUP_HAMMER_PAGE;
	char *const memory = aligned_alloc(SIZEUP_HAMMER_PAGE, bytes);
	struct control *const control = calloc(1, sizeof(*control) + sizeof(struct sizeup_hammer_result));
	const struct sizeup_arena arena = { .start = memory, .bytes = bytes };
	uint32_t touched = 0, quarters[4] = { 0 }, elsewhere = 0;

	check(memory && control, "memory");
	memset(memory, 0, bytes);
	sizeup_barrier_init(&control->barrier, 1);
	check(hammer(control, 0, &arena, PAGES, loops) == 0, "stores are made");
	check(control->results[0].ops == PAGES * loops, "one for each page and loop");
	check(control->results[0].wall_us == 1000000, "in the time between two readings of the clock");
	for (uint32_t line = 0; line < LINES; line++) {
		uint64_t word;

		memcpy(&word, memory + (size_t)line * LINE_BYTES, sizeof(word));
		touched += word != 0;
		quarters[line / (LINES / 4)] += word != 0;
		for (uint32_t byte = sizeof(word); byte < LINE_BYTES; byte++)
			elsewhere += memory[(size_t)line * LINE_BYTES + byte] != 0;
	}
	check(touched > least * LINES && touched < most * LINES, "as many lines are met as random stores meet");
	for (uint32_t i = 0; i < 4; i++)
		check(quarters[i] > least * LINES / 4 * 0.9, "in all of the memory");
	check(!elsewhere, "each store is the first word of a line");
	free(memory);
	free(control);
}

/* Successive stores are independent of each other: neither to the next line nor to any at one distance. */
static void stores_are_no_stride(void)
{
	uint64_t state = 1, last = 0, same = 0;
	char *const memory = aligned_alloc(SIZEUP_HAMMER_PAGE, (size_t)PAGES * SIZEUP_HAMMER_PAGE);
	int64_t distance = 0;

	check(memory != NULL, "memory");
	for (uint32_t i = 0; i < 1000; i++) {
		memset(memory, 0, (size_t)PAGES * SIZEUP_HAMMER_PAGE);
		const uint64_t next = store_random(memory, LINES, 1, state);
		uint64_t line = 0, word = 0;

		check(next != state, "each store has a state of its own");
		for (; line < LINES && !word; line++)
			memcpy(&word, memory + line * LINE_BYTES, sizeof(word));
		same += (int64_t)(line - last) == distance;
		distance = (int64_t)(line - last);
		last = line;
		state = next;
	}
	check(same < 10, "no distance is that of the store before");
	free(memory);
}

int main(void)
{
	lines_are_random(LINES / PAGES, 0.60, 0.66);
	lines_are_random(LINES / PAGES / 2, 0.37, 0.42);
	lines_are_random(5 * LINES / PAGES, 0.98, 1);
	stores_are_no_stride();
	return 0;
}
