"""Snapshots of PostgreSQL, MySQL, MariaDB and SQL Server as intervals of a workload.

A snapshot is what a statement of ``sizeup help workload-of-a-database`` prints: a first line that names the kind of
server, then lines of ``PART.KEY=VALUE``, then ``end.snapshot``. The parts:

- ``same``: the server and its start, equal in all snapshots;
- ``now``: a value at this moment, ``now.time`` in seconds;
- ``since``: when the counters whose keys begin so were 0, in seconds of the same clock;
- ``sum``: a counter.

``SHOW GLOBAL STATUS`` of MySQL and MariaDB is read without such lines, too: ``Uptime`` is its clock then.

What the counters count, by the servers' documentation and sources:

- PostgreSQL 14 and 15 count blocks that were not in the shared buffers (``blks_read``) and blocks that the
  checkpointer, the background writer and the others wrote; since 16 ``pg_stat_io`` has both by context, since 18 also
  their bytes. All of them are calls to the kernel. A write of the log begins and ends with whole blocks, so those that
  are partly filled are written again: bytes written = bytes generated + writes x block size, less where a write ends
  with a block.
- InnoDB's ``data_writes`` are all writes to files, the log included, except in late MariaDB, where they are those of
  pages and of the doublewrite buffer. ``data_written`` includes the log in MySQL, not in MariaDB since 10.5. Some
  MariaDB since 10.8 have no ``log_writes``, and their ``os_log_written`` is what was generated.
- SQL Server counts for each file the requests that it made, data and log apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from msgspec import Struct

from sizeup.errors import MalformedError
from sizeup.importers.intervals import Intervals, LoadInterval, Stated, without
from sizeup.units import format_in

KINDS = ("postgresql", "mysql", "sqlserver")
_CLOCKS = {"status": "Uptime", "flush": "Uptime_since_flush_status"}
"""Of MySQL, each by what began with it."""
_GAUGES = ("Innodb_buffer_pool_pages_total", "Innodb_page_size")
_COUNTERS = (
    "Aria_pagecache_reads", "Binlog_cache_use", "Com_commit", "Innodb_data_read", "Innodb_data_reads",
    "Innodb_data_writes", "Innodb_data_written", "Innodb_dblwr_writes", "Innodb_log_writes", "Innodb_os_log_written",
    "Innodb_pages_written",
)  # fmt: skip
"""The variables of ``SHOW GLOBAL STATUS`` that are read."""
_HELP = "run the statement that sizeup help workload-of-a-database prints"
_MARK = re.compile(rf"^[ \t|\ufeff]*sizeup\.snapshot/1: ({'|'.join(KINDS)})[ \t\r|]*$", re.MULTILINE)
_LINE = re.compile(r"(same|now|since|sum)\.([^\s=]+(?: [^\s=]+)*)=(.*)")
_VARIABLE = re.compile(r"(\w+)\s*[\t|]\s*(\S*)")
_STATUS_OUTPUT = re.compile(r"^[|\s]*Innodb_data_reads\s*[\t|]\s*\d", re.MULTILINE)
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_END = "end.snapshot"
_SAME_SECONDS = 2.5
"""``Uptime`` is in whole seconds, so that what it began at is known within one on either side."""


class CounterSnapshot(Struct):
    """One snapshot while it is read, and then."""

    kind: str
    where: str
    line: int
    values: dict[str, str]
    """By part and key."""
    lines: dict[str, int]
    marked: bool

    def numbers(self, part: str) -> dict[str, float]:
        """Return the values of a part as numbers."""
        found = {}
        for name, value in self.values.items():
            if name.startswith(part + "."):
                if not _NUMBER.fullmatch(value):
                    raise MalformedError(f"{self.at(name)}: expected a number for {name}, found {value[:40]!r}")
                found[name.removeprefix(part + ".")] = float(value)
        return found

    def at(self, name: str = "") -> str:
        """Return the place of a line, for an error."""
        return f"{self.where}: line {self.lines.get(name, self.line)}"


class Span(Struct, frozen=True):
    """What was counted from one snapshot to another, or from the start of the counters to the only one."""

    where: str
    rates: Mapping[str, float]
    """Counters per second."""
    now: Mapping[str, float]
    """Values at the end."""
    kind: str = ""
    """The kind of server; MariaDB is one of its own."""
    version: str = ""
    """As the server says it; empty where the snapshots do not."""

    def rate(self, *patterns: str) -> float | None:
        """Return the sum of the counters whose names match, per second; None where there is none."""
        found = [rate for name, rate in self.rates.items() if any(fnmatchcase(name, one) for one in patterns)]
        return sum(found) if found else None

    def at_end(self, name: str) -> float:
        """Return a value at the end; raise ``MalformedError`` where the snapshot lacks it."""
        if name not in self.now:
            raise MalformedError(f"{self.where}: expected a line now.{name}, found none; {_HELP}")
        return self.now[name]


def is_snapshot(text: str) -> bool:
    """Whether a text has a snapshot, or begins as those without a first line do."""
    return _MARK.search(text) is not None or _STATUS_OUTPUT.search(text[:100_000]) is not None


def spans(sources: Sequence[tuple[str, str]]) -> tuple[str, list[Span], Span]:
    """Return the kind of server, the span between each snapshot and the next, and the span of all.

    ``sources`` are texts and their names, in the order of time.
    """
    found = [one for text, where in sources for one in _snapshots(text, where)]
    if len(found) == 1:
        alone = _since_start(found[0])
        return found[0].kind, [alone], alone
    between = [_between(*pair) for pair in pairwise(found)]
    return found[0].kind, between, between[0] if len(between) == 1 else _between(found[0], found[-1])


def _snapshots(text: str, where: str) -> Iterator[CounterSnapshot]:
    """Yield the snapshots of one file; raise ``MalformedError`` for one that was cut."""
    current: CounterSnapshot | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip("| \t\r\ufeff")
        mark = _MARK.fullmatch(line)
        name, value = _named(line)
        if current is None and not mark and _LINE.fullmatch(line):
            expected = f"a first line sizeup.snapshot/1: {'|'.join(KINDS)}, found {line[:40]!r} before it"
            raise MalformedError(f"{where}: line {number}: expected {expected}: the beginning was cut; {_HELP}")
        if mark or (name and (current is None or (not current.marked and name in current.values))):
            if current is not None:
                yield _complete(current, f"another snapshot in line {number}")
            current = CounterSnapshot(mark[1] if mark else "mysql", where, number, {}, {}, marked=mark is not None)
        elif current is not None and line == _END:
            yield _complete(current)
            current = None
        if name and current is not None:
            if current.values.get(name, value) != value:
                expected = f"expected {name} once in a snapshot, found it in line {current.lines[name]}, too"
                raise MalformedError(f"{where}: line {number}: {expected}")
            current.values[name], current.lines[name] = value, number
    if current is not None:
        yield _complete(current, "the end of the file")


def _named(line: str) -> tuple[str, str]:
    """Return part and key of a line, and its value; empty ones for a line that is neither."""
    if found := _LINE.fullmatch(line):
        return f"{found[1]}.{found[2]}", found[3]
    variable = _VARIABLE.fullmatch(line)
    if variable is None or variable[1] not in (*_CLOCKS.values(), *_GAUGES, *_COUNTERS):
        return "", ""
    part = "sum" if variable[1] in _COUNTERS else "now"
    return f"{part}.status.{variable[1]}", variable[2]


def _complete(snapshot: CounterSnapshot, found: str = "") -> CounterSnapshot:
    """Return a snapshot with the clock of MySQL; raise ``MalformedError`` where its end was not there but ``found``."""
    if snapshot.marked and found:
        raise MalformedError(f"{snapshot.at()}: expected a snapshot that ends with {_END!r}, found {found}; {_HELP}")
    values = snapshot.values
    if snapshot.kind == "mysql":
        version = values.get("same.version", "").lower()
        snapshot.kind = "mariadb" if "mariadb" in version or f"sum.{_MARIADB}" in values else "mysql"
        if version and snapshot.kind == "mariadb" and "mariadb" not in version:
            expected = f"expected counters of MySQL {version[:40]}, found one of MariaDB"
            raise MalformedError(f"{snapshot.at(f'sum.{_MARIADB}')}: {expected}: take snapshots of one server")
        if "now.status.Uptime" not in values:
            raise MalformedError(f"{snapshot.at()}: expected a line Uptime below, found none; run SHOW GLOBAL STATUS")
        now = snapshot.numbers("now")
        time = now.setdefault("time", now["status.Uptime"])
        values["now.time"] = f"{time:.6f}"
        for name, clock in _CLOCKS.items():
            if f"status.{clock}" in now:
                values[f"since.{name}"] = f"{max(time - now[f'status.{clock}'], 0.0):.6f}"
    if "now.time" not in values:
        raise MalformedError(f"{snapshot.at()}: expected a line now.time below, found none; {_HELP}")
    return snapshot


def _since_start(snapshot: CounterSnapshot) -> Span:
    """Return the averages since the counters began; those whose start is unknown are left out."""
    now, since = snapshot.numbers("now"), snapshot.numbers("since")
    rates = {}
    for name, count in snapshot.numbers("sum").items():
        began = max((part for part in since if name.startswith(f"{part}.")), key=len, default=None)
        seconds = 0.0 if began is None else now["time"] - since[began]
        if seconds > 0:
            rates[name] = count / seconds
    if not rates:
        expected = "a second snapshot, because this one does not tell since when it counts, found one"
        raise MalformedError(f"{snapshot.at()}: expected {expected}")
    return Span(snapshot.at(), rates, now, snapshot.kind, snapshot.values.get("same.version", ""))


def _between(first: CounterSnapshot, second: CounterSnapshot) -> Span:
    """Return what was counted between two snapshots; raise ``MalformedError`` where they do not belong together."""
    before, after = (
        {"same.kind": one.kind}
        | {key: value for key, value in one.values.items() if key.startswith(("same.", "now.cpus"))}
        for one in (first, second)
    )
    for name in before | after:
        if before.get(name) != after.get(name):
            raise MalformedError(
                f"{second.at(name)}: expected snapshots of one server that was not restarted or changed in between, "
                f"{name} {before.get(name, 'missing')} as in {first.at(name)}, found {after.get(name, 'none')}"
            )
    start, end = (one.numbers("now")["time"] for one in (first, second))
    if end <= start:
        raise MalformedError(
            f"{second.at('now.time')}: expected a later snapshot than that of {first.at()} (second {start:.0f}), found "
            f"second {end:.0f}; give the snapshots in the order of time, without a restart between them"
        )
    was, since = first.numbers("since"), second.numbers("since")
    for name, began in since.items():
        if abs(was.get(name, began) - began) > _SAME_SECONDS:
            of_status = second.kind in ("mysql", "mariadb") and name in _CLOCKS
            clock = f"now.status.{_CLOCKS[name]}" if of_status else f"since.{name}"
            raise MalformedError(
                f"{second.at(clock)}: expected counters that began when those of {first.at()} did, found a start by "
                f"{clock} {began - was[name]:+.0f} s from it; the server was restarted or its statistics were "
                "reset: take both snapshots after that"
            )
    counts, later = first.numbers("sum"), second.numbers("sum")
    for name, count in counts.items():
        if later.get(name, -1.0) < count:
            raise MalformedError(
                f"{second.at(f'sum.{name}')}: expected sum.{name} of at least {count:.0f} as in "
                f"{first.at(f'sum.{name}')}, found {f'{later[name]:.0f}' if name in later else 'none'}; a database was "
                "dropped or statistics were reset: take both snapshots after that"
            )
    seconds = end - start
    rates = {name: (count - counts.get(name, 0.0)) / seconds for name, count in later.items()}
    return Span(second.at(), rates, second.numbers("now"), second.kind, second.values.get("same.version", ""))


_Remarks = Iterator[tuple[str, str]]
_RATES = ("workload.iops", "workload.mb_s")
_MARIADB = "status.Aria_pagecache_reads"
"""A counter that MySQL does not have."""
_VENDORS = {"sqlserver": "sql-server"}
"""What packs call a kind of snapshot, where they call it otherwise."""


def parse_snapshots(sources: Sequence[tuple[str, str]]) -> Intervals:
    """Return one interval for each snapshot and the next; of a single one, the averages since its counters began.

    ``sources`` are texts and their names, in the order of time.
    """
    kind, each, whole = spans(sources)
    interval, remarks = _DATABASES[kind]
    stated, vendor = tuple(_stated(whole.now)), _VENDORS.get(kind, kind)
    return Intervals(tuple(map(interval, each)), (), stated, tuple(remarks(whole)), vendor=vendor)


def _load(
    reads: float | None, writes: float | None, data: tuple[float | None, float | None],
    redo: tuple[float | None, float | None], commits: float | None, sequential: float | None = None,
    cpu: float | None = None, written: float | None = None, cpus: float | None = None,
) -> LoadInterval:  # fmt: skip
    """Return an interval of requests and of data read and written per second, bytes of both.

    Redo is apart: its bytes, its writes, bytes written.
    """
    moved = None if data[0] is None or data[1] is None else data[0] + data[1]
    of_bytes = data[0] / moved if data[0] is not None and moved else None
    requests = None if reads is None or writes is None else reads + writes
    share = reads / requests if reads is not None and requests else None
    logged = {"commits_per_second": commits, "redo_written_bytes_per_second": written, "cpus": cpus}
    return LoadInterval(moved, requests, share, *redo, sequential, cpu, **logged, read_share_of_bytes=of_bytes)


# PostgreSQL

_WRITTEN = ("bgwriter.buffers_checkpoint", "bgwriter.buffers_clean", "bgwriter.buffers_backend")


def _postgresql(span: Span) -> LoadInterval:
    redo = generated, log_writes = span.rate("wal.wal_bytes"), span.rate("wal.wal_write", "io.wal.normal.writes")
    to_log = span.rate("io.wal.normal.write_bytes")
    if to_log is None and generated is not None and log_writes is not None:
        to_log = generated + log_writes * span.at_end("wal_block_size")
    block = span.at_end("block_size")
    commits = span.rate("transaction.ids") or span.rate("database.*.xact_commit")
    if span.rate("io.*relation.*.reads") is None:
        read, written = span.rate("database.*.blks_read"), span.rate(*_WRITTEN)
        data = tuple(None if one is None else one * block for one in (read, written))
        return _load(read, written, (data[0], data[1]), redo, commits, written=to_log)
    reads, writes, moved = _requests(span, "io.*relation.*.", block)
    # Scans of large tables and bulk writes go through a ring of buffers.
    scans, bulk_writes, bulk = _requests(span, "io.*relation.bulk*.", block)
    return _load(reads - scans, writes - bulk_writes, moved, redo, commits, sum(bulk), written=to_log)


def _requests(span: Span, part: str, block: float) -> tuple[float, float, tuple[float, float]]:
    """Return reads and writes, and the bytes of each, per second of the contexts that begin so."""
    reads, writes = span.rate(f"{part}reads") or 0.0, span.rate(f"{part}writes", f"{part}extends") or 0.0
    read, written = span.rate(f"{part}read_bytes"), span.rate(f"{part}write_bytes", f"{part}extend_bytes")
    return reads, writes, (read or reads * block, written or writes * block)


def _postgresql_remarks(span: Span) -> _Remarks:
    reads, spent = span.rate("io.*relation.*.reads"), span.rate("io.*relation.*.read_time")
    if reads is None:
        reads, spent = span.rate("database.*.blks_read"), span.rate("database.*.blk_read_time")
    upper = (
        "calls to the kernel: an upper bound, because reads that the page cache serves and writes that it merges count"
    )
    if reads and spent:
        timed = f"a read took {format_in(spent / reads * 1e6, 'us')} on average; much less than the storage's own"
        upper = f"{upper}; {timed} latency means that the page cache served most"
    for key in _RATES:
        yield key, upper
    temporary = span.rate("database.*.temp_bytes")
    if temporary:
        yield "workload.mb_s", f"temporary files, {format_in(temporary, 'MB/s')}, are not counted"
    if not span.rate("transaction.ids"):
        yield "workload.commits_s", "transactions that only read count too: an upper bound"


# MySQL and MariaDB

_MAJOR_MINOR = re.compile(r"(\d{1,3})\.(\d{1,3})\.", re.ASCII)
_LOG_BLOCK_BYTES = 4096
"""Of most devices; MariaDB writes whole ones to its log."""


def _mysql(span: Span) -> LoadInterval:
    status = {name.removeprefix("status."): rate for name, rate in span.rates.items()}
    redo, log_writes = status.get("Innodb_os_log_written"), status.get("Innodb_log_writes")
    moved, written = status.get("Innodb_data_read"), status.get("Innodb_data_written")
    mariadb, to_log = _is_late_mariadb(span), None
    if mariadb and redo is not None and log_writes is not None:
        to_log = redo + log_writes * _LOG_BLOCK_BYTES
    if not mariadb and written is not None and redo is not None and log_writes is not None:
        written = without(written, redo, "Innodb_data_written", "Innodb_os_log_written", "MB/s", span.where)
    return _load(
        status.get("Innodb_data_reads"), _writes_of_data(span),
        (moved, written), (redo, log_writes), status.get("Com_commit"), written=to_log,
    )  # fmt: skip


def _writes_of_data(span: Span) -> float | None:
    """Return the writes per second without those of the log, where these are counted apart and are among them."""
    writes, log_writes = (span.rates.get(f"status.Innodb_{name}_writes") for name in ("data", "log"))
    if writes is None or log_writes is None or _may_lack_log(span):
        return writes
    pages = sum(span.rates.get(f"status.Innodb_{name}", 0.0) for name in ("pages_written", "dblwr_writes"))
    return max(writes - log_writes, min(writes, pages))


def _is_late_mariadb(span: Span) -> bool:
    """Return whether the bytes of data are without the log: of MariaDB since 10.5, or of an unknown version."""
    found = _MAJOR_MINOR.match(span.version)
    return span.kind == "mariadb" and (found is None or (int(found[1]), int(found[2])) >= (10, 5))


def _may_lack_log(span: Span) -> bool:
    """Return whether the writes may be those of data alone: late MariaDB is told by the pages that it wrote."""
    return _is_late_mariadb(span) and "status.Innodb_pages_written" not in span.rates


def _mysql_remarks(span: Span) -> _Remarks:
    redo, log_writes = (span.rates.get(f"status.Innodb_{name}") for name in ("os_log_written", "log_writes"))
    mariadb = _is_late_mariadb(span)
    if mariadb and not span.version:
        yield "workload.mb_s", "before MariaDB 10.5 the log counts too, and again as redo: the version is not given"
    if mariadb and log_writes is not None:
        yield "redo.written_mb_s", "in blocks of 4 KiB; less on a device with sectors of 512 bytes"
    if log_writes is None:
        too = "the log counts too, and again as redo, because this server does not count its writes apart"
        yield from ((key, too) for key in (_RATES[:1] if mariadb else _RATES))
    elif _may_lack_log(span):
        yield "workload.iops", "writes to the log may count too, and again as redo: Innodb_pages_written is missing"
    elif less := span.rates.get("status.Innodb_data_writes", 0.0) - (_writes_of_data(span) or 0.0):
        yield "workload.iops", f"less {format_in(float(f'{less:.4g}'), 'IOPS')} of writes to the log"
    if log_writes is not None and redo and not mariadb:
        yield "workload.mb_s", f"less {format_in(redo, 'MB/s')} of the log"
    durable = "COMMIT statements, each as durable as with innodb_flush_log_at_trx_commit=1"
    yield "workload.commits_s", f"{durable}; statements that commit by themselves (autocommit) are not counted"
    if span.rates.get("status.Binlog_cache_use"):
        for key in _RATES:
            yield key, "the binary log is not counted"


# SQL Server


def _sqlserver(span: Span) -> LoadInterval:
    read, written = span.rate("file.*.ROWS.bytes_read"), span.rate("file.*.ROWS.bytes_written")
    # What is read from the log, by backups and replicas, is no redo and no random I/O.
    of_log = span.rate("file.*.LOG.bytes_read")
    cpu, cpus = span.rate("process.cpu_ms"), span.now.get("cpus")
    return _load(
        span.rate("file.*.ROWS.reads"), span.rate("file.*.ROWS.writes"),
        (None if read is None else read + (of_log or 0.0), written),
        (span.rate("file.*.LOG.bytes_written"), span.rate("file.*.LOG.writes")), span.rate("commits.write"), of_log,
        min(cpu / 1000 / cpus, 1.0) if cpu is not None and cpus else None, cpus=cpus,
    )  # fmt: skip


def _sqlserver_remarks(span: Span) -> _Remarks:
    if "process.cpu_ms" in span.rates:
        yield "workload.cpu_cores", "CPU time of this database alone"
    yield "workload.iops", "requests of several pages (read-ahead, checkpoints) count as random I/O"


def _stated(now: Mapping[str, float]) -> Iterator[Stated]:
    page = now.get("status.Innodb_page_size", 0.0)
    pool = page * now.get("status.Innodb_buffer_pool_pages_total", 0.0)
    found = (
        ("workload.io_kib", now.get("block_size", page)),
        ("sga.mb", now.get("memory_bytes", pool)),
        ("db.gb", now.get("database_bytes", 0.0)),
    )
    yield from (Stated(key, value, "bytes") for key, value in found if value)


_DATABASES = {
    "postgresql": (_postgresql, _postgresql_remarks),
    "mysql": (_mysql, _mysql_remarks),
    "mariadb": (_mysql, _mysql_remarks),
    "sqlserver": (_sqlserver, _sqlserver_remarks),
}
