"""The first screen as a value: the verdict, a card for each resource, and the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import AdviceSet
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.text import cell_len
from sizeup.views.cards.cards import CardView, card_views
from sizeup.views.cards.detected import detected_facts
from sizeup.views.result.verdict import VerdictText, in_order, verdict_text

if TYPE_CHECKING:
    from sizeup.session.value import Session

SEVERITY_WORDS = {Severity.CRITICAL: "FAIL", Severity.WARNING: "WARN", Severity.INFO: "INFO"}
"""How a finding is marked beside the statuses of cards."""


class Summary(Struct, frozen=True):
    """Everything that decides."""

    verdict: VerdictText
    cards: tuple[CardView, ...]
    """Worst first."""
    findings: tuple[tuple[str, Finding], ...]
    """Each with a key of its own, the gravest first."""
    given: AdviceSet = AdviceSet()
    """The advice that they rest on."""
    label: str = ""
    """What a reader must know of where the advice comes from; empty for none."""


def summary(
    machine: Machine | None, session: Session | None, advice: ShownAdvice | None, actions: Sequence[str] = ()
) -> Summary:
    """Return what is known so far; ``actions`` say what a reader can do while there is no verdict."""
    given = AdviceSet() if advice is None else advice.given
    cards = card_views(given, machine, session)
    findings = all_findings(machine, session, cards)
    verdict = verdict_text(given, cards, [finding for _, finding in findings], actions)
    return Summary(verdict, cards, findings, given, "" if advice is None else advice.label)


def all_findings(
    machine: Machine | None, session: Session | None, cards: Sequence[CardView]
) -> tuple[tuple[str, Finding], ...]:
    """Return the findings of discovery and of the run with a key for each, the gravest first, then by the cards."""
    found: dict[str, Finding] = {}
    of_run = map(worded, () if session is None else session.findings)
    # A run writes down what discovery found as well: of those the later holds. What one of them reports twice are two.
    for source in (() if machine is None else machine.findings, of_run):
        times: Counter[str] = Counter()
        for finding in source:
            key = " ".join((finding.id, *finding.subjects))
            times[key] += 1
            found[f"{key} {times[key]}" if times[key] > 1 else key] = finding
    place = in_order([card.resource for card in cards])
    return tuple(sorted(found.items(), key=lambda pair: place(pair[1])))


def critical(findings: Iterable[Finding]) -> list[Finding]:
    """Return those that must be mended before a database runs here."""
    return [one for one in findings if one.severity is Severity.CRITICAL]


def finding_parts(finding: Finding, *, confirmation: bool = True) -> tuple[tuple[str, ...], ...]:
    """What was seen, what follows, what to do, and what would confirm it; each a heading and its lines."""
    quantity = finding.quantity.replace(".", " ").replace("_", " ").replace("iops", "IOPS")
    measuring = f"the probe {finding.probe}" if finding.probe else f"measuring {quantity}" if quantity else ""
    parts = (
        ("Seen", *finding.evidence),
        ("What it means", finding.consequence),
        ("What to do", finding.remedy, *(f"  {line}" for line in finding.command.splitlines())),
        ("What would confirm it", measuring if confirmation else ""),
    )
    return tuple(part for part in parts if any(part[1:]))


def card_details(card: CardView, given: AdviceSet, machine: Machine | None) -> tuple[str, ...]:
    """Return everything that is known of a card, a line each: its figures, its notes, and the working."""
    lines = [card.judged.statement] if card.judged.statement else []
    lines += [f"! {note}" for note in (*card.found.notes, *card.judged.sentences) if note != card.judged.statement]
    measured = ", ".join(card.found.texts)
    found = () if machine is None else detected_facts(machine, card.resource)
    facts = [*([("Measured", measured)] if measured else []), *found]
    names = max((cell_len(name) for name, _ in facts), default=0)
    lines += [*([""] if lines and facts else []), *(f"{name:{names}}  {value}" for name, value in facts)]
    working = given.find(card.judged.advice) if card.judged.advice else None
    if working is not None:
        lines += ["", "Working", *(f"  {line}" for line in working.working or (working.verdict,))]
    return tuple(lines) or ("Nothing is known of it yet.",)


def worded(finding: Finding) -> Finding:
    """Return a finding that names its load in words, and whose evidence names no check."""
    # What the first screen of a machine does without.
    from sizeup.model.checks import FAILED_CHECKS
    from sizeup.session.validity import check_reasons
    from sizeup.views.run.points import coordinate_words

    load, colon, rest = finding.title.partition(": ")
    words = coordinate_words("workload", load)
    title = f"{words}: {rest}" if colon and words != load else finding.title
    parts = zip(finding.evidence, check_reasons(finding.evidence), strict=True)
    evidence = dict.fromkeys(reason if check in FAILED_CHECKS else text for text, (check, reason) in parts)
    return replace(finding, title=title, evidence=tuple(evidence))
