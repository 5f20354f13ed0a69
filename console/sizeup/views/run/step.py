"""One step of a session as a chart, the kind of which its manifest chose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec.structs import replace

from sizeup.charts.axes import axis_values, round_ends
from sizeup.charts.chart import (
    DISTURBED,
    RANGE,
    UNSETTLED,
    Axis,
    Bar,
    BarChart,
    Boundary,
    Chart,
    ChartPoint,
    HeatMap,
    Line,
    LineChart,
    Scale,
)
from sizeup.model.machine import Machine
from sizeup.model.plan import Series
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point as LoggedPoint
from sizeup.session.value import Session, StepRun, point_key
from sizeup.units import format_bytes, format_value
from sizeup.views.run.points import (
    LOGARITHMIC_FROM,
    RATES,
    along,
    beside_axis,
    common_name,
    common_title,
    family,
    figure_text,
    first_series,
    format_coordinate,
    half_width,
    interval_of,
    is_disturbed,
    is_range,
    laid_out,
    line_of,
    on_axis,
    point_text,
    points_of,
    value_scale,
)
from sizeup.views.run.results import coordinates_text
from sizeup.views.run.samples import distribution

VALIDITY = "Validity"
"""The name of the chart of verdicts."""
TLB_REACH = "tlb_reach_bytes"
"""Key in an estimate's ``extra``: the memory that the second-level TLB covers."""


def step_chart(run: StepRun, machine: Machine | None) -> Chart:
    """What a step measured, by the kind of chart its probe asked for."""
    series = first_series(run)
    if series is not None and series.unit == "verdict":
        return verdicts(run, series)
    if run.chart in ("curve", "scaling"):
        return curve(run, machine)
    return {"matrix": matrix, "histogram": histogram}.get(run.chart, bars)(run)


def curve(run: StepRun, machine: Machine | None) -> Chart:
    """A line per series and setting over the axis that the series names; a matrix or bars where none lies on one."""
    run = laid_out(run)
    axes = [series for series in run.series.values() if series.axis is not None]
    if not axes:
        return bars(run)
    if run.points and not any(on_axis(run, point) for point in run.points.values()):
        return matrix(run) if len(_varying(list(run.points.values()))) == 2 else bars(run)
    # Series in another unit would need an axis of their own; the table has them.
    measured = {point.series for point in run.points.values()}
    first = next((series for series in axes if series.name in measured), axes[0])
    shown = [series for series in axes if family(series) == family(first) and series.name in measured] or [first]
    validity = StepValidity(run)
    lines = [line for series in shown for line in _lines(series, points_of(run, series.name), shown, validity)]
    if run.outcome is not None:  # a single load beside curves is not the first of them
        lines.sort(key=lambda line: len(line.points) < 2)
    xs = [point.x for line in lines for point in line.points]
    ys = [point.y for line in lines for point in line.points]
    reach = run.step.axis_ranges.get(first.axis or "", ())
    known = [*xs, *reach]
    spans = bool(known) and min(known) > 0 and max(known) / min(known) >= LOGARITHMIC_FROM
    scale = Scale.LOG2 if first.axis_unit == "bytes" or spans else Scale.LINEAR
    x_axis = Axis(first.axis_title or point_text(first.axis or ""), first.axis_unit or "1", scale)
    if reach and run.outcome is None:  # as long as its plan says it may become
        x_axis = replace(x_axis, low=min(known), high=max(known))
    from_zero = run.chart == "scaling" or first.unit == "1/s"  # twice as high is twice as much
    y_scale, least = (Scale.LINEAR, 0.0) if from_zero else (value_scale(ys), None)
    y_axis = Axis(common_title(shown), first.unit, y_scale, least)
    if y_axis.scale is Scale.LOG10:
        ends = [end for line in lines for point in line.points for end in (point.low, point.high) if end is not None]
        # Ends at the values themselves would move with every sample, and the whole picture with them.
        low, high = round_ends(axis_values(ys, ends, Scale.LOG10))
        y_axis = replace(y_axis, low=low, high=high)
    boundaries = _size_boundaries(run, machine) if first.boundaries == "memory" else ()
    name = common_name(shown)
    if first.axis_unit in RATES:
        name = f"{name} vs {x_axis.title}"
    return LineChart(run.step.title, x_axis, y_axis, tuple(lines), boundaries, _caption(run, len(xs)), name=name)


def matrix(run: StepRun) -> HeatMap | BarChart:
    """Two coordinates across each other, the value in each cell; bars where points have no two coordinates."""
    series = first_series(run)
    points = [point for point in points_of(run, series.name) if len(point.at) >= 2] if series is not None else []
    if series is None or not points:
        return bars(run)
    row_key, column_key = list(dict.fromkeys((*_varying(points), *points[0].at)))[:2]
    points = [point for point in points if row_key in point.at and column_key in point.at]
    rows = sorted({point.at[row_key] for point in points}, key=_order)
    columns = sorted({point.at[column_key] for point in points}, key=_order)
    cells = {(point.at[row_key], point.at[column_key]): point for point in points}
    found = tuple(tuple(cells.get((row, column)) for column in columns) for row in rows)
    return HeatMap(
        run.step.title,
        _axis_words(run, row_key),
        _axis_words(run, column_key),
        tuple(map(str, rows)),
        tuple(map(str, columns)),
        tuple(tuple(None if point is None else point.value for point in row) for row in found),
        series.unit,
        _caption(run, len(points)),
        tuple(tuple(None if point is None else point_key(point.series, point.at) for point in row) for row in found),
        name=series.short_title,
    )


