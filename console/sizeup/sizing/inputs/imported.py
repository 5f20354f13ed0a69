"""Workload files as inputs of sizing: intervals in, one percentile of each figure out.

An average hides the peaks that a server must carry, so every figure is the chosen percentile over the
intervals of the file, with the median and the largest as its range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup import decoding
from sizeup.errors import MalformedError, UsageError
from sizeup.importers import iostat, oracle_views
from sizeup.importers.awr import parse_awr
from sizeup.importers.databases import is_snapshot, parse_snapshots
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.importers.sar import KSAR_HEADING, SADF_HEADING, SADF_MARKS, parse_ksar, parse_sadf, parse_sar
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import parse_settings

FILE_KEYS = {
    "workload": ("workload.", "redo.", "db.", "sga.", "scan.", "net.", "license.users"),
    "candidate": (
        "machine.", "path.", "capacity.", "array.", "device.", "memory.", "numa.", "net.", "flash.", "cluster.",
        "license.", "value.",
    ),
}  # fmt: skip
"""The keys that a file may set: a workload, or a server that is offered; the rest is set elsewhere."""

_FIGURES: tuple[tuple[str, str, Callable[[LoadInterval], float | None]], ...] = (
    ("workload.mb_s", "bytes/s", lambda interval: interval.bytes_per_second),
    ("workload.iops", "1/s", lambda interval: interval.requests_per_second),
    ("workload.sequential_mb_s", "bytes/s", lambda interval: interval.sequential_bytes_per_second),
    ("redo.mb_s", "bytes/s", lambda interval: interval.redo_bytes_per_second),
    ("redo.written_mb_s", "bytes/s", lambda interval: interval.redo_written_bytes_per_second),
    ("redo.writes_s", "1/s", lambda interval: interval.redo_writes_per_second),
    ("workload.spread_cores", "1", lambda interval: interval.spread_cores),
    ("workload.commits_s", "1/s", lambda interval: interval.commits_per_second),
)


class _Toml(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    inputs: dict[str, str | int | float | dict[str, object]]
    format: str = ""
    title: str = ""
    workload: dict[str, str | int | float | dict[str, object]] = {}
    """What a designed candidate is to carry."""


class WorkloadFile(Struct, frozen=True):
    """One file of a workload."""

    name: str
    text: str


def read_workload(
    sources: Sequence[WorkloadFile], percentile: float, devices: tuple[str, ...] = (), cores: int | None = None
) -> dict[str, Value]:
    """Keys of sizing from AWR or Statspack reports, snapshots of databases, Oracle's views, sysstat, vmstat or TOML.

    Intervals of several files count together. ``devices`` keeps those disks only; a file that names
    none of them is refused. ``cores`` are the physical cores of the servers that the files are of.
    """
    values: dict[str, Value] = {}
    files: list[Intervals] = []
    reports: list[tuple[str, str]] = []
    views: list[tuple[str, str]] = []
    snapshots: list[tuple[str, str]] = []
    for source in sources:
        if source.text.lstrip().startswith("schema") or source.name.endswith(".toml"):
            values |= parse_toml(source.text, source.name)
        # An HTML report has its styles first.
        elif _REPORT.search(source.text[:20_000]) and not source.text.lstrip("\ufeff \n").startswith("{"):
            reports.append((source.text.removeprefix("\ufeff"), source.name))
        elif oracle_views.HEADING.search(source.text[:4000]):
            views.append((source.text.removeprefix("\ufeff"), source.name))
        elif is_snapshot(source.text):
            snapshots.append((source.text, source.name))
        else:
            files.append(_intervals(source, devices))
    if snapshots:
        files.append(parse_snapshots(snapshots))
    if reports:
        files.append(parse_awr(*reports[0], reports[1:]))
    if views:
        files.append(oracle_views.parse_views(views))
    if files:
        where = ", ".join(source.name for source in sources)
        try:
            values = {**_figures(files, percentile, where, cores), **values}
        except (ValueError, OverflowError) as error:
            raise MalformedError(
                f"{where}: expected finite figures, found one too large for a number: {error}"
            ) from error
    return values


def _intervals(source: WorkloadFile, devices: tuple[str, ...]) -> Intervals:
    text, name = source.text.removeprefix("\ufeff"), source.name
    head = text[:4000]
    if SADF_HEADING.match(text) or (head.lstrip().startswith("{") and any(mark in text for mark in SADF_MARKS)):
        return parse_sadf(text, name, devices)
    if head.lstrip().startswith("{"):
        return iostat.parse_iostat(text, name, devices)
    if KSAR_HEADING.match(text):
        return parse_ksar(text, name)
    if iostat.VMSTAT_HEADING.search(head):
        return iostat.parse_vmstat(text, name)
    if iostat.HEADING.search(head):
        return iostat.parse_iostat(text, name, devices)
    if head.startswith("Linux "):
        return parse_sar(text, name, devices)
    raise MalformedError(
        f"{name}: expected an AWR or Statspack report (text or HTML), the output of sar, sadf, iostat, mpstat or "
        f"vmstat, kSar's CSV, rows of DBA_HIST_SYSSTAT, V$SYSSTAT or DBA_HIST_SYSMETRIC_SUMMARY, "
        "a snapshot of a database (sizeup help workload-of-a-database), "
        f'or a TOML file that begins with schema = "sizeup.workload/1"; found {text.strip()[:40]!r}'
    )


_REPORT = re.compile(r"WORKLOAD REPOSITORY|STATSPACK report", re.IGNORECASE)


def parse_toml(text: str, where: str, kind: Literal["workload", "candidate"] = "workload") -> dict[str, Value]:
    """Return a workload, also the one that a design was made for, or a server as a vendor offers it."""
    schema, keys = f"sizeup.{kind}/1", FILE_KEYS[kind]
    entry: _Toml = decoding.parse_toml(text, where, schema, _Toml)
    designed = kind == "workload" and entry.format == "sizeup.candidate/1" and bool(entry.workload)
    if entry.format != schema and not designed:
        found = f"schema is {entry.format!r}" if entry.format else "it has no schema"
        way = _BELONGS.get(entry.format, f'begin the file with schema = "{schema}"')
        raise MalformedError(f"{where}: expected {schema}: {found}; {way}")
    inputs = entry.workload if designed else entry.inputs
    for key, value in inputs.items():
        if isinstance(value, dict):
            names = [f"{key}.{name}" for name in value]
            raise MalformedError(
                f'{where}: inputs: expected keys in quotes, such as "{names[0] if names else key}" = 1, found '
                f"{', '.join(names) or key} without; TOML takes the part before a dot for a table"
            )
        if not key.startswith(keys):
            raise UsageError(f"{where}: expected keys of {', '.join(keys)}, found {key!r}; use --set for others")
    return parse_settings([f"{key}={value}" for key, value in inputs.items()], Origin.IMPORTED, where)


_BELONGS = {
    "sizeup.workload/1": "this is a workload; give it to --workload",
    "sizeup.candidate/1": "this is a server; give it to --machine",
}
"""What a file of another schema is for."""


def _figures(files: Sequence[Intervals], percentile: float, where: str, cores: int | None) -> dict[str, Value]:
    intervals = [interval for file in files for interval in file.intervals]
    caveats = tuple(dict.fromkeys(caveat for file in files for caveat in file.caveats))
    remarks: dict[str, dict[str, None]] = {}
    for key, remark in (one for file in files for one in file.remarks):
        remarks.setdefault(key, {})[remark] = None
    values: dict[str, Value] = {}
    without = "".join(f", without {what}" for what in dict.fromkeys(file.left_out for file in files) if what)
    for key, unit, figure in (*_FIGURES, ("workload.cpu_cores", "1", lambda one: _busy_cores(one, cores))):
        known = sorted(found for interval in intervals if (found := figure(interval)) is not None)
        if known and (value := at(known, percentile)) > 0:
            peaks = [found for file in files for one in file.peaks if (found := figure(one)) is not None]
            low, high = min(at(known, 50), value), max([known[-1], *peaks])
            several = f"{percentile:g}th percentile of {len(known)} intervals"
            source = f"{where}: {several if len(known) > 1 else 'one interval, an average'}{without}"
            of_key = (*caveats, *remarks.get(key, ()), *((_AVERAGE,) if len(known) == 1 else ()))
            values[key] = Quantity(value, unit, Origin.IMPORTED, source, low=low, high=high, caveats=of_key)
    _require_cores(intervals, values, percentile, where)
    if not values:
        raise MalformedError(
            f"{where}: expected disks or CPUs with a load in the {percentile:g}th percentile of its intervals, found "
            "none; choose a busier time, or a higher --percentile"
        )
    if any(file.one_instance for file in files):
        values["workload.scope"] = Words("instance", Origin.IMPORTED, where)
    vendors = {file.vendor for file in files} - {""}
    if len(vendors) == 1:
        values["license.pack"] = Words(vendors.pop(), Origin.IMPORTED, where)
    reads = [interval for interval in intervals if interval.read_share is not None]
    if reads:
        weights = [interval.requests_per_second or 1.0 for interval in reads]
        share = sum((one.read_share or 0.0) * weight for one, weight in zip(reads, weights, strict=True)) / sum(weights)
        values["workload.read_percent"] = Quantity(share, "1", Origin.IMPORTED, f"{where}: mean by requests")
    if len(intervals) > 1:
        values["workload.percentile"] = Quantity(percentile, "1", Origin.IMPORTED, "--percentile")
    for stated in (one for file in files for one in file.stated):
        before = values.get(stated.key)
        if not isinstance(before, Quantity) or before.value < stated.value:
            of_key = tuple(remarks.get(stated.key, ()))
            values[stated.key] = Quantity(stated.value, stated.unit, Origin.IMPORTED, where, caveats=of_key)
    return values


_AVERAGE = "a single interval is an average and hides peaks: use shorter intervals over a busy week"


def _busy_cores(interval: LoadInterval, cores: int | None) -> float | None:
    """Busy cores of one interval, by the given number of cores where the file has utilization alone."""
    if interval.busy_cores is not None or interval.cpu_utilization is None or cores is None:
        return interval.busy_cores
    return interval.cpu_utilization * cores


def _require_cores(intervals: Sequence[LoadInterval], values: dict[str, Value], percentile: float, where: str) -> None:
    """Ask for the cores of the server where only a share of its CPUs is known; raise where nothing else is."""
    shares = sorted(one.cpu_utilization for one in intervals if one.cpu_utilization is not None)
    if not shares or "workload.cpu_cores" in values or at(shares, percentile) <= 0:
        return
    wanted = (
        f"the CPUs were {at(shares, percentile):.1%} busy ({percentile:g}th percentile), but the file does not tell "
        "how many physical cores that server has"
    )
    if not values:
        raise UsageError(f"{where}: {wanted}: add --workload-cores N")
    for key, value in values.items():
        if isinstance(value, Quantity):
            values[key] = replace(value, caveats=(*value.caveats, f"{wanted}: for a CPU demand add --workload-cores N"))
            break


def at(ascending: Sequence[float], percentile: float) -> float:
    """Return the nearest-rank percentile, which is one of the values."""
    rank = math.ceil(percentile / 100 * len(ascending))
    return ascending[max(rank, 1) - 1]
