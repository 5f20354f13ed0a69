"""fio's JSON (``--output-format=json`` or ``json+``), of version 2 and 3, clients' results included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from sizeup.errors import MalformedError
from sizeup.interop.imported import (
    IOPS,
    LATENCY_MEAN,
    LATENCY_P50,
    LATENCY_P99,
    RATE,
    Imported,
    Measured,
    load,
    workload,
)
from sizeup.model.sample import Coordinates, Estimate
from sizeup.text import one_line
from sizeup.units import parse_bytes

MARK = '"fio version"'
"""What every such file holds."""


class _Latency(msgspec.Struct):
    mean: float = 0.0
    percentile: dict[str, float] = {}


class _Direction(msgspec.Struct):
    total_ios: int = 0
    iops: float = 0.0
    bw_bytes: float | None = None
    bw: float = 0.0
    """KiB/s; all that version 2 knows."""
    clat_ns: _Latency | None = None
    lat_ns: _Latency | None = None
    clat: _Latency | None = None
    """Microseconds, of version 2."""
    lat: _Latency | None = None

    @property
    def bytes_per_second(self) -> float:
        return self.bw_bytes if self.bw_bytes is not None else self.bw * 1024

    @property
    def latency(self) -> tuple[_Latency, float] | None:
        """Total latency where fio kept it, else from submission on, and how many ns its unit has."""
        for found, scale in ((self.lat_ns, 1.0), (self.clat_ns, 1.0), (self.lat, 1e3), (self.clat, 1e3)):
            if found is not None and found.mean > 0:
                return found, scale
        return None

    def percentile_ns(self, wanted: str) -> float | None:
        """Percentiles are of the completion latency, in both versions."""
        found, scale = (self.clat_ns, 1.0) if self.clat_ns is not None else (self.clat, 1e3)
        value = found.percentile.get(wanted) if found is not None else None
        return value * scale if value else None


class _Job(msgspec.Struct, rename={"options": "job options"}):
    jobname: str
    groupid: int = 0
    error: int = 0
    options: dict[str, Any] = {}
    read: _Direction = msgspec.field(default_factory=_Direction)
    write: _Direction = msgspec.field(default_factory=_Direction)


class _File(msgspec.Struct, rename={"version": "fio version", "options": "global options", "clients": "client_stats"}):
    version: str
    timestamp: int | None = None
    options: dict[str, Any] = {}
    jobs: tuple[_Job, ...] = ()
    clients: tuple[_Job, ...] = ()


def parse_fio(text: str, where: str) -> Imported:
    """The jobs of a file; messages that fio printed before the JSON are passed over."""
    start = text.find("{")
    try:
        file = msgspec.json.decode(text[max(start, 0) : text.rfind("}") + 1], type=_File)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedError(
            f"{where}: expected the JSON of fio (--output-format=json): {one_line(str(error), 120)}"
        ) from error
    groups: dict[tuple[str, int], list[_Job]] = {}
    for job in file.jobs or file.clients:
        if job.jobname != "All clients":  # the sum of the others
            groups.setdefault((job.jobname, job.groupid), []).append(job)
    steps = tuple(_step(name, {**file.options, **jobs[0].options}, jobs) for (name, _), jobs in groups.items())
    if not any(step.estimates for step in steps):
        raise MalformedError(f"{where}: expected at least one fio job that moved data, found none")
    taken = datetime.fromtimestamp(file.timestamp, UTC) if file.timestamp and file.timestamp < 1 << 40 else None
    return Imported(one_line(file.version, 40), steps, taken=taken)


def _step(name: str, options: Mapping[str, Any], jobs: list[_Job]) -> Measured:
    """Jobs of one name and group ran together: one load of as many requests as all of them keep out."""
    settings = {one_line(str(key), 60): one_line(str(value), 200) for key, value in options.items()}
    each = _number(settings.get("iodepth"), 1)
    clones = max(_number(settings.get("numjobs"), 1), len(jobs))
    mix = _mix(settings)
    doubts = tuple(_doubts(settings, jobs))
    at = load(mix, each * clones)
    estimates: list[Estimate] = []
    moved = [(kind, [getattr(job, kind) for job in jobs]) for kind in ("read", "write")]
    moved = [(kind, found) for kind, found in moved if any(direction.total_ios for direction in found)]
    if moved:
        every = [direction for _, found in moved for direction in found]
        estimates.append(Estimate("iops", at, sum(direction.iops for direction in every), doubts=doubts))
        estimates.append(Estimate("rate", at, sum(direction.bytes_per_second for direction in every), doubts=doubts))
    for kind, found in moved:
        place = load(f"{mix} {kind}s", each * clones) if len(moved) > 1 else at
        estimates += _latencies(place, found, doubts)
    series = (IOPS, RATE, LATENCY_MEAN, LATENCY_P50, LATENCY_P99)
    title = f"Direct I/O, fio job {one_line(name, 60)}"
    return Measured(f"io.direct.fio.{one_line(name, 60)}", "io.direct", title, series, tuple(estimates), settings)


def _latencies(at: Coordinates, found: list[_Direction], doubts: tuple[str, ...]) -> Iterator[Estimate]:
    known = [(latency, direction.total_ios) for direction in found if (latency := direction.latency) is not None]
    requests = sum(count for _, count in known)
    if requests:
        mean = sum(latency.mean * scale * count for (latency, scale), count in known) / requests
        yield Estimate("latency-mean", at, mean, doubts=doubts)
    if len(found) == 1:  # percentiles of several processes cannot be merged
        for series, name in (("latency-p50", "50.000000"), ("latency-p99", "99.000000")):
            value = found[0].percentile_ns(name)
            if value is not None:
                yield Estimate(series, at, value, doubts=doubts)


def _mix(settings: Mapping[str, str]) -> str:
    kind = settings.get("rw", settings.get("readwrite", "read")).split(":")[0]
    pattern = "random" if kind.startswith("rand") else "sequential"
    if "rw" in kind or kind == "readwrite":
        reads = _number(settings.get("rwmixread"), 100 - _number(settings.get("rwmixwrite"), 50))
    else:
        reads = 100 if "read" in kind else 0
    try:
        block = parse_bytes(settings.get("bs", settings.get("blocksize", "4k")).split(",")[0].split("-")[0])
    except MalformedError:
        return f"{pattern} {settings.get('bs', '')} {reads}r"
    return workload(pattern, block, reads)


def _doubts(settings: Mapping[str, str], jobs: list[_Job]) -> Iterator[str]:
    if settings.get("direct", "0") not in ("1", "true") and settings.get("buffered", "1") not in ("0", "false"):
        yield "fio ran without direct=1: the page cache may have answered"
    if any(job.error for job in jobs):
        yield f"fio reported error {next(job.error for job in jobs if job.error)}"
    if len(jobs) > 1:
        yield f"{len(jobs)} processes were added up; their percentiles cannot be"


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else otherwise
