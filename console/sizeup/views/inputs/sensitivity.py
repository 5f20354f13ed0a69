"""How the answers of sizing move with their inputs, as bars, tables, text and plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sizeup.charts.chart import Axis, Bar, BarChart
from sizeup.charts.table import Column, Table
from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.count import usd_range
from sizeup.units import base_unit, format_in
from sizeup.views.cards.cards import status_label
from sizeup.views.inputs.advice import answer_title, decision_text, format_quantity
from sizeup.views.inputs.input_names import input_label

if TYPE_CHECKING:
    from sizeup.sizing.advise import Sizing
    from sizeup.sizing.editions import OtherContract
    from sizeup.sizing.licensing.table import Row
    from sizeup.sizing.rules import Rules
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
        bars.append(Bar(f"{input_label(swing.key)} {moved}", base.value, low, high, _span(low, high, target.shown_in)))
    now = format_quantity(Quantity(float(f"{base.value:.4g}"), base.unit, base.origin, base.source), target.shown_in)
    caption = (
        f"The vertical line is the present answer, {now}. Each bar varies one input over the range beside its name: "
        "its own range, or 20 % in both directions."
        if bars
        else "No numeric input moves this answer."
    )
    axis = Axis(target.title, base.unit)
    return BarChart(f"{heading}: {target.title}", axis, tuple(bars), caption, spans=True)


def _span(low: float, high: float, unit: str) -> str:
    """Both ends of a range, the unit once: ``2.96 to 4.44 GHz``."""
    scale = base_unit(unit)[1]
    first, last = (format_in(float(f"{end / scale:.4g}") * scale, "" if unit == "1" else unit) for end in (low, high))
    return f"{first.partition(' ')[0]} to {last}"


def flip_table(turns: Sequence[Flip], sizing: Sizing, rules: Rules) -> Table:
    """Return at which value of which input a decision turns; one that rests on a default says so."""
    assumed = {card.advice for card in sizing.cards if card.assumed}
    titles = {one.id: answer_title(one) for one in sizing.advice}

    def text(flip: Flip, decision: str) -> str:
        return decision_text(flip.advice, decision, sizing.inputs, rules)

    rows = []
    for flip in turns:
        now = status_label(text(flip, flip.now), assumed=flip.advice in assumed)
        value = format_in(flip.threshold, "" if KEYS[flip.key].unit == "1" else KEYS[flip.key].unit)
        what = f"{input_label(flip.key)} ({flip.key})"
        rows.append((titles.get(flip.advice, flip.advice), now, text(flip, flip.then), what, value))
    columns = (Column("Decision"), Column("Now"), Column("Turns to"), Column("When"), Column("Is", numeric=True))
    return Table("What would change a decision", columns, tuple(rows))


def sensitivity_lines(swings: Sequence[tuple[Advice, tuple[Swing, ...]]], turns: Table) -> list[str]:
    """Return how far each answer moves with each of its inputs, and what turns a decision, as text."""
    lines = []
    for target, moves in swings:
        if not moves:
            continue
        chart = tornado_chart(target, moves)
        labels = [f"{bar.label} ({swing.key})" for bar, swing in zip(chart.bars, moves, strict=True)]
        room = max(map(len, labels))
        lines.append(chart.title)
        lines += [f"  {label:{room}}  gives {bar.note}" for label, bar in zip(labels, chart.bars, strict=True)]
    if turns.rows:
        lines.append(turns.title)
        lines += [f"  {name}: {now} turns to {then} when {what} is {at}" for name, now, then, what, at in turns.rows]
    return lines


def contract_lines(others: Sequence[OtherContract]) -> list[str]:
    """Return what other editions and metrics cost over the term, as lines of text."""
    names = [f"{one.title} ({one.setting})" for one in others]
    room = max(map(len, names), default=0)
    lines = [f"  {name:{room}}  {_cost_text(one)}" for name, one in zip(names, others, strict=True)]
    return [_CONTRACTS, *lines] if lines else []


def contract_table(others: Sequence[OtherContract]) -> Table:
    """Return what other editions and metrics cost over the term, as a table."""
    rows = tuple((one.title, _cost_text(one), one.setting) for one in others)
    return Table(_CONTRACTS, (Column("Contract"), Column("Cost"), Column("Set with")), rows)


def cost_of(row: Row) -> str:
    """Return what a product costs over the term; ``free`` where nothing is bought."""
    return "free" if row.free else "" if row.term_cost is None else usd_range(row.term_cost)


_CONTRACTS = "Cost over the term with another contract"


def _cost_text(one: OtherContract) -> str:
    cost = "" if one.cost is None else f"{usd_range(one.cost)} over {one.years} years"
    return ", ".join(filter(None, (cost, one.why)))


def sensitivity_data(
    swings: tuple[tuple[Advice, tuple[Swing, ...]], ...], turns: tuple[Flip, ...], others: Sequence[OtherContract] = ()
) -> dict[str, Any]:
    """Tornados by answer, turns, and the cost with another contract, in base units."""
    return {
        "contracts": msgspec.to_builtins(tuple(others)),
        "tornado": {target.id: msgspec.to_builtins(bars) for target, bars in swings},
        "flips": msgspec.to_builtins(turns),
    }
