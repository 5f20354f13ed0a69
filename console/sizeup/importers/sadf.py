"""What sar recorded, by ``sadf -d``, ``-p`` and ``-j``; and ``mpstat -o JSON``, whose CPUs have the same names.

``-d`` has a heading for each activity, ``-p`` a line for each figure. All CPUs together are ``-1`` in the first and
``all`` in the others. An interval of -1 is a restart or a comment. JSON has no unit in its names: ``rkB`` is ``rkB/s``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping

from sizeup.errors import MalformedError
from sizeup.importers.columns import row
from sizeup.importers.intervals import Intervals
from sizeup.importers.sar import Found

HEADING = re.compile(r"\A\s*(?:# hostname;interval;timestamp|\S+\t-?\d+\t\d[\d :+A-Z-]*\t)")
"""How ``-d`` and ``-p`` begin."""
MARKS = ('"cpu-load', '"disk-device"', '"io-reads"')
"""What the JSON of iostat does not have."""
_DISK = frozenset({"rkB/s", "rd_sec/s"})
_OF_JSON = {"idle": "%idle", **{name: f"{name}/s" for name in ("rkB", "wkB", "rd_sec", "wr_sec", "bread", "bwrtn")}}
_Rows = Iterator[tuple[Mapping[str, object], str, str, str]]
"""Cells, the disk or CPU, the time and the place in the file."""


def parse_sadf(text: str, where: str, devices: tuple[str, ...] = ()) -> Intervals:
    """Return every interval; rows of other activities are passed over."""
    rows = _of_json if text.lstrip().startswith("{") else _of_table if text.lstrip().startswith("#") else _of_lines
    found = Found()
    for cells, name, time, place in rows(text, where):
        if _is_read(cells):
            found.add(cells, name, time, place)
    return found.intervals(where, devices, "rows of disks (-- -d or -b) or CPUs (-- -u)")


def _is_read(names: Collection[str]) -> bool:
    """Whether columns of these names are of CPUs, of all disks together or of one disk."""
    return "%idle" in names or {"rtps", "bread/s"} <= {*names} or ("tps" in names and not _DISK.isdisjoint(names))


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
