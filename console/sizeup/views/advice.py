"""Sizing as text and as plain data: the same advice for every renderer."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec

from sizeup.model.advice import Advice, Input
from sizeup.quantity import Quantity
from sizeup.sizing.advise import Sizing
from sizeup.sizing.against import Comparison
from sizeup.sizing.rules import Rules
from sizeup.units import format_in, format_value

SCHEMA = "sizeup.size/1"


def spelled(quantity: Quantity, spelling: str) -> str:
    """A quantity in the spelling of its field, or in the short one where none is named."""
    return format_in(quantity.value, spelling) if spelling else format_value(quantity.value, quantity.unit)


def input_text(entry: Input) -> str:
    """One input with its origin: ``machine.ghz = 2.66 GHz (user, --set)``."""
    if entry.quantity is None:
        words = entry.words
        return f"{entry.key} = {words.value} ({words.origin.value}, {words.source})" if words else entry.key
    quantity = entry.quantity
    return f"{entry.key} = {spelled(quantity, entry.shown_in)} ({quantity.origin.value}, {quantity.source})"


def advice_lines(advice: Advice, *, sources: bool) -> list[str]:
    """One advice as text: its verdict, the working line by line, doubts, and on request where each figure is from."""
    lines = [f"{advice.title}", f"  {advice.verdict}"]
    lines += [f"    {line}" for line in advice.working]
    lines += [f"  ! {doubt}" for doubt in advice.doubts]
    if sources:
        lines += [f"    from  {input_text(entry)}" for entry in advice.inputs]
        lines += [
            f"    rule  {source.id}: {source.title}, {source.date or 'undated'}, confidence {source.confidence}"
            for source in advice.sources
        ]
        lines.append(f"    id    {advice.id}")
    return lines


def sizing_lines(sizing: Sizing, *, sources: bool) -> list[str]:
    """The whole answer as text."""
    blocks = [advice_lines(advice, sources=sources) for advice in sizing.advice]
    if sizing.questions:
        blocks.append(["Not answered", *(f"  ? {question.sentence()}" for question in sizing.questions)])
    if sizing.warnings:
        blocks.append([f"! {warning}" for warning in sizing.warnings])
    return [line for block in blocks for line in (*block, "")][:-1]


def sizing_data(sizing: Sizing, rules: Rules, today: date) -> dict[str, Any]:
    """The whole answer as plain data in base units, with enough to redo each figure by hand."""
    return {
        "schema": SCHEMA,
        "inputs": [{"key": key, "value": msgspec.to_builtins(value)} for key, value in sorted(sizing.inputs.items())],
        "advice": msgspec.to_builtins(sizing.advice),
        "questions": msgspec.to_builtins(sizing.questions),
        "warnings": list(sizing.warnings),
        "rules": [
            {"pack": pack.pack, "checked": pack.checked.isoformat(), "age_days": pack.age_days(today)}
            for pack in rules.packs
        ],
        "overrides": msgspec.to_builtins(rules.overrides),
    }


def comparison_lines(comparisons: tuple[Comparison, ...]) -> list[str]:
    """Each figure of two sizings with both directions of their difference."""
    lines = []
    for comparison in comparisons:
        ratio = comparison.ratio
        lines.append(f"{comparison.id}: {comparison.title}")
        lines.append(
            f"  {ratio.a_name} {spelled(ratio.a, comparison.shown_in)}, "
            f"{ratio.b_name} {spelled(ratio.b, comparison.shown_in)}"
        )
        points = "" if comparison.points is None else f"; {comparison.points:+.1f} percentage points"
        lines.append(f"  {ratio.sentence()}{points}")
    return lines


def comparison_data(comparisons: tuple[Comparison, ...]) -> list[dict[str, Any]]:
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
