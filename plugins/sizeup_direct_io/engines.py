"""Which engine a run uses, and why."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from msgspec import Struct

from sizeup.errors import RefusedError
from sizeup_direct_io.worker import Engine

_NAMES = {"io_uring": Engine.IO_URING, "aio": Engine.AIO, "oracle-like": Engine.AIO, "threads": Engine.THREADS}


class EngineChoice(Struct, frozen=True):
    """An engine with the reason it was taken."""

    engine: Engine
    reason: str


class EnginePolicy(Struct, frozen=True):
    """What this kernel allows this process; see ``binding.availability`` and ``/proc/sys``."""

    errors: Mapping[Engine, int]
    """The errno of setting an engine up; 0 where it may be used."""
    io_uring_disabled: int | None = None
    """``kernel.io_uring_disabled``; None before Linux 6.6."""
    aio_in_use: int | None = None
    aio_limit: int | None = None
    """``fs.aio-nr`` and ``fs.aio-max-nr``."""


def _denied(engine: Engine, policy: EnginePolicy) -> str:
    error = policy.errors[engine]
    if engine is Engine.IO_URING:
        if policy.io_uring_disabled:
            return f"io_uring is off (kernel.io_uring_disabled = {policy.io_uring_disabled})"
        if error == errno.EPERM:
            return "io_uring is denied by a seccomp filter or a security module (EPERM)"
        if error == errno.ENOSYS:
            return "io_uring is not in this kernel, or a seccomp filter hides it (ENOSYS)"
        if error == errno.EOPNOTSUPP:
            return "io_uring here is older than Linux 5.11 and cannot wait with a time limit"
    if engine is Engine.AIO and error == errno.EAGAIN:
        return f"Linux AIO has no slots left (fs.aio-nr {policy.aio_in_use} of fs.aio-max-nr {policy.aio_limit})"
    name = "Linux AIO" if engine is Engine.AIO else engine.value
    return f"{name} cannot be used ({errno.errorcode.get(error, error)}: {os.strerror(error)})"


def choose(requested: str, policy: EnginePolicy, *, network: bool, extending: bool) -> EngineChoice:
    """The engine for a target.

    On a local file that is only overwritten, io_uring costs the least CPU. Writes that extend a
    file are handed to a kernel worker by it and then stand in line at the inode, and NFS takes
    the same detour, so both start with Linux AIO, which is also what Oracle uses everywhere.
    """
    if requested != "auto":
        engine = _NAMES[requested]
        if policy.errors[engine]:
            raise RefusedError(f"engine={requested}: {_denied(engine, policy)}; take another engine or engine=auto")
        return EngineChoice(engine, "as asked" if requested != "oracle-like" else "as asked: Oracle uses Linux AIO")
    order: tuple[Engine, ...]
    if network:
        order, reason = (Engine.AIO, Engine.THREADS), "a network file system: io_uring would hand requests to workers"
    elif extending:
        order, reason = (Engine.AIO, Engine.THREADS), "extending writes: io_uring would serialize them"
    else:
        order, reason = (Engine.IO_URING, Engine.AIO, Engine.THREADS), "a local target"
    reasons = [reason]
    for engine in order:
        if policy.errors[engine] == 0:
            break
        reasons.append(_denied(engine, policy))
    return EngineChoice(engine, "; ".join(reasons))
