"""Advice and the inputs of sizing as text and plain data: the same for every renderer."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from sizeup.decoding import data_beside
from sizeup.model.advice import Advice, Input, Source
from sizeup.quantity import Quantity, Words
from sizeup.sizing.advise import SUMMARY, Sizing
from sizeup.sizing.cards import overall
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import chosen_pack
from sizeup.sizing.pack import short
from sizeup.sizing.sheet import Inputs, Sheet
from sizeup.sizing.verdict import ShareStatus
from sizeup.units import format_in, format_value
from sizeup.views.cards.cards import TITLES, VERDICT, status_text
from sizeup.views.inputs.input_names import used_name

if TYPE_CHECKING:
    from sizeup.sizing.rules import Rules

SCHEMA = "sizeup.size/1"

_CONFIDENCE = {
    "H": "high (first-hand text)",
    "M": "medium (several second-hand texts)",
    "L": "low (one second-hand text)",
    "C": "computed or assumed here",
    "K": "background knowledge, not looked up",
}


def confidence_text(source: Source, lead: str = "") -> str:
    """Return how sure a source is, a degree behind ``lead``; what was read through others is no first-hand text."""
    text = _CONFIDENCE[source.confidence]
    if source.confidence == "H" and "(read through:" in source.title:
        text = "medium (as others quote it)"
    return text if source.confidence in ("C", "K") else f"{lead}{text}"


def format_quantity(quantity: Quantity, unit: str) -> str:
    """Format a quantity in the unit of its field, or in the shortest one where none is named."""
    if not unit:
        return format_value(quantity.value, quantity.unit)
    return format_in(quantity.value, "" if unit == "1" else unit)


def input_text(entry: Input) -> str:
    """Return one input with its origin: ``Base clock, machine.ghz = 2.66 GHz (user, --set)``."""
    name = ", ".join(filter(None, (used_name(entry.key), entry.key)))
    value = entry.quantity or entry.words
    if value is None:
        return name
    text = value.value if isinstance(value, Words) else format_quantity(value, entry.shown_in)
    source = "" if value.source == entry.key else f", {value.source}"
    return f"{name} = {text} ({value.origin.value}{source})"


def advice_lines(advice: Advice, *, sources: bool) -> list[str]:
    """One advice as text: its verdict, the working line by line, caveats, and on request where each figure is from."""
    lines = [f"{advice.title}", f"  {advice.verdict}"]
    lines += [f"    {line}" for line in advice.working]
    lines += [f"  ! {caveat}" for caveat in advice.caveats]
    if sources:
        lines += [f"    from  {input_text(entry)}" for entry in advice.inputs]
        lines += [
            f"    rule  {source.id}: {source.title}, {source.date or 'undated'}; "
            f"{confidence_text(source, 'confidence ')}; {source.url or 'no public URL'}"
            for source in advice.sources
        ]
        lines.append(f"    id    {advice.id}")
    return lines


def sizing_lines(sizing: Sizing, *, sources: bool) -> list[str]:
    """The whole answer as text: the verdicts that matter most, then every answer with its working."""
    summary = [f"  {advice.verdict}" for name in SUMMARY if (advice := sizing.find(name)) is not None]
    blocks = [["In short", *summary]] if summary else []
    blocks += [advice_lines(advice, sources=sources) for advice in sizing.advice]
    if sizing.questions:
        blocks.append(["Not answered", *(f"  ? {question.sentence()}" for question in sizing.questions)])
    if sizing.warnings:
        blocks.append([f"! {warning}" for warning in sizing.warnings])
    return [line for block in blocks for line in (*block, "")][:-1]


def sizing_data(sizing: Sizing, rules: Rules, today: date, subject: str) -> dict[str, Any]:
    """The whole answer as plain data in base units, with enough to redo each figure by hand."""
    from sizeup.views.result.verdict import first_card  # which formats advice by this module

    first, status = first_card(sizing.cards), overall(sizing.cards)
    verdict: dict[str, Any] = {"status": None, "card": None, "statement": None}
    if first is not None:  # the card that decides
        certain = status is not ShareStatus.UNCERTAIN
        verdict = {"status": status.value, "certain": certain, "card": first.resource, "statement": first.statement}
    unused = {key: value for key, value in sizing.inputs.items() if isinstance(value, UnusedMeasurement)}
    return {
        "schema": SCHEMA,
        "subject": subject,
        "inputs": [{"key": key, "value": msgspec.to_builtins(value)} for key, value in sorted(sizing.inputs.items())],
        "verdict": verdict,
        "cards": msgspec.to_builtins(sizing.cards),
        "advice": msgspec.to_builtins(sizing.advice),
        "questions": [
            {"key": one.key, "calculation": one.calculation, "unused": msgspec.to_builtins(unused.get(one.key))}
            for one in sizing.questions
        ],
        "warnings": list(sizing.warnings),
        "rules": [
            {"pack": pack.pack, "checked": pack.checked.isoformat(), "age_days": pack.age_days(today)}
            for pack in rules.packs
        ],
        "overrides": msgspec.to_builtins(rules.overrides),
    }


def value_text(key: str, value: Value) -> str:
    """The value of a key in the key's own unit."""
    if isinstance(value, tuple):
        return ", ".join(value_text(key, part) for part in value)
    if isinstance(value, Quantity):
        return format_quantity(value, "" if KEYS[key].unit == "1" else KEYS[key].unit)
    return f"{value_text(key, value.quantity)}, not used" if isinstance(value, UnusedMeasurement) else value.value


def first_of(value: Value) -> Quantity | Words | None:
    """Return the first figure or word of a value; None for an empty list."""
    if isinstance(value, tuple):
        return value[0] if value else None
    return value.quantity if isinstance(value, UnusedMeasurement) else value


def answer_title(advice: Advice) -> str:
    """Return what an answer is about: ``Storage`` for the verdict on it."""
    if advice.id.startswith(VERDICT):
        return TITLES[advice.id.removeprefix(VERDICT)]
    return advice.title.removeprefix("Licenses: ")


def decision_text(advice_id: str, decision: str, inputs: Inputs, rules: Rules) -> str:
    """Return a decision in words: ``FAIL``, ``the whole database on flash``, the name of an edition."""
    if advice_id.startswith(VERDICT):
        return status_text(decision)
    if advice_id == "license.edition":
        products = chosen_pack(Sheet(inputs, rules)).product
        named = (one.brief or one.title for one in products if short(one.id) == decision)
        return next(named, decision_words(decision))
    return decision_words(decision)


def decision_words(decision: str) -> str:
    """Return a decision in words: ``the whole database on flash``."""
    words = data_beside(__file__, "decision_words.toml", dict[str, str])
    return str(words.get(decision, decision.replace("-", " ")))
