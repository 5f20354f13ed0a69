"""The lines of the Sizing mode, folded to their pane."""

from __future__ import annotations

from rich.text import Text

from sizeup.charts.table import Table
from sizeup.report.text import table_lines
from sizeup.tui.widgets.lists import hanging
from sizeup.views.whatif import InputRow

_FIGURES = 36
"""Column at which the figures of inputs end, where there is room."""
WIDE = 100
"""Columns from which a page has room for wide tables."""
_LABELS = ("from  ", "rule  ", "id    ")
"""What some lines of a working begin with."""


def comparison_lines(table: Table, width: int) -> list[str]:
    """A comparison as a table, or where five columns have no room in two lines a figure."""
    if width >= WIDE:
        return table_lines(table, width)
    lines = []
    for figure, here, there, above, below in table.rows:
        lines.append(hanging(figure, width, 0, 4))
        lines.append(hanging(f"{here} here, {there} there; this machine is {above}, the case {below}", width, 2, 4))
    return lines


def working_line(line: str, width: int) -> str:
    """A line of a working, with what does not fit under its text."""
    words = line.lstrip()
    label = next((len(label) for label in _LABELS if words.startswith(label)), 2)
    return hanging(words, width, len(line) - len(words), len(line) - len(words) + label)


def input_line(row: InputRow, width: int) -> Text:
    """Name and value: figures end in one column, and of words the end is cut where there is no room."""
    name = f"{'* ' if row.changed else '  '}{row.key.partition('.')[2]} "
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(name, style="bold" if row.changed else "")
    text.append(row.value.rjust(max(min(width, _FIGURES) - len(name), 0)), style="bold")
    return text
