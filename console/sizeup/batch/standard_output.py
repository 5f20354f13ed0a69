"""What a run or a comparison found, for standard output.

The summary of a run has one screen: verdict, cards, findings, and what else must be known.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence

from sizeup.charts.table import Table
from sizeup.compare.comparison import Comparison
from sizeup.compare.experiment import ExperimentResult
from sizeup.report.table import wrapped
from sizeup.report.text import table_lines, text
from sizeup.session.value import Session
from sizeup.sizing.session_advice import session_advice
from sizeup.text import capitalized, clipped, one_line, plural
from sizeup.views.cards.table import card_table
from sizeup.views.comparison.answer import conclusion_lines, headline_table, side_lines
from sizeup.views.comparison.comparison import (
    answers_table,
    differences_table,
    figure_notes,
    machines_sentence,
    mean_sentence,
    metrics_table,
    only_lines,
    points_tables,
    sources_table,
)
from sizeup.views.comparison.experiment import conclusions, experiment_lines, experiment_table
from sizeup.views.document.document import document
from sizeup.views.result.sessions import state
from sizeup.views.result.summary import SEVERITY_WORDS, summary
from sizeup.views.result.verdict import VerdictText
from sizeup.views.run.run_status import RunGrade, run_status
from sizeup.views.run.step import point_value

_NARROWEST = 60
LINES = 25
"""Lines of one screen."""
_MOST_WIDTH = 160
_WITHOUT_WORKLOAD = "Give one, or a profile: sizeup size --machine {name} --workload FILE or --profile etcd"


def session_lines(session: Session, *, whole: bool = False, name: str = "FILE", max_lines: int = LINES) -> list[str]:
    """Return the summary of a session in at most ``max_lines`` lines, or ``whole`` the report with every chapter.

    ``name`` is what a command calls the session.
    """
    if whole:
        return text(document(session)).splitlines()
    width = max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST)
    return summary_lines(session, width, name=name, max_lines=max_lines)


def summary_lines(session: Session, width: int, *, name: str = "FILE", max_lines: int = LINES) -> list[str]:
    """Return the summary in at most ``max_lines`` lines where the run succeeded; what went wrong is never left out.

    ``name`` is what a command calls the session.
    """
    width = min(width, _MOST_WIDTH)
    shown = summary(session.machine, session, session_advice(session), (_WITHOUT_WORKLOAD.format(name=name),))
    run = run_status(session)
    stands = f"{state(session)}, {run.words}" if run.grade is not RunGrade.NONE else state(session)
    lines = [f"{one_line(session.header.host, 40)}: {stands}", ""]
    lines += verdict_lines(shown.verdict, width)
    lines += ["", *card_table(shown.cards, width)]
    not_measured = [
        f"{step} {outcome.status.words}{f': {outcome.reason}' if outcome.reason else ''}"
        for step, outcome in session.outcomes.items()
        if step not in session.steps
    ]
    invalid = (note for card in shown.cards if card.found.steps for note in card.found.notes)
    wrong = [*session.damage.sentences(), *not_measured, *_busy_host(session), *invalid]
    gaps = [f"{gap.subject}: {gap.reason}" for gap in dict.fromkeys(session.gaps)]
    notes = [wrapped(sentence, width, "! ", "  ") for sentence in (*wrong, *gaps)]
    # In two lines at most.
    notes = [one if len(one) < 3 else [one[0], clipped(f"{one[1]} {one[2].strip()}", width)] for one in notes]
    findings = [
        [clipped(f"{SEVERITY_WORDS[finding.severity]:5} {capitalized(finding.title)}", width)]
        for _, finding in shown.findings
    ]
    # Results take at most half of the other lines where findings need the rest.
    left = max_lines - len(lines) - 1
    known = {step for card in shown.cards for step in card.found.steps}
    others = [one for step, one in session.steps.items() if step not in known]
    results = [[clipped(f"{one.step.title}: {value}", width)] for one in others if (value := point_value(one))]
    lines += ["", *_fitting(results, left // 2, "result", name)] if results else []
    left = max_lines - len(lines) - 1
    above = _fitting(findings, max(left - sum(map(len, notes)), left // 2), "finding", name)
    below = [*above, *_fitting(notes, left - len(above), "note", name)]
    return [*lines, *([""] if below else []), *below]


def verdict_lines(verdict: VerdictText, width: int) -> list[str]:
    """Return the verdict in lines, its parts under one another."""
    indent = max(len(verdict.label) + 2, 7)
    lines = wrapped(verdict.statement, width, f"{verdict.label:{indent}}", " " * indent)
    for name, words in (("Fix", verdict.fix), ("Basis", verdict.basis)):
        lines += wrapped(words, width, f"{name:{indent}}", " " * indent) if words else []
    return lines


_BUSY = (
    ("others_busy_percent", "other processes used {:g} % of a CPU"),
    ("steal_percent", "the hypervisor took {:g} % of the CPUs (steal)"),
    ("psi_cpu_some_avg10_percent", "tasks waited for a CPU {:g} % of the time"),
    ("psi_io_some_avg10_percent", "tasks waited for I/O {:g} % of the time"),
)
"""Recorded facts of the host's load, with the clause that reports each."""


