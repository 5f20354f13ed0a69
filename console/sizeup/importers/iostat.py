"""``iostat`` of sysstat 8 to 12.7: text of all layouts, or ``-o JSON``; in kB, MB or sectors, with or without ``-x``.

The total of a group (``-g``) is set in by a space, and counts its disks a second time.

Refused in words: ``-s`` (reads and writes are not told apart) and ``-h`` or ``--human`` (rounded figures with units).

``vmstat`` of procps: the utilization of all CPUs in each interval. The first line is the mean since boot. ``bi`` and
``bo`` are not read: they count page cache traffic of all block devices, and no requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Disk, Intervals, LoadInterval, disk, of_disks, row, uncut, utilization

HEADING = re.compile(r"^(?:Device:?\s.*|.*\s(?:tps|w/s)\s.*\sDevice:?\s*)$|^avg-cpu:\s", re.MULTILINE)
"""A line that only iostat's text has."""
_ADVICE = "run iostat without -s and --pretty"


def parse_iostat(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Every report but the first of several, which is the mean since boot and no interval."""
    is_json = text.lstrip().startswith("{")
    text, cut = uncut(text, where)
    disks, cpus = _of_json(text, where) if is_json else _of_text(text, where)
    if not disks and not cpus:
        raise MalformedError(f"{where}: expected at least one report on disks or CPUs, found none")
    if disks and not any(disks):
        raise MalformedError(f"{where}: expected disks, found totals of groups alone; run iostat without -H")
    # An empty line ends each report of text.
    found, first = of_disks(disks, devices, where, whole=is_json or text.endswith(("\n\n", "\n\r\n"))), ""
    intervals = found.intervals
    if max(len(intervals), len(cpus)) > 1:
        intervals, cpus, first = intervals[1:], cpus[1:], "the first report"
        caveat = "the first report was left out: it is the mean since boot (unless iostat ran with -y)"
    else:
        caveat = "the only report is the mean since boot (unless iostat ran with -y)"
    busy = (LoadInterval(cpu_utilization=share) for share in cpus)
    left_out = " and ".join(filter(None, (first, cut, found.left_out)))
    return Intervals((*intervals, *busy), (caveat, *found.caveats), left_out=left_out, remarks=found.remarks)


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
    named = [[(str(entry.get("disk_device", "?")), entry) for entry in report] for report in disks]
    # A group of disks, by -g, is set in.
    found = [[_disk(entry, name, where) for name, entry in report if name[:1] != " "] for report in named]
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
            cpus.append(utilization(row(cpu_header, words, location), location))
            cpu_header = []
        elif "Device" in (words[0].rstrip(":"), words[-1].rstrip(":")):
            header = [word.rstrip(":") for word in words]
            disks.append([])
        elif header and not (line[:1].isspace() if header[0] == "Device" else re.search(r"\s\s\S+\s*$", line)):
            # A group of disks, by -g, is set in.
            cells = row(header, words, location)
            disks[-1].append(_disk(cells, words[header.index("Device")], location))
    return disks, cpus


def _disk(cells: Mapping[str, object], name: str, where: str) -> Disk:
    return disk(cells, name, f"{where}: {name}", _ADVICE)


VMSTAT_HEADING = re.compile(r"^\s*-*procs-*\s+-+memory-+", re.MULTILINE)
"""The line above the names of the columns, narrow or wide."""


def parse_vmstat(text: str, where: str) -> Intervals:
    """Every line but the first of several."""
    header: list[str] = []
    shares: list[float] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if {"r", "us", "id"} <= set(words):
            # Behind idle: waiting and stolen time, time of guests; then a time zone.
            idle = words.index("id") + 1
            header = words[: idle + sum(word in ("wa", "st", "gu") for word in words[idle:])]
        elif header and words and words[0].isdecimal():
            location = f"{where}: line {line_number}"
            shares.append(utilization(row(header, words[: len(header)], location), location))
    if not shares:
        raise MalformedError(
            f"{where}: expected lines of vmstat below the names of its columns (r b swpd … us sy id wa st), found "
            "none; run vmstat 60 without -d, -p or -s"
        )
    if len(shares) > 1:
        shares = shares[1:]
        caveat = "the first line was left out: it is the mean since boot"
    else:
        caveat = "the only line is the mean since boot: run vmstat 60"
    return Intervals(tuple(LoadInterval(cpu_utilization=share) for share in shares), (caveat,))