def _varying(points: Sequence[LoggedPoint]) -> list[str]:
    """The coordinates that tell the points apart; what all share does not."""
    first = points[0].at
    return [key for key in first if any(point.at.get(key) != first[key] for point in points)]


def _axis_words(run: StepRun, key: str) -> str:
    return next((series.axis_title for series in run.series.values() if series.axis == key), "") or point_text(key)


def histogram(run: StepRun) -> BarChart:
    """How often each range of values occurred, over all points of the first series that has samples."""
    series = first_series(run)
    values = [] if series is None else [value for point in points_of(run, series.name) for value in point.values]
    if series is None or not values:
        return bars(run)
    return replace(distribution(series.title, series.unit, values), name=series.short_title)


def verdicts(run: StepRun, series: Series) -> HeatMap:
    """What was judged across where it was: words; one line where all passed everywhere."""
    judged: dict[str, dict[str, float]] = {}
    for point in points_of(run, series.name):
        value, part = point.value, str(point.at.get("part", series.title))
        if value is not None:
            where = ", ".join(format_coordinate(key, at) for key, at in point.at.items() if key != "part")
            judged.setdefault(where or "the whole step", {})[part] = value
    columns = tuple(dict.fromkeys(part for parts in judged.values() for part in parts))
    if all(value == 1.0 for parts in judged.values() for value in parts.values()):
        judged = {f"all {len(judged)} places": dict.fromkeys(columns, 1.0)}
    rows = tuple(tuple(parts.get(part) for part in columns) for parts in judged.values())
    caption = _caption(run, len(rows))
    return HeatMap(series.title, "Place", "part", tuple(judged), columns, rows, "verdict", caption, name=VALIDITY)


def bars(run: StepRun) -> BarChart:
    """A bar per point, all of the unit of the first series."""
    series = first_series(run)
    unit = series.unit if series is not None else "1"
    measured = [
        (point, run.series[point.series], value)
        for point in run.points.values()
        if point.series in run.series and run.series[point.series].unit == unit and (value := point.value) is not None
    ]
    places = [coordinates_text(point.at, described) for point, described, _ in measured]
    # The coordinates alone tell bars apart, unless several series lie at the same place.
    distinct = all(places) and len(set(places)) == len(places)
    shown, validity = [], StepValidity(run)
    for (point, described, value), where in zip(measured, places, strict=True):
        label = where if distinct else f"{described.title} {where}".rstrip()
        note, estimate = f"median of {len(point.values)}", point.estimate
        if estimate is not None:
            note = UNSETTLED if estimate.converged is False else str(estimate.extra.get("note", ""))
            note = RANGE if is_range(point) else DISTURBED if is_disturbed(estimate) else note
        low, high = interval_of(point, described.unit, validity)
        shown.append(Bar(label, value, low, high, note, point_key(point.series, point.at)))
    titled = list({described.name: described for _, described, _ in measured}.values()) if distinct else []
    titled = titled or ([] if series is None else [series])
    title, name = (common_title(titled), common_name(titled)) if titled else (run.step.title, run.step.title)
    return BarChart(run.step.title, Axis(title, unit), tuple(shown), _caption(run, len(shown)), name=name)


def runs_of(session: Session | None, probe: str) -> list[StepRun]:
    """The steps of a probe in a session, in the order in which they ran."""
    return [] if session is None else [run for run in session.steps.values() if run.step.probe == probe]


def latest_run(session: Session | None, probe: str) -> StepRun | None:
    """The last step of a probe in a session; None before the first."""
    return next(reversed(runs_of(session, probe)), None)


def latest_refusal(session: Session | None, probe: str) -> str:
    """Why the last request to run a probe was refused before its step began; empty where it was not."""
    if session is None:
        return ""
    own = [id_ for id_ in session.outcomes if id_ == probe or id_.startswith(f"{probe}.")]
    last = own[-1] if own else ""
    return session.outcomes[last].reason if last and last not in session.steps else ""


class FigureStanding(Enum):
    """How a figure stands; the words follow it."""

    COUNTS = ""
    OPEN = "not converged"
    UNCERTAIN = "uncertain"
    """Not valid for a comparison, and counted in sizing as far as it reaches."""
    INVALID = "not valid"


def point_value(run: StepRun) -> str:
    """A step's first series in one figure, and whether it counts; empty before there is one."""
    figure, standing = headline_figure(run)
    return f"{figure}{mark(standing)}"