def _busy_host(session: Session) -> list[str]:
    """Return how busy the host was at most, where a figure of the run did not converge."""
    points = (point.estimate for run in session.steps.values() for point in run.points.values())
    if all(estimate is None or estimate.converged is not False for estimate in points):
        return []
    most = {
        key: max(
            (fact for record in session.environment if isinstance(fact := record.facts.get(key), int | float)),
            default=0,
        )
        for key, _ in _BUSY
    }
    clauses = [text.format(most[key]) for key, text in _BUSY if most[key] >= 1]
    return [f"Figures did not converge; the host was busy: {', '.join(clauses)}"] if clauses else []


def _fitting(blocks: Sequence[Sequence[str]], max_lines: int, noun: str, name: str) -> list[str]:
    """Return the lines of the first blocks that fit; the last line says how many more there are."""
    if sum(map(len, blocks)) <= max_lines:
        return [line for block in blocks for line in block]
    lines: list[str] = []
    for number, block in enumerate(blocks):
        if len(lines) + len(block) > max_lines - 1:
            return [*lines, f"      {plural(len(blocks) - number, f'more {noun}')}: sizeup session show {name}"]
        lines += block
    return lines


def measured_steps(session: Session) -> str:
    """Return how many steps of the plan measured, and how the others ended: ``0 of 1 step measured, 1 refused``."""
    steps = session.plan.steps if session.plan is not None else [run.step for run in session.steps.values()]
    runs = [session.steps.get(step.id) for step in steps]
    measured = sum(run is not None and run.finished for run in runs)
    others = Counter(
        "not run" if run is None else "interrupted" if run.outcome is None else run.outcome.status.value
        for run in runs
        if run is None or not run.finished
    )
    ended = "".join(f", {count} {how}" for how, count in others.items())
    return f"{measured} of {plural(len(steps), 'step')} measured{ended}"


def experiment_text(result: ExperimentResult) -> list[str]:
    """An experiment as text: what was compared, the figures under both settings, and what follows."""
    return [*experiment_lines(result), "", *_titled(experiment_table(result)), *conclusions(result)]


def _titled(table: Table) -> list[str]:
    body = table_lines(table, min(max(shutil.get_terminal_size((100, 24)).columns, 60), 140))
    return [table.title, *body, ""] if body else []


def comparison_lines(comparison: Comparison, *, statistics: bool = False, points: bool = False) -> list[str]:
    """Return the conclusion, the named figures, the machines and the warnings.

    ``statistics`` adds every metric with its interval, ``points`` each point of the curves as well.
    """
    if not comparison.sides[1]:
        lines = [*side_lines(comparison), ""]
        return [*lines, *(f"! {warning}" for warning in comparison.warnings), "", *_titled(answers_table(comparison))]
    named = headline_table(comparison)
    lines = [*conclusion_lines(comparison), ""] if named.rows or comparison.other_workloads else []
    lines += [*side_lines(comparison), "", *_titled(named)]
    lines += _titled(differences_table(comparison)) or [machines_sentence(comparison), ""]
    lines += [f"! {warning}" for warning in (*comparison.warnings, *figure_notes(comparison))]
    if statistics or points or not named.rows:
        lines += ["", *_titled(metrics_table(comparison))]
        lines += [f"  {mean_sentence(mean)}" for mean in comparison.means]
        alone = dict.fromkeys(point.metric for point in comparison.points if point.different)
        if alone and not points:
            lines.append(f"  Single points differ in {', '.join(alone)}: see --points")
        for table in points_tables(comparison) if points else ():
            lines += _titled(table)
    lines += _titled(answers_table(comparison))
    lines += _titled(sources_table(comparison))
    return [*lines, *only_lines(comparison)]
