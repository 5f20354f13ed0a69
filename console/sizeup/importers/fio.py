"""fio's JSON (``--output-format=json`` or ``json+``), of versions 2.0 to 3, clients' results included.

What the versions lack or name otherwise, by fio's own ``stat.c``: ``total_ios`` since 2.1.14; options of jobs since
2.3; ``bw`` is KiB/s in all, ``bw_bytes`` since 3.2; latencies are microseconds in ``lat`` and ``clat``, nanoseconds
in ``lat_ns`` and ``clat_ns`` since 3.0; percentiles are in ``clat_ns``, with ``lat_percentiles=1`` in ``lat_ns``.

What fio 2 and 3 print for people: the options of each job above, its result below, in the same order.

IOPS and rates are rounded there to three digits, counts and times are not, so both are worked out from these. Jobs of
``numjobs`` are declared once, and have a result each, or one of all with ``group_reporting``.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from sizeup.decoding import json_decoder
from sizeup.errors import MalformedError
from sizeup.importers.imported import (
    IOPS,
    LATENCY_MEAN,
    LATENCY_P50,
    LATENCY_P99,
    QUEUE_DEPTH,
    RATE,
    STORAGE,
    Imported,
    ImportedStep,
    format_block_size,
    load,
    of_mix,
    workload,
)
from sizeup.model.sample import Coordinates, Estimate
from sizeup.text import one_line

MARK = '"fio version"'
"""What every such file holds."""


class _Latency(msgspec.Struct):
    mean: float = 0.0
    percentile: dict[str, float] = {}


class _Direction(msgspec.Struct):
    total_ios: int | None = None
    """None before version 2.1.14."""
    runtime: float = 0.0
    """Milliseconds."""
    iops: float = 0.0
    bw_bytes: float | None = None
    bw: float = 0.0
    """KiB/s; all that versions before 3.2 tell."""
    clat_ns: _Latency | None = None
    lat_ns: _Latency | None = None
    clat: _Latency | None = None
    """Microseconds, before version 3."""
    lat: _Latency | None = None

    @property
    def requests(self) -> float:
        """How many ended; worked out from their rate where the version does not count them."""
        return self.total_ios if self.total_ios is not None else self.iops * self.runtime / 1e3

    @property
    def moved(self) -> bool:
        """Whether there was any; a rate of whole requests a second may be 0 where some data moved."""
        return bool(self.total_ios or (self.total_ios is None and (self.iops or self.bw)))

    @property
    def bytes_per_second(self) -> float:
        return self.bw_bytes if self.bw_bytes is not None else self.bw * 1024

    @property
    def latency_ns(self) -> float | None:
        """Mean total latency where fio kept it, else from submission on."""
        for found, scale in ((self.lat_ns, 1.0), (self.clat_ns, 1.0), (self.lat, 1e3), (self.clat, 1e3)):
            if found is not None and found.mean > 0:
                return found.mean * scale
        return None

    @property
    def submitting(self) -> bool:
        """Whether submission, which the mean has and the percentiles lack, took a twentieth of the time or more."""
        pairs = ((self.clat_ns, self.lat_ns), (self.clat, self.lat))
        return any(kept and whole and kept.percentile and kept.mean < 0.95 * whole.mean for kept, whole in pairs)

    def percentile_ns(self, wanted: str) -> float | None:
        """Of the completion latency, else of the total latency; 0 stands for none."""
        for found, scale in ((self.clat_ns, 1.0), (self.lat_ns, 1.0), (self.clat, 1e3)):
            value = found.percentile.get(wanted) if found is not None else None
            if value:
                return value * scale
        return None


class _Sync(msgspec.Struct):
    """Flushes by ``fsync`` or ``fdatasync``, where the version times them."""

    lat_ns: _Latency = msgspec.field(default_factory=_Latency)


class _Job(msgspec.Struct, rename={"options": "job options"}):
    jobname: str
    groupid: int = 0
    error: int = 0
    options: dict[str, Any] = {}
    read: _Direction = msgspec.field(default_factory=_Direction)
    write: _Direction = msgspec.field(default_factory=_Direction)
    mixed: _Direction = msgspec.field(default_factory=_Direction)
    """Reads and writes together, with ``unified_rw_reporting``."""
    sync: _Sync = msgspec.field(default_factory=_Sync)


class _FioOutput(
    msgspec.Struct, rename={"version": "fio version", "options": "global options", "clients": "client_stats"}
):
    version: str
    timestamp: int | None = None
    options: dict[str, Any] = {}
    jobs: tuple[_Job, ...] = ()
    clients: tuple[_Job, ...] = ()


_OUTPUT: msgspec.json.Decoder[_FioOutput] = json_decoder(_FioOutput)


def parse_fio(text: str, where: str) -> Imported:
    """The jobs of a file; messages that fio printed before the JSON are passed over."""
    start = text.find("{")
    try:
        file = _OUTPUT.decode(text[max(start, 0) : text.rfind("}") + 1])
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedError(
            f"{where}: expected the JSON of fio, of one run (--output-format=json): {one_line(str(error), 120)}"
        ) from error
    groups: dict[tuple[str, int, str], list[_Job]] = {}
    errors: list[str] = []
    for job in file.jobs or file.clients:
        if job.jobname != "All clients":  # the sum of the others
            _require_consistent(job, where)
            if job.error:
                ended = f"ended with error {job.error} ({os.strerror(job.error)})"
                errors.append(f"Job {one_line(job.jobname, 60)} {ended}: its figures are of the time before")
            job.options = {**file.options, **job.options}
            one = str(_recorded(_settings(job), 1)) if job.options else ""
            groups.setdefault((job.jobname, job.groupid, one), []).append(job)
    names = [name for name, _, _ in groups]
    steps = tuple(
        _step(jobs, [other[0] for other in groups if other[1] == key[1] and other != key], names.count(key[0]))
        for key, jobs in groups.items()
    )
    if not any(step.estimates for step in steps):
        found = "; ".join(errors) or "none"
        raise MalformedError(f"{where}: expected at least one fio job that read or wrote data, found {found}")
    taken = datetime.fromtimestamp(file.timestamp, UTC) if file.timestamp and file.timestamp < 1 << 40 else None
    return Imported(one_line(file.version, 40), steps, taken=taken, notes=tuple(errors), summary=tuple(errors))


def _require_consistent(job: _Job, where: str) -> None:
    """Raise ``MalformedError`` where the IOPS of a job are not those of its counts; old versions cut them to whole."""
    for kind in ("read", "write", "mixed"):
        found: _Direction = getattr(job, kind)
        counted = 1e3 * (found.total_ios or 0) / found.runtime if found.runtime else found.iops
        if found.total_ios is not None and abs(found.iops - counted) > max(1.0, 0.01 * counted):
            expected = f"expected {counted:,.0f} IOPS, total_ios {found.total_ios:,} in {found.runtime:,.0f} ms"
            place = f"{where}: job {one_line(job.jobname, 60)}, {kind}"
            raise MalformedError(f"{place}: {expected}, found {found.iops:,.0f}; give the file as fio wrote it")


_Moved = Sequence[tuple[str, Sequence[_Direction]]]
"""Reads and writes, as far as there were any, of all jobs of a step."""


def _settings(job: _Job) -> dict[str, str]:
    return {one_line(str(key), 60): one_line(str(value), 200) for key, value in job.options.items()}


def _step(jobs: Sequence[_Job], beside: Sequence[str], same_name: int) -> ImportedStep:
    """Jobs of one name, group and load ran together: one load of as many requests as all of them keep out.

    Where there are several of the ``same_name``, their titles tell the load and the queue depth.
    """
    name, settings = jobs[0].jobname, _settings(jobs[0])
    moved: _Moved = [(kind, [getattr(job, kind) for job in jobs]) for kind in ("read", "write", "mixed")]
    moved = [(kind, found) for kind, found in moved if any(direction.moved for direction in found)]
    if len(moved) > 1:
        moved = [(kind, found) for kind, found in moved if kind != "mixed"]  # the sum of the others
    caveats = tuple(_caveats(settings, jobs, beside))
    mix, at = _recorded(settings, len(jobs)) if settings else _mean_load(moved)
    estimates: list[Estimate] = []
    if moved:
        every = [direction for _, found in moved for direction in found]
        iops, rate = (sum(getattr(one, name) for one in every) for name in ("iops", "bytes_per_second"))
        limit = _rate_limit(settings)
        extra: dict[str, str | int | float] = {"rate_limit": limit} if limit else {}
        extra["seconds"] = min(one.runtime for one in every if one.moved) / 1000
        if _buffered(settings):
            extra["buffered"] = 1
        if settings and (block := _size(settings)[1]):
            extra |= of_mix(block, _read_percent(settings))
        both = ((IOPS.name, iops), (RATE.name, rate))
        estimates += (Estimate(name, at, value, caveats=caveats, extra=extra) for name, value in both)
    for kind, found in moved:
        coordinates = {**at, "workload": f"{mix} {kind}s"} if len(moved) > 1 else at
        estimates += _latencies(coordinates, found, caveats)
    estimates += _flushes(jobs, settings)
    series = (IOPS, RATE, LATENCY_MEAN, LATENCY_P50, LATENCY_P99)
    title = f"Direct I/O, fio job {one_line(name, 60)}"
    if same_name > 1:
        title += f", {mix}" + (f" at QD {at[QUEUE_DEPTH]}" if QUEUE_DEPTH in at else "")
    id_ = f"{STORAGE.name}.fio.{one_line(name, 60)}"
    return ImportedStep(id_, STORAGE.name, title, series, tuple(estimates), settings)


def _recorded(settings: Mapping[str, str], jobs: int) -> tuple[str, Coordinates]:
    """The load as the job's options say it."""
    mix = _mix(settings)
    depth = 1 if _synchronous(settings) else _number(settings.get("iodepth"), 1)
    return mix, load(mix, depth * max(_number(settings.get("numjobs"), 1), jobs))


