"""What this box is and whether anything is wrong with it, on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.session.log import Session
from sizeup.sizing.advise import HEADLINE, Sizing
from sizeup.views.advice import advice_lines, need_and_supply
from sizeup.views.chart import Axis, Bar, BarChart
from sizeup.views.step import latest_run, point_value

_MARKS = {Severity.CRITICAL: "! critical", Severity.WARNING: "! warning", Severity.INFO: "info"}
_ORDER = tuple(Severity)


class Entry(Struct, frozen=True):
    """One line, what stands behind it, and where it leads."""

    key: str
    mark: str
    """A word or two before the line: severity, or what kind of figure it is."""
    line: str
    behind: tuple[str, ...]
    mode: str
    """Name of the mode that has more to say."""
    target: str = ""
    """What to show there: a part of the machine, a probe."""


class Overview(Struct, frozen=True):
    """The whole screen."""

    findings: tuple[Entry, ...]
    figures: tuple[Entry, ...]
    advice: tuple[Entry, ...]
    balance: BarChart
    """I/O wanted, carried by the paths, and measured, side by side."""


def overview(
    machine: Machine | None, session: Session | None, sizing: Sizing | None, probes: Sequence[tuple[str, str]]
) -> Overview:
    """What is known so far; ``probes`` are names and titles of what can be measured."""
    found = [*(machine.findings if machine is not None else ()), *(session.findings if session is not None else ())]
    # A run writes down what discovery found as well; what was said later holds.
    once = {_finding_key(item): item for item in found}.values()
    return Overview(
        tuple(_finding(item) for item in sorted(once, key=lambda item: _ORDER.index(item.severity))),
        tuple(_figures(session, probes)),
        tuple(_advice(sizing)),
        _balance(sizing, session),
    )


def _finding_key(finding: Finding) -> str:
    """One kind of finding may stand for several parts of the machine."""
    return " ".join((finding.id, *finding.subjects))


def _finding(finding: Finding) -> Entry:
    behind = (
        *finding.evidence,
        "",
        finding.consequence,
        "",
        "What to do (shown, never run):",
        *finding.remedy.splitlines(),
    )
    target = finding.subjects[0] if finding.subjects else "machine"
    return Entry(_finding_key(finding), _MARKS[finding.severity], finding.title, behind, "topology", target)


def _figures(session: Session | None, probes: Sequence[tuple[str, str]]) -> Iterator[Entry]:
    """What was measured, a line per probe; what was not is left out."""
    for probe, title in probes:
        run = latest_run(session, probe)
        if run is None:
            continue
        value = point_value(run) or "no figure yet"
        state = "running" if run.outcome is None else run.outcome.status.value
        behind = (f"{run.step.title}: {value}", f"{state}; {len(run.points)} points", "", "Enter shows the chart.")
        yield Entry(probe, "figure", f"{title}: {value}", behind, "probes", probe)


_SHOWN = (HEADLINE, "io.supply", "io.balance", "licence.units", "licence.cost.term")


def _advice(sizing: Sizing | None) -> Iterable[Entry]:
    if sizing is None:
        return
    for id_ in _SHOWN:
        advice = sizing.find(id_)
        if advice is not None:
            yield Entry(id_, "sizing", advice.verdict, tuple(advice_lines(advice, sources=True)), "sizing", id_)
    for question in sizing.questions:
        yield Entry(question.key, "asked", question.sentence(), ("Enter goes to the what-if inputs.",), "sizing")


def _balance(sizing: Sizing | None, session: Session | None) -> BarChart:
    known = None if sizing is None else need_and_supply(sizing)
    chart = BarChart("I/O need and supply", Axis("transfer rate", "bytes/s"), ()) if known is None else known
    measured = _measured_rate(session)
    return chart if measured is None else replace(chart, bars=(*chart.bars, Bar("measured here", measured)))


def _measured_rate(session: Session | None) -> float | None:
    """The highest rate that a direct I/O step of this session reached."""
    rates = [
        point.estimate.value
        for run in (session.steps.values() if session is not None else ())
        if run.step.probe.startswith("io.")
        for point in run.points.values()
        if point.estimate is not None
        and (series := run.series.get(point.series)) is not None
        and series.unit == "bytes/s"
    ]
    return max(rates, default=None)
