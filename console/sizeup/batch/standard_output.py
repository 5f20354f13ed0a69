"""What a run or a comparison found, for standard output."""

from __future__ import annotations

import shutil
from collections import Counter

from sizeup.batch.summary import LINES, summary_lines
from sizeup.charts.table import Table
from sizeup.compare.comparison import Comparison
from sizeup.compare.experiment import ExperimentResult
from sizeup.report.text import table_lines, text
from sizeup.session.value import Session
from sizeup.text import plural
from sizeup.views.comparison.answer import conclusion_lines, headline_table, side_lines
from sizeup.views.comparison.comparison import (
    answers_table,
    differences_table,
    figure_notes,
    machines_sentence,
    mean_sentence,
    metrics_table,
    points_tables,
    sources_table,
)
from sizeup.views.comparison.experiment import conclusions, experiment_lines, experiment_table
from sizeup.views.document.document import document

_NARROWEST = 60


def session_lines(session: Session, *, whole: bool = False, name: str = "FILE", max_lines: int = LINES) -> list[str]:
    """Return the summary of a session in at most ``max_lines`` lines, or ``whole`` the report with every chapter.

    ``name`` is what a command calls the session.
    """
    if whole:
        return text(document(session)).splitlines()
    width = max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST)
    return summary_lines(session, width, name=name, max_lines=max_lines)


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
    for metrics, side in ((comparison.only_new, "B (new)"), (comparison.only_baseline, "A (baseline)")):
        if metrics:
            lines.append(f"Only in {side}: {', '.join(metrics)}")
    return lines
