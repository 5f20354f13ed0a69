"""A session as one document: the verdict, a card per resource and the charts first, then everything they rest on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from sizeup.charts import text_alternative
from sizeup.charts.chart import Chart, HeatMap, LineChart, Scale
from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.model.advice import Advice
from sizeup.model.finding import Finding, Severity
from sizeup.model.gap import Gap
from sizeup.model.sample import Status
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.session_advice import ShownAdvice, session_advice
from sizeup.sizing.verdict import share_text
from sizeup.text import capitalized, one_line
from sizeup.units import format_in, format_ns
from sizeup.views.advice import input_text
from sizeup.views.cards import OUTAGE, CardView, card_views
from sizeup.views.finished import finished_charts, headline
from sizeup.views.machine import machine_sections
from sizeup.views.machine_facts import machine_line
from sizeup.views.results import stated_once
from sizeup.views.run_status import RunGrade, RunStatus, run_status, validity_grade
from sizeup.views.summary import caveats
from sizeup.views.verdict import VerdictText, verdict_text
from sizeup.views.virtualization import runs_on

_MOST_FINDINGS = 4
_MOST_NOTES = 6
_MOST_CHARTS = 2
"""What the first page has room for; the chapters hold all of them."""
_NOTE_LENGTH = 240
_FINDING_LENGTH = 320
"""Characters of a text on the first page; the chapters hold the whole text."""
_WITHOUT_WORKLOAD = ("Give one with: sizeup size --session FILE --workload FILE",)
DEMAND = "Demand"
SHARE = "Used"
"""The column with the share of the capacity that the demand takes."""
SEVERITIES = {Severity.CRITICAL: "FAIL", Severity.WARNING: "WARN", Severity.INFO: "INFO"}
_LEAST_POINTS = 3
"""Of a course: fewer are figures."""
_LARGEST = 1e150
"""Differences between larger values leave the range of a float."""


class Heading(Struct, frozen=True):
    """A heading within a part."""

    text: str


class Paragraph(Struct, frozen=True):
    """Running text."""

    text: str


class Items(Struct, frozen=True):
    """A list of sentences."""

    lines: tuple[str, ...]


class Working(Struct, frozen=True):
    """Arithmetic, a line each, to be shown as typed."""

    lines: tuple[str, ...]


class Facts(Struct, frozen=True):
    """Names and their values."""

    pairs: tuple[tuple[str, str], ...]


Block = Heading | Paragraph | Items | Working | Facts | Table | Chart


class DocumentPart(Struct, frozen=True):
    """One chapter."""

    title: str
    blocks: tuple[Block, ...]
    open: bool = False
    """Shown from the start, where a page has its chapters folded."""


class ShownChart(Struct, frozen=True):
    """One of the charts of the first page."""

    chart: Chart
    figures: str
    """What it shows, in a line."""
    grade: RunGrade
    """``PASS``, ``WARN`` where some of its figures are not valid, or ``FAIL`` where none is."""
    invalid: str
    """Why figures of it are not valid; empty where all are."""


class Document(Struct, frozen=True):
    """What every report renderer writes down."""

    title: str
    about: Facts
    """The machine, and when it was measured by what, in a line each."""
    run: RunStatus
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
    def run_fact(self) -> tuple[str, str]:
        """How the run went, with its name."""
        return ("Run", f"{': '.join(filter(None, (self.run.grade.value, self.run.sentence)))}.")


def document(session: Session, advice: ShownAdvice | None = None) -> Document:
    """Return the whole session in reading order; chapters without content are left out.

    ``advice`` is what the session recorded unless another is given.
    """
    advice = session_advice(session) if advice is None else advice
    header = session.header
    cards = card_views(advice.given, session.machine, session)
    found = _all_findings(session)
    grave = [finding for finding in found if finding.severity is not Severity.INFO][:_MOST_FINDINGS]
    chapters = (
        ("Measurements", _measurements(session)),
        ("Not measured", _gaps(session.gaps)),
        ("Sizing", _sizing(session, advice)),
        ("All findings", _findings(session)),
        ("Caveats", _caveats(session, advice, cards)),
        ("Machine", _machine(session)),
        ("Environment", _environment(session)),
        ("User notes", _notes(session)),
        ("Not readable", _gaps(session.machine.gaps if session.machine else ())),
        ("Session", _about(session)),
    )
    return Document(
        session.title or f"{header.host}, {header.started[:10]}",
        Facts((("Machine", _machine_text(session)), ("Measured", _when(session)))),
        run_status(session),
        verdict_text(advice.given, cards, found, _WITHOUT_WORKLOAD),
        cards,
        _trends(session, cards),
        tuple(grave),
        len(found) - len(grave),
        _figures(session),
        _charts(session, cards),
        _first_notes(session, advice, cards),
        tuple(DocumentPart(title, content) for title, blocks in chapters if (content := tuple(blocks))),
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
        f"{run.step.title}: {'; '.join(filter(None, (text_alternative.reach(chart), validity_grade(run)[1])))}."
        for run in session.steps.values()
        if run.points
        for chart in (headline(run, session.machine),)
    )


def _leading_chart(session: Session, step: str) -> Chart | None:
    """The first curve of a step, else its first chart with values; None where it has none."""
    charts = [chart for chart in finished_charts(session.steps[step], session.machine) if text_alternative.reach(chart)]
    return next((chart for chart in charts if _is_curve(chart)), next(iter(charts), None))


def _is_curve(chart: Chart) -> bool:
    return isinstance(chart, LineChart) and any(len(line.points) >= _LEAST_POINTS for line in chart.lines)


def _trends(session: Session, cards: Sequence[CardView]) -> dict[str, tuple[float, ...]]:
    """The values of the longest line of each card's leading chart, where it has enough points for a course."""
    trends = {}
    for card in cards:
        for step in card.steps[:1] if card.measured_valid else ():
            chart = _leading_chart(session, step)
            if isinstance(chart, LineChart) and _is_curve(chart):
                points = max((line.points for line in chart.lines), key=len)
                logarithmic = chart.y.scale is not Scale.LINEAR and all(point.y > 0 for point in points)
                course = tuple(math.log10(point.y) if logarithmic else point.y for point in points)
                if max(map(abs, course)) < _LARGEST:
                    trends[card.resource] = course
    return trends


