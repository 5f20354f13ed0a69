"""The specification of one worker thread: engine, region, pattern and pace."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

LARGE_BLOCK_BYTES = 64 << 10
FEWEST_SUBMITTED, MOST_SUBMITTED = 4, 32
"""Small requests submitted with one call, by the queue depth."""


class Engine(Enum):
    """The kernel interface that submits requests."""

    IO_URING = "io_uring"
    AIO = "aio"
    THREADS = "threads"


class Pattern(Enum):
    """The access pattern."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"
    ONCE = "once"
    """Sequential, ends at the end of the region."""
    APPEND = "append"
    """The next block that no worker of the group has taken, until the end of the region."""
    SHUFFLED = "shuffled"
    """Each block of the region once, at random, and done when all were taken."""


class Worker(Struct, frozen=True):
    """One thread of a job: its descriptor, region and pattern."""

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
    """Between two intended starts; 0: a request starts when one completes."""
    poisson: bool = False
    """The intended starts are at random, ``interval_ns`` apart on average."""
    read_percent: int = 100
    depth: int = 1
    submit_batch: int = 0
    """Requests submitted with one call at most; 0: ``submit_batch`` of the block size and the queue depth."""
    error_limit: int = 1000
    huge_pages: bool = True
    fdatasync_each: bool = False
    fresh_data: bool = False
    cpus: tuple[int, ...] = ()
    """The CPUs that the thread runs on; empty: wherever this process may run."""
    committers: int = 0
    """Those that wait for a log to be durable; 0: no log."""
    record_bytes: int = 0
    think_ns: int = 0


def submit_batch(block_bytes: int, depth: int) -> int:
    """Return the number of requests to submit with one call.

    Submitting all free ones would put process and device in lock-step (18 % on the median of 8 KiB reads),
    and submitting single ones costs CPU. A third of a deep queue leaves the device enough to do meanwhile and
    saves system calls. For large requests even batches of four do harm: 1 MiB reads at QD 4
    reached 2,400 IOPS in batches and 2,900 one by one, where the cost of a system call is negligible.
    """
    if block_bytes >= LARGE_BLOCK_BYTES:
        return 1
    return min(MOST_SUBMITTED, max(FEWEST_SUBMITTED, depth // 3))
