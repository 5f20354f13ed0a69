"""``sar -d`` as text, of sysstat 8 to 12: 512-byte sectors, or kB since 11.5.7, with or without AM and PM.

A file of ``sar -A`` will do: of other activities the rows are passed over. With ``--pretty`` the disk is last.
"""

from __future__ import annotations

import re

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Disk, Intervals, chosen, number, together

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
        if not words:
            header = []  # an empty line ends a table
        if len(words) < 3 or words[0] == "Average:" or not _TIME.match(words[0]):
            continue
        clock = 2 if words[1] in {"AM", "PM"} else 1
        if "RESTART" in line:
            part += 1
        elif "DEV" in (words[clock], words[-1]) and "tps" in words:
            header = words[clock:]
        elif header and words[clock] != "COM":  # a comment that somebody left in the record
            time = " ".join(words[:clock])
            disk = _disk(words[clock:], header, f"{where}: line {line_number}")
            same = rows.setdefault((part, time), [])
            if any(other.name == disk.name for other in same):  # the same time of another day
                part += 1
                same = rows.setdefault((part, time), [])
            same.append(disk)
    if not rows:
        raise MalformedError(
            f"{where}: expected rows of sar -d that begin with a time such as 00:10:01, under a heading with DEV, "
            "found none; create it with LC_ALL=C sar -d"
        )
    kept, left = chosen((disk.name for report in rows.values() for disk in report), devices, where)
    return Intervals(tuple(together(disk for disk in report if disk.name in kept) for report in rows.values()), left)


def _disk(cells: list[str], header: list[str], where: str) -> Disk:
    if len(cells) != len(header):
        raise MalformedError(f"{where}: expected {len(header)} columns after the time, found {len(cells)}")
    name = cells[header.index("DEV")]
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
