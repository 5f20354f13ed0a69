"""The samples of a point: over time, as a histogram and as a CDF."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from sizeup.charts.axes import labeled, linear_step
from sizeup.charts.chart import Axis, Bar, BarChart, ChartPoint, Line, LineChart
from sizeup.model.plan import Series
from sizeup.model.sample import Disturbance
from sizeup.session.value import Point as LoggedPoint
from sizeup.session.value import PointKey, StepRun
from sizeup.units import as_percent, format_value
from sizeup.views.run.points import (
    MOST_LINES,
    along,
    common_title,
    family,
    first_series,
    format_coordinate,
    sampled_points,
    value_scale,
)
from sizeup.views.run.results import coordinates_text

_PIECES = 120
"""Of a time axis: more could not be distinguished on a screen."""
_RANGES = 16
_TAILED_FROM = 4.0
"""Ranges of equal width would put nearly all of such samples into the first."""
_MOST_SAMPLES = 20_000
"""Of one line; of more every second, third and so on is drawn."""


def over_time(run: StepRun) -> LineChart | None:
    """The samples as they came, each point by itself; None without any."""
    shown = [series for series in run.series.values() if sampled_points(run, series)][:1]
    if not shown:
        return None
    groups = _by_point(run, shown[0])
    end_ns = max(point.t_ns[-1] for point in groups.values()) - run.started_ns
    high = max(run.step.estimated_seconds * 1e9, 1.0)
    while high < end_ns:
        high *= 1.5
    return _timed(run, shown, groups, (0.0, high if run.outcome is None else end_ns))


def _timed(
    run: StepRun, shown: Sequence[Series], groups: Mapping[str, LoggedPoint], ends_ns: tuple[float, float]
) -> LineChart:
    """Warm-up is left out; a piece of time of which most samples were disturbed is marked so."""
    low, high = ends_ns
    width = max(high - low, 1.0) / _PIECES
    lines = tuple(Line(label, _in_pieces(point, run.started_ns, width)) for label, point in groups.items())
    ys = [point.y for line in lines for point in line.points]
    return LineChart(
        f"{run.step.title}: over time",
        Axis("Time since the step began", "ns", low=low, high=high),
        Axis(common_title(shown), shown[0].unit, value_scale(ys)),
        tuple(line for line in lines if line.points),
        caption=f"{run.step.title}: medians of {format_value(width, 'ns')} each.",
    )


def _by_point(run: StepRun, series: Series) -> Mapping[str, LoggedPoint]:
    """One line for each point, of many some from end to end."""
    points = along(sampled_points(run, series), series)
    if len(points) > MOST_LINES:
        points = [points[round(index * (len(points) - 1) / (MOST_LINES - 1))] for index in range(MOST_LINES)]
    return {coordinates_text(point.at, series) or series.title: point for point in points}


def _in_pieces(point: LoggedPoint, started_ns: int, width: float) -> tuple[ChartPoint, ...]:
    from statistics import median  # costs every start otherwise

    pieces: dict[int, list[float]] = {}
    disturbed: dict[int, int] = {}
    stride = len(point.values) // _MOST_SAMPLES + 1
    flags = point.flags or bytes(len(point.values))
    for t_ns, value, flag in zip(point.t_ns[::stride], point.values[::stride], flags[::stride], strict=False):
        if flag & Disturbance.WARMUP:
            continue
        piece = int((t_ns - started_ns) / width)
        pieces.setdefault(piece, []).append(value)
        if flag:
            disturbed[piece] = disturbed.get(piece, 0) + 1
    return tuple(
        ChartPoint((piece + 0.5) * width, median(values), disturbed=disturbed.get(piece, 0) * 2 > len(values))
        for piece, values in sorted(pieces.items())
    )


Underlying = Sequence[tuple[Series, LoggedPoint]]
"""The points that one point rests on, each with its series."""


def underlying_points(run: StepRun, key: PointKey) -> Underlying:
    """The sampled points that one point rests on: itself and its percentiles, else what is alike at its place.

    ``matrix-latency`` at 4 small and 1 large requests rests on each ``latency`` there. None where the probe kept none.
    """
    series, own = run.series.get(key[0]), run.points.get(key)
    if series is None or own is None or not own.at:
        return []
    names = {family(series)[0], series.samples}
    found = [
        (other, point)
        for other in run.series.values()
        if other.unit == series.unit and family(other)[0] in names
        for point in sampled_points(run, other)
        if own.at.items() <= point.at.items()
    ]
    return sorted(found, key=lambda pair: pair[1] is not own)


def underlying_histograms(found: Underlying) -> list[tuple[str, BarChart]]:
    """How the samples behind a point are spread, one picture for each series and place, with its name."""
    return [(label, _spread_of(label, *pair)) for label, pair in zip(_labels(found), found, strict=True)]


def underlying_cdfs(found: Underlying) -> LineChart:
    """The share of the samples behind a point that lies at or below each value."""
    shown = [series for series, _ in found[:MOST_LINES]]
    return _shares_of(_groups(found), shown, coordinates_text(found[0][1].at, shown[0]))


def underlying_time_series(run: StepRun, found: Underlying) -> LineChart:
    """The samples behind a point as they came."""
    shown = found[:MOST_LINES]
    ends = [t_ns - run.started_ns for _, point in shown for t_ns in (point.t_ns[0], point.t_ns[-1])]
    return _timed(run, [series for series, _ in shown], _groups(found), (min(ends), max(ends)))


def _groups(found: Underlying) -> dict[str, LoggedPoint]:
    shown = found[:MOST_LINES]
    return {label: point for label, (_, point) in zip(_labels(shown), shown, strict=True)}


def _labels(found: Underlying) -> list[str]:
    """What distinguishes the points behind one: the series, and the coordinates in which they differ."""
    same = set.intersection(*(set(point.at.items()) for _, point in found)) if found else set()
    return [
        ", ".join(
            [one.title, *(format_coordinate(name, at) for name, at in point.at.items() if (name, at) not in same)]
        )
        for one, point in found
    ]


def subject(run: StepRun) -> tuple[Series, LoggedPoint] | None:
    """The point that a distribution is shown of: while the step runs the newest, then the farthest along its axis."""
    first = first_series(run)
    known = [] if first is None else [first, *run.series.values()]
    series = next((one for one in known if sampled_points(run, one)), None)
    if series is None:
        return None
    points = sampled_points(run, series)
    newest = max(points, key=lambda point: point.t_ns[-1])
    return series, newest if run.outcome is None else along(points, series)[-1]


def distribution_of(run: StepRun) -> BarChart | None:
    """How the samples of one point are spread; None where the step has no samples."""
    found = subject(run)
    return None if found is None else _spread_of(f"{run.step.title}: distribution", *found)


def _spread_of(title: str, series: Series, point: LoggedPoint) -> BarChart:
    disturbed = sum(1 for flag in point.flags if flag and not flag & Disturbance.WARMUP)
    return distribution(title, series.unit, _settled(point), coordinates_text(point.at, series), disturbed)


def cumulative_of(run: StepRun) -> LineChart | None:
    """The share of the samples at or below each value, a line for each point; None where there are no samples."""
    found = subject(run)
    return None if found is None else _shares_of(_by_point(run, found[0]), [found[0]], run.step.title)


def _shares_of(groups: Mapping[str, LoggedPoint], shown: Sequence[Series], where: str) -> LineChart:
    ordered = {label: sorted(_settled(point)) for label, point in groups.items()}
    every = [value for values in ordered.values() for value in values]
    return LineChart(
        f"{where}: CDF",
        Axis(common_title(shown), shown[0].unit, value_scale(every)),
        Axis("Samples at or below", "share", low=0.0, high=1.0),
        tuple(Line(label, _shares(values)) for label, values in ordered.items() if values),
        caption=f"{len(every)} samples.",
    )


def _settled(point: LoggedPoint) -> list[float]:
    """The samples of a point without its warm-up."""
    flags = point.flags or bytes(len(point.values))
    return [value for value, flag in zip(point.values, flags, strict=False) if not flag & Disturbance.WARMUP]


def _shares(ordered: Sequence[float]) -> tuple[ChartPoint, ...]:
    step = max(len(ordered) // 100, 1)
    indexes = [*range(0, len(ordered) - 1, step), len(ordered) - 1]
    return tuple(ChartPoint(ordered[index], (index + 1) / len(ordered)) for index in indexes)


def distribution(title: str, unit: str, values: Sequence[float], where: str = "", disturbed: int = 0) -> BarChart:
    """How many of ``values`` fall in each of a few ranges, equal in ratio where they span much."""
    from statistics import median  # costs every start otherwise

    if not values:
        return BarChart(title, Axis("Samples", "1"), (), "no samples yet")
    edges = _edges(min(values), max(values), max(min(_RANGES, round(math.sqrt(len(values)))), 1))
    tallies = [0] * (len(edges) - 1)
    for value in values:
        tallies[min(max(bisect_right(edges, value) - 1, 0), len(tallies) - 1)] += 1
    ticks, shared = labeled(edges, unit)
    bars = tuple(
        Bar(f"{low.label} to {high.label} {shared}".rstrip(), tally, note=f"({as_percent(tally / len(values), '.1f')})")
        for low, high, tally in zip(ticks, ticks[1:], tallies, strict=False)
    )
    middle = format_value(median(values), unit)
    caveat = f", ! {disturbed} of them disturbed" if disturbed else ""
    caption = f"{f'At {where}: ' if where else ''}{len(values)} samples{caveat}, median {middle}."
    return BarChart(title, Axis("Samples", "1"), bars, caption)


def _edges(low: float, high: float, count: int) -> list[float]:
    """Round numbers around the values, or equal ratios where they span much."""
    if high <= low:
        return [low, low + (abs(low) * 0.01 or 1.0)]
    if low > 0 and high / low >= _TAILED_FROM:
        ratio = math.log(high / low) / count
        return [float(f"{low * math.exp(ratio * index):.3g}") for index in range(count + 1)]
    step = linear_step((high - low) / count, binary=False)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]
