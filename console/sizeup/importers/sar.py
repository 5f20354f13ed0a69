"""sar as text, of sysstat 8 to 12: ``-u`` for CPUs, ``-b`` for all disks together, else ``-d`` for each; kSar's CSV.

``-b`` leaves out volumes on other disks, and tells reads from writes; disks that are named are those of ``-d``.

512-byte sectors, or kB of 1,024 bytes since 11.5.7, with or without AM and PM. A file of ``sar -A`` will do: rows of
other activities are passed over. With ``--pretty`` the disk is last. ``tps`` counts discards, too, since 12.1.
"""

from __future__ import annotations

import re

from msgspec import Struct

from sizeup.errors import MalformedError
from sizeup.importers.columns import disk, row, utilization
from sizeup.importers.intervals import Disk, Intervals, LoadInterval, chosen, together
from sizeup.text import one_line

_ADVICE = "create it with LC_ALL=C sar -d -b -u"
_TIME = re.compile(r"\d{1,2}:\d\d:\d\d$", re.ASCII)


class _Rows:
    """The rows of one activity: one set of names for each time; a time that comes again is of another day."""

    def __init__(self) -> None:
        self.disks: dict[tuple[int, str], list[Disk]] = {}
        self._part = 0

    def restart(self) -> None:
        self._part += 1

    def add(self, time: str, disk: Disk) -> None:
        same = self.disks.setdefault((self._part, time), [])
        if any(other.name == disk.name for other in same):
            self._part += 1
            same = self.disks.setdefault((self._part, time), [])
        same.append(disk)


class _Found(Struct):
    """What the lines of a file gave."""

    disks: _Rows
    all_disks: list[LoadInterval]
    """By ``-b``."""
    cpus: list[LoadInterval]


def parse_sar(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Every interval between the headings; averages and restarts are passed over."""
    found = _Found(_Rows(), [], [])
    header: list[str] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            header = []  # an empty line ends a table
        if len(words) < 3 or words[0] == "Average:" or not _TIME.match(words[0]):
            continue
        clock = 2 if words[1] in {"AM", "PM"} else 1
        cells = words[clock:]
        if "RESTART" in line:
            found.disks.restart()
        elif _is_heading(cells):
            header = cells
        elif header and cells[0] != "COM":  # a comment that somebody left in the record
            _add(found, header, cells, " ".join(words[:clock]), f"{where}: line {line_number}")
    rows = found.disks.disks
    if not rows and not found.all_disks and not found.cpus:
        raise MalformedError(
            f"{where}: expected rows of sar -d, -b or -u that begin with a time such as 00:10:01, under a heading with "
            "DEV, rtps or %idle, found none; create it with LC_ALL=C sar -d -u"
        )
    if devices and not rows:
        raise MalformedError(
            f"{where}: expected the disks {', '.join(devices)}, found no sar -d, which has their names"
        )
    if found.all_disks and not devices:
        return Intervals((*found.all_disks, *found.cpus))
    kept, left = chosen((disk.name for report in rows.values() for disk in report), devices, where)
    disks = tuple(together(disk for disk in report if disk.name in kept) for report in rows.values())
    return Intervals((*disks, *found.cpus), left)


def _is_heading(cells: list[str]) -> bool:
    """Whether these are names of columns, of an activity that is read or of another."""
    return "tps" in cells or "%idle" in cells or cells[0] in ("CPU", "DEV")


def _add(found: _Found, header: list[str], cells: list[str], time: str, where: str) -> None:
    """Put a row where its heading belongs."""
    if "DEV" in (header[0], header[-1]) and "tps" in header:
        values = row(header, cells, where)
        found.disks.add(time, disk(values, cells[header.index("DEV")], where, _ADVICE))
    elif header[0] == "CPU" and "%idle" in header:
        if cells[0] == "all":
            found.cpus.append(LoadInterval(cpu_utilization=utilization(row(header, cells, where), where)))
    elif "rtps" in header and "bread/s" in header:
        found.all_disks.append(together([disk(row(header, cells, where), "all", where, _ADVICE)]))


KSAR_HEADING = re.compile(r"Date;[^\n]*;")
"""How the first line of kSar's CSV begins and what it holds."""
_KSAR_COLUMN = re.compile(r"(?:.*\s)?all\s+(%\S+)")


def parse_ksar(text: str, where: str) -> Intervals:
    """Every line whose columns of all CPUs are known; the others are not read.

    By its source (``FileCSV.java``, ``Graph.java``) a column is named by its graph and sar's column: ``CPU all %idle``.
    A cell is ``null`` where sar has no figure.
    """
    lines = text.splitlines()
    names = lines[0].split(";")
    columns = {index: match[1] for index, name in enumerate(names) if (match := _KSAR_COLUMN.fullmatch(name.strip()))}
    if "%idle" not in columns.values():
        others = [one_line(name.strip(), 40) for name in names[1:] if name.strip()]
        found = f"{len(others)} others, such as {others[0]!r}" if others else "none"
        raise MalformedError(
            f"{where}: expected a column 'CPU all %idle' in kSar's CSV, found {found}; export all graphs, or give the "
            "output of sar itself"
        )
    intervals = []
    for line_number, line in enumerate(lines[1:], 2):
        cells = line.split(";")
        if not line.strip():
            continue
        if len(cells) < len(names):
            raise MalformedError(f"{where}: line {line_number}: expected {len(names)} columns, found {len(cells)}")
        chosen = [cells[index].strip() for index in columns]
        if "null" not in chosen:
            location = f"{where}: line {line_number}"
            share = utilization(row([*columns.values()], chosen, location), location)
            intervals.append(LoadInterval(cpu_utilization=share))
    if not intervals:
        raise MalformedError(f"{where}: expected lines with figures below the heading of kSar's CSV, found none")
    return Intervals(tuple(intervals), ("disks are not read from kSar's CSV: give the output of sar -d",))
