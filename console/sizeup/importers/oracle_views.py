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

from sizeup.decoding import data_beside
from sizeup.errors import MalformedError
from sizeup.importers.awr import LICENSE, InstanceReport, add_up, storage_load
from sizeup.importers.awr_sections import Sections
from sizeup.importers.intervals import Intervals
from sizeup.text import one_line

HEADING = re.compile(r"\b(?:METRIC_NAME|STAT_NAME|STATISTIC#)", re.IGNORECASE)
"""A name of a column that only these views have."""
_METRICS: Mapping[str, tuple[str, str]] = data_beside(__file__, "oracle_metrics.toml", dict[str, tuple[str, str]])
_NEEDED = frozenset(statistic for statistic, _ in _METRICS.values()) - {"host cpu"}
_MORE = frozenset({"physical read total multi block requests", "physical reads", "physical read bytes"})
_READ = _NEEDED | _MORE | {"host cpu"}
_BLOCKS = (2048, 4096, 8192, 16384, 32768)
_NOT_AT_ONCE = 0.01
"""Counters are read one after the other, so that their ratio is not exact."""
_COLUMNS = {
    "name": ("METRIC_NAME", "STAT_NAME", "NAME"),
    "value": ("AVERAGE", "VALUE"),
    "time": ("END_TIME", "END_INTERVAL_TIME", "SNAP_TIME"),
    "instance": ("INSTANCE_NUMBER", "INST_ID"),
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
    """A counter of an instance at a time, or the rate of a metric in the interval that ended then."""

    name: str
    value: float
    peak: float | None
    time: datetime
    startup: datetime | None
    instance: str
    snapshot: float | None
    """Its number; None in ``V$SYSSTAT``."""
    is_rate: bool
    where: str


def parse_views(files: Sequence[tuple[str, str]]) -> Intervals:
    """Return one interval for each pair of snapshots, instances of a cluster together; ``files`` are text and name."""
    where = ", ".join(name for _, name in files)
    rows = [row for text, name in files for row in _rows(text, name)]
    if not rows:
        raise _refused(where, f"rows of {', '.join(sorted(_NEEDED))}, or metrics of their rates", "none")
    caveats = [LICENSE] if any(row.is_rate or row.snapshot is not None for row in rows) else []
    metrics = _snapshots([row for row in rows if row.is_rate])
    counters = _snapshots([row for row in rows if not row.is_rate])
    rates = [*metrics, *_differences(counters, caveats, where)]
    cluster = len({found["redo size"].instance for found in rates}) > 1
    peaks = [
        {name: replace(row, value=row.peak) for name, row in found.items() if row.peak is not None} for found in metrics
    ]
    largest = [_report(found, cluster=cluster) for found in peaks if found.keys() >= _NEEDED]
    found = add_up([_report(found, cluster=cluster) for found in rates], caveats)
    return replace(found, peaks=add_up(largest, ()).intervals) if largest else found


def _rows(text: str, name: str) -> Iterator[_Row]:
    """Rows below a heading in CSV, or in columns under a rule of dashes, without what SQL*Plus says between them."""
    header: list[str] = []
    spans: list[tuple[int, int]] = []
    lines = [line.expandtabs() for line in text.splitlines()]
    for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        where = f"{name}: line {number}"
        if below.strip() and _RULE.fullmatch(below):
            spans = [match.span() for match in re.finditer(r"-+", below)]
        elif not line.strip() or _RULE.fullmatch(line) or _PROMPT.match(line) or (not spans and _INPUT.match(line)):
            continue
        cells = [line[start:end] for start, end in spans] or next(csv.reader([line[:_LONGEST]]))
        cells = [cell.strip() for cell in cells]
        names = [cell.upper() for cell in cells]
        if {"METRIC_NAME", "STAT_NAME", "STATISTIC#"} & {*names}:
            header = names
            for column in ("name", "value", "time"):
                if not {*_COLUMNS[column]} & {*names}:
                    raise _refused(where, f"a column {_COLUMNS[column][-1]}", ", ".join(names), "set linesize 300, or ")
        elif header and (spans or len(cells) > 1):
            if len(cells) != len(header):
                raise _refused(where, f"{len(header)} columns", str(len(cells)))
            yield from _row(dict(zip(header, cells, strict=True)), where)


def _row(cells: Mapping[str, str], where: str) -> Iterator[_Row]:
    """Return the row, if its statistic is read."""
    name, value, time, instance = (
        next((cells[one] for one in columns if one in cells), "") for columns in _COLUMNS.values()
    )
    is_rate = "METRIC_NAME" in cells
    statistic, unit = _METRICS.get(name, ("", "")) if is_rate else (name, "")
    if statistic not in _READ:
        return
    if unit and cells.get("METRIC_UNIT", unit) != unit:
        raise _refused(where, f"the unit {unit} of {name}", cells["METRIC_UNIT"])
    form = _EXPONENT if is_rate else _PLAIN
    peak, start, snapshot = map(cells.get, ("MAXVAL", "STARTUP_TIME", "SNAP_ID"))
    yield _Row(
        statistic, _number(value, form, where), _number(peak, form, where) if peak else None, _time(time, where),
        _time(start, where) if start else None, instance or "1", _number(snapshot, _PLAIN, where) if snapshot else None,
        is_rate, where,
    )  # fmt: skip


def _refused(where: str, expected: str, found: str, first: str = "") -> MalformedError:
    return MalformedError(f"{where}: expected {expected}, found {one_line(found, 120)}; {first}{_ADVICE}")


def _number(cell: str, form: re.Pattern[str], where: str) -> float:
    if not form.fullmatch(cell):
        settings = "set numwidth 24 and NLS_NUMERIC_CHARACTERS='.,', or "
        raise _refused(where, "a number such as 1234.5 with all its digits", repr(cell[:24]), settings)
    return float(cell)


def _time(cell: str, where: str) -> datetime:
    try:
        return datetime.fromisoformat(cell).replace(tzinfo=None)
    except ValueError:
        raise _refused(where, "a time such as 2026-11-24 13:00:00", repr(cell[:32])) from None


def _snapshots(rows: Sequence[_Row]) -> list[dict[str, _Row]]:
    """Statistics by name of each instance and time, in that order; every one must have the same."""
    found: dict[tuple[str, datetime], dict[str, _Row]] = {}
    for row in rows:
        before = found.setdefault((row.instance, row.time), {}).setdefault(row.name, row)
        if (before.value, before.startup) != (row.value, row.startup):
            expected = f"one value of {row.name} of instance {row.instance} at {row.time}, and one time of its start"
            raise _refused(row.where, expected, f"{before.value:g} and {row.value:g}")
    every = _NEEDED.union(*found.values())
    for (instance, time), one in found.items():
        if missing := every - one.keys():
            expected = f"{', '.join(sorted(missing))} of instance {instance} at {time}"
            raise _refused([*one.values()][-1].where, expected, "none: the rows are cut, or others were selected")
    return [found[key] for key in sorted(found)]


def _differences(snapshots: Sequence[dict[str, _Row]], caveats: list[str], where: str) -> Iterator[dict[str, _Row]]:
    """Rates between the snapshots of each instance; an interval in which it restarted is left out, with a caveat."""
    of: dict[str, list[dict[str, _Row]]] = {}
    for one in snapshots:
        of.setdefault(one["redo size"].instance, []).append(one)
    for instance, taken in of.items():
        start = taken[0]["redo size"].startup
        if len(taken) == 1 and start is not None:
            taken.insert(0, {name: replace(row, value=0.0, time=start) for name, row in taken[0].items()})
            caveats.append(f"instance {instance}: the mean since its start at {start}: take two snapshots")
        kept = 0
        for before, after in pairwise(taken):
            first, last = before["redo size"], after["redo size"]
            shrunk = next((name for name, row in after.items() if row.value < before[name].value), None)
            if shrunk and first.startup is not None and first.startup == last.startup:
                least = f"{before[shrunk].value:.0f}, as at {first.time} with the same STARTUP_TIME"
                raise _refused(after[shrunk].where, f"{shrunk} of at least {least}", f"{after[shrunk].value:.0f}")
            seconds = (last.time - first.time).total_seconds()
            if first.startup != last.startup or shrunk or seconds <= 0:
                caveats.append(f"instance {instance} restarted between {first.time} and {last.time}: left out")
                continue
            kept += 1
            yield {name: replace(row, value=(row.value - before[name].value) / seconds) for name, row in after.items()}
        if not kept:
            expected = f"two snapshots of instance {instance} without a restart between them, or one with STARTUP_TIME"
            raise _refused(where, expected, ", ".join(str(one["redo size"].time) for one in taken))


def _report(found: Mapping[str, _Row], *, cluster: bool) -> InstanceReport:
    rates, row = {name: row.value for name, row in found.items()}, found["redo size"]
    size = rates["physical read bytes"] / rates["physical reads"] if rates.get("physical reads") else 0.0
    block = next((float(one) for one in _BLOCKS if abs(size / one - 1) < _NOT_AT_ONCE), None)
    interval, stated, remarks = storage_load(Sections.of_rates(rates), {}, rates["redo size"], block, row.where)
    cpu = rates.get("host cpu")
    interval = replace(interval, cpu_utilization=None if cpu is None else min(cpu / 100, 1.0))
    return InstanceReport(interval, (str(row.snapshot or row.time),), row.instance, cluster, stated, tuple(remarks))
