"""sar as text, of sysstat 8 to 12: ``-u`` for CPUs, ``-b`` for all disks together, else ``-d`` for each; kSar's CSV.

``-b`` leaves out volumes on other disks, and tells reads from writes; disks that are named are those of ``-d``.

512-byte sectors, or kB of 1,024 bytes since 11.5.7, with or without AM and PM. A file of ``sar -A`` will do: rows of
other activities are passed over. With ``--pretty`` the disk is last. ``tps`` counts discards, too, since 12.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import MalformedError
from sizeup.importers.columns import disk, row, utilization
from sizeup.importers.intervals import Disk, Intervals, LoadInterval, chosen, together
from sizeup.text import one_line

_ADVICE = "create it with LC_ALL=C sar -d -b -u"
_ALL_CPUS = frozenset({"all", "-1"})
"""As sar names all CPUs together, and as ``sadf -d`` does."""
_MPSTAT = re.compile(r"%iowait\s+%irq")
"""The order of mpstat's columns, whose line without an interval is the mean since boot."""
_LINES = "rows of sar -d, -b or -u that begin with a time such as 00:10:01, under a heading with DEV, rtps or %idle"
_LINES_OF_MPSTAT = "lines of all CPUs (mpstat 60, without -P N or -N) that begin with a time such as 00:10:01"
_TIME = re.compile(r"\d{1,2}:\d\d:\d\d$", re.ASCII)


class Rows:
    """The rows of one activity: one set of names for each time; a time that comes again is of another day."""

    def __init__(self) -> None:
        self.disks: dict[tuple[int, str], list[Disk]] = {}
        self._part = 0

    def restart(self) -> None:
        """Begin another day or another start of the server."""
        self._part += 1

    def add(self, time: str, disk: Disk) -> None:
        """Put a disk beside the others of its time."""
        same = self.disks.setdefault((self._part, time), [])
        if any(other.name == disk.name for other in same):
            self._part += 1
            same = self.disks.setdefault((self._part, time), [])
        same.append(disk)


class Found(Struct):
    """Rows of disks and CPUs, as the lines of a file give them."""

    disks: Rows = msgspec.field(default_factory=Rows)
    all_disks: list[LoadInterval] = []
    """By ``-b``."""
    cpus: list[LoadInterval] = []

    def add(self, cells: Mapping[str, object], name: str, time: str, where: str) -> None:
        """Put a row of ``name``, which is a disk, a CPU or neither, where its columns belong."""
        if "%idle" in cells:
            if name in _ALL_CPUS:
                self.cpus.append(LoadInterval(cpu_utilization=utilization(cells, where)))
        elif "rtps" in cells:
            self.all_disks.append(together([disk(cells, "all", where, _ADVICE)]))
        else:
            self.disks.add(time, disk(cells, name, where, _ADVICE))

    def intervals(self, where: str, devices: tuple[str, ...], expected: str) -> Intervals:
        """Return the intervals; raise with what was ``expected`` where there is none."""
        rows = self.disks.disks
        if not rows and not self.all_disks and not self.cpus:
            raise MalformedError(f"{where}: expected {expected}, found none; {_ADVICE}")
        if devices and not rows:
            raise MalformedError(
                f"{where}: expected the disks {', '.join(devices)}, found no sar -d, which has their names"
            )
        if self.all_disks and not devices:
            return Intervals((*self.all_disks, *self.cpus))
        kept, left = chosen((disk.name for report in rows.values() for disk in report), devices, where)
        disks = tuple(together(disk for disk in report if disk.name in kept) for report in rows.values())
        return Intervals((*disks, *self.cpus), left)


def parse_sar(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Every interval between the headings; averages and restarts are passed over."""
    found = Found()
    header: list[str] = []
    mpstat = _MPSTAT.search(text) is not None
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
    read = found.intervals(where, devices, _LINES_OF_MPSTAT if mpstat else _LINES)
    if mpstat and "Average:" not in text and len(found.cpus) == 1:
        read = replace(read, caveats=(*read.caveats, "the only line is the mean since boot: run mpstat 60"))
    return read


def _is_heading(cells: list[str]) -> bool:
    """Whether these are names of columns, of an activity that is read or of another."""
    return "tps" in cells or "%idle" in cells or cells[0] in ("CPU", "DEV")


def _add(found: Found, header: list[str], cells: list[str], time: str, where: str) -> None:
    """Put a row where its heading belongs."""
    of_disk = "DEV" in (header[0], header[-1]) and "tps" in header
    if of_disk or (header[0] == "CPU" and "%idle" in header) or {"rtps", "bread/s"} <= {*header}:
        values = row(header, cells, where)
        found.add(values, cells[header.index("DEV") if of_disk else 0], time, where)


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
