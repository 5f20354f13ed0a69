"""A delivered machine held against the one that was ordered, part by part."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import Sizing
from sizeup.sizing.io.capacity import path_stages
from sizeup.sizing.keys import KEYS
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Sheet

_KERNEL = 0.97
"""Share of the installed memory that the kernel reports at least: it keeps the rest for itself."""
_COUNTED = ("cluster.nodes", "machine.sockets", "machine.cores", "machine.memory_gib", "array.disks", "array.disk_gb")


class DeliveredPart(Struct, frozen=True):
    """One part as ordered and as found; figures in base units."""

    key: str
    ordered: float
    found: float | None
    """None where it is unknown."""
    unit: str
    status: str
    """``as ordered``, ``missing``, ``slower`` or ``unknown``."""


def delivered_parts(order: Sizing, here: Sizing, rules: Rules) -> Iterator[DeliveredPart]:
    """Yield each part that the order states, with what the delivered machine has of it.

    What was counted is missing where it is less; what was measured is slower where even its upper end is less.
    """
    for key in _COUNTED:
        ordered = _stated(order, key)
        if ordered is not None:
            share = _KERNEL if key == "machine.memory_gib" else 1.0
            yield _part(key, ordered.value, _stated(here, key), KEYS[key].unit, share)
    paths = [_path(one, rules) for one in (order, here)]
    if paths[0] is not None:
        yield _part("path.bandwidth_mb_s", paths[0].value, paths[1], "MB/s")
    for key, answer, unit in (
        ("capacity.gb", "storage.usable", "GB"),
        ("capacity.iops", "io.capacity.iops", "IOPS"),
        ("capacity.mb_s", "io.capacity", "MB/s"),
    ):
        advice = order.find(answer)
        if advice is not None and advice.quantity is not None:
            yield _part(key, advice.quantity.value, _stated(here, key), unit)


def _part(key: str, ordered: float, found: Quantity | None, unit: str, share: float = 1.0) -> DeliveredPart:
    if found is None:
        return DeliveredPart(key, ordered, None, unit, "unknown")
    measured = found.origin is Origin.MEASURED
    most = found.most if measured else found.value
    less = most is not None and most < ordered * share
    return DeliveredPart(
        key, ordered, found.value, unit, ("slower" if measured else "missing") if less else "as ordered"
    )


def _stated(of: Sizing, key: str) -> Quantity | None:
    """Return a figure that is no default, the one server of a machine aside."""
    value = of.inputs.get(key)
    known = isinstance(value, Quantity) and (value.origin is not Origin.RULE or key == "cluster.nodes")
    return value if known and isinstance(value, Quantity) else None


def _path(of: Sizing, rules: Rules) -> Quantity | None:
    """Return the bandwidth of the narrowest link of the paths; None where it is unknown."""
    links = {key: value for key, value in of.inputs.items() if not key.startswith("capacity.")}
    rates = [stage.rate for stage in path_stages(Sheet(links, rules)) if stage.rate is not None]
    return min(rates, key=lambda rate: rate.value, default=None)
