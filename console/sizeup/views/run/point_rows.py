"""The points of a step as a table for comparing: a row for each measurement, a column for each series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from sizeup.model.plan import Series
from sizeup.session.validity import MeasurementKey, StepValidity, measurement_key
from sizeup.session.value import Point, StepRun
from sizeup.text import capitalized
from sizeup.units import format_value
from sizeup.views.run.points import (
    RATES,
    coordinate_words,
    figure_text,
    half_share,
    half_width,
    is_disturbed,
    name_and_unit,
    on_axis,
    point_text,
)
from sizeup.views.run.results import coordinates_text, stated_once, without_figures
from sizeup.views.run.step_badge import axis_name, headline_point

_FIRST = ("p50", "p99")
"""Of a family of percentiles those that stand before the interval and the flag."""
_LEADING = 4


class RowCell(Struct, frozen=True):
    """A finished text with what it is sorted by."""

    text: str
    order: float | str

    @property
    def sort_key(self) -> tuple[bool, float, str]:
        """Numbers before words."""
        is_word = isinstance(self.order, str)
        return is_word, 0.0 if is_word else float(self.order), str(self.order) if is_word else ""


class PointRows(Struct, frozen=True):
    """A table of measurements with what does not fit its columns."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[RowCell, ...], ...]
    figures: tuple[tuple[str, str], ...] = ()
    """Figures of the whole step, such as the queue depth at the knee."""
    notes: tuple[str, ...] = ()
    """What the numbers in the column of flags stand for."""
    heads: Mapping[str, str] = {}
    """Short names of the columns of percentiles that lead, the last with the unit that several have."""


class _Source(Struct, frozen=True):
    """The points of one column: a series, and which part of each measurement."""

    series: Series
    part: str
    points: Mapping[MeasurementKey, Point]


_Column = tuple[str, bool, Callable[[MeasurementKey], RowCell]]
"""The title of a column, whether it holds numbers, and what makes its cell of a measurement."""


def point_rows(run: StepRun) -> PointRows:
    """Return the points of a step by measurement; verdicts stand with the validity and are left out."""
    validity = StepValidity(run)
    points = [
        point
        for point in run.points.values()
        if point.series in run.series and not validity.is_verdict(point) and point.value is not None
    ]
    counts = Counter(_shape(point) for point in points)
    counts.pop(frozenset(), None)
    shape = max(counts, key=lambda shape: counts[shape], default=frozenset[str]())  # of as many the first
    headline = headline_point(run)
    if headline is not None and on_axis(run, headline[1]):  # what the first chart shows
        shape = _shape(headline[1])
    inside = [point for point in points if _shape(point) == shape] if shape else []
    keys = list(dict.fromkeys(measurement_key(point) for point in inside))
    sources = list(_sources(run, inside))
    family = next((source.series.family for source in sources if source.series.statistic), "")
    leading = [
        source
        for source in sources
        if source.series.unit in RATES or (source.series.family == family and source.series.statistic in _FIRST)
    ]
    leading = leading[: 2 * _LEADING] or sources[:_LEADING]  # what a reader compares first
    others = [source for source in sources if source not in leading]
    named = [(one, _scale(one)[1]) for one in leading if one.series.statistic]
    named = [pair for pair in named if pair[0].part == named[0][0].part]
    last = {unit: one for one, unit in named}
    heads = {_title(one, sources): f"{one.series.statistic}{f' {unit}' * (last[unit] is one)}" for one, unit in named}
    coordinates = _coordinate_columns(run, keys, shape)
    reasons = {key: _reasons(validity, sources, key) for key in keys}
    every = [reason for found in reasons.values() for reason in found]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(map(without_figures, every)), start=1)}
    first = dict(keys[0]) if keys else {}
    columns: list[_Column] = [
        *(_coordinate_column(run, name, numeric=not isinstance(first.get(name), str)) for name in coordinates),
        *((_title(source, sources), True, partial(_value_cell, source)) for source in leading),
        ("±", True, partial(_within_cell, leading)),
        ("Flag", False, lambda key: _flag_cell(reasons[key], numbers)),
        *((_title(source, sources), True, partial(_value_cell, source)) for source in others),
    ]

    def position(key: MeasurementKey) -> list[tuple[bool, float, str]]:
        return [RowCell("", dict(key).get(name, "")).sort_key for name in coordinates]

    cells = [(column, [column[2](key) for key in sorted(keys, key=position)]) for column in columns]
    cells = [(column, found) for column, found in cells if any(cell.text for cell in found)]
    return PointRows(
        tuple(title for (title, _, _), _ in cells),
        tuple(numeric for (_, numeric, _), _ in cells),
        tuple(zip(*(found for _, found in cells), strict=True)),
        tuple(_figures(run, [point for point in points if point not in inside])),
        tuple(f"{number} {note}" for number, note in enumerate(stated_once(every), start=1)),
        heads,
    )


def _shape(point: Point) -> frozenset[str]:
    return frozenset(name for name, _ in measurement_key(point))


def _sources(run: StepRun, points: Iterable[Point]) -> Iterable[_Source]:
    found: dict[tuple[str, str], dict[MeasurementKey, Point]] = {}
    for point in points:
        key = measurement_key(point)
        part = ", ".join(str(value) for name, value in sorted(point.at.items()) if (name, value) not in key)
        found.setdefault((point.series, part), {})[key] = point
    order = list(run.series)
    for (name, part), at in sorted(found.items(), key=lambda pair: order.index(pair[0][0])):
        yield _Source(run.series[name], part, at)


