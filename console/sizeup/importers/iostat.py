"""``iostat -o JSON`` of sysstat 11.5 to 12.7, with or without ``-x``, in kB, MB or sectors."""

from __future__ import annotations

import json
from typing import Any

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Disk, Intervals, chosen, number, together

_UNITS = {"kB": 1024.0, "MB": 1048576.0, "sec": 512.0, "Blk": 512.0}
"""sysstat divides sectors of 512 bytes by 2 and by 2,048; without a unit (POSIXLY_CORRECT) it prints the sectors."""


def parse_iostat(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Every report but the first of several, which is the mean since boot and no interval."""
    try:
        reports = [
            [dict(row) for row in report["disk"]]
            for host in json.loads(text)["sysstat"]["hosts"]
            for report in host["statistics"]
            if "disk" in report
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedError(
            f"{where}: expected the output of iostat -o JSON, with sysstat.hosts[].statistics[].disk[]: {error!r}; "
            "up to sysstat 11.5.1 it needs LC_ALL=C, or writes decimal commas, which are no JSON"
        ) from error
    if not reports:
        raise MalformedError(f"{where}: expected at least one report on disks, found none; run iostat without -c")
    caveats: tuple[str, ...] = ()
    if len(reports) > 1:
        reports = reports[1:]
        caveats = ("the first report was left out: it is the mean since boot (unless iostat ran with -y)",)
    else:
        caveats = ("the only report is the mean since boot (unless iostat ran with -y)",)
    disks = [[_disk(row, where) for row in report] for report in reports]
    kept, left = chosen((disk.name for report in disks for disk in report), devices, where)
    intervals = tuple(together(disk for disk in report if disk.name in kept) for report in disks)
    return Intervals(intervals, caveats + left)


def _disk(row: dict[str, Any], where: str) -> Disk:
    name = str(row.get("disk_device", "?"))
    place = f"{where}: {name}"
    for unit, scale in _UNITS.items():
        if f"r{unit}/s" in row:
            reads, writes = number(row, "r/s", place), number(row, "w/s", place)
            read, written = number(row, f"r{unit}/s", place), number(row, f"w{unit}/s", place)
            return Disk(name, reads + writes, read * scale, written * scale, reads)
        if f"{unit}_read/s" in row:
            read, written = number(row, f"{unit}_read/s", place), number(row, f"{unit}_wrtn/s", place)
            return Disk(name, number(row, "tps", place), read * scale, written * scale)
    raise MalformedError(
        f"{place}: expected columns such as rkB/s or kB_read/s, found {', '.join(map(str, row))}; run iostat without -s"
    )
