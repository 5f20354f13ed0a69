"""What of a frame is sent: cells that differ from what the terminal shows, and of a style what differs from the last.

Textual sends each changed span from the left edge of its widget on, every run of one style with the whole style before
it and a reset behind, and the whole screen twice whenever a dialog opens or closes: 158 kB for a run of 13.5 s, 33 kB
without. Only the updates of its compositor, which it does not offer, say what a frame is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, repeat
from operator import itemgetter
from typing import NamedTuple, cast

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console, RenderableType
from rich.control import Control
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

_BRIDGE_CELLS = 6
"""Up to this many unchanged cells are sent again, because skipping them takes some eight bytes."""


class _StyleCodes(NamedTuple):
    """A style as the terminal's codes, part by part."""

    attributes: str
    ink: str
    paper: str
    shows_on_blanks: bool
    """A blank looks different for it: reversed, underlined or struck through."""


_PLAIN = _StyleCodes("", "39", "49", shows_on_blanks=False)

_Cell = tuple[str, _StyleCodes]
"""A column of a row: its glyph, which is empty in the second column of a wide one, and how that looks."""


class FrameDiffer:
    """What the terminal shows, and which cells of a new frame differ."""

    def __init__(self) -> None:
        self._rows: list[list[_Cell | None]] = []
        """None for a cell that nothing is known of."""

    def forget(self) -> None:
        """Rely on nothing that was sent: the next frame goes out as it is."""
        self._rows = []

    def changed(self, update: RenderableType | None) -> RenderableType | None:
        """The update in as few bytes as the terminal needs; anything else is handed back as it is."""
        if not isinstance(update, LayoutUpdate | ChopsUpdate):
            return update
        return cast("RenderableType", _DiffRenderer(self, update))  # Textual asks it for its words alone

    def rows(self, columns: int, rows: int) -> list[list[_Cell | None]]:
        """What is known of a screen of this size: nothing where it had another."""
        if len(self._rows) != rows or (rows and len(self._rows[0]) != columns):
            self._rows = [[None] * columns for _ in range(rows)]
        return self._rows


class _DiffRenderer(CompositorUpdate):
    """An update that is worked out when it is sent, as some never are."""

    def __init__(self, differ: FrameDiffer, update: LayoutUpdate | ChopsUpdate) -> None:
        self._differ = differ
        self._update = update

    def render_segments(self, console: Console) -> str:
        """The cells that differ."""
        update = self._update
        if isinstance(update, LayoutUpdate):
            (columns, rows), pieces = update.region.size, _whole(update)
        else:
            columns, rows, pieces = update.chop_ends[0][-1], len(update.chops), _spans(update)
        pen = _Pen(console, self._differ.rows(columns, rows))
        for x, y, strips in pieces:
            pen.draw(x, y, strips)
        return pen.finish()


_Piece = tuple[int, int, Iterable[Strip]]
"""Column and row of the first cell, and what stands from there on."""


def _whole(update: LayoutUpdate) -> Iterator[_Piece]:
    for y, strips in enumerate(update.strips, update.region.y):
        yield update.region.x, y, strips


def _spans(update: ChopsUpdate) -> Iterator[_Piece]:
    for y, first, end_column in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < end_column and end > first:
                yield max(first, x), y, [strip.crop(max(first - x, 0), min(end, end_column) - x)]


@lru_cache(maxsize=1024)
def _style_codes(style: Style | None, colors: ColorSystem) -> _StyleCodes:
    if style is None:
        return _PLAIN
    ink, paper, bare = style.color, style.bgcolor, style.without_color
    shows = any((bare.reverse, bare.underline, bare.underline2, bare.strike, bare.overline, bare.blink))
    return _StyleCodes(
        Strip.render_ansi(bare, colors),
        _PLAIN.ink if ink is None else ";".join(ink.downgrade(colors).get_ansi_codes()),
        _PLAIN.paper if paper is None else ";".join(paper.downgrade(colors).get_ansi_codes(foreground=False)),
        shows_on_blanks=shows,
    )


@lru_cache(maxsize=4096)
def _columns(text: str) -> Sequence[str]:
    """The glyph of each column."""
    if text.isascii() or all(cell_len(character) == 1 for character in text):
        return text
    columns: list[str] = []
    for character in text:
        width = cell_len(character)
        if width or not columns:
            columns += [character, *[""] * (width - 1)]
        else:
            columns[-1] += character  # stands upon the one before
    return columns


def _cells(strips: Iterable[Strip], colors: ColorSystem) -> list[_Cell]:
    cells: list[_Cell] = []
    for strip in strips:
        for text, style, _ in strip:
            look = _style_codes(style, colors)
            if text.isspace() and not look.shows_on_blanks:
                look = _PLAIN._replace(paper=look.paper)  # nothing else of it is seen
            cells += zip(_columns(text), repeat(look))
    return cells


def _runs(old: Sequence[_Cell | None], new: Sequence[_Cell]) -> Iterator[tuple[int, int]]:
    """First column of each run of cells to be sent, and the one behind its last."""
    first = end_column = 0
    for at, (before, now) in enumerate(zip(old, new, strict=True)):
        if before == now:
            continue
        if end_column and (at == end_column or _bridges(new[end_column - 1 : at])):
            end_column = at + 1
            continue
        if end_column:
            yield first, end_column
        first, end_column = at, at + 1
        while first and not new[first][0]:
            first -= 1
    if end_column:
        yield first, end_column


def _bridges(cells: Sequence[_Cell]) -> bool:
    """Whether the cells behind the first, which are right already, are few and look like it."""
    return len(cells) <= _BRIDGE_CELLS + 1 and all(cell[1] == cells[0][1] for cell in cells)


class _Pen:
    """Writes cells, remembering what the terminal was last sent."""

    def __init__(self, console: Console, rows: list[list[_Cell | None]]) -> None:
        self._colors = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
        self._rows = rows
        self._now = _PLAIN
        self._at: tuple[int, int] | None = None
        self._sent: list[str] = []

    def draw(self, x: int, y: int, strips: Iterable[Strip]) -> None:
        shown = self._rows[y]
        new = _cells(strips, self._colors)[: len(shown) - x]
        old = shown[x : x + len(new)]
        if old == new:
            return
        shown[x : x + len(new)] = new
        for first, end_column in _runs(old, new):
            if self._at != (x + first, y):
                self._sent.append(Control.move_to(x + first, y).segment.text)
            for look, cells in groupby(new[first:end_column], itemgetter(1)):
                text = "".join(glyph for glyph, _ in cells)
                self._change_to(look, blank=text.isspace())
                self._sent.append(text)
            self._at = (x + end_column, y)

    def finish(self) -> str:
        """All of it; empty where the terminal shows everything already."""
        if not self._sent:
            return ""
        self._change_to(_PLAIN, blank=False)
        return "\x1b[0m" + "".join(self._sent)

    def _change_to(self, look: _StyleCodes, *, blank: bool) -> None:
        now = self._now
        if blank and not (look.shows_on_blanks or now.shows_on_blanks):
            look = now._replace(paper=look.paper)  # of a blank only the paper is seen
        if look == now:
            return
        if look.attributes != now.attributes:
            codes = [part for part in ("0", look.attributes) if part]
            now = _PLAIN
        else:
            codes = []
        codes += [new for new, old in ((look.ink, now.ink), (look.paper, now.paper)) if new != old]
        self._sent.append(f"\x1b[{';'.join(codes)}m")
        self._now = look
