"""Numbers with unit, range, origin and caveats."""

from __future__ import annotations

import math
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace


class Origin(Enum):
    """Where a value comes from."""

    MEASURED = "measured"
    DETECTED = "detected"
    IMPORTED = "imported"
    USER = "user"
    PRESET = "preset"
    RULE = "rule"


class Uncertainty(Struct, frozen=True):
    """What moved one end of a figure, and what would settle it."""

    end: float | None
    """That end, in the unit of the figure; None for an upper end that is open."""
    reason: str
    """A clause: ``the host's cache may hold the new file``."""
    action: str = ""
    """A sentence without its end: ``Measure again when the host is idle``."""
    upper: bool = False
    """Whether it is the upper end."""
    default: bool = False
    """Whether the value is a default of ours up to this end: it moves no end, and is named where it decides."""


class Quantity(Struct, frozen=True):
    """A value with its unit, its range, its origin and its caveats."""

    value: float
    unit: str
    """Base units: ``bytes``, ``ns``, ``Hz``, ``bytes/s``, ``1/s``, ``share``, ``ratio``, ``1`` for a count, ``USD``."""
    origin: Origin
    source: str
    """A rule's id, a kernel file, a step's id, or the flag the user typed."""
    low: float | None = None
    """Lower end of the interval; None if unknown."""
    high: float | None = None
    caveats: tuple[str, ...] = ()
    uncertainties: tuple[Uncertainty, ...] = ()
    """What the interval does not know of; each moved an end of its own."""

    @property
    def least(self) -> float:
        """The lower end by the interval and all uncertainties."""
        ends = [one.end for one in self.uncertainties if one.end is not None and not (one.upper or one.default)]
        return min(self.value if self.low is None else self.low, *ends, self.value)

    @property
    def most(self) -> float | None:
        """The upper end by the interval and all uncertainties; None where it is open."""
        ends = [one.end for one in self.uncertainties if one.upper and not one.default]
        known = [end for end in ends if end is not None]
        high = self.value if self.high is None else self.high
        return max(high, *known, self.value) if len(known) == len(ends) else None

    def scaled(self, factor: float, more: float = 0.0) -> Quantity:
        """Return a multiple of the figure and ``more`` of its unit, its ends and its uncertainties included."""
        low, high = (None if end is None else end * factor + more for end in (self.low, self.high))
        uncertainties = tuple(
            replace(one, end=None if one.end is None else one.end * factor + more) for one in self.uncertainties
        )
        return replace(self, value=self.value * factor + more, low=low, high=high, uncertainties=uncertainties)

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"{self.source}: expected a finite number of {self.unit}, found {self.value}")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"{self.source}: {self.value} {self.unit} lies outside {self.low} to {self.high}")


class Words(Struct, frozen=True):
    """A fact that is text, such as a processor's name, with its origin."""

    value: str
    origin: Origin
    source: str


class Ratio(Struct, frozen=True):
    """The ratio of two quantities of one unit, in both directions."""

    a: Quantity
    b: Quantity
    a_name: str
    b_name: str

    @property
    def times(self) -> float:
        """Return A divided by B; 6.42 means 542 % more."""
        return self.a.value / self.b.value

    @property
    def percent(self) -> float:
        """Return the difference of A from B in percent of B."""
        return (self.a.value / self.b.value - 1) * 100

    @property
    def inverse_percent(self) -> float:
        """Return the difference of B from A in percent of A."""
        return (self.b.value / self.a.value - 1) * 100

    def sentence(self) -> str:
        """Return both directions as a sentence: ``A is 16.2 % below B; B is 19.3 % above A (0.838 times)``."""
        first, second = (
            f"{abs(percent):.4g} % {'above' if percent > 0 else 'below'}" if percent else "equal to"
            for percent in (self.percent, self.inverse_percent)
        )
        there, back = f"{self.a_name} is {first} {self.b_name}", f"{self.b_name} is {second} {self.a_name}"
        return f"{there}; {back} ({self.times:.4g} times as much)"


def compare(a: Quantity, b: Quantity, a_name: str = "A", b_name: str = "B") -> Ratio:
    """Return the ratio of two quantities; raise ``ValueError`` for different units or a zero."""
    if a.unit != b.unit:
        raise ValueError(f"expected two figures of one unit, found {a.unit} ({a.source}) and {b.unit} ({b.source})")
    if a.value == 0 or b.value == 0:
        raise ValueError(f"a ratio needs two figures other than 0, found {a.value} and {b.value} {a.unit}")
    return Ratio(a, b, a_name, b_name)
