"""An array of drives: IOPS, throughput, usable capacity, and the drives that writes can count on."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Sheet, Term, answered, shown, term, worked
from sizeup.units import format_in

FEWEST_DRIVES = {"0": 1, "1": 2, "10": 2, "5": 3, "6": 4}
"""Fewest drives of a volume, by RAID level."""


NO_RATE = f"the MB/s of the drives are unknown and not judged; use {KEYS['array.drive_mb_s'].flag}"


class StageCapacity(Struct, frozen=True):
    """One stage of the path to the disks, of all servers together."""

    name: str
    rate: Quantity | None
    """Bytes per second; None where it is unknown, or where only IOPS limit."""
    iops: Quantity | None = None
    left: float | None = None
    """The share of its bytes per second that the largest single failure leaves; None where that is unknown."""
    failure: str = ""
    """That failure: ``one of 2 paths``."""
    network: bool = False
    """Whether it is Ethernet."""
    drives: bool = False
    """Whether it is the drives of an array."""
    title: str = ""
    """Its name among other stages, where the narrowest link is no name for all paths together; empty for ``name``."""
    smaller: tuple[tuple[str, float], ...] = ()
    """Smaller single failures, each with the share that it leaves: of a port, where a card is the largest."""
    iops_left: float | None = None
    """The share of its IOPS that the largest single failure leaves."""


class DriveFigure(Struct, frozen=True):
    """What one drive delivers of reads alone and of writes alone, in one unit."""

    reads: Quantity
    writes: Quantity
    unit: str
    """``IOPS`` or ``MB/s``."""


class Array(Struct, frozen=True):
    """Drives in identical volumes."""

    volumes: float
    disks: float
    """Of one volume."""
    raid: str

    @property
    def drives(self) -> float:
        """Drives of all volumes."""
        return self.volumes * self.disks

    @property
    def name(self) -> str:
        """As a stage is called: ``24 drives in RAID 10``; of several volumes ``2 x 24 drives in RAID 10``."""
        several = f"{format_in(self.volumes, '')} x " if self.volumes > 1 else ""
        return f"{several}{format_in(self.disks, 'drives')} in RAID {self.raid}"


def drive_iops(sheet: Sheet) -> DriveFigure | None:
    """Return the random IOPS of one drive: as stated, else by the catalog of drives; None if unknown."""
    return _figure(sheet, "IOPS", ("array.drive_iops", "iops"), ("array.drive_write_iops", "write-iops"))


def drive_rate(sheet: Sheet) -> DriveFigure | None:
    """Return the sequential bytes per second of one drive: as stated, else by the catalog; None if unknown."""
    return _figure(sheet, "MB/s", ("array.drive_mb_s", "read-rate"), ("array.drive_write_mb_s", "write-rate"))


def _figure(sheet: Sheet, unit: str, of_reads: tuple[str, str], of_writes: tuple[str, str]) -> DriveFigure | None:
    """Each a key and a name in the catalog; writes without a figure of their own are as reads."""
    reads = sheet.optional(of_reads[0])
    stated = reads is not None
    reads = reads or _catalog(sheet, of_reads[1])
    if reads is None:
        return None
    writes = sheet.optional(of_writes[0]) or (None if stated else _catalog(sheet, of_writes[1]))
    return DriveFigure(reads, writes or reads, unit)


def _catalog(sheet: Sheet, name: str) -> Quantity | None:
    figure = f"drive.{sheet.optional_words('array.drive')}.{name}"
    return sheet.rule(figure) if figure in sheet.rules.figures else None


def replaced_figures(sheet: Sheet) -> list[str]:
    """Return which stated figures of a drive count in place of those of its kind, a sentence each."""
    kind, found = sheet.optional_words("array.drive"), []
    for key, name, unit in (("array.drive_iops", "iops", "IOPS"), ("array.drive_mb_s", "read-rate", "MB/s")):
        stated, listed = sheet.inputs.get(key), _catalog(sheet, name)
        if isinstance(stated, Quantity) and listed is not None and stated.value != listed.value:
            found.append(
                f"a drive counts with the {shown(stated, unit)} of {key}, not with the {shown(listed, unit)} of {kind}"
            )
    return found


def flash_drives(sheet: Sheet) -> bool:
    """Whether the drives of the array are flash, or of no stated kind."""
    return not str(sheet.optional_words("array.drive") or "").startswith("hdd-")


def _array(sheet: Sheet) -> Iterator[Advice]:
    """IOPS, throughput and capacity of an array of drives at its RAID level."""
    array = _array_of(sheet)
    penalty = sheet.rule(f"raid.{array.raid}.write-penalty")
    each = array.disks / penalty.value
    sheet.line(f"{array.disks:g} drives / {penalty.value:g} operations a write = {each:g} a volume")
    found = worked(sheet, term(array.volumes, "volumes") * Term(each, f"{each:g}"), "drives")
    verdict = f"effective drives: {found.value:g} of {array.drives:g} for writes, all for random reads"
    yield answered(sheet, *_SPINDLES, verdict, found, penalty.source)
    if "array.disk_gb" in sheet.inputs:
        capacity = usable_bytes(sheet)
        verdict = f"usable capacity: {shown(capacity, 'GB')}"
        yield sheet.advice("storage.usable", "Usable capacity", verdict, capacity, "GB")
    if not _KINDS & set(sheet.inputs):
        sheet.words("array.drive")
    for advice_id, title, find in (
        ("io.capacity.iops", "Random IOPS of the array", drive_iops),
        ("io.capacity.drives", "Sequential throughput of the array", drive_rate),
    ):
        if (figure := find(sheet)) is None:
            continue
        of_bytes = sheet.optional("workload.read_bytes_percent") if find is drive_rate else None
        reads, array = (of_bytes or sheet.number("workload.read_percent")).value, _array_of(sheet)
        capacity = _delivered(sheet, array, figure, reads)
        rate = format_in(float(f"{capacity.value:.6g}"), figure.unit)
        verdict = f"array: {rate} at {format_in(reads, '%')} reads (RAID {array.raid}, {array.drives:g} drives)"
        yield sheet.advice(advice_id, title, verdict, capacity, figure.unit)


class _Operations(Struct, frozen=True):
    """Operations on drives that one write and one read take: with parity a write reads the old data and parity first.

    Of an array that lost a drive they are those of its busiest drive times the drives of its volume.
    """

    reads: float
    writes: float
    of_read: float = 1.0

    def total(self, drives: float, each: tuple[float, float], reads: float) -> float:
        """Return what that many drives deliver; ``each`` is one drive's figure of reads and of writes."""
        read, write = each
        written = 1 - reads
        return drives / ((reads * self.of_read + written * self.reads) / read + written * self.writes / write)


