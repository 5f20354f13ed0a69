"""Charts in character cells: for the screen and for text.

A drawing is a grid of characters, each with a role (axis, a series, a heat level); whoever shows
it turns roles into colours, or leaves them out: markers and printed values carry the meaning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import pairwise
from textwrap import wrap

from msgspec import Struct
from msgspec.structs import replace

from sizeup.units import format_value
from sizeup.views.chart import Axis, Bar, BarChart, Boundary, Chart, HeatMap, Line, LineChart, Point, Scale
from sizeup.views.ticks import Ruler, fit

SERIES = 6
"""Series that look different; the seventh looks like the first but has its own legend entry."""

HEAT_LEVELS = 8


class Glyphs(Enum):
    """What the terminal's font has."""

    BRAILLE = "braille"
    BLOCK = "block"
    """Half blocks and lines: console fonts lack braille."""
    ASCII = "ascii"


class _Alphabet(Struct, frozen=True):
    markers: str
    horizontal: str
    vertical: str
    corner: str
    tick_x: str
    tick_y: str
    boundary: str
    cursor: str
    bar: str
    range_: str
    disturbed: str


_UNICODE = _Alphabet("●▲■◆○△", "─", "│", "└", "┬", "┤", "┊", "│", "█", "├─┤", "×")
_CONSOLE = _Alphabet("●▲■♦○+", "─", "│", "└", "┬", "┤", ":", "│", "█", "├─┤", "x")
_ASCII = _Alphabet("ox+*#@", "-", "|", "+", "+", "+", ":", "|", "#", "|-|", "!")
_ALPHABETS = {Glyphs.BRAILLE: _UNICODE, Glyphs.BLOCK: _CONSOLE, Glyphs.ASCII: _ASCII}

_BRAILLE_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_DOTS = {Glyphs.BRAILLE: (2, 4), Glyphs.BLOCK: (1, 2), Glyphs.ASCII: (1, 1)}
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

    def runs(self, y: int) -> Iterator[tuple[str, str]]:
        """The text and role of each stretch of one role in row ``y``."""
        start, roles, row = 0, self.roles[y], self.rows[y]
        for x in range(1, self.width + 1):
            if x == self.width or roles[x] != roles[start]:
                yield "".join(row[start:x]), roles[start]
                start = x

    def changed(self, other: Drawing) -> Iterator[tuple[int, int, int]]:
        """Row, first and behind-last column where this differs from ``other`` of the same size."""
        for y in range(self.height):
            ours, theirs = self.rows[y], other.rows[y]
            our_roles, their_roles = self.roles[y], other.roles[y]
            if ours == theirs and our_roles == their_roles:
                continue
            start, gap = -1, 0
            for x in range(self.width):
                if ours[x] != theirs[x] or our_roles[x] != their_roles[x]:
                    start, gap = (x if start < 0 else start), 0
                elif start >= 0:
                    gap += 1
                    # Moving the cursor costs about eight bytes: nearer spans are cheaper in one.
                    if gap > _JOIN:
                        yield y, start, x - gap + 1
                        start = -1
            if start >= 0:
                yield y, start, self.width - gap

    def text(self) -> str:
        """The drawing alone, without roles."""
        return "\n".join("".join(row).rstrip() for row in self.rows)


_JOIN = 8


def draw(chart: Chart, width: int, height: int, glyphs: Glyphs, cursor: int | None = None) -> Drawing:
    """Any chart, in ``width`` x ``height`` cells; ``cursor`` counts the places that the readout can stand on."""
    if isinstance(chart, LineChart):
        return _draw_lines(chart, width, height, glyphs, cursor)
    if isinstance(chart, HeatMap):
        return _draw_heat(chart, width, height, cursor)
    return _draw_bars(chart, width, height, glyphs, cursor)


def cursor_places(chart: Chart) -> int:
    """How many places the readout can stand on: distinct x values, cells or bars."""
    if isinstance(chart, LineChart):
        return len(_xs(chart))
    if isinstance(chart, HeatMap):
        return len(chart.rows) * len(chart.columns)
    return len(chart.bars)


