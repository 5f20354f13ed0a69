"""An axis fitted to its data: where values lie on it, which of them are named, and how.

Every renderer divides its axes with this module, so that a chart on the screen, in a terminal's
text and in a report carry the same numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup import units
from sizeup.charts.chart import RANGE, Axis, Bar, BarChart, Chart, HeatMap, LineChart, Scale

BEYOND_DEMAND = 1.1
"""How far an axis goes on beyond a demand, as a factor: room for its words."""
_ROUNDING = 1e-6
_HEADROOM = 1.25
"""A new end lies at least this factor beyond the values."""
_LEAST_USED = 0.25
"""An axis of which the values use less is drawn anew."""


class Tick(Struct, frozen=True):
    """One named value of an axis."""

    value: float
    label: str


class Ruler(Struct, frozen=True):
    """One axis with its ends fixed and its ticks chosen."""

    scale: Scale
    low: float
    high: float
    ticks: tuple[Tick, ...]
    name: str
    """The title of the axis."""
    unit: str = ""
    """The unit that all ticks share; empty where they share none."""

    @property
    def title(self) -> str:
        """The title of the axis, with the unit behind it where all ticks share one: ``Latency (ns)``."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def position(self, value: float) -> float | None:
        """Where ``value`` lies, 0 at the low end and 1 at the high one, beyond them outside the axis.

        None for what a logarithmic axis cannot show: zero and below.
        """
        if self.scale is Scale.LINEAR:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return None
        # A difference of logarithms stays in range where a ratio would not.
        start = math.log(self.low)
        return (math.log(value) - start) / (math.log(self.high) - start)

    def leaves(self, value: float) -> int:
        """Whether ``value`` lies beyond the high end (1), beyond the low one (-1) or on the axis (0)."""
        position = self.position(value)
        return -1 if position is None or position < -_ROUNDING else 1 if position > 1 + _ROUNDING else 0


def fit(axis: Axis, values: Iterable[float], most_ticks: int) -> Ruler:
    """Fix the ends of ``axis`` around ``values`` and name at most ``most_ticks`` values of it.

    Ends that the axis states are kept; free ends of a linear axis move out to the next tick,
    the high one unless it would leave more than half of a step blank.
    An axis that crosses zero needs three ticks, however few are asked for.
    """
    most_ticks = max(most_ticks, 2)
    if axis.unit == "verdict":
        ticks = tuple(Tick(value, word) for value, word in units.VERDICTS.items() if word != "unknown")
        return Ruler(Scale.LINEAR, 0.0, 1.0, ticks, axis.title)
    values = list(values)
    if axis.scale is Scale.LINEAR:
        low, high, positions = _linear_ticks(axis, values, most_ticks)
    else:
        low, high = _log_ends(axis, values)
        divide = _log2_ticks if axis.scale is Scale.LOG2 else _log10_ticks
        positions = divide(low, high, most_ticks)
        if positions == [low, high] and axis.scale is Scale.LOG10 and axis.low is None and axis.high is None:
            low, high = round_ends(positions)
            positions = divide(low, high, most_ticks)
    ticks, unit = labeled(positions, axis.unit)
    if axis.unit == "1/s":
        # A prefix is part of the number, as people write it: 40k.
        prefix = unit.removeprefix("1").removesuffix("/s")
        labels = (tick.label.replace(" ", "").removesuffix("/s") + (prefix if tick.value else "") for tick in ticks)
        ticks = tuple(replace(tick, label=label) for tick, label in zip(ticks, labels, strict=True))
        unit = "" if "IOPS" in axis.title else "per s"
    return Ruler(axis.scale, low, high, ticks, axis.title, unit)


_NEAR, NEAR_RATIO = 0.5, 2.0
"""How far an interval may move the end of an axis beyond the values, as a share of the largest, or a ratio."""


def axis_values(values: Iterable[float], interval_ends: Iterable[float], scale: Scale) -> list[float]:
    """Return what an axis is fitted to: the values, and the ends of their intervals as far as they lie near them.

    One wide interval would squeeze all values into a corner. An axis of values that are never negative begins at zero.
    """
    known = [value for value in values if abs(value) <= _LARGEST]
    if scale is Scale.LINEAR:
        margin = _NEAR * max(map(abs, known), default=0.0)
        least, most = min(known, default=0.0) - margin, max(known, default=0.0) + margin
        least = max(least, 0.0) if min(known, default=0.0) >= 0 else least
    else:
        ratios = [value for value in known if value > 0]
        least, most = min(ratios, default=1.0) / NEAR_RATIO, max(ratios, default=1.0) * NEAR_RATIO
    near = (min(max(end, least), most) for end in interval_ends if not math.isnan(end))
    return [*known, *near] if known else []


