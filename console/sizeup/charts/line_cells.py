"""Lines over two axes in character cells: curves, what separates them, and the readout of a point."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.axes import BEYOND_DEMAND, NEAR_RATIO, Ruler, fit, line_axis_values
from sizeup.charts.chart import Boundary, ChartPoint, DemandLine, Line, LineChart, Scale
from sizeup.charts.drawing import ALPHABETS, DOTS, SERIES, Alphabet, Drawing, Glyphs, cut, dot_at, shortened
from sizeup.charts.text_alternative import with_interval
from sizeup.units import format_value

_TITLED_FROM = 15
"""Rows from which on the title has one of its own where the names of the lines leave it none."""
_UNIT_ROOM = 10
"""Columns for the unit behind the title of an axis, and for what separates it from the legend."""
_MOST_VALUES = 6
"""On a vertical axis that is linear, however high it is."""
_TURN = 3
"""Columns for which one of several lines in the same cells is seen."""
_DASH = 3
"""Dots of a dash, and of the gap behind it."""
_INTERVAL = "interval"
"""The role of what is not certain around a point."""
EARLIER = "s3"
"""The role of an earlier run."""
_BRAILLE_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def positions(chart: LineChart) -> list[float]:
    """Where a readout can stand: every x that some line has a point at, in order."""
    return sorted({point.x for line in chart.lines for point in line.points})


def points_at(chart: LineChart, cursor: int) -> list[tuple[int, ChartPoint]]:
    """The points at one position with the numbers of their lines, the highest first."""
    x = positions(chart)[cursor]
    found = [(number, point) for number, line in enumerate(chart.lines) for point in line.points if point.x == x]
    return sorted(found, key=lambda pair: -pair[1].y)


def chosen_point(chart: LineChart, cursor: int, line: int) -> tuple[int, ChartPoint]:
    """The point of a line at one position with the line's number; the highest where that line has none there."""
    found = points_at(chart, cursor)
    return next((pair for pair in found if pair[0] == line), found[0])


def line_readout(chart: LineChart, cursor: int, width: int | None = None, line: int = 0) -> str:
    """The points at one x as text, each with its interval: that of ``line``, then the others as far as they fit."""
    chosen = chosen_point(chart, cursor, line)
    others = [pair for pair in sorted(points_at(chart, cursor), key=lambda pair: pair[0]) if pair[0] != chosen[0]]
    where = format_value(chosen[1].x, chart.x.unit)
    if chart.x.unit == "1":  # a number alone says nothing
        where = f"{chart.x.title.lower()} {where}"
    text = f"{where}: {_point_text(chart, *chosen)}"
    for left, pair in zip(range(len(others), 0, -1), others, strict=True):
        longer = f"{text}, {_point_text(chart, *pair)}"
        if width is not None and len(longer) + (len(f", +{left - 1}") if left > 1 else 0) > width:
            return f"{text}, +{left}"
        text = longer
    return text


def _point_text(chart: LineChart, number: int, point: ChartPoint) -> str:
    value = with_interval(point, chart.y.unit)
    name = chart.lines[number].beside(chart.y.title)
    return (
        f"{name} {value}".lstrip()
        + (f" at {point.label}" if point.label else "")
        + (f" {chart.labels}" if point.label and chart.labels else "")
        + (" disturbed" if point.disturbed else "")
    )


def _is_named_by_its_line(chart: LineChart) -> bool:
    """Whether the legend says what the title of the axis does."""
    return len(chart.lines) == 1 and chart.lines[0].label == chart.y.title


def _is_named_by_its_frame(chart: LineChart) -> bool:
    """Whether the title of the axis stands in the edge around the chart."""
    return not chart.title and bool(chart.name) and chart.y.title.startswith(chart.name)


def _is_titled_by_its_axis(chart: LineChart) -> bool:
    """Whether the title of the chart says, behind that of the step, what that of the axis does."""
    return (chart.subject or chart.title) == chart.y.title