def _mean_load(moved: _Moved) -> tuple[str, Coordinates]:
    """The load of a version that records no options: the mean size, and by Little's law the I/Os in flight."""
    rates = {kind: sum(direction.iops for direction in found) for kind, found in moved}
    every = [direction for _, found in moved for direction in found]
    total = sum(rates.values())
    size = sum(direction.bytes_per_second for direction in every) / total if total else 0.0
    if not 1 <= size < 1 << 40:
        return "unrecorded", {"workload": "unrecorded"}
    # Both rates are cut to whole numbers, so that the mean size is next to what was asked for.
    power = 1 << round(math.log2(size))
    block = power if abs(size / power - 1) < 0.05 else round(size)
    reads = "" if "mixed" in rates else f"-{round(100 * rates.get('read', 0) / total)}r"
    mix = f"unrecorded-{format_block_size(block)}{reads}"
    queue_depth = sum(direction.iops * (direction.latency_ns or 0) / 1e9 for direction in every)
    if queue_depth < 1e9 and all(direction.latency_ns for direction in every if direction.iops):
        return mix, load(mix, max(1, round(queue_depth)))
    return mix, {"workload": mix}


def _latencies(at: Coordinates, found: Sequence[_Direction], caveats: tuple[str, ...]) -> Iterator[Estimate]:
    known = [(latency, direction.requests) for direction in found if (latency := direction.latency_ns) is not None]
    requests = sum(count for _, count in known)
    if requests:
        mean = sum(latency * count for latency, count in known) / requests
        yield Estimate(LATENCY_MEAN.name, at, mean, caveats=caveats)
    if len(found) == 1:  # percentiles of several processes cannot be merged
        if found[0].submitting:
            caveats = (*caveats, "fio's percentiles are of clat, without the time to submit, which the mean (lat) has")
        for series, name in ((LATENCY_P50, "50.000000"), (LATENCY_P99, "99.000000")):
            value = found[0].percentile_ns(name)
            if value is not None:
                yield Estimate(series.name, at, value, caveats=caveats)


