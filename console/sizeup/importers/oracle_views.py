"""Pasted rows of ``DBA_HIST_SYSMETRIC_SUMMARY``, ``DBA_HIST_SYSSTAT`` and ``V$SYSSTAT``, as CSV or SQL*Plus columns.

The first has rates of an interval and their maximum; the others count since the instance started, so that two snapshots
make an interval, and one makes the mean since the start. The statements are in ``docs/reference/workloads.md``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import MalformedError
from sizeup.importers.awr import LICENSE, InstanceReport, storage_load, together
from sizeup.importers.awr_sections import Sections
from sizeup.importers.intervals import Intervals
from sizeup.text import one_line

HEADING = re.compile(r"\b(?:METRIC_NAME|STAT_NAME|STATISTIC#)", re.IGNORECASE)
"""A name of a column that only these views have."""
_METRICS = {
    "Physical Read Total Bytes Per Sec": ("physical read total bytes", "Bytes Per Second"),
    "Physical Write Total Bytes Per Sec": ("physical write total bytes", "Bytes Per Second"),
    "Physical Read Total IO Requests Per Sec": ("physical read total IO requests", "Requests Per Second"),
    "Physical Write Total IO Requests Per Sec": ("physical write total IO requests", "Requests Per Second"),
    "Redo Generated Per Sec": ("redo size", "Bytes Per Second"),
    "Redo Writes Per Sec": ("redo writes", "Writes Per Second"),
    "Host CPU Utilization (%)": ("host cpu", "% Busy/(Idle+Busy)"),
}
"""Each metric as the statistic that it is the rate of, and its unit."""
_NEEDED = frozenset(statistic for statistic, _ in _METRICS.values()) - {"host cpu"}
_MORE = frozenset({"physical read total multi block requests", "physical reads", "physical read bytes"})
_BLOCKS = frozenset({2048, 4096, 8192, 16384, 32768})
_COLUMNS = {
    "name": ("METRIC_NAME", "STAT_NAME", "NAME"),
    "value": ("AVERAGE", "VALUE"),
    "time": ("END_TIME", "END_INTERVAL_TIME", "SNAP_TIME"),
}
_PLAIN = re.compile(r"\d{1,30}(?:\.\d{0,40})?|\.\d{1,40}", re.ASCII)
_EXPONENT = re.compile(rf"(?:{_PLAIN.pattern})(?:E[+-]?\d{{1,2}})?", re.ASCII)
_RULE = re.compile(r"\s*-+(?: +-+)*\s*")
_PROMPT = re.compile(r"SQL>|\s*\d+ rows? selected")
_INPUT = re.compile(r"\s+\d{1,3}  ")
"""A further line of a statement."""
_LONGEST = 4000
_ADVICE = "use the statements of: sizeup help workloads"


class _Row(Struct, frozen=True):
    cells: Mapping[str, str]
    where: str

    def get(self, *names: str) -> str:
        return next((self.cells[name] for name in names if name in self.cells), "")

    def number(self, column: str, form: re.Pattern[str]) -> float:
        cell = self.get(*_COLUMNS.get(column, (column,)))
        if not form.fullmatch(cell):
            raise MalformedError(
                f"{self.where}: {column}: expected a number such as 1234.5 with all its digits, found "
                f"{one_line(cell, 24)!r}; set numwidth 24 and NLS_NUMERIC_CHARACTERS='.,', or {_ADVICE}"
            )
        return float(cell)

    def time(self, *names: str) -> datetime:
        cell = self.get(*names)
        try:
            return datetime.fromisoformat(cell).replace(tzinfo=None)
        except ValueError:
            raise MalformedError(
                f"{self.where}: {names[0]}: expected a time such as 2026-11-24 13:00:00, found "
                f"{one_line(cell, 32)!r}; {_ADVICE}"
            ) from None


class _InstanceCounters(Struct):
    """The statistics of one instance at one time: counters, or rates of the interval that ended then."""

    instance: str
    time: datetime
    snapshot: str
    """Its number; empty in ``V$SYSSTAT``."""
    startup: datetime | None
    row: _Row
    """The last one, for errors."""
    values: dict[str, float]
    peaks: dict[str, float]


def parse_views(files: Sequence[tuple[str, str]]) -> Intervals:
    """Return one interval for each pair of snapshots, instances of a cluster together; ``files`` are text and name."""
    where = ", ".join(name for _, name in files)
    rows = [row for text, name in files for row in _rows(text, name)]
    rates = _snapshots([row for row in rows if "METRIC_NAME" in row.cells], _METRICS)
    counters = _snapshots([row for row in rows if "METRIC_NAME" not in row.cells], {})
    if not rates and not counters:
        names = ", ".join(sorted(_NEEDED))
        raise MalformedError(f"{where}: expected rows of {names}, or metrics of their rates, found none; {_ADVICE}")
    caveats = [] if not rates and all(not one.snapshot for one in counters) else [LICENSE]
    rates += list(_differences(counters, caveats, where))
    instances = {one.instance for one in rates}
    reports = [_report(one, one.values, cluster=len(instances) > 1) for one in rates]
    intervals, of_clusters, one_instance = together(reports)
    peaks = [
        _report(one, one.peaks, cluster=len(instances) > 1) for one in rates if one.values.keys() == one.peaks.keys()
    ]
    return Intervals(
        tuple(intervals),
        (*caveats, *of_clusters),
        tuple(stated for report in reports for stated in report.stated),
        tuple(dict.fromkeys(remark for report in reports for remark in report.remarks)),
        one_instance=one_instance,
        peaks=tuple(together(peaks)[0]) if peaks else (),
    )


def _rows(text: str, name: str) -> Iterator[_Row]:
    """Rows below a heading in CSV, or in columns under a rule of dashes, without what SQL*Plus says between them."""
    header: list[str] = []
    spans: list[tuple[int, int]] = []
    lines = [line.expandtabs() for line in text.splitlines()]
    for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        where = f"{name}: line {number}"
        if below.strip() and _RULE.fullmatch(below):
            spans = [match.span() for match in re.finditer(r"-+", below)]
            cells = [line[start:end].strip() for start, end in spans]
        elif not line.strip() or _RULE.fullmatch(line) or _PROMPT.match(line) or (not spans and _INPUT.match(line)):
            continue
        elif spans:
            cells = [line[start:end].strip() for start, end in spans]
        else:
            cells = [cell.strip() for cell in next(csv.reader([line[:_LONGEST]]))]
        if {"METRIC_NAME", "STAT_NAME", "STATISTIC#"} & {cell.upper() for cell in cells}:
            header = [cell.upper() for cell in cells]
            found = one_line(", ".join(header), 80)
            for columns in _COLUMNS.values():
                if not {*columns} & {*header}:
                    raise MalformedError(
                        f"{where}: expected a column {columns[-1]}, found {found}; set linesize 300, or {_ADVICE}"
                    )
        elif header and (spans or len(cells) > 1):
            if len(cells) != len(header):
                raise MalformedError(f"{where}: expected {len(header)} columns, found {len(cells)}; {_ADVICE}")
            yield _Row(dict(zip(header, cells, strict=True)), where)


def _snapshots(rows: Sequence[_Row], metrics: Mapping[str, tuple[str, str]]) -> list[_InstanceCounters]:
    """Rows by instance and time, in that order; every one must have the same statistics."""
    found: dict[tuple[str, datetime], _InstanceCounters] = {}
    for row in rows:
        name, unit = metrics.get(row.get(*_COLUMNS["name"]), (row.get(*_COLUMNS["name"]), ""))
        if name not in _NEEDED | _MORE | {"host cpu"}:
            continue
        if unit and row.get("METRIC_UNIT") not in ("", unit):
            raise MalformedError(f"{row.where}: {name}: expected the unit {unit}, found {row.get('METRIC_UNIT')!r}")
        time = row.time(*_COLUMNS["time"])
        startup = row.time("STARTUP_TIME") if row.get("STARTUP_TIME") else None
        instance = row.get("INSTANCE_NUMBER", "INST_ID") or "1"
        here = found.setdefault(
            (instance, time), _InstanceCounters(instance, time, row.get("SNAP_ID"), startup, row, {}, {})
        )
        value = row.number("value", _EXPONENT if metrics else _PLAIN)
        if here.values.setdefault(name, value) != value or here.startup != startup:
            raise MalformedError(
                f"{row.where}: {name}: expected one value of instance {instance} at {time}, found "
                f"{here.values[name]:g} and {value:g}, or two times of its start; give rows of one database"
            )
        if row.get("MAXVAL"):
            here.peaks[name] = row.number("MAXVAL", _EXPONENT)
        here.row = row
    every = {name for one in found.values() for name in one.values}
    for one in found.values():
        missing = (every | _NEEDED) - one.values.keys()
        if missing:
            raise MalformedError(
                f"{one.row.where}: expected {', '.join(sorted(missing))} of instance {one.instance} at {one.time}, "
                f"found none: the rows are cut, or others were selected; {_ADVICE}"
            )
    return [found[key] for key in sorted(found)]


def _differences(counters: Sequence[_InstanceCounters], caveats: list[str], where: str) -> Iterator[_InstanceCounters]:
    """Rates between the snapshots of each instance; an interval in which it restarted is left out, with a caveat."""
    for instance in dict.fromkeys(one.instance for one in counters):
        of_one = [one for one in counters if one.instance == instance]
        if len(of_one) == 1 and of_one[0].startup is not None:
            start = _InstanceCounters(instance, of_one[0].startup, "", of_one[0].startup, of_one[0].row, {}, {})
            of_one.insert(0, start)
            caveats.append(f"instance {instance}: the mean since its start at {start.time}: take two snapshots")
        kept = 0
        for before, after in pairwise(of_one):
            if before.snapshot.isdecimal() and int(before.snapshot) >= int(after.snapshot or 0):
                raise MalformedError(
                    f"{after.row.where}: expected a snapshot after {before.snapshot}, taken at {before.time}, found "
                    f"{after.snapshot} at {after.time}"
                )
            deltas = {name: value - before.values.get(name, 0.0) for name, value in after.values.items()}
            seconds = (after.time - before.time).total_seconds()
            shrunk = [name for name, delta in deltas.items() if delta < 0]
            if shrunk and before.startup is not None and before.startup == after.startup:
                raise MalformedError(
                    f"{after.row.where}: {shrunk[0]}: expected at least {before.values[shrunk[0]]:.0f}, as at "
                    f"{before.time} with the same STARTUP_TIME, found {after.values[shrunk[0]]:.0f}"
                )
            if before.startup != after.startup or shrunk or seconds <= 0:
                caveats.append(f"instance {instance} restarted between {before.time} and {after.time}: left out")
                continue
            kept += 1
            yield replace(after, values={name: delta / seconds for name, delta in deltas.items()})
        if not kept:
            raise MalformedError(
                f"{where}: instance {instance}: expected two snapshots without a restart between them, or one with "
                f"STARTUP_TIME, found {', '.join(str(one.time) for one in of_one)}; {_ADVICE}"
            )


def _report(one: _InstanceCounters, rates: Mapping[str, float], *, cluster: bool) -> InstanceReport:
    block = rates["physical read bytes"] / rates["physical reads"] if rates.get("physical reads") else 0.0
    sections = Sections.of_rates(rates)
    interval, stated, remarks = storage_load(
        sections, {}, rates["redo size"], block if block in _BLOCKS else None, one.row.where
    )
    cpu = rates.get("host cpu")
    interval = replace(interval, cpu_utilization=None if cpu is None else min(cpu / 100, 1.0))
    return InstanceReport(interval, (one.snapshot or str(one.time),), one.instance, cluster, stated, tuple(remarks))
