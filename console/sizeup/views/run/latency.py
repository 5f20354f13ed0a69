"""The latency of a step: over time, as a histogram, and as percentiles with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from sizeup.charts.chart import Axis, Bar, BarChart, Scale
from sizeup.charts.latency_cells import Histogram, LatencySlice, Timeline
from sizeup.model.plan import Series
from sizeup.session.value import Point, StepRun, point_key
from sizeup.units import format_value
from sizeup.views.run.latency_throughput import throughput_series
from sizeup.views.run.points import common_title, family, points_of, sampled_points
from sizeup.views.run.step_badge import short_axis

STATISTICS = ("p50", "p90", "p99", "p999")
"""The percentiles of each slice of time, those of ``charts.latency_cells.SHARES``."""
HISTOGRAM = "histogram"
"""Key in the ``extra`` of the mean of a latency: the middle of each bucket in nanoseconds, and its count."""
_BUCKET = 1.045
"""About the ratio of the ends of a bucket that is recorded: there are 16 an octave."""
_GROWTH = 1.25
_TAIL = (("min", "minimum_ns", 0.0), ("p99.99", "p99_99_ns", 0.9999), ("max", "maximum_ns", 1.0))
_SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
_APART = 5
_LEAST_BEYOND = 6
"""Values that must lie beyond a percentile for its interval to be known."""


def latency_family(run: StepRun) -> list[Series]:
    """Return the percentiles of the first latency that has all of ``STATISTICS``; empty without such a one."""
    for first in run.series.values():
        alike = {one.statistic: one for one in run.series.values() if family(one) == family(first)}
        if first.statistic and alike.keys() >= set(STATISTICS) and points_of(run, first.name):
            return [alike[statistic] for statistic in STATISTICS]
    return []


def timeline(run: StepRun) -> Timeline | None:
    """Return throughput and latency over time; None where the step did not sample its percentiles."""
    found = latency_family(run)
    points = sampled_points(run, found[0]) if found else []
    points = [point for point in points if point.at.get("direction") == points[0].at.get("direction")]
    if not points:
        return None
    began = min(point.t_ns[0] for point in points)
    slices, loads = [], []
    for point in points:
        others = [run.points.get(point_key(series.name, point.at)) for series in found]
        columns = [other.values for other in others if other is not None]
        if len(columns) < len(found):
            continue
        load = point.at.get(found[0].axis or "")
        for t_ns, *values in zip(point.t_ns, *columns, strict=False):
            slices.append(LatencySlice(t_ns - began, tuple(values)))
            loads.append((t_ns - began, load))
    loads.sort(key=lambda pair: pair[0])
    marks = [next(same) for _, same in groupby(loads, key=lambda pair: pair[1])]
    rate = throughput_series(run)
    rated = [] if rate is None else sampled_points(run, rate)
    rates = [pair for point in rated for pair in zip(point.t_ns, point.values, strict=False)]
    last_ns = loads[-1][0] if loads else 1.0
    end_ns = max(run.step.estimated_seconds * 1e9 - (began - run.started_ns), 1e9)
    while end_ns < last_ns:
        end_ns *= _GROWTH
    numbers = ((t_ns, load) for t_ns, load in marks if isinstance(load, int | float))
    return Timeline(
        end_ns if run.outcome is None else max(last_ns, 1.0),
        tuple(slices),
        None if rate is None else Axis(rate.title, rate.unit),
        tuple((t_ns - began, value) for t_ns, value in rates),
        "QD" if found[0].axis == "queue_depth" else "",
        tuple((t_ns, format_value(load, found[0].axis_unit or "1")) for t_ns, load in numbers),
    )


def has_one_load(run: StepRun) -> bool:
    """Whether a latency was measured at one load only: there is no curve to be seen."""
    found = latency_family(run)[:1]
    return len({point.at.get(found[0].axis or "") for point in points_of(run, found[0].name)}) == 1 if found else False


def latency_point(run: StepRun) -> dict[str, Point]:
    """Return the points of a latency at one load by statistic: of the newest while it runs, then of the last load."""
    first = next((one for one in latency_family(run) if points_of(run, one.name)), None)
    if first is None:
        return {}
    found = {one.statistic: one for one in run.series.values() if family(one) == family(first)}
    place = points_of(run, first.name)[-1].at
    points = {statistic: run.points.get(point_key(series.name, place)) for statistic, series in found.items()}
    return {statistic: point for statistic, point in points.items() if point is not None}


def histogram(run: StepRun) -> Histogram | None:
    """Return how the latency of one load is spread, of every request; None where the probe recorded no histogram."""
    points = latency_point(run)
    counts = recorded_counts(points["mean"]) if "mean" in points else ()
    if not counts:
        return None
    named = [(_title(name), point.value) for name, point in points.items() if name in ("p50", "p99", "p999")]
    axis = Axis(f"{common_title(latency_family(run))}{_load_text(run)}", "ns")
    return Histogram(axis, counts, _BUCKET, tuple((name, value) for name, value in named if value))


def recorded_counts(point: Point) -> tuple[tuple[float, int], ...]:
    """Return the histogram that a point was recorded with, rising; empty where it has none."""
    text = "" if point.estimate is None else str(point.estimate.extra.get(HISTOGRAM, ""))
    pairs = [pair.partition(":")[::2] for pair in text.split()]
    found = [(float(ns), int(count)) for ns, count in pairs if ns.isdecimal() and count.isdecimal()]
    return tuple(sorted((ns, count) for ns, count in found if ns and count))


def percentiles(run: StepRun) -> BarChart:
    """Return the percentiles of one load from the least to the largest, with the 95 % interval of each by rank."""
    points = latency_point(run)
    counts = recorded_counts(points["mean"]) if "mean" in points else ()
    extra = next((point.estimate.extra for name, point in points.items() if point.estimate and name != "mean"), {})
    found = [(_title(name), points[name].value, share) for name, share in _SHARES.items() if name in points]
    total = sum(count for _, count in counts)
    for name, key, share in _TAIL:
        rare = 0 < share < 1 and (1 - share) * total < _LEAST_BEYOND  # too few values lie beyond it to tell it
        if isinstance(end := extra.get(key), int | float) and not rare:
            found.append((name, float(end), share))
    bars = []
    for name, value, share in found:
        low = high = None
        if min(share, 1 - share) * total >= _LEAST_BEYOND:  # by rank, taking requests as independent
            spread = 1.96 * math.sqrt(total * share * (1 - share))
            low, high = _at_rank(counts, total * share - spread), _at_rank(counts, total * share + spread)
        within = f"too few of {total:,} to tell" if total and 0 < share < 1 else ""
        within = within if low is None or high is None else f"±{format_value((high - low) / 2, 'ns')}"
        bars += [Bar(name, value, low, high, within)] if value else []
    axis = Axis(f"Latency{_load_text(run)}", "ns", Scale.LOG10, min((bar.value for bar in bars), default=1.0) / 2)
    return BarChart("", axis, tuple(sorted(bars, key=lambda bar: bar.value)), apart=_APART)


def _at_rank(counts: Sequence[tuple[float, int]], rank: float) -> float:
    """Return the value of a rank, within its bucket by the share of it that lies below."""
    for value, count in counts:
        if rank <= count:
            return value * float(_BUCKET ** (rank / count - 0.5))
        rank -= count
    return counts[-1][0]


def _load_text(run: StepRun) -> str:
    """Return the load that a spread is of, as the step has figures of others, too: `` at QD 64``; empty for none."""
    first = next(iter(latency_family(run)), None)
    load = None if first is None else points_of(run, first.name)[-1].at.get(first.axis or "")
    if first is None or not isinstance(load, int | float):
        return ""
    return f" at {short_axis(first)} {format_value(load, first.axis_unit or '1')}"


def _title(statistic: str) -> str:
    return "p99.9" if statistic == "p999" else statistic
