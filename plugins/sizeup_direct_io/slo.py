"""The highest rate of requests at random times whose p99 stays within a limit.

A closed loop tells how much a storage does at most, and of latency only what its own queue depth made of it. A database
has users, who do not wait for each other: requests arrive at random (Poisson), each is timed from when it should have
started, and the question is up to which rate at most 1 % of them take longer than the limit.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Generator, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Gap
from sizeup.model.sample import Coordinates, Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.units import as_percent, format_in, format_ns
from sizeup_direct_io.binding import IoInterval
from sizeup_direct_io.disks import rotating_disks
from sizeup_direct_io.estimates import location, other_load
from sizeup_direct_io.measure import MeasuredPoint, Window, measure_loads
from sizeup_direct_io.presets import Stream
from sizeup_direct_io.target import TargetSetup
from sizeup_direct_io.window_counters import CounterSource

SHARE = 0.01
"""Of the requests that may take longer than the limit: by definition of p99."""
FLASH_LIMIT_NS, DISK_LIMIT_NS = 1e6, 10e6
"""Limits where none is set: 1 ms, and 10 ms of rotating disks."""
_BURST = 4.0
"""Requests beyond a limit come in bursts: so many count as one, as they do not tell more."""
_ONE_SIDED_95 = 1.645
_LEAST_REQUESTS = 1500
"""Of a window: without one beyond the limit it holds with 1,070 in bursts of four."""
_LEAST_SECONDS, _WARMUP_SECONDS, _OVERHEAD_SECONDS = 0.5, 0.2, 0.2
_FIRST_SHARES = (0.25, 0.5, 0.7, 0.85, 1.0)
"""Of the highest rate of the closed loop."""
_PRECISE = 1.05
"""Ratio of the lowest rate that misses to the highest that holds at which the search ends."""
_MOST_WINDOWS = 4
"""Of one rate."""
_LEAST_SHARE = 1e-3
"""Of the highest rate: below it no rate is tried."""
_KEPT_UP = 0.97
"""Of a rate: with fewer requests done than this the storage does not keep up."""
_DEPTH = 128
"""Requests in flight at most, more than any rate within a limit needs."""
CONFIRMED_SHARE = 0.9
"""Of the rate found, at which it is confirmed."""


class Objective(Struct, frozen=True):
    """What is looked for, and how long."""

    limit_ns: float
    """0: by the kind of the disks."""
    seconds: float
    """Of the search."""
    confirm_seconds: float
    """0: what was found is not confirmed."""


class Tail(Struct, frozen=True):
    """Requests of one or several windows of one rate, and how many of them took longer than the limit."""

    requests: int
    beyond: int
    keeps_up: bool = True
    """Whether as many were done as should have been."""

    def __add__(self, other: Tail) -> Tail:
        return Tail(self.requests + other.requests, self.beyond + other.beyond, self.keeps_up and other.keeps_up)

    @property
    def holds(self) -> bool | None:
        """Whether the p99 is within the limit, by the 95 % bound of the share beyond it (Wilson); None: not certain."""
        low, high = _bounds(self.beyond / _BURST, self.requests / _BURST)
        if not self.keeps_up or low > SHARE:
            return False
        return True if high <= SHARE else None


def _bounds(found: float, count: float) -> tuple[float, float]:
    """Return the ends of a share by Wilson's score, each with a certainty of 95 %."""
    if not count:
        return 0.0, 1.0
    share, square = found / count, _ONE_SIDED_95**2
    middle = share + square / (2 * count)
    half = _ONE_SIDED_95 * math.sqrt(share * (1 - share) / count + square / (4 * count * count))
    return max(0.0, (middle - half) / (1 + square / count)), (middle + half) / (1 + square / count)


class Search:
    """Which rate to try next, from what the rates so far have shown."""

    def __init__(self, most_rate: float, seed: int) -> None:
        self._most = most_rate
        self._first = [_rounded(most_rate * share) for share in _FIRST_SHARES]
        random.Random(seed).shuffle(self._first)  # noqa: S311 - so that a drift is not taken for an effect of the rate
        self.tails: dict[float, Tail] = {}
        self._windows: dict[float, int] = {}

    def add(self, rate: float, tail: Tail) -> None:
        """Add what a window of a rate has shown."""
        self.tails[rate] = self.tails[rate] + tail if rate in self.tails else tail
        self._windows[rate] = self._windows.get(rate, 0) + 1

    @property
    def missed(self) -> float:
        """The lowest rate that misses the limit; infinite where none does."""
        return min((rate for rate, tail in self.tails.items() if tail.holds is False), default=math.inf)

    @property
    def held(self) -> float:
        """The highest rate that holds, below all that miss; 0 where none does."""
        return max((rate for rate, tail in self.tails.items() if tail.holds and rate < self.missed), default=0.0)

    def next_rate(self) -> float | None:
        """Return the rate that tells most now; None where the search is done."""
        if self._first:
            return self._first.pop()
        highest = max((rate for rate, tail in self.tails.items() if tail.holds), default=0.0)
        for rate, tail in sorted(self.tails.items()):
            open_again = tail.holds is None or (tail.holds is False and tail.keeps_up and rate < highest)
            if open_again and self._windows[rate] < _MOST_WINDOWS:
                return rate
        held, above = self.held, [rate for rate in self.tails if rate > self.held]
        if not held:
            lower = min(self.tails) / 2
            return _rounded(lower) if lower >= self._most * _LEAST_SHARE else None
        between = _rounded(math.sqrt(held * min(above))) if above else held
        return between if held * math.sqrt(_PRECISE) < between < min(above) else None


