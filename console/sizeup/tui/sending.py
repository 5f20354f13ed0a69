"""What of a frame is sent: changed cells alone, and of a style only what differs from the one in force.

Textual sends each changed span from the left edge of its widget on, and every run of one style with
the whole style before it and a reset behind: some ten bytes for each cell of a chart.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.control import Control
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.strip import Strip


class SparingCompositor(Compositor):
    """Textual's compositor with shorter words for the terminal."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """The spans that changed."""
        update = super().render_partial_update()
        return None if update is None else _Spans(update.chops, update.spans, update.chop_ends)

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:  # noqa: FBT001, FBT002  Textual's own
        """The whole screen."""
        update = super().render_full_update(simplify)
        return _Whole(update.strips, update.region)


class _Look(NamedTuple):
    """A style as the terminal's codes, part by part."""

    attributes: str
    ink: str
    paper: str
    shows_on_blanks: bool
    """A blank looks different for it: reversed, underlined or struck through."""


_PLAIN = _Look("", "39", "49", shows_on_blanks=False)


@lru_cache(maxsize=1024)
def _look(style: Style | None, colours: ColorSystem) -> _Look:
    if style is None:
        return _PLAIN
    ink, paper, bare = style.color, style.bgcolor, style.without_color
    shows = any((bare.reverse, bare.underline, bare.underline2, bare.strike, bare.overline, bare.blink))
    return _Look(
        Strip.render_ansi(bare, colours),
        _PLAIN.ink if ink is None else ";".join(ink.downgrade(colours).get_ansi_codes()),
        _PLAIN.paper if paper is None else ";".join(paper.downgrade(colours).get_ansi_codes(foreground=False)),
        shows_on_blanks=shows,
    )


class _Pen:
    """Writes strips, remembering what the terminal was last told."""

    def __init__(self, console: Console) -> None:
        self._colours = console._color_system or ColorSystem.TRUECOLOR  # noqa: SLF001  not offered
        self._now = _PLAIN
        self._sent: list[str] = ["\x1b[0m"]

    def move_to(self, x: int, y: int) -> None:
        self._sent.append(Control.move_to(x, y).segment.text)

    def draw(self, strips: Iterable[Strip]) -> None:
        for strip in strips:
            for text, style, _ in strip:
                self._change_to(_look(style, self._colours), blank=text.isspace())
                self._sent.append(text)

    def finish(self) -> str:
        self._change_to(_PLAIN, blank=False)
        return "".join(self._sent)

    def _change_to(self, look: _Look, *, blank: bool) -> None:
        now = self._now
        if look == now:
            return
        if blank and look.paper == now.paper and not (look.shows_on_blanks or now.shows_on_blanks):
            return  # of a blank only the paper is seen
        if look.attributes != now.attributes:
            codes = [part for part in ("0", look.attributes) if part]
            now = _PLAIN
        else:
            codes = []
        codes += [new for new, old in ((look.ink, now.ink), (look.paper, now.paper)) if new != old]
        self._sent.append(f"\x1b[{';'.join(codes)}m")
        self._now = look


class _Spans(ChopsUpdate):
    def render_segments(self, console: Console) -> str:
        """The cells of every span, and no others."""
        pen = _Pen(console)
        for y, first, behind in self.spans:
            pen.move_to(first, y)
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is not None and x < behind and end > first:
                    pen.draw([strip.crop(max(first - x, 0), min(end, behind) - x)])
        return pen.finish()


class _Whole(LayoutUpdate):
    def render_segments(self, console: Console) -> str:
        """Every cell, row by row."""
        pen = _Pen(console)
        for y, strips in enumerate(self.strips, self.region.y):
            pen.move_to(self.region.x, y)
            pen.draw(strips)
        return pen.finish()
