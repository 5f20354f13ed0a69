"""What one thread of a job is to do: engine, region, pattern and pace."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

LARGE_BLOCK_BYTES = 64 << 10


class Engine(Enum):
    """How requests reach the kernel."""

    IO_URING = "io_uring"
    AIO = "aio"
    THREADS = "threads"


class Pattern(Enum):
    """Where the next request goes."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"
    ONCE = "once"
    """Sequential, and done at the region's end."""
    APPEND = "append"
    """The next block that no worker of the group has taken, to the region's end."""


class Worker(Struct, frozen=True):
    """One thread of a job: its descriptor, its region and its pattern."""

    engine: Engine
    descriptor: int
    block_bytes: int
    start_bytes: int
    size_bytes: int
    group: int = 0
    pattern: Pattern = Pattern.RANDOM
    first_block: int = 0
    seed: int = 1
    interval_ns: int = 0
    """Between two intended starts; 0: the next starts as one ends."""
    read_percent: int = 100
    depth: int = 1
    submit_batch: int = 0
    """Requests handed in with one call; 0: ``submit_batch`` of the block size."""
    error_limit: int = 1000
    huge_pages: bool = True
    fdatasync_each: bool = False
    fresh_data: bool = False


def submit_batch(block_bytes: int) -> int:
    """How many requests go in with one call.

    All that are free would put process and device in lock-step (18 % on the median of 8K reads),
    one by one costs CPU. Large ones fall into step even by fours: 1 MiB reads, four out, ran at
    2,400 a second so, and at 2,900 one by one, where a system call weighs nothing.
    """
    return 4 if block_bytes < LARGE_BLOCK_BYTES else 1
