"""Divides the time that a run may take among its windows."""

from __future__ import annotations

import time

from msgspec.structs import replace

from sizeup_direct_io.measured_point import Window

FILL_SECONDS = 3.0
"""Of a run with a time budget: a file that takes longer to write is smaller."""
LEAST_SECONDS = 0.5
"""Of a window, however little time is left."""
WINDOW_EXTRA_SECONDS = 0.1
"""Of each window beside its warm-up and measured time: threads start and end, counters are read."""
ENDING_SECONDS = 0.5
"""From the last window to the end of the process; the file is removed."""
COMPARED_SECONDS = 2.0
"""Of a window of a comparison, at most."""


class TimeBudget:
    """What is left of the time of a run."""

    def __init__(self, seconds: float) -> None:
        self.limited = seconds > 0
        self._end = time.monotonic() + seconds

    def extend(self, seconds: float) -> None:
        """Add time that is no part of the budget."""
        self._end += seconds

    @property
    def left_seconds(self) -> float:
        """Seconds until the run has to end."""
        return self._end - time.monotonic()

    def window(self, window: Window, left: int) -> Window:
        """Return the window of the next point if ``left`` of them share what is left."""
        if not self.limited:
            return window
        share = (self.left_seconds - ENDING_SECONDS) / left - window.warmup_seconds - WINDOW_EXTRA_SECONDS
        return replace(window, seconds=min(window.seconds, max(LEAST_SECONDS, share)), extra_seconds=0.0)

    def compared(self, window: Window) -> Window:
        """Return the window of a comparison, which is no part of the budget."""
        if not self.limited:
            return window
        return replace(window, seconds=min(window.seconds, COMPARED_SECONDS), extra_seconds=0.0)
