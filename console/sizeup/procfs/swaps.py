"""Where the kernel swaps to, ``/proc/swaps``; proc_swaps(5)."""

from __future__ import annotations

from sizeup.procfs.kernel_file import PROC, Unreadable, read_file
from sizeup.procfs.mounts import unescape


def parse_swaps(text: str) -> tuple[str, ...]:
    """Return the devices and files in use as swap, below the heading."""
    lines = (line.split() for line in text.splitlines()[1:])
    return tuple(unescape(words[0]) for words in lines if words)


def read_swaps(proc: str = PROC) -> tuple[str, ...] | None:
    """Return the devices and files in use as swap, none in a kernel without swap; None where that is unknown."""
    text = read_file(f"{proc}/swaps")
    if isinstance(text, Unreadable):
        return () if text.missing else None
    return parse_swaps(text)
