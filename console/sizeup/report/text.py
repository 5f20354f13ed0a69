"""A session as plain text within the width of a terminal, charts drawn with characters."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.charts import text_alternative
from sizeup.charts.cells import draw
from sizeup.charts.chart import BarChart, Chart, HeatMap, LineChart
from sizeup.charts.drawing import Glyphs, shortened
from sizeup.charts.table import Table
from sizeup.report.table import table_lines, wrapped
from sizeup.text import cell_len, one_line, plain
from sizeup.views.cards.table import card_table
from sizeup.views.document.blocks import Block, Facts, Heading, Items, Paragraph, Working
from sizeup.views.document.document import Document, first_lists, verdict_facts

__all__ = ["WIDTH", "chart_lines", "table_lines", "text"]

WIDTH = 80
_PLOT_ROWS = 19
_BAR_TITLE_ROWS = 4


def text(document: Document, *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """The whole text; ``ascii_only`` for terminals and mails that know no more."""
    title = one_line(document.title, WIDTH - len(document.run.words) - 2)
    verdict = document.verdict
    about = (
        ("Verdict", f"{verdict.label}: {verdict.statement}"),
        *verdict_facts(verdict),
        *document.run_facts,
        *document.about.pairs,
    )
    lines = [*_heading(": ".join(filter(None, (title, document.run.words))), "="), *_facts(Facts(about), width), ""]
    lines += [*(line.rstrip() for line in card_table(document.cards, width)), ""]
    for title, items in first_lists(document):
        lines += [title, *_items(items, width), ""]
    for part in document.parts:
        lines += _heading(part.title, "-")
        for block in part.blocks:
            lines += [*_block(block, width, Glyphs.ASCII if ascii_only else Glyphs.BLOCK), ""]
    finished = "\n".join(lines).rstrip("\n") + "\n"
    return plain(finished) if ascii_only else finished


def _heading(title: str, rule: str) -> list[str]:
    title = one_line(title, WIDTH)
    return [title, rule * cell_len(title), ""]


def _block(block: Block, width: int, glyphs: Glyphs) -> list[str]:
    match block:
        case Heading(title):
            return [one_line(title, width)]
        case Paragraph(paragraph):
            return [row for line in paragraph.splitlines() for row in wrapped(line, width, "  ", "  ")]
        case Items(lines):
            return _items(lines, width)
        case Working(lines):
            return [row for line in lines for row in wrapped(line, width, "    ", "      ")]
        case Facts():
            return _facts(block, width)
        case Table():
            return table_lines(block, width)
        case LineChart() | BarChart() | HeatMap():
            return [*chart_lines(block, width, glyphs), "", *table_lines(text_alternative.table(block), width)]


def _items(lines: Iterable[str], width: int) -> list[str]:
    return [row for line in lines for row in wrapped(line, width, "  - ", "    ")]


def _facts(facts: Facts, width: int) -> list[str]:
    label = min(max((cell_len(name) for name, _ in facts.pairs), default=0), 20) + 2
    return [
        row for name, value in facts.pairs for row in wrapped(value, width, f"  {name:<{label}}", " " * (label + 2))
    ]


def chart_lines(chart: Chart, width: int, glyphs: Glyphs) -> list[str]:
    """The chart as characters; a heat map is its table, so there is only to say what it shows."""
    match chart:
        case HeatMap():
            return [
                row
                for text in (chart.title, text_alternative.sentence(chart))
                for row in wrapped(text, width, "  ", "  ")
            ]
        case BarChart(bars=()) | LineChart(lines=()):
            return ["  No data."]
        case BarChart():
            height = len(chart.bars) + _BAR_TITLE_ROWS
        case LineChart():
            height = _PLOT_ROWS
    drawn = draw(chart, width - 2, height, glyphs).text().rstrip("\n").splitlines()
    # A long legend takes the row of the title.
    title = [] if chart.title in drawn[0] or isinstance(chart, BarChart) else wrapped(chart.title, width, "  ", "  ")
    if title and drawn[0].strip() == shortened(chart.title, width - 2):
        drawn = drawn[1:]  # its end alone
    return [*title, *(f"  {line}".rstrip() for line in drawn)]
