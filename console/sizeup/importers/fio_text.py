"""What fio 2 and 3 print for people: the options of each job above, its result below, in the same order.

IOPS and rates are rounded there to three digits, counts and times are not, so both are worked out from these; jobs of
``numjobs`` are declared once, and have a result each, or one of all with ``group_reporting``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sizeup.errors import MalformedError
from sizeup.importers.fio import UNKNOWN, Direction, FioLatency, FioOutput, Job, imported_jobs
from sizeup.importers.imported import Imported
from sizeup.text import one_line

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
_Declared = dict[tuple[str, int], list[dict[str, str]]]


def parse_fio_text(text: str, where: str) -> Imported:
    """Return the results by job; raise where one was cut, or its options are not certain."""
    started = [sum(int(count or 0) for count in match.groups()) for match in _STARTING.finditer(text)]
    if len(started) > 1:
        raise MalformedError(f"{where}: expected one run of fio, found {len(started)}: give each its own file")
    declared: _Declared = {}
    found: list[tuple[Job, int]] = []
    job: Job | None = None
    direction: Direction | None = None
    percentiles: dict[str, float] | None = None
    scale, open_at = 1.0, 0
    for line_number, line in enumerate(text.splitlines(), 1):
        if match := _DECLARED.match(line):
            options = {"rw": match[3], "bs": _text_sizes(match[4]), "ioengine": match[5], "iodepth": match[6]}
            declared.setdefault((match[1], int(match[2])), []).append({**options, "direct": UNKNOWN})
        elif match := _RESULT.match(line):
            _require_issued(open_at, where, line_number)
            job, direction, open_at = Job(match[1], int(match[2]), int(match[4])), None, line_number
            found.append((job, int(match[3])))
        elif job and (match := _KIND.match(line)):
            base = 1000 if match[2] else 1024
            direction = Direction(
                0, float(match[6]), _scaled(match[2] or match[5], 1000), _scaled(match[3] or match[4], base)
            )
            if match[1] != "trim":
                setattr(job, match[1], direction)
        elif direction and (match := _LATENCY.match(line)):
            setattr(direction, f"{match[1]}_ns", FioLatency(float(match[3]) * _NANOSECONDS[match[2]], {}))
        elif direction and (match := _PERCENTILES.match(line)):
            kept: FioLatency | None = getattr(direction, f"{match[1]}_ns")
            percentiles, scale = kept.percentile if kept else None, _NANOSECONDS[match[2]]
        elif percentiles is not None and line.lstrip().startswith("|"):
            for which, value in _PERCENTILE.findall(line):
                percentiles[f"{float(which):.6f}"] = int(value) * scale
        elif job and (match := _ISSUED.match(line)):
            open_at = 0
            for one, count in ((job.read, match[1]), (job.write, match[2]), (job.mixed, match[1])):
                if int(count) and not one.runtime and not job.mixed.runtime and one is not job.mixed:
                    raise MalformedError(
                        f"{where}: line {line_number}: expected a line such as 'read: IOPS=…, BW=…' with the run time "
                        f"above the {count} issued, found none"
                    )
                one.total_ios = int(count) if one.runtime else 0
                one.iops = 1e3 * one.total_ios / one.runtime if one.total_ios else one.iops
        elif line.lstrip().startswith("fsync/"):
            direction = percentiles = None
        elif not line.lstrip().startswith("|"):
            percentiles = None
    _require_issued(open_at, where, len(text.splitlines()))
    if started and started[0] != (count := sum(jobs for _, jobs in found)):
        raise MalformedError(
            f"{where}: expected results of {started[0]} jobs, as fio started, found {count}: the file was cut, or fio "
            "ran with --status-interval"
        )
    _take_options(found, declared, where)
    version = _VERSION.search(text)
    name = f"fio-{version[1]}" if version else "fio"
    return imported_jobs(FioOutput(name, jobs=tuple(job for job, _ in found)), where)


def _require_issued(open_at: int, where: str, line_number: int) -> None:
    if open_at:
        raise MalformedError(
            f"{where}: line {line_number}: expected a line 'issued' of the job in line {open_at}, found none: the file "
            "was cut"
        )


def _take_options(found: Sequence[tuple[Job, int]], declared: _Declared, where: str) -> None:
    """Give each result the options that were declared for it, and the rate that whole requests make."""
    for key in dict.fromkeys((job.jobname, job.groupid) for job, _ in found):
        results = [one for one in found if (one[0].jobname, one[0].groupid) == key]
        options = declared.get(key, [])
        grouped = [one for (_, group), every in declared.items() if group == key[1] for one in every]
        several = options if results[0][1] == 1 else grouped  # with group_reporting a result is of the whole group
        if len(options) != len(results) or len(several) != len(options):
            if any(one != several[0] for one in several):
                raise MalformedError(
                    f"{where}: job {one_line(key[0], 60)}: expected one size, pattern and iodepth of the jobs in a "
                    "result, found several; import the JSON of fio (--output-format=json) without group_reporting"
                )
            options = options[:1] * len(results)
        for (job, jobs), one in zip(results, options, strict=True) if options else ():
            job.options = {**one, "numjobs": str(jobs)}
            same = [other for (other, _), its in zip(results, options, strict=True) if its == one]
            reads, writes = (sum(getattr(other, kind).total_ios or 0 for other in same) for kind in ("read", "write"))
            if "rw" in one["rw"] and reads + writes:
                job.options["rwmixread"] = str(round(100 * reads / (reads + writes)))
            sizes = one["bs"].split(",")
            for direction, size in ((job.read, sizes[0]), (job.write, sizes[-1])):
                if size.isdecimal() and direction.iops:
                    direction.bw_bytes = direction.iops * int(size)


def _scaled(text: str, base: int) -> float:
    """A figure such as ``26.8k``; 0 for one that is none."""
    match = _FIGURE.fullmatch(text)
    return float(match[1]) * base ** _POWERS[match[2].lower()] if match else 0.0


def _text_sizes(text: str) -> str:
    """Sizes of reads and writes as ``bs`` takes them, in bytes: ``(R) 4096B-64.0KiB, (W) …`` or ``4K-64K/…``.

    A size that fio rounded stays as it is.
    """
    sizes = []
    for part in re.split(r"/|, ", text)[:2]:
        ends = dict.fromkeys(re.sub(r"^\([RW]\)", "", part).strip().split("-"))
        figures = [(end, _scaled(re.sub(r"i?B$", "", end), 1024)) for end in ends]
        sizes.append("-".join(f"{size:.0f}" if size and size.is_integer() else end for end, size in figures))
    return ",".join(dict.fromkeys(sizes))