def _operations(sheet: Sheet, raid: str) -> _Operations:
    penalty = sheet.rule(f"raid.{raid}.write-penalty").value
    reads = penalty / 2 if sheet.rule(f"raid.{raid}.parity-drives").value else 0.0
    return _Operations(reads, penalty - reads)


def _left(sheet: Sheet, array: Array, each: DriveFigure, reads: float) -> float:
    """Return the share of the capacity that the loss of one drive leaves, as the load stays spread evenly.

    The surviving half of a pair serves all its reads. With parity a read of the lost drive reads as many others of its
    volume as there is data in a stripe, and a write to it reads the rest of the data and writes the parity anew. What a
    rebuild takes of the busiest drive is lost as well; where it is not stated the working says that it is not counted.
    """
    copies = sheet.rule(f"raid.{array.raid}.copies").value
    parity = sheet.rule(f"raid.{array.raid}.parity-drives").value
    if array.disks <= parity or array.disks < copies or copies + parity <= 1:
        return 0.0
    whole, others = _operations(sheet, array.raid), array.disks - 1
    lost = _Operations(whole.reads, whole.writes, copies / max(copies - 1, 1))
    if parity:
        rest = (array.disks - 2) / others
        lost = _Operations((whole.reads + 1) * rest, whole.writes, 1 + (array.disks - parity) / others)
    pair = each.reads.value, each.writes.value
    left, all_drives = (one.total(array.drives, pair, reads) for one in (lost, whole))
    rebuild = sheet.optional("array.rebuild_percent")
    left *= 1 - (rebuild.value if rebuild else 0)
    besides = f"beside a rebuild that takes {shown(rebuild, '%')}" if rebuild else "without a rebuild's traffic"
    one = f"one of {format_in(array.drives, 'drives')} lost, {besides}"
    sheet.line(f"{one}: {format_in(float(f'{left:.6g}'), each.unit)}")
    return min(left / all_drives, 1.0)


