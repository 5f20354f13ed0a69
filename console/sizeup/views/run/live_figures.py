"""A step that is being measured in a few figures: the newest values, and how they went over the last seconds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.plan import Better, Series
from sizeup.model.sample import Progress
from sizeup.session.value import Point, StepRun
from sizeup.units import as_percent, base_unit, format_bytes, format_count, format_ns, format_value, number_and_unit
from sizeup.views.run.points import RATES, first_series, half_width, points_of
from sizeup.views.run.step_badge import axis_name

_MOST_TILES = 6
_LONGEST_NAME = 16
_PERCENTILES = ("p50", "p90", "p99", "p999")
_MOST_SAMPLES = 40
_BARS = "▁▂▃▄▅▆▇█"


class LiveFigure(Struct, frozen=True):
    """One live figure with its name."""

    name: str
    text: str
    note: str = ""
    """What it is compared with: the best or the worst so far, or the last run."""
    samples: tuple[float, ...] = ()
    """Those of the last seconds, the newest last."""
    newest: bool = False
    """It is being measured now."""

    def bars(self, columns: int) -> str:
        """Return a bar for each of the last samples, from zero to the highest."""
        shown = self.samples[-columns:]
        scale = (len(_BARS) - 1) / (max(shown, default=0.0) or 1.0)
        return "".join(_BARS[round(max(value, 0.0) * scale)] for value in shown)


def time_left(progress: Progress) -> str:
    """Return ``12 s left``, or that the step goes on beyond its estimate; empty where it is unknown, or nearly over."""
    if progress.remaining_seconds == 0.0 and progress.done < 1.0:
        return "longer than estimated"
    seconds = round(progress.remaining_seconds or 0.0)
    return f"{format_ns(seconds * 1e9)} left" if seconds > 0 else ""


def live_tiles(run: StepRun, machine: Machine | None = None) -> tuple[LiveFigure, ...]:
    """Return each series that matters at the point that was sampled last: the figure that its table and chart show.

    Of working sets the levels of memory that ``machine`` has.
    """
    sampled = [point for point in run.points.values() if point.values and point.series in run.series]
    leading = None if sampled else first_series(run)
    points = sampled if leading is None else points_of(run, leading.name)[-1:]
    if not points:
        return ()
    newest = max(points, key=lambda point: (point.t_ns or (0,))[-1])
    first = run.series[newest.series]
    if first.boundaries == "memory" and (levels := list(_level_tiles(run, first, newest, machine))):
        return tuple(levels)
    place = {name: value for name, value in newest.at.items() if name not in ("direction", "stream")}
    tiles = []
    for number, series in enumerate(_ranked(run)):
        # At the place of the newest point, or the last one measured there before.
        found = [point for point in points_of(run, series.name) if place.items() <= point.at.items()]
        if found:
            tiles.append(_tile(run, series, found[-1], newest=number == 0))
    axis = newest.at.get(first.axis or "")
    if isinstance(axis, int | float):
        tiles.append(LiveFigure(axis_name(first), format_value(axis, first.axis_unit or "1")))
    return tuple(tiles[:_MOST_TILES])


def _level_tiles(run: StepRun, series: Series, newest: Point, machine: Machine | None) -> Iterator[LiveFigure]:
    """Yield the caches and DRAM, each with the working set that was measured nearest its middle; DRAM the largest."""
    sizes = {} if machine is None else machine.cache_sizes
    sized = [(float(at), point) for point in points_of(run, series.name) if (at := point.at.get(series.axis or ""))]
    below = 0.0
    for name, end in [*((f"L{level}", float(size)) for level, size in sizes.items()), ("DRAM", math.inf)]:
        inside = [(size, point) for size, point in sized if below < size <= end and point.value is not None]
        middle, below = (below + end) / 2, end
        size, point = min(inside, key=lambda one: (abs(one[0] - middle), -one[0]), default=(0.0, newest))
        if not inside or point.value is None:
            yield LiveFigure(name, "", "not yet")
            continue
        within = half_width(point)
        note = f"{f'±{within} ' if within else ''}at {format_bytes(size)}"
        now = any(one is newest for _, one in inside)
        yield LiveFigure(name, format_value(point.value, series.unit), note, tuple(point.values[-_MOST_SAMPLES:]), now)


def _ranked(run: StepRun) -> Sequence[Series]:
    """Return the series of a ramp as a reader looks at them: throughput, percentiles, then utilization."""
    every, first = run.series.values(), first_series(run)
    family = next((series.family for series in every if series.statistic), "")
    ranked = [
        *[series for series in every if series.unit in RATES][:1],
        *(series for series in every if series.family == family and series.statistic in _PERCENTILES),
        *(series for series in every if series.unit == "share"),
    ]
    return ranked or ([] if first is None else [first])


def _tile(run: StepRun, series: Series, point: Point, *, newest: bool) -> LiveFigure:
    value = point.value
    if value is None:
        return LiveFigure(_name(series), "–")
    every = [other.value or 0.0 for other in points_of(run, series.name)]
    note = ""
    if series.better is Better.HIGHER and max(every) > 0:
        note = f"{as_percent(value / max(every))} of the best"
    elif series.unit == "ns" and len(every) > 1:
        scale = base_unit(number_and_unit(value, series.unit)[1])[1]  # the unit stands beside the value
        note = f"worst {float(f'{max(every) / scale:.3g}'):,g}"
    text = format_count(value, "") if series.unit == "1/s" else format_value(value, series.unit)
    return LiveFigure(_name(series), text, note, tuple(point.values[-_MOST_SAMPLES:]), newest)


def _name(series: Series) -> str:
    if series.statistic:
        return "p99.9" if series.statistic == "p999" else series.statistic
    words = series.short_title.split()
    acronym = next((word for word in words if word.isupper()), "")
    return series.short_title if len(series.short_title) <= _LONGEST_NAME else acronym or words[0]
