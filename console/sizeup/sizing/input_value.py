"""What the inputs of sizing can be: numbers, words, lists of numbers, or a measured figure that is no evidence."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from sizeup.quantity import Origin, Quantity, Words
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


def is_imported(value: Value) -> bool:
    """Whether a file stated it."""
    return isinstance(value, Quantity | Words) and value.origin is Origin.IMPORTED


def with_stated(known: Mapping[str, Value], stated: Mapping[str, Value]) -> dict[str, Value]:
    """Return what was measured with what was stated in its place.

    IOPS that a user typed and that are more than what was measured at most do not count, and the conflict is named.
    MB/s that were typed settle what is uncertain of the measured paths up to there.
    """
    values, found, typed = {**known, **stated}, known.get("capacity.iops"), stated.get("capacity.iops")
    paths, rate = known.get("path.bandwidth_mb_s"), stated.get("capacity.mb_s")
    if isinstance(paths, Quantity) and isinstance(rate, Quantity) and "path.bandwidth_mb_s" not in stated:
        least = min(max(paths.least, rate.value), paths.value)
        uncertainties = tuple(one for one in paths.uncertainties if one.upper or (one.end or 0.0) >= least)
        values["path.bandwidth_mb_s"] = replace(
            paths, low=least, high=paths.high or paths.value, uncertainties=uncertainties
        )
    if isinstance(found, Quantity) and isinstance(typed, Quantity) and typed.origin is Origin.USER:
        most = found.most
        if most is not None and typed.value > most:
            wanted, measured_ = (format_in(float(f"{value:.4g}"), "IOPS") for value in (typed.value, most))
            conflict = f"{wanted} ({typed.source}) are more than the {measured_} measured at most, which count"
            values["capacity.iops"] = replace(found, caveats=(*found.caveats, conflict))
    return values
