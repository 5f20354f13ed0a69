"""I/O: what the processors need, what the paths supply, and whether the two fit."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def cores(sheet: Sheet) -> Quantity:
    """Physical cores of the whole machine, with a line that says how they lie in sockets."""
    total = sheet.number("machine.cores")
    sockets = sheet.optional("machine.sockets")
    if sockets is None:
        sheet.line(f"{shown(total, 'cores')} in all (machine.cores)")
    else:
        each = total.value / sockets.value
        sheet.line(
            f"{format_in(sockets.value, 'sockets')} x {format_in(each, 'cores')} = {format_in(total.value, 'cores')}"
            " in all (machine.cores counts all sockets, machine.cores_per_socket one)"
        )
    return total


def _ghz_rule(sheet: Sheet) -> Iterator[Advice]:
    for advice_id, title, rule in (
        ("io.need.ghz-rule", "I/O need by the GHz rule", "io.ghz-rule.exact"),
        ("io.need.ghz-rule-published", "I/O need by the GHz rule, coefficient as published", "io.ghz-rule.published"),
    ):
        count = cores(sheet)
        clock = sheet.number("machine.ghz")
        per_hz = sheet.rule(rule)
        need = count.value * clock.value * per_hz.value
        ends = (clock.low, clock.high)
        low, high = (None if end is None else count.value * end * per_hz.value for end in ends)
        text = format_in(need, "MB/s")
        sheet.line(
            f"{format_in(count.value, 'cores')} x {shown(clock, 'GHz')} = "
            f"{format_in(count.value * clock.value, 'GHz')} over all cores"
        )
        sheet.line(f"{format_in(count.value * clock.value, 'GHz')} x {shown(per_hz, 'MB/s/GHz')} = {text}")
        yield sheet.advice(
            advice_id,
            title,
            f"{format_in(count.value, 'cores')} at {shown(clock, 'GHz')} want {text} of I/O so as not to starve",
            sheet.answer(need, "MB/s", rule, low=low, high=high),
            "MB/s",
        )


CALCULATIONS = (Calculation("I/O need", _ghz_rule, asks=True, about=("machine.",)),)
