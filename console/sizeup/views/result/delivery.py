"""What was delivered beside what was ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.sizing.delivery import DeliveredPart
from sizeup.sizing.keys import KEYS
from sizeup.sizing.server_share import PRESENT_PROCESSOR
from sizeup.sizing.sheet import in_unit
from sizeup.units import as_percent, base_unit, format_in

_TITLES = {"path.stages.ports": "FC ports", "path.stages.cards": "Cards of the ports", "path.stages.link": "Link"}
_REASONS = {
    **dict.fromkeys(("array.disks", "array.disk_gb", "array.drive", "array.raid"), "not told apart"),
    **dict.fromkeys(("capacity.iops", "capacity.mb_s"), "not measured: sizeup --batch --mount DIR"),
    "machine.cpu_model": "the full name is not known",
}
_WORST_FIRST = ("missing", "slower", "different", "down", "uncertain", "unknown", "more")


def delivery_sentence(parts: Sequence[DeliveredPart]) -> str:
    """Return how many parts are not as ordered: ``Delivered: 2 of 10 missing, 3 unknown``."""
    counts = Counter(one.status for one in parts)
    said = [f"{counts[status]} {status}" for status in _WORST_FIRST if counts[status]] or ["all as ordered"]
    return f"Delivered: {said[0].replace(' ', f' of {len(parts)} ', 1)}{''.join(f', {one}' for one in said[1:])}"


def delivery_table(parts: Sequence[DeliveredPart]) -> Table:
    """Return a row for each part: as ordered, what is missing or slower, or why it is uncertain or unknown."""
    columns = (Column("Part"), Column("Ordered", numeric=True), Column("Found", numeric=True), Column("Delivered"))
    rows = (
        (_TITLES.get(one.key) or KEYS[one.key].label, _amount(one, one.ordered), _amount(one, one.found), _said(one))
        for one in parts
    )
    by_workload = any(one.by_workload for one in parts)
    note = "Storage IOPS, throughput: what the workload of the order needs, with its reserve" if by_workload else ""
    return Table("", columns, tuple(rows), note)


def _said(one: DeliveredPart) -> str:
    ordered, found = one.ordered, one.found
    if one.uncertainty is not None:
        return f"uncertain: {'. '.join(filter(None, (one.uncertainty.reason, one.uncertainty.action)))}"
    if one.status == "unknown":
        reason = "the order names none" if ordered == PRESENT_PROCESSOR else _REASONS.get(one.key, "not detected")
        words = isinstance(ordered, str) or one.key not in KEYS
        return f"unknown: {reason} ({one.key if one.key in KEYS else 'path.stages'}={'TEXT' if words else 'N'})"
    if isinstance(ordered, str) or isinstance(found, str) or found is None:
        return f"down: {one.down}" if one.down else one.status
    licenses = f"; {one.refusal}" if one.refusal else "; licenses count them" if one.licensed else ""
    down = f"down: {one.down}" if one.down else ""
    text = {
        "missing": f"missing: {_amount(one, ordered - found)}",
        "slower": f"slower: {as_percent(found / ordered)}",
        "more": f"more: +{_amount(one, found - ordered)}{licenses}",
        "down": "",
    }.get(one.status, one.status)
    return "; ".join(filter(None, (text, down)))


def _amount(one: DeliveredPart, value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or UNKNOWN
    unit = KEYS[one.key].unit.removesuffix("1") if one.key in KEYS else ""
    whole = len(f"{value / base_unit(unit)[1]:.0f}")  # digits, none of which is rounded
    return format_in(in_unit(value, unit, max(whole, 4)) * base_unit(unit)[1], unit)
