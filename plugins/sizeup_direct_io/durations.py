"""How long a run takes, from what it does, and what its time budget leaves."""

from __future__ import annotations

import time

from msgspec.structs import replace

from sizeup_direct_io import comparisons
from sizeup_direct_io.cold_read import SECONDS as COLD_SECONDS
from sizeup_direct_io.measure import Window
from sizeup_direct_io.presets import WITH_OBJECTIVE, Durable
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.target import DEFAULT_BYTES
from sizeup_direct_io.window_counters import BACKGROUND_SECONDS

ASSUMED_FILL_RATE = 500e6
"""Bytes per second at which a file is written, until the rate of the disk shows."""
EXTENDED_SHARE = 0.5
"""Of windows that take twice as long to be precise: none on an idle host, all on a busy one."""
START_SECONDS = 0.5
"""Until a worker process opens the target."""
ASSUMPTION = (
    "the estimate assumes 500 MB/s for writing the file, every queue depth, and that half of the windows need twice "
    "their time"
)
"""Of a run without a time budget."""
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


def estimated_seconds(settings: RunSettings) -> float:
    """Return how long a run takes, what it adds to the preset included."""
    window = _whole(settings.window)
    window += 0.0 if settings.budget else settings.window.extra_seconds * EXTENDED_SHARE
    alone = _preparing_seconds(settings) + windows(settings) * window + objective_seconds(settings) + ENDING_SECONDS
    if settings.budget:
        alone = max(least_seconds(settings), min(alone, settings.budget))
        window = min(window, COMPARED_SECONDS + window - settings.seconds)
    if others := len(settings.other_paths):  # each alone, then all together
        alone += others * _filling_seconds(settings) + (others + 2) * window
    if settings.scale_threads:
        alone += comparisons.SCALING_MOST * _whole(comparisons.SCALING_WINDOW)
    if settings.compare_engine != "none":
        alone += 2 * comparisons.ENGINE_PAIRS * _whole(comparisons.CHECK_WINDOW)
    return alone


def least_seconds(settings: RunSettings) -> float:
    """Return what a run takes whose windows are as short as possible."""
    shortest = settings.warmup + LEAST_SECONDS + WINDOW_EXTRA_SECONDS
    return _preparing_seconds(settings) + windows(settings) * shortest + ENDING_SECONDS


def objective_seconds(settings: RunSettings) -> float:
    """Return what the search for the rate of an objective takes; 0 where the time in all leaves none for it."""
    if settings.preset not in WITH_OBJECTIVE:
        return 0.0
    seconds = settings.search + settings.confirm
    return seconds if not settings.budget or least_seconds(settings) + seconds <= settings.budget else 0.0


def windows(settings: RunSettings) -> int:
    """Return how many windows the points of a run take."""
    return sum(len(sweep.points) for sweep in settings.sweeps) * settings.ramps


def _whole(window: Window) -> float:
    return window.warmup_seconds + window.seconds + WINDOW_EXTRA_SECONDS


def _preparing_seconds(settings: RunSettings) -> float:
    """Return what the first window waits for."""
    seconds = START_SECONDS + BACKGROUND_SECONDS + _filling_seconds(settings)
    if settings.check_concurrency and not settings.extends and not _is_device(settings):
        seconds += comparisons.WRITERS * comparisons.WRITER_BYTES / ASSUMED_FILL_RATE
        both = _whole(comparisons.CHECK_WINDOW) + _whole(comparisons.EXTENDING_WINDOW)
        seconds += 2 * comparisons.CHECK_ROUNDS * both
    if any(stream.durable is not Durable.NO for stream in settings.streams):
        seconds += 2 * comparisons.CHECK_ROUNDS * _whole(comparisons.CHECK_WINDOW)
    return seconds + (COLD_SECONDS if settings.cold_read else 0.0)


def _filling_seconds(settings: RunSettings) -> float:
    if settings.extends or (_is_device(settings) and not settings.allow_write_to):
        return 0.0
    seconds = (settings.size or settings.largest_file or DEFAULT_BYTES) / ASSUMED_FILL_RATE
    return min(seconds, FILL_SECONDS) if settings.budget and not settings.size else seconds


def _is_device(settings: RunSettings) -> bool:
    """Whether the path can be nothing but a device; any other is taken for a directory, without looking at it."""
    return settings.path.startswith("/dev/")


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
