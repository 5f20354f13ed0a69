"""Tables and paragraphs as lines of a terminal; apart from the reports, so that small commands start fast."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from sizeup.charts.table import Table
from sizeup.text import cell_len, one_line, padded

PROSE_COLUMNS = 80
"""Of sentences where the output is as wide as it needs to be."""
_NARROWEST_COLUMN = 6


def wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Wrap a text at ``width``; the first line starts with ``first``, the others with ``rest``."""
    return textwrap.wrap(
        one_line(text, 10_000), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


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


_LIST = re.compile(r"[\w(]*\d(?:[\d\-:]*,[\d\-:]+)+[),.;]*")
"""A kernel list such as ``0-3,64-67``; it has no blanks, and a line may end behind each of its ranges."""


class _Wrapper(textwrap.TextWrapper):
    """Wraps between the ranges of a list of CPUs or nodes, never inside one."""

    def _split(self, text: str) -> list[str]:
        return [
            part
            for chunk in super()._split(text)
            for part in (re.split(r"(?<=,)(?=\d)", chunk) if len(chunk) > 20 and _LIST.fullmatch(chunk) else (chunk,))
        ]


def wrap(text: str, width: int, first: str = "", rest: str = "", *, break_words: bool = True) -> list[str]:
    """Wrap a text at ``width``, also behind the commas of long lists; ``first`` and ``rest`` start its lines."""
    return _Wrapper(
        width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=break_words
    ).wrap(text)


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
