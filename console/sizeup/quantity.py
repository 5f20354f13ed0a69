"""Quantity: what every shown number is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


class Origin(Enum):
    """How a number came to be known."""

    MEASURED = "measured"
    DETECTED = "detected"
    IMPORTED = "imported"
    USER = "user"
    PRESET = "preset"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with its unit, its range, where it came from and what to doubt about it."""

    value: float
    unit: str
    """Base units: ``bytes``, ``ns``, ``Hz``, ``bytes/s``, ``1/s``, ``1`` for a ratio, ``licences``, ``USD``."""
    origin: Origin
    source: str
    """A rule's id, a kernel file, a step's id, or the flag the user typed."""
    low: float | None = None
    """Lower end of the interval; None where none is known."""
    high: float | None = None
    doubts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"{self.source}: expected a finite number of {self.unit}, found {self.value}")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"{self.source}: {self.value} {self.unit} lies outside {self.low} to {self.high}")
