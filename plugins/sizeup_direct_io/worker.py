"""The specification of one worker thread: engine, region, pattern and pace; and which engine a run has, and why."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from sizeup.errors import RefusedError

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
    work_ns: int = 0
    """CPU time of a transaction before it commits, on one of ``work_cpus``."""
    work_cpus: int = 1
    client: Mapping[str, int] = {}
    """The connection of a user-space client that reads instead of the engine: addresses by their native names."""


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


_NAMES = {"io_uring": Engine.IO_URING, "aio": Engine.AIO, "oracle-like": Engine.AIO, "threads": Engine.THREADS}


class EngineChoice(Struct, frozen=True):
    """An engine with the reason for its selection."""

    engine: Engine
    reason: str


class EnginePolicy(Struct, frozen=True):
    """The engines that the kernel allows this process; see ``binding.availability`` and ``/proc/sys``."""

    errors: Mapping[Engine, int]
    """The errno of setting up each engine; 0 if it may be used."""
    io_uring_disabled: int | None = None
    """``kernel.io_uring_disabled``; None before Linux 6.6."""
    aio_in_use: int | None = None
    aio_limit: int | None = None
    """``fs.aio-nr`` and ``fs.aio-max-nr``."""


def _denied(engine: Engine, policy: EnginePolicy) -> str:
    error = policy.errors[engine]
    if engine is Engine.IO_URING:
        if policy.io_uring_disabled:
            return f"io_uring is disabled (kernel.io_uring_disabled = {policy.io_uring_disabled})"
        if error == errno.EPERM:
            return "a seccomp filter or security module denies io_uring (EPERM)"
        if error == errno.ENOSYS:
            return "this kernel has no io_uring, or a seccomp filter hides it (ENOSYS)"
        if error == errno.EOPNOTSUPP:
            return "io_uring of this kernel (before Linux 5.11) has no timed waits"
    if engine is Engine.AIO and error == errno.EAGAIN:
        return f"all Linux AIO slots are in use (fs.aio-nr {policy.aio_in_use} of fs.aio-max-nr {policy.aio_limit})"
    name = "Linux AIO" if engine is Engine.AIO else engine.value
    return f"{name} is not available ({errno.errorcode.get(error, error)}: {os.strerror(error)})"


def choose(requested: str, policy: EnginePolicy, *, network: bool, extending: bool) -> EngineChoice:
    """Return the engine for a target.

    For reads and overwrites of a local target io_uring costs the least CPU. For writes that extend a
    file, and on NFS, io_uring passes requests to kernel workers, which wait for the inode's lock; both
    use Linux AIO first, which Oracle also uses everywhere.
    """
    if requested != "auto":
        engine = _NAMES[requested]
        if policy.errors[engine]:
            raise RefusedError(f"engine={requested}: {_denied(engine, policy)}; set another engine or engine=auto")
        return EngineChoice(engine, "as set" if requested != "oracle-like" else "as set: Oracle uses Linux AIO")
    order: tuple[Engine, ...]
    if network:
        order, reason = (Engine.AIO, Engine.THREADS), "network file system: io_uring would use kernel workers"
    elif extending:
        order, reason = (Engine.AIO, Engine.THREADS), "extending writes: io_uring would serialize them"
    else:
        order, reason = (Engine.IO_URING, Engine.AIO, Engine.THREADS), "local target"
    reasons = [reason]
    for engine in order:
        if policy.errors[engine] == 0:
            break
        reasons.append(_denied(engine, policy))
    return EngineChoice(engine, "; ".join(reasons))