def _charts(session: Session, cards: Sequence[CardView]) -> tuple[ShownChart, ...]:
    """The leading charts of the cards, the worst card first; curves before other charts, other steps last."""
    leading = list(dict.fromkeys(step for card in cards for step in card.steps[:1]))
    rest = [step for step, run in session.steps.items() if step not in leading and run.points]
    shown = []
    for rank, step in enumerate((*leading, *rest)):
        chart = _leading_chart(session, step)
        if chart is not None:
            order = (not _is_curve(chart), isinstance(chart, HeatMap), rank)
            grade, invalid = validity_grade(session.steps[step])
            shown.append((order, ShownChart(chart, text_alternative.reach(chart), grade, capitalized(invalid))))
    return tuple(one for _, one in sorted(shown, key=lambda pair: pair[0])[:_MOST_CHARTS])


def _first_notes(session: Session, advice: ShownAdvice, cards: Sequence[CardView]) -> tuple[str, ...]:
    """The user's notes, what the cards have beside their figures, then caveats, as many as fit."""
    written = [block.text for block in _notes(session) if isinstance(block, Paragraph)]
    told = (*written, *_card_notes(cards), *caveats(session, advice, each=1))
    found = list(dict.fromkeys(one_line(note, _NOTE_LENGTH) for note in told))
    if len(found) > _MOST_NOTES:
        chapters = "Caveats" if len(written) < _MOST_NOTES else "User notes and Caveats"
        found[_MOST_NOTES - 1 :] = [f"{len(found) - _MOST_NOTES + 1} more under {chapters}"]
    return tuple(found)