def _flushes(jobs: Sequence[_Job], settings: Mapping[str, str]) -> Iterator[Estimate]:
    """Yield how long a flush after each write of one process took, as that of a log."""
    found, block = jobs[0].sync.lat_ns, _size(settings)[1]
    if len(jobs) > 1 or block is None or "1" not in (settings.get("fsync"), settings.get("fdatasync")):
        return
    at: Coordinates = {"workload": "redo", "direction": "write", "block_bytes": block}
    alone = ("of the flush alone (fsync or fdatasync), without the write before it",)
    for series, value in ((LATENCY_MEAN, found.mean), (LATENCY_P99, found.percentile.get("99.000000", 0))):
        if value:
            yield Estimate(series.name, at, value, caveats=alone)


def _kind(settings: Mapping[str, str]) -> str:
    return settings.get("rw", settings.get("readwrite", "read")).split(":")[0]


def _read_percent(settings: Mapping[str, str]) -> int:
    kind = _kind(settings)
    if "rw" in kind or kind == "readwrite":
        return _number(settings.get("rwmixread"), 100 - _number(settings.get("rwmixwrite"), 50))
    return 100 if "read" in kind else 0


def _mix(settings: Mapping[str, str]) -> str:
    pattern = "random" if _kind(settings).startswith("rand") else "sequential"
    (written, block), reads = _size(settings), _read_percent(settings)
    return f"{pattern} {written} {reads}r" if block is None else workload(pattern, block, reads)


