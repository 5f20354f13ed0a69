"""What-if: inputs that can be changed, and what the change does."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.keys import KEYS, TYPED_SOURCE, InputKind
from sizeup.sizing.sheet import Inputs
from sizeup.units import as_percent, base_unit
from sizeup.views.inputs.advice import first_of, value_text
from sizeup.views.inputs.input_names import input_label

LISTED: Mapping[str, tuple[str, ...]] = {
    "Workload": (
        "workload.iops", "workload.mb_s", "workload.read_percent", "workload.io_kib", "workload.cpu_percent", "sga.mb",
        "redo.mb_s",
    ),
    "Plan": ("workload.growth_percent", "workload.horizon_years", "workload.utilization_percent", "policy.n_plus_one"),
    "Storage": ("capacity.iops", "capacity.mb_s", "array.disks"),
    "Server": ("machine.sockets", "machine.cores_per_socket", "machine.ghz", "machine.memory_gib"),
    "License": ("license.pack", "license.product"),
}  # fmt: skip
"""The inputs that are always listed, known or not, by what they are about; every other one can be added."""
WORKLOAD_KEYS = ("workload.iops", "workload.mb_s", "workload.cpu_percent")
"""Inputs that a verdict starts from, known or not, the first of them first."""
_SUBJECTS = {
    "Server": ("machine", "cluster", "numa", "memory", "slb", "net"),
    "Workload": ("workload", "policy", "sga", "redo", "db", "scan", "sysstat", "observed"),
    "Storage": ("path", "capacity", "array", "device", "flash"),
    "License": ("license", "value"),
}
"""What inputs are about that are not listed, and the first parts of their keys."""
_GROUPS = tuple(part for parts in _SUBJECTS.values() for part in parts)
_GROUPED = sorted(KEYS, key=lambda key: _GROUPS.index(key.partition(".")[0]))
_PLACES = {key: (name, place) for name, keys in LISTED.items() for place, key in enumerate(keys)}
_GIVEN = (Origin.USER, Origin.IMPORTED, Origin.PRESET)
"""Origins of inputs that somebody gave."""
_STEP_PERCENT = 5.0
_STEP_SHARE = 0.05
_THOUSANDS = re.compile(r"(?<![\d,])(?<!\d\.)[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
UNKNOWN = "unknown"
ASSUMED = "assumed"
"""Where a default of the rules is from: nobody chose it."""


def question_of(key: str) -> str:
    """Return what an input is about: ``Server``."""
    if key in _PLACES:
        return _PLACES[key][0]
    return next(name for name, parts in _SUBJECTS.items() if key.partition(".")[0] in parts)


class InputRow(Struct, frozen=True):
    """One input as a line."""

    key: str
    label: str
    question: str
    """What it is about, a key of ``LISTED``."""
    value: str
    """With its unit, or ``UNKNOWN``."""
    origin: str
    """Where it is from; begins with ``ASSUMED`` for a default that nobody chose."""
    help: str
    changed: bool
    whole: str
    """The value with all its digits and members, as it may be typed; empty where it is unknown."""
    found: str
    """The value on the machine as found; empty where it was not changed."""


def input_rows(
    sizing: Sizing, changed: Mapping[str, Value], before: Inputs, added: Iterable[str] = ()
) -> tuple[InputRow, ...]:
    """Return the rows, the workload first, those of one subject together; ``before`` are the inputs as found."""
    given = (key for key, value in sizing.inputs.items() if _origin(value) in _GIVEN)
    listed, groups = {*_PLACES, *given, *changed, *added}, list(LISTED)
    # Always in the same order: a line that moves while its neighbor is changed is lost.
    rest = [key for key in _GROUPED if key in listed and key not in _PLACES]
    ordered = sorted((*_PLACES, *rest), key=lambda key: groups.index(question_of(key)))
    return tuple(
        _row(key, sizing.inputs.get(key), before.get(key) if key in changed else None, changed=key in changed)
        for key in ordered
    )


def stepped(key: str, value: Value | None, steps: int) -> Value | None:
    """The value some steps up or down, within what the key allows; None where it has no steps.

    Counts and years go by one, shares by five points, choices to the next, sizes of blocks in powers of two, other
    figures by a twentieth.
    """
    declared = KEYS[key]
    if declared.kind is InputKind.CHOICE:
        choice, last = value.value if isinstance(value, Words) else None, len(declared.choices) - 1
        index = declared.choices.index(choice) + steps if choice in declared.choices else 0 if steps > 0 else last
        return Words(declared.choices[min(max(index, 0), last)], Origin.USER, TYPED_SOURCE)
    if not isinstance(value, Quantity) or declared.kind not in (InputKind.COUNT, InputKind.NUMBER):
        return None
    scale = base_unit(declared.unit)[1]
    number = value.value / scale
    if declared.kind is InputKind.COUNT or declared.unit == "y":
        number += steps
    elif declared.unit == "%":
        number += steps * _STEP_PERCENT
    elif declared.unit == "KiB":
        number = 2.0 ** ((math.floor if steps > 0 else math.ceil)(math.log2(number)) + steps)
    else:
        number = float(f"{number * (1 + _STEP_SHARE) ** steps:.4g}")
    number = min(max(number, declared.minimum), declared.maximum)
    if declared.positive and number <= declared.minimum:
        return None
    return Quantity(number * scale, value.unit, Origin.USER, TYPED_SOURCE)


def effect(now: Advice, before: Advice | None) -> str:
    """How an answer changed against the machine as found: ``+25.0 %``, a word, or nothing."""
    if before is None:
        return "new"
    if before.quantity is None or now.quantity is None or not before.quantity.value:
        return "" if (now.verdict, now.quantity) == (before.verdict, before.quantity) else "changed"
    ratio = now.quantity.value / before.quantity.value
    if abs(ratio - 1) < 5e-4:
        return "" if now.decision == before.decision else "changed"
    return as_percent(ratio - 1, "+.1f") if ratio < _TIMES_FROM else f"x {ratio:,.0f}"


_TIMES_FROM = 100.0
"""From here on a change is shown as a factor: a percentage would be a row of digits."""


def _row(key: str, value: Value | None, before: Value | None, *, changed: bool) -> InputRow:
    text = UNKNOWN if value is None else value_text(key, value)
    if value is not None and (origin := _origin(value)) in (Origin.MEASURED, Origin.DETECTED, Origin.IMPORTED):
        text = shortened(text, exact=origin is not Origin.MEASURED)
    help_text = f"{KEYS[key].help}; {KEYS[key].expectation}"
    if isinstance(value, UnusedMeasurement):
        text = "not used"
        help_text = f"{help_text}\n{value.sentence(KEYS[key].unit)}"
    elif isinstance(value, tuple) and len(value) > 1:
        text, help_text = f"{len(value)} values", f"{help_text}; now {text}"
    found = "" if not changed else UNKNOWN if before is None else value_text(key, before)
    if before is not None and (origin := _origin(before)) in (Origin.RULE, Origin.MEASURED):
        found = f"{ASSUMED} {found}" if origin is Origin.RULE else shortened(found)
    where, first = "not known", None if value is None else first_of(value)
    if first is not None:
        where = f"{ASSUMED if first.origin is Origin.RULE else first.origin.value}, {first.source}"
    label, whole = input_label(key), typed(key, value)
    return InputRow(key, label, question_of(key), text, where, help_text, changed, whole, found)


def parse_typed(key: str, text: str) -> Value:
    """The value of an entry; a number may have commas between its thousands, as the screens print it."""
    if KEYS[key].kind in (InputKind.COUNT, InputKind.NUMBER):
        text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    return KEYS[key].parse(text, Origin.USER, TYPED_SOURCE)


def typed(key: str, value: Value | None) -> str:
    """What a user would type for a value: all its digits, its range, its members."""
    if value is None or isinstance(value, UnusedMeasurement):
        return ""
    if isinstance(value, Words):
        return value.value
    if isinstance(value, tuple):
        return ",".join(typed(key, part) for part in value)
    unit = KEYS[key].unit
    scale = base_unit(unit)[1]
    low, high = value.low, value.high
    ends = (value.value,) if low is None or high is None or low == high else (low, value.value, high)
    text = unit if unit != "1" and unit[:1] != "/" else ""
    return "..".join(f"{end / scale:.12g}" for end in ends) + (text if len(ends) == 1 else "")


def sizing_command(changed: Mapping[str, Value], machine: str) -> str:
    """Return the command that sizes with these inputs: the machine of a session or a capture, or else this one."""
    settings = " ".join(shlex.quote(f"{key}={typed(key, value)}") for key, value in changed.items())
    return f"sizeup size --machine {machine} --set {settings}" if machine else f"sizeup size --set {settings}"


def shortened(text: str, *, exact: bool = False) -> str:
    """A figure with at most four digits: more of them hide that it is a reading; an ``exact`` count has all."""
    number, space, unit = text.partition(" ")
    try:
        value = float(number.replace(",", ""))
    except ValueError:
        return text
    if len(number.replace(".", "").replace(",", "")) <= 4 or (exact and value.is_integer()):
        return text
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}{space}{unit}" if abs(rounded) >= 1000 else f"{rounded:g}{space}{unit}"


def _origin(value: Value) -> Origin | None:
    first = first_of(value)
    return None if first is None else first.origin
