"""What a user can say about a machine, a workload and a contract: every key of ``--set``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from sizeup.errors import UsageError
from sizeup.quantity import Origin, Quantity, Words
from sizeup.units import base_unit, format_in

Value = Quantity | Words | tuple[Quantity, ...]
"""What a key stands for: a number, words, or a list of numbers."""


class Kind(Enum):
    """What may stand behind the equals sign."""

    NUMBER = "number"
    COUNT = "whole number"
    NUMBERS = "numbers, comma between"
    WORDS = "words"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Key:
    """One key with the unit of a bare number, its range and its meaning."""

    name: str
    help: str
    kind: Kind = Kind.NUMBER
    unit: str = "1"
    """Spelling of the unit that a bare number has; another spelling of the same base unit may be written out."""
    minimum: float = 0.0
    maximum: float = math.inf
    """Both in ``unit``; the minimum itself is allowed."""
    positive: bool = False
    """Zero is refused too."""
    choices: tuple[str, ...] = ()

    @property
    def expectation(self) -> str:
        """What is accepted, in words."""
        if self.kind is Kind.CHOICE:
            return f"one of {', '.join(self.choices)}"
        if self.kind is Kind.WORDS:
            return "words"
        what = "a whole number" if self.kind is Kind.COUNT else "a number"
        unit = "" if self.unit == "1" else f" of {self.unit}"
        least = f"above {_plain(self.minimum)}" if self.positive else f"{_plain(self.minimum)} or more"
        span = least if math.isinf(self.maximum) else f"{least} and at most {_plain(self.maximum)}"
        plural = "numbers with commas between, each " if self.kind is Kind.NUMBERS else ""
        return f"{plural}{what}{unit}, {span}"

    def parse(self, text: str, origin: Origin, source: str) -> Value:
        """The value of ``text``; numbers may carry a unit (``2.66GHz``) and a range (``2.4..2.66..3.0``)."""
        stripped = text.strip()
        if self.kind is Kind.WORDS or self.kind is Kind.CHOICE:
            if not stripped or (self.choices and stripped not in self.choices):
                raise self._refused(text, source)
            return Words(stripped, origin, source)
        if self.kind is Kind.NUMBERS:
            return tuple(self._number(part, origin, source) for part in stripped.split(","))
        return self._number(stripped, origin, source)

    def _number(self, text: str, origin: Origin, source: str) -> Quantity:
        parts = [self._bare(part, text, source) for part in text.split("..")]
        if len(parts) not in (1, 3) or parts != sorted(parts):
            raise self._refused(text, source)
        unit = base_unit(self.unit)[0]
        if len(parts) == 1:
            return Quantity(parts[0], unit, origin, source)
        return Quantity(parts[1], unit, origin, source, low=parts[0], high=parts[2])

    def _bare(self, text: str, whole: str, source: str) -> float:
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            raise self._refused(whole, source)
        unit, scale = base_unit(self.unit)
        if match[2]:
            spelled, factor = base_unit(match[2])
            if spelled != unit:
                raise self._refused(whole, source)
        else:
            factor = scale
        base = float(match[1]) * factor
        in_unit = base / scale
        fits = self.minimum <= in_unit <= self.maximum and not (self.positive and in_unit <= self.minimum)
        if not fits or math.isinf(in_unit) or (self.kind is Kind.COUNT and in_unit != int(in_unit)):
            raise self._refused(whole, source)
        return base

    def _refused(self, text: str, source: str) -> UsageError:
        return UsageError(f"{source}: {self.name}: expected {self.expectation}, found {text!r}")


_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z%][A-Za-z/%]*)?")


def _plain(number: float) -> str:
    return format_in(number, "")


_DECLARED = (
    Key("machine.sockets", "occupied sockets", Kind.COUNT, positive=True, maximum=1024),
    Key(
        "machine.cores",
        "physical cores of the whole machine, all sockets together; hardware threads do not count",
        Kind.COUNT,
        positive=True,
        maximum=65536,
    ),
    Key(
        "machine.cores_per_socket",
        "physical cores of one socket; with machine.sockets it gives machine.cores",
        Kind.COUNT,
        positive=True,
        maximum=4096,
    ),
    Key("machine.ghz", "base clock of a core", unit="GHz", positive=True, maximum=20),
    Key("machine.cpu_model", "processor name as /proc/cpuinfo prints it", Kind.WORDS),
)

KEYS: Mapping[str, Key] = {key.name: key for key in _DECLARED}
"""Every key by its name."""


def find(name: str, source: str) -> Key:
    """The key of that name; an unknown one is refused with the nearest that exists."""
    key = KEYS.get(name)
    if key is None:
        near = get_close_matches(name, KEYS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"{source}: unknown key {name!r}{hint} (sizeup size --keys lists them all)")
    return key


def parse_settings(settings: Iterable[str], origin: Origin = Origin.USER, source: str = "--set") -> dict[str, Value]:
    """Values of ``KEY=VALUE`` texts; a later one of the same key wins."""
    values: dict[str, Value] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{source}: expected KEY=VALUE, found {setting!r}")
        key = find(name.strip(), source)
        values[key.name] = key.parse(text, origin, source)
    return values
