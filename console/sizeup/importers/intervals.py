"""What a monitoring file says of each of its intervals, and the columns that sar, iostat, vmstat and kSar share."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from sizeup.errors import MalformedError
from sizeup.units import format_in

_NO_DISK = ("dm-", "md", "loop", "ram", "zram", "drbd", "bcache", "sr", "scd", "fd")
"""Names of devices whose I/O is counted again in the disks under them, of CD-ROM and of floppy drives.

A file has names and nothing else.
"""

_DISK = re.compile(
    r"(?:[shv]d|xvd|dasd|fio|rssd)[a-z]+\d*|(?:(?:mmcblk|pmem|nbd|rbd)\d+|(?:nvme|sfdv)\d+n\d+|c\d+d\d+)(?:p\d+)?|"
    r"dev\d+-\d+",
    re.ASCII,
)
"""Names of disks and partitions. Beside them any other, as ``iostat -N`` writes, is that of a volume; alone it counts.

``nvme0c0n1`` is one path to ``nvme0n1``, ``emcpowera`` a device on several others.
"""


_PHYSICAL_MAJORS = frozenset({8, *range(65, 72), 94, *range(104, 112), *range(128, 136), 202, 259})
"""Major numbers of SCSI, DASD, Smart Array, Xen and NVMe disks, by the kernel's ``devices.txt``."""
_NO_DISK_MAJORS = frozenset({1, 2, 7, 9, 11, 147})
"""Major numbers of RAM disks, floppy drives, loop devices, MD, CD-ROM and DRBD."""


class LoadInterval(Struct, frozen=True):
    """One interval, all disks and servers together; None for what the file does not tell."""

    bytes_per_second: float | None = None
    """All reads and writes, without redo where the file counts redo separately."""
    requests_per_second: float | None = None
    """Random ones where the file separates them, else all; without redo writes where it separates those."""
    read_share: float | None = None
    """Of the requests; None where these are not counted by direction, or nothing moved."""
    redo_bytes_per_second: float | None = None
    """As generated."""
    redo_writes_per_second: float | None = None
    sequential_bytes_per_second: float | None = None
    """Part of ``bytes_per_second`` that large requests moved."""
    cpu_utilization: float | None = None
    """Share of all CPUs that was busy."""
    busy_cores: float | None = None
    """The same times physical cores, where the file has their number: as if busy threads shared cores."""
    spread_cores: float | None = None
    """Cores that are busy if each busy thread has one of its own; None where a core has one thread, or unknown."""
    commits_per_second: float | None = None
    redo_written_bytes_per_second: float | None = None
    """Redo as it reaches the storage, where each write begins and ends with a whole block."""
    read_share_of_bytes: float | None = None
    """Of ``bytes_per_second``; None where the file does not count bytes by direction, or nothing moved."""
    cores: float | None = None
    """Physical cores, of all servers that ``busy_cores`` are of."""
    cpus: float | None = None
    """Logical CPUs that ``cpu_utilization`` is of, where the file has these and not the cores."""


class Stated(Struct, frozen=True):
    """A figure that holds for a whole file, as the key of sizing that it sets, in base units."""

    key: str
    value: float
    unit: str


