"""Line charts as SVG: a legend, boundaries, intervals, and the values under the pointer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from sizeup.charts import text_alternative
from sizeup.charts.axes import Ruler, fit, line_axis_values
from sizeup.charts.chart import Boundary, ChartPoint, Line, LineChart
from sizeup.charts.markup import Markup, element, empty, joined, number
from sizeup.charts.svg_elements import fitted, path_element, text_element, text_width

_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 4")
_SERIES = 6


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
        position = self.y.position(value)
        return self.bottom + (self.top - self.bottom) * min(max(position if position is not None else 0.0, 0.0), 1.0)

    def pixel(self, point: ChartPoint) -> tuple[float, float] | None:
        """Pixel of a point; None outside the axes."""
        x, y = self.across(point.x), self.up(point.y)
        return None if x is None or y is None else (x, y)


def _between(position: float | None, start: float, end: float) -> float | None:
    if position is None or not -1e-6 <= position <= 1 + 1e-6:
        return None
    return start + (end - start) * position


def line_chart(chart: LineChart, width: float, top: float) -> tuple[Markup, float, float]:
    """Return the body of the picture, its width and its height."""
    points = [point for line in chart.lines for point in line.points]
    x = fit(chart.x, [point.x for point in points], int(width // 90))
    y = fit(chart.y, line_axis_values(chart), 6)

    legend, top = _legend(chart.lines, width, top, disturbed=any(point.disturbed for point in points))
    left = 10 + max(text_width(tick.label) for tick in y.ticks)
    right = width - 14 - text_width(x.ticks[-1].label) / 2
    edges, band = _boundaries(chart.boundaries, x, left, right)
    title_y = top + 14
    plot = _Plot(left, title_y + 16 + band, right, title_y + 176 + width / 8 + band, x, y)
    body = joined(
        legend,
        text_element(0, title_y, y.title, class_="quiet"),
        _grid(plot),
        *(_boundary_line(edge, row, plot, title_y + 8) for edge, row in edges),
        *(_boundary_label(edge, row, plot, title_y + 8, width) for edge, row in edges),
        *(_line(line, index % _SERIES, plot) for index, line in enumerate(chart.lines)),
        *(_values(line, chart, plot, width) for line in chart.lines),  # above all lines
    )
    return body, width, plot.bottom + 46


def _legend(lines: Sequence[Line], width: float, top: float, *, disturbed: bool) -> tuple[Markup, float]:
    """Samples of each line with its name, and the pixel below them; nothing for a single line without a name."""
    parts: list[Markup] = []
    x, y = 0.0, top + 18
    widest = min(300, width - 34)
    entries = (
        [(fitted(line.label, widest), index % _SERIES) for index, line in enumerate(lines)] if len(lines) > 1 else []
    )
    for label, index in entries:
        if x and x + 40 + text_width(label) > width:
            x, y = 0.0, y + 18
        parts += [
            path_element(
                [(x, y - 4), (x + 28, y - 4)], class_=f"line i{index}", stroke_dasharray=_DASHES[index] or "none"
            ),
            _mark(x + 14, y - 4, index, hollow=False),
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


def _boundary_line(boundary: Boundary, row: int, plot: _Plot, top: float) -> Markup:
    at = plot.across(boundary.x) or plot.left
    return path_element([(at, top + 14 + row * 15), (at, plot.bottom)], class_="edge")


def _boundary_label(boundary: Boundary, row: int, plot: _Plot, top: float, width: float) -> Markup:
    half = text_width(boundary.label) / 2
    x = min(max(plot.across(boundary.x) or plot.left, half), width - half)
    return text_element(x, top + 10 + row * 15, boundary.label, class_="halo", text_anchor="middle")


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


def _line(line: Line, index: int, plot: _Plot) -> Markup:
    placed = [(point, pixel) for point in line.points if (pixel := plot.pixel(point)) is not None]
    if not placed:
        return joined()
    marks_every = _marks_every(placed)
    return joined(
        _intervals(placed, index, plot),
        _cut_marks(placed, index, plot),
        path_element(
            [pixel for _, pixel in placed], class_=f"line i{index}", stroke_dasharray=_DASHES[index] or "none"
        ),
        *(
            _mark(*pixel, index, hollow=point.disturbed)
            for position, (point, pixel) in enumerate(placed)
            if point.disturbed or position % marks_every == 0
        ),
    )


def _marks_every(placed: Sequence[object]) -> int:
    return math.ceil(len(placed) / 30)  # more would hide the line


def _values(line: Line, chart: LineChart, plot: _Plot, width: float) -> Markup:
    """The value of each point that is marked, shown while the pointer is on it."""
    placed = [(point, pixel) for point in line.points if (pixel := plot.pixel(point)) is not None]
    parts = []
    for point, (x, y) in placed[:: _marks_every(placed) or 1]:
        where = ", ".join(filter(None, (text_alternative.where(chart, point), point.label)))
        value = fitted(f"{where}: {text_alternative.with_interval(point, chart.y.unit)}", width * 0.9)
        half = text_width(value) * 0.55  # it is bold
        middle = min(max(x, half), max(width - half, half))
        above = y - 14 if y - 26 > plot.top else y + 24
        shown = text_element(middle, above, value, text_anchor="middle")
        parts.append(element("g", empty("circle", cx=x, cy=y, r=9, class_="hit"), shown, class_="value"))
    return joined(*parts)


def _intervals(placed: Sequence[tuple[ChartPoint, tuple[float, float]]], index: int, plot: _Plot) -> Markup:
    """A band where points are many, whiskers where they are few."""
    known = [
        (x, plot.up_clipped(point.low), plot.up_clipped(point.high))
        for point, (x, _) in placed
        if point.low is not None and point.high is not None
    ]
    if len(known) > 12 and len(known) == len(placed):
        outline = [*((x, high) for x, _, high in known), *((x, low) for x, low, _ in reversed(known))]
        return path_element(outline, class_=f"band f{index}")
    whiskers: list[Markup] = []
    for x, low, high in known:
        if low - high >= 2:  # shorter ones would only thicken the marker
            whiskers.append(path_element([(x, low), (x, high)], class_=f"whisker i{index}"))
            whiskers += [path_element([(x - 4, end), (x + 4, end)], class_=f"whisker i{index}") for end in (low, high)]
    return joined(*whiskers)


def _cut_marks(placed: Sequence[tuple[ChartPoint, tuple[float, float]]], index: int, plot: _Plot) -> Markup:
    """An arrow where an interval goes on beyond the axis."""
    arrows: list[Markup] = []
    for point, (x, _) in placed:
        if point.low is None or point.high is None:
            continue
        if plot.y.leaves(point.high) > 0:
            arrows.append(_arrow(x, plot.top, plot.top + 5, index))
        if plot.y.leaves(point.low) < 0:
            arrows.append(_arrow(x, plot.bottom, plot.bottom - 5, index))
    return joined(*arrows)


def _arrow(x: float, end: float, back: float, index: int) -> Markup:
    return path_element([(x - 4, back), (x, end), (x + 4, back)], class_=f"whisker i{index}")


_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # a circle
    ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)),
    ((0, -4.5), (4.5, 3.5), (-4.5, 3.5)),
    ((0, -5), (5, 0), (0, 5), (-5, 0)),
    ((0, 4.5), (4.5, -3.5), (-4.5, -3.5)),
    ((-4, -1.5), (4, -1.5), (4, 1.5), (-4, 1.5)),
)


def _mark(x: float, y: float, index: int, *, hollow: bool) -> Markup:
    classes = f"mark i{index} {'hollow' if hollow else f'f{index}'}"
    shape = _SHAPES[index]
    if not shape:
        return empty("circle", cx=x, cy=y, r=3.6, class_=classes)
    corners = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in shape)
    return empty("polygon", points=corners, class_=classes)
