"""A comparison as a document, and as a chapter of a session's report."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup import __version__
from sizeup.charts.chart import LineChart
from sizeup.compare.comparison import Comparison
from sizeup.views.comparison.answer import (
    answer,
    compared_hosts,
    conclusion_lines,
    conditions_band,
    headline_table,
    side_lines,
)
from sizeup.views.comparison.comparison import (
    answers_table,
    differences_table,
    figure_notes,
    machines_sentence,
    mean_sentence,
    metrics_table,
    points_tables,
    sources_table,
    undecided_sentence,
)
from sizeup.views.document.blocks import Block, DocumentPart, Facts, Heading, Items, Paragraph
from sizeup.views.document.document import Document
from sizeup.views.result.verdict import VerdictText
from sizeup.views.run.run_status import NO_RUN


def comparison_part(comparison: Comparison) -> DocumentPart:
    """The comparison as a chapter of a report."""
    conclusion, named = conclusion_lines(comparison), headline_table(comparison)
    blocks: list[Block] = [Items(tuple(conclusion))] if conclusion else []
    blocks.append(Items(tuple(side_lines(comparison))))
    blocks += [Heading(named.title), replace(named, title="")] if named.rows else []
    differences = differences_table(comparison)
    tables = [metrics_table(comparison), *points_tables(comparison), sources_table(comparison)]
    blocks += [differences] if differences.rows else [Paragraph(machines_sentence(comparison) + ".")]
    parts = (*comparison.warnings, *figure_notes(comparison))
    if parts:
        blocks.append(Items(parts))
    for table in tables:
        if table.rows:
            blocks += [Heading(table.title), replace(table, title="")]
    if comparison.means:
        blocks.append(Items(tuple(map(mean_sentence, comparison.means))))
    return DocumentPart("Compared", tuple(blocks))


def comparison_document(comparison: Comparison, overlay: LineChart | None = None) -> Document:
    """Return the comparison in reading order; its status is that of its conditions, where there are any."""
    part, answers, found = comparison_part(comparison), answers_table(comparison), answer(comparison, overlay)
    blocks = (answers, *part.blocks) if answers.rows else part.blocks
    if answers.rows:
        found = replace(found, band=conditions_band(comparison, found.band))
    statement = next(iter(conclusion_lines(comparison)), undecided_sentence(comparison) or "See the conditions.")
    verdict, parts = VerdictText(found.band.word, statement), (replace(part, blocks=blocks, open=not found.rows),)
    about = Facts((("Compared", " against ".join(reversed(found.names))), ("Written", f"by sizeup {__version__}")))
    title = compared_hosts(comparison)
    return Document(title, about, NO_RUN, verdict, found.band, (), (), 0, (), (), (), parts, found)
