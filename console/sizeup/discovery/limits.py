"""Kernel limits that a measurement meets, from /proc/sys and /proc/self."""

from __future__ import annotations

from sizeup.discovery.sysroot import Sysroot
from sizeup.model.limits import Limits
from sizeup.procfs.process import parse_capabilities, parse_limits


def read_limits(sysroot: Sysroot) -> Limits:
    """What this process may do; Documentation/admin-guide/sysctl/{fs,kernel}.rst and proc(5)."""
    return Limits(
        capabilities=parse_capabilities(sysroot.read("/proc/self/status") or ""),
        open_files=parse_limits(sysroot.read("/proc/self/limits") or "").get("Max open files"),
        aio_requests_max=sysroot.integer("/proc/sys/fs/aio-max-nr"),
        aio_requests_used=sysroot.integer("/proc/sys/fs/aio-nr"),
        io_uring_disabled=sysroot.integer("/proc/sys/kernel/io_uring_disabled"),
        perf_event_paranoid=sysroot.integer("/proc/sys/kernel/perf_event_paranoid"),
    )
