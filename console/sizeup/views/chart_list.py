"""Every picture of a step that a user can choose, by name, drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import BarChart, Chart, HeatMap, LineChart
from sizeup.model.machine import Machine
from sizeup.session.value import PointKey, StepRun
from sizeup.views.finished import finished_charts
from sizeup.views.samples import (
    cumulative_of,
    distribution_of,
    over_time,
    subject,
    underlying_cdfs,
    underlying_histograms,
    underlying_time_series,
)
from sizeup.views.step import step_chart

_LEADING = 3
"""As many pictures stand before the time series and the table."""
TABLE = "Table"
VALIDITY = "Validity"


class ChartEntry(Struct, frozen=True):
    """One chart, not drawn yet."""

    title: str
    """Stays the same while the step goes on."""
    draw: Callable[[], Chart | None]
    name: str = ""
    """What its tab says: ``IOPS``, ``Latency vs IOPS``."""


def chart_list(run: StepRun, machine: Machine | None) -> tuple[ChartEntry, ...]:
    """What the step measured, then what lies behind it where the step left samples; never none."""
    charts = finished_charts(run, machine) or (step_chart(run, machine),)
    shown = [ChartEntry(chart.title, lambda chart=chart: chart, _name(run, chart)) for chart in charts]  # type: ignore[misc]
    if subject(run) is not None:
        shown += [
            ChartEntry("over time", lambda: over_time(run), "Over time"),
            ChartEntry("distribution", lambda: distribution_of(run), "Distribution"),
            ChartEntry("CDF", lambda: cumulative_of(run), "CDF"),
        ]
    return tuple(_distinct(shown))


def tabs(entries: Sequence[ChartEntry]) -> tuple[str, ...]:
    """Return the names of the tabs of a step: its main charts, the time series, table and validity, then the others.

    What is a figure or two and no picture stands in the table.
    """
    drawn = [entry for entry in entries if not _is_figure(entry)] or list(entries[:1])
    by_name = [entry.name for entry in drawn if entry.name != VALIDITY]
    charts = [name for name in by_name if name not in ("Over time", "Distribution", "CDF")]
    crossed = [name for name in charts if " vs " in name]
    latencies = [name for name in charts[1:] if name not in crossed and name.startswith(_LATENCY)]
    main = list(dict.fromkeys([*charts[:1], *latencies[:1], *crossed[:1], *charts]))[:_LEADING]
    timed = [name for name in by_name if name == "Over time"]
    rest = [name for name in by_name if name not in (*main, *timed)]
    return (*main, *timed, TABLE, VALIDITY, *rest)


_LATENCY = "Latency"


def _is_figure(entry: ChartEntry) -> bool:
    if entry.name in ("Over time", "Distribution", "CDF"):
        return False
    chart = entry.draw()
    return isinstance(chart, BarChart) and len(chart.bars) == 1


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
    """Give entries of one name different ones: with what tells their titles apart, else with a number."""
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
    """What lies behind one point of a picture; none where the probe kept no samples of it."""
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
