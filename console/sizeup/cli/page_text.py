"""A page of the documentation as text for a terminal."""

from __future__ import annotations

import re
from typing import ClassVar, TextIO

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

_WIDEST = 100
"""Longer lines of prose are hard to read."""

_ANY_WIDTH = 10_000

_THEME = {
    "markdown.code": "bold",
    "markdown.item.bullet": "none",
    "markdown.item.number": "none",
    **{f"markdown.h{level}": "bold" for level in range(1, 7)},
    "markdown.table.border": "none",
    "markdown.table.header": "bold",
}
"""No colors: they stand for a status."""

_UNDERLINES = {"h1": "=", "h2": "-"}


class _PageHeading(Heading):
    """A heading at the left, underlined, so that it stands out where nothing is bold."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text
        if self.tag in _UNDERLINES:
            yield Text(_UNDERLINES[self.tag] * min(self.text.cell_len, options.max_width))


class _Code(CodeBlock):
    """Code whose lines stay whole, so that they can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in str(self.text).rstrip().splitlines():
            yield Text(f"    {line}", no_wrap=True, overflow="ignore")


class _Table(TableElement):
    """A table; where its words do not fit beside each other, one line for each cell."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heading = [cell.content for cell in self.header.row.cells] if self.header and self.header.row else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="markdown.table.header")
        for name in heading:
            table.add_column(name, justify=name.justify or "left", overflow="fold")
        for row in rows:
            table.add_row(*row)
        if Measurement.get(console, options.update(width=_ANY_WIDTH), table).minimum <= options.max_width:
            yield table
            return
        for row in rows:
            for index, (name, cell) in enumerate(zip(heading, row, strict=False)):
                if cell.plain.strip():
                    text = Text.assemble(name, ": " if name.plain.strip() else "", cell)
                    yield Padding(text, (0, 0, 0, 2 if index else 0))
            yield Text()


class _PageMarkdown(Markdown):
    """Markdown with our headings, code and tables."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PageHeading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }


def print_page(text: str, related: list[str], file: TextIO, width: int | None = None) -> None:
    """Print a page of Markdown and the names of related pages, without pictures, comments and targets of links."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"^!\[.*?\]\(.*?\)\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)
    console = Console(file=file, highlight=False, theme=Theme(_THEME), width=width)
    console.width = min(console.width, _WIDEST)
    console.print(_PageMarkdown(text, hyperlinks=False), crop=False)
    if related:
        console.print(f"\nRelated pages, printed by sizeup help PAGE: {', '.join(related)}", markup=False)
