/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the io_uring kernel interface that is used here, as io_uring_setup(2),
 * io_uring_enter(2) and io_uring_register(2) describe it. Declared here because the build must
 * also work where the kernel headers are older than the interface.
 */
#ifndef SIZEUP_IO_URING_ABI_H
#define SIZEUP_IO_URING_ABI_H

#include <stdint.h>

/* The same numbers on every architecture. */
#define URING_SYS_SETUP 425
#define URING_SYS_ENTER 426
#define URING_SYS_REGISTER 427

#define URING_OP_FSYNC 3
#define URING_OP_READ_FIXED 4
#define URING_OP_WRITE_FIXED 5
#define URING_OP_READ 22
#define URING_OP_WRITE 23

#define URING_SQE_FIXED_FILE (1u << 0)
#define URING_SQE_IO_LINK (1u << 2)

#define URING_FSYNC_DATASYNC (1u << 0)

#define URING_SETUP_CLAMP (1u << 4)
#define URING_SETUP_COOP_TASKRUN (1u << 8)
#define URING_SETUP_SINGLE_ISSUER (1u << 12)
#define URING_SETUP_DEFER_TASKRUN (1u << 13)

#define URING_FEATURE_SINGLE_MMAP (1u << 0)
#define URING_FEATURE_EXT_ARG (1u << 8)

#define URING_ENTER_GETEVENTS (1u << 0)
#define URING_ENTER_EXT_ARG (1u << 3)

#define URING_REGISTER_BUFFERS 0
#define URING_REGISTER_FILES 2

#define URING_OFFSET_RINGS 0
#define URING_OFFSET_SQES 0x10000000

struct uring_sqe {
	uint8_t opcode, flags;
	uint16_t priority;
	int32_t fd;
	uint64_t offset, address;
	uint32_t length, rw_flags;
	uint64_t user_data;
	uint16_t buffer_index, personality;
	int32_t splice_fd;
	uint64_t unused[2];
};

struct uring_cqe {
	uint64_t user_data;
	int32_t result;
	uint32_t flags;
};

struct uring_sq_offsets {
	uint32_t head, tail, ring_mask, ring_entries, flags, dropped, array, reserved;
	uint64_t user_address;
};

struct uring_cq_offsets {
	uint32_t head, tail, ring_mask, ring_entries, overflow, cqes, flags, reserved;
	uint64_t user_address;
};

struct uring_params {
	uint32_t sq_entries, cq_entries, flags, sq_thread_cpu, sq_thread_idle, features, wq_fd;
	uint32_t reserved[3];
	struct uring_sq_offsets sq;
	struct uring_cq_offsets cq;
};

struct uring_timespec {
	int64_t seconds, nanoseconds;
};

struct uring_getevents_arg {
	uint64_t signal_mask;
	uint32_t signal_mask_bytes, min_wait_us;
	uint64_t timespec;
};

#endif
