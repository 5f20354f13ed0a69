"""Quantity: what every shown number is."""

from __future__ import annotations

import math
from enum import Enum

from msgspec import Struct


class Origin(Enum):
    """How a number came to be known."""

    MEASURED = "measured"
    DETECTED = "detected"
    IMPORTED = "imported"
    USER = "user"
    PRESET = "preset"
    RULE = "rule"


class Quantity(Struct, frozen=True):
    """A value with its unit, its range, where it came from and the caveats about it."""

    value: float
    unit: str
    """Base units: ``bytes``, ``ns``, ``Hz``, ``bytes/s``, ``1/s``, ``share``, ``ratio``, ``1`` for a count, ``USD``."""
    origin: Origin
    source: str
    """A rule's id, a kernel file, a step's id, or the flag the user typed."""
    low: float | None = None
    """Lower end of the interval; None where none is known."""
    high: float | None = None
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"{self.source}: expected a finite number of {self.unit}, found {self.value}")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"{self.source}: {self.value} {self.unit} lies outside {self.low} to {self.high}")


class Words(Struct, frozen=True):
    """A fact in words, such as a processor's name, with where it came from."""

    value: str
    origin: Origin
    source: str


class Ratio(Struct, frozen=True):
    """Two quantities of one unit compared both ways, so that no percentage is without its base."""

    a: Quantity
    b: Quantity
    a_name: str
    b_name: str

    @property
    def times(self) -> float:
        """How many times as much A is as B: 6.42 times as much is 542 % more."""
        return self.a.value / self.b.value

    @property
    def percent(self) -> float:
        """How far A lies above B in percent of B; negative below it."""
        return (self.a.value / self.b.value - 1) * 100

    @property
    def inverse_percent(self) -> float:
        """How far B lies above A in percent of A; negative below it."""
        return (self.b.value / self.a.value - 1) * 100

    def sentence(self) -> str:
        """Both directions with their bases: ``A is 16.2 % below B; B is 19.3 % above A (0.838 times)``."""
        return (
            f"{self.a_name} is {_direction(self.percent)} {self.b_name}; "
            f"{self.b_name} is {_direction(self.inverse_percent)} {self.a_name} ({self.times:.4g} times as much)"
        )


def _direction(percent: float) -> str:
    if percent == 0:
        return "equal to"
    return f"{abs(percent):.4g} % {'above' if percent > 0 else 'below'}"


def compare(a: Quantity, b: Quantity, a_name: str = "A", b_name: str = "B") -> Ratio:
    """Compare two quantities of one unit; other units, and a zero on either side, have no ratio."""
    if a.unit != b.unit:
        raise ValueError(f"expected two figures of one unit, found {a.unit} ({a.source}) and {b.unit} ({b.source})")
    if a.value == 0 or b.value == 0:
        raise ValueError(f"a ratio needs two figures other than 0, found {a.value} and {b.value} {a.unit}")
    return Ratio(a, b, a_name, b_name)