def _delivered(sheet: Sheet, array: Array, each: DriveFigure, reads: float) -> Quantity:
    """Return what all drives deliver together at a share of reads: a write takes several operations by RAID level."""
    cost = _operations(sheet, array.raid)
    value = cost.total(array.drives, (each.reads.value, each.writes.value), reads)
    ends = []
    for read, write in ((each.reads.low, each.writes.low), (each.reads.high, each.writes.high)):
        pair = (each.reads.value if read is None else read, each.writes.value if write is None else write)
        ends.append(None if read is None and write is None else cost.total(array.drives, pair, reads))
    unit, count = each.unit, format_in(array.drives, "drives")
    shares = format_in(reads, ""), format_in(1 - reads, "")
    read_text, write_text = shown(each.reads, unit), shown(each.writes, unit)
    if read_text == write_text:
        terms = f"{count} x {read_text} / ({shares[0]} + {shares[1]} x {cost.reads + cost.writes:g})"
    else:
        of_write = f"{cost.writes:g} / {write_text}"
        of_write = f"({cost.reads:g} / {read_text} + {of_write})" if cost.reads else of_write
        terms = f"{count} / ({shares[0]} / {read_text} + {shares[1]} x {of_write})"
    sheet.line(f"{terms} = {format_in(value, unit)}")
    return sheet.answer(value, unit, f"raid.{array.raid}.write-penalty", low=ends[0], high=ends[1])


def drives_stage(sheet: Sheet, reads: float | None, read_bytes: float | None) -> StageCapacity | None:
    """Return the drives of the array as a stage; None where their number, level or kind is unknown.

    IOPS are at the share of reads in the requests, MB/s at their share in the bytes; None for what is not wanted.
    The largest single failure is a drive; RAID 0 does not survive it.
    """
    if not {"array.disks", "array.raid"} <= set(sheet.inputs) or not _KINDS & set(sheet.inputs):
        return None
    array = _array_of(sheet)
    iops = rate = iops_left = rate_left = None
    if reads is not None and (each := drive_iops(sheet)) is not None:
        iops, iops_left = _delivered(sheet, array, each, reads), _left(sheet, array, each, reads)
    if read_bytes is not None and (each := drive_rate(sheet)) is not None:
        rate, rate_left = _delivered(sheet, array, each, read_bytes), _left(sheet, array, each, read_bytes)
    elif read_bytes is not None:
        sheet.caveat(NO_RATE)
    if iops is None and rate is None:
        return None
    failure = f"one of {format_in(array.drives, 'drives')}"
    return StageCapacity(array.name, rate, iops, rate_left, failure, drives=True, iops_left=iops_left)


_KINDS = frozenset({"array.drive", "array.drive_iops", "array.drive_mb_s"})
"""Keys that tell what one drive delivers."""


_SPINDLES = "storage.write-spindles", "Effective drives for writes"
"""Id and title."""


def _volumes(sheet: Sheet) -> float:
    count = sheet.optional("array.volumes")
    return 1 if count is None else count.value


def _array_of(sheet: Sheet) -> Array:
    return Array(_volumes(sheet), sheet.number("array.disks").value, sheet.words("array.raid"))


def _found_spindles(sheet: Sheet) -> Iterator[Advice]:
    """Drives that discovery found behind the database's device."""
    if "array.disks" in sheet.inputs:
        return
    writes, reads = sheet.number("path.write_spindles"), sheet.optional("path.read_spindles")
    sheet.line(f"{writes.source}: {shown(writes, 'drives')} for writes")
    also = "" if reads is None else f", {shown(reads, 'drives')} for random reads"
    found = Quantity(writes.value, "drives", writes.origin, writes.source)
    yield sheet.advice(*_SPINDLES, f"effective drives: {shown(writes, 'drives')} for writes{also}", found, "drives")


def usable_bytes(sheet: Sheet) -> Quantity:
    """Capacity of the array after copies and parity."""
    array, size = _array_of(sheet), sheet.number("array.disk_gb")
    copies, parity = sheet.rule(f"raid.{array.raid}.copies"), sheet.rule(f"raid.{array.raid}.parity-drives").value
    data = Term(array.disks - parity, f"({array.disks:g} - {parity:g})")
    volumes, each = (Term(one, f"{one:g}") for one in (array.volumes, copies.value))
    found = worked(sheet, volumes * data / each * term(size, "GB"), "GB")
    return sheet.answer(found.value, "GB", copies.source)


def drive_count(sheet: Sheet) -> float:
    """Return the drives of all volumes."""
    return _volumes(sheet) * sheet.number("array.disks").value


def raw_bytes(sheet: Sheet) -> Quantity:
    """Capacity of the drives without RAID, as a cache uses them, which holds nothing that is not elsewhere."""
    found = term(drive_count(sheet), "drives") * term(sheet.number("array.disk_gb"), "GB")
    sheet.line(f"{found} = {format_in(found.value, 'GB')} without RAID")
    return sheet.answer(found.value, "GB", "array.disk_gb")


CALCULATIONS = (
    Calculation("array of drives", _array, ("storage.", "io.capacity.iops", "io.capacity.drives"), about=("array.",)),
    Calculation("drives behind the device", _found_spindles, _SPINDLES[:1]),
)
