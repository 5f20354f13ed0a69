"""Facts and findings as blocks of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from sizeup.model.finding import Finding
from sizeup.text import capitalized
from sizeup.views.result.summary import finding_parts

if TYPE_CHECKING:
    from rich.table import Table


_DIM = Style(dim=True)
_GAP = 2
_NARROW = 12
"""With less width for values than this, the names give way as well."""


class FactsGrid(Struct, frozen=True):
    """Names and values side by side, long values folded under themselves: Rich's table in less of its time."""

    facts: Sequence[tuple[str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = max((cell_len(name) for name, _ in self.facts), default=0) + _GAP
        width = options.max_width - names
        if width < _NARROW:
            yield self._table()
            return
        for name, value in self.facts:
            text = Text(value)
            fits = "\n" not in value and cell_len(text.plain) <= width
            beside = Text(name).plain
            for line in [text] if fits else text.wrap(console, width, overflow="fold"):
                yield Segment(beside + " " * (names - cell_len(beside)), _DIM)
                yield Segment(line.plain.rstrip())
                yield Segment.line()
                beside = ""

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._table())

    def _table(self) -> Table:
        from rich.table import Table

        grid = Table.grid(padding=(0, _GAP, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in self.facts:
            grid.add_row(Text(name, style="dim"), Text(value))
        return grid


def finding_text(finding: Finding, *, confirmation: bool = True) -> Group:
    """A finding with its evidence, its meaning and its remedy, and on request the probe that would confirm it."""
    shown: list[Text | Padding] = [Text(capitalized(finding.title), style="bold")]
    for heading, *lines in finding_parts(finding, confirmation=confirmation):
        shown += [Text(f"\n{heading}", style="bold"), *(indented(f"  {line}") for line in lines)]
    return Group(*shown)


def indented(line: str) -> Padding:
    """A line whose folded rest stays under its start."""
    text = line.lstrip(" ")
    return Padding(Text(text), (0, 0, 0, len(line) - len(text)))
