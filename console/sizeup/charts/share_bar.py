"""The share bar: what a demand takes of a capacity, on one scale in every place, with marks at 70 and 100 %."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from itertools import groupby, pairwise

from msgspec import Struct

END = 2.0
"""The share at the right end of every bar; what is beyond has a mark of its own there."""
MARKS = (0.7, 1.0)
"""The shares that have a line on every bar: the planned limit and the whole capacity."""
ZONES = ("ok", "warn", "bad")
"""The tokens of the parts below, between and above the marks."""


class ShareBar(Struct, frozen=True):
    """One share with its span and what else is on the same scale; 1.0 is the whole capacity."""

    best: float
    """Today's share if all that is uncertain is favorable."""
    worst: float
    """Today's share if nothing of it is; infinite where the capacity has no known low end."""
    n_plus_one: float | None = None
    """After the worst single failure; infinite for an outage."""
    last_year: float | None = None
    """In the last year of the horizon."""
    before: float | None = None
    """Before a change."""
    judged: bool = True
    """Whether zones have the colors of a status; without a workload nothing passes."""

    def parts(self) -> Iterator[tuple[float, float, str, bool]]:
        """Yield the parts from the left: start, end, token, and whether it is the span of what is not certain."""
        best, worst = (min(max(share, 0.0), END) for share in (self.best, self.worst))
        ends = sorted({0.0, *(share for share in (*MARKS, best) if share < worst), worst})
        for start, end in pairwise(ends):
            yield start, end, zone(start) if self.judged else "s1", start >= best

    def marks(self) -> Iterator[tuple[float, str]]:
        """Yield the marks as share and name, the less important first: ``before``, ``last_year``, ``n_plus_one``."""
        shares = self.before, self.last_year, self.n_plus_one
        yield from ((share, name) for share, name in zip(shares, _MARK_NAMES, strict=True) if share is not None)


def zone(share: float) -> str:
    """Return the token of the zone that a share lies in."""
    return ZONES[sum(share >= mark for mark in MARKS)]


class ScreenLook(Enum):
    """What a terminal can show of a bar, a badge and their like."""

    COLOR = "color"
    SIXTEEN = "sixteen"
    """No blends of colors."""
    PLAIN = "plain"
    """No color: only reverse and bold, and signs."""
    ASCII = "ascii"


class _Signs(Struct, frozen=True):
    zones: str
    pale: str
    track: str
    half: str
    marks: str
    """Before a change, last year, N+1."""
    line: str = "│"
    beyond: str = "▶"


_SIGNS = {
    ScreenLook.COLOR: _Signs("▄▄▄", "▄", "▄", "▖", "○◇◆"),
    ScreenLook.SIXTEEN: _Signs("▄▄▄", "─", "▄", "▖", "○◇◆"),
    ScreenLook.PLAIN: _Signs("■▒▓", "-", " ", "", "○◇◆"),
    ScreenLook.ASCII: _Signs("=#!", "-", " ", "", ".YN", "|", ">"),
}
_MARK_NAMES = ("before", "last_year", "n_plus_one")


def mark_sign(name: str, look: ScreenLook) -> str:
    """Return the sign of ``before``, ``last_year`` or ``n_plus_one``."""
    return _SIGNS[look].marks[_MARK_NAMES.index(name)]


def zone_signs(look: ScreenLook) -> str:
    """Return the signs of the three zones, and that of what is not certain."""
    return _SIGNS[look].zones + _SIGNS[look].pale


def track_sign(look: ScreenLook) -> str:
    """Return the sign of the empty part of a bar: without color none, as it would look like the full part."""
    return _SIGNS[look].track


def column_of(share: float, columns: int) -> int:
    """Return the column of a mark on a bar of so many."""
    return min(round(share / END * columns), columns - 1)


def draw_share(bar: ShareBar, columns: int, look: ScreenLook) -> list[tuple[str, str]]:
    """Return the bar in ``columns`` cells, as runs of text with the token of their color, ``ok-pale`` for a span."""
    signs = _SIGNS[look]
    lines = {column_of(mark, columns): mark for mark in MARKS}
    best, worst = (min(max(share, 0.0), END) / END * columns for share in (bar.best, bar.worst))
    spans = round(worst) > round(best)
    full = math.floor(best) if signs.half and not spans else round(best)
    cells = []
    for column in range(columns):
        number = sum(column >= line for line in lines)
        token = ZONES[number] if bar.judged else "s1"
        if column in lines:
            cells.append((signs.line, "hi" if lines[column] == MARKS[-1] else "dim"))
        elif column < full:
            cells.append((signs.zones[number], token))
        elif spans and column < round(worst):
            cells.append((signs.pale, f"{token}-pale"))
        elif column < best and (best - column >= 0.5 or column - 1 in (-1, *lines)):  # seen at 0 and past a line
            cells.append((signs.half or signs.zones[number], token))
        else:
            cells.append((signs.track, "track"))
    if max(bar.worst, bar.n_plus_one or 0.0) > END:
        cells[-1] = signs.beyond, zone(END) if bar.judged else "s1"
    for share, name in bar.marks():
        if share <= END:
            column = min(math.floor(share / END * columns), columns - 1)
            if column in lines:
                column += 1 if share >= lines[column] else -1
            cells[column] = mark_sign(name, look), "hi"
    return [("".join(text for text, _ in run), token) for token, run in groupby(cells, key=lambda cell: cell[1])]


def draw_scale(columns: int) -> list[tuple[str, str]]:
    """Return the scale above bars of so many columns, as runs of text with the token of their color."""
    places = {0: ("0", "dim"), columns - 3: ("200", "faint")}
    hundred = column_of(MARKS[1], columns)
    if columns >= 30:
        places[column_of(1.5, columns)] = "150", "faint"
    places |= {max(column_of(MARKS[0], columns) - 1, 0): ("70", "dim"), hundred: ("100 %", "hi")}
    runs, at = [], 0
    for column, (text, token) in sorted(places.items()):
        if column >= at and column + len(text) <= columns:
            runs += [(" " * (column - at), ""), (text, token)]
            at = column + len(text)
    return [*runs, (" " * (columns - at), "")]
