"""One step of a session as a chart, the kind of which its manifest chose."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.plan import Series
from sizeup.model.sample import Estimate
from sizeup.model.topology import CacheKind
from sizeup.session.log import Point as LoggedPoint
from sizeup.session.log import Session, StepRun
from sizeup.units import format_bytes, format_value
from sizeup.views.chart import (
    Axis,
    Bar,
    BarChart,
    Boundary,
    Chart,
    HeatMap,
    Line,
    LineChart,
    Point,
    Scale,
)
from sizeup.views.results import place

_WORKING_SET = "working_set_bytes"
_LOGARITHMIC_FROM = 16.0
"""A span of this factor or more is drawn on a logarithmic axis."""


def step_chart(run: StepRun, machine: Machine | None) -> Chart:
    """What a step measured, by the kind of chart its probe asked for."""
    draw: Callable[[StepRun, Machine | None], Chart] = {
        "curve": curve,
        "scaling": curve,
        "matrix": matrix,
        "histogram": histogram,
    }.get(run.chart, bars)
    return draw(run, machine)


def curve(run: StepRun, machine: Machine | None) -> LineChart | BarChart:
    """A line per series and setting over the axis that the series names; bars where none names one."""
    axes = [series for series in run.series.values() if series.axis is not None]
    if not axes:
        return bars(run, machine)
    # Series in another unit would need an axis of their own; the table has them.
    first = next(
        (series for series in axes if any(point.series == series.name for point in run.points.values())), axes[0]
    )
    shown = [series for series in axes if (series.unit, series.axis) == (first.unit, first.axis)]
    lines = [
        Line(label, tuple(sorted(points, key=lambda point: point.x)))
        for series in shown
        for label, points in _grouped(series, _points_of(run, series.name))
        if points
    ]
    xs = [point.x for line in lines for point in line.points]
    ys = [point.y for line in lines for point in line.points]
    x_axis = _x_axis(run, first, xs)
    scaling = run.chart == "scaling"
    y_axis = Axis(_common_title(shown), first.unit, Scale.LINEAR if scaling else _y_scale(ys), 0.0 if scaling else None)
    if y_axis.scale is Scale.LOG10:
        ends = [end for line in lines for point in line.points for end in (point.low, point.high) if end is not None]
        low, high = _round_ends([*ys, *(end for end in ends if end > 0)])
        y_axis = replace(y_axis, low=low, high=high)
    boundaries = _cache_boundaries(machine) if first.axis == _WORKING_SET and machine is not None else ()
    return LineChart(run.step.title, x_axis, y_axis, tuple(lines), boundaries, _caption(run, len(xs)))


def matrix(run: StepRun, machine: Machine | None) -> HeatMap | BarChart:
    """Two coordinates across each other, the value in each cell; bars where points have no two coordinates."""
    series = _first_series(run)
    points = [point for point in _points_of(run, series.name) if len(point.at) >= 2] if series is not None else []
    if series is None or not points:
        return bars(run, machine)
    row_key, column_key = list(points[0].at)[:2]
    rows = sorted({point.at[row_key] for point in points}, key=_order)
    columns = sorted({point.at[column_key] for point in points}, key=_order)
    cells = {(point.at[row_key], point.at[column_key]): _value(point) for point in points if row_key in point.at}
    return HeatMap(
        run.step.title,
        _words(row_key),
        _words(column_key),
        tuple(map(str, rows)),
        tuple(map(str, columns)),
        tuple(tuple(cells.get((row, column)) for column in columns) for row in rows),
        series.unit,
        _caption(run, len(points)),
    )


def bars(run: StepRun, machine: Machine | None) -> BarChart:
    """A bar per point, all of the unit of the first series."""
    del machine
    series = _first_series(run)
    unit = series.unit if series is not None else "1"
    title = series.title if series is not None else run.step.title
    measured = [
        (point, run.series[point.series], value)
        for point in run.points.values()
        if point.series in run.series and run.series[point.series].unit == unit and (value := _value(point)) is not None
    ]
    places = [", ".join(_coordinate(key, value) for key, value in point.at.items()) for point, _, _ in measured]
    # The coordinates alone tell bars apart, unless several series lie at the same place.
    told_apart = all(places) and len(set(places)) == len(places)
    shown = [
        Bar(where if told_apart else f"{described.title} {where}".rstrip(), value, *_interval(point), _bar_note(point))
        for (point, described, value), where in zip(measured, places, strict=True)
    ]
    if told_apart and len({described.name for _, described, _ in measured}) > 1:
        title = _common_title([described for _, described, _ in measured])
    return BarChart(run.step.title, Axis(title, unit), tuple(shown), _caption(run, len(shown)))


def histogram(run: StepRun, machine: Machine | None) -> BarChart:
    """How often each range of values occurred, over all points of the first series that has samples."""
    series = _first_series(run)
    values = [
        value for point in run.points.values() if series and point.series == series.name for value in point.values
    ]
    if series is None or not values:
        return bars(run, machine)
    return distribution(series.title, series.unit, values)


def distribution(title: str, unit: str, values: Sequence[float]) -> BarChart:
    """How many of ``values`` fall in each of at most 16 ranges, equal in ratio where they span much."""
    low, high = min(values), max(values)
    logarithmic = low > 0 and high / low >= _LOGARITHMIC_FROM
    count = max(min(16, round(math.sqrt(len(values)))), 1) if high > low else 1
    project: Callable[[float], float] = math.log if logarithmic else float
    back: Callable[[float], float] = math.exp if logarithmic else float
    width = (project(high) - project(low)) / count or 1.0
    tallies = [0] * count
    for value in values:
        tallies[min(int((project(value) - project(low)) / width), count - 1)] += 1
    edges = [back(project(low) + index * width) for index in range(count + 1)]
    bars_ = tuple(
        Bar(f"{format_value(start, unit)} to {format_value(end, unit)}", tally, note=f"({tally / len(values):.1%})")
        for start, end, tally in zip(edges, edges[1:], tallies, strict=False)
    )
    return BarChart(title, Axis("samples", "1"), bars_, f"{len(values)} samples, median {_median(values, unit)}.")


def cumulative(title: str, unit: str, values: Sequence[float]) -> LineChart:
    """The share of ``values`` at or below each value."""
    ordered = sorted(values)
    step = max(len(ordered) // 200, 1)
    points = tuple(Point(value, (index + 1) / len(ordered) * 100) for index, value in list(enumerate(ordered))[::step])
    scale = _y_scale(ordered)
    caption = f"{len(ordered)} samples, median {_median(ordered, unit)}." if ordered else ""
    return LineChart(
        title,
        Axis(title, unit, scale),
        Axis("share at or below", "%", low=0.0, high=100.0),
        (Line("share", points),),
        caption=caption,
    )


def latest_run(session: Session | None, probe: str) -> StepRun | None:
    """The last step of a probe in a session; None before the first."""
    if session is None:
        return None
    return next((run for run in reversed(session.steps.values()) if run.step.probe == probe), None)


def point_value(run: StepRun, *, placed: bool = True) -> str:
    """A step's first series in one figure; empty before there is one.

    While it runs, the newest point. Once it has ended, the point farthest along its axis, or the range over
    points that have no order, of which none may stand for the others.
    """
    series = _first_series(run)
    if series is None:
        return ""
    points = [point for point in _points_of(run, series.name) if _value(point) is not None]
    if run.outcome is not None and len(points) > 1:
        if series.axis is None:
            return _range(points, series, placed=placed)
        points.sort(key=lambda point: _along(point, str(series.axis)))
    for point in reversed(points):
        value = _value(point)
        assert value is not None
        low, high = _interval(point)
        spread = f" ±{(high - low) / 2 / abs(value):.1%}" if low is not None and high is not None and value else ""
        where = place(point.at, series) if placed else ""
        return f"{format_value(value, series.unit)}{spread}{f' at {where}' if where else ''}"
    return ""


def _along(point: LoggedPoint, axis: str) -> float:
    place_on_axis = point.at.get(axis)
    return float(place_on_axis) if isinstance(place_on_axis, int | float) else 0.0


def _range(points: Sequence[LoggedPoint], series: Series, *, placed: bool) -> str:
    values = [value for point in points if (value := _value(point)) is not None]
    over = f" over {len(values)} points" if placed else ""
    return f"{format_value(min(values), series.unit)} to {format_value(max(values), series.unit)}{over}"


def _median(values: Sequence[float], unit: str) -> str:
    return format_value(statistics.median(values), unit)


def _points_of(run: StepRun, series: str) -> list[LoggedPoint]:
    return [point for point in run.points.values() if point.series == series]


def _first_series(run: StepRun) -> Series | None:
    """The first series of the manifest that has points; the first of all before there are any."""
    measured = {point.series for point in run.points.values()}
    return next(
        (series for series in run.series.values() if series.name in measured), next(iter(run.series.values()), None)
    )


def _value(point: LoggedPoint) -> float | None:
    """The estimate; before there is one, the median of the samples; None without either."""
    if point.estimate is not None:
        return point.estimate.value
    return statistics.median(point.values) if point.values else None


def _interval(point: LoggedPoint) -> tuple[float | None, float | None]:
    estimate = point.estimate
    return (None, None) if estimate is None else (estimate.low, estimate.high)


def _is_disturbed(estimate: Estimate | None) -> bool:
    return estimate is not None and (estimate.disturbed_share or 0.0) > 0.5


def _bar_note(point: LoggedPoint) -> str:
    estimate = point.estimate
    if estimate is None:
        return f"median of {len(point.values)}"
    if _is_disturbed(estimate):
        return "disturbed"
    return "not converged" if estimate.converged is False else ""


def _grouped(series: Series, points: Iterable[LoggedPoint]) -> list[tuple[str, list[Point]]]:
    """The points of a series by what else tells them apart; each group's label says what."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        x, value = point.at.get(series.axis or ""), _value(point)
        if value is None or isinstance(x, str) or x is None:
            continue
        others = ", ".join(_coordinate(key, other) for key, other in sorted(point.at.items()) if key != series.axis)
        low, high = _interval(point)
        groups.setdefault(others, []).append(Point(float(x), value, low, high, _is_disturbed(point.estimate)))
    return [(f"{series.title} {others}".rstrip(), found) for others, found in groups.items()]


