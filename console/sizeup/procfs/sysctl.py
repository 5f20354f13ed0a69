"""Settings of the kernel, ``/proc/sys``; Documentation/admin-guide/sysctl."""

from __future__ import annotations

from sizeup.procfs.kernel_file import PROC, read_integer


def read_sysctl(name: str, proc: str = PROC) -> int | None:
    """Return the number that a setting such as ``fs.aio-max-nr`` has; None where this kernel has no such setting."""
    return read_integer(f"{proc}/sys/{name.replace('.', '/')}")
