"""Every picture of a step that a user can choose, by name, drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import BarChart, Chart, LineChart
from sizeup.charts.latency_cells import Picture
from sizeup.model.machine import Machine
from sizeup.session.value import PointKey, StepRun
from sizeup.views.run.finished import chart_keys, chart_makers
from sizeup.views.run.latency import has_one_load, histogram, latency_family, timeline
from sizeup.views.run.points import RATES
from sizeup.views.run.samples import (
    cumulative_of,
    distribution_of,
    over_time,
    subject,
    underlying_cdfs,
    underlying_histograms,
    underlying_points,
    underlying_time_series,
)
from sizeup.views.run.step import VALIDITY, step_chart

_LEADING = 3
"""As many pictures stand before the time series and the table."""
_LONGEST = 24
"""Characters of a tab."""
OVER_TIME, DISTRIBUTION, TABLE = "Over time", "Distribution", "Table"


class ChartKind(Enum):
    """What decides where the tab of a chart stands."""

    OTHER = "other"
    FIGURE = "a figure alone"
    LATENCY = "a latency by the load"
    CROSSED = "latency against throughput"
    OVER_TIME = "over time"
    SAMPLES = "how samples are spread"


class ChartEntry(Struct, frozen=True):
    """One chart that can be drawn."""

    name: str
    """What its tab says: ``IOPS``, ``Latency vs IOPS``; it stays the same while the step goes on."""
    draw: Callable[[], Picture | None]
    """Makes it of what was measured by then; None where there is nothing yet."""
    kind: ChartKind = ChartKind.OTHER
    is_curve: bool = False
    longer: str = ""
    """What its tab says where another one has this name."""


def chart_list(run: StepRun, machine: Machine | None) -> tuple[ChartEntry, ...]:
    """What the step measured, then its samples where it kept any; never empty.

    The list holds until the step has another point or estimate; each chart follows the samples.
    """
    made = [(picture, charts) for picture, make in enumerate(chart_makers(run, machine)) if (charts := make())]
    shown = [
        ChartEntry(
            chart.name,
            partial(_drawn, run, machine, picture, piece),
            _kind(run, chart),
            isinstance(chart, LineChart),
            chart.subject or chart.title,
        )
        for picture, charts in made
        for piece, chart in enumerate(charts)
    ]
    if not shown:
        shown = [ChartEntry(step_chart(run, machine).name, partial(step_chart, run, machine))]
    if subject(run) is not None:
        timed = timeline if latency_family(run) else over_time
        spread = histogram if histogram(run) is not None else distribution_of
        shown += [
            ChartEntry(OVER_TIME, partial(timed, run), ChartKind.OVER_TIME),
            ChartEntry(DISTRIBUTION, partial(spread, run), ChartKind.SAMPLES),
            ChartEntry("CDF", partial(cumulative_of, run), ChartKind.SAMPLES),
        ]
    seen: dict[str, int] = {}
    named = []
    for entry in shown:  # those of one name differ in the words of their titles, else by a number
        name = entry.name
        if name in seen:
            fits = entry.longer not in seen and len(entry.longer) <= _LONGEST
            name = entry.longer if fits else f"{name} {seen[name] + 1}"
        seen[entry.name] = seen.get(entry.name, 0) + 1
        seen.setdefault(name, 1)
        named.append(replace(entry, name=name))
    return tuple(named)


def _drawn(run: StepRun, machine: Machine | None, picture: int, piece: int) -> Chart | None:
    charts = chart_makers(run, machine)[picture]()
    return charts[piece] if piece < len(charts) else None


def leading(run: StepRun) -> str:
    """Return the picture that answers first: while it runs how it goes, of one load its spread; empty for a curve."""
    if not latency_family(run):
        return ""
    return OVER_TIME if run.outcome is None else DISTRIBUTION if has_one_load(run) else ""


def tabs(entries: Sequence[ChartEntry], first: str = "") -> tuple[str, ...]:
    """Return the names of the tabs of a step: its main charts, the time series, table and validity, then the others.

    Of those that are drawn one may come ``first``, else a curve does. What is a figure or two and no picture stands in
    the table.
    """
    drawn = [entry for entry in entries if entry.kind is not ChartKind.FIGURE] or list(entries[:1])
    drawn.sort(key=lambda entry: not entry.is_curve)

    def named(*kinds: ChartKind) -> list[str]:
        return [entry.name for entry in drawn if entry.kind in kinds]

    timed, spread = named(ChartKind.OVER_TIME), named(ChartKind.SAMPLES)
    charts = [name for entry in drawn if (name := entry.name) not in (*timed, *spread, VALIDITY)]
    latencies = [name for name in named(ChartKind.LATENCY) if name in charts[1:]]
    main = list(dict.fromkeys([*charts[:1], *latencies[:1], *named(ChartKind.CROSSED)[:1], *charts]))[:_LEADING]
    rest = [name for name in (*charts, *spread) if name not in main]
    return tuple(sorted((*main, *timed, TABLE, VALIDITY, *rest), key=lambda name: name != first))


def _kind(run: StepRun, chart: Chart) -> ChartKind:
    match chart:
        case BarChart() if len(chart.bars) == 1:
            return ChartKind.FIGURE
        case LineChart() if chart.x.unit in RATES:
            return ChartKind.CROSSED
    keys = chart_keys(chart)
    series = run.series.get(keys[0][0]) if keys else None
    leads = series is not None and series.unit == "ns" and (series.statistic or series.headline)
    return ChartKind.LATENCY if leads else ChartKind.OTHER


def underlying_charts(run: StepRun, key: PointKey) -> tuple[ChartEntry, ...]:
    """The samples of one point of a chart; empty where the probe kept none."""
    found = underlying_points(run, key)
    if not found:
        return ()
    first, *others = (
        ChartEntry(f"{DISTRIBUTION}, {label}", lambda chart=chart: chart)  # type: ignore[misc]
        for label, chart in underlying_histograms(found)
    )
    return (
        replace(first, name=DISTRIBUTION),
        ChartEntry("CDF", partial(underlying_cdfs, found)),
        ChartEntry(OVER_TIME, partial(underlying_time_series, run, found)),
        *others,
    )
