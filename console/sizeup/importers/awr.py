"""AWR and Statspack reports, as text or HTML: each report is one interval; instances of one cluster are added up.

Units, by the reports themselves and by Statspack's ``sprepins.sql``:

- ``Read IO (MB)`` is MiB: a report has 67,416.6 blocks of 8 KiB and 526.7 MB a second beside each other;
- ``redo size`` and ``... bytes`` are bytes, ``physical reads`` and ``physical writes`` are blocks;
- ``BUSY_TIME`` and ``IDLE_TIME`` are hundredths of a second of all CPUs together; a share of them has no unit;
- the Time Model is in seconds, the SGA in bytes or MiB, its advisory in MiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import MalformedError
from sizeup.importers.awr_sections import EMPTY, NUMBER, TITLES, Sections, html_lines
from sizeup.importers.intervals import ALIKE, APART, LAST_DIGIT, Intervals, LoadInterval, Stated, contradiction, without
from sizeup.text import listed, one_line
from sizeup.units import as_percent, format_in

_REPORT = re.compile(r"^.*(?:WORKLOAD REPOSITORY(?:\s+PDB)?|STATSPACK)\s+report", re.IGNORECASE | re.MULTILINE)
_PROFILE = re.compile(r"^Load Profile\b.*$", re.MULTILINE)
_LINE = re.compile(r"^\s*([A-Z][A-Za-z ]+?(?:\s*\([A-Za-z]+\))?):\s+(\S+)")
_BLOCK = re.compile(r"(?:Std Block Size|Block size)\s*:?\s*([\d,]{1,12})\s*(K?)", re.IGNORECASE)
_SNAPSHOT = re.compile(r"^\s*(Begin|End) Snap:\s+(\d{1,12})\s", re.MULTILINE)
_SESSIONS = re.compile(r"^\s*(?:Begin|End) Snap:\s+\d{1,12}\s+\S{1,20}\s+\S{1,20}\s+(\d[\d,]{0,11})\s", re.MULTILINE)
_ELAPSED = re.compile(r"^\s*Elapsed:\s+(?:N/A\s+)?(\d[\d,]{0,11}(?:\.\d{1,3})?)\s*\(mins\)", re.MULTILINE)
_LAST_LINE = re.compile(r"^[ \t]*End of Report\b", re.IGNORECASE | re.MULTILINE)
_RAC = re.compile(r"\s*\(RAC\)", re.IGNORECASE)
_SUMMARY = 9
"""Figures of Database Summary: block size, two snapshots, instances and hosts in the report and in all, two times."""
_SERVER = 12
"""Figures of OS Statistics By Instance: CPUs, cores, sockets, 2 of load, 5 percentages, busy and idle seconds."""
ALL_INSTANCES = "*"
_INSTANCE = re.compile(r"^\s*(?:\S+\s+)?(?:\d{5,12}\s+)?(\S+)\s+(\d{1,4})\s+\d\d-\S{1,8}\s?-\d\d", re.MULTILINE)
_DATABASE = re.compile(r"^\s*(?:\S+\s+)?(\d{5,12})\s+\S+\s", re.MULTILINE)
_CLUSTER = re.compile(r"\d\.\d{1,3}\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?\s+YES\b", re.ASCII)
_CPUS = re.compile(r"Host CPU\s+\(CPUs:\s*(\d{1,6})\s+Cores:\s*(\d{1,6})")
_HEADER_CHARACTERS = 20_000
"""Database, instance and snapshots stand above this."""
LICENSE = "AWR is part of the Diagnostics Pack and needs its license"
_NEEDED = ("redo size", "physical read", "physical write", "read io", "write io")
"""How the lines begin that are read."""
_PROFILE_LINES = 40
"""The profile is shorter than this in every known version."""
_OF_MEMORY = ("SGA Target Advisory", "SGA Memory Summary")
_MEBIBYTE = 1048576.0
_HOT_PERCENT = 50
"""Segments that cause less of the reads are no hot set."""
_NOISE = 1.01
"""An estimate of the advisory within 1 % is the same."""


class InstanceReport(Struct, frozen=True):
    """What one report says."""

    interval: LoadInterval
    of: tuple[str, ...]
    """Database and snapshots; empty where the report does not name them."""
    instance: str
    cluster: bool
    stated: tuple[Stated, ...]
    remarks: tuple[tuple[str, str], ...]
    left_out: str = ""
    """What it lacks without its end; empty for a whole one."""


def parse_awr(text: str, where: str, more: Sequence[tuple[str, str]] = ()) -> Intervals:
    """One interval for each pair of snapshots; a file may hold several reports, and ``more`` files, too.

    Totals of the instance activity count most: they have control files, archiving and backups, too. The load profile
    has requests and MB of the database since 11.2.0.4; before, and in Statspack, it has blocks, which become bytes by
    the report's block size, and no requests.
    """
    files = [(text, where), *more]
    reports = [report for text, where in files for report in _reports(text, where)]
    if len(databases := dict.fromkeys(report.of[0] for report in reports if report.of)) > 1:
        raise MalformedError(
            f"{where}: expected reports of one database, found DB Id {' and '.join(databases)}: {APART}"
        )
    return add_up(reports, [LICENSE] if any("WORKLOAD REPOSITORY" in text for text, _ in files) else ())


def add_up(reports: Sequence[InstanceReport], caveats: Sequence[str]) -> Intervals:
    """Return one interval for each pair of snapshots, whose numbers are the same on all instances of a cluster."""
    groups: list[tuple[tuple[str, ...], dict[str, LoadInterval]]] = []
    for report in reports:
        same = next((group for of, group in groups if of and of == report.of), None)
        if same is None or not report.instance:
            groups.append((report.of, {report.instance: report.interval}))
        else:
            same[report.instance] = report.interval
    caveats = [*caveats]
    sizes = [len(group) for _, group in groups if ALL_INSTANCES not in group]
    most = max(sizes, default=0)
    if most > 1:
        caveats.append(f"the figures of {most} instances of a cluster were added up")
    clusters = [report for report in reports if report.cluster]
    one_instance = any(report.instance == ALL_INSTANCES for report in clusters) or (
        bool(clusters and sizes) and min(sizes) < max(most, 2)
    )
    if one_instance:
        caveats.append("instances of the cluster are missing: give the reports of all of them together")
    return Intervals(
        tuple(group.get(ALL_INSTANCES) or _sum(tuple(group.values())) for _, group in groups),
        tuple(caveats),
        tuple(stated for report in reports for stated in report.stated),
        tuple(dict.fromkeys(remark for report in reports for remark in report.remarks)),
        left_out=" and ".join(filter(None, dict.fromkeys(report.left_out for report in reports))),
        one_instance=one_instance,
    )


def _reports(text: str, where: str) -> list[InstanceReport]:
    """Return the reports of one file."""
    if re.search(r"<html\b|<table\b", text[:100_000], re.IGNORECASE):
        text = html_lines(text)
    starts = list(_REPORT.finditer(text))
    if not starts:
        raise MalformedError(
            f"{where}: expected 'WORKLOAD REPOSITORY report' or 'STATSPACK report', found neither; comparisons of "
            "periods and ASH or ADDM reports hold no load profile: create a report with awrrpt.sql or spreport.sql"
        )
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [
        (_cluster_report if _RAC.match(text, start.end()) else _report)(text[start.start() : end], where)
        for start, end in zip(starts, ends, strict=True)
    ]


def _left_out(found: Sections, text: str, where: str, *titles: str) -> str:
    """Return the statistics that are no numbers, and which sections a report without its last line lacks.

    Raise where the last section was cut. Whole ones that somebody pasted look as a report does that was cut there.
    """
    activity = [row.name for row in found.rows("activity") if row.figures[1:2] == (None,)]
    hidden = listed([name for name in activity if any(one.startswith(name) for one in _COUNTED)])
    hidden = hidden and f"{hidden}: #### in the report, whose HTML has the digits"
    if _LAST_LINE.search(text):
        return hidden
    if found.unended:
        raise MalformedError(
            f"{where}: {found.unended}: expected the end of this section, a line of dashes or </table>, found that of "
            "the report: it was cut; create it again, or paste whole sections"
        )
    lacking = listed([title for title in titles if not found.rows(TITLES[title])])
    end = f"its line 'End of Report': cut, or pasted in part{lacking and f', without {lacking}'}"
    return listed([*filter(None, (hidden, end))])


def _sum(parts: Sequence[LoadInterval]) -> LoadInterval:
    """Instances of one interval; what one of them does not tell stays unknown."""
    if len(parts) == 1:
        return parts[0]

    def total(name: str) -> float | None:
        values = [getattr(part, name) for part in parts]
        return None if None in values else sum(values)

    def share(name: str, of: str) -> float | None:
        known = [(getattr(part, name), getattr(part, of)) for part in parts]
        reads = [None if None in pair else pair[0] * pair[1] for pair in known]
        whole = total(of)
        return sum(one for one in reads if one) / whole if whole and None not in reads else None

    rates = ("bytes", "requests", "redo_bytes", "redo_writes", "sequential_bytes")
    names = (*(f"{rate}_per_second" for rate in rates), "busy_cores", "spread_cores", "cores")
    of_requests = share("read_share", "requests_per_second")
    of_bytes = share("read_share_of_bytes", "bytes_per_second")
    return LoadInterval(read_share=of_requests, read_share_of_bytes=of_bytes, **{name: total(name) for name in names})


def _report(text: str, where: str) -> InstanceReport:
    heading = _PROFILE.search(text)
    if heading is None:
        raise MalformedError(f"{where}: expected a section 'Load Profile', found none: the report was cut")
    if "Per Second" not in heading.group() and "Per Second" not in text[heading.end() : heading.end() + 200]:
        raise MalformedError(f"{where}: Load Profile: expected a first column 'Per Second', found {heading.group()!r}")
    found = Sections(text)
    left_out = _left_out(found, text, where, "Operating System Statistics", "Instance Activity Stats", *_OF_MEMORY)
    cells = {
        match[1].strip().lower(): match[2]
        for line in text[heading.end() :].splitlines()[:_PROFILE_LINES]
        if (match := _LINE.match(line)) and match[2] != EMPTY
    }
    for name, cell in cells.items():
        if name.startswith(_NEEDED) and not NUMBER.fullmatch(cell):
            raise MalformedError(
                f"{where}: Load Profile: {name}: expected a number such as 1,234.5, found {one_line(cell, 24)!r}; "
                "reports in other notations: set NLS_NUMERIC_CHARACTERS='.,' and create the report again"
            )
    profile = {name: float(cell.replace(",", "")) for name, cell in cells.items() if NUMBER.fullmatch(cell)}
    redo = profile.get("redo size (bytes)", profile.get("redo size"))
    if redo is None:
        raise MalformedError(
            f"{where}: Load Profile: expected a line 'Redo size' with a number, found {', '.join(profile) or 'none'}; "
            "a report without figures covers no activity"
        )
    size = _BLOCK.search(text)
    block = float(size[1].replace(",", "")) * (1024 if size[2] else 1) if size and size[1].strip(",") else None
    minutes = _elapsed(text, where)
    utilization, cpus, cores, of_cpu = _cpu(found, text, profile, minutes)
    _require_consistent(found, where, redo, minutes, cpus, cores)
    interval, of_block, remarks = storage_load(found, profile, redo, block, where)
    interval = replace(
        interval,
        cpu_utilization=utilization,
        busy_cores=None if utilization is None or cores is None else utilization * cores,
        cores=cores,
        spread_cores=spread_cores(utilization, cpus, cores),
    )
    header = text[:_HEADER_CHARACTERS]
    stated = [*_memory(found, header, block)]
    remarks += of_cpu
    shares = [row.figures[-1] for row in found.rows("segments") if len(row.figures) >= 2]
    hot = [share for share in shares if share is not None and share <= 100]
    if sum(hot) >= _HOT_PERCENT:
        stated.append(Stated("db.hot_percent", min(sum(hot), 100.0) / 100, "1"))
        remark = (
            f"{len(hot)} segments cause {min(sum(hot), 100.0):.0f} % of the physical reads (hot set); the report does "
            "not state their size; use --set db.hot_gb=N"
        )
        remarks.append(("db.hot_percent", remark))
    instance, database = _INSTANCE.search(header), _DATABASE.search(header)
    snapshots = {match[1]: match[2] for match in _SNAPSHOT.finditer(header)}
    of = (database[1], snapshots["Begin"], snapshots["End"]) if database and len(snapshots) == 2 else ()
    return InstanceReport(
        interval, of, instance[2] if instance else "", _CLUSTER.search(header) is not None, (*stated, *of_block),
        tuple(remarks), left_out,
    )  # fmt: skip


def spread_cores(utilization: float | None, cpus: float | None, cores: float | None) -> float | None:
    """Return the busy cores if each busy thread has one of its own; None where a core has one thread, or unknown."""
    return min(utilization * cpus, cores) if utilization is not None and cpus and cores and cpus > cores else None


def storage_load(
    found: Sections, profile: Mapping[str, float], redo: float, block: float | None, where: str
) -> tuple[LoadInterval, tuple[Stated, ...], list[tuple[str, str]]]:
    """Return reads, writes and redo a second, the size of a block, and remarks; ``redo`` is bytes a second."""
    reads, writes, sequential, remarks = _requests(found, profile, block, where)
    requests = None if reads is None or writes is None else reads + writes
    share = reads / requests if reads is not None and requests else None
    redo_writes = _per_second(found, "redo writes")
    redo_writes = found.figure("io", "Redo Requests", 2) if redo_writes is None else redo_writes
    read, written = _moved(found, profile, redo, block, where)
    of_bytes = read / (read + written) if read + written else None
    interval = LoadInterval(
        read + written, requests, share, redo, redo_writes, sequential, read_share_of_bytes=of_bytes
    )
    stated = (Stated("workload.io_kib", block, "bytes"),) if block and reads is not None else ()
    return interval, stated, remarks


def _cluster_report(text: str, where: str) -> InstanceReport:
    """A report of all instances (``awrgrpt.sql``): its statistics of the cluster, else the sum of their blocks."""
    found = Sections(text)
    left_out = _left_out(found, text, where, "OS Statistics By Instance", "System Statistics (Global)")
    summary = next((row for row in found.rows("summary") if len(row.figures) >= _SUMMARY), None)
    block, begin, end, reported, total = summary.figures[-_SUMMARY:][:5] if summary else (None,) * 5
    if not (summary and begin and end and reported and total and begin < end):
        raise MalformedError(
            f"{where}: expected a section 'Database Summary' with a first and a later snapshot and the numbers of "
            f"instances, found {[*summary.figures] if summary else 'none'}"
        )
    activity = _per_second(found, "redo size")
    blocks = next((row.figures for row in found.rows("instances") if row.name == "Sum" and len(row.figures) > 3), ())
    redo = blocks[3] * 1024 if activity is None and blocks and blocks[3] is not None else activity
    if redo is None:
        raise MalformedError(
            f"{where}: expected 'redo size' in System Statistics (Global), or a row 'Sum' in System Statistics - Per "
            "Second, found neither: the report was cut"
        )
    names = ("physical reads", "physical writes")
    profile = {name: one for name, one in zip(names, blocks[1:3], strict=False) if one is not None}
    _require_consistent(found, where, redo, summary.figures[-1] or 0.0)
    interval, stated, remarks = storage_load(found, profile, redo, block, where)
    interval = replace(interval, **_cluster_cpus(found, int(reported)))
    of = (summary.name.split()[0], f"{begin:.0f}", f"{end:.0f}")
    return InstanceReport(interval, of, ALL_INSTANCES, reported < total, stated, tuple(remarks), left_out)


def _cluster_cpus(found: Sections, instances: int) -> dict[str, float]:
    """Busy cores of all servers; none unless the figures of every instance agree, as a missing column moves others."""
    rows = [row.figures[:_SERVER] for row in found.rows("servers") if row.name.isdecimal()]
    known = [tuple(one for one in figures if one is not None) for figures in rows]
    servers = [(one[10] / (one[10] + one[11] or 1.0), *one) for one in known if len(one) == _SERVER]
    if len(servers) != instances or any(abs(100 * share - one[5]) > 1 or one[1] > one[0] for share, *one in servers):
        return {}
    busy = {"busy_cores": sum(share * one[1] for share, *one in servers), "cores": sum(one[1] for _, *one in servers)}
    spread = [spread_cores(share, one[0], one[1]) for share, *one in servers]
    return {**busy, "spread_cores": sum(filter(None, spread))} if all(spread) else busy


def _per_second(found: Sections, name: str) -> float | None:
    return found.figure("activity", name, 1)


def _moved(
    found: Sections, profile: Mapping[str, float], redo: float, block: float | None, where: str
) -> tuple[float, float]:
    """Bytes a second of reads and of writes, without redo; of reports that have no totals from blocks."""
    read = _per_second(found, "physical read total bytes")
    written = _per_second(found, "physical write total bytes")
    if read is not None and written is not None:
        return read, without(written, redo, "physical write total bytes", "Redo size", "MB/s", where)
    total = [found.figure("io", "Total (MB)", column) for column in (1, 2)]
    if total[0] is not None and total[1] is not None:
        written = total[1] * _MEBIBYTE
        return total[0] * _MEBIBYTE, without(written, redo, "IO Profile: Total (MB)", "Redo size", "MB/s", where)
    if "read io (mb)" in profile and "write io (mb)" in profile:
        return profile["read io (mb)"] * _MEBIBYTE, profile["write io (mb)"] * _MEBIBYTE
    reads = profile.get("physical read (blocks)", profile.get("physical reads"))
    writes = profile.get("physical write (blocks)", profile.get("physical writes"))
    if reads is None or writes is None:
        raise MalformedError(f"{where}: Load Profile: expected physical reads and writes, found {', '.join(profile)}")
    if block is None:
        raise MalformedError(f"{where}: expected 'Std Block Size' to turn blocks into bytes, found none")
    return reads * block, writes * block


_Requests = tuple[float | None, float | None, float | None, list[tuple[str, str]]]
"""Random reads and writes a second, sequential bytes a second, and remarks."""


def _requests(found: Sections, profile: Mapping[str, float], block: float | None, where: str) -> _Requests:
    reads = _per_second(found, "physical read total IO requests")
    writes = _per_second(found, "physical write total IO requests")
    redo = _per_second(found, "redo writes")
    if reads is not None and writes is not None and redo is not None:
        writes = without(writes, redo, "physical write total IO requests", "redo writes", "IOPS", where)
        several = _per_second(found, "physical read total multi block requests")
        moved = _per_second(found, "physical read total bytes")
        if several is None or moved is None:
            return reads, writes, None, [_ALL_RANDOM]
        if block is None:
            return reads, writes, None, [_NO_BLOCK_SIZE] if several else []
        names = "physical read total IO requests", "physical read total multi block requests"
        single = without(reads, several, *names, "IOPS", where)
        return single, writes, max(moved - single * block, 0.0) if several else 0.0, []
    total = [found.figure("io", "Total Requests", column) for column in (1, 2)]
    redo_part = [found.figure("io", "Redo Requests", column) for column in (1, 2)]
    if None not in total and None not in redo_part:
        reads, writes = (
            without(one or 0.0, part or 0.0, "IO Profile: Total Requests", "Redo Requests", "IOPS", where)
            for one, part in zip(total, redo_part, strict=True)
        )
        return reads, writes, None, [_ALL_RANDOM]
    of_database = profile.get("read io requests"), profile.get("write io requests")
    if None not in of_database or reads is None or writes is None:
        return *of_database, None, [_ALL_RANDOM] if of_database[0] is not None else []
    return reads, writes, None, [_ALL_RANDOM, _WITH_REDO]


_SEVERAL = "requests of several blocks count as random I/O, because"
_ALL_RANDOM = ("workload.iops", f"{_SEVERAL} they are not counted apart")
_NO_BLOCK_SIZE = ("workload.iops", f"{_SEVERAL} the report has no line Std Block Size")
_TWICE = "writes of redo count as random I/O, and again as redo, because the report has no line redo writes"
_WITH_REDO = ("workload.iops", _TWICE)


def _cpu(
    found: Sections, text: str, profile: Mapping[str, float], minutes: float
) -> tuple[float | None, float | None, float | None, list[tuple[str, str]]]:
    """Utilization of the server's CPUs, their number, its physical cores, and remarks on the first."""
    host = _CPUS.search(text)
    cpus = found.figure("os", "NUM_CPUS") or (float(host[1]) if host else None)
    cores = found.figure("os", "NUM_CPU_CORES") or (float(host[2]) if host else None)
    elapsed = minutes * 60
    own, background = found.figure("time", "DB CPU"), found.figure("time", "background cpu time") or 0.0
    own = (own + background) / elapsed if own is not None and elapsed else profile.get("db cpu(s)")
    busy, idle = found.figure("os", "BUSY_TIME"), found.figure("os", "IDLE_TIME")
    if busy is not None and idle is not None and busy + idle > 0:
        counted = (busy + idle) / 100 / elapsed if elapsed else 0.0
        remarks = []
        if cpus and counted and not 1 / ALIKE < counted / cpus < ALIKE:
            several = (
                f"BUSY_TIME and IDLE_TIME are of {counted:.3g} CPUs over {elapsed / 60:g} minutes, NUM_CPUS is "
                f"{cpus:g}: CPUs were added or removed, or other guests of the host had some"
            )
            remarks = [("workload.cpu_cores", several)]
        if own is None or not elapsed or not busy:
            return busy / (busy + idle), cpus, cores, remarks
        share = min(own * elapsed * 100 / busy, 1.0)
        remark = f"all processes of the server count; this database took {as_percent(share)} of the busy CPU time"
        return busy / (busy + idle), cpus, cores, [*remarks, ("workload.cpu_cores", remark)]
    if own is None or not cpus:
        return None, None, None, []
    remark = "CPU time of this database alone: the report has no Operating System Statistics"
    return own / cpus, cpus, cores, [("workload.cpu_cores", remark)]


