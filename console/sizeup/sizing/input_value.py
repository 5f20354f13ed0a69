"""What the inputs of sizing can be: numbers, words, lists of numbers, or a measured figure that is no evidence."""

from __future__ import annotations

from msgspec import Struct

from sizeup.quantity import Quantity, Words
from sizeup.text import capitalized
from sizeup.units import format_in


class UnusedMeasurement(Struct, frozen=True):
    """A figure that was measured and is no evidence of its key, which stays unknown, with the reason."""

    quantity: Quantity
    cause: str
    """A clause: ``the I/O did not bypass the page cache``."""
    remedy: str
    """What to do for a figure that counts."""

    def sentence(self, unit: str) -> str:
        """Return which figure is not used, why, and what to do."""
        figure = format_in(float(f"{self.quantity.value:.4g}"), unit)
        return f"{figure} was measured but is not used, because {self.cause}. {capitalized(self.remedy)}"


Value = Quantity | Words | tuple[Quantity, ...] | UnusedMeasurement
"""The value of a key: a number, words, a list of numbers, or a measured number that is not used."""
