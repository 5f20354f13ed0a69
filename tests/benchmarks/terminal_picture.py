"""A terminal's screen as a picture: its cells as SVG, still or moving, and as PNG by a browser.

The pictures have no scripts, no fonts of their own and no requests. A moving one consists of layers: each holds the
cells that changed, and CSS shows it from its time on. Sites that show repositories remove SVG's own animation, but not
CSS. Without animation, or for readers who prefer reduced motion, the first screen stays.
"""

import base64
import itertools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import NamedTuple

import pyte
from pyte.screens import Char

COLUMN, ROW, FONT, BASELINE = 8.2, 16, 13.6, 12.1
"""Pixels: DejaVu Sans Mono of this size fills the cell, so that lines of boxes meet."""
MARGIN = 8
_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_TANGO = (
    "#2e3436", "#cc0000", "#4e9a06", "#c4a000", "#3465a4", "#75507b", "#06989a", "#d3d7cf",
    "#555753", "#ef2929", "#8ae234", "#fce94f", "#729fcf", "#ad7fa8", "#34e2e2", "#eeeeec",
)  # fmt: skip
_NEAR = 6
"""Columns between two changes that are drawn as one."""
_PIECE = re.compile(r"\S+(?: \S+)*")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Palette:
    """What a terminal draws with where a program leaves it the choice."""

    ink: str
    paper: str
    sixteen: tuple[str, ...] = _TANGO

    def color(self, name: str, default: str) -> str:
        """A color as pyte has it: a name, or six hexadecimal digits."""
        if name == "default":
            return default
        plain = name.replace("bfight", "bright").removeprefix("bright")  # a misspelling of pyte's
        if plain in _NAMES:
            return self.sixteen[_NAMES.index(plain) + 8 * (plain != name)]
        return f"#{name}"


DARK = Palette("#d3d7cf", "#121212")
LIGHT = Palette("#2e3436", "#ffffff")


class Style(NamedTuple):
    """How a cell is drawn."""

    ink: str
    paper: str
    bold: bool = False
    italic: bool = False
    underlined: bool = False


class DrawnCell(NamedTuple):
    """One cell; the second one of a wide character is empty."""

    text: str
    style: Style


Frame = tuple[tuple[DrawnCell, ...], ...]
"""A screen by rows."""


@dataclass(frozen=True)
class Shot:
    """What is shown from a moment on."""

    seconds: float
    frame: Frame
    png: bytes = b""
    """Drawn over the frame."""


def frame(screen: pyte.Screen, palette: Palette = DARK) -> Frame:
    """Return what a terminal shows."""
    rows = (screen.buffer[row] for row in range(screen.lines))
    return tuple(tuple(_cell(row[column], palette) for column in range(screen.columns)) for row in rows)


def captured(text: str, columns: int, rows: int, palette: Palette = DARK) -> Frame:
    """Return a screen that another program has captured as lines with escape sequences."""
    screen = pyte.Screen(columns, rows)
    screen.reset_mode(pyte.modes.DECAWM)
    pyte.Stream(screen).feed("\r\n".join(text.splitlines()[:rows]))
    return frame(screen, palette)


def line(text: str, columns: int, style: Style) -> tuple[DrawnCell, ...]:
    """Return a row of one style."""
    return tuple(DrawnCell(character, style) for character in text[:columns].ljust(columns))


def _cell(char: Char, palette: Palette) -> DrawnCell:
    ink, paper = palette.color(char.fg, palette.ink), palette.color(char.bg, palette.paper)
    if char.reverse:
        ink, paper = paper, ink
    if char.blink:  # in which tests/terminal.py keeps what is faint
        ink = _between(ink, paper)
    return DrawnCell(char.data, Style(ink, paper, char.bold, char.italics, char.underscore))


def _between(ink: str, paper: str) -> str:
    pairs = zip(bytes.fromhex(ink[1:]), bytes.fromhex(paper[1:]), strict=True)
    return "#" + "".join(f"{(3 * one + 2 * other) // 5:02x}" for one, other in pairs)


