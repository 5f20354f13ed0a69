"""A measured point as figures and words: what every picture of a step is drawn from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from sizeup.charts.chart import ChartPoint, Line, Scale
from sizeup.charts.table import UNKNOWN
from sizeup.decoding import data_beside
from sizeup.model.plan import Series
from sizeup.model.sample import Estimate
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point as LoggedPoint
from sizeup.session.value import StepRun
from sizeup.units import format_range, format_value

RANGE_CAUSE = "range_cause"
"""Key in an estimate's ``extra``: why it has no single value."""
RATES = ("1/s", "bytes/s")
"""Units of rates: an interval over few runs may be computed to reach below nothing."""
MOST_LINES = 6
"""As many as markers, dashes and colors distinguish."""
LOGARITHMIC_FROM = 16.0
"""A span of this factor or more is drawn on a logarithmic axis."""


def points_of(run: StepRun, series: str) -> list[LoggedPoint]:
    """The points of one series, in the order in which they were first measured."""
    return [point for point in run.points.values() if point.series == series]


def sampled_points(run: StepRun, series: Series) -> list[LoggedPoint]:
    """The points of one series that have samples."""
    return [point for point in points_of(run, series.name) if point.values]


def along(points: Iterable[LoggedPoint], series: Series) -> list[LoggedPoint]:
    """Points in the order in which they lie on the axis of their series."""

    def position(point: LoggedPoint) -> float:
        at = point.at.get(series.axis or "")
        return float(at) if isinstance(at, int | float) else 0.0

    return sorted(points, key=position)


def largest(run: StepRun, unit: str) -> tuple[str, str, LoggedPoint] | None:
    """Return the value of the point farthest along an axis of the step, where it lies, and the point."""
    for series in run.series.values():
        points = along([one for one in points_of(run, series.name) if one.value is not None], series)
        where = points[-1].at.get(series.axis or "") if points and series.unit == unit else None
        if isinstance(where, int | float):
            return format_value(points[-1].value or 0.0, unit), format_value(where, series.axis_unit or "1"), points[-1]
    return None


def first_series(run: StepRun) -> Series | None:
    """The first series of the manifest that has points; the first of all before there are any."""
    measured = {point.series for point in run.points.values()}
    return next(
        (series for series in run.series.values() if series.name in measured), next(iter(run.series.values()), None)
    )


def on_axis(run: StepRun, point: LoggedPoint) -> bool:
    """Whether a point lies on the axis that its series names."""
    series = run.series.get(point.series)
    return series is not None and series.axis is not None and isinstance(point.at.get(series.axis), int | float)


def laid_out(run: StepRun) -> StepRun:
    """The step with each series along what its points differ in, where that is one number other than its axis."""
    numbers: dict[str, dict[str, set[float]]] = {}
    for point in run.points.values():
        for key, value in point.at.items():
            if not isinstance(value, str):
                numbers.setdefault(point.series, {}).setdefault(key, set()).add(value)
    titles = {series.axis: series.axis_title for series in run.series.values()}
    described = dict(run.series)
    for name, series in run.series.items():
        differ = [key for key, values in numbers.get(name, {}).items() if len(values) > 1]
        if series.axis and len(differ) == 1 and differ != [series.axis]:
            name_of_axis, unit = name_and_unit(differ[0])
            title = titles.get(differ[0]) or name_of_axis.capitalize()
            described[name] = replace(series, axis=differ[0], axis_unit=unit, axis_title=title, boundaries="")
    return replace(run, series=described)


def interval_of(
    point: LoggedPoint, unit: str = "", validity: StepValidity | None = None
) -> tuple[float | None, float | None]:
    """The 95 % interval, of a rate from nothing on, or what stands for it; None twice before there is one."""
    estimate = point.estimate
    if estimate is None:
        return None, None
    if validity is not None and (seen := validity.seen(point)):
        return seen
    low = max(0.0, estimate.low) if estimate.low is not None and unit in RATES else estimate.low
    return low, estimate.high


def is_range(point: LoggedPoint) -> bool:
    """Whether a figure has no single value: its ends are its lowest and its highest."""
    estimate = point.estimate
    return (
        estimate is not None
        and RANGE_CAUSE in estimate.extra
        and estimate.low is not None
        and estimate.high is not None
    )


