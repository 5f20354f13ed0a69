"""``sar -d`` as text, of sysstat 8 to 12: kB or 512-byte sectors, with or without AM and PM."""

from __future__ import annotations

import re

from sizeup.errors import MalformedError
from sizeup.interop.intervals import Disk, Intervals, chosen, number, together

_COLUMNS = {
    "rkB/s": ("wkB/s", 1024.0),
    "rMB/s": ("wMB/s", 1048576.0),
    "rd_sec/s": ("wr_sec/s", 512.0),
    "bread/s": ("bwrtn/s", 512.0),
}
"""Column of what was read, column of what was written, bytes of their unit."""

_TIME = re.compile(r"\d{1,2}:\d\d:\d\d$")


def parse_sar(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Every interval between the headings; averages and restarts are passed over."""
    header: list[str] = []
    rows: dict[tuple[int, str], list[Disk]] = {}
    part = 0
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) < 3 or words[0] == "Average:" or not _TIME.match(words[0]):
            continue
        clock = 2 if words[1] in {"AM", "PM"} else 1
        if "RESTART" in line:
            part += 1
        elif words[clock] == "DEV":
            header = words[clock + 1 :]
        elif header:
            time = " ".join(words[:clock])
            disk = _disk(words[clock], words[clock + 1 :], header, f"{where}: line {line_number}")
            same = rows.setdefault((part, time), [])
            if any(other.name == disk.name for other in same):  # the same time of another day
                part += 1
                same = rows.setdefault((part, time), [])
            same.append(disk)
    if not rows:
        raise MalformedError(f"{where}: expected rows of sar -d under a heading with DEV, found none")
    kept, left = chosen((disk.name for report in rows.values() for disk in report), devices, where)
    return Intervals(tuple(together(disk for disk in report if disk.name in kept) for report in rows.values()), left)


def _disk(name: str, cells: list[str], header: list[str], where: str) -> Disk:
    if len(cells) != len(header):
        raise MalformedError(f"{where}: expected {len(header)} columns after the disk, found {len(cells)}")
    row: dict[str, object] = {column: _figure(cell) for column, cell in zip(header, cells, strict=True)}
    for read, (written, scale) in _COLUMNS.items():
        if read in row:
            return Disk(
                name,
                number(row, "tps", where),
                number(row, read, where) * scale,
                number(row, written, where) * scale,
            )
    raise MalformedError(f"{where}: expected one of the columns {', '.join(_COLUMNS)}, found {', '.join(header)}")


def _figure(cell: str) -> float | str:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return cell
