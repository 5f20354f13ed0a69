"""Bars in character cells: named values side by side, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.axes import Ruler, bar_axis_values, fit
from sizeup.charts.chart import CAVEATS, RANGE, Axis, Bar, BarChart, Scale
from sizeup.charts.drawing import ALPHABETS, Alphabet, Drawing, Glyphs, cut, dot_at, with_interval
from sizeup.units import format_value

_BAR_ROLE = "series-0"
"""Bars differ by their names, not by their colors."""


def bar_readout(chart: BarChart, cursor: int) -> str:
    """A bar in words, with its interval."""
    bar = chart.bars[cursor]
    unit = chart.axis.unit
    value = bar.text(unit) if bar.note == RANGE else with_interval(bar.value, bar.low, bar.high, unit)
    return f"{bar.label} {value} {bar.note}".rstrip()


def draw_bars(chart: BarChart, width: int, height: int, glyphs: Glyphs, cursor: int | None) -> Drawing:
    """A bar chart; ``cursor`` counts its bars."""
    drawing = Drawing(width, height)
    top = 0  # of a chart in a frame that has its title
    for top, line in enumerate(wrap(_heading(chart, width), width)[:3], start=1):
        drawing.put(0, top - 1, line, "title")
    if not chart.bars:
        for y, line in enumerate(wrap(chart.caption or "no samples yet", width), start=top):
            drawing.put(0, y, line, "text")
        return drawing
    rows = height - top
    # The last row shows what is left out, the bar under the cursor, or a legend.
    has_note = cursor is not None or len(chart.bars) > rows or any(bar.note in CAVEATS for bar in chart.bars)
    rows = max(rows - has_note, 1)
    first = 0 if cursor is None else max(min(cursor - rows // 2, len(chart.bars) - rows), 0)
    shown = chart.bars[first : first + rows]
    labels = min(max(len(bar.label) for bar in shown), width // 2)
    texts = [(_span_text if chart.spans else _bar_text)(bar, chart.axis.unit) for bar in shown]
    # A note that would be cut is shown as a sign.
    signs = not chart.spans and max(map(len, texts)) > width - labels - 3 - width // 4
    if signs:
        texts = [_with_note(bar, chart.axis.unit, "!" if bar.note in CAVEATS else "") for bar in shown]
    # Half of the width belongs to the bars even where the words would like more.
    # Of a tornado the figures go before the length of its bars.
    bar_width = max(
        width - labels - 2 - max(map(len, texts)) - (0 if chart.spans else 1), 6 if chart.spans else width // 4
    )
    ruler = _span_ruler(chart.axis, shown) if chart.spans else _bar_ruler(chart, shown, bar_width)
    frame = _BarFrame(labels + 1, bar_width, ruler, ALPHABETS[glyphs])
    draw = _draw_span if chart.spans else _draw_bar
    for index, bar in enumerate(shown):
        y = index + top
        drawing.put(0, y, _cut_inside(bar.label, labels), "cursor" if cursor == first + index else "text")
        draw(drawing, frame, y, bar, texts[index])
    if cursor is not None:
        drawing.put(0, height - 1, cut(bar_readout(chart, min(cursor, len(chart.bars) - 1)), width), "cursor")
        return drawing
    below = len(chart.bars) - first - len(shown)
    notes = [f"{below} more below"] if below else []
    if signs and any(bar.note in CAVEATS for bar in shown):
        notes.append(f"! {' or '.join(sorted({bar.note for bar in shown if bar.note in CAVEATS}))}")
    if notes:
        drawing.put(0, height - 1, cut("; ".join(notes), width), "text")
        return drawing
    lines = wrap(chart.caption, width)
    if len(lines) <= height - top - len(shown):
        for y, line in enumerate(lines, start=top + len(shown)):
            drawing.put(0, y, line, "axis")
    return drawing


class _BarFrame(Struct, frozen=True):
    """Where the bars of a chart are drawn."""

    left: int
    """Column of the low end of the axis."""
    width: int
    """Columns of the axis."""
    ruler: Ruler
    alphabet: Alphabet

    def dot(self, value: float) -> int:
        """Return the columns from the low end of the axis to a value."""
        return dot_at(self.ruler, value, self.width + 1)


def _heading(chart: BarChart, width: int) -> str:
    """Return the title with what the axis adds to it: each bar shows its unit, so the axis may go without."""
    axis = chart.axis.title
    for title in (axis, axis.rpartition(", ")[0]):
        if title and title.lower() in chart.title.lower():
            heading = f"{chart.title}{axis.removeprefix(title)}"
            # Charts beside each other differ in what follows the last colon.
            return heading if len(heading) <= width else heading.rpartition(": ")[2]
    return f"{chart.title}: {axis}" if chart.title else axis


def _draw_span(drawing: Drawing, frame: _BarFrame, y: int, bar: Bar, text: str) -> None:
    """Draw a bar from its low to its high end with a mark at its value, and the text in a column of its own."""
    start, end = (frame.dot(bar.value if end is None else end) for end in (bar.low, bar.high))
    drawing.put(frame.left + start, y, frame.alphabet.bar * max(end - start, 1), _BAR_ROLE)
    drawing.put(frame.left + frame.dot(bar.value), y, frame.alphabet.vertical, "title")
    column = frame.left + frame.width + 1
    drawing.put(column, y, cut(text, drawing.width - column), "text")


def _draw_bar(drawing: Drawing, frame: _BarFrame, y: int, bar: Bar, text: str) -> None:
    """Draw a bar from zero with its interval, and the text behind both."""
    length = max(frame.dot(bar.value), 1 if bar.value > 0 else 0)
    drawing.put(frame.left, y, frame.alphabet.bar * min(length, frame.width), _BAR_ROLE)
    if bar.low is not None and bar.high is not None:
        low, high = (min(max(frame.dot(bound), 0), frame.width) for bound in (bar.low, bar.high))
        length = max(length, high + 1)
        if high - low >= 2:
            ends = frame.alphabet.range_
            last = frame.alphabet.beyond if frame.ruler.leaves(bar.high) > 0 else ends[2]
            drawing.put(frame.left + low, y, ends[0] + ends[1] * (high - low - 1) + last, "axis")
    start = frame.left + 1 + length
    drawing.put(start, y, cut(text, drawing.width - start), "text")


def _bar_ruler(chart: BarChart, bars: Sequence[Bar], bar_width: int) -> Ruler:
    """An axis from zero, or where it is logarithmic from half of the smallest bar, so that each has a length."""
    axis, values = chart.axis, bar_axis_values(chart, bars)
    smallest = min((value for value in values if value > 0), default=1.0)
    low = 0.0 if axis.scale is Scale.LINEAR else axis.low or smallest / 2
    high = axis.high if axis.high is not None else max(values, default=0.0) or 1.0
    return fit(replace(axis, low=low, high=high), values, max(bar_width // 10, 2))


def _span_ruler(axis: Axis, bars: Sequence[Bar]) -> Ruler:
    """An axis from the lowest to the highest end: what a tornado shows is the difference."""
    ends = [end for bar in bars for end in (bar.low, bar.value, bar.high) if end is not None] or [0.0]
    return fit(replace(axis, low=min(ends), high=max(ends)), ends, 2)


def _span_text(bar: Bar, unit: str) -> str:
    """Both ends, in the bar's own words where it has some."""
    low, high = (format_value(bar.value if end is None else end, unit) for end in (bar.low, bar.high))
    return bar.note or f"{low} to {high}"


def _bar_text(bar: Bar, unit: str) -> str:
    return _with_note(bar, unit, bar.note)


def _with_note(bar: Bar, unit: str, note: str) -> str:
    return f"{bar.text(unit)} {note}".rstrip()


def _cut_inside(text: str, width: int) -> str:
    """``text`` in ``width`` columns, cut in its middle: names that begin alike differ at their ends."""
    if len(text) <= width or width < 8:
        return cut(text, width)
    tail = (width - 3) // 2
    return f"{text[: width - 3 - tail]}...{text[-tail:]}"