def line_axis_values(chart: LineChart) -> list[float]:
    """Return what the value axis of a line chart is fitted to."""
    points = [point for line in chart.lines for point in line.points]
    drawn = (point for line in chart.lines if not line.earlier for point in line.points)
    ends = (end for point in drawn for end in (point.low, point.high) if end is not None)
    return axis_values((point.y for point in points), ends, chart.y.scale)


def bar_axis_values(chart: BarChart, shown: Sequence[Bar] | None = None) -> list[float]:
    """Return what the axis of a bar chart is fitted to, or of the bars that are ``shown`` of it.

    The ends of a range are its values.
    """
    bars = chart.bars if shown is None else shown
    values = [bar.value for bar in bars]
    intervals: list[float] = []
    for bar in bars:
        ends = [end for end in (bar.low, bar.high) if end is not None]
        (values if chart.spans or bar.note == RANGE else intervals).extend(ends)
    return axis_values(values, intervals, chart.axis.scale)


_LARGEST = 1e150
"""Beyond it, and below its inverse, differences and ratios leave the range of a float."""


def _linear_ticks(axis: Axis, values: Sequence[float], most: int) -> tuple[float, float, list[float]]:
    """Return the ends of a linear axis and the values that are named."""
    known = [_in_range(value) for value in values if abs(value) <= _LARGEST]
    stated_low, stated_high = (
        None if end is None or abs(end) > _LARGEST else _in_range(end) for end in (axis.low, axis.high)
    )
    # A cut axis exaggerates: free ends reach zero.
    low = min([*known, 0.0]) if stated_low is None else stated_low
    high = max([*(known or [low + 1.0]), 0.0]) if stated_high is None else stated_high
    if high - low < 1 / _LARGEST:
        high = low + (abs(low) or 1.0)
    counts = axis.unit == "1" and all(float(value).is_integer() for value in values)
    least, step, first, last = max((high - low) / most, float(counts)), 0.0, 0, 0
    while not step or (last - first + 1 > most and last - first > 2):  # an axis across zero needs three
        step = linear_step(max(least, step * 1.01), binary=axis.unit == "bytes")
        # A free end moves out to a whole step, which may add a tick.
        first = math.floor(low / step + 1e-9) if axis.low is None else math.ceil(low / step - 1e-9)
        last = math.ceil(high / step - 1e-9) if axis.high is None else math.floor(high / step + 1e-9)
    if axis.low is None:
        low = first * step
    if axis.high is None and last - first > 1 and last * step - high > step / 2:
        last -= 1  # the axis ends where the values do
    elif axis.high is None:
        high = max(last, first + 1) * step
    # Twelve digits hide what 3 * 0.1 adds to 0.3.
    return low, high, [float(f"{index * step:.12g}") for index in range(first, last + 1)] or [low, high]


def _in_range(value: float) -> float:
    return 0.0 if abs(value) < 1 / _LARGEST else float(value)


def linear_step(at_least: float, *, binary: bool) -> float:
    """The smallest round step that is not below ``at_least``: 1, 2 or 5 times a power of ten, or a power of two."""
    if binary and at_least >= 1:
        return 2.0 ** math.ceil(math.log2(at_least) - 1e-9)
    decade = 10.0 ** math.floor(math.log10(at_least) + 1e-9)
    step = next(factor * decade for factor in (1, 2, 5, 10) if factor * decade >= at_least * (1 - 1e-9))
    return float(f"{step:.1g}")


def _log_ends(axis: Axis, values: Iterable[float]) -> tuple[float, float]:
    known = [value for value in values if _has_ratios(value)]
    low = axis.low if axis.low is not None and _has_ratios(axis.low) else min(known, default=1.0)
    high = axis.high if axis.high is not None and _has_ratios(axis.high) else max(known, default=low * 10)
    if high <= low:
        low, high = low / 2, low * 2
    return low, high


def _has_ratios(value: float) -> bool:
    return 1 / _LARGEST <= value <= _LARGEST


