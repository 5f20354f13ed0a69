"""Axes of a chart that is still being measured: an end moves seldom, and then far enough to last."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec.structs import replace

from sizeup.charts.axes import bar_axis_values, line_axis_values
from sizeup.charts.chart import Axis, BarChart, Chart, LineChart, Scale

_HEADROOM = 1.25
"""A new end lies at least this factor beyond the values."""
_LEAST_USED = 0.25
"""An axis of which the values use less is drawn anew."""


def hold_axes(chart: Chart, before: Chart | None) -> Chart:
    """The chart with the value axis of the picture before it, while that suits; else with ends that will last."""
    match chart, before:
        case LineChart(), LineChart() if before.title == chart.title:
            return replace(chart, y=_kept(chart.y, before.y, _finite(line_axis_values(chart))))
        case LineChart(), _:
            return replace(chart, y=_padded_axis(chart.y, _finite(line_axis_values(chart))))
        case BarChart(), BarChart() if before.title == chart.title:
            return replace(chart, axis=_kept(chart.axis, before.axis, _finite(bar_axis_values(chart))))
        case BarChart(), _:
            return replace(chart, axis=_padded_axis(chart.axis, _finite(bar_axis_values(chart))))
        case _:
            return chart


def _finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _kept(axis: Axis, before: Axis, values: list[float]) -> Axis:
    if not values or (axis.unit, axis.title) != (before.unit, before.title) or before.high is None:
        return _padded_axis(axis, values)
    # A curve that needed a logarithmic axis once may need it again.
    axis = replace(axis, scale=before.scale if before.scale is not Scale.LINEAR else axis.scale)
    shown = [value for value in values if value > 0] if axis.scale is not Scale.LINEAR else values
    suits = (
        axis.scale is before.scale
        and shown
        and min(shown) >= (before.low if before.low is not None else min(0.0, *values))
        and max(shown) <= before.high
        and _used(axis.scale, shown, before) >= _LEAST_USED
    )
    return before if suits else _padded_axis(axis, values)


def _used(scale: Scale, values: list[float], axis: Axis) -> float:
    """The share of an axis that lies between its values, or for a linear one between zero and the highest."""
    if scale is Scale.LINEAR:
        return max(map(abs, values)) / abs(axis.high or 1.0)
    if not axis.low or not axis.high:
        return 0.0
    span = math.log(max(values) / min(values)) if len(values) > 1 else math.log(axis.high / axis.low)
    return span / math.log(axis.high / axis.low)


def _padded_axis(axis: Axis, values: list[float]) -> Axis:
    """Ends at round numbers with room beyond the values; those that the axis states stay."""
    if not values or max(values) <= 0:
        return axis
    if axis.scale is Scale.LINEAR:
        return axis if axis.high is not None else replace(axis, high=_round_above(max(values) * _HEADROOM))
    low = 1 / _round_above(_HEADROOM / min(value for value in values if value > 0))
    return replace(axis, low=low, high=max(_round_above(max(values) * _HEADROOM), low * 10))


def _round_above(value: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is not below ``value``; so is its inverse from below."""
    decade = 10.0 ** math.floor(math.log10(value))
    return float(f"{next(factor * decade for factor in (1, 2, 5, 10) if factor * decade >= value * (1 - 1e-9)):.1g}")