_COUNTED = (
    "redo size", "redo writes", "physical read total bytes", "physical write total bytes",
    "physical read total IO requests", "physical write total IO requests", "physical read total multi block requests",
)  # fmt: skip
"""The statistics that are read, of which a report has the total and the rate."""


def _require_consistent(
    found: Sections, where: str, redo: float, minutes: float, cpus: float | None = None, cores: float | None = None
) -> None:
    """Raise ``MalformedError`` where figures of a report cannot be of one interval; ``minutes`` is 0 if unknown."""
    busy, rate = found.figure("os", "BUSY_TIME"), _per_second(found, "redo size")
    most = (cpus or 0.0) * minutes * 60 * 100
    if busy and most and busy > most * ALIKE:
        expected = f"at most {most:,.0f}, {cpus:.0f} CPUs of {minutes:g} minutes"
        raise contradiction(where, "BUSY_TIME", expected, f"{busy:,.0f}")
    if rate and not 1 / ALIKE < redo / rate < ALIKE:
        expected = f"{format_in(rate, 'MB/s')} as in Instance Activity"
        raise contradiction(where, "Load Profile: Redo size", expected, format_in(redo, "MB/s"))
    if cpus and cores and cores > cpus:
        raise contradiction(where, "NUM_CPU_CORES", f"at most NUM_CPUS = {cpus:.0f}", f"{cores:.0f}")
    for name in _COUNTED if minutes else ():
        total, each = found.figure("activity", name), _per_second(found, name)
        counted = (total or 0.0) / minutes / 60
        if total and each is not None and abs(counted - each) > (ALIKE - 1) * each + LAST_DIGIT:
            expected = f"{counted:,.1f} a second, its total over {minutes:g} minutes"
            raise contradiction(where, name, expected, f"{each:,.1f}")