def figure_text(point: LoggedPoint, unit: str) -> str:
    """Return the value, both ends where it is a range, or the sign of the unknown."""
    low, high = interval_of(point)
    if is_range(point) and low is not None and high is not None:
        return format_range(low, high, unit)
    value = point.value
    return UNKNOWN if value is None else format_value(value, unit)


def half_share(point: LoggedPoint) -> float | None:
    """Half of the 95 % interval as a share of the value; None before there is one, and of a range."""
    if is_range(point):
        return None
    low, high = interval_of(point)
    value = point.value
    return (high - low) / 2 / abs(value) if low is not None and high is not None and value else None


def half_width(point: LoggedPoint) -> str:
    """Half of the 95 % interval in percent, rounded up from 0.0, no more than that it is wider than the value."""
    half = half_share(point)
    return "" if half is None else ">100 %" if half > 1 else f"{max(half * 100, 0.1):.1f} %"


def is_disturbed(estimate: Estimate | None) -> bool:
    """Whether most of the samples of a point were."""
    return estimate is not None and (estimate.disturbed_share or 0.0) > 0.5


def common_title(shown: Sequence[Series]) -> str:
    """The title of the only series; of several what their titles begin with, or what they are all measured in."""
    if len(shown) == 1:
        return shown[0].title
    begins = {series.title_parts[0] for series in shown}
    if len(begins) == 1:
        return begins.pop()
    return {"ns": "Time", "bytes/s": "Throughput", "1/s": "Rate", "bytes": "Size"}.get(shown[0].unit, shown[0].title)


def family(series: Series) -> tuple[str, str, str | None]:
    """Return what series have in common that share a chart, such as two percentiles of one latency."""
    return series.family or series.name, series.unit, series.axis


def common_name(shown: Sequence[Series]) -> str:
    """The same in a word or two."""
    return shown[0].short_title if len({series.title_parts[0] for series in shown}) == 1 else common_title(shown)


def line_of(series: Series, others: str, shown: Sequence[Series], points: Iterable[ChartPoint]) -> Line:
    """Return a line with what distinguishes it: its title without the words that all share, and its place."""
    alike = len(shown) > 1 and len({other.title_parts[0] for other in shown}) == 1
    title = (series.title_parts[1] if alike else "") or series.title
    return Line(f"{title} {others}".rstrip(), tuple(points), title, others)


def value_scale(ys: Sequence[float]) -> Scale:
    """Logarithmic where the values span much and none is below zero."""
    spans = bool(ys) and min(ys) > 0 and max(ys) / min(ys) >= LOGARITHMIC_FROM
    return Scale.LOG10 if spans else Scale.LINEAR


_UNIT_SUFFIXES: Mapping[str, str] = {"_bytes": "bytes", "_ns": "ns", "_hz": "Hz"}
_NAMED: Mapping[str, Mapping[str, str]] = data_beside(__file__, "coordinates.toml", dict[str, dict[str, str]])
"""Coordinates whose text is a name of the program, in words."""


def coordinate_words(key: str, value: str) -> str:
    """Return a coordinate that is a text as people call it: ``random read 8 KiB`` of the workload ``oltp-read``."""
    if value in (named := _NAMED.get(key, {})):
        return named[value]
    patterns = _NAMED.get(f"{key}-pattern", {})
    found = ((words, re.fullmatch(pattern, value)) for pattern, words in patterns.items())
    return next((match.expand(words) for words, match in found if match), value)


def format_coordinate(key: str, value: str | int | float) -> str:
    """A coordinate in words: ``cpu node 1``, ``block 8 KiB``, ``random read 8 KiB``; other text stands for itself."""
    if isinstance(value, str):
        return coordinate_words(key, value)
    name, unit = name_and_unit(key)
    return f"{name} {format_value(value, unit)}"


def beside_axis(point: LoggedPoint, series: Series | None) -> tuple[str, ...]:
    """Return the coordinates of a point beside the axis of its series, in words."""
    axis = None if series is None else series.axis
    return tuple(format_coordinate(key, value) for key, value in sorted(point.at.items()) if key != axis)


def name_and_unit(key: str) -> tuple[str, str]:
    """Return the name of a coordinate as people write it, without the unit that its key ends with, and that unit."""
    suffix = next((suffix for suffix in _UNIT_SUFFIXES if key.endswith(suffix)), "")
    return point_text(key.removesuffix(suffix)), _UNIT_SUFFIXES.get(suffix, "1")


def point_text(key: str) -> str:
    """A coordinate's name as people write it."""
    return key.replace("_", " ")