def _all_findings(session: Session) -> tuple[Finding, ...]:
    """What was found, the gravest first."""
    every: list[Finding] = [*(session.machine.findings if session.machine else ()), *session.findings]
    order = list(Severity)
    return tuple(sorted(dict.fromkeys(every), key=lambda finding: order.index(finding.severity)))


def _caveats(session: Session, advice: ShownAdvice, cards: Sequence[CardView]) -> Iterator[Block]:
    measured = [note for card in cards for note in card.measured_notes]
    if found := tuple(dict.fromkeys((*_card_notes(cards), *measured, *caveats(session, advice)))):
        yield Items(found)


def _card_notes(cards: Sequence[CardView]) -> list[str]:
    """What the cards have beside their figures, each with the name of its card."""
    return [note if note.startswith(card.title) else f"{card.title}: {note}" for card in cards for note in card.notes]


def _about(session: Session) -> Iterator[Block]:
    header = session.header
    about = [("Host", header.host), ("Started", header.started), ("Written by", header.tool), ("Session", header.id)]
    about += [("Continued", f"{more.started} by {more.tool}") for more in session.continued]
    if header.sysroot != "/":
        about.append(("Read from", header.sysroot))
    if session.tags:
        about.append(("Tags", ", ".join(session.tags)))
    yield Facts(tuple(about))


def _measurements(session: Session) -> Iterator[Block]:
    for run in session.steps.values():
        yield Heading(run.step.title)
        yield Paragraph(_how(run))
        if marked := StepValidity(run).summary():
            yield Paragraph(f"{capitalized(marked)}.")
        yield from finished_charts(run, session.machine)
        caveats = stated_once(
            caveat for point in run.points.values() if point.estimate is not None for caveat in point.estimate.caveats
        )
        if caveats:
            yield Items(tuple(caveats))
    refused = [
        (step, outcome.reason)
        for step, outcome in session.outcomes.items()
        if outcome.status is Status.REFUSED and step not in session.steps
    ]
    if refused:
        yield Heading("Not run")
        yield Table("", (Column("Step"), Column("Reason")), tuple(refused))


def _how(run: StepRun) -> str:
    if run.distribution.startswith("imported from "):
        return f"Step {run.step.id}: {run.distribution}, as figures of {run.step.probe}."
    parts = [f"Step {run.step.id}, measured by {run.step.probe} of {run.distribution}"]
    if run.ended_ns is not None:
        parts.append(f"took {format_ns(run.ended_ns - run.started_ns)}")
    parts.append(f"touched {run.step.touches}")
    text = ", ".join(parts) + "."
    if run.outcome is None:
        return f"{text} It has no end: it was running, or was interrupted."
    if run.outcome.status is Status.OK:
        return text
    reason = f" ({run.outcome.reason})" if run.outcome.reason else ""
    signal = f", {run.outcome.signal}" if run.outcome.signal else ""
    return f"{text} It ended as {run.outcome.status.value}{signal}{reason}."


def _sizing(session: Session, shown: ShownAdvice) -> Iterator[Block]:
    if shown.label and session.machine is not None:
        yield Paragraph(shown.label)
    for item in shown.given.advice:
        yield Heading(item.title)
        yield Paragraph(item.verdict)
        if recorded := shown.recorded_verdict(item):
            yield Paragraph(f"Recorded: {recorded}")
        if item.working:
            yield Working(item.working)
        if item.caveats:
            yield Items(item.caveats)
        if item.inputs:
            yield Paragraph("From: " + "; ".join(map(input_text, item.inputs)) + ".")
    if dropped := shown.recorded_only():
        yield Heading("Recorded, but not given by today's rules")
        yield Items(tuple(f"{item.title}: {item.verdict}" for item in dropped))
    if sources := _sources(shown.given.advice):
        yield Heading("Sources")
        yield Table("", (Column("Id"), Column("Source"), Column("Date"), Column("Confidence")), sources)


def _sources(advice: tuple[Advice, ...]) -> tuple[tuple[str, ...], ...]:
    sources = {source.id: source for item in advice for source in item.sources}
    return tuple((source.id, source.title, source.date or "undated", source.confidence) for source in sources.values())