def _log2_ticks(low: float, high: float, most: int) -> list[float]:
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    for stride in (1, 2, 5, 10, 20, 50):  # ten is a whole prefix, so that 1 KiB, 1 MiB and 1 GiB are among them
        exponents = range(-(-first // stride) * stride, last + 1, stride)
        if len(exponents) <= most:
            break
    return [2.0**exponent for exponent in exponents] if len(exponents) >= 2 else [low, high]


def _log10_ticks(low: float, high: float, most: int) -> list[float]:
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        positions = [
            value
            for exponent in range(first, last + 1)
            for factor in factors
            if low * (1 - 1e-9) <= (value := float(f"{factor}e{exponent}")) <= high * (1 + 1e-9)
        ]
        if len(positions) <= most:
            break
    if len(positions) > most:
        positions = positions[:: -(-len(positions) // most)]
    return positions if len(positions) >= 2 else [low, high]


def format_labels(values: Sequence[float], unit: str) -> tuple[tuple[str, ...], str]:
    """The values in human spelling, and the unit that they all share, which the labels then leave out.

    The unit is empty where the values do not share one, and the labels carry their own.
    """
    split = [units.number_and_unit(value, unit) for value in values]
    # Zero is zero in any unit, so it does not spoil a shared one.
    suffixes = {suffix for value, (_, suffix) in zip(values, split, strict=True) if value != 0}
    if len(suffixes) == 1:
        return tuple(number for number, _ in split), suffixes.pop()
    return tuple(
        f"{number} {suffix}".rstrip() if value != 0 else "0"
        for value, (number, suffix) in zip(values, split, strict=True)
    ), ""


def labeled(positions: Sequence[float], unit: str) -> tuple[tuple[Tick, ...], str]:
    """Values with labels that tell them apart, and the unit that all labels share."""
    labels, shared = format_labels(positions, unit)
    distinct = len(set(labels)) == len(labels) and not any(
        value != 0 and units.number_and_unit(value, unit)[0] == "0" for value in positions
    )
    if not distinct:
        # Three digits cannot tell these from each other, or not from zero.
        labels, shared = tuple(f"{value:.12g}" for value in positions), unit if unit != "1" else ""
    return tuple(Tick(value, label) for value, label in zip(positions, labels, strict=True)), shared


def hold_axes(chart: Chart, before: object) -> Chart:
    """The chart with the value axis of the picture before it, while that suits; else with ends that will last."""
    match chart:
        case LineChart():
            last = before.y if isinstance(before, LineChart) and before.title == chart.title else None
            return replace(chart, y=_held(chart.y, last, line_axis_values(chart)))
        case BarChart():
            last = before.axis if isinstance(before, BarChart) and before.title == chart.title else None
            return replace(chart, axis=_held(chart.axis, last, bar_axis_values(chart)))
        case HeatMap():
            return chart


def _held(axis: Axis, before: Axis | None, known: Iterable[float]) -> Axis:
    values = [value for value in known if math.isfinite(value)]
    if not values or before is None or (axis.unit, axis.title) != (before.unit, before.title) or before.high is None:
        return _padded_axis(axis, values)
    # A curve that needed a logarithmic axis once may need it again.
    axis = replace(axis, scale=before.scale if before.scale is not Scale.LINEAR else axis.scale)
    shown = [value for value in values if value > 0] if axis.scale is not Scale.LINEAR else values
    if (
        axis.scale is not before.scale
        or not shown
        or min(shown) < (before.low if before.low is not None else min(0.0, *values))
        or max(shown) > before.high
    ):
        return _padded_axis(axis, values)
    # The share of the axis between its values, or of a linear one between zero and the highest.
    if axis.scale is Scale.LINEAR:
        used = max(map(abs, shown)) / abs(before.high or 1.0)
    elif not before.low or not before.high:
        used = 0.0
    else:
        used = math.log(max(shown) / min(shown)) / math.log(before.high / before.low) if len(shown) > 1 else 1.0
    return before if used >= _LEAST_USED else _padded_axis(axis, values)


def _padded_axis(axis: Axis, values: list[float]) -> Axis:
    """Ends at round numbers with room beyond the values; those that the axis states stay."""
    if not values or max(values) <= 0:
        return axis
    if axis.scale is Scale.LINEAR:
        return axis if axis.high is not None else replace(axis, high=linear_step(max(values) * _HEADROOM, binary=False))
    low, high = round_ends([value for value in values if value > 0], _HEADROOM)
    return replace(axis, low=low, high=max(high, low * 10))


def round_ends(values: Sequence[float], headroom: float = 1.0) -> tuple[float, float]:
    """Return the nearest 1, 2 or 5 times a power of ten outside the values, at least ``headroom`` times beyond them."""
    low = linear_step(headroom / max(min(values), sys.float_info.min), binary=False)  # a smaller one has no inverse
    return 1 / low, linear_step(max(values) * headroom, binary=False)