def _size(settings: Mapping[str, str]) -> tuple[str, int | None]:
    """Return the size of requests as it is stated, and in bytes; None for several."""
    written, reads = next((settings[key] for key in _SIZES if key in settings), "4k"), _read_percent(settings)
    sizes = [size or "4k" for size in written.split(",")]  # of reads, of writes
    size = sizes[0] if reads == 100 else sizes[min(1, len(sizes) - 1)]
    several = 0 < reads < 100 and size != sizes[0]
    return written, None if several else _block_bytes(size, settings.get("kb_base", "1024"))


_SIZES = ("bssplit", "bsrange", "blocksize_range", "bs", "blocksize")
"""Options that say how large requests are, those first that win."""


def _block_bytes(text: str, kb_base: str) -> int | None:
    """A size as fio reads it: unless ``kb_base=1000``, ``k`` and ``kb`` are 1,024 and ``kib`` is 1,000.

    None for a range.
    """
    match = re.fullmatch(r"(\d{1,12})\s*([kmg]?)(b|ib)?", text.strip().lower(), re.ASCII)
    if match is None or (match[3] == "ib" and not match[2]):
        return None
    binary = (kb_base == "1000") == (match[3] == "ib")
    scale: int = (1024 if binary else 1000) ** " kmg".index(match[2] or " ")
    return int(match[1]) * scale


UNKNOWN = "unknown"
"""``direct`` of a file that does not tell it."""
_SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "net", "netsplice"})
"""Engines of which each job has one request out, whatever ``iodepth`` says."""


def _synchronous(settings: Mapping[str, str]) -> bool:
    """Without an engine fio takes psync, except on Windows."""
    return settings.get("ioengine", "psync") in _SYNCHRONOUS and settings.get("io_submit_mode") != "offload"


_LIMITS = ("rate", "rate_iops", "thinktime")


def _rate_limit(settings: Mapping[str, str]) -> str:
    """Return the option that kept a job below what the storage gives; empty where none did."""
    found = ((name, settings.get(name, "")) for name in _LIMITS)
    return next((f"{name}={value}" for name, value in found if value.strip("0,: ")), "")


def _buffered(settings: Mapping[str, str]) -> bool:
    """Return whether the options say that the page cache was in use, which fio uses by default."""
    if not settings or settings.get("direct") == UNKNOWN:
        return False
    return settings.get("direct", "0") not in ("1", "true") and settings.get("buffered") not in ("0", "false")


def _caveats(settings: Mapping[str, str], jobs: Sequence[_Job], beside: Sequence[str]) -> Iterator[str]:
    if not settings:
        yield (
            "the file has no options of the job: block size and queue depth were derived from the results; "
            "access pattern and direct I/O are unknown"
        )
    elif settings.get("direct") == UNKNOWN:
        yield "fio's text does not say whether direct=1 was set: the page cache may have served the I/O"
        if "rwmixread" in settings:
            yield f"fio's text does not have rwmixread: {settings['rwmixread']} % of the I/Os were reads"
    elif _buffered(settings):
        yield "fio ran without direct=1: the page cache may have served the I/O"
    if settings and _synchronous(settings) and _number(settings.get("iodepth"), 1) > 1:
        engine = settings.get("ioengine", "psync (default)")
        yield f"iodepth={settings['iodepth']} has no effect with the engine {engine}: each job runs at queue depth 1"
    if limit := _rate_limit(settings):
        yield f"fio limited the rate ({limit}): the storage may give more"
    if any(job.error for job in jobs):
        yield f"fio reported error {next(job.error for job in jobs if job.error)}"
    if len(jobs) > 1:
        yield f"throughput of {len(jobs)} processes was added up; their percentiles cannot be combined and are left out"
    if beside:
        yield f"ran concurrently with other jobs of its group: {one_line(', '.join(beside), 120)}"


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else otherwise


