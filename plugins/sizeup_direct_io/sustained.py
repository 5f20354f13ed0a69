"""The write cliff: how much can be written before the rate falls for good, and what is left of it then.

A cache, and flash with erased blocks, take writes faster than the medium behind them. Which cache a device has is not
guessed: the rate of random writes is watched, second by second, until it falls and stays low.
"""

from __future__ import annotations

import statistics
from collections.abc import Generator, Iterator, Sequence
from itertools import accumulate

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup.units import format_bytes, format_decimal_bytes, format_in
from sizeup_direct_io.binding import IoJob, median_interval
from sizeup_direct_io.estimates import PointResult, location, with_interval
from sizeup_direct_io.measure import Next
from sizeup_direct_io.presets import SMALL_BYTES
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.target import TargetSetup

SHARE = 0.7
"""Of the first level: a rate that stays below it has fallen."""
FEWEST, AFTER = 8, 38
"""Windows from which on a fall counts, and those that give the level beyond it and show that it stays."""
WINDOW_SECONDS, MOST_WINDOWS, LEAST_WINDOWS = 1.0, 600, 64
"""A window is longer where more of them would fit in the time, and shorter where fewer would in the bytes."""


def find_cliff(rates: Sequence[float]) -> int | None:
    """Return how many windows lie before a fall of the rate that lasts until the last one; None where there is none.

    Medians, so that single stalls count for nothing; the later one with its 95 % interval, so that noise needs more.
    """
    last = FEWEST
    while last <= len(rates) - FEWEST:
        ends = median_interval(rates[-last:])
        if ends is not None and ends[1] < SHARE * statistics.median(rates[:-last]):
            return largest_fall(rates)
        last *= 2
    return None


def largest_fall(rates: Sequence[float]) -> int:
    """Return the number of windows before the fall that explains most of the variance."""
    sums, count = list(accumulate(rates)), len(rates)

    def explained(before: int) -> float:
        fall = sums[before - 1] / before - (sums[-1] - sums[before - 1]) / (count - before)
        return max(fall, 0.0) ** 2 * before * (count - before)

    return max(range(1, count), key=explained)


class CliffWatch:
    """Follows one measurement of writes, and ends it beyond a cliff or at the limit of bytes; see ``Watch``."""

    def __init__(self, settings: RunSettings, setup: TargetSetup) -> None:
        if IoJob.gentle is not None:  # its pauses beside other load look like cliffs, too
            raise RefusedError(f"preset=sustained: {IoJob.gentle} show no write cliff; run it at full load")
        self._at, self._settings, self._setup = settings.sweeps[0].points[0].at, settings, setup
        self._window_seconds = max(WINDOW_SECONDS, settings.most_seconds / MOST_WINDOWS)
        self._rates: list[float] = []
        self._edges: list[tuple[float, int]] = []
        """Of the windows: times, and the bytes written by then."""
        self._latest_bytes = 0
        self._before_cliff: int | None = None

    def __call__(self, at: float, requests: int, left_seconds: float) -> Generator[Emission, None, Next]:
        """Yield the rate of each window, and return how to go on."""
        written, most = requests * SMALL_BYTES, self._settings.most_written
        by_next_sample, self._latest_bytes = 2 * written - self._latest_bytes, written
        if not self._edges:
            self._edges.append((at, written))
        seconds, done = at - self._edges[-1][0], written - self._edges[-1][1]
        following: Next = "go on"
        if seconds >= self._window_seconds or done >= most / LEAST_WINDOWS:
            self._setup.keep_reserve()
            self._edges.append((at, written))
            self._rates.append(done / SMALL_BYTES / seconds)
            yield Estimate("written-iops", {**self._at, "written_bytes": written}, self._rates[-1])
            left = min(left_seconds, (most - written) * seconds / max(done, 1))
            yield Progress(written / most, left, f"{format_bytes(written)} of {format_bytes(most)} written")
            following = self._look()
        return "end" if by_next_sample > most else following

    def _look(self) -> Next:
        """Search for a cliff; one that was found is given up where the rate comes back."""
        if self._before_cliff is None:
            self._before_cliff = find_cliff(self._rates)
            return "go on" if self._before_cliff is None else "count anew"
        if len(self._rates) - self._before_cliff < AFTER:
            return "go on"
        if self._stays:
            return "end"
        self._before_cliff = None
        return "go on"

    @property
    def _stays(self) -> bool:
        before, after = self._rates[: self._before_cliff], self._rates[self._before_cliff :]
        fresh = statistics.median(after[FEWEST:] or after)  # those by which it was found are low by choice
        return self._before_cliff is not None and fresh < SHARE * statistics.median(before)

    def results(self, result: PointResult) -> Iterator[Emission]:
        """Yield the rates before and after the cliff and the bytes up to it; of a level without one what it held."""
        rates, where = self._rates, location(self._setup.target)
        if len(rates) < 2 * FEWEST:
            found = f"{len(rates)} windows were measured, and at least {2 * FEWEST} are needed"
            yield Gap("io.direct: write cliff", f"{found}; increase most_written or most_seconds")
            return

        def level(series: str, part: Sequence[float]) -> Estimate:
            value, low, high = with_interval(part)
            narrow = low is not None and high is not None and high - low <= 2 * self._settings.precision * value
            return Estimate(
                series, self._at, value, low, high, len(part), converged=narrow, caveats=caveats, extra=where
            )

        caveats, size = result.caveats, self._setup.target.size_bytes
        cliff = largest_fall(rates) if self._stays else 0
        written, last = self._edges[cliff or -1][1], level("sustained-iops", rates[cliff:])
        yield last
        said = f"No write cliff within {format_decimal_bytes(written)}: {format_in(round(last.value), 'IOPS')}"
        why = f"A cache of more, or of all {format_bytes(size)} of the target, does not show."
        known: dict[str, str | int | float] = {"note": "or more: no cliff"}
        if cliff:
            first = level("first-iops", rates[:cliff])
            yield first
            fall = f"{format_in(round(first.value), 'IOPS')}, then {format_in(round(last.value), 'IOPS')}"
            said = f"Write cliff after {format_decimal_bytes(written)}: {fall}"
            why = "What ran out is not known: a cache, erased flash or credits. Count on the lower rate."
            known = {"kept_share": last.value / first.value, "severity": "warning"}
        extra = {**where, **known, "target_bytes": size, "statement": said, "consequence": why}
        yield Estimate("cliff", self._at, written, None if cliff else written, caveats=caveats, extra=extra)
