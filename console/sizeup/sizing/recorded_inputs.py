"""The inputs that a user entered for a session, as the session recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sizeup.errors import SizeupError, UsageError
from sizeup.model.machine import Machine
from sizeup.quantity import Quantity
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import Value, with_stated
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Inputs

if TYPE_CHECKING:
    from sizeup.session.records import StatedInput
    from sizeup.session.value import Session


def recorded_inputs(session: Session) -> dict[str, Value]:
    """Return the inputs that were entered for a session; one that this version does not know is left out.

    None are returned where they contradict each other or the machine, which may have changed since.
    """
    values = parsed_inputs(session.stated)
    if values:
        try:
            size(described(session.machine or Machine(), with_stated(measured(session, values), values)))
        except SizeupError:
            return {}
    return values


def parsed_inputs(inputs: Iterable[StatedInput]) -> dict[str, Value]:
    """Return recorded inputs; one that this version does not know is left out."""
    values: dict[str, Value] = {}
    for stated in (one for one in inputs if one.key in KEYS):
        with suppress(SizeupError):
            value = KEYS[stated.key].parse(stated.value, stated.origin, stated.source)
            values[stated.key] = replace(value, caveats=stated.caveats) if isinstance(value, Quantity) else value
    return values


def sized_inputs(session: Session, name: str, settings: Mapping[str, Value] = MappingProxyType({})) -> Inputs:
    """Return the inputs to size a session by; ``name`` is what an error calls it.

    An import that describes no machine is sized by its figures. Raises ``UsageError`` where it has neither.
    """
    if session.machine is None and not session.steps:
        raise UsageError(f"{name}: expected a machine or measurements to size by, found neither; measure again")
    return described(session.machine or Machine(), session_inputs(session, settings))


def session_inputs(session: Session, settings: Mapping[str, Value] = MappingProxyType({})) -> dict[str, Value]:
    """Return what a session measured, with what was entered for it, and before both what ``settings`` state."""
    replaced = {other for key, others in _COUNT_INSTEAD.items() if key in settings for other in others}
    recorded = {key: value for key, value in recorded_inputs(session).items() if key not in replaced}
    stated = {**recorded, **settings}
    return with_stated(measured(session, stated), stated)


_COUNT_INSTEAD = {
    "workload.iops": ("workload.read_iops", "workload.write_iops"),
    "workload.cpu_percent": ("workload.cpu_cores",),
}
"""By an input, those that count instead of it where both are given: recorded ones would hide ``settings``."""
