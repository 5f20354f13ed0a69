"""Two sizings side by side: every figure that both have, as a ratio with its base and direction."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Ratio, compare
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.inputs.presets import Preset, find_preset
from sizeup.sizing.keys import KEYS


class SizingComparison(Struct, frozen=True):
    """One figure of two sizings."""

    id: str
    """The key or the id of the advice."""
    title: str
    shown_in: str
    ratio: Ratio

    @property
    def points(self) -> float | None:
        """Percentage points from B to A, for two shares; None for anything else."""
        return (self.ratio.a.value - self.ratio.b.value) * 100 if self.shown_in == "%" else None


def compare_sizings(a: Sizing, b: Sizing, a_name: str, b_name: str) -> tuple[SizingComparison, ...]:
    """What both know, in A's order: first their inputs, then their answers.

    Defaults and figures of different units are left out.
    """
    others = {name: (quantity, unit) for name, _, quantity, unit in _figures(b)}
    comparisons = []
    for name, title, quantity, unit in _figures(a):
        other, _ = others.get(name, (None, ""))
        if other is not None and other.unit == quantity.unit and other.value and quantity.value:
            comparisons.append(SizingComparison(name, title, unit, compare(quantity, other, a_name, b_name)))
    return tuple(comparisons)


def _figures(sizing: Sizing) -> Iterator[tuple[str, str, Quantity, str]]:
    """Id, title, quantity and unit of everything that is a number."""
    for key, value in sizing.inputs.items():
        if isinstance(value, Quantity) and value.origin is not Origin.RULE:
            yield key, KEYS[key].help, value, "" if KEYS[key].unit == "1" else KEYS[key].unit
    for advice in sizing.advice:
        if advice.quantity is not None:
            yield advice.id, advice.title, advice.quantity, advice.shown_in


def beside_printed(case: Preset, given: Sizing) -> Iterator[tuple[str, Advice | SizingComparison]]:
    """Yield what the author of a case printed, each with our answer or the ratio to another case."""
    for key, text in case.printed.items():
        other, _, name = key.rpartition(" ")
        if other:
            beside = size(find_preset(other).values())
            both = compare_sizings(given, beside, case.name, other), compare_sizings(beside, given, other, case.name)
            yield text, next(one for ratios in both for one in ratios if one.id == name and one.ratio.times >= 1)
        elif (advice := given.find(name)) is not None:
            yield text, advice
