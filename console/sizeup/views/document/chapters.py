"""The chapters of a session's document: everything that its first page rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sizeup.charts.table import Column, Table
from sizeup.model.advice import Advice, Source
from sizeup.model.finding import Finding
from sizeup.model.machine import Gap, Machine
from sizeup.model.sample import Status
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.text import capitalized
from sizeup.units import format_ns
from sizeup.views.cards.cards import CardView
from sizeup.views.document.blocks import Block, DocumentPart, Facts, Heading, Items, Paragraph, Working
from sizeup.views.document.caveats import caveats
from sizeup.views.inputs.advice import confidence_text, input_text
from sizeup.views.machine.machine import machine_sections
from sizeup.views.run.finished import finished_charts
from sizeup.views.run.results import stated_once


def chapters(
    session: Session, advice: ShownAdvice, cards: Sequence[CardView], findings: Sequence[Finding]
) -> tuple[DocumentPart, ...]:
    """Return the chapters in reading order; those without content are left out."""
    told = (
        *(note for card in cards for note in card.judged.sentences),
        *(note for card in cards for note in card.found.notes),
        *caveats(session, advice),
    )
    named = (
        ("Measurements", _measurements(session)),
        ("Not measured", gap_blocks(session.gaps)),
        ("Sizing", _sizing(session, advice)),
        ("All findings", finding_blocks(findings)),
        ("Caveats", (Items(tuple(dict.fromkeys(told))),) if told else ()),
        ("Machine", machine_blocks(session.machine)),
        ("Environment", _environment(session)),
        ("User notes", map(Paragraph, user_notes(session))),
        ("Not readable", gap_blocks(session.machine.gaps if session.machine else ())),
        ("Session", _about(session)),
    )
    return parts(*named)


def parts(*named: tuple[str, Iterable[Block]], is_open: bool = False) -> tuple[DocumentPart, ...]:
    """Return chapters by their titles, without those that have no content."""
    return tuple(DocumentPart(title, content, is_open) for title, blocks in named if (content := tuple(blocks)))


def user_notes(session: Session) -> tuple[str, ...]:
    """Return what the user wrote, with who wrote it and when."""
    signed = ((note.text, ", ".join(filter(None, (note.author, note.written)))) for note in session.notes if note.text)
    return tuple(f"{text} ({by})" if by else text for text, by in signed)


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
    if run.imported:
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
        yield from advice_blocks(item, shown.recorded_verdict(item))
    if dropped := shown.recorded_only():
        yield Heading("Recorded, but not given by today's rules")
        yield Items(tuple(f"{item.title}: {item.verdict}" for item in dropped))
    if sources := cited(shown.given.advice):
        rows = tuple((one.id, one.title, one.date or "undated", one.confidence) for one in sources)
        yield Heading("Sources")
        yield Table("", (Column("Id"), Column("Source"), Column("Date"), Column("Confidence")), rows)


def finding_blocks(findings: Iterable[Finding]) -> Iterator[Block]:
    """Yield each finding with its evidence, its consequence and what to do."""
    for finding in findings:
        yield Heading(f"{finding.severity.value}: {finding.title}")
        if finding.evidence:
            yield Items(finding.evidence)
        if finding.consequence:
            yield Paragraph(finding.consequence)
        if finding.remedy:
            yield Paragraph(f"What to do: {finding.remedy}")
        if finding.command:
            yield Working(tuple(finding.command.splitlines()))


def machine_blocks(machine: Machine | None) -> Iterator[Block]:
    """Yield what was detected, section by section."""
    for section in () if machine is None else machine_sections(machine):
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
    names = {**first, **last}
    rows = tuple((name.replace("_", " "), str(first.get(name, "")), str(last.get(name, ""))) for name in names)
    yield Table("", (Column("Fact"), Column("First"), Column("Last")), rows)


def gap_blocks(gaps: Sequence[Gap]) -> Iterator[Block]:
    """Yield what could not be read, each with the reason, as a table."""
    if gaps:
        rows = tuple(dict.fromkeys((gap.subject, gap.reason) for gap in gaps))
        yield Table("", (Column("Fact"), Column("Reason")), rows)


def _about(session: Session) -> Iterator[Block]:
    header = session.header
    about = [("Host", header.host), ("Started", header.started), ("Written by", header.tool), ("Session", header.id)]
    about += [("Continued", f"{more.started} by {more.tool}") for more in session.continued]
    if header.sysroot != "/":
        about.append(("Read from", header.sysroot))
    if session.tags:
        about.append(("Tags", ", ".join(session.tags)))
    yield Facts(tuple(about))


def advice_blocks(advice: Advice, recorded: str = "") -> Iterator[Block]:
    """Yield one answer with its working; ``recorded`` is what a session says in its place, where that differs."""
    yield Heading(advice.title)
    yield Paragraph(advice.verdict)
    if recorded:
        yield Paragraph(f"Recorded: {recorded}")
    if advice.working:
        yield Working(advice.working)
    if advice.caveats:
        yield Items(advice.caveats)
    if advice.inputs:
        yield Paragraph("From: " + "; ".join(map(input_text, advice.inputs)) + ".")


def cited(advice: Iterable[Advice]) -> tuple[Source, ...]:
    """Return the sources of all of these answers, each once."""
    return tuple({source.id: source for item in advice for source in item.sources}.values())


def sources_table(sources: Iterable[Source]) -> Table:
    """Return sources with their date, how sure they are, and where to read them."""
    columns = (Column("Source"), Column("Date"), Column("Confidence"), Column("Address"))
    rows = ((one.title, one.date or "undated", confidence_text(one), one.url or "no public address") for one in sources)
    return Table("", columns, tuple(rows))
