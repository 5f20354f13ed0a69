"""AWR and Statspack reports as text: the load profile of each report is one interval.

``Read IO (MB)`` is MiB: reports have, beside each other, 67,416.6 blocks of 8 KiB and 526.7 MB a second.
"""

from __future__ import annotations

import re

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.text import one_line

_REPORT = re.compile(r"^.*(?:WORKLOAD REPOSITORY|STATSPACK)\s+report", re.IGNORECASE | re.MULTILINE)
_PROFILE = re.compile(r"^Load Profile\b.*$", re.MULTILINE)
_LINE = re.compile(r"^\s*([A-Z][A-Za-z ]+?(?:\s*\([A-Za-z]+\))?):\s+(\S+)")
_NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,18})(?:\.\d{1,18})?(?:E[+-]?\d{1,2})?", re.ASCII)
_BLOCK = re.compile(r"(?:Std Block Size|Block size)\s*:?\s*([\d,]+)\s*(K?)", re.IGNORECASE)
_NEEDED = ("redo size", "physical read", "physical write", "read io", "write io")
"""How the lines begin that are read."""
_PROFILE_LINES = 40
"""The profile is shorter than this in every known version."""


def parse_awr(text: str, where: str) -> Intervals:
    """One interval a report; a file may hold several.

    Reports since 11.2.0.4 count I/O requests and MB by themselves; earlier ones and Statspack count
    blocks, which become bytes by the report's block size, and their requests stay unknown.
    """
    starts = [match.start() for match in _REPORT.finditer(text)]
    if not starts:
        raise MalformedError(f"{where}: expected 'WORKLOAD REPOSITORY report' or 'STATSPACK report', found neither")
    ends = [*starts[1:], len(text)]
    reports = [_report(text[start:end], where) for start, end in zip(starts, ends, strict=True)]
    caveats = ("AWR is part of the Diagnostics Pack and needs its license",) if "WORKLOAD REPOSITORY" in text else ()
    return Intervals(tuple(reports), caveats)


def _report(text: str, where: str) -> LoadInterval:
    heading = _PROFILE.search(text)
    if heading is None:
        raise MalformedError(f"{where}: expected a section 'Load Profile', found none; is it HTML?")
    if "Per Second" not in heading.group() and "Per Second" not in text[heading.end() : heading.end() + 200]:
        raise MalformedError(f"{where}: Load Profile: expected a first column 'Per Second', found {heading.group()!r}")
    cells = {
        match[1].strip().lower(): match[2]
        for line in text[heading.end() :].splitlines()[:_PROFILE_LINES]
        if (match := _LINE.match(line))
    }
    for name, cell in cells.items():
        if name.startswith(_NEEDED) and not _NUMBER.fullmatch(cell):
            raise MalformedError(
                f"{where}: Load Profile: {name}: expected a number such as 1,234.5, found {one_line(cell, 24)!r}; "
                "reports in other notations: set NLS_NUMERIC_CHARACTERS='.,' and create the report again"
            )
    figures = {name: float(cell.replace(",", "")) for name, cell in cells.items() if _NUMBER.fullmatch(cell)}
    redo = figures.get("redo size (bytes)", figures.get("redo size"))
    if redo is None:
        raise MalformedError(
            f"{where}: Load Profile: expected a line 'Redo size', found {', '.join(figures) or 'none'}"
        )
    if "read io (mb)" in figures and "write io (mb)" in figures:
        moved = (figures["read io (mb)"] + figures["write io (mb)"]) * 1048576
    else:
        moved = _from_blocks(figures, text, where)
    reads, writes = figures.get("read io requests"), figures.get("write io requests")
    requests = None if reads is None or writes is None else reads + writes
    share = reads / requests if reads is not None and requests else None
    return LoadInterval(moved, requests, share, redo)


def _from_blocks(figures: dict[str, float], text: str, where: str) -> float:
    """Bytes a second from physical reads and writes, which are blocks."""
    reads = figures.get("physical read (blocks)", figures.get("physical reads"))
    writes = figures.get("physical write (blocks)", figures.get("physical writes"))
    if reads is None or writes is None:
        raise MalformedError(f"{where}: Load Profile: expected physical reads and writes, found {', '.join(figures)}")
    size = _BLOCK.search(text)
    if size is None:
        raise MalformedError(f"{where}: expected 'Std Block Size' to turn blocks into bytes, found none")
    return (reads + writes) * float(size[1].replace(",", "")) * (1024 if size[2] else 1)
