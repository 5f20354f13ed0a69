"""A session as one document: the verdict, a card per resource and the charts first, then everything they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from sizeup.charts import text_alternative
from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.model.finding import Finding, Severity
from sizeup.session.value import Session
from sizeup.sizing.session_advice import ShownAdvice, session_advice
from sizeup.sizing.verdict import share_text
from sizeup.text import one_line
from sizeup.units import format_in, format_ns
from sizeup.views.cards.cards import OUTAGE, CardView, card_views
from sizeup.views.cards.panels import ShownChart, leading_charts, trends
from sizeup.views.document.blocks import DocumentPart, Facts
from sizeup.views.document.caveats import caveats
from sizeup.views.document.chapters import all_findings, chapters, user_notes
from sizeup.views.machine.facts import machine_line
from sizeup.views.machine.virtualization import runs_on
from sizeup.views.result.summary import SEVERITY_WORDS
from sizeup.views.result.verdict import VerdictText, verdict_text
from sizeup.views.run.finished import headline
from sizeup.views.run.run_status import RunStatus, run_status, validity_grade

_MOST_FINDINGS = 4
_MOST_NOTES = 6
"""What the first page has room for; the chapters hold all of them."""
_NOTE_LENGTH = 240
_FINDING_LENGTH = 320
"""Characters of a text on the first page; the chapters hold the whole text."""
MEASURED, DEMAND = "Measured", "Demand"
SHARE = "Used"
"""The column with the share of the capacity that the demand takes."""
_WITHOUT_WORKLOAD = "Enter a workload: sizeup size --machine FILE --workload FILE"


class Document(Struct, frozen=True):
    """What every report renderer writes down."""

    title: str
    about: Facts
    """The machine, and when it was measured by what, in a line each."""
    run: RunStatus
    """``NO_RUN`` where nothing was to be measured."""
    verdict: VerdictText
    cards: tuple[CardView, ...]
    trends: Mapping[str, tuple[float, ...]]
    """The course of the leading series of a card, by its resource, where one was measured."""
    findings: tuple[Finding, ...]
    """The gravest."""
    more_findings: int
    """Those that the first page has no room for."""
    figures: tuple[str, ...]
    """What was measured, a line for each step."""
    charts: tuple[ShownChart, ...]
    notes: tuple[str, ...]
    """What the user wrote, and what to be careful with."""
    parts: tuple[DocumentPart, ...]

    @property
    def heading(self) -> str:
        """The title, and how the run went where there was one."""
        return ": ".join(filter(None, (self.title, self.run.words)))

    @property
    def run_facts(self) -> tuple[tuple[str, str], ...]:
        """How the run went, with its name; empty without a run."""
        words = ": ".join(filter(None, (self.run.grade.value, self.run.sentence)))
        return (("Run", f"{words}."),) if words else ()


def document(session: Session, advice: ShownAdvice | None = None) -> Document:
    """Return the whole session in reading order; chapters without content are left out.

    ``advice`` is what the session recorded unless another is given.
    """
    advice = session_advice(session) if advice is None else advice
    header = session.header
    cards = card_views(advice.given, session.machine, session)
    found = all_findings(session)
    grave = [finding for finding in found if finding.severity is not Severity.INFO][:_MOST_FINDINGS]
    return Document(
        session.title or f"{header.host}, {header.started[:10]}",
        Facts((("Machine", _machine_text(session)), ("Measured", _when(session)))),
        run_status(session),
        verdict_text(advice.given, cards, found, without="Nothing is judged without a workload", fix=_WITHOUT_WORKLOAD),
        cards,
        trends(session, cards),
        tuple(grave),
        len(found) - len(grave),
        _figures(session),
        leading_charts(session, cards),
        _first_notes(session, advice, cards),
        chapters(session, advice, cards),
    )


def _machine_text(session: Session) -> str:
    """The machine in one line, led by its processor."""
    machine = session.machine
    if machine is None:
        return "unknown: this session contains no machine"
    kernel = f"Linux {machine.platform.kernel}" if machine.platform.kernel else ""
    where = runs_on(machine.platform) or ""
    return ", ".join(filter(None, (machine.cpu_model, machine_line(machine), where, kernel)))


def _when(session: Session) -> str:
    started = session.header.started
    shown = f"{started[:10]} {started[11:16]} UTC" if started.endswith("Z") else started
    took = f", took {format_ns(session.last_ns)}" if session.steps and session.last_ns else ""
    return f"{shown}{took}, by {session.header.tool}"


def _figures(session: Session) -> tuple[str, ...]:
    """What each step measured, in a line, with what of it is not valid."""
    return tuple(
        f"{run.step.title}: {'; '.join(filter(None, (text_alternative.value_range(chart), validity_grade(run)[1])))}."
        for run in session.steps.values()
        if run.points
        for chart in (headline(run, session.machine),)
    )


def _first_notes(session: Session, advice: ShownAdvice, cards: Sequence[CardView]) -> tuple[str, ...]:
    """The user's notes, what the cards have beside their figures, then caveats, as many as fit."""
    written = user_notes(session)
    told = (*written, *(note for card in cards for note in card.judged.sentences), *caveats(session, advice, each=1))
    found = list(dict.fromkeys(one_line(note, _NOTE_LENGTH) for note in told))
    if len(found) > _MOST_NOTES:
        where = "Caveats" if len(written) < _MOST_NOTES else "User notes and Caveats"
        found[_MOST_NOTES - 1 :] = [f"{len(found) - _MOST_NOTES + 1} more under {where}"]
    return tuple(found)