def headline_figure(run: StepRun, *, placed: bool = True, spread: bool = True) -> tuple[str, FigureStanding]:
    """A step's first series in one figure, empty before there is one, and how it stands.

    While it runs, the newest point. Once it has ended, the point farthest along its axis; of points that have no
    order the one that the series names, or else their range, as none may stand for the others.
    """
    series = first_series(run)
    headlines = headline_points(run)
    if series is None or not headlines:
        return "", FigureStanding.COUNTS
    standing = standing_of(run, headlines)
    if len(headlines) > 1:
        values = [point.value for point in headlines if point.value is not None]
        over = f" over {len(values)} points" if placed else ""
        return f"{format_value(min(values), series.unit)} to {format_value(max(values), series.unit)}{over}", standing
    (point,) = headlines
    within = half_width(point) if spread else ""
    where = coordinates_text(point.at, series) if placed else ""
    # A sign in place of "within" would be another one in ASCII.
    figure = f"{figure_text(point, series.unit)}{f' within {within}' if within else ''}"
    return f"{figure}{f' at {where}' if where else ''}", standing


def standing_of(run: StepRun, headlines: Sequence[LoggedPoint]) -> FigureStanding:
    """Return whether a figure of an ended step did not converge, or else is not valid."""
    validity = StepValidity(run)
    invalid = [found for point in headlines if (found := validity.of(point)) is not None] if validity.ended else []
    if not invalid:
        return FigureStanding.COUNTS
    return FigureStanding.OPEN if all(found.scatter for found in invalid) else FigureStanding.INVALID


def mark(standing: FigureStanding) -> str:
    """Return what stands behind a figure that does not count."""
    return f", {standing.value}" if standing.value else ""


def headline_points(run: StepRun) -> list[LoggedPoint]:
    """The point that a line about the step speaks of, or all of which it gives the range."""
    series = first_series(run)
    if series is None:
        return []
    points = [point for point in points_of(run, series.name) if point.value is not None]
    if run.outcome is None or len(points) < 2:
        return points[-1:]
    if any(isinstance(point.at.get(series.axis or ""), int | float) for point in points):
        return along(points, series)[-1:]
    return [point for point in points if series.headline and point.at == series.headline] or points


def _lines(
    series: Series, points: Iterable[LoggedPoint], shown: Sequence[Series], validity: StepValidity
) -> list[Line]:
    """The points of a series by what else distinguishes them; each line's label says what."""
    groups: dict[str, list[ChartPoint]] = {}
    for point in points:
        x, value = point.at.get(series.axis or ""), point.value
        if value is None or isinstance(x, str) or x is None:
            continue
        others = ", ".join(beside_axis(point, series))
        low, high = interval_of(point, series.unit, validity)
        key = point_key(point.series, point.at)
        groups.setdefault(others, []).append(
            ChartPoint(float(x), value, low, high, is_disturbed(point.estimate), key=key)
        )
    return [
        line_of(series, others, shown, sorted(found, key=lambda point: point.x)) for others, found in groups.items()
    ]


def step_position(run: StepRun, session: Session | None) -> str:
    """Return which of the steps of its probe one is, of those that its run planned; empty for the only one."""
    plans = (
        []
        if session is None
        else [[one.id for one in plan.steps if one.probe == run.step.probe] for plan in session.plans]
    )
    steps = next((ids for ids in reversed(plans) if run.step.id in ids), [])
    return f"step {steps.index(run.step.id) + 1} of {len(steps)}" if len(steps) > 1 else ""


def _order(value: str | int | float) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _caption(run: StepRun, points: int) -> str:
    if not points:
        if run.outcome is not None:
            return "nothing was measured"
        activity = run.progress.activity if run.progress is not None else ""
        return f"no samples yet: {activity}" if activity else "no samples yet"
    return f"{run.step.title}: {points} point{'' if points == 1 else 's'}."


def _size_boundaries(run: StepRun, machine: Machine | None) -> tuple[Boundary, ...]:
    """Return the measured TLB reach, the largest cache of each level, the smallest huge page and node, by size.

    A smaller working set cannot fill a huge page; one that is larger than a node spans several.
    """
    extras = [point.estimate.extra.get(TLB_REACH) for point in run.points.values() if point.estimate is not None]
    reaches = {reach for reach in extras if isinstance(reach, int | float) and reach > 0}
    found = [Boundary(reach, f"TLB {format_bytes(reach)}") for reach in reaches]
    if machine is not None:
        caches = machine.cache_sizes.items()
        found += [Boundary(size, f"L{level} {format_bytes(size)}", ends_region=True) for level, size in caches]
        found += [Boundary(float("inf"), "DRAM", ends_region=True)] if caches else []
        pages = [pool.page_bytes for node in machine.nodes for pool in node.huge_pages]
        nodes = [node.memory_bytes for node in machine.nodes if node.memory_bytes]
        for name, sizes in (("huge page", pages), ("node", nodes)):
            found += [Boundary(size, f"{name} {format_bytes(size)}") for size in sorted(sizes)[:1]]
    return tuple(sorted(found, key=lambda boundary: boundary.x))
