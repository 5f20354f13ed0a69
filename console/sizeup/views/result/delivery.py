"""What was delivered beside what was ordered."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.sizing.delivery import DeliveredPart
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import in_unit
from sizeup.units import base_unit, format_in

_TITLES = {
    "cluster.nodes": "Servers",
    "machine.sockets": "Sockets",
    "machine.cores": "Cores",
    "machine.memory_gib": "Memory",
    "array.disks": "Drives",
    "array.disk_gb": "Size of a drive",
    "path.bandwidth_mb_s": "Paths",
    "capacity.gb": "Space",
    "capacity.iops": "IOPS of the storage",
    "capacity.mb_s": "MB/s of the storage",
}
_REASONS = {
    **dict.fromkeys(("capacity.iops", "capacity.mb_s"), "not measured: sizeup --batch --mount DIR"),
    **dict.fromkeys(("array.disks", "array.disk_gb"), "an array hides its drives"),
}


def delivery_table(parts: Iterable[DeliveredPart]) -> Table:
    """Return a row for each part: as ordered, what is missing or slower, or why it is unknown."""
    columns = (Column("Part"), Column("Ordered", numeric=True), Column("Found", numeric=True), Column("Delivered"))
    return Table("", columns, tuple(_row(one) for one in parts))


def _row(one: DeliveredPart) -> tuple[str, ...]:
    if one.found is None:
        said = f"unknown: {_REASONS.get(one.key, 'not detected')} ({KEYS[one.key].assignment})"
        return _TITLES[one.key], _amount(one.ordered, one.unit), UNKNOWN, said
    less = {"missing": _amount(one.ordered - one.found, one.unit), "slower": f"{one.found / one.ordered:.0%}"}
    said = f"{one.status}: {less[one.status]}" if one.status in less else one.status
    return _TITLES[one.key], _amount(one.ordered, one.unit), _amount(one.found, one.unit), said


def _amount(value: float, unit: str) -> str:
    unit = "" if unit == "1" else unit
    return format_in(in_unit(value, unit) * base_unit(unit)[1], unit)
