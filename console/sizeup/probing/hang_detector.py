"""Whether a process that should be gone hangs in the kernel, or is merely slow to go."""

from __future__ import annotations

from sizeup.procfs.process_status import read_scheduling

HANGING_SECONDS = 0.5
"""A thread that waits where no signal reaches it, and nothing run for so long: nothing there will move soon."""
_LOOK_SECONDS = 0.05


class HangDetector:
    """The last moments of a process, looked at now and then."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen: dict[int, tuple[str, int]] = {}
        self._looked = self._since = 0.0

    def hangs(self, now_seconds: float) -> bool:
        """Whether it has been stuck in the kernel for ``HANGING_SECONDS``; to be asked again and again."""
        if now_seconds - self._looked >= _LOOK_SECONDS:
            self._looked = now_seconds
            threads = read_scheduling(self._pid)
            if threads != self._seen:
                self._seen, self._since = threads, now_seconds
        stuck = any(state == "D" for state, _ in self._seen.values())
        return stuck and now_seconds - self._since >= HANGING_SECONDS
