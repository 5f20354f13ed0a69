"""What the kernel charged a process at the block layer, ``/proc/PID/io``; proc_pid_io(5)."""

from __future__ import annotations

import re

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, read_text

_READ = re.compile(r"^read_bytes: (\d{1,18})$", re.MULTILINE)
_WRITTEN = re.compile(r"^write_bytes: (\d{1,18})$", re.MULTILINE)


class ProcessIo(Struct, frozen=True):
    """Bytes that the process caused to be read from, or written to, storage."""

    read_bytes: int
    written_bytes: int


def parse_process_io(text: str) -> ProcessIo | None:
    """None where a figure is missing or none."""
    read, written = _READ.search(text), _WRITTEN.search(text)
    return None if read is None or written is None else ProcessIo(int(read[1]), int(written[1]))


def read_process_io(pid: int | str = "self", proc: str = PROC) -> ProcessIo | None:
    """Return what a process moved; None where it is another user's, or without CONFIG_TASK_IO_ACCOUNTING."""
    return parse_process_io(read_text(f"{proc}/{pid}/io") or "")
