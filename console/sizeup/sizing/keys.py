"""The inputs that a user can set for a machine, a workload and a contract: every key of ``--set``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from sizeup.decoding import convert, read_beside
from sizeup.errors import UsageError
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.input_value import Value
from sizeup.text import nearest
from sizeup.units import base_unit, format_in

TYPED_SOURCE = "what-if"
"""The source of an input that was typed in the console, which shows beside it why it is refused."""

OPTION_SOURCE = "--set"
"""The source of an input that was typed on the command line."""


class InputKind(Enum):
    """What kind of value a key takes."""

    NUMBER = "number"
    COUNT = "whole number"
    NUMBERS = "numbers, separated by commas"
    WORDS = "text"
    CHOICE = "choice"


class InputKey(Struct, frozen=True, forbid_unknown_fields=True):
    """One key with the unit of a bare number, its range and its meaning."""

    name: str
    help: str
    label: str = ""
    """Its name in words; empty where the help begins with one."""
    kind: InputKind = InputKind.NUMBER
    unit: str = "1"
    """The unit of a number without one; a number may carry another unit of the same base unit."""
    minimum: float = 0.0
    maximum: float = math.inf
    """Both in ``unit``; the minimum itself is allowed."""
    positive: bool = False
    """Zero is refused too."""
    share: bool = False
    """A number between 0 and 1 is taken for a share of 1 by mistake, unless it has its unit."""
    choices: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """How the key is set on the command line: ``--set machine.ghz=N``."""
        return f"--set {self.assignment}"

    @property
    def assignment(self) -> str:
        """What follows ``--set``: ``machine.ghz=N``."""
        value = {InputKind.NUMBERS: "N,N", InputKind.WORDS: "TEXT", InputKind.CHOICE: "|".join(self.choices)}
        return f"{self.name}={value.get(self.kind, 'N')}"

    @property
    def expectation(self) -> str:
        """What is accepted, in words."""
        if self.kind is InputKind.CHOICE:
            return f"one of {', '.join(self.choices)}"
        if self.kind is InputKind.WORDS:
            return "text"
        what = "a whole number" if self.kind is InputKind.COUNT else "a number"
        unit = "" if self.unit == "1" else f" of {self.unit}"
        least = f"above {format_in(self.minimum, '')}" if self.positive else f"{format_in(self.minimum, '')} or more"
        span = least if math.isinf(self.maximum) else f"{least} and at most {format_in(self.maximum, '')}"
        plural = "numbers separated by commas, each " if self.kind is InputKind.NUMBERS else ""
        return f"{plural}{what}{unit}, {span}"

    def parse(self, text: str, origin: Origin, source: str) -> Value:
        """The value of ``text``; numbers may carry a unit (``2.66GHz``) and a range (``2.4..2.66..3.0``)."""
        stripped = text.strip()
        if self.kind is InputKind.WORDS or self.kind is InputKind.CHOICE:
            if not stripped or (self.choices and stripped not in self.choices):
                raise self._refused(text, source)
            return Words(stripped, origin, source)
        if self.kind is InputKind.NUMBERS:
            return tuple(self._number(part, origin, source) for part in stripped.split(","))
        return self._number(stripped, origin, source)

    def admits(self, value: Value) -> bool:
        """Whether a figure that nobody typed is one that this key can have; a session may hold any number."""
        if not isinstance(value, Quantity):
            return True
        return self.minimum <= value.value / base_unit(self.unit)[1] <= min(self.maximum, _LARGEST)

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
            without = text.replace(",", "")
            grouped = re.fullmatch(r"\s*\d{1,3}(,\d{3})+(\.\d+)?\D*", text)
            raise self._refused(whole, source, f"write {without.strip()}" if grouped else "")
        unit, scale = base_unit(self.unit)
        if self.share and not match[2] and 0 < float(match[1]) < 1:
            raise self._refused(whole, source, f"write {float(match[1]) * 100:g} for a share, or {match[1]} %")
        counted = self.unit == "IOPS" or self.kind is InputKind.COUNT
        if counted and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", match[1]):  # a thousand, or one with three decimals
            raise self._refused(whole, source, f"write {match[1].replace('.', '')}, or {float(match[1]):g}")
        factor, written = scale, match[2] or ""
        if written.upper() in _PREFIXES and unit != "ns" and self.unit != "%":  # a prefix alone: 8k, 1.5G
            binary = unit == "bytes" and (self.unit == "B" or "i" in self.unit)
            factor = float(1024 if binary else 1000) ** (_PREFIXES.index(written.upper()) + 1)
        elif written:
            base_name, factor = base_unit(written)
            if base_name != unit:
                raise self._refused(whole, source)
        base = float(match[1]) * factor
        in_unit = base / scale
        fits = self.minimum <= in_unit <= self.maximum and not (self.positive and in_unit <= self.minimum)
        if not fits or math.isinf(in_unit) or (self.kind is InputKind.COUNT and in_unit != int(in_unit)):
            raise self._refused(whole, source)
        return base

    def _refused(self, text: str, source: str, way: str = "") -> UsageError:
        example = _EXAMPLES.get(self.kind, "").format(_TYPICAL.get(self.unit, "2.5"))
        ending = f" ({self.help})" if self.kind is InputKind.CHOICE else f"; {way}" if way else ""
        where = "" if source == TYPED_SOURCE else f"{source}: {self.name}: "
        return UsageError(f"{where}expected {self.expectation}{example}, found {text!r}{ending}")


_EXAMPLES = {InputKind.NUMBER: ", such as {}", InputKind.COUNT: ", such as 4", InputKind.NUMBERS: ", such as {},4"}
_TYPICAL = {"IOPS": "20000", "KiB": "8", "MiB": "4096"}
"""Examples that the range of every key of the kind contains."""

_LARGEST = 1e18
"""No figure of a machine is larger, in the unit of its key."""

_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z%][A-Za-z/%]*)?")

_PREFIXES = ("K", "M", "G", "T")


KEYS: Mapping[str, InputKey] = convert(
    {name: {"name": name, **table} for name, table in read_beside(__file__, "keys.toml").items()}, dict[str, InputKey]
)
"""Every key by its name, in the order of ``keys.toml``."""
LEAVE_TO_OTHERS = f"Use {KEYS['machine.memory_gib'].flag} without what other programs keep"
"""What settles how much of the memory is not for the database."""


def find_key(name: str, source: str) -> InputKey:
    """The key of that name; an unknown one is refused with the nearest, or with the keys of its group."""
    key = KEYS.get(name)
    if key is None:
        hint = nearest(name, KEYS)
        group = name[: name.rfind(".") + 1]
        alike = [each for each in KEYS if group and each.startswith(group)]
        there = f"; {group.removesuffix('.')} has: {', '.join(alike)}" if alike and not hint else ""
        raise UsageError(f"{source}: unknown key {name!r}{hint}{there}; list all keys with: sizeup size keys")
    return key


def parse_settings(
    settings: Iterable[str], origin: Origin = Origin.USER, source: str = OPTION_SOURCE
) -> dict[str, Value]:
    """Values of ``KEY=VALUE`` texts; a later one of the same key wins."""
    values: dict[str, Value] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{source}: expected KEY=VALUE, found {setting!r}")
        key = find_key(name.strip(), source)
        values[key.name] = key.parse(text, origin, source)
    return values
