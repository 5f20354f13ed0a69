"""Names and values side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text


def facts_grid(facts: Sequence[tuple[str, str]]) -> Table:
    """Names and values side by side, long values folded under themselves."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(Text(name, style="dim"), Text(value))
    return grid


def facts_list(facts: Sequence[tuple[str, str]]) -> Text:
    """Names above their values, for a narrow pane."""
    text = Text()
    for name, value in facts:
        short = value.partition(" (")[0]
        if len(name) + len(short) <= 24:
            text.append(f"{name}  ", style="dim").append(f"{short}\n")
        else:
            text.append(f"{name}\n", style="dim").append(f"  {short}\n")
    return text
