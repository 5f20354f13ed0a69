"""An HTML report as lines of text: a line for each row of a table and each heading, an underline after each table."""

from __future__ import annotations

import re
from html import unescape

TABLE_END = f"{'':10}{'-' * 61}"
"""What ends a table, as the same reports end it in text."""
EMPTY = "N/A"
"""What stands for an empty cell before others, so that these keep their columns."""
_ENDS_LINE = frozenset({"tr", "h1", "h2", "h3", "h4", "p", "br", "li", "table", "title", "div", "pre", "ul"})
_CELLS = frozenset({"td", "th"})
_HIDDEN = frozenset({"style", "script"})
_TOKEN = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)[^<>]*>|<[^<>]*>|[^<]+|<", re.ASCII)
"""A tag with its name, a comment or a declaration, text. The standard parser takes minutes for damaged files."""


def html_lines(text: str) -> str:
    """Return the lines of an HTML document; cells of a row are two spaces apart."""
    lines: list[str] = []
    cells: list[list[str]] = []
    hidden = False
    for token in _TOKEN.finditer(text):
        closing, tag = token[1], (token[2] or "").lower()
        if not tag:
            if not hidden and not token[0].startswith("<"):
                _add(cells, token[0])
        elif tag in _HIDDEN:
            hidden = not closing
        elif tag in _ENDS_LINE:
            _end_line(lines, cells)
            if closing and tag == "table":
                lines.append(TABLE_END)
        elif tag in _CELLS and not closing:
            cells.append([])
    _end_line(lines, cells)
    return "\n".join(lines)


def _add(cells: list[list[str]], text: str) -> None:
    """Put text into the cell it stands in; text outside of tables is a line of one cell."""
    words = unescape(text).split()
    if words:
        if not cells:
            cells.append([])
        cells[-1] += words


def _end_line(lines: list[str], cells: list[list[str]]) -> None:
    """Move the cells, if any of them holds something, to the lines."""
    while cells and not cells[-1]:
        cells.pop()
    if cells:
        lines.append("  ".join(" ".join(words) or EMPTY for words in cells))
    cells.clear()
