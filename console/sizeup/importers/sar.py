"""sar as text, of sysstat 8 to 12: ``-u`` for CPUs, ``-b`` for all disks together, else ``-d`` for each; kSar's CSV.

``-b`` leaves out volumes on other disks, and tells reads from writes; disks that are named are those of ``-d``.

512-byte sectors, or kB of 1,024 bytes since 11.5.7, with or without AM and PM. A file of ``sar -A`` will do: rows of
other activities are passed over. With ``--pretty`` the disk is last. ``tps`` counts discards, too, since 12.1.

What sar recorded, by ``sadf -d``, ``-p`` and ``-j``; and ``mpstat -o JSON``, whose CPUs have the same names.

``-d`` has a heading for each activity, ``-p`` a line for each figure. All CPUs together are ``-1`` in the first and
``all`` in the others. An interval of -1 is a restart or a comment. JSON has no unit in its names: ``rkB`` is ``rkB/s``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Disk, Intervals, LoadInterval, disk, of_disks, row, together, uncut, utilization
from sizeup.text import one_line

_ADVICE = "create it with LC_ALL=C sar -d -b -u"
_ALL_CPUS = frozenset({"all", "-1"})
"""As sar names all CPUs together, and as ``sadf -d`` does."""
_MPSTAT = re.compile(r"%iowait\s+%irq")
"""The order of mpstat's columns, whose line without an interval is the mean since boot."""
_LINES = "rows of sar -d, -b or -u that begin with a time such as 00:10:01, under a heading with DEV, rtps or %idle"
_LINES_OF_MPSTAT = "lines of all CPUs (mpstat 60, without -P N or -N) that begin with a time such as 00:10:01"
_TIME = re.compile(r"\d{1,2}:\d\d:\d\d$", re.ASCII)


class Found(Struct):
    """Rows of disks and CPUs, as the lines of a file give them."""

    disks: dict[tuple[int, str], list[Disk]] = {}
    """By part and time: one set of names; a time that comes again is of another day."""
    part: int = 0
    """The day or the start of the server."""
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
            one = disk(cells, name, where, _ADVICE)
            if any(other.name == name for other in self.disks.get((self.part, time), ())):
                self.part += 1
            self.disks.setdefault((self.part, time), []).append(one)

    def intervals(self, where: str, devices: tuple[str, ...], expected: str, *, whole: bool) -> Intervals:
        """Return the intervals; raise with what was ``expected`` where there is none."""
        rows = self.disks
        if not rows and not self.all_disks and not self.cpus:
            raise MalformedError(f"{where}: expected {expected}, found none; {_ADVICE}")
        if devices and not rows:
            raise MalformedError(
                f"{where}: expected the disks {', '.join(devices)}, found no sar -d, which has their names"
            )
        if self.all_disks and not devices:
            return Intervals((*self.all_disks, *self.cpus))
        disks = of_disks(rows.values(), devices, where, whole=whole)
        return replace(disks, intervals=(*disks.intervals, *self.cpus), by_disk=bool(rows))


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
            found.part += 1
        elif "tps" in cells or "%idle" in cells or cells[0] in ("CPU", "DEV"):  # a heading, of any activity
            header = cells
        elif header and cells[0] != "COM":  # a comment that somebody left in the record
            of_disk = "DEV" in (header[0], header[-1]) and "tps" in header
            if of_disk or (header[0] == "CPU" and "%idle" in header) or {"rtps", "bread/s"} <= {*header}:
                place, name = f"{where}: line {line_number}", cells[header.index("DEV") if of_disk else 0]
                found.add(row(header, cells, place), name, " ".join(words[:clock]), place)
    whole = "\nAverage:" in text[text.rfind("DEV") :]
    read = found.intervals(where, devices, _LINES_OF_MPSTAT if mpstat else _LINES, whole=whole)
    if mpstat and "Average:" not in text and len(found.cpus) == 1:
        read = replace(read, caveats=(*read.caveats, "the only line is the mean since boot: run mpstat 60"))
    return read


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


SADF_HEADING = re.compile(r"\A\s*(?:# hostname;interval;timestamp|\S+\t-?\d+\t\d[\d :+A-Z-]*\t)")
"""How ``-d`` and ``-p`` begin."""
SADF_MARKS = ('"cpu-load', '"disk-device"', '"io-reads"')
"""What the JSON of iostat does not have."""
_SADF_DISK = frozenset({"rkB/s", "rd_sec/s"})
_OF_JSON = {"idle": "%idle", **{name: f"{name}/s" for name in ("rkB", "wkB", "rd_sec", "wr_sec", "bread", "bwrtn")}}
_Rows = Iterator[tuple[Mapping[str, object], str, str, str]]
"""Cells, the disk or CPU, the time and the place in the file."""


def parse_sadf(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Return every interval; rows of other activities are passed over."""
    rows = _of_json if text.lstrip().startswith("{") else _of_table if text.lstrip().startswith("#") else _of_lines
    found = Found()
    text, cut = uncut(text, where)
    for cells, name, time, place in rows(text, where):
        if _is_read(cells):
            found.add(cells, name, time, place)
    read = found.intervals(where, devices, "rows of disks (-- -d or -b) or CPUs (-- -u)", whole=rows is _of_json)
    return replace(read, left_out=cut) if cut else read


def _is_read(names: Collection[str]) -> bool:
    """Whether columns of these names are of CPUs, of all disks together or of one disk."""
    return "%idle" in names or {"rtps", "bread/s"} <= {*names} or ("tps" in names and not _SADF_DISK.isdisjoint(names))


def _of_table(text: str, where: str) -> _Rows:
    header: list[str] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        place, cells = f"{where}: line {line_number}", line.split(";")
        if line.startswith("#"):
            header = [name.removesuffix("[...]") for name in cells]
            if "[...]" in line and _is_read(header):
                raise MalformedError(f"{place}: expected one disk or CPU in a line, found several; run sadf without -h")
        elif line.strip() and _is_read(header) and (len(cells) < 3 or cells[1] != "-1"):
            yield row(header, cells, place), cells[3], cells[2], place


def _of_lines(text: str, where: str) -> _Rows:
    found: dict[tuple[str, str, str], dict[str, object]] = {}
    places: dict[tuple[str, str, str], str] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        place, words = f"{where}: line {line_number}", line.split("\t")
        if not line.strip() or (len(words) > 1 and words[1] == "-1"):
            continue
        cells = row(("host", "interval", "time", "name", "column", "figure"), words, place)
        key = (words[0], words[2], words[3])
        places[key] = place
        found.setdefault(key, {}).setdefault(words[4], cells["figure"])
    for key, cells in found.items():
        yield cells, key[2], key[1], places[key]


def _of_json(text: str, where: str) -> _Rows:
    try:
        reports = [report for host in json.loads(text)["sysstat"]["hosts"] for report in host["statistics"]]
        for number, report in enumerate(reports, 1):
            place, time = f"{where}: statistics {number}", json.dumps(report.get("timestamp", number))
            io = report.get("io", {})
            all_disks = [{**io, **io.get("io-reads", {}), **io.get("io-writes", {})}] if io else []
            cpus = (*report.get("cpu-load", ()), *report.get("cpu-load-all", ()))
            for entry in (*cpus, *report.get("disk", ()), *all_disks):
                cells = {_OF_JSON.get(name, name): value for name, value in entry.items()}
                yield cells, str(entry.get("cpu", entry.get("disk-device", ""))), time, place
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedError(
            f"{where}: expected the output of sadf -j or mpstat -o JSON, with sysstat.hosts[].statistics[]: {error!r}"
        ) from error