def readout(chart: Chart, cursor: int) -> str:
    """What stands at the cursor, in words with units and intervals."""
    if isinstance(chart, LineChart):
        x = _xs(chart)[cursor]
        found = [
            f"{line.label} {_with_interval(point.y, point.low, point.high, chart.y.unit)}"
            + (f" at {point.label}" if point.label else "")
            + (" disturbed" if point.disturbed else "")
            for line in chart.lines
            for point in line.points
            if point.x == x
        ]
        return f"{format_value(x, chart.x.unit)}: " + ", ".join(found)
    if isinstance(chart, HeatMap):
        row, column = divmod(cursor, len(chart.columns))
        value = chart.values[row][column]
        text = "not measured" if value is None else format_value(value, chart.unit)
        return f"{chart.row_title} {chart.rows[row]}, {chart.column_title} {chart.columns[column]}: {text}"
    bar = chart.bars[cursor]
    return f"{bar.label} {_with_interval(bar.value, bar.low, bar.high, chart.axis.unit)} {bar.note}".rstrip()


def _with_interval(value: float, low: float | None, high: float | None, unit: str) -> str:
    if low is None or high is None:
        return format_value(value, unit)
    return f"{format_value(value, unit)} ({format_value(low, unit)} to {format_value(high, unit)})"


def _xs(chart: LineChart) -> list[float]:
    return sorted({point.x for line in chart.lines for point in line.points})


