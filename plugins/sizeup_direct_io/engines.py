"""Selects the I/O engine of a run, with the reason."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from msgspec import Struct

from sizeup.errors import RefusedError
from sizeup_direct_io.worker import Engine

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
