"""What more load costs: latency against throughput, each point named by the load that was offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizeup.charts.chart import Axis, Boundary, ChartPoint, Line, LineChart
from sizeup.model.plan import Better, Series
from sizeup.session.value import StepRun, point_key
from sizeup.units import format_value
from sizeup.views.run.points import (
    MOST_LINES,
    RATES,
    beside_axis,
    common_name,
    common_title,
    family,
    interval_of,
    is_disturbed,
    line_of,
    points_of,
    value_scale,
)

KNEE = "load.knee"
"""The quantity that says at which load throughput stops rising as fast as it; its ``extra`` has the throughput."""
WANTED = ("p50", "p99", "mean")
"""Of a family of latencies the ones that say most, the first two that there are."""


def latency_throughput(run: StepRun, statistics: Sequence[str] = WANTED, unit: str = "") -> LineChart | None:
    """Latency over throughput as a ramp rises, with its knee; None where the step has no ramp with both.

    A throughput in ``unit`` comes before any other.
    """
    throughput = throughput_series(run, unit)
    latencies = [] if throughput is None else latency_series(run, throughput, statistics)
    if throughput is None or not latencies:
        return None
    lines = [line for series in latencies for line in _lines(run, throughput, series, latencies)][:MOST_LINES]
    if not any(len(line.points) > 1 for line in lines):
        return None
    ys = [point.y for line in lines for point in line.points]
    knees = []
    for point in run.points.values():
        declared, found = run.quantity(point), point.estimate
        at = None if found is None else found.extra.get("throughput")
        if declared is not None and declared.name == KNEE and found is not None and isinstance(at, int | float):
            knees.append(Boundary(float(at), f"knee at {format_value(found.value, throughput.axis_unit or '1')}"))
    return LineChart(
        f"{run.step.title}: latency against throughput, by {(throughput.axis_title or 'load').lower()}",
        Axis(throughput.title, throughput.unit),
        Axis(common_title(latencies), latencies[0].unit, value_scale(ys)),
        tuple(lines),
        tuple(knees),
        labels=(throughput.axis_title or "load").lower(),
        name=f"{common_name(latencies)} vs {throughput.short_title}",
    )


def throughput_series(run: StepRun, unit: str = "") -> Series | None:
    """Return the first throughput along an axis, one in ``unit`` before any other; None where the step has none."""
    rates = [one for one in run.series.values() if one.unit in RATES and one.better is Better.HIGHER]
    rates.sort(key=lambda one: one.unit != unit)
    return next((one for one in rates if one.axis is not None and points_of(run, one.name)), None)


def latency_series(run: StepRun, throughput: Series, statistics: Sequence[str] = WANTED) -> list[Series]:
    """Return the latencies along the axis of a throughput, at most two of one family."""
    found = [
        series
        for statistic in statistics
        for series in run.series.values()
        if (series.unit, series.axis) == ("ns", throughput.axis)
        and series.statistic == statistic
        and points_of(run, series.name)
    ]
    return [series for series in found if family(series) == family(found[0])][:2]


def _lines(run: StepRun, throughput: Series, latency: Series, shown: Sequence[Series]) -> Iterator[Line]:
    loads = points_of(run, throughput.name)
    groups: dict[str, list[tuple[float, ChartPoint]]] = {}
    for point in points_of(run, latency.name):
        load = next((load for load in loads if load.at.items() <= point.at.items()), None)
        offered = point.at.get(throughput.axis or "")
        x, y = None if load is None else load.value, point.value
        if load is None or x is None or y is None or not isinstance(offered, int | float):
            continue
        label = format_value(offered, throughput.axis_unit or "1")
        others = ", ".join(beside_axis(point, throughput))
        key = point_key(point.series, point.at)
        made = ChartPoint(x, y, *interval_of(point), disturbed=is_disturbed(load.estimate), label=label, key=key)
        groups.setdefault(others, []).append((float(offered), made))
    for others, points in groups.items():
        others = "" if len(groups) == 1 else others  # noqa: PLW2901  the same everywhere tells nothing apart
        rising = tuple(made for _, made in sorted(points, key=lambda pair: pair[0]))
        yield line_of(latency, others, shown, rising)
