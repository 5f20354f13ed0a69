"""How many tasks run or wait, ``/proc/loadavg``; proc_loadavg(5)."""

from __future__ import annotations

import re

from sizeup.procfs.kernel_file import PROC, read_text

_FIRST = re.compile(r"(\d{1,9}\.\d{1,6}) ")


def parse_load_average(text: str) -> float | None:
    """Return the mean over the last minute; None where the file does not begin with a number."""
    match = _FIRST.match(text)
    return float(match[1]) if match is not None else None


def read_load_average(proc: str = PROC) -> float | None:
    """Return the load of the last minute; None where it cannot be read."""
    return parse_load_average(read_text(f"{proc}/loadavg") or "")
