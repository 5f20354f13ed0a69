"""A grid of character cells, and what every chart that is drawn in one needs.

Each cell has a role (axis, a series, a heat level); whoever shows a drawing turns roles into colors,
or leaves them out: markers and printed values carry the meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from sizeup.charts.axes import Ruler

GROUND = "@"
"""Parts the role of a cell from that of its background: ``series-0@tile``."""

SERIES = 6
"""Series that look different; the seventh looks like the first but has its own legend entry."""

_HEAT = (0, 1, 2, 4, 5)
"""Levels of the ramp of magnitudes on which text can be read in every theme."""


class Glyphs(Enum):
    """What the terminal's font has."""

    BRAILLE = "braille"
    BLOCK = "block"
    """Half blocks and lines: console fonts lack braille."""
    ASCII = "ascii"


class Alphabet(Struct, frozen=True):
    """The characters that a chart is made of."""

    markers: str
    vertical: str
    grid: str
    boundary: str
    demand: str
    bar: str
    """Less than a whole block where the font has it, so that bars below each other stay apart."""
    range_: str
    disturbed: str
    above: str
    """Where an interval is cut at the upper end of the plot."""
    below: str
    beyond: str
    """Where the interval of a bar is cut."""


_UNICODE = Alphabet("●▲■◆○△", "│", "┄", "┊", "┃", "▇", "├─┤", "×", "↑", "↓", "→")
_CONSOLE = Alphabet("●▲■♦○+", "│", "·", ":", "║", "█", "├─┤", "x", "↑", "↓", "→")
_ASCII = Alphabet("ox+%#@", "|", ".", ":", "|", "#", "|-|", "!", "^", "v", ">")
ALPHABETS = {Glyphs.BRAILLE: _UNICODE, Glyphs.BLOCK: _CONSOLE, Glyphs.ASCII: _ASCII}

DOTS = {Glyphs.BRAILLE: (2, 4), Glyphs.BLOCK: (1, 2), Glyphs.ASCII: (1, 1)}
"""Dots in a cell, across and down."""


class Drawing:
    """A grid of cells; ``rows`` and ``roles`` have the same shape."""

    __slots__ = ("height", "roles", "rows", "width")

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.rows = [[" "] * width for _ in range(height)]
        self.roles = [[""] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, role: str) -> None:
        """Write ``text`` from ``x`` on; what falls outside is cut."""
        if not 0 <= y < self.height:
            return
        for offset, character in enumerate(text):
            if 0 <= x + offset < self.width:
                self.rows[y][x + offset] = character
                self.roles[y][x + offset] = role

    def free(self, x: int, y: int, length: int) -> bool:
        """Whether so many cells are inside and blank."""
        return (
            0 <= y < self.height
            and 0 <= x <= self.width - length
            and not any(map(str.strip, self.rows[y][x : x + length]))
        )

    def shade(self, columns: range, rows: range, ground: str) -> None:
        """Give cells another background, whatever stands on them."""
        for y in rows:
            for x in columns:
                self.roles[y][x] = f"{self.roles[y][x].partition(GROUND)[0]}{GROUND}{ground}"

    def runs(self, y: int) -> Iterator[tuple[str, str]]:
        """The text and role of each stretch of one role in row ``y``."""
        start, roles, row = 0, self.roles[y], self.rows[y]
        for x in range(1, self.width + 1):
            if x == self.width or roles[x] != roles[start]:
                yield "".join(row[start:x]), roles[start]
                start = x

    def changed_rows(self, other: Drawing) -> list[int]:
        """Return the rows where this differs from ``other`` of the same size."""
        return [y for y in range(self.height) if self.rows[y] != other.rows[y] or self.roles[y] != other.roles[y]]

    def text(self) -> str:
        """The drawing alone, without roles."""
        return "\n".join("".join(row).rstrip() for row in self.rows)


def heat_role(share: float) -> str:
    """Return the role of a cell with text on the ramp of magnitudes, from 0 to 1."""
    level = _HEAT[min(int(share * len(_HEAT)), len(_HEAT) - 1)]
    return f"{'hi' if level < _HEAT[3] else 'ink'}{GROUND}ramp-{level}"


def dot_at(ruler: Ruler, value: float, length: int) -> int:
    """Which of ``length`` dots stands for ``value``, at most one length off either end.

    A zero on a logarithmic axis lies off its low end; a spread from a stranger's file may be of any size.
    """
    position = ruler.position(value)
    return -1 if position is None else round(min(max(position, -1.0), 2.0) * (length - 1))


def cut(text: str, width: int) -> str:
    """``text`` in ``width`` columns, its end replaced by dots where it is longer."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def shortened(title: str, width: int) -> str:
    """A title in ``width`` columns: where it is longer, what is told apart by, behind its last colon."""
    return title if len(title) <= width else cut(title.rpartition(": ")[2], width)
