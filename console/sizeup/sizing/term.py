"""Terms: numbers that carry what a working writes for them, so that the arithmetic and its working are one."""

from __future__ import annotations

import math

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.sheet import Sheet
from sizeup.units import format_in


class Term(Struct, frozen=True):
    """A number of a calculation, and what its working writes for it."""

    value: float
    """In base units."""
    text: str
    unit: str = ""
    """What it is shown in; empty for arithmetic that is not worked out yet."""

    def __str__(self) -> str:
        return self.text

    def __add__(self, other: Term) -> Term:
        return Term(self.value + other.value, f"{self} + {other}")

    def __sub__(self, other: Term) -> Term:
        return Term(self.value - other.value, f"{self} - {other}")

    def __mul__(self, other: Term) -> Term:
        return Term(self.value * other.value, f"{self} x {other}")

    def __truediv__(self, other: Term) -> Term:
        return Term(self.value / other.value, f"{self} / {other}")

    def __ceil__(self) -> Term:
        return Term(math.ceil(self.value), f"ceil({self})")

    def scaled(self, factor: float) -> Term:
        """Return the same in another base unit: nanoseconds in place of seconds."""
        return Term(self.value * factor, self.text, self.unit)


def term(number: Quantity | float, unit: str) -> Term:
    """Return a number as it is written in a unit, with all its digits."""
    value = number.value if isinstance(number, Quantity) else number
    return Term(value, format_in(value, unit), unit)


def in_seconds(time: Quantity, unit: str) -> Term:
    """Return a time in seconds for arithmetic with rates, as it is written in a unit."""
    return Term(time.value / 1e9, format_in(time.value, unit))


def worked(sheet: Sheet, arithmetic: Term, unit: str) -> Term:
    """Write a line of the working, and return what it comes to."""
    found = term(arithmetic.value, unit)
    sheet.line(f"{arithmetic} = {found}")
    return found


def answered(
    sheet: Sheet, advice_id: str, title: str, verdict: str, found: Term, source: str, *, decision: str = ""
) -> Advice:
    """Return the advice on what was worked out, in the unit that it is shown in."""
    quantity = sheet.answer(found.value, found.unit or "1", source)
    return sheet.advice(advice_id, title, verdict, quantity, found.unit or "1", decision=decision)
