"""Every picture of a step that a user can leaf through, drawn when it is looked at."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from sizeup.charts.chart import Chart
from sizeup.model.machine import Machine
from sizeup.session.value import Key, StepRun
from sizeup.views.finished import finished_charts
from sizeup.views.samples import (
    cumulative_of,
    distribution_of,
    distributions_behind,
    over_time,
    shares_behind,
    subject,
    times_behind,
)
from sizeup.views.step import step_chart


class Picture(Struct, frozen=True):
    """One chart, not drawn yet."""

    title: str
    """Stays the same while the step goes on."""
    draw: Callable[[], Chart | None]


def pictures(run: StepRun, machine: Machine | None) -> tuple[Picture, ...]:
    """What the step measured, then what lies behind it where the step left samples; never none."""
    charts = finished_charts(run, machine) or (step_chart(run, machine),)
    shown = [Picture(chart.title, lambda chart=chart: chart) for chart in charts]  # type: ignore[misc]
    if subject(run) is not None:
        shown += [
            Picture("over time", lambda: over_time(run)),
            Picture("distribution", lambda: distribution_of(run)),
            Picture("share at or below", lambda: cumulative_of(run)),
        ]
    return tuple(shown)


def pictures_behind(run: StepRun, key: Key) -> tuple[Picture, ...]:
    """What lies behind one point of a picture; none where the probe kept no samples of it."""
    spread = distributions_behind(run, key)
    if not spread:
        return ()
    first, *others = (
        Picture(f"distribution: {label}", lambda chart=chart: chart)  # type: ignore[misc]
        for label, chart in spread
    )
    return (
        first,
        Picture("share at or below", lambda: shares_behind(run, key)),
        Picture("over time", lambda: times_behind(run, key)),
        *others,
    )
