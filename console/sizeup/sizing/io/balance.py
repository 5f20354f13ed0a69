"""Capacity of the storage over the demand by rule of thumb, as published cases state it."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.sizing.io.capacity import find_bottleneck
from sizeup.sizing.io.demand import io_demand
from sizeup.sizing.sheet import Calculation, Sheet, figure, shown
from sizeup.sizing.term import answered, term
from sizeup.units import format_in


def _balance(sheet: Sheet) -> Iterator[Advice]:
    """Return how many times the demand by rule of thumb the storage delivers."""
    least = find_bottleneck(sheet)
    demand = io_demand(sheet)
    if least is None or demand is None or not demand.by_rule or not demand.bytes_per_second:
        return
    ratio = least.capacity.value / demand.bytes_per_second
    sheet.line(f"{shown(least.capacity, 'MB/s')} / {format_in(demand.bytes_per_second, 'MB/s')} = {ratio:.6g}")
    title = "Storage capacity over the demand by rule of thumb"
    yield answered(sheet, "io.balance", title, f"{title}: {figure(ratio)} times", term(ratio, ""), "io.balance")


CALCULATIONS = (Calculation("capacity over the rule of thumb", _balance, ("io.balance",)),)
