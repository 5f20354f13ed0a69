"""An array of drives: IOPS, usable capacity, and the drives that writes can count on."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.io.capacity import StageCapacity
from sizeup.sizing.sheet import Calculation, Sheet, shown
from sizeup.units import format_in


def drive_iops(sheet: Sheet) -> Quantity:
    """Return the random IOPS of one drive: as stated, else by the catalog of disks."""
    stated = sheet.optional("array.drive_iops")
    return stated if stated is not None else sheet.rule(f"drive.{sheet.words('array.drive')}.iops")


def _array(sheet: Sheet) -> Iterator[Advice]:
    """IOPS and capacity of an array of drives at its RAID level."""
    yield from _spindles(sheet)
    if "array.disk_gb" in sheet.inputs:
        capacity = usable_bytes(sheet)
        yield sheet.advice(
            "storage.usable",
            "Usable capacity",
            f"usable capacity: {format_in(capacity.value, 'GB')}",
            capacity,
            "GB",
        )
    reads = sheet.number("workload.read_percent").value
    capacity = random_iops(sheet, reads)
    volumes, disks, raid = _volumes(sheet)
    yield sheet.advice(
        "io.capacity.iops",
        "Random IOPS of the array",
        f"array: {shown(capacity, 'IOPS')} at {format_in(reads, '%')} reads (RAID {raid}, {volumes * disks:g} drives)",
        capacity,
        "IOPS",
    )


def random_iops(sheet: Sheet, reads: float) -> Quantity:
    """Return the random IOPS of all drives at a share of reads: a write takes several operations by RAID level."""
    each = drive_iops(sheet)
    volumes, disks, raid = _volumes(sheet)
    penalty = sheet.rule(f"raid.{raid}.write-penalty").value
    cost = reads + (1 - reads) * penalty
    value, low, high = (
        None if end is None else volumes * disks * end / cost for end in (each.value, each.low, each.high)
    )
    assert value is not None
    sheet.line(
        f"{format_in(volumes * disks, 'drives')} x {shown(each, 'IOPS')} / ({format_in(reads, '')} + "
        f"{format_in(1 - reads, '')} x {penalty:g}) = {format_in(value, 'IOPS')}"
    )
    return sheet.answer(value, "IOPS", f"raid.{raid}.write-penalty", low=low, high=high)


def drives_stage(sheet: Sheet, reads: float) -> StageCapacity | None:
    """Return the drives of the array as a stage; None where their number, level or kind is unknown.

    Its largest single failure is a volume where there are several, else a drive; RAID 0 survives neither.
    """
    known = {"array.disks", "array.raid"} <= set(sheet.inputs)
    if not known or not {"array.drive", "array.drive_iops"} & set(sheet.inputs):
        return None
    volumes, disks, raid = _volumes(sheet)
    parts, what = (volumes, "volumes") if volumes > 1 else (disks, "drives")
    left = 0.0 if raid == "0" else (parts - 1) / parts
    name = f"{format_in(volumes * disks, 'drives')} in RAID {raid}"
    return StageCapacity(name, None, random_iops(sheet, reads), left, f"one of {format_in(parts, what)}")


def _volumes(sheet: Sheet) -> tuple[float, float, str]:
    """Volumes, drives in each, RAID level."""
    count = sheet.optional("array.volumes")
    return (1 if count is None else count.value), sheet.number("array.disks").value, sheet.words("array.raid")


def _spindles(sheet: Sheet) -> Iterator[Advice]:
    volumes, disks, raid = _volumes(sheet)
    penalty = sheet.rule(f"raid.{raid}.write-penalty").value
    each = disks / penalty
    sheet.line(f"{disks:g} drives / {penalty:g} operations a write = {each:g} a volume")
    sheet.line(f"{format_in(volumes, 'volumes')} x {each:g} = {format_in(volumes * each, 'drives')}")
    yield sheet.advice(
        "storage.write-spindles",
        "Effective drives for writes",
        f"effective drives: {volumes * each:g} of {volumes * disks:g} for writes, all for random reads",
        sheet.answer(volumes * each, "drives", f"raid.{raid}.write-penalty"),
        "drives",
    )


def _found_spindles(sheet: Sheet) -> Iterator[Advice]:
    """Drives that discovery found behind the database's device."""
    if "array.disks" in sheet.inputs:
        return
    writes, reads = sheet.number("path.write_spindles"), sheet.optional("path.read_spindles")
    sheet.line(f"{writes.source}: {shown(writes, 'drives')} for writes")
    also = "" if reads is None else f", {format_in(reads.value, 'drives')} for random reads"
    yield sheet.advice(
        "storage.write-spindles",
        "Effective drives for writes",
        f"effective drives: {format_in(writes.value, 'drives')} for writes{also}",
        Quantity(writes.value, "drives", writes.origin, writes.source),
        "drives",
    )


def usable_bytes(sheet: Sheet) -> Quantity:
    """Capacity of the array after copies and parity."""
    volumes, disks, raid = _volumes(sheet)
    size = sheet.number("array.disk_gb")
    copies, parity = sheet.rule(f"raid.{raid}.copies").value, sheet.rule(f"raid.{raid}.parity-drives").value
    value = volumes * (disks - parity) / copies * size.value
    sheet.line(f"{volumes:g} x ({disks:g} - {parity:g}) / {copies:g} x {shown(size, 'GB')} = {format_in(value, 'GB')}")
    return sheet.answer(value, "GB", f"raid.{raid}.copies")


CALCULATIONS = (
    Calculation("array of drives", _array, ("storage.", "io.capacity.iops"), about=("array.",)),
    Calculation("drives behind the device", _found_spindles, ("storage.write-spindles",)),
)
