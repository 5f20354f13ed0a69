"""How the answers of sizing move with their inputs, as bars, tables, text and plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sizeup.charts.chart import Axis, Bar, BarChart
from sizeup.charts.table import Column, Table
from sizeup.model.advice import Advice, Card
from sizeup.quantity import Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.count import usd_range
from sizeup.units import base_unit, format_in
from sizeup.views.advice import format_quantity
from sizeup.views.cards import status_label

if TYPE_CHECKING:
    from sizeup.sizing.licensing.editions import OtherContract
    from sizeup.sizing.sensitivity import Flip, Swing

FACTORS = "Factors"
"""What the console calls the inputs that move an answer."""


def tornado_chart(target: Advice, swings: tuple[Swing, ...], heading: str = "Sensitivity") -> BarChart:
    """How far one answer moves with each of its inputs, widest first."""
    base = target.quantity
    assert base is not None, target.id
    bars = []
    for swing in swings:
        low, high = (end(swing.at_low, swing.at_high, base.value) for end in (min, max))
        moved = _span(swing.low_input, swing.high_input, "" if KEYS[swing.key].unit == "1" else KEYS[swing.key].unit)
        bars.append(Bar(f"{swing.key} {moved}", base.value, low, high, _span(low, high, target.shown_in)))
    now = format_quantity(Quantity(float(f"{base.value:.4g}"), base.unit, base.origin, base.source), target.shown_in)
    caption = (
        f"The vertical line is the present answer, {now}. Each bar varies one input over the range beside its name: "
        "its own range, or 20% in both directions."
        if bars
        else "No numeric input moves this answer."
    )
    axis = Axis(target.title, base.unit)
    return BarChart(f"{heading}: {target.title}", axis, tuple(bars), caption, spans=True)


def unmoved_chart(title: str) -> BarChart:
    """Return the chart for an answer that has no figure to move."""
    return BarChart(f"{FACTORS}: {title}", Axis(title, "1"), (), "This answer is not a number, so no input moves it.")


def _span(low: float, high: float, unit: str) -> str:
    """Both ends of a range, the unit once: ``2.96 to 4.44 GHz``."""
    scale = base_unit(unit)[1]
    first, last = (format_in(float(f"{end / scale:.4g}") * scale, "" if unit == "1" else unit) for end in (low, high))
    return f"{first.partition(' ')[0]} to {last}"


def _in_key(key: str, value: float) -> str:
    return format_in(value, "" if KEYS[key].unit == "1" else KEYS[key].unit)


def flip_table(turns: tuple[Flip, ...], cards: Sequence[Card] = ()) -> Table:
    """At which value of which input a decision turns; one that rests on a default says so."""
    assumed = {card.advice for card in cards if card.assumed}
    return Table(
        "What would change a decision",
        (Column("Decision"), Column("Now"), Column("Turns to"), Column("When"), Column("Is", numeric=True)),
        tuple(
            (
                flip.advice,
                status_label(flip.now, assumed=flip.advice in assumed),
                flip.then,
                flip.key,
                _in_key(flip.key, flip.threshold),
            )
            for flip in turns
        ),
    )


def sensitivity_lines(charts: tuple[BarChart, ...], turns: Table) -> list[str]:
    """Tornados and turns as text."""
    lines = []
    for chart in charts:
        lines.append(chart.title)
        label_width = max((len(bar.label) for bar in chart.bars), default=0)
        lines += [f"  {bar.label:{label_width}}  gives {bar.note}" for bar in chart.bars]
    if turns.rows:
        lines.append(turns.title)
        lines += [f"  {name}: {now} turns to {then} when {key} is {at}" for name, now, then, key, at in turns.rows]
    return lines


def contract_lines(others: Sequence[OtherContract]) -> list[str]:
    """Return what other editions and metrics cost over the term, as lines of text."""
    room = max((len(one.setting) for one in others), default=0)
    lines = [f"  {one.setting:{room}}  {one.why or f'gives {one.cost and usd_range(one.cost)}'}" for one in others]
    return ["Cost over the term with another contract", *lines] if lines else []


def sensitivity_data(
    swings: tuple[tuple[Advice, tuple[Swing, ...]], ...], turns: tuple[Flip, ...], others: Sequence[OtherContract] = ()
) -> dict[str, Any]:
    """Tornados by answer, turns, and the cost with another contract, in base units."""
    return {
        "contracts": msgspec.to_builtins(tuple(others)),
        "tornado": {target.id: msgspec.to_builtins(bars) for target, bars in swings},
        "flips": msgspec.to_builtins(turns),
    }
