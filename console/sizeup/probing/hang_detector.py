"""Whether a process that should be gone hangs in the kernel, or is merely slow to go."""

from __future__ import annotations

import os

from sizeup.procfs.kernel_file import read_text
from sizeup.procfs.process_status import parse_scheduling

HANGING_SECONDS = 0.5
"""A thread that waits where no signal reaches it, and nothing run for so long: nothing there will move soon."""
_LOOK_SECONDS = 0.05


class HangDetector:
    """The last moments of a process, looked at now and then."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen: dict[str, tuple[str, int]] = {}
        self._looked = self._since = 0.0

    def hangs(self, now_seconds: float) -> bool:
        """Whether it has been stuck in the kernel for ``HANGING_SECONDS``; to be asked again and again."""
        if now_seconds - self._looked >= _LOOK_SECONDS:
            self._looked = now_seconds
            threads = _threads(self._pid)
            if threads != self._seen:
                self._seen, self._since = threads, now_seconds
        stuck = any(state == "D" for state, _ in self._seen.values())
        return stuck and now_seconds - self._since >= HANGING_SECONDS


def _threads(pid: int) -> dict[str, tuple[str, int]]:
    """State of each thread, and how often it was switched to another; empty where /proc does not say."""
    found = {}
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # no /proc here, or the process has gone
        return {}
    for thread in threads:
        text = read_text(f"/proc/{pid}/task/{thread}/status")
        if text is not None:  # None: gone meanwhile
            found[thread] = parse_scheduling(text)
    return found