def _common_title(shown: Sequence[Series]) -> str:
    """The title of the only series; of several, what they are all measured in."""
    if len(shown) == 1:
        return shown[0].title
    return {"ns": "Time", "bytes/s": "Throughput", "1/s": "Rate", "bytes": "Size"}.get(shown[0].unit, "Value")


def _x_axis(run: StepRun, series: Series, xs: Sequence[float]) -> Axis:
    """The axis that a series names; while the step runs as long as its plan says it may become."""
    reach = run.step.reach.get(series.axis or "", ())
    known = [*xs, *reach]
    spans = bool(known) and min(known) > 0 and max(known) / min(known) >= _LOGARITHMIC_FROM
    scale = Scale.LOG2 if series.axis_unit == "bytes" or spans else Scale.LINEAR
    axis = Axis(series.axis_title or _words(series.axis or ""), series.axis_unit or "1", scale)
    return replace(axis, low=min(known), high=max(known)) if reach and run.outcome is None else axis


def _y_scale(ys: Sequence[float]) -> Scale:
    spans = bool(ys) and min(ys) > 0 and max(ys) / min(ys) >= _LOGARITHMIC_FROM
    return Scale.LOG10 if spans else Scale.LINEAR


def _round_ends(values: Sequence[float]) -> tuple[float, float]:
    """The nearest 1, 2 or 5 times a power of ten outside the values.

    Ends at the values themselves would move with every sample, and the whole picture with them.
    """
    steps = [factor * 10.0**exponent for exponent in range(-12, 19) for factor in (1, 2, 5)]
    low = max((step for step in steps if step <= min(values)), default=min(values))
    high = min((step for step in steps if step >= max(values)), default=max(values))
    return low, high


