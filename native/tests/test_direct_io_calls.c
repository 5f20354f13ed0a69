/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of each engine, seen where they enter the kernel: offsets, sizes, directions and flushes. */
#include "fake_device.h"

#include <stdbool.h>

int __wrap_madvise(void *start, size_t length, int advice);
static int last_advice;

int __wrap_madvise(void *start, size_t length, int advice)
{
	(void)start, (void)length;
	last_advice = advice;
	return 0;
}

static void random_offsets(int32_t engine)
{
	static uint32_t first[1000], met[BLOCKS];
	struct sizeup_io_worker worker = made(engine, 8);
	uint32_t same = 0, distinct = 0, followed = 0;

	memset(met, 0, sizeof(met));
	run(&worker, 5000);
	for (uint32_t i = 0; i < requests; i++) {
		check(seen[i].offset >= START && seen[i].offset < START + (uint64_t)BLOCKS * BLOCK, "within the region");
		distinct += !met[(seen[i].offset - START) / BLOCK]++;
		followed += i && seen[i].offset == seen[i - 1].offset + BLOCK;
		if (i < 1000)
			first[i] = (uint32_t)(seen[i].offset / BLOCK);
	}
	check(distinct > BLOCKS * 99 / 100, "every block of the region is met");
	for (uint32_t i = 0; i < BLOCKS; i++)
		check(met[i] < 20 + 6 * requests / BLOCKS, "about as often as any other");
	check(followed < requests / 50, "and not in order");
	run(&worker, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		same += first[i] == seen[i].offset / BLOCK;
	check(same == 1000, "a seed gives the same offsets again");
	worker.seed = 8;
	run(&worker, 1000);
	same = 0;
	for (uint32_t i = 0; i < 1000; i++)
		same += first[i] == seen[i].offset / BLOCK;
	check(same < 50, "another one others");
}

static void sequential_offsets(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);

	worker.pattern = SIZEUP_IO_SEQUENTIAL;
	worker.first_block = 100;
	run(&worker, 2 * BLOCKS);
	for (uint32_t i = 0; i < requests; i++)
		check(seen[i].offset == START + (uint64_t)((100 + i) % BLOCKS) * BLOCK, "each block follows the last, and the first the last one");
	for (worker.pattern = SIZEUP_IO_ONCE; worker.pattern <= SIZEUP_IO_APPEND; worker.pattern++) {
		worker.first_block = 0;
		run(&worker, BLOCKS);
		check(requests == BLOCKS, "each block once");
		for (uint32_t i = 0; i < requests; i++)
			check(seen[i].offset == START + (uint64_t)i * BLOCK, "in order");
		check(sample.flags & SIZEUP_IO_REGION_DONE, "to the end of the region");
	}
}

static void shuffled_offsets(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);
	const uint32_t blocks = 500; /* no power of two */
	bool taken[BLOCKS];
	uint64_t first[8] = { 0 };
	uint32_t same = 0;

	worker.pattern = SIZEUP_IO_SHUFFLED;
	worker.size_bytes = (uint64_t)blocks * BLOCK;
	for (worker.seed = 1; worker.seed <= 2; worker.seed++) {
		uint32_t next_to_it = 0;

		memset(taken, 0, sizeof(taken));
		run(&worker, blocks);
		check(requests == blocks, "as many as there are blocks");
		for (uint32_t i = 0; i < requests; i++) {
			const uint64_t block = (seen[i].offset - START) / BLOCK;

			check(block < blocks && !taken[block], "each block once");
			taken[block] = true;
			next_to_it += i > 0 && seen[i].offset == seen[i - 1].offset + BLOCK;
			if (i < 8) {
				same += first[i] == seen[i].offset;
				first[i] = seen[i].offset;
			}
		}
		check(next_to_it < blocks / 20, "and in no order");
		check(sample.flags & SIZEUP_IO_REGION_DONE, "until all are read");
	}
	check(same < 4, "another seed, another order");
}

static void mixes(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);

	for (uint32_t percent = 0; percent < 100; percent += 30) {
		uint32_t reads = 0;

		worker.read_percent = percent;
		run(&worker, 4000);
		for (uint32_t i = 0; i < requests; i++)
			reads += !seen[i].write;
		const double share = (double)reads / requests - percent / 100.0;

		check(share > -0.04 && share < 0.04, "a mix reads its share");
		check(percent > 0 || reads == 0, "and no more");
	}
	check(near(sizeup_histogram_mean_ns(sample.write_ns), (double)service_ns), "a write takes its time");
	for (uint32_t percent = 1; percent < 100; percent += 98) {
		uint32_t fewer = 0;

		worker.read_percent = percent;
		run(&worker, 8000);
		for (uint32_t i = 0; i < requests; i++)
			fewer += seen[i].write == (percent > 50);
		check(fewer > requests * 6 / 1000 && fewer < requests * 15 / 1000, "to the percent");
	}
}

static void written_data(int32_t engine)
{
	struct sizeup_io_worker worker = made(engine, 4);

	worker.read_percent = 0;
	run(&worker, 200);
	check(same_words < requests, "one page is not like another");
	check(last_advice == MADV_NOHUGEPAGE, "in pages of 4 KiB");
	worker.fresh_data = 1;
	worker.huge_pages = 1;
	run(&worker, 200);
	check(last_advice == MADV_HUGEPAGE, "or in huge ones");
	check(same_words == 0, "and each has new data where that is wanted");
}

static void flushed(void)
{
	struct sizeup_io_worker worker = made(SIZEUP_IO_THREADS, 1);

	worker.read_percent = 0;
	run(&worker, 50);
	check(flushes == 0, "what need not be durable is not flushed");
	worker.fdatasync_each = 1;
	run(&worker, 50);
	check(flushes == sample.writes && most_unflushed == 1, "each write is flushed before the next one");
	check(near(sizeup_histogram_mean_ns(sample.write_ns), (double)service_ns + FLUSH_NS), "and the flush is part of its time");
	check(!(fcntl(target, F_GETFL) & O_DIRECT), "the flags of the descriptor are its opener's");
}

int main(void)
{
	make_device();
	for (size_t i = 0; i < sizeof(ENGINES) / sizeof(ENGINES[0]); i++) {
		service_ns = 1 * MS;
		random_offsets(ENGINES[i]);
		sequential_offsets(ENGINES[i]);
		shuffled_offsets(ENGINES[i]);
		service_ns = 5 * MS;
		mixes(ENGINES[i]);
		written_data(ENGINES[i]);
	}
	flushed();
	return 0;
}
