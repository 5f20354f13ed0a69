"""File locks of all processes, ``/proc/locks``; proc_locks(5)."""

from __future__ import annotations

import os
import re

from sizeup.procfs.kernel_file import PROC, read_text

_WRITE_FLOCK = re.compile(r"^\d+: FLOCK +ADVISORY +WRITE +(\d{1,10}) +([0-9a-f]+:[0-9a-f]+:\d+) ", re.MULTILINE)


def parse_flock_writers(text: str) -> dict[str, int]:
    """Return who holds a file exclusively by flock(2): process id by ``major:minor:inode``, the numbers in hexadecimal.

    A process beyond this PID namespace is listed as 0 and left out.
    """
    return {file: int(pid) for pid, file in _WRITE_FLOCK.findall(text) if int(pid)}


def read_flock_writer(file: os.stat_result, proc: str = PROC) -> int | None:
    """Return the process that holds a file exclusively by flock(2); None where the kernel names none."""
    key = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    return parse_flock_writers(read_text(f"{proc}/locks") or "").get(key)
