"""SLOB's table of runs, ``awr_info.txt``: a header and a row for each AWR report, separated by bars.

The units are those of ``misc/awr_info.sh``: it divides bytes by 2^20 and prints the mean of a wait as total seconds
over waits, times 10^6, without decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sizeup.decoding import data_beside
from sizeup.errors import MalformedError
from sizeup.importers.imported import Imported, ImportedStep
from sizeup.model.plan import Series
from sizeup.model.sample import Estimate
from sizeup.text import one_line

MARK = "|SESSIONS|"

_MEBIBYTE = 1048576.0
_MICROSECOND = 1e3
_KINDS: Mapping[str, Mapping[str, Series]] = data_beside(__file__, "slob_columns.toml", dict[str, dict[str, Series]])
_COLUMNS, _WAITS = _KINDS["figures"], _KINDS["waits"]
"""By the name of a column, the series that it becomes."""

_VALUE = re.compile(r"\d{0,15}(?:\.\d{1,15})?")  # bc leaves out the zero in front: ".5"
_NOTE = (
    "SLOB's awr_info counts MiB/s and microseconds; its waits include time queued in the host, and AWR gives the total "
    "time of an event in whole seconds."
)
_SESSIONS = "awr_info takes the number of sessions from the end of the report's name, such as awr.txt.16"


def parse_slob(text: str, where: str) -> Imported:
    """Every row by its number of sessions; a further row of as many sessions is another round."""
    lines = [line.split("|") for line in text.splitlines() if "|" in line]
    header = next((index for index, line in enumerate(lines) if "SESSIONS" in map(str.strip, line)), None)
    if header is None:
        raise MalformedError(
            f"{where}: expected SLOB's awr_info.txt, whose first line names columns such as FILE|SESSIONS|…, found none"
        )
    names = [name.strip() for name in lines[header]]
    rounds: list[dict[int, tuple[Estimate, ...]]] = []
    notes: dict[str, None] = {_NOTE: None}
    for line in lines[header + 1 :]:
        row = {name: cell.strip() for name, cell in zip(names, line, strict=False)}
        counted = row.get("SESSIONS", "")
        if not counted.isdecimal() or len(counted) > 8:
            report = one_line(row.get("FILE", ""), 80) or "A row without a name"
            notes[f"{report}: left out, because its number of sessions is unknown: {_SESSIONS}."] = None
            continue
        sessions = int(counted)
        notes |= dict.fromkeys(_left_out(row, sessions))
        free = next((one for one in rounds if sessions not in one), None)
        if free is None:
            rounds.append(free := {})
        free[sessions] = tuple(_estimates(row, sessions))
    steps = []
    for one in rounds:
        estimates = tuple(estimate for row in one.values() for estimate in row)
        measured = {estimate.series for estimate in estimates}
        series = tuple(known for known in (*_COLUMNS.values(), *_WAITS.values()) if known.name in measured)
        step = ImportedStep("slob", "slob", "Oracle physical I/O by SLOB", series, estimates, {}, "scaling")
        steps += [step] if estimates else []
    if not steps:
        raise MalformedError(f"{where}: expected rows of numbers below SLOB's header, found none; {_SESSIONS}")
    return Imported("SLOB", tuple(steps), notes=tuple(notes))


def _estimates(row: Mapping[str, str], sessions: int) -> Iterator[Estimate]:
    report = one_line(row.get("FILE", ""), 80)
    extra = {"report": report} if report else {}
    at = {"sessions": sessions}
    for column, series in _COLUMNS.items():
        if _VALUE.fullmatch(cell := row.get(column, "")) and cell:
            scale = _MEBIBYTE if series.unit == "bytes/s" else 1.0
            yield Estimate(series.name, at, float(cell) * scale, extra=extra)
    for column, series in _WAITS.items():
        if _is_wait(cell := row.get(column, "")) and int(cell):
            yield Estimate(series.name, at, int(cell) * _MICROSECOND, extra=extra)


def _is_wait(cell: str) -> bool:
    return cell.isdecimal() and len(cell) <= 15


def _left_out(row: Mapping[str, str], sessions: int) -> Iterator[str]:
    """What of a row is unknown, and why."""
    where = f"{one_line(row.get('FILE', ''), 80) or 'a report'} ({sessions} sessions)"
    unknown = [
        series.title
        for column, series in _WAITS.items()
        if column in row and (not row[column] or (_is_wait(row[column]) and not int(row[column])))
    ]
    if unknown:
        yield f"{where}: wait unknown, because awr_info found no such event in the report: {', '.join(unknown)}."
    for column in (*_COLUMNS, *_WAITS):
        cell = row.get(column, "")
        known = _is_wait(cell) if column in _WAITS else _VALUE.fullmatch(cell)
        if cell and not known:
            what = "a whole number of microseconds" if column in _WAITS else "a number"
            yield f"{where}: {column} left out: expected {what}, as awr_info prints it, found {one_line(cell, 24)!r}."
