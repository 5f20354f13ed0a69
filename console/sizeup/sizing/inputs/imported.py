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
from sizeup.importers.awr import parse_awr, spread_cores
from sizeup.importers.databases import is_snapshot, parse_snapshots
from sizeup.importers.intervals import APART, Intervals, LoadInterval
from sizeup.importers.sar import KSAR_HEADING, SADF_HEADING, SADF_MARKS, parse_ksar, parse_sadf, parse_sar
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import parse_settings
from sizeup.text import listed
from sizeup.units import as_percent, format_in

FILE_KEYS = {
    "workload": ("workload.", "redo.", "db.", "sga.", "scan.", "net.", "memory.", "license.users"),
    "candidate": (
        "machine.", "path.", "capacity.", "array.", "device.", "memory.", "numa.", "net.", "flash.", "cluster.",
        "license.", "value.",
    ),
}  # fmt: skip
"""The keys that a file may set: a workload, or a server that is offered; the rest is set elsewhere."""

_Figure = Callable[[LoadInterval], float | None]
_FIGURES: tuple[tuple[str, str, _Figure], ...] = (
    ("workload.mb_s", "bytes/s", lambda interval: interval.bytes_per_second),
    ("workload.iops", "1/s", lambda interval: interval.requests_per_second),
    ("workload.sequential_mb_s", "bytes/s", lambda interval: interval.sequential_bytes_per_second),
    ("redo.mb_s", "bytes/s", lambda interval: interval.redo_bytes_per_second),
    ("redo.written_mb_s", "bytes/s", lambda interval: interval.redo_written_bytes_per_second),
    ("redo.writes_s", "1/s", lambda interval: interval.redo_writes_per_second),
    ("workload.commits_s", "1/s", lambda interval: interval.commits_per_second),
)
_CPU, _SPREAD = "workload.cpu_cores", "workload.spread_cores"
_IO = ("workload.iops", "workload.mb_s", "redo.mb_s", "workload.sequential_mb_s", "redo.written_mb_s", "redo.writes_s")
"""Keys of one kind of file, which is the first that has the first of them: what a device counts contains the redo."""


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

    Intervals of several files of one kind count together. Those of several kinds may be of the same time, so I/O, CPU
    and commits are each of one kind, the database's own before its host's. ``devices`` keeps those disks only; a file
    that names none of them is refused. ``cores`` are the physical cores of the servers that the files are of.
    """
    values: dict[str, Value] = {}
    where = ", ".join(source.name for source in sources)
    databases: dict[_Parser, list[tuple[str, str]]] = {parse_snapshots: [], _reports: [], oracle_views.parse_views: []}
    hosts: dict[str, list[tuple[str, Intervals]]] = {}
    servers: dict[str, None] = {}
    for source in {source.text: source for source in sources}.values():
        snapshot = is_snapshot(source.text)
        # An HTML report has its styles first, a file of two databases all snapshots of one.
        head = source.text if snapshot else source.text[:20_000]
        if source.text.lstrip().startswith("schema") or source.name.endswith(".toml"):
            values |= parse_toml(source.text, source.name)
        elif _REPORT.search(head) and not source.text.lstrip("\ufeff \n").startswith("{"):
            databases[_reports].append((source.text.removeprefix("\ufeff"), source.name))
        elif oracle_views.HEADING.search(head if snapshot else head[:4000]):
            databases[oracle_views.parse_views].append((source.text.removeprefix("\ufeff"), source.name))
        elif not snapshot:
            tool, found = _intervals(source, devices)
            hosts.setdefault(tool, []).append((source.name, found))
            servers |= dict.fromkeys(next(filter(None, names)) for names in _SERVER.findall(source.text))
        if snapshot:
            databases[parse_snapshots].append((source.text, source.name))
    others, *of_oracle = ([name for _, name in found] for found in databases.values())
    if others and (oracle := [name for names in of_oracle for name in names]):
        raise MalformedError(
            f"{', '.join(others)}: expected figures of one database, found these snapshots and Oracle's figures in "
            f"{listed(oracle)}: {APART}"
        )
    if len(servers) > 1:
        raise MalformedError(f"{where}: expected figures of one server, found {listed([*servers])}: {APART}")
    kinds = [(", ".join(name for _, name in of), [parse(of)]) for parse, of in databases.items() if of]
    kinds += [(", ".join(name for name, _ in of), _disks_once(of)) for of in hosts.values()]
    if kinds:
        try:
            values = {**_figures(kinds, percentile, where, cores), **values}
        except (ValueError, OverflowError) as error:
            raise MalformedError(f"{where}: expected finite figures, found one too large: {error}") from error
    return values


_Parser = Callable[[Sequence[tuple[str, str]]], Intervals]


def _reports(found: Sequence[tuple[str, str]]) -> Intervals:
    return parse_awr(*found[0], found[1:])


def _disks_once(files: Sequence[tuple[str, Intervals]]) -> list[Intervals]:
    """Return the files of a tool, without the disks of ``sar -d`` beside files of ``-b``, which counts all of them."""
    if not any(_known(("", [file]), lambda one: one.requests_per_second) for _, file in files if not file.by_disk):
        return [file for _, file in files]
    found = []
    for name, file in files:
        cpus = tuple(one for one in file.intervals if one.requests_per_second is None)
        what = f"the disks of {name}: sar -b may count them, too"
        found.append(replace(file, intervals=cpus, caveats=(), remarks=(), left_out=what) if file.by_disk else file)
    return found


def _intervals(source: WorkloadFile, devices: tuple[str, ...]) -> tuple[str, Intervals]:
    """Return the tool that wrote a file, and its intervals."""
    text, name = source.text.removeprefix("\ufeff"), source.name
    head = text[:4000]
    if SADF_HEADING.match(text) or (head.lstrip().startswith("{") and any(mark in text for mark in SADF_MARKS)):
        return "sar", parse_sadf(text, name, devices)
    if head.lstrip().startswith("{") and '"sysstat"' in head:
        return "iostat", iostat.parse_iostat(text, name, devices)
    if KSAR_HEADING.match(text):
        return "sar", parse_ksar(text, name)
    if iostat.VMSTAT_HEADING.search(head):
        return "vmstat", iostat.parse_vmstat(text, name)
    if iostat.HEADING.search(head):
        return "iostat", iostat.parse_iostat(text, name, devices)
    if head.startswith("Linux "):
        return "sar", parse_sar(text, name, devices)
    raise MalformedError(
        f"{name}: expected an AWR or Statspack report (text or HTML), the output of sar, sadf, iostat, mpstat or "
        f"vmstat, kSar's CSV, rows of DBA_HIST_SYSSTAT, V$SYSSTAT or DBA_HIST_SYSMETRIC_SUMMARY, "
        "a snapshot of a database (sizeup help workload-of-a-database), "
        f'or a TOML file that begins with schema = "sizeup.workload/1"; found {text.strip()[:40]!r}; results of fio '
        "and other benchmarks: sizeup session import"
    )


_SERVER = re.compile(r'^Linux \S+ \(([^)\s]+)\)|"nodename": ?"([^"]+)"|^([^\s;#]+)[;\t]-?\d+[;\t]\d{4}-', re.MULTILINE)
"""The name of the server in what sar, iostat and sadf write, as text, JSON or by columns."""
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


_Kind = tuple[str, Sequence[Intervals]]
"""The files of one tool, or of one kind of database, with their names."""


def _known(kind: _Kind, figure: _Figure) -> list[float]:
    """Return a figure of each interval that has it, in ascending order."""
    return sorted(found for file in kind[1] for one in file.intervals if (found := figure(one)) is not None)


def _first(kinds: Sequence[_Kind], *figures: _Figure) -> _Kind:
    """Return the first kind that has the first of these figures that one has; no files where none has any."""
    return next((kind for figure in figures for kind in kinds if _known(kind, figure)), ("", ()))


def _figures(kinds: Sequence[_Kind], percentile: float, where: str, cores: int | None) -> dict[str, Value]:
    files = [file for _, of in kinds for file in of]
    remarks: dict[str, dict[str, None]] = {}
    for key, remark in (one for file in files for one in file.remarks):
        remarks.setdefault(key, {})[remark] = None
    values: dict[str, Value] = {}
    figure_of, ranged = {key: figure for key, _, figure in _FIGURES}, False
    io = _first(kinds, *(figure_of[key] for key in _IO))
    of_cpu: tuple[tuple[str, str, _Figure], ...] = (
        (_CPU, "1", lambda one: _busy_cores(one, cores)),
        (_SPREAD, "1", lambda one: one.spread_cores or spread_cores(one.cpu_utilization, one.cpus, cores)),
    )
    for key, unit, figure in (*_FIGURES, *of_cpu):
        kind = io if key in _IO else _first(kinds, figure)
        known = _known(kind, figure)
        if known and (value := at(known, percentile)) > 0:
            peaks = [found for file in kind[1] for one in file.peaks if (found := figure(one)) is not None]
            low, high = min(at(known, 50), value), max([known[-1], *peaks])
            if key == _CPU and len(known) == 1:  # an average: no more than all of its CPUs was busy
                high = max(high, *(one.cores or cores or high for file in kind[1] for one in file.intervals))
            ranged |= len(known) > 1 and key in _IO
            several = f"{percentile:g}th percentile of {len(known)} intervals"
            without = "".join(f", without {what}" for what in dict.fromkeys(one.left_out for one in kind[1]) if what)
            source = f"{kind[0]}: {several if len(known) > 1 else 'one interval, an average'}{without}"
            beside = [name for name, of in kinds if of is not kind[1] and _known((name, of), figure)]
            other = [f"those of {name} do not count: they may be of the same time" for name in beside]
            caveats = dict.fromkeys(caveat for file in kind[1] for caveat in file.caveats)
            of_key = (*caveats, *remarks.get(key, ()), *other, *((_AVERAGE,) if len(known) == 1 else ()))
            values[key] = Quantity(value, unit, Origin.IMPORTED, source, low=low, high=high, caveats=of_key)
    intervals = [interval for file in files for interval in file.intervals]
    _require_cores(intervals, values, percentile, where)
    if not values:
        raise MalformedError(
            f"{where}: expected disks or CPUs with a load in the {percentile:g}th percentile of its intervals, found "
            "none; choose a busier time, or a higher --percentile"
        )
    if of_one := [name for name, of in kinds if any(file.one_instance for file in of)]:
        values["workload.scope"] = Words("instance", Origin.IMPORTED, ", ".join(of_one))
    vendors = {file.vendor: name for name, of in kinds for file in of if file.vendor}
    if len(vendors) == 1:
        values["license.pack"] = Words(*next((vendor, Origin.IMPORTED, name) for vendor, name in vendors.items()))
    if (share := _read_share(io, percentile)) is not None:
        values["workload.read_percent"] = share
    loads = [one for file in io[1] for one in file.intervals]
    of_bytes = _share_at([(one.bytes_per_second, one.read_share_of_bytes) for one in loads], percentile)
    if of_bytes is not None and "workload.mb_s" in values:
        least_read = round(of_bytes[1], 3) if of_bytes[0] - of_bytes[1] >= _ONE_SHARE else None
        values["workload.read_bytes_percent"] = Quantity(of_bytes[0], "1", Origin.IMPORTED, io[0], low=least_read)
    if ranged:
        number = max(len(_known(io, figure_of[key])) for key in _IO)
        few = f"{number} intervals: the highest of their averages counts, which hides peaks; {_MORE}"
        highest = (few,) if number * (100 - percentile) < 100 else ()
        values["workload.percentile"] = Quantity(percentile, "1", Origin.IMPORTED, "--percentile", caveats=highest)
    for name, stated in ((name, one) for name, of in kinds for file in of for one in file.stated):
        before = values.get(stated.key)
        if not isinstance(before, Quantity) or before.value < stated.value:
            of_key = tuple(remarks.get(stated.key, ()))
            values[stated.key] = Quantity(stated.value, stated.unit, Origin.IMPORTED, name, caveats=of_key)
    return values


def _read_share(io: _Kind, percentile: float) -> Quantity | None:
    """Return the share of reads: of the requests where a file counts them by direction, else by the bytes.

    That of the bytes is that of the requests only where reads and writes are of one size.
    """
    intervals = [one for file in io[1] for one in file.intervals]
    found = _share_at([(one.requests_per_second, one.read_share) for one in intervals], percentile)
    if found is not None:
        share, least = found
        source = f"{io[0]}: at the {percentile:g}th percentile" if len(intervals) > 1 else io[0]
        if share - least < _ONE_SHARE:
            return Quantity(share, "1", Origin.IMPORTED, source)
        writes = (
            f"{format_in(least, '%')} reads if the {percentile:g}th percentile of the writes comes at that time, too"
        )
        return Quantity(share, "1", Origin.IMPORTED, source, low=least, caveats=(writes,))
    counted = [one for one in intervals if one.requests_per_second is not None]
    found = _share_at([(one.bytes_per_second, one.read_share_of_bytes) for one in counted], percentile)
    if found is None:
        return None
    share, least = found
    low = min(round(least / (least + (1 - least) * _SIZES), 2), share)
    high = max(round(share / (share + (1 - share) / _SIZES), 2), share)
    caveat = (
        f"the file counts no requests by direction: {format_in(low, '%')} to {format_in(high, '%')} where a read is of "
        f"a quarter to {_SIZES:g} times the size of a write. sar -b or iostat -x counts them"
    )
    return Quantity(share, "1", Origin.IMPORTED, f"{io[0]}: by bytes", low=low, high=high, caveats=(caveat,))


def _share_at(moved: Sequence[tuple[float | None, float | None]], percentile: float) -> tuple[float, float] | None:
    """Return the share of reads where all I/O is at its percentile, and the least, if writes are at theirs then.

    ``moved`` is the I/O of each interval and the share of reads in it. The mean of all intervals hides those that
    write most, which cost an array most.
    """
    known = [(total, share or 0.0) for total, share in moved if total == 0 or (total and share is not None)]
    peak = at(sorted(total for total, _ in known), percentile) if known else 0.0
    if not peak:
        return None
    shares = [share for total, share in known if total == peak]
    share, writes = sum(shares) / len(shares), at(sorted(total * (1 - share) for total, share in known), percentile)
    return share, max(min(share, *shares, 1 - writes / peak), 0.0)


_ONE_SHARE = 0.001
"""Shares of reads that differ by less are one."""
_SIZES = 4.0
"""How many times larger reads are than writes, or writes than reads, at most, where no file says so."""
_MORE = "use shorter intervals over a busy week"
_AVERAGE = f"a single interval is an average and hides peaks: {_MORE}"


def _busy_cores(interval: LoadInterval, cores: int | None) -> float | None:
    """Busy cores of one interval, by the given number of cores where the file has utilization alone."""
    if interval.busy_cores is not None or interval.cpu_utilization is None or cores is None:
        return interval.busy_cores
    return interval.cpu_utilization * cores


def _require_cores(intervals: Sequence[LoadInterval], values: dict[str, Value], percentile: float, where: str) -> None:
    """Ask for the cores of the server where only a share of its CPUs is known; raise where nothing else is."""
    shares = sorted(one.cpu_utilization for one in intervals if one.cpu_utilization is not None)
    if not shares or _CPU in values or at(shares, percentile) <= 0:
        return
    wanted = (
        f"the CPUs were {as_percent(at(shares, percentile), '.1f')} busy ({percentile:g}th percentile), but the file "
        "does not tell how many physical cores that server has"
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
