"""What fio 2 and 3 print for people: the options of each job above, its result below, in the same order.

IOPS and rates are rounded there to three digits, counts and times are not, so both are worked out from these. Jobs of
``numjobs`` are declared once, and have a result each, or one of all with ``group_reporting``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sizeup.errors import MalformedError
from sizeup.importers.fio import UNKNOWN, parse_fio
from sizeup.importers.imported import Imported

MARK = ": (groupid="
"""What every result has behind the name of its job."""
_VERSION = re.compile(r"^(?:fio[- ])?(\d{1,2}\.\d\S{0,30})$", re.MULTILINE)
_STARTING = re.compile(r"^Starting (\d{1,6}) (?:process|thread)(?:e?s)?(?: and (\d{1,6}) )?", re.MULTILINE)
_DECLARED = re.compile(r"(\S.*): \(g=(\d{1,6})\): rw=(\w+), bs=(.+), ioengine=([^,\s]+), iodepth=(\d{1,9})$")
_RESULT = re.compile(r"(\S.*): \(groupid=(\d{1,6}), jobs=(\d{1,6})\): err=\s*(\d{1,6})")
_KIND = re.compile(
    r"\s+(read|write|trim|mixed)\s*: (?:IOPS=([\d.]+[kMG]?), BW=.*?\(([\d.]+[kMGT]?)B/s\)|"
    r"io=.*?, bw=([\d.]+[KMGT]?)B/s, iops=([\d.]+[kKMG]?))[\s,(].*?(\d{1,15})msec"
)
_LATENCY = re.compile(r"\s+(clat|lat) \(([num]sec)\)\s*: min=.*\bavg=\s*(\d{1,15}(?:\.\d{0,6})?)")
_PERCENTILES = re.compile(r"\s+(clat|lat) percentiles \(([num]sec)\):")
_PERCENTILE = re.compile(r"(\d{1,3}\.\d{1,6})th=\[\s*(\d{1,15})\]")
_ISSUED = re.compile(r"\s+issued\b.*?total=(?:r=)?(\d{1,15})(?:/w=|,)(\d{1,15})")
_NANOSECONDS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
_FIGURE = re.compile(r"(\d{1,15}(?:\.\d{0,6})?)([kKMGT]?)", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_Job = dict[str, Any]
"""A job as in fio's JSON; ``jobs`` is how many there are in the result, ``line`` where that begins."""


def parse_fio_text(text: str, where: str) -> Imported:
    """Return the results by job; raise where one was cut, or its options are not certain."""
    declared: dict[tuple[str, int], list[dict[str, str]]] = {}
    jobs: list[_Job] = []
    direction: dict[str, Any] = {}
    percentiles: dict[str, float] | None = None
    scale = 1.0
    for line_number, line in enumerate(text.splitlines(), 1):
        if percentiles is not None and line.lstrip().startswith("|"):
            percentiles |= {f"{float(which):.6f}": int(value) * scale for which, value in _PERCENTILE.findall(line)}
            continue
        percentiles = None
        if match := _DECLARED.match(line):
            options = {"rw": match[3], "bs": _sizes(match[4]), "ioengine": match[5], "iodepth": match[6]}
            declared.setdefault((match[1], int(match[2])), []).append({**options, "direct": UNKNOWN})
        elif match := _RESULT.match(line):
            name, group, count, error = match.groups()
            numbers = {"groupid": int(group), "jobs": int(count), "error": int(error), "line": line_number}
            jobs.append({"jobname": name, "job options": {}, **numbers})
        elif jobs and (match := _KIND.match(line)):
            rate = _scaled(match[3], 1000) if match[3] else _scaled(match[4], 1024)
            direction = {"runtime": float(match[6]), "iops": _scaled(match[2] or match[5], 1000), "bw_bytes": rate}
            jobs[-1][match[1]] = direction
        elif match := _LATENCY.match(line):
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


def _require_whole(text: str, jobs: Sequence[_Job], where: str) -> None:
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


def _take_options(jobs: Sequence[_Job], declared: Mapping[tuple[str, int], list[dict[str, str]]], where: str) -> None:
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


def _sizes(text: str) -> str:
    """Sizes of reads and writes in bytes, from ``(R) 4096B-64.0KiB, (W) …`` or ``4K-64K/…``; a rounded one as it is."""
    sizes = []
    for part in re.split(r"/|, ", text)[:2]:
        ends = dict.fromkeys(re.sub(r"^\([RW]\)", "", part).strip().split("-"))
        figures = [(end, _scaled(re.sub(r"i?B$", "", end), 1024)) for end in ends]
        sizes.append("-".join(f"{size:.0f}" if size and size.is_integer() else end for end, size in figures))
    return ",".join(dict.fromkeys(sizes))
