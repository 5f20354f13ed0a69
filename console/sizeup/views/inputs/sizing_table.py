"""The answers of sizing as rows of a table: value, range, what they rest on, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from sizeup.model.advice import Advice, AdviceSet, Card, Input
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import HEADLINE
from sizeup.sizing.keys import KEYS
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.text import capitalized
from sizeup.units import base_unit, format_in
from sizeup.views.cards.cards import OUTAGE, VERDICT, card_status, lacks_workload, verdicts_first
from sizeup.views.inputs.advice import answer_title, decision_words, format_quantity
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.whatif import WORKLOAD_KEYS

GROUPS = ("Verdict", "Demand", "Capacity", "Licenses")
_PREFIXES = {
    "Verdict": (VERDICT,),
    "Demand": ("io.demand", "io.cpu-cost", "redo.", "observed.", "workload."),
    "Licenses": ("license.", "value."),
}
"""What the ids of a group begin with; all others are of Capacity."""
ORIGINS = {
    Origin.MEASURED: "measured",
    Origin.IMPORTED: "imported",
    Origin.USER: "typed",
    Origin.PRESET: "published case",
    Origin.DETECTED: "detected",
}
_CONFIDENCE = {"H": "high", "M": "medium", "C": "computed", "L": "low", "K": "unchecked"}
"""By the letter of a source, the best first."""
_DASH = "–"
_CAPACITY = "io.capacity"
NO_WORKLOAD = f"? {WORKLOAD_KEYS[0]}"
"""Id of the row that asks for a workload."""


class AnswerRow(Struct, frozen=True):
    """One answer, or a question that keeps one open."""

    id: str
    """The id of the advice; of a question its key after a question mark."""
    group: str
    title: str
    value: str
    status: str = ""
    """``pass``, ``warn``, ``fail``; empty for what is no verdict."""
    range_: str = ""
    basis: str = ""
    """What it rests on; begins with ``assumed`` where nobody chose one of its inputs."""
    confidence: str = ""
    """Of the weakest rule that it was worked out by."""


def answer_rows(given: AdviceSet, asked: Collection[str] = ()) -> tuple[AnswerRow, ...]:
    """Return the answers by group, verdicts with the worst first; questions after the answers of their group.

    ``asked`` are questions that a change has raised: they come first in their group.
    """
    cards = {card.advice: card for card in given.cards}
    rows = []
    if lacks_workload(given):
        needed = " or ".join(input_label(key) for key in WORKLOAD_KEYS[:2])
        rows.append(AnswerRow(NO_WORKLOAD, "Verdict", "No verdict yet", "no workload", basis=f"missing: {needed}"))
    has_demand = given.find("io.demand.measured") is not None
    entries = (entry for advice in given.advice if advice.id.startswith(VERDICT) for entry in advice.inputs)
    iops = next((entry.quantity for entry in entries if entry.key == "capacity.iops"), None)
    for advice, _ in verdicts_first(given):
        if advice.id == HEADLINE and (advice.decision == "unknown" or has_demand):
            continue  # the row that asks for a workload says so, or the rows of the workload do
        card = cards.get(advice.id)
        judged = card is not None and advice.id.startswith(VERDICT)
        title = answer_title(advice)
        value, status = decision_words(advice.decision) or _DASH, ""
        if advice.quantity is not None:
            value = _figure(advice.quantity.value, advice.quantity, advice.shown_in)
        if card is not None and judged:
            status = card.status
            share = "" if card.share is None else f" {share_text(card.share)}"
            word, assumed, _ = card_status(card).partition(" (assumed)")
            title, value = f"{title}{assumed}", f"{word}{share}"
        rests_on = basis(advice)
        # The IOPS that the storage was judged by; None where it was judged by its throughput, or not at all.
        if advice.id == _CAPACITY and advice.quantity is None and iops is not None:
            title, rests_on = "Storage capacity in IOPS", ORIGINS.get(iops.origin, _DASH)
            value = _figure(iops.value, iops, "IOPS")
            if "capacity.iops" in given.unused:
                value, rests_on = f"! not used, {value}", _NO_EVIDENCE
        if status == ShareStatus.ASSUMED.value and not rests_on.startswith("assumed"):
            rests_on = f"assumed: rule of thumb; {rests_on}"
        letters = {source.confidence for source in advice.sources}
        confidence = next((name for letter, name in reversed(_CONFIDENCE.items()) if letter in letters), "computed")
        confidence = confidence if advice.quantity is not None else ""
        spread = _later(card) if judged and card is not None else _range(advice)
        rows.append(AnswerRow(advice.id, group_of(advice.id), title, value, status, spread, rests_on, confidence))
    told = {advice.title.lower() for advice in given.advice if advice.quantity is None}
    questions = []
    for question in (one for one in given.questions if one.calculation.lower() not in told):
        why = _NO_EVIDENCE if question.unused else f"missing: {input_label(question.key).lower()}"
        group = "Licenses" if question.key.startswith(_PREFIXES["Licenses"]) else group_of(question.key)
        title = f"? {capitalized(question.calculation)}"
        questions.append(AnswerRow(f"? {question.key}", group, title, "unknown", basis=why))
    first = [row for row in questions if row.id.removeprefix("? ") in asked]
    rows = [*first, *rows, *(row for row in questions if row not in first)]
    return tuple(sorted(rows, key=lambda row: GROUPS.index(row.group)))


_NO_EVIDENCE = "measured, but not used"
"""What an answer rests on whose figure is no evidence."""


def _later(card: Card) -> str:
    """Return the shares after a failure and in the last year: ``N+1 64 %, year 3 106 %``."""
    after = OUTAGE if card.outage else "" if card.n_plus_one is None else share_text(card.n_plus_one)
    last = "" if card.last_year is None else f"year {format_in(card.horizon_years, '')} {share_text(card.last_year)}"
    return ", ".join(filter(None, (f"N+1 {after}" if after else "", last)))


def group_of(advice_id: str) -> str:
    """Return the group of an answer."""
    return next((group for group, prefixes in _PREFIXES.items() if advice_id.startswith(prefixes)), "Capacity")


def assumed_keys(inputs: Iterable[Input]) -> list[str]:
    """Return the inputs that nobody chose: defaults of the rules."""
    return [entry.key for entry in inputs if entry.key in KEYS and _origin(entry) is Origin.RULE]


def basis(advice: Advice) -> str:
    """Return what an answer rests on: assumed inputs by name, else where its inputs are from."""
    assumed = assumed_keys(advice.inputs)
    if assumed:
        return f"assumed: {', '.join(input_label(key).lower() for key in assumed)}"
    origins = {_origin(entry) for entry in advice.inputs if entry.key.partition("[")[0] in KEYS}
    known = [name for origin, name in ORIGINS.items() if origin in origins]
    return ", ".join(known) or ("rule" if advice.sources else _DASH)


def _origin(entry: Input) -> Origin | None:
    value = entry.quantity if entry.quantity is not None else entry.words
    return None if value is None else value.origin


def _figure(value: float, quantity: Quantity, shown_in: str) -> str:
    """Return a figure of an answer with four digits, or all before the point; an amount in whole dollars."""
    if quantity.unit == "USD" and value >= _CENTS_BELOW:
        return f"${value:,.0f}"
    scale = base_unit(shown_in or quantity.unit)[1]
    number = value / scale
    shown = float(f"{number:.0f}" if abs(number) >= _WHOLE_FROM else f"{number:.4g}")
    return format_quantity(Quantity(shown * scale, quantity.unit, quantity.origin, quantity.source), shown_in)


_CENTS_BELOW, _WHOLE_FROM = 100.0, 1000


def _range(advice: Advice) -> str:
    quantity = advice.quantity
    if quantity is None or quantity.low is None or quantity.high is None or quantity.low == quantity.high:
        return ""
    low, high = (_figure(end, quantity, advice.shown_in) for end in (quantity.low, quantity.high))
    same = low.partition(" ")[2] == high.partition(" ")[2]
    return f"{low.partition(' ')[0] if same else low} to {high}"
