"""SLOB's table of runs, ``awr_info.txt``: a header and a row for each AWR report, parted by bars."""

from __future__ import annotations

import re

from sizeup.errors import MalformedError
from sizeup.interop.imported import Imported, Measured
from sizeup.model.plan import Better, Series
from sizeup.model.sample import Estimate
from sizeup.text import one_line

MARK = "|SESSIONS|"

_SESSIONS = ("sessions", "1", "Sessions")
_COLUMNS = {
    "LIO": (Series("logical-reads", "Logical reads", "1/s", Better.HIGHER, *_SESSIONS), 1.0),
    "PREADS": (Series("physical-reads", "Physical reads", "1/s", Better.HIGHER, *_SESSIONS), 1.0),
    "PWRITES": (Series("physical-writes", "Physical writes", "1/s", Better.HIGHER, *_SESSIONS), 1.0),
    "EXECUTES": (Series("executions", "Executions", "1/s", Better.HIGHER, *_SESSIONS), 1.0),
    "READ_MBS": (Series("read-rate", "Read", "bytes/s", Better.HIGHER, *_SESSIONS), 1e6),
    "WRITE_MBS": (Series("write-rate", "Written", "bytes/s", Better.HIGHER, *_SESSIONS), 1e6),
    "REDO_MBS": (Series("redo-rate", "Redo", "bytes/s", Better.HIGHER, *_SESSIONS), 1e6),
    "DFSR_LAT": (Series("sequential-read-wait", "db file sequential read", "ns", Better.LOWER, *_SESSIONS), 1e6),
    "DPR_LAT": (Series("direct-path-read-wait", "direct path read", "ns", Better.LOWER, *_SESSIONS), 1e6),
    "DFPR_LAT": (Series("parallel-read-wait", "db file parallel read", "ns", Better.LOWER, *_SESSIONS), 1e6),
    "DFPW_LAT": (Series("parallel-write-wait", "db file parallel write", "ns", Better.LOWER, *_SESSIONS), 1e6),
    "LFPW_LAT": (Series("log-write-wait", "log file parallel write", "ns", Better.LOWER, *_SESSIONS), 1e6),
}
"""The column, what it becomes, and how many base units one of it has; waits without a unit are milliseconds."""

_VALUE = re.compile(r"\s*(\d{1,15}(?:,\d{3})*(?:\.\d+)?)\s*(us|ms|ns|s)?\s*")
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def parse_slob(text: str, where: str) -> Imported:
    """Every row with its sessions; cells that are no numbers are passed over."""
    lines = [line.split("|") for line in text.splitlines() if "|" in line]
    header = next((index for index, line in enumerate(lines) if "SESSIONS" in map(str.strip, line)), None)
    if header is None:
        raise MalformedError(
            f"{where}: expected SLOB's awr_info.txt, whose first line names columns such as FILE|SESSIONS|…, found none"
        )
    names = [name.strip() for name in lines[header]]
    estimates: list[Estimate] = []
    for line in lines[header + 1 :]:
        row = dict(zip(names, line, strict=False))
        sessions = row.get("SESSIONS", "").strip()
        if sessions.isdecimal() and len(sessions) < 9:
            estimates += _row_estimates(row, int(sessions))
    if not estimates:
        raise MalformedError(f"{where}: expected rows of numbers below SLOB's header, found none")
    measured = {estimate.series for estimate in estimates}
    series = tuple(found for found, _ in _COLUMNS.values() if found.name in measured)
    step = Measured("slob", "slob", "Oracle physical I/O by SLOB", series, tuple(estimates), {}, "scaling")
    note = "AWR counts reads and writes of the instance; its waits include time queued in the host."
    return Imported("SLOB", (step,), notes=(note,))


def _row_estimates(row: dict[str, str], sessions: int) -> list[Estimate]:
    estimates = []
    source = one_line(row.get("FILE", ""), 80)
    for column, (series, scale) in _COLUMNS.items():
        match = _VALUE.fullmatch(row.get(column, ""))
        if match is not None:
            factor = _NS[match[2]] if match[2] and series.unit == "ns" else scale
            value = float(match[1].replace(",", "")) * factor
            assumed = series.unit == "ns" and not match[2]
            doubts = ("taken as milliseconds, the unit of AWR reports up to 12.1",) if assumed else ()
            extra = {"report": source} if source else {}
            estimates.append(Estimate(series.name, {"sessions": sessions}, value, doubts=doubts, extra=extra))
    return estimates
