"""The CSV that kSar exports from sar: semicolons between columns, of which those of all CPUs are read.

By its source (``FileCSV.java``, ``Graph.java``) a column is named by its graph and sar's column: ``CPU all %idle``. A
cell is ``null`` where sar has no figure.
"""

from __future__ import annotations

import re

from sizeup.errors import MalformedError
from sizeup.importers.columns import row, utilization
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.text import one_line

HEADING = re.compile(r"Date;[^\n]*;")
"""How the first line begins and what it holds."""
_COLUMN = re.compile(r"(?:.*\s)?all\s+(%\S+)")


def parse_ksar(text: str, where: str) -> Intervals:
    """Every line whose columns of all CPUs are known."""
    lines = text.splitlines()
    names = lines[0].split(";")
    columns = {index: match[1] for index, name in enumerate(names) if (match := _COLUMN.fullmatch(name.strip()))}
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
