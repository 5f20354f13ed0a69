"""Every picture of a step that a user can leaf through, drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from sizeup.charts.chart import Chart
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


class ChartEntry(Struct, frozen=True):
    """One chart, not drawn yet."""

    title: str
    """Stays the same while the step goes on."""
    draw: Callable[[], Chart | None]


def chart_list(run: StepRun, machine: Machine | None) -> tuple[ChartEntry, ...]:
    """What the step measured, then what lies behind it where the step left samples; never none."""
    charts = finished_charts(run, machine) or (step_chart(run, machine),)
    shown = [ChartEntry(chart.title, lambda chart=chart: chart) for chart in charts]  # type: ignore[misc]
    if subject(run) is not None:
        shown += [
            ChartEntry("over time", lambda: over_time(run)),
            ChartEntry("distribution", lambda: distribution_of(run)),
            ChartEntry("CDF", lambda: cumulative_of(run)),
        ]
    return tuple(shown)


def underlying_charts(run: StepRun, key: PointKey) -> tuple[ChartEntry, ...]:
    """What lies behind one point of a picture; none where the probe kept no samples of it."""
    spread = underlying_histograms(run, key)
    if not spread:
        return ()
    first, *others = (
        ChartEntry(f"distribution: {label}", lambda chart=chart: chart)  # type: ignore[misc]
        for label, chart in spread
    )
    return (
        first,
        ChartEntry("CDF", lambda: underlying_cdfs(run, key)),
        ChartEntry("over time", lambda: underlying_time_series(run, key)),
        *others,
    )
