"""A session as Markdown: the verdict first, charts as tables of their values, since Markdown has no pictures."""

from __future__ import annotations

import re

from sizeup.charts import text_alternative
from sizeup.charts.chart import BarChart, HeatMap, LineChart
from sizeup.charts.table import Table
from sizeup.text import one_line
from sizeup.views.document.blocks import Block, Facts, Heading, Items, Paragraph, Working
from sizeup.views.document.document import Document, cards_table, first_lists, verdict_facts

_MEANT = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_LINE_LIMIT = 4000


def markdown(document: Document) -> str:
    """The whole text."""
    verdict = document.verdict
    lines = [
        f"# {_text(document.heading)}",
        "",
        f"**{_text(verdict.label)}** {_text(verdict.statement)}",
        "",
        *_facts(Facts((*verdict_facts(verdict), *document.run_facts, *document.about.pairs))),
        *_table(cards_table(document.cards)),
    ]
    for title, items in first_lists(document):
        lines += [f"## {_text(title)}", "", *_items(items)]
    for part in document.parts:
        lines += [f"## {_text(part.title)}", ""]
        for block in part.blocks:
            lines += _block(block)
    return "\n".join(lines).rstrip("\n") + "\n"


def _text(text: str) -> str:
    """The text on one line, with nothing in it that Markdown or a browser would obey."""
    return _MEANT.sub(r"\\\1", one_line(text, _LINE_LIMIT))


def _block(block: Block) -> list[str]:
    match block:
        case Heading(text):
            return [f"### {_text(text)}", ""]
        case Paragraph(text):
            return [*(_text(line) for line in text.splitlines()), ""]
        case Items(lines):
            return _items(lines)
        case Working(lines):
            # Four blanks make code, which no character of the text can end.
            return [*(f"    {one_line(line, _LINE_LIMIT)}" for line in lines), ""]
        case Facts():
            return _facts(block)
        case Table():
            return _table(block)
        case LineChart() | BarChart() | HeatMap():
            return [_text(text_alternative.sentence(block)), "", *_table(text_alternative.table(block))]


def _items(lines: tuple[str, ...]) -> list[str]:
    return [*(f"- {_text(line)}" for line in lines), ""]


def _facts(facts: Facts) -> list[str]:
    return [*(f"- **{_text(name)}**: {_text(value)}" for name, value in facts.pairs), ""]


def _table(table: Table) -> list[str]:
    if not table.rows:
        return []
    lines = [
        "| " + " | ".join(_text(column.title) or " " for column in table.columns) + " |",
        "|" + "|".join(" ---: " if column.numeric else " --- " for column in table.columns) + "|",
    ]
    lines += ["| " + " | ".join(map(_text, row)) + " |" for row in table.rows]
    return [*lines, "", *([_text(table.note), ""] if table.note else [])]
