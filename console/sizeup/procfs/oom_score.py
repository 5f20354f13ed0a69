"""Which process the kernel ends first when memory runs out, ``/proc/PID/oom_score_adj``; proc_pid_oom_score_adj(5)."""

from __future__ import annotations

import contextlib

from sizeup.procfs.kernel_file import PROC

_FIRST = b"1000"


def make_first_oom_victim(proc: str = PROC) -> None:
    """Have this process ended before any other; does nothing where that may not be said."""
    with contextlib.suppress(OSError), open(f"{proc}/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(_FIRST)
