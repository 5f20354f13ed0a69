"""A step that is being measured in a few figures: the newest values, and how they went over the last seconds."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sizeup.model.plan import Series
from sizeup.model.sample import Progress
from sizeup.session.value import Point, StepRun
from sizeup.units import format_count, format_ns, format_value
from sizeup.views.run.latency_throughput import throughput_series
from sizeup.views.run.points import RATES, first_series, sampled_points
from sizeup.views.run.step_badge import axis_name

_MOST_TILES = 6
RECENT_SECONDS = 10.0
_LONGEST_NAME = 16
_BARS = "▁▂▃▄▅▆▇█"


class LiveFigure(Struct, frozen=True):
    """One live figure with its name."""

    name: str
    text: str


class RecentValues(Struct, frozen=True):
    """A series over the last seconds as bars of equal time, the newest last; None where nothing was sampled."""

    name: str
    values: tuple[float | None, ...]

    def bars(self) -> str:
        """Return a bar per piece of time, from zero to the highest."""
        top = max((value for value in self.values if value is not None), default=0.0)
        scale = (len(_BARS) - 1) / top if top > 0 else 0.0
        return "".join(" " if value is None else _BARS[round(max(value, 0.0) * scale)] for value in self.values)


def time_left(progress: Progress) -> str:
    """Return ``12 s left``, or that the step goes on beyond its estimate; empty where it is unknown, or nearly over."""
    if progress.remaining_seconds == 0.0 and progress.done < 1.0:
        return "longer than estimated"
    seconds = round(progress.remaining_seconds or 0.0)
    return f"{format_ns(seconds * 1e9)} left" if seconds > 0 else ""


def live_tiles(run: StepRun) -> tuple[LiveFigure, ...]:
    """Return each series that matters at the point that was sampled last: the figure that its table and chart show."""
    newest = _newest(run)
    if newest is None:
        return ()
    first = run.series[newest.series]
    tiles = [
        LiveFigure(name, text)
        for series in _ranked(run)
        for point in [_point_at(run, series, newest)]
        if point is not None
        for name, text in [_tile(series, point)]
    ]
    axis = newest.at.get(first.axis or "")
    if isinstance(axis, int | float):
        tiles.insert(min(len(tiles), 4), LiveFigure(axis_name(first), format_value(axis, first.axis_unit or "1")))
    return tuple(tiles[:_MOST_TILES])


def recent_values(run: StepRun, now_ns: int, pieces: int) -> tuple[RecentValues, ...]:
    """Return throughput and p99, or else the first sampled series, over the last seconds."""
    throughput = throughput_series(run)
    found: list[Series] = [] if throughput is None else [throughput]
    found += [series for series in run.series.values() if series.statistic == "p99" and sampled_points(run, series)][:1]
    if not found:
        found = [series for series in run.series.values() if sampled_points(run, series)][:1]
    return tuple(RecentValues(_name(series), _pieces(sampled_points(run, series), now_ns, pieces)) for series in found)


def _newest(run: StepRun) -> Point | None:
    """Return the point that was sampled last; without samples the last of the first series."""
    sampled = [point for point in run.points.values() if point.values and point.series in run.series]
    if sampled:
        return max(sampled, key=lambda point: point.t_ns[-1])
    series = first_series(run)
    points = [point for point in run.points.values() if series is not None and point.series == series.name]
    return points[-1] if points else None


def _ranked(run: StepRun) -> Sequence[Series]:
    """Return the series of a ramp as a reader looks at them: throughput, p50 and p99, then utilization."""
    family = next((series.family for series in run.series.values() if series.statistic), "")
    ranks = [
        [series for series in run.series.values() if series.unit in RATES],
        [series for series in run.series.values() if series.family == family and series.statistic in ("p50", "p99")],
        [series for series in run.series.values() if series.unit == "share"],
    ]
    ranked = [series for rank in ranks for series in rank]
    first = first_series(run)
    return ranked or ([] if first is None else [first])


def _point_at(run: StepRun, series: Series, newest: Point) -> Point | None:
    """Return the point of a series at the place of the newest one, or the last one measured there before."""
    coordinates = {name: value for name, value in newest.at.items() if name not in ("direction", "stream")}
    found = [
        point
        for point in run.points.values()
        if point.series == series.name and coordinates.items() <= point.at.items()
    ]
    return found[-1] if found else None


def _tile(series: Series, point: Point) -> tuple[str, str]:
    value = point.value
    if value is None:
        return _name(series), "–"
    if series.unit == "1/s":
        return _name(series), format_count(value, "")
    return _name(series), format_value(value, series.unit)


def _name(series: Series) -> str:
    if series.statistic:
        return series.statistic
    words = series.short_title.split()
    acronym = next((word for word in words if word.isupper()), "")
    return series.short_title if len(series.short_title) <= _LONGEST_NAME else acronym or words[0]


def _pieces(points: Sequence[Point], now_ns: int, pieces: int) -> tuple[float | None, ...]:
    width = RECENT_SECONDS * 1e9 / max(pieces, 1)
    since = now_ns - RECENT_SECONDS * 1e9
    sums, counts = [0.0] * pieces, [0] * pieces
    for point in points:
        if not point.t_ns or point.t_ns[-1] < since:
            continue
        for at, value in zip(reversed(point.t_ns), reversed(point.values), strict=False):
            if at < since:
                break
            index = min(int((at - since) / width), pieces - 1)
            sums[index] += value
            counts[index] += 1
    return tuple(total / count if count else None for total, count in zip(sums, counts, strict=True))
