"""A comparison as text for standard output: the conclusion and the named figures first."""

from __future__ import annotations

import shutil

from sizeup.charts.table import Table
from sizeup.compare.comparison import Comparison
from sizeup.report.text import table_lines
from sizeup.views.comparison.comparison import (
    answers_table,
    differences_table,
    figure_notes,
    machines_sentence,
    mean_sentence,
    metrics_table,
    points_tables,
    sides_sentences,
    sources_table,
)
from sizeup.views.comparison.conclusion import conclusion_lines, headline_table, side_lines


def comparison_lines(comparison: Comparison, *, statistics: bool = False, points: bool = False) -> list[str]:
    """Return the conclusion, the named figures, the machines and the warnings.

    ``statistics`` adds every metric with its interval, ``points`` each point of the curves as well.
    """
    if not comparison.sides[1]:
        lines = [*sides_sentences(comparison), ""]
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


def _titled(table: Table) -> list[str]:
    body = table_lines(table, min(max(shutil.get_terminal_size((100, 24)).columns, 60), 140))
    return [table.title, *body, ""] if body else []
