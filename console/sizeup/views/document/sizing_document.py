"""A sizing result as a document: the verdict and the cards first, then what they rest on, with all of the working."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sizeup import __version__
from sizeup.charts.table import Column, Table
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity
from sizeup.session.value import Session
from sizeup.sizing.advise import Sizing
from sizeup.sizing.editions import other_contracts
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.session_advice import rules_text
from sizeup.sizing.workload import YEAR_NS
from sizeup.text import plural
from sizeup.units import format_in
from sizeup.views.band import Band
from sizeup.views.cards.cards import card_views
from sizeup.views.document.blocks import Block, DocumentPart, Facts, Heading, Items, Paragraph
from sizeup.views.document.chapters import (
    advice_blocks,
    cited,
    finding_blocks,
    gap_blocks,
    machine_blocks,
    parts,
    sources_table,
)  # fmt: skip
from sizeup.views.document.document import Document, document_band, machine_text
from sizeup.views.inputs.advice import first_of, value_text
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.sensitivity import contract_table
from sizeup.views.inputs.sizing_table import ORIGINS
from sizeup.views.inputs.whatif import LISTED, question_of
from sizeup.views.result.answer import answer_details, answer_notes, other_answers
from sizeup.views.result.band import status_token
from sizeup.views.result.basis import basis_text
from sizeup.views.result.license_answer import (
    is_about_licenses,
    license_basis,
    license_details,
    license_notes,
    license_rest,
    license_verdict,
)
from sizeup.views.result.summary import Summary, all_findings
from sizeup.views.result.verdict import VerdictText, first_card, verdict_text
from sizeup.views.run.run_status import NO_RUN, run_status

if TYPE_CHECKING:
    from sizeup.sizing.rules import Rules

_WITHOUT_WORKLOAD = ("Give one with: sizeup size --workload FILE",)
_MOST_FINDINGS = 4
"""What the first page has room for; the chapter holds all of them."""
_ALWAYS = ("storage", "cpu", "memory", "license")
"""Resources with a line also where nothing of them is known."""


class Subject(Struct, frozen=True):
    """What was sized."""

    name: str
    """``server-x``."""
    machine: Machine | None = None
    """None for a published case, and for figures that were typed."""
    session: Session | None = None
    """Whose measurements count; None where nothing was measured."""
    label: str = ""
    """What a reader must know of how the answers of a session were worked out; empty for none."""


def sizing_document(
    sizing: Sizing, rules: Rules, today: date, subject: Subject, more: Sequence[DocumentPart] = ()
) -> Document:
    """Return the result in reading order; ``more`` are chapters that were asked for, shown before the working."""
    machine = subject.machine
    views = card_views(sizing, machine, subject.session)
    cards = tuple(view for view in views if view.resource in _ALWAYS or view.judged.demand or view.found.texts)
    keyed = all_findings(machine, None, cards)
    found = [finding for _, finding in keyed]
    grave = tuple(one for one in found if one.severity is not Severity.INFO)[:_MOST_FINDINGS]
    limits: list[tuple[str, str]] = []
    if is_about_licenses(sizing):
        status, statement = license_verdict(sizing)
        counted = license_basis(sizing)
        verdict = VerdictText(status, statement, basis=f"counted for {counted}" if counted else "")
        band = Band(verdict.label, status_token(verdict.status), verdict.statement, basis=verdict.basis)
        notes = list(dict.fromkeys((*license_notes(sizing), *license_rest(sizing))))
    else:
        verdict, first = verdict_text(sizing, cards, found, _WITHOUT_WORKLOAD), first_card(sizing.cards)
        band = document_band(Summary(verdict, cards, keyed, sizing, subject.label))
        notes = [*answer_notes(sizing, first), *other_answers(sizing, first)]
        for label, text in answer_details(sizing):
            limits.append((label or limits[-1][0], text))
    own = f", {plural(len(rules.overrides), 'figure')} of them overridden" if rules.overrides else ""
    about = (
        ("Machine", "" if machine is None else machine_text(machine)),
        ("Workload", basis_text(sizing.inputs)),
        ("Sized", f"{today.isoformat()}, by sizeup {__version__} with {rules_text(sizing)}{own}"),
    )
    questions, sources = [question.sentence() for question in sizing.questions], cited(sizing.advice)
    decisive = parts(  # what a reader decides from
        ("Limits, failures and growth", (Facts(tuple(limits)),) if limits else ()),
        ("Licenses and cost", _licenses(sizing, rules)),
        ("Not answered", (Items(tuple(questions)),) if questions else ()),
        ("Assumptions", _assumptions(sizing, rules)),
        ("Inputs", _inputs(sizing)),
        is_open=True,
    )
    rest = parts(
        ("Working", (block for one in sizing.advice for block in advice_blocks(one))),
        ("Sources", (sources_table(sources),) if sources else ()),
        ("Rules", _rules(sizing, rules)),
        ("All findings", finding_blocks(found)),
        ("Machine", machine_blocks(machine)),
        ("Not readable", gap_blocks(() if machine is None else machine.gaps)),
    )
    return Document(
        f"Sizing of {subject.name}",
        Facts(tuple((name, text) for name, text in about if text)),
        NO_RUN if subject.session is None else run_status(subject.session),
        verdict,
        band,
        cards,
        grave,
        len(found) - len(grave),
        (),
        (),
        tuple(filter(None, (subject.label, *notes))),
        (*decisive, *more, *rest),
    )


def _licenses(sizing: Sizing, rules: Rules) -> Iterator[Block]:
    """Yield count, edition and cost, what other contracts cost, and the sources with their dates."""
    card = next((card for card in sizing.cards if card.resource == "license"), None)
    answers = [one for one in sizing.advice if one.id.startswith("license.")]
    if card is None or not answers:
        return
    counted = license_basis(sizing)
    facts = [("Licenses", card.demand or card.statement), ("Counted for", counted), *license_details(sizing)]
    yield Facts(tuple((name, text) for name, text in facts if text))
    if sizing.find("license.cost.term") is not None:
        others = contract_table(other_contracts(sizing.inputs, rules))
        if others.rows:
            yield Heading(others.title)
            yield replace(others, title="")
    if sources := cited(answers):
        yield Heading("Sources of the license rules and prices")
        yield sources_table(sources)


def _assumptions(sizing: Sizing, rules: Rules) -> Iterator[Block]:
    """Yield what nobody chose: the sentences of the cards, then every default that an answer used."""
    said = dict.fromkeys(text for card in sizing.cards for text in card.assumptions)
    edition = sizing.find("license.edition")
    if edition is not None and any(card.resource == "license" and card.status == "assumed" for card in sizing.cards):
        said[edition.verdict] = None
    if said:
        yield Items(tuple(said))
    used = {entry.key.partition("[")[0] for one in sizing.advice for entry in one.inputs}
    rows = []
    for key in (key for key in KEYS if key in used and key != "license.users"):  # not stated is not none
        value = first_of(sizing.inputs[key]) if key in sizing.inputs else None
        if value is not None and value.origin is Origin.RULE:
            source = rules.sources.get(value.source)
            title = value.source if source is None else source.title
            rows.append((input_label(key), _value(key, sizing.inputs[key]), title, key))
    if rows:
        yield Paragraph("Defaults that the answers used, because nobody chose a value:")
        yield Table("", (Column("Input"), Column("Value"), Column("By"), Column("Key")), tuple(rows))


def _inputs(sizing: Sizing) -> Iterator[Block]:
    """Yield every figure that was typed, imported, measured or detected, by what it is about."""
    columns = (Column("Input"), Column("Value"), Column("Origin"), Column("Source"), Column("Key"))
    for question in LISTED:
        rows = []
        for key in (key for key in KEYS if key in sizing.inputs and question_of(key) == question):
            value = first_of(sizing.inputs[key])
            if value is not None and value.origin is not Origin.RULE:
                origin = ORIGINS[value.origin]
                rows.append((input_label(key), _value(key, sizing.inputs[key]), origin, value.source, key))
        if rows:
            yield Heading(question)
            yield Table("", columns, tuple(rows))


def _value(key: str, value: Value) -> str:
    """Return a value with its range, and of a measurement that does not count why."""
    if isinstance(value, UnusedMeasurement):
        return f"{value_text(key, value)}: {value.cause}"
    if not isinstance(value, Quantity):
        return value_text(key, value)
    text = _figure(key, value)
    if value.low is None or value.high is None or value.low == value.high:
        return text
    low, high = (_figure(key, replace(value, value=end)) for end in (value.low, value.high))
    return f"{text} ({low} to {high})"


def _figure(key: str, quantity: Quantity) -> str:
    if KEYS[key].unit == "y":
        return format_in(quantity.value / YEAR_NS, "years")
    return value_text(key, quantity)


def _rules(sizing: Sizing, rules: Rules) -> Iterator[Block]:
    """Yield when each pack was compared with its sources, and what the user replaced."""
    yield Facts(tuple((pack, f"compared with its sources on {checked}") for pack, checked in sizing.rules.items()))
    if rules.overrides:
        rows = tuple((one.target, str(one.value), one.reason, one.date.isoformat()) for one in rules.overrides)
        yield Heading("Overridden")
        yield Table("", (Column("Rule"), Column("Value"), Column("Reason"), Column("Date")), rows)
