"""A session as data: its results as one JSON document, its samples as CSV."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from typing import TextIO

import msgspec

from sizeup.model.advice import AdviceSet
from sizeup.model.sample import Disturbance
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session
from sizeup.sizing.session_advice import AdviceOrigin, ShownAdvice, session_advice
from sizeup.views.cards.cards import cards_data
from sizeup.views.document.caveats import caveats
from sizeup.views.document.document import Document, document, finding_text
from sizeup.views.run.results import results_data

SCHEMA = "sizeup.report/1"


def results_json(session: Session, advice: ShownAdvice | None = None) -> str:
    """What ``--batch --json`` prints, and beside it the verdict, the cards, the machine, findings, advice and gaps.

    Units are bytes, Hz, ns, bytes/s and 1/s; unknown is null. ``advice`` is what the session recorded unless another is
    given.
    """
    shown = session_advice(session) if advice is None else advice
    recorded = () if shown.recorded is None else shown.recorded.advice
    first = document(session, shown)
    data = {
        **results_data(session),
        "schema": SCHEMA,
        "verdict": first.verdict,
        "cards": cards_data(first.cards),
        "summary": {name: lines for name, lines in _questions(first, shown.given) if lines},
        "caveats": caveats(session, shown),
        "machine": session.machine,
        "findings": session.findings,
        "advice": shown.given.advice,
        "advice_origin": {"origin": shown.origin, "label": shown.label, "rules": shown.given.rules},
        **({"advice_recorded": recorded} if shown.origin is AdviceOrigin.RECOMPUTED else {}),
        "notes": session.notes,
        "gaps": session.gaps,
    }
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


_COSTS = ("license.", "value.")
"""What begins the ids of answers about licenses and their cost."""
_MOST_COSTS = 8


def _questions(first: Document, given: AdviceSet) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what a report's first page says by the question that it answers."""
    judged = [card for card in first.cards if card.judged.statement and card.resource != "license"]
    yield "What it is", [f"{card.title}: {', '.join(card.detected)}" for card in first.cards if card.detected]
    verdicts = [f"{card.label}  {card.judged.statement}" for card in judged]
    yield "What it can carry", [*(verdicts or [f"{first.verdict.label}  {first.verdict.statement}"]), *first.figures]
    yield "What limits it", [f"{one.title.rstrip('.')}. {finding_text(one)}".rstrip() for one in first.findings]
    yield "What it costs", [one.verdict for one in given.advice if one.id.startswith(_COSTS)][:_MOST_COSTS]
    yield "Caveats", first.notes


_FIXED = ("step", "series", "unit", "kind", "t_ns", "value", "low", "high", "disturbed_by", "invalid_reason")


def write_csv(session: Session, file: TextIO | codecs.StreamWriter, advice: ShownAdvice | None = None) -> None:
    """A row for each sample; points without samples, as an import has them, give their estimate; then the advice.

    ``kind`` says which; ``invalid_reason`` says why a figure is not valid. Columns ``at.*`` are the coordinates.
    A row of advice has its id as the series; its kind is ``recomputed`` if it is not what the session recorded.
    """
    runs = session.steps.values()
    coordinates = sorted({key for run in runs for point in run.points.values() for key in point.at})
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*_FIXED, *(f"at.{key}" for key in coordinates)])
    for run in runs:
        validity = StepValidity(run)
        for point in run.points.values():
            described = run.series.get(point.series)
            start = (inert(run.step.id), inert(point.series), described.unit if described is not None else "")
            place = tuple(inert(point.at.get(key, "")) for key in coordinates)
            invalid = validity.of(point)
            marked = "" if invalid is None else inert(invalid.sentence())
            if not point.values and point.estimate is not None:
                low, high = ("" if end is None else end for end in (point.estimate.low, point.estimate.high))
                writer.writerow((*start, "estimate", "", point.estimate.value, low, high, "", marked, *place))
            for index, (t_ns, value) in enumerate(zip(point.t_ns, point.values, strict=True)):
                flags = Disturbance(point.flags[index]) if point.flags else Disturbance.NONE
                names = " ".join(flag.name.lower() for flag in flags if flag.name)
                writer.writerow((*start, "sample", t_ns, value, "", "", names, marked, *place))
    shown = session_advice(session) if advice is None else advice
    kind = "recomputed" if shown.origin is AdviceOrigin.RECOMPUTED else "advice"
    for item in shown.given.advice:
        if (figure := item.quantity) is not None:
            ends = ("" if end is None else end for end in (figure.low, figure.high))
            row = ("", inert(item.id), inert(figure.unit), kind, "", figure.value, *ends, "", "")
            writer.writerow((*row, *("" for _ in coordinates)))


def inert(cell: str | int | float) -> str | int | float:
    """Return the cell; text that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell
