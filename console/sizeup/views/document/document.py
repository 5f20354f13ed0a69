"""A session as one document: the verdict, a card per resource and the charts first, then everything they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts import text_alternative
from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.session.effect import effect
from sizeup.session.value import Session
from sizeup.sizing.advise import Sizing
from sizeup.sizing.recorded_inputs import recorded_inputs
from sizeup.sizing.session_advice import ShownAdvice, session_advice
from sizeup.text import one_line, plural
from sizeup.units import format_bytes, format_decimal_bytes, format_ns
from sizeup.views.band import Band, NextStep
from sizeup.views.cards.cards import CardView, share_columns
from sizeup.views.cards.panels import Panel, leading_charts
from sizeup.views.comparison.answer import Answer
from sizeup.views.document.blocks import DocumentPart, Facts
from sizeup.views.document.caveats import caveats
from sizeup.views.document.chapters import chapters, user_notes
from sizeup.views.inputs.option_text import by_names
from sizeup.views.machine.facts import machine_line
from sizeup.views.machine.virtualization import runs_on
from sizeup.views.result.band import summary_band
from sizeup.views.result.basis import basis_text
from sizeup.views.result.summary import SEVERITY_WORDS, Summary, summary
from sizeup.views.result.verdict import NO_VERDICT_YET, VerdictText, verdict_text
from sizeup.views.run.finished import headline
from sizeup.views.run.run_status import RunStatus, run_status, validity_grade

_MOST_FINDINGS = 4
_MOST_NOTES = 6
"""What the first page has room for; the chapters hold all of them."""
_NOTE_LENGTH = 240
_FINDING_LENGTH = 320
"""Characters of a text on the first page; the chapters hold the whole text."""
DETECTED, MEASURED = "Detected", "Measured"
_ENTER = NextStep("Enter the workload: an AWR report, or IOPS, CPU and memory.")
_MEASURE = NextStep("Measure what is unknown, or enter its figures.")
_WITHOUT_WORKLOAD = "Enter a workload: sizeup size --machine FILE --workload FILE"


class Document(Struct, frozen=True):
    """What every report renderer writes down."""

    title: str
    about: Facts
    """The machine, and when it was measured by what, in a line each."""
    run: RunStatus
    """``NO_RUN`` where nothing was to be measured."""
    verdict: VerdictText
    band: Band
    """The same as the first thing that a page shows."""
    cards: tuple[CardView, ...]
    findings: tuple[Finding, ...]
    """The gravest."""
    more_findings: int
    """Those that the first page has no room for."""
    figures: tuple[str, ...]
    """What was measured, a line for each step."""
    charts: tuple[Panel, ...]
    notes: tuple[str, ...]
    """What the user wrote, and what to be careful with."""
    parts: tuple[DocumentPart, ...]
    compared: Answer | None = None
    """What a page begins with that compares sessions."""

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
    header, given = session.header, advice.given
    workload = basis_text(given.inputs if isinstance(given, Sizing) else recorded_inputs(session))
    started = header.started
    when = f"{started[:10]} {started[11:16]} UTC" if started.endswith("Z") else started
    when += f", took {format_ns(session.last_ns)}" if session.steps and session.last_ns else ""
    when += f", by {header.tool}"
    about = (
        ("Machine", machine_text(session.machine)), ("Workload", workload), ("Measured", when),
        ("Used", effect_text(session)),
    )  # fmt: skip
    shown = summary(session.machine, session, advice)
    cards, found = shown.cards, [finding for _, finding in shown.findings]
    verdict = verdict_text(
        advice.given, cards, found, without="Nothing is judged without a workload", fix=_WITHOUT_WORKLOAD
    )
    grave = [finding for finding in found if finding.severity is not Severity.INFO][:_MOST_FINDINGS]
    figures = []
    for run in (one for one in session.steps.values() if one.points):
        told = text_alternative.value_range(headline(run, session.machine)), validity_grade(run)[1]
        figures.append(f"{run.step.title}: {'; '.join(filter(None, told))}.")
    return Document(
        session.title or header.host,
        Facts(tuple((name, text) for name, text in about if text)),
        run_status(session),
        verdict,
        document_band(replace(shown, verdict=verdict), session.machine),
        cards,
        tuple(grave),
        len(found) - len(grave),
        tuple(figures),
        leading_charts(session, cards),
        _first_notes(session, advice, cards),
        chapters(session, advice, cards, found),
    )


def document_band(shown: Summary, machine: Machine | None = None) -> Band:
    """Return the answer of a document without keys, with what to do while there is no verdict."""
    return summary_band(shown, (_ENTER if shown.verdict.status == NO_VERDICT_YET else _MEASURE,), machine)


def without_options(document: Document) -> Document:
    """Return a document whose first page names inputs in place of options of the command line."""
    band = document.band
    steps = tuple(replace(step, text=by_names(step.text)) for step in band.steps)
    return replace(
        document,
        band=replace(band, sentence=by_names(band.sentence), steps=steps, basis=by_names(band.basis)),
        findings=tuple(replace(one, remedy=by_names(one.remedy)) for one in document.findings),
        notes=tuple(one_line(by_names(note), _NOTE_LENGTH) for note in document.notes),
    )


def machine_text(machine: Machine | None) -> str:
    """Return the machine in one line, led by its processor."""
    if machine is None:
        return "unknown: this session contains no machine"
    kernel = f"Linux {machine.platform.kernel}" if machine.platform.kernel else ""
    where = runs_on(machine.platform) or ""
    return ", ".join(filter(None, (machine.cpu_model, machine_line(machine), where, kernel)))


def effect_text(session: Session) -> str:
    """Return what the runs took of the host, their workers included; empty where the session does not record it."""
    used = effect(session)
    if used is None:
        return ""
    least = "at least " if session.end is None else ""
    moved = "storage unknown"
    if used.read_bytes is not None and used.written_bytes is not None:
        read, written = format_decimal_bytes(used.read_bytes), format_decimal_bytes(used.written_bytes)
        moved = f"{read} read from and {written} written to storage"
    files = "no temporary files"
    if folders := used.temporary_files:
        files = f"{plural(len(folders), 'temporary file')} made and removed in {', '.join(dict.fromkeys(folders))}"
    if used.files_unknown:
        files += f", those of {plural(used.files_unknown, 'step')} unknown"
    cpu, memory = format_ns(used.cpu_seconds * 1e9), format_bytes(used.peak_memory_bytes)
    return f"{least}{cpu} of CPU time, {memory} of memory in the largest process, {moved}, {files}"


def _first_notes(session: Session, advice: ShownAdvice, cards: Sequence[CardView]) -> tuple[str, ...]:
    """The user's notes, what the cards have beside their figures, then caveats, as many as fit."""
    written = user_notes(session)
    told = (*written, *(note for card in cards for note in card.judged.sentences), *caveats(session, advice, each=1))
    found = list(dict.fromkeys(told))
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
    notes = tuple(one_line(note, _NOTE_LENGTH) for note in document.notes)
    for title, lines in (("Findings", tuple(findings)), ("Measured", document.figures), ("Notes", notes)):
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
    """Return the cards as a table; a column that no card has a value in is left out."""
    columns = card_columns(cards)
    cells = ([text or UNKNOWN for text in texts] for _, texts in columns)
    rows = zip([card.title for card in cards], *cells, [card.label for card in cards], strict=True)
    titles = (Column(title, numeric=title not in (DETECTED, MEASURED)) for title, _ in columns)
    return Table("", (Column("Resource"), *titles, Column("Status")), tuple(rows))


def card_columns(cards: Sequence[CardView]) -> list[tuple[str, list[str]]]:
    """Return the columns that some card has a value in, with their cells; an empty text for none."""
    columns = [
        (DETECTED, [", ".join(card.detected) for card in cards]),
        (MEASURED, [", ".join(card.found.texts) for card in cards]),
        ("Demand", [card.judged.demand for card in cards]),
        *share_columns([card.judged for card in cards]),
    ]
    return [column for column in columns if any(column[1])]
