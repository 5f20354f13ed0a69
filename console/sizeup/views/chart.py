"""Charts as values: what to draw, never how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Scale(Enum):
    """How an axis is divided."""

    LINEAR = "linear"
    LOG10 = "log10"
    LOG2 = "log2"


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis; values are in the base unit and spelled by ``units.format_value``."""

    title: str
    unit: str
    scale: Scale = Scale.LINEAR
    low: float | None = None
    """None: from the data."""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One drawn point with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    disturbed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One series of points in order of x."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Boundary:
    """A named vertical line, such as the size of a cache."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over two axes."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    boundaries: tuple[Boundary, ...] = ()
    caption: str = ""
    """One sentence that says what is seen; the text alternative of the picture."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One named value with its interval."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class BarChart:
    """Named values side by side."""

    title: str
    axis: Axis
    bars: tuple[Bar, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A matrix with its values printed; None where a cell was not measured."""

    title: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    unit: str
    caption: str = ""


Chart = LineChart | BarChart | HeatMap
