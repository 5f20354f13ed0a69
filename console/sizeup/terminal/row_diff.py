"""What of a frame is sent: the cells of changed rows that differ, and of a style the parts that differ.

Textual's own frames are four to eight times as many bytes: a dialog takes 40 kB, three seconds at 12 kB/s. Only the
compositor of a screen, which Textual does not offer, has its rows with the dialogs above them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, repeat
from operator import itemgetter
from typing import Any

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.control import Control
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.screen import Screen
from textual.strip import Strip

_BRIDGE_CELLS = 6
"""Up to this many unchanged cells are sent again, because skipping them takes some eight bytes."""

_Codes = tuple[str, str, str]
"""A style as codes of the terminal: attributes, foreground, which is empty where it is not seen, and background."""
_Cell = tuple[str, _Codes]
"""A column of a row: its glyph, which is empty in the second column of a wide one, and its style."""
_Parts = Iterable[tuple[int, Strip]]  # each from a column on
_PLAIN: _Codes = ("", "39", "49")
_UNKNOWN: _Cell = ("", ("?", "", ""))


class RowDiffer:
    """The rows that the terminal shows; any cell may be unknown."""

    def __init__(self) -> None:
        self._cells: list[list[_Cell]] = []
        self.behind = True  # a frame was made and not sent: the next one looks at the whole screen

    def forget(self) -> None:
        """Assume nothing of what the terminal shows: the next frame is sent whole."""
        self._cells, self.behind = [], True

    def changes(self, rows: Iterable[tuple[int, _Parts]], widths: list[int], console: Console) -> str:
        """Return what puts parts of rows, by the number of the row, on a screen whose rows have these widths."""
        colors = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
        if [len(row) for row in self._cells] != widths:
            self._cells = [[_UNKNOWN] * width for width in widths]
        sent: list[str] = []
        style = _PLAIN
        for y, parts in rows:
            old = self._cells[y]
            new = self._cells[y] = old.copy()
            for x, strip in parts:
                new[x : x + strip.cell_length] = _cells(strip, colors)
            for first, end in _changed_runs(old, new) if new != old else ():
                sent.append(Control.move_to(first, y).segment.text)
                for codes, cells in groupby(new[first:end], itemgetter(1)):
                    if not codes[1]:
                        codes = "", style[1] if not style[0] else "39", codes[2]  # noqa: PLW2901
                    sent += (_transition(style, codes), "".join(glyph for glyph, _ in cells))
                    style = codes
        self.behind = False
        return f"\x1b[0m{''.join(sent)}{_transition(style, _PLAIN)}" if sent else ""


class RowUpdate(CompositorUpdate):
    """A frame of a screen, worked out when it is sent, as some never are."""

    def __init__(self, differ: RowDiffer, screen: Screen[Any], update: CompositorUpdate) -> None:
        self._differ, self._screen, self._update, self._behind = differ, screen, update, differ.behind
        differ.behind = True

    def render_segments(self, console: Console) -> str:
        """Return the cells that differ.

        Parts that Textual has rendered are compared as they are: to render the screen again took 10 ms a frame
        instead of 6.
        """
        update = self._update
        if isinstance(update, ChopsUpdate) and not self._behind:
            return self._differ.changes(_parts(update), [ends[-1] for ends in update.chop_ends], console)
        strips = [*map(Strip.join, update.strips)] if isinstance(update, LayoutUpdate) else rows_of(self._screen)
        rows = enumerate([(0, strip)] for strip in strips)
        return self._differ.changes(rows, [strip.cell_length for strip in strips], console)


def _parts(update: ChopsUpdate) -> Iterator[tuple[int, _Parts]]:
    """Yield what was rendered of each row; beside the spans of an update it may be what other widgets hide."""
    for y, spans in groupby(update.spans, itemgetter(0)):
        seen = [span[1:] for span in spans]
        parts = zip(update.chops[y].items(), update.chop_ends[y], strict=True)
        yield y, [part for part, end in parts if part[1] and any(part[0] < stop and end > at for at, stop in seen)]


def rows_of(screen: Screen[Any]) -> list[Strip]:
    """Return the rows of a screen as it stands; Textual offers the screen as SVG alone."""
    return screen._compositor.render_strips()  # noqa: SLF001


def _transition(now: _Codes, then: _Codes) -> str:
    """Return the codes that change one style into another."""
    if now == then:
        return ""
    codes: list[str] = []
    if then[0] != now[0]:
        codes, now = [part for part in ("0", then[0]) if part], _PLAIN
    codes += [new for old, new in zip(now[1:], then[1:], strict=True) if new != old]
    return f"\x1b[{';'.join(codes)}m"


def _cells(strip: Strip, colors: ColorSystem) -> list[_Cell]:
    cells: list[_Cell] = []
    for text, style, _ in strip:
        glyphs = text if text.isascii() else _columns(text)
        codes = _codes(style, colors, blank=text.isspace())
        alike = len(set(glyphs)) == 1  # blanks, mostly: one cell for all of them
        cells += [(glyphs[0], codes)] * len(glyphs) if alike else zip(glyphs, repeat(codes))
    return cells


@lru_cache(maxsize=2048)
def _codes(style: Style | None, colors: ColorSystem, *, blank: bool) -> _Codes:
    """Return the codes of a style; of a blank only the background is seen, unless it is reversed or has a line."""
    if style is None:
        return _PLAIN
    bare = style.without_color
    ink = "39" if style.color is None else ";".join(style.color.downgrade(colors).get_ansi_codes())
    paper = (
        "49" if style.bgcolor is None else ";".join(style.bgcolor.downgrade(colors).get_ansi_codes(foreground=False))
    )
    if blank and not (bare.reverse or bare.underline or bare.underline2 or bare.strike or bare.overline):
        return "", "", paper
    return Strip.render_ansi(bare, colors), ink, paper


@lru_cache(maxsize=256)  # of 79,000 texts of 60 runs it finds all but 620, with 4,096 all but 550
def _columns(text: str) -> Sequence[str]:
    """Return the glyph of each column; a combining character stands in the column before it."""
    if all(cell_len(character) == 1 for character in text):
        return text
    columns: list[str] = []
    for character in text:
        width = cell_len(character)
        if width or not columns:
            columns += [character, *[""] * (width - 1)]
        else:
            columns[-1] += character
    return columns


def _changed_runs(old: Sequence[_Cell], new: Sequence[_Cell]) -> Iterator[tuple[int, int]]:
    """Yield the first column of each run of cells to send, and the one behind its last."""
    first = end = -1
    for at, (before, now) in enumerate(zip(old, new, strict=True)):
        if before == now:
            continue
        if first >= 0 and at - end <= _BRIDGE_CELLS:
            end = at + 1
            continue
        if first >= 0:
            yield first, end
        first, end = at, at + 1
        while first and not new[first][0]:  # a wide glyph is sent whole
            first -= 1
    if first >= 0:
        yield first, end
