"""Every picture of a step that a user can choose, by name, drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import BarChart, Chart, HeatMap, LineChart
from sizeup.model.machine import Machine
from sizeup.session.value import PointKey, StepRun
from sizeup.views.run.finished import chart_makers
from sizeup.views.run.samples import (
    cumulative_of,
    distribution_of,
    over_time,
    subject,
    underlying_cdfs,
    underlying_histograms,
    underlying_time_series,
)
from sizeup.views.run.step import step_chart

_LEADING = 3
"""As many pictures stand before the time series and the table."""
TABLE = "Table"
VALIDITY = "Validity"


class ChartEntry(Struct, frozen=True):
    """One chart that can be drawn."""

    title: str
    """Stays the same while the step goes on."""
    draw: Callable[[], Chart | None]
    """Makes it of what was measured by then; None where there is nothing yet."""
    name: str = ""
    """What its tab says: ``IOPS``, ``Latency vs IOPS``."""
    is_figure: bool = False
    """It is a figure alone."""
    is_curve: bool = False


def chart_list(run: StepRun, machine: Machine | None) -> tuple[ChartEntry, ...]:
    """What the step measured, then its samples where it kept any; never empty.

    The list holds until the step has another point or estimate; each chart follows the samples.
    """
    made = [(picture, charts) for picture, make in enumerate(chart_makers(run, machine)) if (charts := make())]
    shown = [
        ChartEntry(
            chart.title,
            partial(_drawn, run, machine, picture, piece),
            _name(run, chart),
            isinstance(chart, BarChart) and len(chart.bars) == 1,
            isinstance(chart, LineChart),
        )
        for picture, charts in made
        for piece, chart in enumerate(charts)
    ]
    if not shown:
        chart = step_chart(run, machine)
        shown = [ChartEntry(chart.title, partial(step_chart, run, machine), _name(run, chart))]
    if subject(run) is not None:
        shown += [
            ChartEntry("over time", partial(over_time, run), "Over time"),
            ChartEntry("distribution", partial(distribution_of, run), "Distribution"),
            ChartEntry("CDF", partial(cumulative_of, run), "CDF"),
        ]
    return tuple(_distinct(shown))


def _drawn(run: StepRun, machine: Machine | None, picture: int, piece: int) -> Chart | None:
    charts = chart_makers(run, machine)[picture]()
    return charts[piece] if piece < len(charts) else None


def tabs(entries: Sequence[ChartEntry]) -> tuple[str, ...]:
    """Return the names of the tabs of a step: its main charts, the time series, table and validity, then the others.

    A curve comes first, as it does while it is measured. What is a figure or two and no picture stands in the table.
    """
    drawn = [entry for entry in entries if not entry.is_figure] or list(entries[:1])
    drawn.sort(key=lambda entry: not entry.is_curve)
    by_name = [entry.name for entry in drawn if entry.name != VALIDITY]
    charts = [name for name in by_name if name not in ("Over time", "Distribution", "CDF")]
    crossed = [name for name in charts if " vs " in name]
    latencies = [name for name in charts[1:] if name not in crossed and name.startswith(_LATENCY)]
    main = list(dict.fromkeys([*charts[:1], *latencies[:1], *crossed[:1], *charts]))[:_LEADING]
    timed = [name for name in by_name if name == "Over time"]
    rest = [name for name in by_name if name not in (*main, *timed)]
    return (*main, *timed, TABLE, VALIDITY, *rest)


_LATENCY = "Latency"


def _name(run: StepRun, chart: Chart) -> str:
    """Return what is drawn in a word or two."""
    match chart:
        case LineChart() if chart.x.unit in ("1/s", "bytes/s"):
            return f"{_short(chart.y.title)} vs {_short(chart.x.title)}"
        case HeatMap() if chart.unit == "verdict":
            return VALIDITY
    title = chart.title.removeprefix(f"{run.step.title}: ")
    if title != chart.title:
        return _short(title)
    match chart:
        case LineChart():
            return _short(chart.y.title)
        case BarChart():
            return _short(chart.axis.title)
    return next((_short(series.title) for series in run.series.values()), "Matrix")


def _short(title: str) -> str:
    return title.partition(",")[0].partition(" (")[0]


def _distinct(entries: Iterable[ChartEntry]) -> Iterable[ChartEntry]:
    """Give entries of one name different ones: with the words in which their titles differ, else with a number."""
    seen: dict[str, int] = {}
    for entry in entries:
        name = entry.name
        if name in seen:
            longer = entry.title.rpartition(": ")[2]
            name = longer if longer not in seen and len(longer) <= _LONGEST else f"{name} {seen[name] + 1}"
        seen[entry.name] = seen.get(entry.name, 0) + 1
        seen.setdefault(name, 1)
        yield replace(entry, name=name)


_LONGEST = 24


def underlying_charts(run: StepRun, key: PointKey) -> tuple[ChartEntry, ...]:
    """The samples of one point of a chart; empty where the probe kept none."""
    spread = underlying_histograms(run, key)
    if not spread:
        return ()
    first, *others = (
        ChartEntry(f"distribution: {label}", lambda chart=chart: chart, f"Distribution, {label}")  # type: ignore[misc]
        for label, chart in spread
    )
    return (
        replace(first, name="Distribution"),
        ChartEntry("CDF", lambda: underlying_cdfs(run, key), "CDF"),
        ChartEntry("over time", lambda: underlying_time_series(run, key), "Over time"),
        *others,
    )
