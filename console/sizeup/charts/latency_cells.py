"""Latency in character cells: over time as a heat map below the throughput, as a histogram, and as percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.axes import Ruler, Tick, fit
from sizeup.charts.chart import Axis, Chart, Scale
from sizeup.charts.drawing import ALPHABETS, DOTS, GROUND, Drawing, Glyphs, cut
from sizeup.charts.line_cells import Frame, draw_x_axis, draw_y_axis
from sizeup.units import format_value

T = TypeVar("T")
SHARES = (0.5, 0.9, 0.99, 0.999)
"""Of the requests of a slice: as many took at most the times that were recorded of it."""
LEVELS = 6
"""Of the ramp of magnitudes; 0 is hardly seen."""
_LEAST_SHARES = (0.0005, 0.01, 0.03, 0.1, 0.25)
"""The least share of the requests for each level above the lowest."""
_RAMP = "ramp-"
_EIGHTHS = {Glyphs.BRAILLE: " ▁▂▃▄▅▆▇█", Glyphs.BLOCK: " ▄█", Glyphs.ASCII: " #"}
_DOTTED = {**_EIGHTHS, Glyphs.BRAILLE: " ⣀⣤⣶⣿"}
_LEVEL_SIGNS = {Glyphs.BLOCK: " ░▒▓██", Glyphs.ASCII: " .:-=#"}
"""By level: what is seen without color."""
_WIDEST = 6
"""Columns that one record fills at most; a wider gap is one of the measurement."""
_MOST_SLICES = 80
"""Of a heat map: more would take a slow line seconds."""
_LEAST_WIDTH, _LEAST_HEIGHT = 20, 6
_LEAST_ROWS = 16
"""With fewer there is no room for the throughput above the latency."""


class LatencySlice(Struct, frozen=True):
    """The latency of the requests of a short time."""

    t_ns: float
    ns: tuple[float, ...]
    """At each of ``SHARES``."""


class Timeline(Struct, frozen=True):
    """Throughput and latency over a time that stays the same while it fills."""

    end_ns: float
    slices: tuple[LatencySlice, ...]
    rate: Axis | None = None
    rates: tuple[tuple[float, float], ...] = ()
    """Time and throughput."""
    load: str = ""
    """What the marks are: ``QD``."""
    marks: tuple[tuple[float, str], ...] = ()
    """When another load began, and its name."""


class Histogram(Struct, frozen=True):
    """How often each value occurred."""

    axis: Axis
    counts: tuple[tuple[float, int], ...]
    """Middle of each bucket, rising, and how many values it holds."""
    bucket: float = 1.0
    """Ratio of the ends of a bucket; 1 for single values."""
    named: tuple[tuple[str, float], ...] = ()
    """Percentiles."""


Picture = Chart | Timeline | Histogram
"""What is drawn in cells; reports draw charts only."""


def draw_timeline(timeline: Timeline, width: int, height: int, glyphs: Glyphs) -> Drawing:
    """Throughput as an area, and below it on the same axis of time the latency, brighter for more requests."""
    drawing = Drawing(width, height)
    above = (height - 3) * 2 // 5 if timeline.rates and timeline.rate and height >= _LEAST_ROWS else 0
    if width < _LEAST_WIDTH or height < _LEAST_HEIGHT:
        drawing.put(0, 0, cut("too small for a chart", width), "text")
        return drawing
    times = _with_units(fit(Axis("", "ns", low=0.0, high=timeline.end_ns), (), max(width // 10, 2)))
    # The axis has room around what was seen, in steps, so that it seldom moves while the picture fills.
    seen = [ns for piece in timeline.slices for ns in (piece.ns[0], piece.ns[-1]) if ns > 0] or [1e5, 1e6]
    low, high = (10.0 ** (math.floor(math.log10(end) * 3) / 3) for end in (min(seen) / 2, max(seen) * 3))
    latency = _with_units(fit(Axis("", "ns", Scale.LOG10, low, high), (), max((height - above) // 4, 2)))
    rate = fit(timeline.rate, [value for _, value in timeline.rates], max(above // 3, 2)) if above else None  # type: ignore[arg-type]
    left = max(len(tick.label) for ruler in (latency, rate) if ruler for tick in ruler.ticks) + 1
    top = 1 if len(timeline.marks) > 1 else 0
    frames = [Frame(left, top + above, width - left - 1, height - above - top - 1, times, latency, DOTS[glyphs])]
    if rate:
        frames.append(Frame(left, top, width - left - 1, above - 1, times, rate, DOTS[glyphs]))
        for column, values in _by_column(frames[1], timeline.rates).items():
            _bar(drawing, frames[1], column, sum(values) / len(values) / rate.high, _DOTTED[glyphs])
    _heat(drawing, frames[0], timeline.slices, glyphs)
    _marks(drawing, frames, timeline)
    for frame in frames:
        draw_y_axis(drawing, frame, ALPHABETS[glyphs])
    draw_x_axis(drawing, frames[0])
    return drawing


def _with_units(ruler: Ruler) -> Ruler:
    return replace(ruler, ticks=tuple(Tick(tick.value, f"{tick.label} {ruler.unit}".rstrip()) for tick in ruler.ticks))


def _by_column(frame: Frame, timed: Iterable[tuple[float, T]], joined: int = 1) -> dict[int, list[T]]:
    """Return what each column holds, so many of which are ``joined``."""
    columns: dict[int, list[T]] = {}
    for t_ns, value in timed:
        if 0 <= t_ns <= frame.x.high:
            column = min(int(t_ns / frame.x.high * frame.width), frame.width - 1) // joined * joined
            columns.setdefault(frame.left + column, []).append(value)
    # What was recorded stands for the time up to the next record.
    for column, after in pairwise(sorted(columns)):
        for empty in range(column + 1, after if after - column <= _WIDEST else column):
            columns[empty] = columns[column]
    return columns


def _bar(drawing: Drawing, frame: Frame, column: int, share: float, fill: str) -> None:
    """Draw a bar from the bottom, brighter the higher it reaches, of characters that are filled more and more."""
    steps = len(fill) - 1
    filled = round(share * frame.height * steps)
    for row in range(min(-(-filled // steps), frame.height)):
        level = 1 + (LEVELS - 2) * row // frame.height
        drawing.put(column, frame.bottom - 1 - row, fill[min(filled - row * steps, steps)], f"{_RAMP}{level}")


def _heat(drawing: Drawing, frame: Frame, slices: Sequence[LatencySlice], glyphs: Glyphs) -> None:
    words, joined = "", -(-frame.width // _MOST_SLICES)
    halves = 2 if joined == 1 else 1  # two columns of a row are a square, as half a cell is
    for column, found in sorted(_by_column(frame, ((piece.t_ns, piece.ns) for piece in slices), joined).items()):
        levels = _levels(tuple(found), frame.y, halves * frame.height)
        for row in range(frame.height):
            upper, lower = levels[halves * (row + 1) - 1], levels[halves * row]
            _cell(drawing, column, frame.bottom - 1 - row, upper, lower, glyphs)
        p99 = sum(ns[2] for ns in found) / len(found)
        row = min(max(frame.row(p99), frame.top), frame.bottom - 1)
        ground = drawing.roles[row][column].removeprefix(_RAMP).partition(GROUND)[0]
        role = f"hi{GROUND}{_RAMP}{ground}" if ground else "hi"
        drawing.put(column, row, "=" if glyphs is Glyphs.ASCII else "━", role)
        words = f"last p99 {format_value(p99, 'ns')}"
    if words:
        beside = column + 2 + len(words) <= frame.left + frame.width
        drawing.put(
            column + 2 if beside else column - len(words), row - (not beside), words, "title" if beside else "cursor"
        )


@lru_cache(4096)
def _levels(found: tuple[tuple[float, ...], ...], ruler: Ruler, bins: int) -> tuple[int, ...]:
    """Return the level of each half of a cell, from the bottom, of the requests of one column.

    Between two recorded percentiles requests are spread evenly over the logarithms; those below the lowest one stand
    with it, those above the highest with that.
    """
    shares = [0.0] * bins
    for ns in found:
        at = [min(max((ruler.position(value) or 0.0) * bins, 0.0), bins - 1e-6) for value in ns]
        shares[int(at[0])] += SHARES[0]
        shares[int(at[-1])] += 1 - SHARES[-1]
        for (low, high), (below, up_to) in zip(pairwise(at), pairwise(SHARES), strict=False):
            for bin_, part in _parts(low, high, bins):
                shares[bin_] += (up_to - below) * part
    return tuple(sum(share / len(found) >= least for least in _LEAST_SHARES) for share in shares)


def _parts(low: float, high: float, bins: int) -> Iterator[tuple[int, float]]:
    """Yield the bins that a range lies in, each with its part of the range."""
    first, last = (min(max(int(end), 0), bins - 1) for end in (low, high))
    for bin_ in range(first, last + 1):
        yield bin_, (min(high, bin_ + 1) - max(low, bin_)) / (high - low) if last > first else 1.0


def _line(drawing: Drawing, frame: Frame, column: int, role: str) -> None:
    """Draw a vertical line where cells are free."""
    for row in frame.rows:
        if not drawing.roles[row][column]:
            drawing.put(column, row, "┊", role)


def _cell(drawing: Drawing, column: int, row: int, upper: int, lower: int, glyphs: Glyphs) -> None:
    """Draw two values in one cell: the upper half in the color of one, the rest in that of the other."""
    if not upper and not lower:
        return
    if glyphs is not Glyphs.BRAILLE:
        level = max(upper, lower)
        drawing.put(column, row, _LEVEL_SIGNS[glyphs][level], f"{_RAMP}{level}")
    elif upper == lower:  # one color and a blank take a third of the bytes
        drawing.put(column, row, " ", f"{_RAMP}{upper}{GROUND}{_RAMP}{upper}")
    elif not lower or not upper:
        drawing.put(column, row, "▀" if upper else "▄", f"{_RAMP}{upper or lower}")
    else:
        drawing.put(column, row, "▀", f"{_RAMP}{upper}{GROUND}{_RAMP}{lower}")


def _marks(drawing: Drawing, frames: Sequence[Frame], timeline: Timeline) -> None:
    """Name each load where it began, and draw a line there where cells are free."""
    if len(timeline.marks) < 2:
        return
    end = 0
    drawing.put(max(frames[0].left - len(timeline.load) - 1, 0), 0, timeline.load, "axis")
    for number, (t_ns, name) in enumerate(timeline.marks):
        column = frames[0].column(t_ns)
        for frame in frames if number else ():
            _line(drawing, frame, column, "line")
        if column >= end and column + len(name) <= drawing.width:
            drawing.put(column, 0, name, "title" if number == len(timeline.marks) - 1 else "axis")
            end = column + len(name) + 1


def draw_histogram(histogram: Histogram, width: int, height: int, glyphs: Glyphs) -> Drawing:
    """Bars over an axis of values, their heights the logarithms of the counts, with percentiles named above."""
    drawing = Drawing(width, height)
    if not histogram.counts or height < _LEAST_HEIGHT or width < _LEAST_WIDTH:
        drawing.put(0, 0, cut("no samples yet", width), "text")
        return drawing
    values = [value for value, _ in histogram.counts]
    spans = values[0] > 0 and values[-1] / values[0] >= 4
    edge = max(histogram.bucket, 1.02)
    scale = Scale.LOG10 if spans else Scale.LINEAR
    axis = replace(histogram.axis, scale=scale, low=values[0] / edge, high=values[-1] * edge)
    top = 1 if histogram.named else 0
    rulers = fit(axis, values, max(width // 9, 2)), fit(Axis("", "1"), [1.0], 2)
    frame = Frame(1, top, width - 2, height - top - 2, *rulers, DOTS[glyphs])
    columns = [0.0] * frame.width
    for value, count in histogram.counts:
        half = histogram.bucket**0.5
        low, high = ((frame.x.position(end) or 0.0) * frame.width for end in (value / half, value * half))
        for column, part in _parts(low, high, frame.width):
            columns[column] += count * part
    largest = math.log1p(max(columns)) or 1.0
    for column, held in enumerate(columns):
        _bar(drawing, frame, frame.left + column, math.log1p(held) / largest, _EIGHTHS[glyphs])
    free = 0
    for name, value in histogram.named:
        column = min(frame.column(value), width - 1)
        _line(drawing, frame, column, "boundary")
        start = max(column - len(name) // 2, free)
        if start + len(name) <= width:
            drawing.put(start, 0, name, "title")
            free = start + len(name) + 1
    draw_x_axis(drawing, frame)
    title = f"{frame.x.title}, heights logarithmic"
    drawing.put(max((width - len(title)) // 2, 0), height - 1, cut(title, width), "axis")
    return drawing
