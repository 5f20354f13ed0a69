"""Charts as SVG: scalable, readable without color, light or dark as the reader's system is.

Series differ by color, marker and dash; colors are CSS variables, so that a page or the reader's
system chooses between light and dark. Every picture carries a title and a description for those
who hear it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from sizeup.charts import palette, text_alternative
from sizeup.charts.axes import BEYOND_DEMAND, Ruler, bar_axis_values, fit, format_labels, line_axis_values
from sizeup.charts.chart import (
    BarChart,
    Boundary,
    Callout,
    Chart,
    ChartPoint,
    DemandLine,
    HeatMap,
    Line,
    LineChart,
    Scale,
)
from sizeup.charts.drawing import SERIES
from sizeup.charts.markup import Markup, element, empty, joined, number, style_sheet
from sizeup.text import one_line
from sizeup.units import format_value

_MOST_CELLS = 32
"""Rows or columns up to which a heat map has room to print its values."""
_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 4")
_NARROW, _BROAD = frozenset("ijlt.,:;|'()[] "), frozenset("mwMW@%→")


def _variables(colors: Mapping[str, str]) -> str:
    return ";".join(f"--{name}:{color}" for name, color in colors.items())


LIGHT, DARK = _variables(palette.LIGHT), _variables(palette.DARK)

STYLE = style_sheet("sizeup.charts", "chart.css")

_WIDTH = 720
"""Of a chart that has a page, or a file, to itself."""
_TITLE_HEIGHT = 22.0
_MARGIN = 8


def standalone(chart: Chart) -> str:
    """A file of its own, light or dark as the reader's system asks."""
    picture = draw(chart, "chart")
    scheme = f":root{{{LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    style = element("style", Markup(scheme + STYLE + "svg{background:var(--bg)}"))
    opening, rest = picture.split(">", 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening} xmlns="http://www.w3.org/2000/svg">{style}{rest}\n'


def draw(chart: Chart, name: str, *, width: int = _WIDTH, titled: bool = True, css_class: str = "chart") -> Markup:
    """The picture for use within a page whose style sheet holds ``STYLE``; ``name`` is unique in that page.

    ``width`` is that of the plot in pixels, from which labels may stand out; a heat map is as wide as its cells
    need. The values appear under the pointer.
    """
    top = _TITLE_HEIGHT if titled else 0.0
    match chart:
        case LineChart():
            body, wide, height = line_chart(chart, width, top)
        case BarChart():
            body, wide, height = bar_chart(chart, width, top)
        case HeatMap():
            body, wide, height = heat_map(chart, top)
    return element(
        "svg",
        element("title", chart.title, id=f"{name}-title"),
        element("desc", text_alternative.sentence(chart), id=f"{name}-text"),
        text_element(0, 18, fitted(chart.title, wide * 0.85), class_="title") if titled else joined(),
        body,
        viewBox=f"-{_MARGIN} 0 {number(wide + 2 * _MARGIN)} {number(height)}",
        width=wide + 2 * _MARGIN,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-text",
        class_=css_class,
    )