def _cache_boundaries(machine: Machine) -> tuple[Boundary, ...]:
    """Where a working set outgrows each level; of unequal caches of one level the largest."""
    sizes: dict[int, int] = {}
    for cache in machine.caches:
        if cache.kind is not CacheKind.INSTRUCTION and cache.size_bytes is not None:
            sizes[cache.level] = max(sizes.get(cache.level, 0), cache.size_bytes)
    return tuple(Boundary(size, f"L{level} {format_bytes(size)}") for level, size in sorted(sizes.items()))


_UNIT_SUFFIXES: Mapping[str, str] = {"_bytes": "bytes", "_ns": "ns", "_hz": "Hz"}


def _coordinate(key: str, value: str | int | float) -> str:
    """A coordinate in words: ``cpu node 1``, ``block 8 KiB``; text stands for itself."""
    if isinstance(value, str):
        return value
    for suffix, unit in _UNIT_SUFFIXES.items():
        if key.endswith(suffix):
            return f"{_words(key.removesuffix(suffix))} {format_value(value, unit)}"
    return f"{_words(key)} {format_value(value, '1')}"


def _words(key: str) -> str:
    return key.replace("_", " ")


def _order(value: str | int | float) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _caption(run: StepRun, points: int) -> str:
    if not points:
        return run.progress.doing if run.progress is not None and run.progress.doing else "waiting for the first sample"
    return f"{run.step.title}: {points} point{'' if points == 1 else 's'}."