def _elapsed(text: str, where: str) -> float:
    """Return the minutes of a report; 0 where it does not say them."""
    match = _ELAPSED.search(text[:_HEADER_CHARACTERS])
    minutes = float(match[1].replace(",", "")) if match else 0.0
    if match and not minutes:
        raise contradiction(where, "Elapsed", "a time between its snapshots", f"{match[1]} minutes")
    return minutes


def _memory(found: Sections, header: str, block: float | None) -> Iterator[Stated]:
    """Yield the SGA, its advised size and its pools, sessions and the private memory (PGA) of each."""
    total = next((row.figures[-1] for row in found.rows("sga") if row.name == "sum"), None)
    if total is None:
        used = next((row.figures[-1] for row in found.rows("memory") if row.name == "SGA use (MB)"), None)
        total = None if used is None else used * _MEBIBYTE
    if total:
        yield Stated("sga.mb", total, "bytes")
    advised = _advisory(found)
    if advised:
        yield Stated("sga.advisory_mb", advised * _MEBIBYTE, "bytes")
    # Of the PGA in use and of sessions the busier snapshot counts.
    row = next((row for row in found.rows("memory") if row.name == "PGA use (MB)"), None)
    used = max((figure for figure in row.figures if figure), default=0.0) if row else 0.0
    sessions = max((float(match[1].replace(",", "")) for match in _SESSIONS.finditer(header)), default=0.0)
    if sessions:
        yield Stated("memory.sessions", sessions, "1")
    if used and sessions:
        yield Stated("memory.session_mib", used * _MEBIBYTE / sessions, "bytes")
    for pool in found.rows("pools"):  # those that hold chosen segments
        key = {"K": "sga.keep_mb", "R": "sga.recycle_mb"}.get(pool.name)
        if key and pool.figures[0] and block:
            yield Stated(key, pool.figures[0] * block, "bytes")


def _advisory(found: Sections) -> float | None:
    """The smallest size of the SGA Target Advisory above which it predicts no fewer reads."""
    sizes = [
        (float(row.name.replace(",", "")), reads)
        for row in found.rows("advisory")
        if NUMBER.fullmatch(row.name) and (reads := row.figures[-1]) is not None
    ]
    sizes.sort(reverse=True)
    advised = None
    for size, reads in sizes:
        if reads > sizes[0][1] * _NOISE:
            break
        advised = size
    return advised if len(sizes) > 1 else None
