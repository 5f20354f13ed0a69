"""The chart of a step that will not change any more, as a report wants it."""

from __future__ import annotations

import math
from dataclasses import replace

from sizeup.model.machine import Machine
from sizeup.session.log import StepRun
from sizeup.views.chart import BarChart, Chart, Scale
from sizeup.views.step import step_chart

_LOGARITHMIC_FROM = 100.0
"""Bars that differ by more cannot be told from nothing beside the longest."""


def finished_chart(run: StepRun, machine: Machine | None) -> Chart:
    """The chart that the console draws, with a logarithmic axis where bars are too unlike for one length scale."""
    chart = step_chart(run, machine)
    if isinstance(chart, BarChart) and chart.bars:
        low, high = min(bar.value for bar in chart.bars), max(bar.value for bar in chart.bars)
        if low > 0 and high / low >= _LOGARITHMIC_FROM:
            # A decade more than the smallest value needs leaves every bar a length.
            axis = replace(
                chart.axis,
                title=f"{chart.axis.title}, logarithmic",
                scale=Scale.LOG10,
                low=10.0 ** math.floor(math.log10(low) - 0.1),
            )
            return replace(chart, axis=axis)
    return chart
