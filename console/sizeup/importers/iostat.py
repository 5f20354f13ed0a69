"""``iostat`` of sysstat 8 to 12.7: text of all layouts, or ``-o JSON``; in kB, MB or sectors, with or without ``-x``.

Refused in words: ``-s`` (reads and writes are not told apart) and ``-h`` or ``--human`` (rounded figures with units).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sizeup.errors import MalformedError
from sizeup.importers.cpu_columns import row, utilization
from sizeup.importers.intervals import Disk, Intervals, LoadInterval, chosen, number, together

HEADING = re.compile(r"^(?:Device:?\s.*|.*\s(?:tps|w/s)\s.*\sDevice:?\s*)$|^avg-cpu:\s", re.MULTILINE)
"""A line that only iostat's text has."""
_UNITS = {"kB": 1024.0, "MB": 1048576.0, "sec": 512.0, "Blk": 512.0}
"""sysstat divides sectors of 512 bytes by 2 and by 2,048; without a unit (POSIXLY_CORRECT) it prints the sectors."""


def parse_iostat(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Every report but the first of several, which is the mean since boot and no interval."""
    disks, cpus = _of_json(text, where) if text.lstrip().startswith("{") else _of_text(text, where)
    count = max(len(disks), len(cpus))
    if not count:
        raise MalformedError(f"{where}: expected at least one report on disks or CPUs, found none")
    if count > 1:
        disks, cpus = disks[1:], cpus[1:]
        caveat = "the first report was left out: it is the mean since boot (unless iostat ran with -y)"
    else:
        caveat = "the only report is the mean since boot (unless iostat ran with -y)"
    kept, left = chosen((disk.name for report in disks for disk in report), devices, where)
    intervals = [together(disk for disk in report if disk.name in kept) for report in disks]
    intervals += [LoadInterval(cpu_utilization=share) for share in cpus]
    return Intervals(tuple(intervals), (caveat, *left), left_out="the first report" if count > 1 else "")


_Reports = tuple[Sequence[Sequence[Disk]], Sequence[float]]
"""The disks of each report, and the utilization of the CPUs."""


def _of_json(text: str, where: str) -> _Reports:
    try:
        reports = [report for host in json.loads(text)["sysstat"]["hosts"] for report in host["statistics"]]
        disks = [[dict(entry) for entry in report["disk"]] for report in reports if "disk" in report]
        cpus = [dict(report["avg-cpu"]) for report in reports if "avg-cpu" in report]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedError(
            f"{where}: expected the output of iostat -o JSON, with sysstat.hosts[].statistics[].disk[]: {error!r}; "
            "up to sysstat 11.5.1 it needs LC_ALL=C, or writes decimal commas, which are no JSON"
        ) from error
    if not disks:
        raise MalformedError(f"{where}: expected at least one report on disks, found none; run iostat without -c")
    found = [[_disk(entry, where) for entry in report] for report in disks]
    return found, [utilization(entry, f"{where}: avg-cpu") for entry in cpus if "idle" in entry]


def _of_text(text: str, where: str) -> _Reports:
    disks: list[list[Disk]] = []
    cpus: list[float] = []
    header: list[str] = []
    cpu_header: list[str] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        location = f"{where}: line {line_number}"
        if not words or words[0] == "Linux":
            header, cpu_header = [], []
        elif words[0] == "avg-cpu:":
            cpu_header = words[1:]
        elif cpu_header:
            cells = [word.removesuffix("%") for word in words]
            _check(cells, cpu_header, location)
            cpus.append(utilization(row(cpu_header, cells), location))
            cpu_header = []
        elif "Device" in (words[0].rstrip(":"), words[-1].rstrip(":")):
            header = [word.rstrip(":") for word in words]
            disks.append([])
        elif header and not (header[0] == "Device" and line[:1].isspace()):  # a group of disks, by -g, is set in
            _check(words, header, location)
            disks[-1].append(_disk({**row(header, words), "disk_device": words[header.index("Device")]}, location))
    return disks, cpus


def _check(cells: Sequence[str], header: Sequence[str], where: str) -> None:
    if len(cells) != len(header):
        raise MalformedError(f"{where}: expected {len(header)} columns, found {len(cells)}")
    human = next((cell for cell in cells if re.fullmatch(r"[\d.,]+[kMGTPE]", cell)), None)
    if human is not None:
        raise MalformedError(f"{where}: expected plain figures, found {human!r}; run iostat without -h or --human")


def _disk(row: dict[str, Any], where: str) -> Disk:
    name = str(row.get("disk_device", "?"))
    location = f"{where}: {name}"
    for unit, scale in _UNITS.items():
        if {"r/s", "w/s", f"r{unit}/s", f"w{unit}/s"} <= row.keys():
            reads, writes = number(row, "r/s", location), number(row, "w/s", location)
            read, written = number(row, f"r{unit}/s", location), number(row, f"w{unit}/s", location)
            return Disk(name, reads + writes, read * scale, written * scale, reads)
        if {"tps", f"{unit}_read/s", f"{unit}_wrtn/s"} <= row.keys():
            read, written = number(row, f"{unit}_read/s", location), number(row, f"{unit}_wrtn/s", location)
            return Disk(name, number(row, "tps", location), read * scale, written * scale)
    raise MalformedError(
        f"{location}: expected columns such as r/s, w/s, rkB/s and wkB/s, or tps, kB_read/s and kB_wrtn/s, found "
        f"{', '.join(str(column) for column in row if column != 'disk_device')}; run iostat without -s and --pretty"
    )
