"""How fast the cores of the present server are against those of this machine."""

from __future__ import annotations

import math
import re

from msgspec import Struct

from sizeup.quantity import Doubt, Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import is_named
from sizeup.sizing.sheet import Sheet, figure, shown

_RATES = "workload.specrate_per_core", "machine.specrate_per_core"
_MODELS = "workload.cpu_model", "machine.cpu_model"
_USE_RATES = f"Use {KEYS[_RATES[0]].flag} {KEYS[_RATES[1]].assignment}"
_CLOCK = re.compile(r"@\s*(\d+(?:\.\d+)?)\s*GHz", re.IGNORECASE)
"""The nominal clock in the name of a processor."""


class _Speed(Struct, frozen=True):
    """The SPECrate of one core between its ends."""

    low: float
    high: float
    value: float | None
    """None where the processor is unknown, and the ends are those of all processors."""
    reason: str
    action: str = _USE_RATES

    def beside(self, other: _Speed) -> float:
        """Return the value; where it is unknown that of the other server, as far as the ends permit."""
        like = math.sqrt(self.low * self.high) if other.value is None else other.value
        return min(max(like, self.low), self.high) if self.value is None else self.value


def relative_speed(sheet: Sheet) -> tuple[list[Quantity], bool]:
    """Return how many cores of this machine do the work of one of the present server, as independent factors.

    By the SPECrate of both where both are given; else by their processors and published results. False where one of
    the processors is unknown, so that only the ends of the factors tell something.
    """
    if all(key in sheet.inputs for key in _RATES):
        rates = [sheet.number(key) for key in _RATES]
        times = rates[0].value / rates[1].value
        sheet.line(f"SPECrate per core: {shown(rates[0], '')} / {shown(rates[1], '')} = {figure(times)}")
        return [Quantity(times, "1", rates[0].origin, rates[0].source)], True
    for key in _RATES:
        if key in sheet.inputs:
            sheet.caveat(f"{key} counts only with that of the other server, of the same suite")
    there, here = (" ".join((sheet.optional_words(key) or "").split()) for key in _MODELS)
    if there and there.casefold() == here.casefold():
        return [Quantity(1.0, "1", Origin.RULE, "the same processor")], True
    theirs, ours = (
        _speed(sheet, _MODELS[0], there, None),
        _speed(sheet, _MODELS[1], here, sheet.optional("machine.ghz")),
    )
    one, other = theirs.beside(ours), ours.beside(theirs)
    known = theirs.value is not None and ours.value is not None
    if known:
        sheet.line(f"SPECrate per core: {figure(one)} / {figure(other)} = {figure(one / other)}")
    return [
        _factor(theirs, theirs.low / other, one / other, theirs.high / other),
        _factor(ours, other / ours.high, 1.0, other / ours.low),
    ], known


def _factor(speed: _Speed, low: float, value: float, high: float) -> Quantity:
    doubts = (Doubt(low, speed.reason, speed.action), Doubt(high, speed.reason, speed.action, upper=True))
    return Quantity(value, "1", Origin.RULE, "cpu", doubts=doubts)


def _speed(sheet: Sheet, key: str, name: str, clock: Quantity | None) -> _Speed:
    """Return the SPECrate of a core by the results of its generation, per GHz where its clock is known."""
    in_name = _CLOCK.search(name)
    ghz = clock.value / 1e9 if clock is not None else None if in_name is None else float(in_name[1])
    table, times = ("cpu.core", 1.0) if ghz is None else ("cpu.ghz", ghz)
    entries = [one for pack in sheet.rules.packs for one in pack.factor if one.table == table]
    found = [one for one in entries if name and one.model and is_named(one.model, name)][:1]
    low, high = (
        pick(end for one in found or entries for end in (one.low, one.high) if end is not None) * times
        for pick in (min, max)
    )
    whose = "the present server" if key == _MODELS[0] else "this machine"
    for one in found:
        value = Quantity(one.value, "1", Origin.RULE, one.id, low=one.low, high=one.high)
        sheet.given(one.id, sheet.rules.marked(value, f"factor.{one.id}"))
        sheet.cite(one.source)
        if one.note:
            sheet.caveat(one.note)
        range_text = f"results of {one.title} range from {figure(low)} to {figure(high)} per core"
        sheet.line(f"SPECrate of {whose}: {figure(one.value * times)} per core; {range_text}")
        return _Speed(low, high, one.value * times, range_text)
    sheet.line(f"SPECrate of {whose}: {figure(low)} to {figure(high)} per core, those of all processors")
    if name:
        return _Speed(low, high, None, f"no result of the processor of {whose} is known")
    return _Speed(low, high, None, f"the processor of {whose} is unknown", f"Use {KEYS[key].flag}")
