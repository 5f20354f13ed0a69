"""Sheet: one calculation, with the inputs it used, its working and its caveats; terms are the numbers of a working."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct

from sizeup.model.advice import Advice, Card, Input, OpenQuestion, Source
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.rules import Rules
from sizeup.text import capitalized
from sizeup.units import base_unit, format_in

Inputs = Mapping[str, Value]
"""What is known, by key."""
Fact = TypeVar("Fact", bound=Struct)


class MissingError(Exception):
    """A calculation cannot be made, because a key is unknown."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Assumption(Struct, frozen=True):
    """What an answer rests on that nobody stated."""

    text: str
    """The sentence that says so."""
    key: str = ""
    """The key that states it; empty where none does."""


class Sheet:
    """Inputs and rules for one calculation; every one that is used is listed in the resulting advice."""

    def __init__(self, inputs: Inputs, rules: Rules) -> None:
        self.inputs = inputs
        self.rules = rules
        self.cards: list[Card] = []
        """The resources that the calculation judged."""
        self.facts: list[Struct] = []
        """What the calculation found, as values that cards and screens read."""
        self._clear()

    def _clear(self) -> None:
        self._used: dict[str, Input] = {}
        self._sources: dict[str, Source] = {}
        self._working: dict[str, None] = {}
        self._caveats: dict[str, Assumption | None] = {}

    def number(self, key: str) -> Quantity:
        """The quantity behind a key; without one the calculation ends."""
        quantity = self.optional(key)
        if quantity is None:
            raise MissingError(key)
        return quantity

    def optional(self, key: str) -> Quantity | None:
        """The quantity behind a key; None where it is unknown."""
        value = self.inputs.get(key)
        return self.given(key, value, KEYS[key].unit) if isinstance(value, Quantity) else None

    def unused(self, key: str) -> UnusedMeasurement | None:
        """What was measured of a key and is not used; None where there is no such figure."""
        value = self.inputs.get(key)
        if not isinstance(value, UnusedMeasurement):
            return None
        unit = KEYS[key].unit
        self._used[key] = Input(key, value.quantity, shown_in="" if unit == "1" else unit)
        self.caveat(f"not used: {format_in(value.quantity.value, unit)} of {value.quantity.source}; {value.cause}")
        return value

    def numbers(self, key: str) -> tuple[Quantity, ...]:
        """The list behind a key; without one the calculation ends."""
        values = self.inputs.get(key)
        if not isinstance(values, tuple):
            raise MissingError(key)
        return tuple(self.given(f"{key}[{index}]", value, KEYS[key].unit) for index, value in enumerate(values))

    def words(self, key: str) -> str:
        """The words behind a key; without them the calculation ends."""
        value = self.optional_words(key)
        if value is None:
            raise MissingError(key)
        return value

    def optional_words(self, key: str) -> str | None:
        """The words behind a key; None where they are unknown."""
        value = self.inputs.get(key)
        if not isinstance(value, Words):
            return None
        self._used[key] = Input(key, None, value)
        return value.value

    def rule(self, figure_id: str) -> Quantity:
        """The figure of a rule, with its source cited."""
        entry = self.rules.figures[figure_id]
        self.cite(entry.source)
        return self.given(figure_id, self.rules.figure(figure_id), entry.unit)

    def given(self, key: str, quantity: Quantity, unit: str = "1") -> Quantity:
        """Record that a figure is used, such as a price of a rule, and hand it back."""
        self._used[key] = Input(key, quantity, shown_in="" if unit == "1" else unit)
        for caveat in quantity.caveats:
            self.caveat(caveat)
        return quantity

    def has_used(self, key: str) -> bool:
        """Whether the calculation used a figure."""
        return key in self._used

    def cite(self, source_id: str) -> None:
        """Name a source of what is being worked out."""
        self._sources[source_id] = self.rules.source(source_id)

    def cite_if_known(self, source_id: str) -> None:
        """Name a source where the packs in use have it; a user's packs may not."""
        if source_id in self.rules.sources:
            self.cite(source_id)

    def include(self, other: Sheet) -> None:
        """Take over all that went into another sheet, where this one has nothing of that name yet."""
        self._used = {**other._used, **self._used}
        self._sources |= other._sources
        self._working |= other._working
        self._caveats |= other._caveats

    def line(self, text: str) -> None:
        """Write one line of the working, once."""
        self._working[text] = None

    def condense(self, text: str) -> None:
        """Put one line in the place of a working that another advice shows in full."""
        self._working = {text: None}

    def caveat(self, text: str) -> None:
        """Write down, once, why the answer may mislead."""
        self._caveats.setdefault(text, None)

    def assume(self, text: str, key: str = "", *, caveat: str = "") -> None:
        """Write down, once, what the answer rests on that nobody stated; ``caveat`` words it for the answer itself."""
        text = f"assumed: {text}"
        self._caveats[caveat or text] = Assumption(text, key)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the answer rests on so far that nobody stated."""
        return tuple(filter(None, self._caveats.values()))

    @property
    def notes(self) -> tuple[str, ...]:
        """The other caveats of the answer so far."""
        return tuple(text for text, assumption in self._caveats.items() if assumption is None)

    def answer(
        self, value: float, unit: str, source: str, *, low: float | None = None, high: float | None = None
    ) -> Quantity:
        """Return a computed quantity; ``value`` is in the base unit of ``unit``."""
        return Quantity(value, base_unit(unit)[0], Origin.RULE, source, low=low, high=high)

    def advice(
        self,
        advice_id: str,
        title: str,
        verdict: str,
        quantity: Quantity | None = None,
        unit: str = "",
        *,
        decision: str = "",
    ) -> Advice:
        """Return the advice with everything used for it, and clear the sheet."""
        advice = Advice(
            advice_id,
            capitalized(title),
            capitalized(verdict),
            quantity,
            tuple(self._working),
            tuple(self._used.values()),
            tuple(self._sources.values()),
            tuple(self._caveats),
            shown_in=unit,
            decision=decision,
        )
        self._clear()
        return advice


class Calculation(Struct, frozen=True):
    """One subject of sizing: a generator of advice over a sheet."""

    name: str
    work: Callable[[Sheet], Iterator[Advice]]
    gives: tuple[str, ...]
    """What the ids of its advice begin with."""
    asks: bool = False
    """Missing inputs are reported even when the user set none of its keys."""
    about: tuple[str, ...] = ()
    """Prefixes of keys: once the user sets one of them, inputs that are still missing are reported."""
    nothing: str = ""
    """What no answer means where no input is missing, as a sentence; empty where that is nothing to know."""


def open_question(name: str, calculation: str, unused: UnusedMeasurement | None = None) -> OpenQuestion:
    """Return the question for a key that a calculation needs, with what was measured of it and is not used."""
    key = KEYS[name]
    reason = "" if unused is None else unused.sentence(key.unit)
    return OpenQuestion(name, calculation, key.help, key.flag, reason)


def servers(sheet: Sheet) -> float:
    """Return the number of servers of the cluster; 1 for a single server."""
    nodes = sheet.inputs.get("cluster.nodes")
    if not isinstance(nodes, Quantity) or nodes.value == 1:
        return 1.0
    return sheet.number("cluster.nodes").value


def find_fact(facts: Iterable[Struct], kind: type[Fact]) -> Fact | None:
    """Return the first of the facts that is of a kind; None where nothing of it was found."""
    return next((one for one in facts if isinstance(one, kind)), None)


def vendor(sheet: Sheet) -> str:
    """Return the pack of the database that was named; empty where none was."""
    pack = sheet.inputs.get("license.pack")
    named = pack.value if isinstance(pack, Words) and pack.origin is not Origin.RULE else ""
    return "" if named in ("windows", "vmware") else named


def shown(quantity: Quantity, unit: str) -> str:
    """Return a quantity in the given unit, with all its digits."""
    return format_in(quantity.value, unit)


def brief(quantity: Quantity, unit: str) -> str:
    """Return a quantity for a sentence, with four digits; the working has all of them."""
    return format_in(in_unit(quantity.value, unit) * base_unit(unit)[1], unit)


def in_unit(value: float, unit: str, digits: int = 4) -> float:
    """Return a value of the base unit in a unit, with that many digits."""
    return float(f"{value / base_unit(unit)[1]:.{digits}g}")


def figure(number: float) -> str:
    """Return a ratio or a small count for a sentence, with three digits, and 0 only for 0."""
    return format_in(float(f"{number:.3g}"), "")


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
