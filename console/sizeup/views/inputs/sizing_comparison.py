"""The figures of two sizings beside each other, as text, a table and plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sizeup.charts.table import Column, Table
from sizeup.sizing.keys import KEYS
from sizeup.text import capitalized
from sizeup.units import format_in
from sizeup.views.inputs.advice import format_quantity
from sizeup.views.inputs.input_names import input_label

if TYPE_CHECKING:
    from sizeup.sizing.sizing_comparison import SizingComparison

_TIMES_FROM = 10.0
"""From here on a ratio is stated as a multiple and not in percent."""


def sizing_comparison_lines(comparisons: tuple[SizingComparison, ...]) -> list[str]:
    """Each figure of two sizings with both directions of their difference."""
    lines = []
    for comparison in comparisons:
        ratio = comparison.ratio
        lines.append(f"{_name(comparison)} ({comparison.id})")
        lines.append(
            f"  {ratio.a_name} {format_quantity(ratio.a, comparison.shown_in)}, "
            f"{ratio.b_name} {format_quantity(ratio.b, comparison.shown_in)}"
        )
        points = "" if comparison.points is None else f"; {comparison.points:+.1f} percentage points"
        lines.append(f"  {ratio.sentence()}{points}")
    return lines


def sizing_comparison_table(comparisons: tuple[SizingComparison, ...]) -> Table:
    """Each figure of two sizings, with both directions of their difference in columns."""
    a_name, b_name = (comparisons[0].ratio.a_name, comparisons[0].ratio.b_name) if comparisons else ("", "")
    rows = []
    for comparison in comparisons:
        ratio = comparison.ratio
        a, b = (format_quantity(value, comparison.shown_in) for value in (ratio.a, ratio.b))
        apart = _difference_text(ratio.percent, ratio.times)
        rows.append((_name(comparison), a, b, apart, _difference_text(ratio.inverse_percent, 1 / ratio.times)))
    titles = (capitalized(a_name), b_name, f"{capitalized(a_name)} is", f"{b_name} is")
    columns = (Column("Figure"), *(Column(title, numeric=True) for title in titles))
    return Table(f"{capitalized(a_name)} and {b_name}", columns, tuple(rows))


def _name(comparison: SizingComparison) -> str:
    """Return what a figure is called: an input by its label, an answer by its title."""
    return input_label(comparison.id) if comparison.id in KEYS else capitalized(comparison.title)


def _difference_text(percent: float, times: float) -> str:
    """How far one figure lies from the other, which is the base."""
    if abs(percent) < 0.005:
        return "equal"
    if times >= _TIMES_FROM:
        return f"{format_in(float(f'{times:.3g}'), '')} times it"
    return f"{abs(percent):.3g} % {'above' if percent > 0 else 'below'}"


def sizing_comparison_data(comparisons: tuple[SizingComparison, ...]) -> list[dict[str, Any]]:
    """The same as plain data in base units; percentages name their base."""
    return [
        {
            "id": comparison.id,
            "title": comparison.title,
            "a": msgspec.to_builtins(comparison.ratio.a),
            "b": msgspec.to_builtins(comparison.ratio.b),
            "times": comparison.ratio.times,
            "a_above_b_percent_of_b": comparison.ratio.percent,
            "b_above_a_percent_of_a": comparison.ratio.inverse_percent,
            "points": comparison.points,
            "sentence": comparison.ratio.sentence(),
        }
        for comparison in comparisons
    ]