def _coordinate_columns(run: StepRun, keys: Sequence[MeasurementKey], shape: frozenset[str]) -> list[str]:
    """Return the coordinates by which the rows differ, the axis last; the axis alone where none differs."""
    axes = {series.axis for series in run.series.values()}
    varying = [name for name in shape if len({dict(key).get(name) for key in keys}) > 1]
    shown = varying or [name for name in shape if name in axes] or sorted(shape)[:1]
    return sorted(shown, key=lambda name: (name in axes, name))


def _coordinate_column(run: StepRun, name: str, *, numeric: bool) -> _Column:
    """Return the column of a coordinate, called as its axis where it is one."""
    series = next((series for series in run.series.values() if series.axis == name), None)
    unit = name_and_unit(name)[1] if series is None else series.axis_unit or "1"

    def cell(key: MeasurementKey) -> RowCell:
        value = dict(key).get(name)
        if value is None:
            return RowCell("", "")
        return RowCell(coordinate_words(name, value) if isinstance(value, str) else format_value(value, unit), value)

    return point_text(name).capitalize() if series is None else axis_name(series), numeric, cell


def _scale(source: _Source) -> tuple[float, str]:
    """Return what to divide all values of a column by, and the unit that is left."""
    values = [abs(value) for point in source.points.values() if (value := point.value)]
    largest, least = max(values, default=0.0), min(values, default=0.0)
    match source.series.unit:
        case "ns":  # the least value keeps two digits
            units = ((1e6, "ms"), (1e3, "us"))
            return next((one for one in units if largest >= one[0] and least >= 0.1 * one[0]), (1.0, "ns"))
        case "bytes/s":
            return (1e9, "GB/s") if largest >= 1e11 else (1e6, "MB/s")
        case "share":
            return 0.01, "%"
        case "1/s" | "1" | "ratio":
            return 1.0, ""
    return 1.0, source.series.unit


def _title(source: _Source, sources: Sequence[_Source]) -> str:
    series, unit = source.series, _scale(source)[1]
    short = series.short_title
    if sum(one.short_title == short for one in {one.series.title: one.series for one in sources}.values()) > 1:
        short = series.title
    name = series.statistic or ("" if series.unit == "bytes/s" else short)
    if series.statistic and series.family != next(one.series.family for one in sources if one.series.statistic):
        name = f"{point_text(series.family)} {series.statistic}"
    parts = {one.part for one in sources if one.series.name == series.name}
    rates = [one for one in sources if one.series.unit == "bytes/s" and one.part == source.part]
    if series.unit == "bytes/s" and len(rates) > 1:
        name = series.title
    return " ".join(filter(None, (name, source.part if len(parts) > 1 else "", unit)))


def _value_cell(source: _Source, key: MeasurementKey) -> RowCell:
    point = source.points.get(key)
    value = None if point is None else point.value
    if value is None:
        return RowCell("", float("-inf"))
    shown = value / _scale(source)[0]
    digits = 0 if abs(shown) >= 100 else 1 if abs(shown) >= 10 else 2
    return RowCell(f"{shown:,.{digits}f}", value)


def _within_cell(leading: Sequence[_Source], key: MeasurementKey) -> RowCell:
    """Return the interval of the first column that has one."""
    for source in leading:
        point = source.points.get(key)
        half = None if point is None else half_share(point)
        if point is not None and half is not None:
            return RowCell(half_width(point), half)
    return RowCell("", float("inf"))


def _reasons(validity: StepValidity, sources: Sequence[_Source], key: MeasurementKey) -> tuple[str, ...]:
    """Return why to be careful with a row, each reason once."""
    found: dict[str, None] = {}
    for source in sources:
        point = source.points.get(key)
        if point is None:
            continue
        invalid = validity.of(point) if validity.ended and validity.whole is None else None
        if invalid is not None:
            found["did not converge" if invalid.scatter else f"not valid: {invalid.cause}"] = None
        if is_disturbed(point.estimate):
            found["most samples were disturbed"] = None
        found |= dict.fromkeys(() if point.estimate is None else point.estimate.caveats)
        if point.estimate is not None and point.estimate.converged is False and invalid is None:
            found["did not converge before its time was up"] = None
    return tuple(found)


def _flag_cell(reasons: Sequence[str], numbers: Mapping[str, int]) -> RowCell:
    if not reasons:
        return RowCell("", 0)
    found = sorted({numbers[without_figures(reason)] for reason in reasons})
    ends: list[list[int]] = []
    for number in found:
        if ends and ends[-1][1] == number - 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return RowCell(f"! {' '.join(str(low) if low == high else f'{low}-{high}' for low, high in ends)}", len(found))


def _figures(run: StepRun, points: Iterable[Point]) -> Iterable[tuple[str, str]]:
    """Return the figures that are in no column, those of one measurement side by side."""
    found: dict[str, list[str]] = {}
    for point in points:
        series, text = run.series[point.series], figure_text(point, run.series[point.series].unit)
        own = measurement_key(point)
        where = coordinates_text({name: value for name, value in point.at.items() if (name, value) in own}, series)
        part = (str(value) for name, value in point.at.items() if (name, value) not in own)
        name = " ".join((series.statistic or series.short_title, *part)) if where else ""
        found.setdefault(where or series.plain_title, []).append(f"{name} {text}".lstrip())
    for name, texts in found.items():
        yield capitalized(name), " · ".join(texts)
