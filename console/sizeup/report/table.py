"""Tables and paragraphs as lines of a terminal; apart from the reports, so that small commands start fast."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.table import Table
from sizeup.text import cell_len, one_line, padded, wrap

PROSE_COLUMNS = 80
"""Of sentences where the output is as wide as it needs to be."""
_NARROWEST_COLUMN = 6


def wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Wrap a text at ``width``; the first line starts with ``first``, the others with ``rest``."""
    return wrap(one_line(text, 10_000), width, first, rest)


def fits(table: Table, width: int) -> bool:
    """Whether the table fits into that many columns of a terminal with no cell wrapped."""
    rows = [tuple(column.title for column in table.columns), *table.rows]
    widths = [max(cell_len(one_line(row[index], 1000)) for row in rows) for index in range(len(table.columns))]
    return sum(widths) + 2 * len(widths) <= width


def table_lines(table: Table, width: int | None) -> list[str]:
    """The table in columns two blanks apart; where it is too wide, its widest columns are wrapped.

    Without a width it is as wide as it needs to be, and only its note is wrapped.
    """
    if not table.rows:
        return []
    rows = [tuple(column.title for column in table.columns), *table.rows]
    rows = [tuple(one_line(cell, 10_000) for cell in row) for row in rows]
    widths = [max(cell_len(row[index]) for row in rows) for index in range(len(table.columns))]
    while width is not None and sum(widths) + 2 * len(widths) > width and max(widths) > _NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    lines: list[str] = []
    for number, row in enumerate(rows):
        if any(row):
            lines += _row_lines(row, widths, [column.numeric for column in table.columns])
            if number == 0:
                lines.append("  " + "  ".join("-" * size for size in widths))
    return [*lines, *(wrapped(table.note, width or PROSE_COLUMNS, "  ", "  ") if table.note else ())]


def _row_lines(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    cells = [wrap(cell, max(size, 1)) or [""] for cell, size in zip(row, widths, strict=True)]
    height = max(len(cell) for cell in cells)
    lines = []
    for level in range(height):
        parts = [
            padded(cell[level] if level < len(cell) else "", size, right=right)
            for cell, size, right in zip(cells, widths, numeric, strict=True)
        ]
        lines.append(("  " + "  ".join(parts)).rstrip())
    return lines
