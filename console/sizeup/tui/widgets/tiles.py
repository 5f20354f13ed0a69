"""The newest figures of a run: each on a ground of its own, with how it went so far."""

from __future__ import annotations

from collections.abc import Sequence

from textual.renderables.digits import DIGITS, DIGITS3X3_BOLD

from sizeup.charts.drawing import Drawing, Glyphs
from sizeup.tui.widgets.cells import CellView
from sizeup.views.run.live_figures import LiveFigure

_HEIGHT = 5
"""Rows with all of a tile: its name, three rows of large digits or figure, note and bars, and a note."""
_LARGE, _FEW, _LEAST = 24, 4, 9
"""Columns of the first tile, which has large digits; as many tiles at most have them all; the least columns of one."""
_DRAWN = set("0123456789.,")
"""The characters that can be large."""
_FLAT_COLUMNS = 100
"""On a narrower page a tile has a name and a figure only."""


class TileRow(CellView):
    """Tiles side by side, five rows high or two."""

    DEFAULT_CSS = """
    TileRow { height: 5; margin: 1 0; }
    TileRow.-flat { height: 2; margin: 0; }
    """

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._tiles: tuple[LiveFigure, ...] = ()

    def show(self, tiles: Sequence[LiveFigure], columns: int) -> None:
        """Show figures in place of the last; without any the row has no height."""
        self._tiles = tuple(tiles)
        self.display = bool(tiles)
        self.set_class(columns < _FLAT_COLUMNS, "-flat")
        self._redraw()

    def _redraw(self) -> None:
        self.present(draw_tiles(self._tiles, *self.size, self._glyphs))


def draw_tiles(tiles: Sequence[LiveFigure], width: int, height: int, glyphs: Glyphs) -> Drawing:
    """Return tiles side by side, the last ones left out where there are too few columns."""
    drawing = Drawing(width, height)
    tiles = tiles[: max(width // _LEAST, 1)]
    count = len(tiles)
    if not count or not height:
        return drawing
    large = glyphs is not Glyphs.ASCII and height >= _HEIGHT
    first = min(_LARGE, width // 3) if large and count > _FEW else width // count
    ends = [0, *(first + (width - first) * number // max(count - 1, 1) for number in range(count))]
    for number, (tile, left, right) in enumerate(zip(tiles, ends, ends[1:], strict=False)):
        _draw(drawing, tile, left, right - 1, large=large and (number == 0 or count <= _FEW))
    return drawing


def _draw(drawing: Drawing, tile: LiveFigure, left: int, right: int, *, large: bool) -> None:
    columns, newest = right - left - 1, "s1" if tile.newest else "title"
    drawing.put(left + 1, 0, tile.name[:columns], "dim")
    number = tile.text[: len(tile.text) - len(tile.text.lstrip("0123456789.,"))]
    unit = tile.text[len(number) :].strip()
    if large and len(number) * 3 + len(unit) + 1 <= columns and set(number) <= _DRAWN:
        x = left + 1
        for character in number:
            glyph = DIGITS.find(character) * 3
            for row in range(3):
                text = DIGITS3X3_BOLD[glyph + row] if character.isdecimal() else character * (row == 2)
                drawing.put(x, 1 + row, text, newest)
            x += 3 if character.isdecimal() else 1
        drawing.put(x + 1, 3, unit, newest)
        drawing.put(left + 1, 4, tile.note[:columns], "dim")
    else:
        drawing.put(left + 1, 1, number[:columns], newest)
        drawing.put(left + 2 + len(number), 1, unit[: max(columns - len(number) - 1, 0)], "text")
        drawing.put(left + 1, 2, tile.note[:columns], "dim")
        drawing.put(left + 1, 3, tile.bars(columns), "s1")
    drawing.shade(range(left, right), range(drawing.height), "tile")
