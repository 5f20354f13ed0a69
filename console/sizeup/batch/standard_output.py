"""What a run or a comparison found, for standard output."""

from __future__ import annotations

import shutil
from collections import Counter

import msgspec

from sizeup.batch.summary import LINES, summary_lines
from sizeup.charts.table import Table
from sizeup.compare.experiment import ExperimentResult
from sizeup.report.text import table_lines, text
from sizeup.session.value import Session
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.text import plural
from sizeup.views.comparison.experiment import conclusions, experiment_lines, experiment_table
from sizeup.views.document.document import document
from sizeup.views.run.results import results_data

_NARROWEST = 60


def session_lines(
    session: Session,
    *,
    whole: bool = False,
    advice: ShownAdvice | None = None,
    name: str = "FILE",
    max_lines: int = LINES,
) -> list[str]:
    """Return the summary of a session in at most ``max_lines`` lines, or ``whole`` the report with every chapter.

    ``advice`` is what the session recorded unless another is given; ``name`` is what a command calls the session.
    """
    if whole:
        return text(document(session, advice)).splitlines()
    width = max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST)
    return summary_lines(session, width, name=name, advice=advice, max_lines=max_lines)


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


def results_data_json(session: Session) -> str:
    """The results as JSON in base units."""
    return msgspec.json.format(msgspec.json.encode(results_data(session)), indent=2).decode()


def experiment_text(result: ExperimentResult) -> list[str]:
    """An experiment as text: what was compared, the figures under both settings, and what follows."""
    return [
        *experiment_lines(result),
        "",
        *_titled(experiment_table(result)),
        *conclusions(result),
    ]


def _titled(table: Table) -> list[str]:
    body = table_lines(table, min(max(shutil.get_terminal_size((100, 24)).columns, 60), 140))
    return [table.title, *body, ""] if body else []
