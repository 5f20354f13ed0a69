"""Sensitivity: which figures matter, and at which values a decision turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.advise import answer
from sizeup.sizing.keys import KEYS, InputKind
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Inputs
from sizeup.units import base_unit

TARGETS = (
    "io.demand.headline",
    "verdict.storage",
    "license.cost.term",
    "license.edition",
    "value.license-usd-per-unit",
)
"""The answers whose tornado is worth looking at."""

_STRIDES = 6
"""Steps in each direction of the first search."""


class Swing(Struct, frozen=True):
    """What one input does to one answer when it moves over its range."""

    key: str
    low_input: float
    """Base units, as all figures here."""
    high_input: float
    at_low: float
    at_high: float
    elasticity: float | None
    """Percent that the answer moves for one percent of the input, over the range; None for an input or answer of 0."""

    @property
    def width(self) -> float:
        """How far the answer moves in all."""
        return abs(self.at_high - self.at_low)


class Flip(Struct, frozen=True):
    """A value of one input at which one decision turns."""

    key: str
    advice: str
    threshold: float
    """Base units; the first value on the far side of the turn."""
    now: str
    then: str


def tornado(inputs: Inputs, target: str, rules: Rules) -> tuple[Swing, ...]:
    """Swings of the answer ``target`` by each of its inputs, widest first; none where it cannot be given."""
    base = answer(inputs, target, rules)
    if base is None or base.quantity is None:
        return ()
    swings = []
    if _SUPPORT not in inputs and base.id.startswith("license.cost."):  # the vendor's, where nobody set another
        used = (entry.quantity for entry in base.inputs if entry.key.endswith(".support_percent"))
        support = next((one for one in used if one is not None), None)
        inputs = inputs if support is None else {**inputs, _SUPPORT: support}
    for key, quantity in _movable(base, inputs):
        low, high = _range(key, quantity, rules)
        ends = [
            _attempt(inputs, key, replace(quantity, value=end, low=None, high=None), target, rules)
            for end in (low, high)
        ]
        found = [end.quantity.value for end in ends if end is not None and end.quantity is not None]
        if len(found) < len(ends) or low == high:
            continue
        at_low, at_high = found
        moved = (high - low) / quantity.value if quantity.value and base.quantity.value else 0.0
        elasticity = (at_high - at_low) / base.quantity.value / moved if moved else None
        swings.append(Swing(key, low, high, at_low, at_high, elasticity))
    return tuple(sorted((swing for swing in swings if swing.width), key=lambda swing: -swing.width))


def tornados(inputs: Inputs, answers: Iterable[Advice], rules: Rules) -> tuple[tuple[Advice, tuple[Swing, ...]], ...]:
    """Return the swings of the answers that are worth looking at."""
    by_id = {advice.id: advice for advice in answers}
    return tuple((by_id[name], tornado(inputs, name, rules)) for name in TARGETS if name in by_id)


def flips(inputs: Inputs, decisions: tuple[Advice, ...], rules: Rules) -> tuple[Flip, ...]:
    """The nearest turns of each decision, by each of its inputs alone, in both directions."""
    reach = rules.figure("sensitivity.reach").value
    turns = (
        _turn(inputs, key, quantity, advice, direction, rules)
        for advice in decisions
        if advice.decision
        for key, quantity in _movable(advice, inputs)
        for direction in (1 / reach, reach)
    )
    return tuple(filter(None, turns))


_SUPPORT = "license.support_percent"


def _movable(advice: Advice, inputs: Inputs) -> Iterator[tuple[str, Quantity]]:
    """Numbers that an answer was worked out from, other than zeros without a range, which cannot be moved."""
    support = (_SUPPORT,) if advice.id.startswith("license.cost.") else ()
    for key in dict.fromkeys((*(entry.key for entry in advice.inputs), *support)):
        value = inputs.get(key)
        if isinstance(value, Quantity) and (value.value or value.high):
            yield key, value


def _range(key: str, quantity: Quantity, rules: Rules) -> tuple[float, float]:
    """The input's own range, else a share of it both ways; whole numbers move by one at least."""
    if quantity.low is not None and quantity.high is not None:
        return quantity.low, quantity.high
    swing = rules.figure("sensitivity.swing").value
    low, high = quantity.value * (1 - swing), quantity.value * (1 + swing)
    if grain := _least_step(key):
        low, high = math.floor(low / grain) * grain, math.ceil(high / grain) * grain
    return _inside(key, low), _inside(key, high)


def _least_step(key: str) -> float:
    """The least step of a whole number in base units; 0 for a key that takes any number."""
    return base_unit(KEYS[key].unit)[1] if KEYS[key].kind is InputKind.COUNT else 0.0


def _inside(key: str, value: float) -> float:
    """The value moved to the nearest one that the key allows."""
    declared = KEYS[key]
    scale = base_unit(declared.unit)[1]
    least = max(declared.minimum, 1) if declared.kind is InputKind.COUNT else declared.minimum
    return min(max(value, least * scale), declared.maximum * scale)


def _attempt(inputs: Inputs, key: str, quantity: Quantity, target: str, rules: Rules) -> Advice | None:
    """Return the answer with another figure of one key; None where that contradicts others."""
    moved = {**inputs, key: quantity}
    if key in {"machine.sockets", "machine.cores_per_socket"}:
        moved.pop("machine.cores", None)
    elif key == "machine.cores":
        moved.pop("machine.cores_per_socket", None)
    try:
        return answer(moved, target, rules)
    except UsageError:  # such as more survivors than nodes
        return None


def _turn(inputs: Inputs, key: str, quantity: Quantity, advice: Advice, direction: float, rules: Rules) -> Flip | None:
    """The first turn of a decision when ``key`` is multiplied toward ``direction``; None where there is none."""
    grain, point = _least_step(key), replace(quantity, low=None, high=None)
    if key == "array.disks" and getattr(inputs.get("array.raid"), "value", "") in ("1", "10"):
        grain = 2.0  # pairs
    found = _attempt(inputs, key, point, advice.id, rules)
    if quantity.value and (found is None or found.decision != advice.decision):
        point = quantity  # its range decides, too, and moves along

    def decided(value: float) -> str | None:
        moved = point.scaled(value / point.value) if point is quantity else replace(point, value=value)
        found = _attempt(inputs, key, moved, advice.id, rules)
        return None if found is None else found.decision

    same = quantity.value
    for stride in range(1, _STRIDES + 1):
        value = _inside(key, quantity.value * direction ** (stride / _STRIDES))
        value = max(round(value / grain), 1) * grain if grain else value
        other = decided(value)
        if other is None:
            return None
        if other != advice.decision:
            threshold = _bisected(same, value, advice.decision, decided, grain)
            return Flip(key, advice.id, threshold, advice.decision, decided(threshold) or other)
        same = value
    return None


def _bisected(same: float, other: float, now: str, decided: Callable[[float], str | None], grain: float) -> float:
    """The value nearest to ``same`` at which the decision is no longer ``now``."""
    for _ in range(14):  # then the threshold is known to about 0.01 %
        middle = (same + other) / 2
        if grain:
            middle = (math.floor(middle / grain) if other > same else math.ceil(middle / grain)) * grain
            if middle in (same, other):
                break
        if decided(middle) == now:
            same = middle
        else:
            other = middle
    return other
