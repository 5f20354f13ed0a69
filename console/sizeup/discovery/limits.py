"""Kernel limits that a measurement meets, from /proc/sys and /proc/self."""

from __future__ import annotations

import re

from sizeup.discovery.sysroot import Sysroot
from sizeup.model.limits import Limits

_CAPABILITIES = 64


def read_limits(sysroot: Sysroot) -> Limits:
    """What this process may do; Documentation/admin-guide/sysctl/{fs,kernel}.rst and proc(5)."""
    return Limits(
        capabilities=parse_capabilities(sysroot.read("/proc/self/status") or ""),
        open_files=parse_limit(sysroot.read("/proc/self/limits") or "", "Max open files"),
        aio_requests_max=sysroot.integer("/proc/sys/fs/aio-max-nr"),
        aio_requests_used=sysroot.integer("/proc/sys/fs/aio-nr"),
        io_uring_disabled=sysroot.integer("/proc/sys/kernel/io_uring_disabled"),
        perf_event_paranoid=sysroot.integer("/proc/sys/kernel/perf_event_paranoid"),
    )


def parse_capabilities(status: str) -> frozenset[int] | None:
    """The effective set of a status file, ``CapEff:	0000003fffffffff``."""
    match = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", status, re.MULTILINE)
    if match is None:
        return None
    bits = int(match[1], 16)
    return frozenset(number for number in range(_CAPABILITIES) if bits >> number & 1)


def parse_limit(limits: str, name: str) -> int | None:
    """The soft value of one line of a limits file; None for ``unlimited`` too."""
    match = re.search(rf"^{re.escape(name)}\s+(\d{{1,19}})\s", limits, re.MULTILINE)
    return int(match[1]) if match is not None else None
