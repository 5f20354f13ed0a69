"""Charts as values: what to draw, never how."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from sizeup.units import format_range, format_value

if TYPE_CHECKING:
    from sizeup.session.value import PointKey


class Scale(Enum):
    """How an axis is divided."""

    LINEAR = "linear"
    LOG10 = "log10"
    LOG2 = "log2"


class Axis(Struct, frozen=True):
    """One axis; values are in the base unit and spelled by ``units.format_value``."""

    title: str
    unit: str
    scale: Scale = Scale.LINEAR
    low: float | None = None
    """None: from the data."""
    high: float | None = None


class ChartPoint(Struct, frozen=True):
    """One drawn point with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    disturbed: bool = False
    label: str = ""
    """What the axes do not say of it, such as the load that was offered."""
    key: PointKey | None = None
    """The point of the step that it shows; None where it shows none of its own."""


class Line(Struct, frozen=True):
    """One series of points in order of x."""

    label: str
    points: tuple[ChartPoint, ...]
    title: str = ""
    """What of the label names the series."""
    where: str = ""
    """What of the label says where its points lie beside the axis."""
    earlier: bool = False
    """Of a run that this one is compared with: drawn dashed and thin, without markers."""

    def beside(self, title: str) -> str:
        """Return the label without a title that stands beside it."""
        return self.where if self.where and self.title == title else self.label


class Boundary(Struct, frozen=True):
    """A named vertical line, such as a knee, or the end of a region, such as a level of cache."""

    x: float
    label: str
    ends_region: bool = False
    """What lies between it and the boundary before is a band of background."""


class Callout(Struct, frozen=True):
    """Words at the point that matters: the best, a limit, or what is measured now."""

    x: float
    y: float
    words: tuple[str, ...]
    """A row each; the first is bold."""
    marked: bool = True
    """The point itself is marked."""


class DemandLine(Struct, frozen=True):
    """What a workload needs, on the x axis, beside what can be delivered."""

    x: float
    status: str
    """``pass``, ``warn`` or ``fail``: the color of the line and of the band."""
    words: tuple[str, ...]
    limit: float | None = None
    """Where capacity ends: what lies between is missing, or spare."""
    difference: tuple[str, ...] = ()
    """What stands in that band: ``9,500``, ``short``."""


class _Named(Struct, frozen=True, kw_only=True):
    """What the title of a chart is made of."""

    name: str = ""
    """What it shows in a word or two: ``Latency``."""
    subject: str = ""
    """What the title says behind that of the step: ``Latency, p50``; empty for the only chart of a step."""
    detail: str = ""
    """What of it follows the name."""


class LineChart(_Named, frozen=True):
    """Lines over two axes."""

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    boundaries: tuple[Boundary, ...] = ()
    caption: str = ""
    """One sentence that says what is seen; the text alternative of the picture."""
    labels: str = ""
    """What the labels of the points are, such as ``queue depth``."""
    callouts: tuple[Callout, ...] = ()
    shows_change: bool = False
    """What lies between this run and an earlier one is shaded."""
    demand: DemandLine | None = None


DISTURBED, UNSETTLED, RANGE = CAVEATS = ("disturbed", "not converged", "range")
"""Notes that say to be careful with a bar; of a range, both ends stand in the place of the value."""


class Bar(Struct, frozen=True):
    """One named value with its interval."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    key: PointKey | None = None
    """As of a point."""
    role: str = "series-0"
    """Its color; bars differ by their names as well."""

    def text(self, unit: str) -> str:
        """Return the value, or both ends of a range."""
        if self.note == RANGE and self.low is not None and self.high is not None:
            return format_range(self.low, self.high, unit)
        return format_value(self.value, unit)


class BarChart(_Named, frozen=True):
    """Named values side by side."""

    title: str
    axis: Axis
    bars: tuple[Bar, ...]
    caption: str = ""
    spans: bool = False
    """Each bar reaches from its low to its high end, around a value that all share: a tornado."""
    apart: int = 3
    """Rows from bar to bar, as far as there is room."""

    @property
    def axis_title(self) -> str:
        """What the bars show, and that their lengths are logarithms."""
        return f"{self.axis.title}{', logarithmic' if self.axis.scale is Scale.LOG10 else ''}".removeprefix(", ")


class HeatMap(_Named, frozen=True):
    """A matrix with its values printed; None where a cell was not measured."""

    title: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    unit: str
    caption: str = ""
    keys: tuple[tuple[PointKey | None, ...], ...] = ()
    """The point of the step that each cell shows; empty where cells show none."""


Chart = LineChart | BarChart | HeatMap
