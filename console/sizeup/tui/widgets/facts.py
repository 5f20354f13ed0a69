"""Facts and findings as blocks of text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sizeup.model.finding import Finding
from sizeup.text import capitalized
from sizeup.views.result.summary import finding_parts


def facts_grid(facts: Sequence[tuple[str, str]]) -> Table:
    """Return names and values side by side, long values folded under themselves."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(Text(name, style="dim"), Text(value))
    return grid


def finding_text(finding: Finding, *, confirmation: bool = True) -> Group:
    """A finding with its evidence, its meaning and its remedy, and on request the probe that would confirm it."""
    shown: list[Text | Padding] = [Text(capitalized(finding.title), style="bold")]
    for heading, *lines in finding_parts(finding, confirmation=confirmation):
        shown.append(Text(f"\n{heading}", style="bold"))
        for line in lines:  # whose folded rest stays under its start
            text = line.lstrip(" ")
            shown.append(Padding(Text(text), (0, 0, 0, len(line) - len(text) + 2)))
    return Group(*shown)