def _findings(session: Session) -> Iterator[Block]:
    for finding in _all_findings(session):
        yield Heading(f"{finding.severity.value}: {finding.title}")
        if finding.evidence:
            yield Items(finding.evidence)
        if finding.consequence:
            yield Paragraph(finding.consequence)
        if finding.remedy:
            yield Paragraph(f"What to do: {finding.remedy}")
        if finding.command:
            yield Working(tuple(finding.command.splitlines()))


def _machine(session: Session) -> Iterator[Block]:
    if session.machine is None:
        return
    for section in machine_sections(session.machine):
        yield Heading(section.title)
        if section.facts:
            yield Facts(section.facts)
        if section.table is not None:
            yield section.table


def _environment(session: Session) -> Iterator[Block]:
    """Load and settings of the machine during the run, as first and as last recorded."""
    if not session.environment:
        return
    first, last = session.environment[0].facts, session.environment[-1].facts
    rows = tuple(
        (name.replace("_", " "), str(first.get(name, "")), str(last.get(name, ""))) for name in {**first, **last}
    )
    yield Table("", (Column("Fact"), Column("First"), Column("Last")), rows)


def _notes(session: Session) -> Iterator[Block]:
    for note in session.notes:
        by = ", ".join(filter(None, (note.author, note.written)))
        if note.text:
            yield Paragraph(f"{note.text} ({by})" if by else note.text)


def _gaps(gaps: Sequence[Gap]) -> Iterator[Block]:
    if gaps:
        rows = tuple(dict.fromkeys((gap.subject, gap.reason) for gap in gaps))
        yield Table("", (Column("Fact"), Column("Reason")), rows)


def cards_table(cards: Sequence[CardView]) -> Table:
    """Return the cards as a table; values that no card has are left out."""
    judged = [title for title, value in _judged(cards) if any(value(card) for card in cards)]
    columns = (
        *(Column(title) for title in ("Resource", "Detected", "Measured")),
        *(Column(title, numeric=True) for title in judged),
        Column("Status"),
    )
    rows = (
        (
            card.title,
            ", ".join(card.detected) or UNKNOWN,
            ", ".join(card.measured) or UNKNOWN,
            *(value(card) or UNKNOWN for title, value in _judged(cards) if title in judged),
            card.status,
        )
        for card in cards
    )
    return Table("", columns, tuple(rows))


def _judged(cards: Sequence[CardView]) -> tuple[tuple[str, Callable[[CardView], str]], ...]:
    """The columns of demand and shares, each with how it is read from a card; empty where a card has none."""
    years = max((card.years for card in cards), default=0.0)
    return (
        (DEMAND, lambda card: card.demand),
        (SHARE, lambda card: _share(card.used)),
        ("N+1", lambda card: OUTAGE if card.outage else _share(card.n_plus_one)),
        (f"Year {format_in(years, '')}", lambda card: _share(card.last_year)),
    )


def _share(share: float | None) -> str:
    return "" if share is None else share_text(share)


def later_shares(cards: Sequence[CardView]) -> tuple[str, ...]:
    """Return the shares after a failure and in the last year in words, for a table without room for them."""
    lines = []
    for card in cards:
        shares = (
            (card.n_plus_one, "after the worst single failure"),
            (card.last_year, f"in year {format_in(card.years, '')}"),
        )
        known = [f"{OUTAGE} after a single failure"] if card.outage else []
        known += [f"{share_text(share)} {when}" for share, when in shares if share is not None]
        lines += [f"{card.title}: {', '.join(known)}"] if known else []
    return tuple(lines)


def first_lists(document: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what the first page has below its cards, as titles and sentences: findings, figures and notes."""
    findings = [
        f"{SEVERITIES[finding.severity]}  {finding.title.rstrip('.')}. {finding_text(finding)}".rstrip()
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
    named = (("Fix", verdict.fix), ("Basis", verdict.basis), ("Rule of thumb", verdict.rule))
    return tuple((name, text) for name, text in named if text)
