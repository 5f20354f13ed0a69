"""What this box is and whether anything is wrong with it, on one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import Axis, Bar, BarChart
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.sizing.advise import HEADLINE
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.text import capitalized, plural
from sizeup.views.advice import advice_lines, demand_and_capacity
from sizeup.views.cards import VERDICT, lacks_workload, verdicts_first
from sizeup.views.machine_facts import machine_line
from sizeup.views.virtualization import runs_on
from sizeup.views.whatif import WORKLOAD_KEYS

if TYPE_CHECKING:
    from sizeup.session.value import Session

_MARKS = {Severity.CRITICAL: "! critical", Severity.WARNING: "! warning", Severity.INFO: "info"}
_ORDER = tuple(Severity)


class OverviewEntry(Struct, frozen=True):
    """One line, its details, and the mode that shows more."""

    key: str
    mark: str
    """Severity as a word; empty for entries that are no finding."""
    line: str
    details: tuple[str, ...]
    mode: str
    """Name of the mode that shows more."""
    target: str = ""
    """What to show there: a part of the machine, a probe."""
    finding: Finding | None = None
    """What there is to do about it; None for what is no finding."""


class Overview(Struct, frozen=True):
    """The whole screen."""

    machine: tuple[str, ...]
    """What it is, in two lines of facts, the least important last."""
    findings: tuple[OverviewEntry, ...]
    figures: tuple[OverviewEntry, ...]
    onward: tuple[OverviewEntry, ...]
    """What to do next: more to measure, and the saved session."""
    advice: tuple[OverviewEntry, ...]
    balance: BarChart
    """I/O demand, capacity of the paths, and what was measured, one bar each."""


def overview(
    machine: Machine | None,
    session: Session | None,
    advice: ShownAdvice | None,
    probes: Sequence[tuple[str, str]],
    *,
    measures: bool = True,
) -> Overview:
    """What is known so far; ``probes`` are names and titles of what can be measured, if it can be here and now."""
    found = _findings(machine.findings if machine is not None else (), session.findings if session is not None else ())
    return Overview(
        _identity(machine),
        tuple(
            _finding(key, item) for key, item in sorted(found.items(), key=lambda pair: _ORDER.index(pair[1].severity))
        ),
        tuple(_figures(session, probes)),
        tuple(_onward(session, probes, measures=measures)),
        tuple(_advice(advice)),
        _balance(advice, session),
    )


def _findings(*sources: Sequence[Finding]) -> dict[str, Finding]:
    """Findings by key. A run writes down what discovery found as well: of those the later holds.

    What one source reports twice are two findings, whatever they are about.
    """
    found: dict[str, Finding] = {}
    for source in sources:
        times: Counter[str] = Counter()
        for finding in source:
            key = " ".join((finding.id, *finding.subjects))
            times[key] += 1
            found[f"{key} {times[key]}" if times[key] > 1 else key] = finding
    return found


def _identity(machine: Machine | None) -> tuple[str, ...]:
    if machine is None:
        return ("This session contains no machine.",)
    platform = machine.platform
    kernel = f"Linux {platform.kernel}" if platform.kernel else ""
    known = (platform.model, machine.cpu_model, runs_on(platform), kernel)
    return (machine_line(machine), ", ".join(filter(None, known)) or "Model of the machine unknown")


def _finding(key: str, finding: Finding) -> OverviewEntry:
    target = finding.subjects[0] if finding.subjects else "machine"
    details = tuple(line for part in finding_parts(finding) for line in (*part, ""))[:-1]
    line = capitalized(finding.title)
    return OverviewEntry(key, _MARKS[finding.severity], line, details, "topology", target, finding)


def finding_parts(finding: Finding, *, confirmation: bool = True) -> tuple[tuple[str, ...], ...]:
    """What was seen, what follows, what to do, and what would confirm it; each a heading and its lines."""
    parts = (
        ("Seen", *finding.evidence),
        ("What it means", finding.consequence),
        ("What to do", finding.remedy, *(f"  {line}" for line in finding.command.splitlines())),
        ("What would confirm it", _confirmation(finding) if confirmation else ""),
    )
    return tuple(part for part in parts if any(part[1:]))


def _confirmation(finding: Finding) -> str:
    if finding.probe:
        return f"the probe {finding.probe}"
    return f"measuring {quantity_text(finding.quantity)}" if finding.quantity else ""


def quantity_text(quantity: str) -> str:
    """Return the name of a quantity in words: ``storage random IOPS`` of ``storage.random_iops``."""
    return quantity.replace(".", " ").replace("_", " ").replace("iops", "IOPS")


def _figures(session: Session | None, probes: Sequence[tuple[str, str]]) -> Iterator[OverviewEntry]:
    """What was measured, a line per probe."""
    if session is None:
        return
    from sizeup.session.validity import StepValidity
    from sizeup.views.step import latest_run, point_value, value_reach

    for probe, title in probes:
        run = latest_run(session, probe)
        if run is None:
            continue
        value = point_value(run) or "no figure yet"
        invalid = "" if run.outcome is None else StepValidity(run).summary()
        state = "Running" if run.outcome is None else run.outcome.status.value.replace("-", " ").capitalize()
        # Only this value counts here: other points may not have converged.
        ended = "" if run.outcome is None or run.finished else f", {state.lower()}"
        reach = value_reach(run)
        details = (
            f"{run.step.title}: {value}",
            f"{state}, {plural(len(run.points), 'point')}.",
            *((f"All of them: {reach}.",) if reach else ()),
            *((f"{capitalized(invalid)}.",) if invalid else ()),
            "Enter shows the chart.",
        )
        yield OverviewEntry(probe, "", f"{title}: {value}{ended}", details, "probes", probe)


def _onward(session: Session | None, probes: Sequence[tuple[str, str]], *, measures: bool) -> Iterator[OverviewEntry]:
    """In a line each what was not measured, and what can be done with what was."""
    if session is None:
        return
    from sizeup.views.step import latest_run

    missing = [title for probe, title in probes if latest_run(session, probe) is None]
    if len(missing) == len(probes):
        return
    if missing and measures:
        left = (*missing, "", "Enter shows what can be measured.")
        yield OverviewEntry("missing", "", f"{plural(len(missing), 'more probe')} not run yet: press 3", left, "probes")
    if session.end is not None and measures:
        yield OverviewEntry("saved", "", "Saved: press 5 to note, compare or send it", (), "sessions")


def shares(groups: Sequence[Sequence[int]], room: int) -> tuple[int, ...]:
    """How many entries of each group are shown, that all fit into ``room`` rows, where ``groups`` are their heights.

    The group that takes most rows is cut first, none to less than one; a group that is cut has a row that says so.
    """
    counts = [len(group) for group in groups]

    def rows(group: int) -> int:
        return sum(groups[group][: counts[group]]) + (counts[group] < len(groups[group]))

    while sum(map(rows, range(len(groups)))) > room:
        shrinkable = [group for group, count in enumerate(counts) if count > 1]
        if not shrinkable:
            break
        counts[max(shrinkable, key=rows)] -= 1
    # A row that says that one row is hidden takes as much room as the row.
    return tuple(
        len(group) if count == len(group) - 1 and group[count] == 1 else count
        for count, group in zip(counts, groups, strict=True)
    )


def _of_kind(count: int, kind: str) -> str:
    return plural(count, kind) if kind == Severity.WARNING.value else f"{count} {kind}"


def rest(name: str, hidden: Sequence[OverviewEntry], *, unfolded: bool) -> OverviewEntry:
    """The line that stands for what is left out of a group, and takes it back where it is ``unfolded``."""
    kinds = Counter(entry.mark.strip("! ") for entry in hidden if entry.mark)
    counted = f" ({', '.join(_of_kind(count, kind) for kind, count in kinds.items())})" if kinds else ""
    line = "Enter shows fewer" if unfolded else f"{len(hidden)} more{counted}: Enter shows them"
    details = tuple(f"{entry.mark.strip()}  {entry.line}".strip() for entry in hidden)
    return OverviewEntry(f"rest {name}", "", line, details, "")


_SHOWN = ("license.units", "license.cost.term")
"""Advice that is shown below the verdicts."""
_STORAGE = (HEADLINE, "io.capacity")
"""What is shown of storage while it has no verdict, which names both."""
_NO_WORKLOAD = "No verdict yet: no workload. Press Enter to type its IOPS or MB/s"


def _advice(given: ShownAdvice | None) -> Iterable[OverviewEntry]:
    if given is None:
        return
    if given.label:
        yield OverviewEntry("advice label", "", given.label, (given.label,), "sizing")
    lacking = lacks_workload(given.given)
    if lacking:
        headline = given.given.find(HEADLINE)
        details = () if headline is None else tuple(advice_lines(headline, sources=True))
        yield OverviewEntry(HEADLINE, "", _NO_WORKLOAD, details, "sizing", WORKLOAD_KEYS[0])
    judged = given.given.find("verdict.storage") is not None
    ids = _SHOWN if judged else (*(_STORAGE[1:] if lacking else _STORAGE), *_SHOWN)
    shown = [pair for pair in verdicts_first(given.given) if pair[0].id.startswith(VERDICT) or pair[0].id in ids]
    for advice, line in shown:
        yield OverviewEntry(advice.id, "", line, tuple(advice_lines(advice, sources=True)), "sizing", advice.id)
    for question in given.given.questions:
        if not any(question.key in advice.verdict for advice, _ in shown):
            details = (question.sentence(), "", "Press Enter to type it among the inputs.")
            known = f"Measured, but {question.why_unused}" if question.unused else "Not known"
            yield OverviewEntry(
                question.key, "", f"{known}, and needed: {question.key}", details, "sizing", question.key
            )


def _balance(advice: ShownAdvice | None, session: Session | None) -> BarChart:
    known = None if advice is None else demand_and_capacity(advice.given)
    unknown = "Unknown: press 4 and type what is missing"
    chart = (
        BarChart("I/O demand and capacity", Axis("transfer rate", "bytes/s"), (), unknown) if known is None else known
    )
    rates = _measured_rates(session)
    if not rates:
        return chart
    valid, measured = max(rates)  # a figure that is not valid counts where there is no other
    same = [bar for bar in chart.bars if bar.label == "capacity" and abs(bar.value - measured) <= measured * 5e-4]
    if same and valid:
        # One figure is one bar.
        named = (replace(bar, label="capacity, measured") if bar in same else bar for bar in chart.bars)
        return replace(chart, bars=tuple(named))
    unused = advice is not None and "capacity.mb_s" in advice.given.unused
    note = "not used: see Sizing" if unused else "" if valid else "not valid"
    return replace(chart, bars=(*chart.bars, Bar("measured here", measured, note=note)))


def _measured_rates(session: Session | None) -> list[tuple[bool, float]]:
    """The throughputs of storage that this session measured, each with whether it is valid."""
    if session is None:
        return []
    from sizeup.session.validity import StepValidity

    steps = session.steps.values()
    runs = [run for run in steps if run.declaration.card == "storage"]
    return [
        (validity.of(point) is None, point.estimate.value)
        for run, validity in ((run, StepValidity(run)) for run in runs)
        for point in run.points.values()
        if point.estimate is not None
        and (series := run.series.get(point.series)) is not None
        and series.unit == "bytes/s"
    ]
