"""The sections of an AWR or Statspack report that a workload is read from: rows of a name and figures.

A report in HTML becomes lines of text first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Self

from msgspec import Struct

from sizeup.decoding import data_beside

NUMBER = re.compile(r"(?:(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,18})(?:\.\d{0,18})?|\.\d{1,18})(?:E[+-]?[01]?\d)?", re.ASCII)
"""A figure as Oracle prints it: ``1,234.5``, ``.6``, ``1.3497E+07``."""
_CELL = r"(?:[\d,.]+(?:E[+-]?\d{1,2})?[KMGTP]?|#+|N/A)"
_ROW = re.compile(rf"^\s*(\S.*?):?\s+({_CELL}(?:\s+{_CELL})*)\s*$", re.ASCII)
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
"""Of counts; ``-> Units of K, M, G are divided by 1000``, as Statspack explains."""
_END = re.compile(r"\s{3,}-{30,}\s*$")
"""A rule under a section; a shorter one stands above a sum."""
_OTHERS = ("DB/Inst:", " for DB: ")
"""What every other title of a section has behind it, the second up to 10.1."""
_BEHIND_TITLE = ("  ", " DB/Inst", "DB/Inst", "\t", " for DB: ")
_LONGEST_LINE = 1000
"""Reports are at most 255 characters wide, rows of HTML somewhat more; longer lines are no rows."""

TITLES: Mapping[str, str] = data_beside(__file__, "awr_titles.toml", dict[str, str])
"""Title of a section and what it is called here; empty for one that is not read. Longer titles stand first."""
_SHORT = frozenset({"profile", "io", "memory"})
"""Sections that an empty line ends."""


class NamedFigures(Struct, frozen=True):
    """A name and the figures beside it; None for a cell that holds none, as ``####``."""

    name: str
    figures: tuple[float | None, ...]


_INITIALS = frozenset(title[0] for title in TITLES)


def _title(line: str) -> str | None:
    if line[:1] not in _INITIALS:
        return None
    for title, name in TITLES.items():
        rest = line[len(title) :]
        if line.startswith(title) and (not rest.strip() or rest.startswith(_BEHIND_TITLE)):
            return name
    return None


def _figure(cell: str) -> float | None:
    unit = _UNITS.get(cell[-1:], 0.0)
    digits = cell[:-1] if unit else cell
    return float(digits.replace(",", "")) * (unit or 1.0) if NUMBER.fullmatch(digits) else None


class Sections:
    """The figures of one report by section and name."""

    def __init__(self, text: str) -> None:
        self._rows: dict[str, list[NamedFigures]] = {}
        current, heading, empty = "", "", True
        for line in text.splitlines():
            title = _title(line)
            ends = _END.match(line) or any(other in line for other in _OTHERS)
            if title is not None:
                current, heading, empty = title, line.split("  ")[0].strip(), title not in self._rows
            elif ends or (current in _SHORT and not line.strip() and not empty):
                current = ""
            elif current:
                empty = False
                rows = self._rows.setdefault(current, [])
                if len(line) <= _LONGEST_LINE and (match := _ROW.match(line)):
                    rows.append(NamedFigures(match[1].strip().rstrip(":"), tuple(map(_figure, match[2].split()))))
        short = current in _SHORT and text.endswith("\n")
        self.unended = heading if current and not short else ""
        """The title of a last section that lacks its end, and may lack rows and digits; empty for a whole one."""

    @classmethod
    def of_rates(cls, rates: Mapping[str, float]) -> Self:
        """Return the instance activity that these statistics a second are."""
        found = cls("")
        found._rows = {"activity": [NamedFigures(name, (None, rate)) for name, rate in rates.items()]}
        return found

    def rows(self, section: str) -> Sequence[NamedFigures]:
        """Return the rows of a section in the order of the report; none where it has no such section."""
        return self._rows.get(section, ())

    def figure(self, section: str, name: str, column: int = 0) -> float | None:
        """Return a figure by the name of its row; a name that the report cut off counts, too."""
        for row in self.rows(section):
            cut = len(row.name) >= _LEAST_CUT and name.startswith(row.name)
            if (row.name == name or cut) and column < len(row.figures):
                return row.figures[column]
        return None


_LEAST_CUT = 28
"""Columns for names are 32 characters wide and more; a shorter name was not cut off."""


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
    for token in _TOKEN.finditer(f"{text}<br>"):
        closing, tag = token[1], (token[2] or "").lower()
        words = [] if tag or hidden or token[0].startswith("<") else unescape(token[0]).split()
        if words:
            cells = cells or [[]]  # text outside of tables is a line of one cell
            cells[-1] += words
        elif tag in _HIDDEN:
            hidden = not closing
        elif tag in _ENDS_LINE:
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                lines.append("  ".join(" ".join(words) or EMPTY for words in cells))
            cells = []
            if closing and tag == "table":
                lines.append(TABLE_END)
        elif tag in _CELLS and not closing:
            cells.append([])
    return "\n".join(lines)
