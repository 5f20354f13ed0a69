"""Snapshots of PostgreSQL, MySQL, MariaDB and SQL Server as intervals of a workload.

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

from collections.abc import Iterator, Mapping, Sequence

from sizeup.importers.intervals import Intervals, LoadInterval, Stated
from sizeup.importers.snapshots import Span, spans
from sizeup.units import format_in

_Remarks = Iterator[tuple[str, str]]
_RATES = ("workload.iops", "workload.mb_s")
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
    reads: float | None, writes: float | None, moved: float | None, redo: tuple[float | None, float | None],
    commits: float | None, sequential: float | None = None, cpu: float | None = None,
) -> LoadInterval:  # fmt: skip
    """Return an interval of requests and bytes per second, with the bytes and writes of redo apart."""
    requests = None if reads is None or writes is None else reads + writes
    return LoadInterval(
        moved,
        requests,
        reads / requests if reads is not None and requests else None,
        *redo,
        sequential,
        cpu,
        commits_per_second=commits,
    )


# PostgreSQL

_WRITTEN = ("bgwriter.buffers_checkpoint", "bgwriter.buffers_clean", "bgwriter.buffers_backend")


def _postgresql(span: Span) -> LoadInterval:
    redo = span.rate("wal.wal_bytes"), span.rate("wal.wal_write", "io.wal.normal.writes")
    block = span.at_end("block_size")
    commits = span.rate("transaction.ids") or span.rate("database.*.xact_commit")
    if span.rate("io.*relation.*.reads") is None:
        read, written = span.rate("database.*.blks_read"), span.rate(*_WRITTEN)
        return _load(
            read, written, None if read is None or written is None else (read + written) * block, redo, commits
        )
    reads, writes, moved = _requests(span, "io.*relation.*.", block)
    # Scans of large tables and bulk writes go through a ring of buffers.
    scans, bulk_writes, sequential = _requests(span, "io.*relation.bulk*.", block)
    return _load(reads - scans, writes - bulk_writes, moved, redo, commits, sequential)


def _requests(span: Span, part: str, block: float) -> tuple[float, float, float]:
    """Return reads, writes and bytes per second of the contexts that begin so."""
    reads, writes = span.rate(f"{part}reads") or 0.0, span.rate(f"{part}writes", f"{part}extends") or 0.0
    moved = span.rate(*(f"{part}{name}_bytes" for name in ("read", "write", "extend")))
    return reads, writes, moved or (reads + writes) * block


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
    generated, writes = span.rate("wal.wal_bytes"), span.rate("wal.wal_write")
    written = span.rate("io.wal.normal.write_bytes")
    if written is None and generated is not None and writes is not None:
        written = generated + writes * span.at_end("wal_block_size")
    if written:
        yield "redo.mb_s", f"as generated; up to {format_in(written, 'MB/s')} is written, because blocks are rewritten"
    if not span.rate("transaction.ids"):
        yield "workload.commits_s", "transactions that only read count too: an upper bound"


# MySQL and MariaDB


def _mysql(span: Span) -> LoadInterval:
    status = {name.removeprefix("status."): rate for name, rate in span.rates.items()}
    redo, log_writes = status.get("Innodb_os_log_written"), status.get("Innodb_log_writes")
    moved, written = status.get("Innodb_data_read"), status.get("Innodb_data_written")
    if written is not None and redo is not None and "Aria_pagecache_reads" not in status:
        written = max(written - redo, 0.0)
    writes = status.get("Innodb_data_writes")
    if writes is not None and log_writes is not None:
        pages = sum(status.get(f"Innodb_{name}", 0.0) for name in ("pages_written", "dblwr_writes"))
        writes = max(writes - log_writes, min(writes, pages))
    return _load(
        status.get("Innodb_data_reads"), writes, None if moved is None or written is None else moved + written,
        (redo, log_writes), status.get("Com_commit"),
    )  # fmt: skip


def _mysql_remarks(span: Span) -> _Remarks:
    if "status.Innodb_log_writes" not in span.rates:
        yield "workload.iops", "writes of the log count too, because this server does not count them apart"
    yield "workload.commits_s", "COMMIT statements; statements that commit by themselves (autocommit) are not counted"
    if span.rates.get("status.Binlog_cache_use"):
        for key in _RATES:
            yield key, "the binary log is not counted"


# SQL Server


def _sqlserver(span: Span) -> LoadInterval:
    files = span.rate("file.*.ROWS.bytes_read", "file.*.ROWS.bytes_written")
    # What is read from the log, by backups and replicas, is no redo and no random I/O.
    of_log = span.rate("file.*.LOG.bytes_read")
    cpu, cpus = span.rate("process.cpu_ms"), span.now.get("cpus")
    return _load(
        span.rate("file.*.ROWS.reads"), span.rate("file.*.ROWS.writes"),
        None if files is None else files + (of_log or 0.0),
        (span.rate("file.*.LOG.bytes_written"), span.rate("file.*.LOG.writes")),
        span.rate("commits.write"), of_log, min(cpu / 1000 / cpus, 1.0) if cpu is not None and cpus else None,
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
    "sqlserver": (_sqlserver, _sqlserver_remarks),
}