def _rounded(rate: float) -> float:
    return float(f"{rate:.3g}")


def find_rate(
    setup: TargetSetup,
    stream: Stream,
    workload: str,
    most_rate: float,
    objective: Objective,
    window: Window,
    context: Context,
    counter_source: CounterSource,
) -> Generator[Emission, None, None]:
    """Yield the p99 of each rate tried, then the highest rate within the limit: 0, and a gap, where all missed it.

    ``most_rate`` is that of the closed loop, ``window`` one of its points.
    """
    rotating = rotating_disks(setup.target.device_number)
    limit_ns = objective.limit_ns or (DISK_LIMIT_NS if rotating else FLASH_LIMIT_NS)
    at: dict[str, str | int | float] = {"workload": workload, "limit_ms": round(limit_ns / 1e6, 6)}
    search, seen, runs = Search(most_rate, setup.next_seed()), dict[float, IoInterval](), list[MeasuredPoint]()
    end = time.monotonic() + objective.seconds

    def tried(rate: float, seconds: float) -> Generator[Emission, None, Tail]:
        paced = replace(stream, rate=rate, at_random=True)
        wanted = replace(window, warmup_seconds=_WARMUP_SECONDS, seconds=seconds, extra_seconds=0.0, precision=math.inf)
        where: Coordinates = {**at, "target_iops": rate}
        loads = {stream.name: (setup, paced, _DEPTH)}
        left = max(0.0, end - time.monotonic()) + objective.confirm_seconds
        yield Progress(0.99, left, f"{workload}: {format_in(rate, 'IOPS')} at random times")
        run = yield from measure_loads(loads, where, wanted, context, counter_source)
        runs.append(run)
        interval = run.intervals[stream.name]
        seen[rate] = seen[rate].pooled_with(interval) if rate in seen else interval
        tail = _tail(interval, limit_ns, rate)
        yield Estimate("slo-p99", where, seen[rate].quantile_ns("response", 1 - SHARE))
        return tail

    while (rate := search.next_rate()) is not None:
        seconds = max(_LEAST_SECONDS, _LEAST_REQUESTS / rate)
        if time.monotonic() + seconds + _WARMUP_SECONDS + _OVERHEAD_SECONDS > end:
            break
        search.add(rate, (yield from tried(rate, seconds)))
    held, missed, caveats = search.held, search.missed, ["not confirmed: found in windows of about a second"]
    if held and objective.confirm_seconds:
        confirmed = yield from tried(_rounded(held * CONFIRMED_SHARE), objective.confirm_seconds)
        said = f"{as_percent(CONFIRMED_SHARE)} of it for {objective.confirm_seconds:g} s"
        caveats = [] if confirmed.holds else [f"not confirmed: {said} had {_share(confirmed)} beyond the limit"]
    if not held:
        caveats = [_why_none(search.tails.items())]
        yield Gap(f"io.direct: IOPS at p99 within {format_ns(limit_ns)}", caveats[0])
        if missed == math.inf:
            return
    extra: dict[str, str | int | float] = {
        "tried": len(search.tails),
        "seconds": 0.0 if caveats else objective.confirm_seconds,
        "target_bytes": setup.target.size_bytes,
        **location(setup.target),
        **other_load(runs),
    }
    at["read_percent"] = stream.read_percent
    low, high = held * CONFIRMED_SHARE if not caveats else 0.0, missed if missed < math.inf else None
    yield Estimate("slo-iops", at, held, low=low, high=high, caveats=tuple(caveats), converged=not caveats, extra=extra)


def _tail(interval: IoInterval, limit_ns: float, rate: float) -> Tail:
    """Return how many requests of a window took longer than the limit from their intended start."""
    times = interval.histogram("response")
    count, beyond = sum(times.values()), sum(number for middle, number in times.items() if middle > limit_ns)
    least = rate * interval.seconds * _KEPT_UP - 3 * math.sqrt(rate * interval.seconds)  # of a random number
    return Tail(count, beyond, count >= least)


def _share(tail: Tail) -> str:
    return as_percent(tail.beyond / max(tail.requests, 1), ".2f")


def _why_none(tails: Iterable[tuple[float, Tail]]) -> str:
    """Return why no rate holds."""
    found: Sequence[tuple[float, Tail]] = sorted(tails)
    if not found:
        return "not measured: no time was left for it"
    rate, tail = found[0]
    if tail.holds is None:
        return f"not certain: at {format_in(rate, 'IOPS')} {_share(tail)} of {tail.requests} took longer"
    return f"no rate meets it: at {format_in(rate, 'IOPS')} {_share(tail)} of the requests took longer"
