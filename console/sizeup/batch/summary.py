"""What a run found, on standard output: a page for people, or plain data."""

from __future__ import annotations

import msgspec

from sizeup.analysis.compare import Comparison
from sizeup.session.log import Session
from sizeup.views.advice import advice_lines
from sizeup.views.comparison import (
    answers_table,
    differences_table,
    mean_sentence,
    metrics_table,
    points_table,
    sides_sentences,
)
from sizeup.views.results import results_data, results_table, steps_table
from sizeup.views.table import Table


def summary_lines(session: Session) -> list[str]:
    """The session on one page of text."""
    header, end = session.header, session.end
    how = end.status if end is not None else "cut short"
    lines = [f"{header.host}, {header.started}, {header.tool}: {how}"]
    lines += [f"! {sentence}" for sentence in session.damage.sentences()]
    for table in (results_table(session), steps_table(session)):
        lines += ["", *table_lines(table)]
    for advice in session.advice:
        lines += ["", *advice_lines(advice, sources=False)]
    if session.findings:
        lines += ["", "Findings", *(f"  {f.severity.value}: {f.title}: {f.remedy}" for f in session.findings)]
    if session.notes:
        lines += ["", "Notes", *(f"  {note.text}" for note in session.notes)]
    return lines


def summary_json(session: Session) -> str:
    """The results as JSON in base units."""
    return msgspec.json.format(msgspec.json.encode(results_data(session)), indent=2).decode()


def table_lines(table: Table) -> list[str]:
    """A table with its columns as wide as they must be; nothing for an empty one."""
    if not table.rows:
        return [f"{table.title}: none"]
    rows = [tuple(column.title for column in table.columns), *table.rows]
    widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
    lines = [table.title]
    for row in rows:
        cells = [
            cell.rjust(width) if column.numeric else cell.ljust(width)
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def comparison_lines(comparison: Comparison, *, points: bool) -> list[str]:
    """A comparison as text: the sides, the machines, the warnings, then the figures."""
    lines = list(sides_sentences(comparison))
    lines += ["", *table_lines(differences_table(comparison))]
    lines += [f"! {warning}" for warning in comparison.warnings]
    lines += ["", *table_lines(metrics_table(comparison))]
    lines += [f"  {mean_sentence(mean)}" for mean in comparison.means]
    if points:
        lines += ["", *table_lines(points_table(comparison))]
    if comparison.answers:
        lines += ["", *table_lines(answers_table(comparison))]
    for metrics, side in ((comparison.only_first, "first side"), (comparison.only_base, "base")):
        if metrics:
            lines.append(f"Only on the {side}: {', '.join(metrics)}")
    return lines