def first_lists(document: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the first page has below its cards, as titles and sentences: findings, figures and notes."""
    findings = [
        f"{SEVERITY_WORDS[finding.severity]}  {finding.title.rstrip('.')}. {finding_text(finding)}".rstrip()
        for finding in document.findings
    ]
    if document.more_findings:
        findings.append(f"{document.more_findings} more under All findings")
    for title, lines in (("Findings", tuple(findings)), ("Measured", document.figures), ("Notes", document.notes)):
        if lines:
            yield title, lines


def finding_text(finding: Finding) -> str:
    """Return why a finding matters and what to do, as sentences, cut where they are long."""
    told = filter(None, (finding.consequence, finding.remedy))
    parts = (part if part.endswith((".", "!", "?")) else f"{part}." for part in told)
    return one_line(" ".join(parts), _FINDING_LENGTH)


def verdict_facts(verdict: VerdictText) -> tuple[tuple[str, str], ...]:
    """Return what to do about the verdict and what it rests on, each with its name."""
    named = (("Fix", verdict.fix), ("Basis", verdict.basis))
    return tuple((name, text) for name, text in named if text)


def cards_table(cards: Sequence[CardView]) -> Table:
    """Return the cards as a table; values that no card has are left out."""
    judged = [title for title, value in _judged(cards) if any(value(card) for card in cards)]
    columns = (
        *(Column(title) for title in ("Resource", "Detected", MEASURED)),
        *(Column(title, numeric=True) for title in judged),
        Column("Status"),
    )
    rows = (
        (
            card.title,
            ", ".join(card.detected) or UNKNOWN,
            ", ".join(card.found.texts) or UNKNOWN,
            *(value(card) or UNKNOWN for title, value in _judged(cards) if title in judged),
            card.label,
        )
        for card in cards
    )
    return Table("", columns, tuple(rows))


def _judged(cards: Sequence[CardView]) -> tuple[tuple[str, Callable[[CardView], str]], ...]:
    """The columns of demand and shares, each with how it is read from a card; empty where a card has none."""
    years = max((card.judged.horizon_years for card in cards), default=0.0)
    return (
        (DEMAND, lambda card: card.judged.demand),
        (SHARE, lambda card: _share(card.judged.share)),
        ("N+1", lambda card: OUTAGE if card.judged.outage else _share(card.judged.n_plus_one)),
        (f"Year {format_in(years, '')}", lambda card: _share(card.judged.last_year)),
    )


def _share(share: float | None) -> str:
    return "" if share is None else share_text(share)