class Intervals(Struct, frozen=True):
    """A whole file."""

    intervals: tuple[LoadInterval, ...]
    caveats: tuple[str, ...] = ()
    stated: tuple[Stated, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()
    """Caveats of one figure alone: its key and the sentence."""
    left_out: str = ""
    """What of the file is no interval and was left out: ``the first report``."""
    peaks: tuple[LoadInterval, ...] = ()
    """The largest that the file has of each interval, where it has such."""
    one_instance: bool = False
    """Whether it covers one instance of a cluster alone, in some interval."""
    by_disk: bool = False
    """Whether each disk was counted alone, as another file of sar may count all of them together."""
    vendor: str = ""
    """The database that it is of, as its rule pack is called; empty where the file does not tell."""


class Disk(Struct, frozen=True):
    """One disk in one interval."""

    name: str
    requests_per_second: float
    read_bytes_per_second: float
    written_bytes_per_second: float
    reads_per_second: float | None = None
    """None where reads and writes are not counted separately."""
    discards: bool = False
    """Whether discards count among the requests."""


def together(disks: Iterable[Disk]) -> LoadInterval:
    """All disks of one interval as one."""
    rows = tuple(disks)
    moved = sum(disk.read_bytes_per_second + disk.written_bytes_per_second for disk in rows)
    requests = sum(disk.requests_per_second for disk in rows)
    reads = [disk.reads_per_second for disk in rows if disk.reads_per_second is not None]
    counted = sum(reads) / requests if requests and len(reads) == len(rows) else None
    share = sum(disk.read_bytes_per_second for disk in rows) / moved if moved else None
    return LoadInterval(moved, requests, counted, read_share_of_bytes=share)


def uncut(text: str, where: str) -> tuple[str, str]:
    """Return the JSON of sysstat up to its last whole report, and what was left out; other text as it is."""
    depth = end = 0
    for brace in re.finditer("[{}]", text) if text.lstrip().startswith("{") else ():
        depth += 1 if brace[0] == "{" else -1
        if brace[0] == "}" and depth == 3:  # behind a report: {"sysstat": {"hosts": [{"statistics": [{...}
            end = brace.end()
    if depth <= 0:
        return text, ""
    if not end:
        raise MalformedError(f"{where}: expected a whole report in JSON, found a file that was cut in the first")
    return f"{text[:end]}]}}]}}}}", "the end of the file, which was cut"


def of_disks(reports: Iterable[Sequence[Disk]], devices: tuple[str, ...], where: str, *, whole: bool) -> Intervals:
    """Return the disks of each report as one; a last one that lacks a disk of all others only of a ``whole`` file."""
    found, left_out = list(reports), ""
    kept, caveats = chosen((disk.name for report in found for disk in report), devices, where)
    names = [{disk.name for disk in report} & kept for report in found]
    lacking = set[str]().union(*names[:1]).intersection(*names[:-1]) - set[str]().union(*names[-1:])
    if lacking and not whole:
        found.pop()
        left_out = f"the last report, which lacks {', '.join(sorted(lacking))}"
        caveats = (*caveats, f"{left_out}, does not count: the file may be cut")
    intervals = (together(disk for disk in report if disk.name in kept) for report in found)
    discards = any(disk.discards for report in found for disk in report if disk.name in kept)
    return Intervals(tuple(intervals), caveats, left_out=left_out, remarks=_DISCARDS if discards else ())


def chosen(names: Iterable[str], devices: tuple[str, ...], where: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The disks that count, with a caveat where others are not counted; ``devices`` names them."""
    present = sorted(set(names))
    if devices:
        missing = [device for device in devices if device not in present]
        if missing:
            raise MalformedError(
                f"{where}: expected the disks {', '.join(missing)}, found {', '.join(present) or 'none'}"
            )
        return frozenset(devices), ()
    stacked = _stacked_majors(present, where)
    whole = frozenset(
        name
        for name in present
        if not name.startswith(_NO_DISK) and _major(name) not in stacked and not _partition_of_another(name, present)
    )
    whole = frozenset(filter(_DISK.fullmatch, whole)) or whole
    left = [name for name in present if name not in whole]
    what = "not counted (volumes and partitions of other disks, CD-ROM, floppy)"
    caveat = f"{what}: {', '.join(left)}; use --devices to choose disks"
    return whole or frozenset(present), (caveat,) if left and whole else ()


def _major(name: str) -> int | None:
    """The major number in a name such as ``dev253-0``, which sar prints without ``-p``."""
    match = re.fullmatch(r"dev(\d{1,4})-\d{1,7}", name, re.ASCII)
    return int(match[1]) if match else None


def _stacked_majors(present: Collection[str], where: str) -> frozenset[int]:
    """The majors of volumes on other disks; raise where the kernel gave out numbers that may be either."""
    majors = {major for name in present if (major := _major(name)) is not None} - _NO_DISK_MAJORS
    given_out = frozenset(majors - _PHYSICAL_MAJORS)
    if len(given_out) > 1 and majors == given_out:
        names = ", ".join(f"dev{major}-*" for major in sorted(given_out))
        raise MalformedError(
            f"{where}: expected names that tell disks from volumes on them, found {names}, whose numbers the kernel "
            "gives out as it starts; create the file with sar -d -p, or name the disks with --devices"
        )
    return _NO_DISK_MAJORS | (given_out if majors != given_out else frozenset())


def _partition_of_another(name: str, present: Collection[str]) -> bool:
    """Whether a file that has ``sda1`` or ``nvme0n1p1`` has the disk around it, too, as with ``iostat -p``."""
    match = re.fullmatch(r"(.*\d)p\d{1,4}|(.*[^\d])\d{1,4}", name)
    return match is not None and (match[1] or match[2]) in present


def number(cells: Mapping[str, object], name: str, where: str) -> float:
    """A figure of one row; its absence or another kind of value is a layout this program does not know."""
    value = cells.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise MalformedError(f"{where}: expected a number for {name}, found {value!r}")
    return float(value)


APART = "read each alone, and enter the sum of what they need"
"""What to do about figures of several servers or databases."""
ALIKE = 1.05  # two figures of one quantity that differ by less are rounded
LAST_DIGIT = 0.1  # of a rate


def without(whole: float, part: float, name: str, name_of_part: str, unit: str, where: str) -> float:
    """Return a rate without a part of it; raises ``MalformedError`` if the part is larger by more than rounding."""
    if part > whole * ALIKE + LAST_DIGIT:
        most = f"at most the {format_in(whole, unit)} of {name}"
        raise contradiction(where, name_of_part, most, format_in(part, unit))
    return max(whole - part, 0.0)


def contradiction(where: str, what: str, expected: str, found: str) -> MalformedError:
    """Return the error of a figure that cannot stand beside another one of its report."""
    return MalformedError(f"{where}: {what}: expected {expected}, found {found}; the report contradicts itself")


IDLE = ("idle", "iowait", "steal", "id", "wa", "st")
"""Without a per cent sign. Nothing of the workload ran in the first two; the host's other guests ran in the third."""
_WIDEST = 101.0
"""Columns are rounded on their own, in vmstat to whole per cent."""
_DIGITS = frozenset("0123456789.,")
_DISCARDED = re.compile(r"d[kM]B|\w*dscd")
_DISCARDS = (("workload.iops", "discards (TRIM) count, too: an upper bound; sar -b or iostat -x leaves them out"),)
_REQUESTS = (("r/s", "w/s"), ("rtps", "wtps"))
"""Columns of reads and writes, where they are counted separately; else ``tps``."""
_MOVED = {
    ("rkB/s", "wkB/s"): 1024.0,
    ("kB_read/s", "kB_wrtn/s"): 1024.0,
    ("rMB/s", "wMB/s"): 1048576.0,
    ("MB_read/s", "MB_wrtn/s"): 1048576.0,
    ("rsec/s", "wsec/s"): 512.0,
    ("rd_sec/s", "wr_sec/s"): 512.0,
    ("bread/s", "bwrtn/s"): 512.0,
    ("Blk_read/s", "Blk_wrtn/s"): 512.0,
}
"""Columns of what was read and written, and the bytes of their unit: sysstat divides sectors of 512 bytes by 2 and by
2,048; without a unit (POSIXLY_CORRECT) it prints the sectors."""


def row(header: Sequence[str], cells: Sequence[str], where: str) -> dict[str, object]:
    """Return the cells by the names of their columns; raise ``MalformedError`` for another number of them."""
    if len(cells) != len(header):
        raise MalformedError(f"{where}: expected {len(header)} columns, found {len(cells)}; remove a line that was cut")
    return {name: _figure(cell, where) for name, cell in zip(header, cells, strict=True)}


def _figure(cell: str, where: str) -> float | str:
    """Return a cell as a number, with a point or a comma before its decimals; the cell itself where it is none."""
    if cell[:1] not in _DIGITS:
        return cell
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        if re.fullmatch(r"[\d.,]+[kMGTPE]", cell):
            raise MalformedError(f"{where}: expected plain figures, found {cell!r}; run it without --human") from None
        return _figure(cell[:-1], where) if cell.endswith("%") else cell


def utilization(cells: Mapping[str, object], where: str) -> float:
    """Return the busy share of all CPUs of one interval: what is neither idle, nor waiting for I/O, nor stolen."""
    percents = {name.lstrip("%"): number(cells, name, where) for name in cells if name.lstrip("%") in IDLE}
    if not {"idle", "id"} & percents.keys():
        raise MalformedError(f"{where}: expected a column %idle, found {', '.join(map(str, cells))}")
    unused = sum(percents.values())
    if unused > _WIDEST:
        raise MalformedError(f"{where}: expected idle, waiting and stolen time of at most 100 %, found {unused:g} %")
    return max(1 - unused / 100, 0.0)


def disk(cells: Mapping[str, object], name: str, where: str, advice: str) -> Disk:
    """Return one disk of one interval; ``advice`` is how to run the tool where columns are missing."""
    moved = next((pair for pair in _MOVED if pair[0] in cells and pair[1] in cells), None)
    requests = next((pair for pair in _REQUESTS if pair[0] in cells and pair[1] in cells), ("tps",))
    if moved is None or requests[0] not in cells:
        raise MalformedError(
            f"{where}: expected columns such as r/s, w/s, rkB/s and wkB/s, or tps, kB_read/s and kB_wrtn/s, found "
            f"{', '.join(cells)}; {advice}"
        )
    counts = [number(cells, column, where) for column in requests]
    if "tps" in cells:
        without(number(cells, "tps", where), sum(counts), "tps", " + ".join(requests), "IOPS", where)
    read, written = (number(cells, column, where) * _MOVED[moved] for column in moved)
    counted = len(counts) > 1
    discards = not counted and any(value for column, value in cells.items() if _DISCARDED.match(column))
    return Disk(name, sum(counts), read, written, counts[0] if counted else None, discards)