class _Raster:
    """Dots at the resolution of the font, each cell owned by the series that drew on it last."""

    def __init__(self, width: int, height: int, glyphs: Glyphs) -> None:
        self.glyphs = glyphs
        self.across, self.down = _DOTS[glyphs]
        self.width, self.height = width * self.across, height * self.down
        self.cells: dict[tuple[int, int], int] = {}
        self.owners: dict[tuple[int, int], int] = {}

    def dot(self, x: int, y: int, series: int) -> None:
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        cell, dx, dy = (x // self.across, y // self.down), x % self.across, y % self.down
        bit = _BRAILLE_BITS[dx][dy] if self.glyphs is Glyphs.BRAILLE else 1 << dy
        self.cells[cell] = self.cells.get(cell, 0) | bit
        self.owners[cell] = series

    def stroke(self, x0: int, y0: int, x1: int, y1: int, series: int) -> None:
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        # A point far outside the axis must not cost time for dots that nobody sees.
        if steps > 4 * (self.width + self.height):
            return
        for step in range(steps + 1):
            share = step / steps
            self.dot(round(x0 + (x1 - x0) * share), round(y0 + (y1 - y0) * share), series)

    def glyph(self, bits: int) -> str:
        if self.glyphs is Glyphs.BRAILLE:
            return chr(0x2800 + bits)
        if self.glyphs is Glyphs.BLOCK:
            return " ▀▄█"[bits]
        return "."


class _Frame(Struct, frozen=True):
    """Where the plot lies inside its drawing."""

    left: int
    top: int
    width: int
    height: int
    x: Ruler
    y: Ruler
    dots: tuple[int, int]
    """In a cell, across and down: markers must stand in the cell that holds their dot."""

    def column(self, value: float) -> int:
        return self.left + _place(self.x, value, self.width * self.dots[0]) // self.dots[0]

    def row(self, value: float) -> int:
        dots = self.height * self.dots[1]
        return self.top + (dots - 1 - _place(self.y, value, dots)) // self.dots[1]


def _place(ruler: Ruler, value: float, length: int) -> int:
    """Which of ``length`` dots stands for ``value``, at most one length off either end.

    A zero on a logarithmic axis lies off its low end; a spread from a stranger's file may be of any size.
    """
    position = ruler.position(value)
    return -1 if position is None else round(min(max(position, -1.0), 2.0) * (length - 1))


def _draw_lines(chart: LineChart, width: int, height: int, glyphs: Glyphs, cursor: int | None) -> Drawing:
    drawing = Drawing(width, height)
    alphabet = _ALPHABETS[glyphs]
    y_values = [
        bound
        for line in chart.lines
        for point in line.points
        for bound in (point.y, point.low, point.high)
        if bound is not None
    ]
    x_values = [point.x for line in chart.lines for point in line.points]
    top, bottom = 2, 3
    if width < 24 or height < top + bottom + 2:
        drawing.put(0, 0, chart.title, "title")
        drawing.put(0, 1, chart.caption or "too small for a chart", "text")
        return drawing
    plot_height = height - top - bottom
    x_ruler, y_ruler = fit(chart.x, x_values, max(width // 10, 2)), fit(chart.y, y_values, max(plot_height // 3, 2))
    # A boundary outside what was measured would squeeze the curve into a corner.
    boundaries = [item for item in chart.boundaries if x_ruler.low <= item.x <= x_ruler.high]
    if not y_values:
        y_ruler = replace(y_ruler, ticks=())  # numbers without values would be taken for some
    left = max([len(tick.label) for tick in y_ruler.ticks], default=0) + 1
    # No plot reaches the last column: the last tick's label needs room to stay centred.
    frame = _Frame(left + 1, top, width - left - 3, plot_height, x_ruler, y_ruler, _DOTS[glyphs])

    _legend(drawing, chart.lines, alphabet, chart.title)
    drawing.put(0, 1, y_ruler.title, "title")
    _boundary_lines(drawing, frame, boundaries, alphabet)
    _curves(drawing, frame, chart.lines, glyphs)
    _boundary_labels(drawing, frame, boundaries, alphabet)
    _y_axis(drawing, frame, alphabet)
    _x_axis(drawing, frame, alphabet)
    xs = _xs(chart)
    if cursor is not None and xs:
        cursor = min(max(cursor, 0), len(xs) - 1)
        column = frame.column(xs[cursor])
        for y in range(frame.top, frame.top + frame.height):
            if drawing.rows[y][column] == " ":
                drawing.put(column, y, alphabet.cursor, "cursor")
        drawing.put(0, height - 1, _cut(readout(chart, cursor), width), "cursor")
    elif not x_values:
        words = _cut(chart.caption or "no samples yet", frame.width)
        drawing.put(frame.left + (frame.width - len(words)) // 2, frame.top + frame.height // 2, words, "text")
    if cursor is None or not xs:
        drawing.put(frame.left + max((frame.width - len(x_ruler.title)) // 2, 0), height - 1, x_ruler.title, "title")
    return drawing


def _unit_word(unit: str) -> str:
    return {"1/s": "per second", "1": "count", "bytes/s": "bytes per second"}.get(unit, unit)


def _cut_inside(text: str, width: int) -> str:
    """``text`` in ``width`` columns, cut in its middle: names that begin alike differ at their ends."""
    if len(text) <= width or width < 8:
        return _cut(text, width)
    tail = (width - 3) // 2
    return f"{text[: width - 3 - tail]}...{text[-tail:]}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def _legend(drawing: Drawing, lines: Sequence[Line], alphabet: _Alphabet, title: str) -> None:
    entries = [f"{alphabet.markers[index % SERIES]} {line.label}" for index, line in enumerate(lines)]
    roles = [f"series-{index % SERIES}" for index in range(len(lines))]
    if any(point.disturbed for line in lines for point in line.points):
        entries.append(f"{alphabet.disturbed} disturbed")
        roles.append("disturbed")
    needed = sum(len(entry) + 2 for entry in entries)
    x = 0
    if len(title) + 2 + needed <= drawing.width:
        drawing.put(0, 0, title, "title")
        x = len(title) + 2
    for index, entry in enumerate(entries):
        rest = len(entries) - index
        if x + len(entry) + (8 if rest > 1 else 0) > drawing.width and index > 0:
            drawing.put(x, 0, f"+{rest} more", "text")
            return
        drawing.put(x, 0, _cut(entry, drawing.width - x), roles[index])
        x += len(entry) + 2


def _boundary_lines(drawing: Drawing, frame: _Frame, boundaries: Sequence[Boundary], alphabet: _Alphabet) -> None:
    for boundary in boundaries:
        column = frame.column(boundary.x)
        for y in range(frame.top, frame.top + frame.height):
            drawing.put(column, y, alphabet.boundary, "boundary")


def _boundary_labels(drawing: Drawing, frame: _Frame, boundaries: Sequence[Boundary], alphabet: _Alphabet) -> None:
    """Name each line where the picture leaves room: beside it, right or left, as high as possible."""
    for boundary in boundaries:
        column, length = frame.column(boundary.x), len(boundary.label)
        places = (
            (start, y, free)
            for free in (" ", f" {alphabet.boundary}")  # rather over another line than nowhere
            for y in range(frame.top, frame.top + frame.height)
            for start in (column + 1, column - length - 1)
            if start >= frame.left and start + length < drawing.width
        )
        for start, y, free in places:
            if all(character in free for character in drawing.rows[y][start : start + length + 1]):
                drawing.put(start, y, boundary.label, "boundary")
                break


def _curves(drawing: Drawing, frame: _Frame, lines: Sequence[Line], glyphs: Glyphs) -> None:
    alphabet = _ALPHABETS[glyphs]
    raster = _Raster(frame.width, frame.height, glyphs)

    def place(point: Point, value: float) -> tuple[int, int]:
        return (
            _place(frame.x, point.x, raster.width),
            raster.height - 1 - _place(frame.y, value, raster.height),
        )

    for index, line in enumerate(lines):
        for point in line.points:
            if point.low is not None and point.high is not None:
                if glyphs is Glyphs.BRAILLE:
                    (x, low), (_, high) = place(point, point.low), place(point, point.high)
                    raster.stroke(x, low, x, high, index)
                    continue
                # Whole blocks would drown the curve: a thin line of text instead.
                for row in range(frame.row(point.high), frame.row(point.low) + 1):
                    drawing.put(frame.column(point.x), row, alphabet.vertical, f"series-{index % SERIES}")
        for before, after in pairwise(line.points):
            raster.stroke(*place(before, before.y), *place(after, after.y), index)
    for (x, y), bits in raster.cells.items():
        drawing.put(frame.left + x, frame.top + y, raster.glyph(bits), f"series-{raster.owners[x, y] % SERIES}")
    for index, line in enumerate(lines):
        # Markers nearer than three columns would hide the line they sit on.
        last = -3
        for number, point in enumerate(line.points):
            column, row = frame.column(point.x), frame.row(point.y)
            if not frame.top <= row < frame.top + frame.height:
                continue
            if point.disturbed:
                drawing.put(column, row, alphabet.disturbed, "disturbed")
            elif column - last >= 3 or number == len(line.points) - 1:
                drawing.put(column, row, alphabet.markers[index % SERIES], f"series-{index % SERIES}")
                last = column
    for index, line in enumerate(lines):
        for point in line.points:
            _point_label(drawing, frame, point, f"series-{index % SERIES}")


def _point_label(drawing: Drawing, frame: _Frame, point: Point, role: str) -> None:
    """Name a point where there is room: above, below or beside it."""
    column, row, length = frame.column(point.x), frame.row(point.y), len(point.label)
    for start, y in ((column, row - 1), (column - length, row - 1), (column, row + 1), (column + 2, row)):
        around = slice(max(start - 1, 0), start + length + 1)
        inside = frame.top <= y < frame.top + frame.height and frame.left <= start < drawing.width - length
        if point.label and inside and all(cell == " " for cell in drawing.rows[y][around]):
            drawing.put(start, y, point.label, role)
            return


def _y_axis(drawing: Drawing, frame: _Frame, alphabet: _Alphabet) -> None:
    for y in range(frame.top, frame.top + frame.height):
        drawing.put(frame.left - 1, y, alphabet.vertical, "axis")
    for tick in frame.y.ticks:
        row = frame.row(tick.value)
        drawing.put(frame.left - 1 - len(tick.label), row, tick.label, "axis")
        drawing.put(frame.left - 1, row, alphabet.tick_y, "axis")


def _x_axis(drawing: Drawing, frame: _Frame, alphabet: _Alphabet) -> None:
    row = frame.top + frame.height
    drawing.put(frame.left - 1, row, alphabet.corner + alphabet.horizontal * frame.width, "axis")
    behind = 0
    for tick in frame.x.ticks:
        column = frame.column(tick.value)
        start = min(column - len(tick.label) // 2, drawing.width - len(tick.label))
        if start < behind:
            continue
        drawing.put(column, row, alphabet.tick_x, "axis")
        drawing.put(start, row + 1, tick.label, "axis")
        behind = start + len(tick.label) + 1


def _draw_bars(chart: BarChart, width: int, height: int, glyphs: Glyphs, cursor: int | None) -> Drawing:
    drawing = Drawing(width, height)
    alphabet = _ALPHABETS[glyphs]
    # Each bar says its unit, so that the axis may go where there is no room for it.
    axis = chart.axis.title
    said, _, added = axis.partition(", ")
    heading = f"{chart.title}: {axis}"
    if said.lower() in chart.title.lower():
        heading = f"{chart.title}, {added}" if added else chart.title
    top = 1
    if len(heading) <= width:
        drawing.put(0, 0, heading, "title")
    else:
        for top, line in enumerate(wrap(chart.title, width)[:2] + wrap(axis, width)[:1], start=1):
            drawing.put(0, top - 1, line, "title")
    if not chart.bars:
        for y, line in enumerate(wrap(chart.caption or "no samples yet", width), start=top):
            drawing.put(0, y, line, "text")
        return drawing
    shown = chart.bars[: max(height - top - 1, 1)]
    labels = min(max(len(bar.label) for bar in shown), width // 2)
    texts = [(_span_text if chart.spans else _bar_text)(bar, chart.axis.unit) for bar in shown]
    # Half of the width belongs to the bars even where the words would like more.
    room = max(width - labels - 2 - max(map(len, texts)) - 1, width // 4)
    ruler = _span_ruler(chart.axis, shown) if chart.spans else _bar_ruler(chart.axis, shown, room)
    for index, bar in enumerate(shown):
        y, role = index + top, "series-0"  # bars are told apart by their names
        drawing.put(0, y, _cut_inside(bar.label, labels), "cursor" if cursor == index else "text")
        if chart.spans:
            first, last = (_place(ruler, bar.value if end is None else end, room + 1) for end in (bar.low, bar.high))
            drawing.put(labels + 1 + first, y, alphabet.bar * max(last - first, 1), role)
            drawing.put(labels + 1 + _place(ruler, bar.value, room + 1), y, alphabet.vertical, "title")
            drawing.put(labels + 2 + room, y, _cut(texts[index], width - labels - 2 - room), "text")
            continue
        length = max(_place(ruler, bar.value, room + 1), 1 if bar.value > 0 else 0)
        drawing.put(labels + 1, y, alphabet.bar * min(length, room), role)
        if bar.low is not None and bar.high is not None:
            low, high = (_place(ruler, bound, room + 1) for bound in (bar.low, bar.high))
            if high - low >= 2:
                ends = alphabet.range_
                drawing.put(labels + 1 + low, y, ends[0] + ends[1] * (high - low - 1) + ends[2], "axis")
        start = labels + 2 + max(length, _place(ruler, bar.high, room + 1) + 1 if bar.high is not None else 0)
        drawing.put(start, y, _cut(texts[index], width - start), "text")
    if len(shown) < len(chart.bars):
        drawing.put(0, height - 1, f"{len(chart.bars) - len(shown)} more below", "text")
    elif cursor is not None:
        drawing.put(0, height - 1, _cut(readout(chart, min(cursor, len(chart.bars) - 1)), width), "cursor")
    else:
        room_below = height - top - len(shown)
        lines = wrap(chart.caption, width)
        if len(lines) <= room_below:
            for y, line in enumerate(lines, start=top + len(shown)):
                drawing.put(0, y, line, "axis")
    return drawing


def _bar_ruler(axis: Axis, bars: Sequence[Bar], room: int) -> Ruler:
    """An axis from zero, or where it is logarithmic from half of the smallest bar, so that each has a length."""
    values = [bound for bar in bars for bound in (bar.value, bar.high) if bound is not None]
    smallest = min((value for value in values if value > 0), default=1.0)
    low = 0.0 if axis.scale is Scale.LINEAR else axis.low or smallest / 2
    high = axis.high if axis.high is not None else max(values) or 1.0
    return fit(replace(axis, low=low, high=high), values, max(room // 10, 2))


def _span_ruler(axis: Axis, bars: Sequence[Bar]) -> Ruler:
    """An axis from the lowest to the highest end: what a tornado shows is the difference."""
    ends = [end for bar in bars for end in (bar.low, bar.value, bar.high) if end is not None]
    return fit(replace(axis, low=min(ends), high=max(ends)), ends, 2)


def _span_text(bar: Bar, unit: str) -> str:
    """What the input goes through, and what comes of it."""
    low, high = (format_value(bar.value if end is None else end, unit) for end in (bar.low, bar.high))
    return f"{low} to {high}, at {bar.note}" if bar.note else f"{low} to {high}"


def _bar_text(bar: Bar, unit: str) -> str:
    return f"{format_value(bar.value, unit)} {bar.note}".rstrip()


def _draw_heat(chart: HeatMap, width: int, height: int, cursor: int | None) -> Drawing:
    drawing = Drawing(width, height)
    unit = "" if chart.unit == "verdict" else f" ({_unit_word(chart.unit)})"
    drawing.put(0, 0, _cut(f"{chart.title}{unit}", width), "title")
    known = [value for row in chart.values for value in row if value is not None]
    factor, prefix = _common_prefix(known, chart.unit)
    # Decimals where one digit would hide differences; columns stay narrow where whole numbers tell.
    decimals = 0 if all(abs(value / factor) >= 10 for value in known) else 2
    in_words = chart.unit == "verdict"

    def spelled(value: float) -> str:
        return format_value(value, chart.unit) if in_words else f"{value / factor:.{decimals}f}"

    texts = [["-" if value is None else spelled(value) for value in row] for row in chart.values]
    labels = max(map(len, chart.rows), default=0) + 1
    cell = max([len(text) for row in texts for text in row] + [len(name) for name in chart.columns] + [2]) + 1
    columns = max((width - labels) // cell, 1)
    first_column = 0
    if cursor is not None and chart.columns:
        at = cursor % len(chart.columns)
        first_column = max(min(at - columns // 2, len(chart.columns) - columns), 0)
    heading = f"{chart.row_title} down, {chart.column_title} across" + ("" if in_words else f", in {prefix}")
    drawing.put(0, 1, _cut(heading, width), "text")
    for place, name in enumerate(chart.columns[first_column : first_column + columns]):
        drawing.put(labels + place * cell, 2, name.rjust(cell), "axis")
    low, high = min(known, default=0.0), max(known, default=1.0)
    rows = max(height - 4, 1)
    first_row = 0
    if cursor is not None and chart.columns:
        first_row = max(min(cursor // len(chart.columns) - rows // 2, len(chart.rows) - rows), 0)
    for place, row in enumerate(range(first_row, min(first_row + rows, len(chart.rows)))):
        drawing.put(0, 3 + place, chart.rows[row].rjust(labels - 1), "axis")
        for offset, column in enumerate(range(first_column, min(first_column + columns, len(chart.columns)))):
            value = chart.values[row][column]
            level = 0 if high <= low or value is None else math.floor((value - low) / (high - low) * HEAT_LEVELS)
            role = "text" if value is None else f"heat-{min(level, HEAT_LEVELS - 1)}"
            if cursor == row * len(chart.columns) + column:
                role = "cursor"
            drawing.put(labels + offset * cell, 3 + place, texts[row][column].rjust(cell), role)
    if cursor is not None and chart.rows and chart.columns:
        places = len(chart.rows) * len(chart.columns)
        drawing.put(0, height - 1, _cut(readout(chart, min(cursor, places - 1)), width), "cursor")
    elif not known:
        drawing.put(0, height - 1, "no samples yet", "text")
    elif rows < len(chart.rows) or columns < len(chart.columns):
        down, across = min(rows, len(chart.rows)), min(columns, len(chart.columns))
        hidden = f"{down} of {len(chart.rows)} rows, {across} of {len(chart.columns)} columns shown"
        drawing.put(0, height - 1, _cut(hidden, width), "axis")
    return drawing


def _common_prefix(values: Sequence[float], unit: str) -> tuple[float, str]:
    """What to divide all values by so that they print short, and the unit that is left."""
    largest = max((abs(value) for value in values), default=0.0) or 1.0
    number, _, prefixed = format_value(largest, unit).partition(" ")
    if not prefixed:
        return 1.0, _unit_word(unit)
    about = largest / float(number)  # a whole prefix but for the rounding of the three digits
    base = 1024.0 if "i" in prefixed else 1000.0
    return base ** round(math.log(about, base)), prefixed