@dataclass
class _Writer:
    """Writes cells as SVG and keeps the classes that they need."""

    paper: str
    classes: dict[tuple[str, str], str] = field(default_factory=dict)

    def name(self, kind: str, color: str) -> str:
        """The class of a color, of text or of what is behind it."""
        return self.classes.setdefault((kind, color), f"{kind}{len(self.classes)}")

    def cells(self, row: int, first: int, cells: Sequence[DrawnCell], *, over: bool = False) -> str:
        """Draw cells of a row; ``over`` others, so that theirs have to go."""
        parts = []
        place = first
        for paper, group in itertools.groupby(cells, key=lambda cell: cell.style.paper):
            width = len(list(group))
            if over or paper != self.paper:
                parts.append(
                    f'<rect class="{self.name("p", paper)}" x="{_pixels(place * COLUMN)}" y="{row * ROW}" '
                    f'width="{_pixels(width * COLUMN)}" height="{ROW}"/>'
                )
            place += width
        place = first
        for style, group in itertools.groupby(cells, key=lambda cell: cell.style):
            run = list(group)
            parts += self._text(row, place, run, style)
            place += len(run)
        return "".join(parts)

    def _text(self, row: int, first: int, run: Sequence[DrawnCell], style: Style) -> Iterator[str]:
        """Draw a run of one style, each piece at its own column, so that no font moves it."""
        text = "".join(cell.text or "\0" for cell in run)
        pieces = [(0, text)] if style.underlined else [(match.start(), match[0]) for match in _PIECE.finditer(text)]
        kinds = [self.name("t", style.ink)]
        kinds += [kind for kind, set_ in zip("biu", style[2:], strict=True) if set_]
        for start, piece in pieces:
            yield (
                f'<text class="{" ".join(kinds)}" x="{_pixels((first + start) * COLUMN)}" y="{row * ROW + BASELINE:g}" '
                f'textLength="{_pixels(len(piece) * COLUMN)}">{escape(piece.replace(chr(0), ""), quote=False)}</text>'
            )

    def style(self) -> str:
        """The style sheet, once all is drawn."""
        font = f"{FONT:g}px 'DejaVu Sans Mono',Menlo,Consolas,monospace"
        return (
            f"svg{{background:{self.paper}}}text{{font:{font};white-space:pre}}rect{{shape-rendering:crispEdges}}"
            ".b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}"
        ) + "".join(f".{name}{{fill:{color}}}" for (_, color), name in self.classes.items())


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def still(shown: Frame, title: str, paper: str = DARK.paper) -> str:
    """Return one screen as SVG."""
    writer = _Writer(paper)
    body = "".join(writer.cells(row, 0, cells) for row, cells in enumerate(shown))
    return _svg(shown, title, writer.style(), body)


def moving(shots: Sequence[Shot], end_seconds: float, title: str, paper: str = DARK.paper) -> str:
    """Return shots as SVG that starts again after ``end_seconds``."""
    writer = _Writer(paper)
    before = shots[0].frame
    layers = ["".join(writer.cells(row, 0, cells) for row, cells in enumerate(before))]
    rules = [f".l{{visibility:hidden;animation:{end_seconds:g}s step-end infinite}}"]
    for number, shot in enumerate(shots[1:], start=1):
        drawn = "".join(
            writer.cells(row, first, shot.frame[row][first:end], over=True)
            for row, first, end in _changed(before, shot.frame)
        )
        if shot.png:
            data = base64.b64encode(shot.png).decode()
            width, height = len(shot.frame[0]) * COLUMN, (len(shot.frame) - 1) * ROW
            drawn += f'<image width="{_pixels(width)}" height="{height}" href="data:image/png;base64,{data}"/>'
        layers.append(f'<g class="l" style="animation-name:l{number}">{drawn}</g>')
        share = f"{100 * shot.seconds / end_seconds:.2f}"
        rules.append(f"@keyframes l{number}{{0%{{visibility:hidden}}{share}%,to{{visibility:visible}}}}")
        before = shot.frame
    rules.append("@media(prefers-reduced-motion:reduce){.l{animation:none}}")
    return _svg(before, title, writer.style() + "".join(rules), "\n".join(layers))


def _changed(before: Frame, after: Frame) -> Iterator[tuple[int, int, int]]:
    """Yield the row, the first column and the end of what differs."""
    for row, (old, new) in enumerate(zip(before, after, strict=True)):
        columns = [column for column in range(len(new)) if old[column] != new[column]]
        while columns:
            first = end = columns[0]
            while columns and columns[0] <= end + _NEAR:
                end = columns.pop(0)
            # What a glyph leaves in the next cell goes with it, and the cells of a wide character stay together.
            first, end = max(first - 1, 0), min(end + 2, len(new))
            yield row, first - (not new[first].text), end + (end < len(new) and not new[end].text)


def _svg(shown: Frame, title: str, style: str, body: str) -> str:
    width, height = len(shown[0]) * COLUMN + 2 * MARGIN, len(shown) * ROW + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_pixels(width)} {height}" width="{_pixels(width)}" '
        f'height="{height}" role="img"><title>{escape(title)}</title><style>{style}</style>'
        f'<g transform="translate({MARGIN} {MARGIN})">{body}</g></svg>\n'
    )


def sheet(pictures: Sequence[tuple[str, str]]) -> str:
    """Return a page of named pictures, which are as many side by side as fit."""
    # Each picture has classes of its own, which end where its frame does.
    cells = (
        f'<figure><figcaption>{escape(name)}</figcaption><img src="data:image/svg+xml;base64,'
        f'{base64.b64encode(picture.encode()).decode()}"></figure>'
        for name, picture in pictures
    )
    look = "body{background:#777;display:flex;flex-wrap:wrap}figure{margin:6px;font:bold 16px sans-serif;color:#fff}"
    return f"<!doctype html><meta charset=utf-8><style>{look}</style>{''.join(cells)}"


def photograph(page: Path, width: int, height: int, path: Path) -> None:
    """Keep a page as PNG."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"PNG needs one of {', '.join(_BROWSERS)}; install it, or leave PNG out")
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={scratch}/profile",
            f"--window-size={width},{height}", f"--screenshot={path}", page.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