TEXT_MARK = ": (groupid="
"""What every result has behind the name of its job."""
_VERSION = re.compile(r"^(?:fio[- ])?(\d{1,2}\.\d\S{0,30})$", re.MULTILINE)
_STARTING = re.compile(r"^Starting (\d{1,6}) (?:process|thread)(?:e?s)?(?: and (\d{1,6}) )?", re.MULTILINE)
_DECLARED = re.compile(r"(\S.*): \(g=(\d{1,6})\): rw=(\w+), bs=(.+), ioengine=([^,\s]+), iodepth=(\d{1,9})$")
_RESULT = re.compile(r"(\S.*): \(groupid=(\d{1,6}), jobs=(\d{1,6})\): err=\s*(\d{1,6})")
_KIND = re.compile(
    r"\s+(read|write|trim|mixed)\s*: (?:IOPS=([\d.]+[kMG]?), BW=.*?\(([\d.]+[kMGT]?)B/s\)|"
    r"io=.*?, bw=([\d.]+[KMGT]?)B/s, iops=([\d.]+[kKMG]?))[\s,(].*?(\d{1,15})msec"
)
_TEXT_LATENCY = re.compile(r"\s+(clat|lat) \(([num]sec)\)\s*: min=.*\bavg=\s*(\d{1,15}(?:\.\d{0,6})?)")
_PERCENTILES = re.compile(r"\s+(clat|lat) percentiles \(([num]sec)\):")
_PERCENTILE = re.compile(r"(\d{1,3}\.\d{1,6})th=\[\s*(\d{1,15})\]")
_ISSUED = re.compile(r"\s+issued\b.*?total=(?:r=)?(\d{1,15})(?:/w=|,)(\d{1,15})")
_NANOSECONDS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
_FIGURE = re.compile(r"(\d{1,15}(?:\.\d{0,6})?)([kKMGT]?)", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_TextJob = dict[str, Any]
"""A job as in fio's JSON; ``jobs`` is how many there are in the result, ``line`` where that begins."""


def parse_fio_text(text: str, where: str) -> Imported:
    """Return the results by job; raise where one was cut, or its options are not certain."""
    declared: dict[tuple[str, int], list[dict[str, str]]] = {}
    jobs: list[_TextJob] = []
    direction: dict[str, Any] = {}
    percentiles: dict[str, float] | None = None
    scale = 1.0
    for line_number, line in enumerate(text.splitlines(), 1):
        if percentiles is not None and line.lstrip().startswith("|"):
            percentiles |= {f"{float(which):.6f}": int(value) * scale for which, value in _PERCENTILE.findall(line)}
            continue
        percentiles = None
        if match := _DECLARED.match(line):
            options = {"rw": match[3], "bs": _text_sizes(match[4]), "ioengine": match[5], "iodepth": match[6]}
            declared.setdefault((match[1], int(match[2])), []).append({**options, "direct": UNKNOWN})
        elif match := _RESULT.match(line):
            name, group, count, error = match.groups()
            numbers = {"groupid": int(group), "jobs": int(count), "error": int(error), "line": line_number}
            jobs.append({"jobname": name, "job options": {}, **numbers})
        elif jobs and (match := _KIND.match(line)):
            rate = _scaled(match[3], 1000) if match[3] else _scaled(match[4], 1024)
            direction = {"runtime": float(match[6]), "iops": _scaled(match[2] or match[5], 1000), "bw_bytes": rate}
            jobs[-1][match[1]] = direction
        elif match := _TEXT_LATENCY.match(line):
            direction[f"{match[1]}_ns"] = {"mean": float(match[3]) * _NANOSECONDS[match[2]], "percentile": {}}
        elif match := _PERCENTILES.match(line):
            percentiles = direction.get(f"{match[1]}_ns", {}).get("percentile")
            scale = _NANOSECONDS[match[2]]
        elif jobs and (match := _ISSUED.match(line)):
            jobs[-1]["issued"] = {"mixed" if "mixed" in jobs[-1] else "read": int(match[1]), "write": int(match[2])}
    _require_whole(text, jobs, where)
    for key in dict.fromkeys((job["jobname"], job["groupid"]) for job in jobs):
        _take_options([job for job in jobs if (job["jobname"], job["groupid"]) == key], declared, where)
    version = _VERSION.search(text)
    return parse_fio(json.dumps({"fio version": f"fio-{version[1]}" if version else "fio", "jobs": jobs}), where)


def _require_whole(text: str, jobs: Sequence[_TextJob], where: str) -> None:
    started = [sum(int(count or 0) for count in match.groups()) for match in _STARTING.finditer(text)]
    if len(started) > 1:
        raise MalformedError(f"{where}: expected one run of fio, found {len(started)}: give each its own file")
    for job in jobs:
        for kind, count in job.get("issued", {"issued": 1}).items():
            direction = job.get(kind, {})
            if count and not direction.get("runtime"):
                expected = f"a result with a line '{kind}', found none: the file was cut"
                raise MalformedError(f"{where}: line {job['line']}: expected {expected}")
            if count:
                direction.update(total_ios=count, iops=1e3 * count / direction["runtime"])
    if started and started[0] != (count := sum(job["jobs"] for job in jobs)):
        raise MalformedError(
            f"{where}: expected results of {started[0]} jobs, as fio started, found {count}: the file was cut, or fio "
            "ran with --status-interval"
        )


def _take_options(
    jobs: Sequence[_TextJob], declared: Mapping[tuple[str, int], list[dict[str, str]]], where: str
) -> None:
    """Give the results of one name and group the options that were declared for them, and rates of whole requests."""
    name, group = jobs[0]["jobname"], jobs[0]["groupid"]
    options = declared.get((name, group), [])
    of_group = [one for (_, other), several in declared.items() if other == group for one in several]
    shared = options if jobs[0]["jobs"] == 1 else of_group  # with group_reporting a result is of the whole group
    if not len(options) == len(jobs) == len(shared):
        if any(one != shared[0] for one in shared):
            raise MalformedError(
                f"{where}: line {jobs[0]['line']}: expected one size, pattern and iodepth of the jobs in a result, "
                "found several; import fio's JSON (--output-format=json) without group_reporting"
            )
        options = options[:1] * len(jobs)
    for job, one in zip(jobs, options, strict=False):
        if "mixed" in job:
            continue  # with unified_rw_reporting the share of reads is unknown
        same = [other["issued"] for other, its in zip(jobs, options, strict=False) if its == one]
        reads, both = sum(count.get("read", 0) for count in same), sum(sum(count.values()) for count in same)
        mixed = {"rwmixread": str(round(100 * reads / both))} if "rw" in one["rw"] and both else {}
        job["job options"] = {**one, **mixed, "numjobs": str(job["jobs"])}
        sizes = one["bs"].split(",")
        for kind, size in (("read", sizes[0]), ("write", sizes[-1])):
            if size.isdecimal() and kind in job:
                job[kind]["bw_bytes"] = job[kind]["iops"] * int(size)


def _scaled(text: str, base: int) -> float:
    """A figure such as ``26.8k``; 0 for one that is none."""
    match = _FIGURE.fullmatch(text)
    return float(match[1]) * base ** _POWERS[match[2].lower()] if match else 0.0


def _text_sizes(text: str) -> str:
    """Sizes of reads and writes in bytes, from ``(R) 4096B-64.0KiB, (W) …`` or ``4K-64K/…``; a rounded one as it is."""
    sizes = []
    for part in re.split(r"/|, ", text)[:2]:
        ends = dict.fromkeys(re.sub(r"^\([RW]\)", "", part).strip().split("-"))
        figures = [(end, _scaled(re.sub(r"i?B$", "", end), 1024)) for end in ends]
        sizes.append("-".join(f"{size:.0f}" if size and size.is_integer() else end for end, size in figures))
    return ",".join(dict.fromkeys(sizes))
