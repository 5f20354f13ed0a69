"""What-if: inputs that can be changed, and what the change does."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import Sizing
from sizeup.sizing.keys import KEYS, Kind, Value
from sizeup.views.advice import first_of, value_text

_FIRST = (
    "machine.sockets",
    "machine.cores_per_socket",
    "machine.ghz",
    "machine.memory_gib",
    "licence.host_cores",
)


UNKNOWN = "unknown"


class InputRow(Struct, frozen=True):
    """One input as a line."""

    key: str
    value: str
    """With its unit, or ``UNKNOWN``."""
    origin: str
    help: str
    changed: bool


def input_rows(sizing: Sizing, changed: Mapping[str, Value]) -> tuple[InputRow, ...]:
    """What was said or found, the machine first, those of one subject together."""
    asked = [question.key for question in sizing.questions]
    said = [key for key, value in sizing.inputs.items() if _origin(value) is not Origin.RULE]
    assumed = [key for key, value in sizing.inputs.items() if _origin(value) is Origin.RULE]
    order = dict.fromkeys([*_FIRST, *asked, *said, *assumed, *changed])
    groups: dict[str, list[str]] = {}
    for key in order:
        groups.setdefault(key.partition(".")[0], []).append(key)
    together = [key for group in groups.values() for key in group]
    return tuple(_row(key, sizing.inputs.get(key), key in changed) for key in together if key in KEYS)


def stepped(key: str, value: Value | None, steps: int) -> Quantity | None:
    """The value some steps up or down: by one for counts, by a twentieth elsewhere; None where it has no steps."""
    declared = KEYS[key]
    if not isinstance(value, Quantity) or declared.kind not in (Kind.COUNT, Kind.NUMBER):
        return None
    if declared.kind is Kind.COUNT:
        number = max(value.value + steps, declared.minimum)
    else:
        number = value.value * (1.05**steps) if value.value else 0.0
    return Quantity(number, value.unit, Origin.USER, "what-if")


def effect(now: Advice, before: Advice | None) -> str:
    """How a figure changed against what was found: ``+25.0 %``; empty where it did not."""
    if before is None or before.quantity is None or now.quantity is None or not before.quantity.value:
        return "" if before is not None else "new"
    ratio = now.quantity.value / before.quantity.value
    return "" if abs(ratio - 1) < 5e-4 else f"{ratio - 1:+.1%}"


def _row(key: str, value: Value | None, changed: bool) -> InputRow:  # noqa: FBT001  one of five facts of a row
    spelled = UNKNOWN if value is None else _short(value_text(key, value))
    help_text = f"{KEYS[key].help}; {KEYS[key].expectation}"
    if isinstance(value, tuple) and len(value) > 1:
        spelled, help_text = f"{len(value)} values", f"{help_text}; now {spelled}"
    return InputRow(key, spelled, _where(value), help_text, changed)


def _short(text: str) -> str:
    """A figure with at most four digits: more of them hide that it is a guess or a reading."""
    number, space, unit = text.partition(" ")
    try:
        value = float(number.replace(",", ""))
    except ValueError:
        return text
    return text if len(number.replace(".", "").replace(",", "")) <= 4 else f"{float(f'{value:.4g}'):,g}{space}{unit}"


def _origin(value: Value) -> Origin | None:
    first = first_of(value)
    return None if first is None else first.origin


def _where(value: Value | None) -> str:
    first = None if value is None else first_of(value)
    return "not known" if first is None else f"{first.origin.value}, {first.source}"