class _Raster:
    """Dots at the resolution of the font, each cell owned by the series that drew on it."""

    def __init__(self, width: int, height: int, glyphs: Glyphs) -> None:
        self.glyphs = glyphs
        self.across, self.down = DOTS[glyphs]
        self.width, self.height = width * self.across, height * self.down
        self.cells: dict[tuple[int, int], int] = {}
        self._owners: dict[tuple[int, int], list[int]] = {}

    def dot(self, x: int, y: int, series: int) -> None:
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        cell, dx, dy = (x // self.across, y // self.down), x % self.across, y % self.down
        bit = _BRAILLE_BITS[dx][dy] if self.glyphs is Glyphs.BRAILLE else 1 << dy
        self.cells[cell] = self.cells.get(cell, 0) | bit
        if series not in (owners := self._owners.setdefault(cell, [])):
            owners.append(series)

    def owner(self, x: int, y: int) -> int:
        """Return the series of a cell: by turns where several drew on it, so that no line hides one along it."""
        owners = self._owners[x, y]
        return owners[x // _TURN % len(owners)]

    def trace(self, dots: Sequence[tuple[int, int]], series: int, *, earlier: bool = False) -> None:
        """Draw through these dots: two dots thick where the font has small ones; an earlier run thin and dashed."""
        drawn, thick = 0, self.glyphs is Glyphs.BRAILLE and not earlier
        for (x0, y0), (x1, y1) in pairwise(dots):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            # A point far outside the axis must not cost time for dots that nobody sees.
            if steps > 4 * (self.width + self.height):
                continue
            aside = (0, 1) if abs(x1 - x0) >= abs(y1 - y0) else (1, 0)
            for step in range(steps + 1):
                x, y = (round(start + (end - start) * step / steps) for start, end in ((x0, x1), (y0, y1)))
                if not earlier or (drawn + step) // _DASH % 2 == 0:
                    self.dot(x, y, series)
                if thick:
                    self.dot(x + aside[0], y + aside[1], series)
            drawn += steps

    def glyph(self, bits: int) -> str:
        if self.glyphs is Glyphs.BRAILLE:
            return chr(0x2800 + bits)
        if self.glyphs is Glyphs.BLOCK:
            return " ▀▄█"[bits]
        return "*"


class Frame(Struct, frozen=True):
    """Where the plot lies inside its drawing."""

    left: int
    top: int
    width: int
    height: int
    x: Ruler
    y: Ruler
    dots: tuple[int, int]
    """In a cell, across and down: markers must stand in the cell that holds their dot."""

    @property
    def bottom(self) -> int:
        """The row below the plot."""
        return self.top + self.height

    @property
    def rows(self) -> range:
        """The rows of the plot."""
        return range(self.top, self.bottom)

    def column(self, value: float) -> int:
        """The column of a value on the x axis."""
        return self.left + dot_at(self.x, value, self.width * self.dots[0]) // self.dots[0]

    def row(self, value: float) -> int:
        """The row of a value on the y axis."""
        dots = self.height * self.dots[1]
        return self.top + (dots - 1 - dot_at(self.y, value, dots)) // self.dots[1]


def draw_lines(
    chart: LineChart, width: int, height: int, glyphs: Glyphs, cursor: int | None, line: int = 0, spare: int = 0
) -> Drawing:
    """A line chart; ``cursor`` counts the positions of the readout, which begins with the point of ``line``.

    The readout leaves ``spare`` columns free, unless the first point alone takes them.
    """
    drawing = Drawing(width, height)
    alphabet = ALPHABETS[glyphs]
    y_values = line_axis_values(chart)
    x_values = [point.x for line in chart.lines for point in line.points]
    x_ends = [] if chart.demand is None else [chart.demand.x * BEYOND_DEMAND]
    # A name for each line is worth a row of the plot, as long as there is a plot.
    legend = _legend(chart, width, max((height - 7) // 4, 1), alphabet)
    title = shortened(chart.title, width)
    titled = bool(legend[0]) and legend[0][0][1] == chart.title
    if title and height >= _TITLED_FROM and not titled and not _is_titled_by_its_axis(chart):
        legend.insert(0, [(0, title, "title")])
    # Without a title, as where a frame around it has one, the legend stands beside the title of the axis.
    legend_end = max((x + len(text) for x, text, _ in legend[-1]), default=0)
    heading = "" if _is_named_by_its_line(chart) or _is_named_by_its_frame(chart) else chart.y.title
    joined = (not chart.title or not (heading or titled)) and len(legend) == 1
    joined = joined and len(heading) + _UNIT_ROOM + legend_end <= width
    top, bottom = len(legend) + (not joined), 2
    if width < 24 or height < top + bottom + 2:
        drawing.put(0, 0, chart.title, "title")
        drawing.put(0, 1, chart.caption or "too small for a chart", "text")
        return drawing
    plot_height = height - top - bottom
    most = max(plot_height // 3, min(plot_height // 2, 3))
    x_ruler, y_ruler = (
        fit(chart.x, x_values + x_ends, max(width // (6 if chart.x.unit == "1" else 10), 2)),
        fit(chart.y, y_values, min(most, _MOST_VALUES if chart.y.scale is Scale.LINEAR else height)),
    )
    # A boundary outside what was measured would squeeze the curve into a corner.
    boundaries = [item for item in chart.boundaries if x_ruler.low <= item.x <= x_ruler.high]
    # The region that the axis ends in, which the next boundary names.
    last = [replace(one, x=x_ruler.high) for one in chart.boundaries if one.ends_region and one.x > x_ruler.high][:1]
    if not y_values:
        y_ruler = replace(y_ruler, ticks=())  # numbers without values would be taken for some
        if chart.x.low is None:
            x_ruler = replace(x_ruler, ticks=())
    left = max([len(tick.label) for tick in y_ruler.ticks], default=0) + 1
    # No plot reaches the last column: the last tick's label needs room to stay centered.
    frame = Frame(left, top, width - left - 2, plot_height, x_ruler, y_ruler, DOTS[glyphs])

    # Where the legend names the values, their unit alone stands above them, as long as they have one.
    y_title = y_ruler.title if heading else y_ruler.unit
    shift = len(y_title) + 2 if joined and y_title else 0
    for y, entries in enumerate(legend):
        for x, text, role in entries:
            drawing.put(x + shift, y, text, role)
    drawing.put(0, top - 1, y_title, "axis")
    for boundary in boundaries:
        for y in frame.rows:
            drawing.put(frame.column(boundary.x), y, alphabet.boundary, "line" if boundary.ends_region else "boundary")
    _curves(drawing, frame, chart.lines, glyphs)
    for callout in chart.callouts:
        if callout.marked and frame.row(callout.y) in frame.rows:
            drawing.put(frame.column(callout.x), frame.row(callout.y), alphabet.markers[0], "title")
    if chart.demand is not None:
        _demand(drawing, frame, chart.demand, alphabet)
    for callout in chart.callouts:
        _words(drawing, frame, callout.x, callout.y, callout.words, "title")
    _boundary_labels(drawing, frame, [*boundaries, *last], alphabet)
    draw_y_axis(drawing, frame, alphabet)
    draw_x_axis(drawing, frame)
    _shade_change(drawing, frame, chart)
    # Every other region from the smallest on, and the band beside a demand, have another background.
    ends = [left, *(frame.column(boundary.x) for boundary in [*boundaries, *last] if boundary.ends_region)]
    for start, end in zip(ends[::2], ends[1::2], strict=False):
        drawing.shade(range(start, end), frame.rows, "tile")
    if chart.demand is not None:
        drawing.shade(_band(frame, chart.demand), frame.rows, chart.demand.status)
    xs = positions(chart)
    if cursor is not None and xs:
        cursor = min(max(cursor, 0), len(xs) - 1)
        number, point = chosen_point(chart, cursor, line)
        column = frame.column(xs[cursor])
        if left <= column < left + frame.width:  # a value far from all others lies outside the axis
            for y in frame.rows:
                if drawing.rows[y][column] in (" ", alphabet.grid):
                    drawing.put(column, y, alphabet.vertical, "cursor")
            mark = alphabet.disturbed if point.disturbed else alphabet.markers[number % SERIES]
            if frame.row(point.y) in frame.rows:
                drawing.put(column, frame.row(point.y), mark, "cursor")
        drawing.put(0, height - 1, cut(line_readout(chart, cursor, width - spare, line), width), "cursor")
    elif not x_values:
        for row, text in enumerate(wrap(chart.caption or "no samples yet", frame.width)[: frame.height]):
            start = frame.left + (frame.width - len(text)) // 2
            drawing.put(start, frame.top + max(frame.height // 2 - 1, 0) + row, text, "text")
    if cursor is None or not xs:
        drawing.put(frame.left + max((frame.width - len(x_ruler.title)) // 2, 0), height - 1, x_ruler.title, "axis")
    return drawing


def _role(line: Line, index: int) -> str:
    return EARLIER if line.earlier else f"series-{index % SERIES}"


def _legend(chart: LineChart, width: int, most_rows: int, alphabet: Alphabet) -> list[list[tuple[int, str, str]]]:
    """The names of the lines in as many rows as they need and may have, each with its column and role.

    The title stands before them where all fits into one row.
    """
    marks = [
        alphabet.grid * 2 if line.earlier else alphabet.markers[index % SERIES]
        for index, line in enumerate(chart.lines)
    ]
    entries = [
        (f"{mark} {line.beside(chart.y.title)}", _role(line, index))
        for index, (line, mark) in enumerate(zip(chart.lines, marks, strict=True))
    ]
    points = [point for line in chart.lines for point in line.points]
    if any(point.disturbed for point in points):
        entries.append((f"{alphabet.disturbed} disturbed", "disturbed"))
    named = [point.label for point in points if point.label]
    if named and chart.labels:
        entries.append((f"{named[0]} to {named[-1]}: {chart.labels}", "text"))
    fits = len(chart.title) + sum(len(text) + 2 for text, _ in entries) <= width
    if chart.title and fits and not (_is_named_by_its_line(chart) and _is_titled_by_its_axis(chart)):
        entries.insert(0, (chart.title, "title"))
    rows: list[list[tuple[int, str, str]]] = [[]]
    x = 0
    for number, (text, role) in enumerate(entries):
        left = len(entries) - number
        last = len(rows) == most_rows
        if rows[-1] and x + len(text) + (len("  +9 more") if last and left > 1 else 0) > width:
            if last:
                rows[-1].append((x, f"+{left} more", "text"))
                break
            rows.append([])
            x = 0
        rows[-1].append((x, cut(text, width), role))
        x += len(text) + 2
    return rows


def _boundary_labels(drawing: Drawing, frame: Frame, boundaries: Sequence[Boundary], alphabet: Alphabet) -> None:
    """Name each line where the picture has free cells: beside it, a region within it, as high as possible."""
    region = frame.left
    for boundary in boundaries:
        column, length = frame.column(boundary.x), len(boundary.label)
        starts = (column + 1, column - length - 1)[boundary.ends_region :]
        least, region = (region, column + 1) if boundary.ends_region else (frame.left, region)
        candidates = (
            (start, y, free)
            for free in (" ", f" {alphabet.boundary}")  # rather over another line than nowhere
            for y in frame.rows
            for start in starts
            if start >= least and start + length < drawing.width
        )
        for start, y, free in candidates:
            if all(character in free for character in drawing.rows[y][start : start + length + 1]):
                drawing.put(start, y, boundary.label, "boundary")
                break


def _curves(drawing: Drawing, frame: Frame, lines: Sequence[Line], glyphs: Glyphs) -> None:
    alphabet = ALPHABETS[glyphs]
    raster = _Raster(frame.width, frame.height, glyphs)
    roles = [_role(line, index) for index, line in enumerate(lines)]
    measured = [(index, line) for index, line in enumerate(lines) if not line.earlier]

    def dot(point: ChartPoint, value: float) -> tuple[int, int]:
        return dot_at(frame.x, point.x, raster.width), raster.height - 1 - dot_at(frame.y, value, raster.height)

    for index, line in enumerate(lines):
        for point in line.points:
            if line.earlier or (interval := _interval(frame, point)) is None:
                continue
            # A thin line in the color of labels below the curve, which a wide interval would drown else.
            low, high = map(frame.row, interval)
            for row in range(max(high, frame.top), min(low + 1, frame.bottom)):
                drawing.put(frame.column(point.x), row, alphabet.vertical, _INTERVAL)
        raster.trace([dot(point, point.y) for point in line.points], index, earlier=line.earlier)
    for (x, y), bits in raster.cells.items():
        drawing.put(frame.left + x, frame.top + y, raster.glyph(bits), roles[raster.owner(x, y)])
    # Marks where an interval goes on beyond what is drawn of it, or beyond the axis.
    for point in (point for _, line in measured for point in line.points):
        if point.low is None or point.high is None or (drawn := _interval(frame, point)) is None:
            continue
        column, (low_end, high_end) = frame.column(point.x), drawn
        if frame.y.leaves(point.high) > 0 or point.high > high_end:
            drawing.put(column, max(frame.row(high_end), frame.top), alphabet.above, _INTERVAL)
        if frame.y.leaves(point.low) < 0 or point.low < low_end:
            drawing.put(column, min(frame.row(low_end), frame.bottom - 1), alphabet.below, _INTERVAL)
    for index, line in measured:
        # Markers nearer than three columns would hide the line they sit on.
        last = -3
        for number, point in enumerate(line.points):
            column, row = frame.column(point.x), frame.row(point.y)
            if row not in frame.rows:
                continue
            if point.disturbed:
                drawing.put(column, row, alphabet.disturbed, "disturbed")
            elif column - last >= 3 or number == len(line.points) - 1:
                drawing.put(column, row, alphabet.markers[index % SERIES], roles[index])
                last = column
    for index, line in measured:
        for point in line.points:
            if point.label:
                _words(drawing, frame, point.x, point.y, [point.label], roles[index])


def _interval(frame: Frame, point: ChartPoint) -> tuple[float, float] | None:
    """Return the interval as it is drawn: on a logarithmic axis no farther than values near the point."""
    if point.low is None or point.high is None:
        return None
    if frame.y.scale is Scale.LINEAR or point.y <= 0:
        return point.low, point.high
    return max(point.low, point.y / NEAR_RATIO), min(point.high, point.y * NEAR_RATIO)


def _words(drawing: Drawing, frame: Frame, x: float, y: float, words: Sequence[str], role: str) -> None:
    """Put rows of words where cells are free near a point: above, below or beside it, then farther off, or nowhere.

    The ``role`` is that of the first row.
    """
    column, row = frame.column(x), frame.row(y)
    length, height = max(map(len, words)), len(words)
    for far in range(5):
        for start, top in (
            (column - far, row - height - far),
            (column - length - far, row - height - far),
            (column - length // 2, row + 1 + far),
            (column + 2 + far, row + far),
            (column - length - 1 - far, row + far),
        ):
            inside = top >= frame.top and top + height <= frame.bottom and start >= frame.left
            if inside and all(drawing.free(start - 1, top + number, length + 2) for number in range(height)):
                for number, text in enumerate(words):
                    drawing.put(start, top + number, text, "axis" if number else role)
                return


def _demand(drawing: Drawing, frame: Frame, demand: DemandLine, alphabet: Alphabet) -> None:
    """Draw the line of what is needed, and the band of what is missing or spare."""
    role, column = f"status-{demand.status}", frame.column(demand.x)
    for y in frame.rows:
        drawing.put(column, y, alphabet.demand, role)
    band = _band(frame, demand)
    below = max(min(frame.height * 2 // 3, frame.height - len(demand.difference)), 0)
    for number, words in enumerate(demand.difference):
        start, y = band.start + (len(band) - len(words)) // 2, frame.top + below + number
        if len(words) <= len(band) and drawing.free(start, y, len(words)):
            drawing.put(start, y, words, role)
    sides = [
        [(column + 2, words) for words in demand.words],
        [(column - len(words) - 1, words) for words in demand.words],
    ]
    free = (
        side
        for side in sides
        if all(x >= frame.left and drawing.free(x, frame.top + row, len(words)) for row, (x, words) in enumerate(side))
    )
    inside = column + 2 + max(map(len, demand.words), default=0) <= drawing.width
    for number, (start, words) in enumerate(next(free, sides[not inside])):
        drawing.put(start, frame.top + number, words, "axis" if number else "title")


def _band(frame: Frame, demand: DemandLine) -> range:
    """Return the columns between the end of capacity and demand, whichever is larger."""
    ends = sorted(map(frame.column, (demand.x, demand.x if demand.limit is None else demand.limit)))
    return range(max(ends[0] + 1, frame.left), ends[1])


def _shade_change(drawing: Drawing, frame: Frame, chart: LineChart) -> None:
    """Shade what lies between this run and an earlier one, where there is one line of each."""
    paths = [[(frame.column(point.x), frame.row(point.y)) for point in line.points] for line in chart.lines]
    if not chart.shows_change or [line.earlier for line in chart.lines] != [False, True] or not all(paths):
        return
    for x in range(max(path[0][0] for path in paths), min(path[-1][0] for path in paths) + 1):
        new, old = (_row_at(path, x) for path in paths)
        worse = (new > old) != (chart.y.unit == "ns")  # rows count down, and of time more is worse
        if abs(new - old) > 1:  # a row is what rounding makes of lines that touch
            drawing.shade(range(x, x + 1), range(min(new, old), max(new, old) + 1), "s2-shade" if worse else "s1-shade")


def _row_at(path: Sequence[tuple[int, int]], x: int) -> int:
    """Return the row of a line at a column that it crosses."""
    before = max((place for place in path if place[0] <= x), key=lambda place: place[0])
    behind = min((place for place in path if place[0] >= x), key=lambda place: place[0])
    share = 0.0 if behind[0] == before[0] else (x - before[0]) / (behind[0] - before[0])
    return round(before[1] + share * (behind[1] - before[1]))


def draw_y_axis(drawing: Drawing, frame: Frame, alphabet: Alphabet) -> None:
    """Name the values, and draw a line of the grid at each where cells are free."""
    for tick in frame.y.ticks:
        row = frame.row(tick.value)
        drawing.put(frame.left - 1 - len(tick.label), row, tick.label, "axis")
        for column in range(frame.left, frame.left + frame.width):
            if not drawing.roles[row][column]:
                drawing.put(column, row, alphabet.grid, "line")


def draw_x_axis(drawing: Drawing, frame: Frame) -> None:
    """Name the values below the plot, each as far as the one before it leaves room."""
    end = 0
    for tick in frame.x.ticks:
        start = min(frame.column(tick.value) - len(tick.label) // 2, drawing.width - len(tick.label))
        if start >= end:
            drawing.put(start, frame.bottom, tick.label, "axis")
            end = start + len(tick.label) + 1
