"""A page of the documentation as text for a terminal."""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, TableElement
from rich.table import Table
from rich.text import Text

_WIDEST = 100
"""Longer lines of prose are hard to read."""


class _Code(CodeBlock):
    """Code whose lines stay whole, so that they can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in str(self.text).rstrip().splitlines():
            yield Text(f"    {line}", no_wrap=True, overflow="ignore")


class _Table(TableElement):
    """A table that breaks a long word rather than to leave out its end."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
            yield table


def print_page(text: str, related: list[str], file: TextIO, width: int | None = None) -> None:
    """Print a page of Markdown and the names of related pages, without pictures, comments and targets of links."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"^!\[.*?\]\(.*?\)\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)
    console = Console(file=file, highlight=False, no_color=True, width=width)  # a color stands for a status
    console.width = min(console.width, _WIDEST)
    page = Markdown(text, hyperlinks=False)
    page.elements = {**Markdown.elements, "fence": _Code, "code_block": _Code, "table_open": _Table}  # type: ignore[misc]
    console.print(page, crop=False)
    if related:
        console.print(f"\nRelated pages, printed by sizeup help PAGE: {', '.join(related)}", markup=False)