def bar_chart(chart: BarChart, width: float, top: float) -> tuple[Markup, float, float]:
    """Return the body of the picture, its width and its height."""
    labels = [fitted(bar.label, width * 0.4) for bar in chart.bars]
    formatted = [fitted(bar.text(chart.axis.unit) + (f", {bar.note}" if bar.note else ""), 300) for bar in chart.bars]
    widest = max(map(text_width, formatted), default=0)
    left = 10 + max((text_width(label) for label in labels), default=0)
    right = max(width - 14 - widest, left + width * 0.22)
    # A bar's length is its value only from zero on.
    from_zero = [0.0] if chart.axis.scale is Scale.LINEAR else []
    ruler = fit(chart.axis, [*bar_axis_values(chart), *from_zero], min(5, int(width // 90)))

    def across(value: float) -> float:
        return _clipped(ruler.position(value), left, right)

    top, pitch = top + 12, 28.0
    bottom = top + pitch * len(chart.bars)
    parts: list[Markup] = []
    for tick in ruler.ticks:
        parts.append(path_element([(across(tick.value), top), (across(tick.value), bottom)], class_="grid"))
        parts.append(text_element(across(tick.value), bottom + 16, tick.label, class_="quiet", text_anchor="middle"))
    start = across(0.0)
    for index, bar in enumerate(chart.bars):
        middle, end = top + pitch * (index + 0.5), across(bar.value)
        parts.append(text_element(left - 8, middle + 4, labels[index], text_anchor="end"))
        said = element("title", f"{bar.label}: {text_alternative.with_interval(bar, chart.axis.unit)}")
        across_bar = {"x": min(start, end), "y": middle - 9, "width": abs(end - start), "height": 18}
        parts.append(element("rect", said, **across_bar, class_="bar"))
        after = max(start, end)
        if bar.low is not None and bar.high is not None:
            low, high = across(bar.low), across(bar.high)
            parts.append(path_element([(low, middle), (high, middle)], class_="extent"))
            parts.append(path_element([(low, middle - 4), (low, middle + 4)], class_="extent"))
            back = high - 5 if ruler.leaves(bar.high) > 0 else high  # an arrow where it goes on beyond the axis
            parts.append(path_element([(back, middle - 4), (high, middle), (back, middle + 4)], class_="extent"))
            after = max(after, high)
        parts.append(text_element(after + 6, middle + 4, formatted[index]))
    parts.append(path_element([(start, top), (start, bottom)], class_="base"))
    parts.append(text_element((left + right) / 2, bottom + 36, ruler.title, class_="quiet", text_anchor="middle"))
    return joined(*parts), max(width, right + 14 + widest), bottom + 46


def heat_map(chart: HeatMap, top: float) -> tuple[Markup, float, float]:
    """Return the body of the picture, its width and its height."""
    known = [value for row in chart.values for value in row if value is not None]
    printed = len(chart.rows) <= _MOST_CELLS and len(chart.columns) <= _MOST_CELLS
    formatted, unit = format_labels(known, chart.unit)
    labels = iter(formatted)
    texts = [["–" if value is None else next(labels) for value in row] for row in chart.values]
    widest = max([*(text_width(text) for row in texts for text in row), *map(text_width, chart.columns)], default=1.0)
    row_labels = [fitted(name, 240) for name in chart.rows]
    left = 10 + max([text_width(name) for name in row_labels], default=0)
    wide = max(44.0, widest + 14) if printed else 11.0
    high = 28.0 if printed else 11.0
    top += 40
    low_end, reach = min(known, default=0.0), (max(known, default=0.0) - min(known, default=0.0)) or 1.0

    directions = f"Rows: {chart.row_title}. Columns: {chart.column_title}.{f' Values in {unit}.' if unit else ''}"
    parts = [text_element(0, top - 26, directions, class_="quiet")]
    step = 1 if printed else 8
    for column, name in enumerate(chart.columns):
        if column % step == 0:
            middle = left + wide * (column + 0.5)
            parts.append(text_element(middle, top - 4, name, text_anchor="middle" if printed else "start"))
    for row, cells in enumerate(chart.values):
        y = top + high * row
        if row % step == 0:
            parts.append(text_element(left - 8, y + high / 2 + 4, row_labels[row], text_anchor="end"))
        for column, value in enumerate(cells):
            x = left + wide * column
            # Even the strongest cell stays pale enough for the ink that prints its value.
            kind = (
                {"class_": "unknown"}
                if value is None
                else {"class_": "cell", "fill_opacity": f"{0.08 + 0.42 * (value - low_end) / reach:.2f}"}
            )
            named = f"{chart.row_title} {chart.rows[row]}, {chart.column_title} {chart.columns[column]}"
            said = element("title", f"{named}: {'not measured' if value is None else format_value(value, chart.unit)}")
            parts.append(element("rect", said, x=x, y=y, width=wide, height=high, **kind))
            if printed:
                parts.append(text_element(x + wide / 2, y + high / 2 + 4, texts[row][column], text_anchor="middle"))
    bottom = top + high * len(chart.rows)
    key = "Nothing was measured."
    if known:
        faint, strong = format_value(min(known), chart.unit), format_value(max(known), chart.unit)
        key = f"Faint is {faint}, strong is {strong}" if faint != strong else f"All are {faint}"
        key += "; – was not measured." if any(value is None for row in chart.values for value in row) else "."
    parts.append(text_element(0, bottom + 20, key, class_="quiet"))
    words = max(text_width(key), text_width(directions), text_width(chart.title) / 0.85, 240)
    return joined(*parts), max(left + wide * len(chart.columns) + 8, words), bottom + 30


class _Plot(Struct, frozen=True):
    """The rectangle between the axes, and where values lie in it."""

    left: float
    top: float
    right: float
    bottom: float
    x: Ruler
    y: Ruler

    def across(self, value: float) -> float | None:
        """Pixel of an x value; None outside the axis."""
        return _between(self.x.position(value), self.left, self.right)

    def up(self, value: float) -> float | None:
        """Pixel of a y value; None outside the axis."""
        return _between(self.y.position(value), self.bottom, self.top)

    def up_clipped(self, value: float) -> float:
        """Pixel of a y value, at the edge where it lies outside."""
        return _clipped(self.y.position(value), self.bottom, self.top)

    def pixel(self, point: ChartPoint) -> tuple[float, float] | None:
        """Pixel of a point; None outside the axes."""
        x, y = self.across(point.x), self.up(point.y)
        return None if x is None or y is None else (x, y)


def _between(position: float | None, start: float, end: float) -> float | None:
    if position is None or not -1e-6 <= position <= 1 + 1e-6:
        return None
    return start + (end - start) * position


def _clipped(position: float | None, start: float, end: float) -> float:
    return start + (end - start) * min(max(position or 0.0, 0.0), 1.0)


def line_chart(chart: LineChart, width: float, top: float) -> tuple[Markup, float, float]:
    """Return the body of the picture, its width and its height."""
    points = [point for line in chart.lines for point in line.points]
    beyond = [] if chart.demand is None else [chart.demand.x * BEYOND_DEMAND]
    x_axis = fit(chart.x, [*(point.x for point in points), *beyond], int(width // 90))
    y_axis = fit(chart.y, line_axis_values(chart), 6)

    legend, top = _legend(chart.lines, width, top, disturbed=any(point.disturbed for point in points))
    left = 10 + max(text_width(tick.label) for tick in y_axis.ticks)
    right = width - 14 - text_width(x_axis.ticks[-1].label) / 2
    rows, band = _boundaries(chart.boundaries, x_axis, left, right)
    title_y = top + 14
    plot = _Plot(left, title_y + 16 + band, right, title_y + 176 + width / 8 + band, x_axis, y_axis)
    ends = [left, *(at for one in chart.boundaries if one.ends_region and (at := plot.across(one.x)) is not None)]
    edges, names = [], []
    for edge, row in rows:
        at, y, half = plot.across(edge.x) or left, title_y + 8 + row * 15, text_width(edge.label) / 2
        edges.append(path_element([(at, y + 14), (at, plot.bottom)], class_="edge"))
        middle = min(max(at, half), width - half)
        names.append(text_element(middle, y + 10, edge.label, class_="halo", text_anchor="middle"))
    body = joined(
        legend,
        # Every other region, from the smallest on, has another background.
        *(_rectangle(start, end, plot, "region") for start, end in zip(ends[::2], ends[1::2], strict=False)),
        text_element(0, title_y, y_axis.title, class_="quiet"),
        _grid(plot),
        _area(chart, plot),
        _demand(chart.demand, plot, width) if chart.demand is not None else joined(),
        *edges,
        *names,
        *(_line(line, index % SERIES, chart, plot) for index, line in enumerate(chart.lines)),
        *(_callout(callout, chart, plot) for callout in chart.callouts),
    )
    return body, width, plot.bottom + 46


def _legend(lines: Sequence[Line], width: float, top: float, *, disturbed: bool) -> tuple[Markup, float]:
    """Samples of each line with its name, and the pixel below them; nothing for a single line without a name."""
    parts: list[Markup] = []
    x, y = 0.0, top + 18
    widest = min(300, width - 34)
    for index, line in enumerate(lines if len(lines) > 1 else ()):
        label, index = fitted(line.label, widest), index % SERIES  # noqa: PLW2901
        if x and x + 40 + text_width(label) > width:
            x, y = 0.0, y + 18
        parts += [
            _stroke([(x, y - 4), (x + 28, y - 4)], line, index),
            _mark(x + 14, y - 4, line, index),
            text_element(x + 34, y, label),
        ]
        x += 34 + text_width(label) + 18
    if disturbed:
        label = "hollow: disturbed while it was measured"
        if x and x + text_width(label) > width:
            x, y = 0.0, y + 18
        parts.append(text_element(x, y, label, class_="quiet"))
    return joined(*parts), y + 8 if parts else top


def _boundaries(
    boundaries: Sequence[Boundary], x: Ruler, left: float, right: float
) -> tuple[list[tuple[Boundary, int]], float]:
    """Each boundary with the row its label fits into, and the height of these rows."""
    free = [left] * 3
    placed: list[tuple[Boundary, int]] = []
    for boundary in sorted(boundaries, key=lambda boundary: boundary.x):
        at = _between(x.position(boundary.x), left, right)
        if at is None:
            continue
        half = text_width(boundary.label) / 2
        row = next((row for row, end in enumerate(free) if at - half >= end), len(free) - 1)
        free[row] = at + half + 8
        placed.append((boundary, row))
    rows = max((row for _, row in placed), default=-1) + 1
    return placed, rows * 15


def _rectangle(left: float, right: float, plot: _Plot, css_class: str) -> Markup:
    size = {"width": max(right - left, 0.0), "height": plot.bottom - plot.top}
    return empty("rect", x=left, y=plot.top, **size, class_=css_class)


def _area(chart: LineChart, plot: _Plot) -> Markup:
    """The area between this run and an earlier one of the same figure, where there is one of each."""
    if [line.earlier for line in chart.lines] != [False, True]:
        return joined()
    new, old = (dict(filter(None, map(plot.pixel, line.points))) for line in chart.lines)
    both = [(x, new[x], old[x]) for x in new if x in old]
    for (x, ours, theirs), (next_x, next_ours, next_theirs) in pairwise(tuple(both)):
        gap, next_gap = ours - theirs, next_ours - next_theirs
        if gap * next_gap < 0:  # the lines cross: each side has its own color
            share = gap / (gap - next_gap)
            y = ours + share * (next_ours - ours)
            both.append((x + share * (next_x - x), y, y))
    parts = []
    for (x, ours, theirs), (next_x, next_ours, next_theirs) in pairwise(sorted(both)):
        is_lower = ours + next_ours > theirs + next_theirs  # pixels grow downwards
        is_worse = is_lower is (chart.y.unit != "ns")  # of time, less is better
        corners = [(x, ours), (next_x, next_ours), (next_x, next_theirs), (x, theirs)]
        parts.append(path_element(corners, class_="lost" if is_worse else "gained"))
    return joined(*parts)


def _demand(demand: DemandLine, plot: _Plot, width: float) -> Markup:
    """The line of what is needed, and the band of what is missing or spare."""
    at = plot.across(demand.x)
    if at is None:
        return joined()
    limit = plot.x.position(demand.x if demand.limit is None else demand.limit)
    left, right = sorted((at, _clipped(limit, plot.left, plot.right)))
    css_class = f"{demand.status} missing"
    parts = [_rectangle(left, right, plot, css_class)]
    parts.append(path_element([(at, plot.top - 6), (at, plot.bottom)], class_=f"{demand.status} demand"))
    if all(text_width(words) < right - left for words in demand.difference):
        middle, down = (left + right) / 2, plot.top + (plot.bottom - plot.top) * 0.6
        parts += _words(demand.difference, middle, down, "middle", css_class, css_class)
    fits = at + 8 + max(map(text_width, demand.words), default=0.0) <= width
    anchor, x = ("start", at + 8) if fits else ("end", at - 8)
    return joined(*parts, *_words(demand.words, x, plot.top + 10, anchor, "strong", "halo"))


def _callout(callout: Callout, chart: LineChart, plot: _Plot) -> Markup:
    """Words beside a point where no line crosses them, rather left and above; a demand and its words stay free."""
    x, y, demand = plot.across(callout.x), plot.up(callout.y), chart.demand
    if x is None or y is None:
        return joined()
    mark = _mark(x, y, Line("", ()), 0) if callout.marked else joined()
    start = 0.0 if demand is None or demand.x >= callout.x else (plot.across(demand.x) or 0.0) + 4
    words = [fitted(text, x - 8 - start) for text in callout.words]
    wide, high = max(map(text_width, words)), 16 * len(words)
    highest = plot.top + (12 if demand is None else 46)
    above, below = max(y - 12 - high, highest), min(y + 24, plot.bottom + 12 - high)
    beside = [up for line in chart.lines for at, up in _places(line, plot) if x - 12 - wide <= at <= x - 4]
    tops = above, below, highest, plot.bottom + 12 - high
    top = next((top for top in tops if not any(top - 14 <= up <= top + high - 10 for up in beside)), above)
    return joined(mark, *_words(words, x - 8, top, "end", "strong", "halo"))


def _places(line: Line, plot: _Plot) -> Iterator[tuple[float, float]]:
    """Yield pixels along a line, near enough to each other that no words lie between two."""
    pixels = [pixel for point in line.points if (pixel := plot.pixel(point)) is not None]
    for (x0, y0), (x1, y1) in pairwise(pixels):
        steps = int(max(abs(x1 - x0), abs(y1 - y0)) // 4) + 1
        yield from ((x0 + (x1 - x0) * at / steps, y0 + (y1 - y0) * at / steps) for at in range(steps + 1))


def _words(words: Sequence[str], x: float, y: float, anchor: str, first: str, others: str) -> Iterator[Markup]:
    """Yield rows of words, the first in a class of its own."""
    for row, text in enumerate(words):
        yield text_element(x, y + 16 * row, text, class_=others if row else first, text_anchor=anchor)


def _grid(plot: _Plot) -> Markup:
    parts: list[Markup] = []
    for tick in plot.y.ticks:
        y = plot.up(tick.value)
        if y is not None:
            parts.append(path_element([(plot.left, y), (plot.right, y)], class_="grid"))
            parts.append(text_element(plot.left - 6, y + 4, tick.label, class_="quiet", text_anchor="end"))
    for tick in plot.x.ticks:
        x = plot.across(tick.value)
        if x is not None:
            parts.append(path_element([(x, plot.bottom), (x, plot.bottom + 5)], class_="base"))
            parts.append(text_element(x, plot.bottom + 19, tick.label, class_="quiet", text_anchor="middle"))
    parts.append(path_element([(plot.left, plot.bottom), (plot.right, plot.bottom)], class_="base"))
    parts.append(
        text_element((plot.left + plot.right) / 2, plot.bottom + 39, plot.x.title, class_="quiet", text_anchor="middle")
    )
    return joined(*parts)


def _line(line: Line, index: int, chart: LineChart, plot: _Plot) -> Markup:
    """The line with its intervals, and marks that have their values under the pointer."""
    placed = [(point, pixel) for point in line.points if (pixel := plot.pixel(point)) is not None]
    if not placed:
        return joined()
    marks_every = math.ceil(len(placed) / 30)  # more would hide the line
    marks: list[Markup] = []
    for position, (point, pixel) in enumerate(placed):
        if point.disturbed or position % marks_every == 0:
            where = ", ".join(filter(None, (text_alternative.where(chart, point), point.label)))
            value = f"{where}: {text_alternative.with_interval(point, chart.y.unit)}"
            marks.append(_mark(*pixel, line, index, value, disturbed=point.disturbed))
    return joined(*_intervals(placed, line, index, plot), _stroke([pixel for _, pixel in placed], line, index), *marks)


def _stroke(pixels: Sequence[tuple[float, float]], line: Line, index: int) -> Markup:
    return path_element(pixels, class_=f"line {_color(line, index)}", stroke_dasharray=_DASHES[index] or "none")


def _color(line: Line, index: int) -> str:
    return "earlier" if line.earlier else f"i{index}"


def _intervals(
    placed: Sequence[tuple[ChartPoint, tuple[float, float]]], line: Line, index: int, plot: _Plot
) -> Iterator[Markup]:
    """Yield a band where points are many, whiskers where they are few; an arrow where one goes on beyond the axis."""
    known = [(x, point.low, point.high) for point, (x, _) in placed if point.low is not None and point.high is not None]
    pixels = [(x, plot.up_clipped(low), plot.up_clipped(high)) for x, low, high in known]
    css_class = f"whisker {_color(line, index)}"
    if len(known) > 12 and len(known) == len(placed):
        outline = [*((x, high) for x, _, high in pixels), *((x, low) for x, low, _ in reversed(pixels))]
        yield path_element(outline, class_=f"band f{index}")
    else:
        for x, low, high in pixels:
            if low - high >= 2:  # shorter ones would only thicken the marker
                yield path_element([(x, low), (x, high)], class_=css_class)
                yield from (path_element([(x - 4, end), (x + 4, end)], class_=css_class) for end in (low, high))
    for x, low, high in known:
        for value, side, end in ((high, 1, plot.top), (low, -1, plot.bottom)):
            if plot.y.leaves(value) == side:
                back = end + 5 * side
                yield path_element([(x - 4, back), (x, end), (x + 4, back)], class_=css_class)


_SHAPES = (
    "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
    "M-3.5 -3.5h7v7h-7z",
    "M0 -4.5l4.5 8h-9z",
    "M0 -5l5 5l-5 5l-5 -5z",
    "M0 4.5l4.5 -8h-9z",
    "M-4 -1.5h8v3h-8z",
)
"""The outlines of the markers of each series around their point, a circle first."""


def _mark(x: float, y: float, line: Line, index: int, value: str = "", *, disturbed: bool = False) -> Markup:
    """Return a marker; its ``value`` is shown while the pointer is on it."""
    said = (element("title", value),) if value else ()
    classes = f"mark {_color(line, index)} {'hollow' if disturbed or line.earlier else f'f{index}'}"
    return element("path", *said, d=_SHAPES[index], transform=f"translate({number(x)} {number(y)})", class_=classes)


def text_element(x: float, y: float, text: str, **attributes: str | float) -> Markup:
    """Return a text on one line."""
    return element("text", one_line(text), x=x, y=y, **attributes)


def path_element(points: Sequence[tuple[float, float]], **attributes: str | float) -> Markup:
    """Return straight lines from point to point."""
    return empty("path", d="M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), **attributes)


def text_width(text: str) -> float:
    """Return the pixels of a text of 12 pixel height, rather too many: nothing here can measure the reader's font."""
    return sum(
        4.6 if character in _NARROW else 11.4 if character in _BROAD else 8.4 if character.isupper() else 7.4
        for character in text
    )


def fitted(text: str, width: float) -> str:
    """Return the text on one line, cut with an ellipsis where it would be wider than ``width`` pixels."""
    line = one_line(text)
    while text_width(line) > width + 0.01 and len(line) > 2:  # a width made for this text may have been rounded
        line = one_line(line, len(line) - 1)
    return line
