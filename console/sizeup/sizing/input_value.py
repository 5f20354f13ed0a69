"""What the inputs of sizing can be: numbers, words, lists of numbers, or a measured figure that is not used."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from sizeup.quantity import Quantity, Words
from sizeup.text import capitalized
from sizeup.units import format_in


class WhyUnused(Enum):
    """Why a measured figure is not used."""

    INVALID = "is not valid"
    OPEN = "did not converge"
    LOWER_BOUND = "is a lower bound"
    ONE_PATH = "does not cover all storage"


class UnusedMeasurement(Struct, frozen=True):
    """A figure that was measured and that sizing does not use: the key stays unknown, with the reason."""

    quantity: Quantity
    cause: str
    """A clause: ``it may come from a cache``."""
    details: str
    """The reasons of the probe, in full."""
    remedy: str
    """What to do for a figure that counts."""
    why_unused: WhyUnused = WhyUnused.INVALID

    def sentence(self, unit: str) -> str:
        """Which figure, why it is not used, and what to do."""
        least = "at least " if self.why_unused is WhyUnused.LOWER_BOUND else ""
        figure = format_in(float(f"{self.quantity.value:.4g}"), unit)
        return f"{least}{figure} was measured but is not used: {self.why()}. {capitalized(self.remedy)}"

    def why(self) -> str:
        """Return why it is not used as a clause: ``it is not valid, because it may come from a cache``."""
        because = "" if self.why_unused is WhyUnused.OPEN else f", because {self.cause}"
        return f"it {self.why_unused.value}{because}"

    def evidence(self, unit: str) -> str:
        """The source of the figure, and every reason against it."""
        figure = format_in(self.quantity.value, unit)
        return f"not used: {figure} of {self.quantity.source}; {self.details or self.cause}"


Value = Quantity | Words | tuple[Quantity, ...] | UnusedMeasurement
"""The value of a key: a number, words, a list of numbers, or a measured number that is not used."""
