"""Snapshots of the counters of a database become a workload; what does not belong together is refused."""

import codecs
import re
from pathlib import Path

import pytest

from sizeup import cli
from sizeup.errors import MalformedError, UsageError
from sizeup.importers.databases import parse_snapshots
from sizeup.importers.intervals import Intervals, LoadInterval, Stated
from sizeup.input_file import read_text
from sizeup.quantity import Quantity
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload
from sizeup.sizing.rules import shipped


def snapshot(kind: str, *lines: str) -> str:
    return "\n".join((f"sizeup.snapshot/1: {kind}", *lines, "end.snapshot", ""))


def postgresql(time: int, *lines: str, started: int = 50) -> str:
    return snapshot(
        "postgresql", "same.server=7", f"same.started={started}", f"now.time={time}", "now.block_size=8192",
        "now.wal_block_size=8192", "now.memory_bytes=1000", "now.database_bytes=2000", *lines,
    )  # fmt: skip


def counters(**values: float) -> list[str]:
    return [f"sum.{name.replace('__', '.')}={value}" for name, value in values.items()]


def read(*texts: str) -> Intervals:
    return parse_snapshots([(text, f"{place}.txt") for place, text in enumerate(texts, 1)])


def pg14(time: int, times: int) -> str:
    """Counters of 14 and 15, multiples of one set, over two databases and the shared objects."""
    return postgresql(
        time, "since.wal=0", "since.bgwriter=0", "since.database=0",
        *counters(
            transaction__ids=100 * times, wal__wal_bytes=50000 * times, wal__wal_write=20 * times,
            bgwriter__buffers_checkpoint=30 * times, bgwriter__buffers_clean=10 * times,
            bgwriter__buffers_backend=60 * times, bgwriter__buffers_alloc=999 * times,
            bgwriter__buffers_backend_fsync=7 * times, database__0__blks_read=50 * times,
            database__5__blks_read=250 * times, database__5__xact_commit=500 * times,
            database__5__temp_bytes=1e7 * times,
        ),
    )  # fmt: skip


@pytest.mark.parametrize("texts", [(pg14(100, 1), pg14(110, 2)), (pg14(100, 1) + pg14(110, 2),)])
def test_postgresql_14_and_15_count_blocks(texts: tuple[str, ...]) -> None:
    """In 10 s 300 blocks are read and 30 + 10 + 60 written: 30 + 10 requests/s of 8,192 bytes, 327,680 bytes/s.

    Of redo 5,000 bytes/s and 2 writes/s; 100 transaction IDs are 10 commits/s.
    """
    found = read(*texts)

    redo = (5000.0, 2.0)
    assert found.intervals == (
        LoadInterval(
            327680.0, 40.0, 0.75, *redo, commits_per_second=10.0, redo_written_bytes_per_second=21384.0,
            read_share_of_bytes=0.75,
        ),
    )  # fmt: skip
    assert found.stated == (
        Stated("workload.io_kib", 8192.0, "bytes"),
        Stated("sga.mb", 1000.0, "bytes"),
        Stated("db.gb", 2000.0, "bytes"),
    )


def test_postgresql_says_that_its_reads_are_calls_and_what_is_written_of_redo() -> None:
    """5,000 bytes/s generated + 2 writes/s x 8,192 bytes = 21,384 bytes/s; 10^7 bytes in 10 s are 1 MB/s."""
    found = read(pg14(100, 1), pg14(110, 2))
    remarks = found.remarks

    assert [key for key, _ in remarks] == ["workload.iops", "workload.mb_s", "workload.mb_s"]
    assert "upper bound" in remarks[0][1]
    assert found.intervals[0].redo_written_bytes_per_second == 21384.0
    assert " 1 MB/s" in remarks[2][1]


def io(version: int, times: int) -> list[str]:
    """``pg_stat_io``: 16 and 17 count blocks of 8 KiB, 18 counts calls and bytes, and those of WAL."""
    rows = {
        "io__relation__normal": (100, 60, 20), "io__relation__bulkread": (40, 0, 0),
        "io__relation__bulkwrite": (0, 0, 10), "io__temp_relation__normal": (10, 5, 5),
    }  # fmt: skip
    found: dict[str, float] = {}
    for row, counts in rows.items():
        for name, count in zip(("read", "write", "extend"), counts, strict=True):
            found[f"{row}__{name}s"] = count * times
            if version == 18:
                found[f"{row}__{name}_bytes"] = 16384 * count * times
    if version == 18:
        found |= {"io__wal__normal__writes": 30 * times, "io__wal__normal__write_bytes": 300000 * times}
        found |= {"io__wal__init__writes": 999 * times, "io__wal__normal__reads": 999 * times}
    else:
        found |= {"wal__wal_write": 20 * times}
    found |= {"wal__wal_bytes": 50000 * times, "database__5__blks_read": 999 * times}
    found |= {"database__5__xact_commit": 70 * times, "bgwriter__buffers_clean": 999 * times}
    return ["since.io=0", "since.wal=0", "since.database=0", "since.bgwriter=0", *counters(**found)]


@pytest.mark.parametrize(("version", "size", "writes"), [(16, 8192, 2.0), (17, 8192, 2.0), (18, 16384, 3.0)])
def test_postgresql_16_to_18_separate_scans_and_18_has_bytes_and_wal(version: int, size: int, writes: float) -> None:
    """In 10 s: 110 reads and 60 + 20 + 5 + 5 writes outside of rings are 11 + 9 requests/s; 40 + 10 inside, 5/s more.

    All of them are 25 requests/s of 8,192 bytes, in 18 of 16,384.
    """
    found = read(postgresql(100, *io(version, 1)), postgresql(110, *io(version, 2)))

    assert found.intervals == (
        LoadInterval(25.0 * size, 20.0, 11 / 20, 5000.0, writes, 5.0 * size, commits_per_second=7.0,
                     redo_written_bytes_per_second=30000.0 if version == 18 else 21384.0,
                     read_share_of_bytes=0.6),
    )  # fmt: skip
    assert "upper bound" in dict(found.remarks)["workload.commits_s"]


def test_the_time_of_a_read_is_stated_where_it_was_taken() -> None:
    """300 reads in 24 ms are 80 us each."""
    lines = [*counters(database__5__blk_read_time=24)]
    with_time = pg14(110, 2).replace("end.snapshot", f"{lines[0]}\nend.snapshot")

    assert "a read took 80 us on average" in read(pg14(100, 1), with_time).remarks[0][1]


def test_one_snapshot_is_the_average_since_its_counters_began() -> None:
    """200 s after the start 300 blocks read and 100 written are 2 requests/s; the transaction IDs have no start."""
    text = pg14(200, 1).replace("since.bgwriter=0", "since.bgwriter=100")
    (found,) = read(text).intervals

    written = 250.0 + 0.1 * 8192
    assert found == LoadInterval(
        2.5 * 8192, 2.5, 1.5 / 2.5, 250.0, 0.1, commits_per_second=2.5, redo_written_bytes_per_second=written,
        read_share_of_bytes=1.5 / 2.5,
    )  # fmt: skip
    values = read_workload((WorkloadFile("x", text),), 95)
    assert isinstance(values["workload.iops"], Quantity)
    assert "average" in values["workload.iops"].caveats[-1]


def test_three_snapshots_are_two_intervals_and_a_new_database_counts_from_0() -> None:
    """The second interval has 600 blocks read of database 9 in 20 s on top of 300 + 100: 50 requests/s."""
    third = pg14(130, 3).replace("end.snapshot", "sum.database.9.blks_read=600\nend.snapshot")
    found = read(pg14(100, 1), pg14(110, 2), third)

    assert [one.requests_per_second for one in found.intervals] == [40.0, 50.0]
    values = read_workload(tuple(WorkloadFile("x", text) for text in (pg14(100, 1), pg14(110, 2), third)), 95)
    commits = values["workload.commits_s"]
    assert isinstance(commits, Quantity)
    assert (commits.low, commits.value, commits.high) == (5.0, 10.0, 10.0)


def status(uptime: int, times: int, *, maria: bool = False, log_writes: bool = True) -> dict[str, int]:
    """Of 30 writes a second 10 are of the log, where it counts; 20 are of pages and the doublewrite buffer."""
    found = {
        "Binlog_cache_use": 0, "Com_commit": 50, "Innodb_data_read": 1638400, "Innodb_data_reads": 100,
        "Innodb_data_writes": 200 if maria else 300, "Innodb_data_written": 3276800 + (0 if maria else 51200),
        "Innodb_dblwr_writes": 20, "Innodb_log_writes": 100, "Innodb_os_log_written": 51200,
        "Innodb_pages_written": 180,
    }  # fmt: skip
    if not log_writes:
        del found["Innodb_log_writes"]
    found |= {"Aria_pagecache_reads": 3} if maria else {}
    counts = {name: count * times for name, count in found.items()}
    gauges = {"Innodb_buffer_pool_pages_total": 1000, "Innodb_page_size": 16384}
    return {**counts, **gauges, "Uptime": uptime, "Uptime_since_flush_status": uptime}


def tabs(values: dict[str, int]) -> str:
    return "".join(f"{name}\t{value}\n" for name, value in sorted(values.items()))


def table(values: dict[str, int]) -> str:
    rows = "".join(f"| {name:<40} | {value:<20} |\n" for name, value in sorted(values.items()))
    rule = f"+{'-' * 42}+{'-' * 22}+\n"
    return f"{rule}| {'Variable_name':<40} | {'Value':<20} |\n{rule}{rows}{rule}"


@pytest.mark.parametrize("shown", [tabs, table])
@pytest.mark.parametrize("maria", [False, True])
def test_the_log_of_innodb_counts_once(shown: object, maria: bool) -> None:
    """In 10 s: 100 reads, 200 writes of data, 100 of the log: 10 + 20 requests/s.

    (1,638,400 + 3,276,800) / 10 = 491,520 bytes/s. MariaDB writes 51,200 / 10 + 10 x 4,096 = 46,080 bytes/s of redo.
    """
    assert callable(shown)
    text = shown(status(100, 1, maria=maria)) + shown(status(110, 2, maria=maria))

    found = read(text)

    written = 46080.0 if maria else None
    assert found.intervals == (
        LoadInterval(
            491520.0, 30.0, 1 / 3, 5120.0, 10.0, commits_per_second=5.0, redo_written_bytes_per_second=written,
            read_share_of_bytes=1 / 3,
        ),
    )  # fmt: skip
    assert found.stated == (
        Stated("workload.io_kib", 16384.0, "bytes"), Stated("sga.mb", 16384000.0, "bytes"),
    )  # fmt: skip
    remarks = dict(found.remarks)
    subtracted = {"workload.iops": "less 10 IOPS of writes to the log", "workload.mb_s": "less 0.00512 MB/s of the log"}
    late = "before MariaDB 10.5 the log counts too, and again as redo: the version is not given"
    of_maria = {"workload.iops": None, "workload.mb_s": late}
    assert {key: remarks.get(key) for key in subtracted} == (of_maria if maria else subtracted)
    assert remarks.keys() - subtracted.keys() == {*(("redo.written_mb_s",) if maria else ()), "workload.commits_s"}


@pytest.mark.parametrize(
    ("version", "moved"),
    [("10.4.34-MariaDB-log", 491520.0), ("10.5.0-MariaDB", 496640.0), ("10.11.6-MariaDB", 496640.0)],
)
def test_the_bytes_of_data_are_without_the_log_that_mariadb_counts_among_them_before_10_5(
    version: str, moved: float
) -> None:
    """(1,638,400 + 3,328,000) / 10 bytes/s, of which 5,120 are of the log where they are in whole blocks of it."""
    each = [
        snapshot("mysql", f"same.version={version}", f"now.time={uptime}", tabs(status(uptime, times)))
        for uptime, times in ((100, 1), (110, 2))
    ]
    found = read(*each)

    assert (found.vendor, found.intervals[0].bytes_per_second) == ("mariadb", moved)
    assert (found.intervals[0].redo_written_bytes_per_second is None) is (moved < 496640)
    assert ("less 0.00512 MB/s of the log" in dict(found.remarks).values()) is (moved < 496640)


def test_counters_of_mariadb_under_a_version_of_mysql_are_refused() -> None:
    both = snapshot("mysql", "same.version=8.0.36", "now.time=100", tabs(status(100, 1, maria=True)))

    with pytest.raises(MalformedError, match=r"1.txt: line 4: expected counters of MySQL 8.0.36, found one of MariaDB"):
        read(both)


def test_a_mariadb_without_writes_of_the_log_says_so() -> None:
    each = [tabs(status(uptime, times, maria=True, log_writes=False)) for uptime, times in ((100, 1), (110, 2))]
    found = read(*each)

    assert found.intervals[0].redo_writes_per_second is None
    assert found.intervals[0].requests_per_second == 30.0
    assert "the log counts too" in dict(found.remarks)["workload.iops"]


def test_nothing_is_subtracted_for_a_log_that_may_not_be_among_the_writes() -> None:
    """MariaDB 10.11 counts 100 writes of the log in 10 s and 200 of data beside them; the pages tell which it is."""
    times = ((100, 1), (110, 2))
    without = [status(uptime, count, maria=True) for uptime, count in times]
    mysql = [status(uptime, count) for uptime, count in times]
    for one in (*without, *mysql):
        del one["Innodb_pages_written"]
    found, told = read(*map(tabs, without)), read(*map(tabs, mysql))

    assert found.intervals[0].requests_per_second == told.intervals[0].requests_per_second == 30.0
    assert "writes to the log may count too" in dict(found.remarks)["workload.iops"]
    assert "less 10 IOPS" in dict(told.remarks)["workload.iops"]


def test_a_short_status_of_mariadb_is_one_by_its_version() -> None:
    """18 MB/s of log; MariaDB does not count them among the bytes of data, MySQL does.

    What MySQL does not count apart of its writes it does not subtract from its bytes either.
    """
    lines = ("Innodb_data_reads\t{0}", "Innodb_data_read\t{0}000", "Innodb_data_writes\t{0}",
             "Innodb_data_written\t{0}00000", "Innodb_os_log_written\t{0}0000", "Uptime\t{0}")  # fmt: skip

    def short(version: str) -> Intervals:
        same = ("same.server=db:3306", f"same.version={version}")
        return read(*(
            snapshot("mysql", *same, f"now.time={time}", *(line.format(time) for line in lines))
            for time in (1000, 1800)
        ))  # fmt: skip

    maria, mysql = short("10.11.19-MariaDB"), short("8.4.3")
    assert (maria.vendor, mysql.vendor) == ("mariadb", "mysql")
    for found in (maria, mysql):
        load = found.intervals[0]
        assert (load.bytes_per_second, load.requests_per_second) == (101_000, 2)
    assert "workload.mb_s" not in dict(maria.remarks)
    assert "the log counts too, and again as redo" in dict(mysql.remarks)["workload.mb_s"]


def test_a_marked_snapshot_of_mysql_has_a_finer_clock_and_the_size_of_the_data() -> None:
    """In 10.25 s 50 commits are 200 in 41 s."""
    texts = [
        snapshot(
            "mysql", "same.server=db:3306", f"now.time={time}", "now.database_bytes=7", tabs(status(uptime, times))
        )
        for time, uptime, times in ((1000.5, 100, 1), (1010.75, 110, 2))
    ]
    found = read(*texts)

    assert found.intervals[0].commits_per_second == pytest.approx(200 / 41)
    assert Stated("db.gb", 7.0, "bytes") in found.stated


def sqlserver(time: int, times: int, *more: str) -> str:
    return snapshot(
        "sqlserver", "same.server=DB1", "same.started=2026-11-01T00:00:00.000", f"now.time={time}", "now.cpus=4",
        "now.memory_bytes=1000", "now.database_bytes=2000", "since.file=20", "since.commits=20", "since.process=20",
        *counters(
            process__cpu_ms=20000 * times, commits__write=40 * times, file__5__1__ROWS__reads=100 * times,
            file__5__1__ROWS__writes=50 * times, file__5__1__ROWS__bytes_read=819200 * times,
            file__5__1__ROWS__bytes_written=409600 * times, file__5__2__LOG__reads=10 * times,
            file__5__2__LOG__writes=30 * times, file__5__2__LOG__bytes_read=600000 * times,
            file__5__2__LOG__bytes_written=90000 * times, file__6__1__ROWS__reads=100 * times,
        ),
        *more,
    )  # fmt: skip


def test_the_page_says_which_snapshots_have_no_block_size() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/workloads.md").read_text(encoding="utf-8")
    kinds = {"SQL Server": sqlserver(120, 1), "PostgreSQL": pg14(100, 1), "MySQL": tabs(status(100, 1))}
    without = [name for name, text in kinds.items() if "workload.io_kib" not in {one.key for one in read(text).stated}]

    assert f"| `workload.io_kib` | block size | – | – | not {', '.join(without)} |" in page


def test_sql_server_has_data_and_log_apart() -> None:
    """In 10 s 200 reads and 50 writes of data, 1,228,800 bytes, and 600,000 read from the log; half of 4 CPUs."""
    found = read(sqlserver(120, 1), sqlserver(130, 2))

    assert found.intervals == (
        LoadInterval(
            182880.0, 25.0, 0.8, 9000.0, 3.0, 60000.0, 0.5, commits_per_second=4.0, cpus=4.0,
            read_share_of_bytes=141920 / 182880,
        ),
    )  # fmt: skip
    (alone,) = read(sqlserver(120, 1)).intervals
    assert alone.commits_per_second == 0.4


@pytest.mark.parametrize(("cores", "busy", "spread"), [(1, 0.5, 1), (2, 1, 2), (3, 1.5, 2), (4, 2, None)])
def test_busy_threads_of_sql_server_may_have_cores_of_their_own(cores: int, busy: float, spread: float | None) -> None:
    """2 of 4 CPUs are busy: on 3 cores at most 2, on 1 no more than that; on 4 no two threads share one."""
    files = [WorkloadFile(f"{place}.txt", sqlserver(110 + 10 * place, place)) for place in (1, 2)]
    found = read_workload(files, 95, cores=cores)

    values = [getattr(found.get(f"workload.{name}_cores"), "value", None) for name in ("cpu", "spread")]
    assert values == [busy, spread]


PAIR = pg14(100, 1), pg14(110, 2)


@pytest.mark.parametrize(
    ("texts", "pack"),
    [
        (PAIR, "postgresql"),
        ((sqlserver(120, 1), sqlserver(130, 2)), "sql-server"),
        ((tabs(status(100, 1)), tabs(status(110, 2))), "mysql"),
        ((tabs(status(100, 1, maria=True)), tabs(status(110, 2, maria=True))), "mariadb"),
    ],
)
def test_the_licenses_are_those_of_the_database_of_the_snapshots(texts: tuple[str, str], pack: str) -> None:
    found = read_workload(tuple(WorkloadFile(f"{place}.txt", text) for place, text in enumerate(texts)), 95)

    assert getattr(found["license.pack"], "value", "") == pack
    assert pack in {one.pack for one in shipped().license_packs()}


def test_a_product_that_is_typed_may_be_of_another_vendor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [tmp_path / f"{place}.txt" for place in range(2)]
    for name, text in zip(names, PAIR, strict=True):
        name.write_text(text, encoding="utf-8")
    server = ("machine.cores=4", "machine.sockets=1")
    sized = ["size", "--machine", "none", "--workload", *map(str, names), "--set", *server]
    assert cli.run(sized) == 0
    assert "PostgreSQL, no licenses needed" in capsys.readouterr().out
    assert cli.run([*sized, "license.product=se2"]) == 0
    assert "Standard Edition 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (PAIR[::-1], "2.txt: line 4: expected a later snapshot than that of 1.txt: line 1 (second 110), found"),
        ((PAIR[0], pg14(100, 1)), "found second 100; give the snapshots in the order of time"),
        (
            (PAIR[0], PAIR[1].replace("started=50", "started=105")),
            "that was not restarted or changed in between, same.started 50 as in 1.txt: line 3, found 105",
        ),
        (
            (sqlserver(120, 1), sqlserver(130, 2).replace("cpus=4", "cpus=2")),
            "restarted or changed in between, now.cpus 4 as in 1.txt: line 5, found 2",
        ),
        (
            ("".join(PAIR)[30:],),
            "1.txt: line 1: expected a first line sizeup.snapshot/1: postgresql|mysql|sqlserver, found 'same.server=7'",
        ),
        ((PAIR[0], PAIR[1].replace("server=7", "server=8")), "2.txt: line 2: expected snapshots of one server"),
        ((PAIR[0], sqlserver(120, 1)), "same.kind postgresql as in 1.txt: line 1, found sqlserver"),
        (
            (PAIR[0], PAIR[1].replace("since.wal=0", "since.wal=105")),
            "2.txt: line 9: expected counters that began when those of 1.txt: line 1 did, found a start by since.wal",
        ),
        (
            (PAIR[0], pg14(110, 0)),
            "2.txt: line 12: expected sum.transaction.ids of at least 100 as in 1.txt: line 12, found 0",
        ),
        (
            (PAIR[0], PAIR[1].replace("sum.database.0.blks_read=100\n", "")),
            "expected sum.database.0.blks_read of at least 50 as in 1.txt: line 20, found none; a database was dropped",
        ),
        ((PAIR[0], PAIR[1].replace("end.snapshot\n", "")), "2.txt: line 1: expected a snapshot that ends with"),
        ((PAIR[0].replace("end.snapshot\n", "") + PAIR[1],), "found another snapshot in line 24"),
        ((PAIR[0].replace("now.time=100\n", ""),), "1.txt: line 1: expected a line now.time below, found none"),
        ((PAIR[0].replace("now.time=100", "now.time=1x0"),), "line 4: expected a number for now.time, found '1x0'"),
        ((PAIR[0].replace("end.snap", "now.time=3\nend.snap"),), "line 24: expected now.time once in a snapshot"),
        ((PAIR[0].replace("now.block_size=8192\n", ""),), "1.txt: line 1: expected a line now.block_size, found none"),
        ((re.sub(r"since.*\n", "", PAIR[0]),), "1.txt: line 1: expected a second snapshot"),
        ((tabs(status(110, 2)), tabs(status(100, 1))), "expected a later snapshot than that of 1.txt: line 1"),
        ((tabs(status(100, 2)), tabs(status(110, 1))), "expected sum.status.Com_commit of at least 100"),
        ((tabs(status(100, 1)).replace("Uptime\t100\n", ""),), "1.txt: line 1: expected a line Uptime below"),
        (
            (tabs(status(100, 1)), tabs(status(110, 2) | {"Uptime_since_flush_status": 4})),
            "found a start by now.status.Uptime_since_flush_status +106 s from it; the server was restarted",
        ),
    ],
)  # fmt: skip
def test_snapshots_that_do_not_belong_together_are_refused_in_one_line(texts: tuple[str, ...], told: str) -> None:
    with pytest.raises(MalformedError) as error:
        read(*texts)

    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", [pg14(100, 1), tabs(status(100, 1)), table(status(100, 1)), sqlserver(120, 1)])
def test_a_snapshot_is_recognized_by_what_it_holds(text: str) -> None:
    assert "workload.iops" in read_workload((WorkloadFile("whatever.txt", f"\ufeff{text}"),), 95)


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE), ("utf-8", b"")]
)
def test_what_powershell_appends_is_read(encoding: str, mark: bytes, tmp_path: Path) -> None:
    """``>>`` of Windows PowerShell begins a file of UTF-16 with a byte order mark."""
    path = tmp_path / "workload.txt"
    content = "".join((sqlserver(120, 1), sqlserver(130, 2))).replace("\n", "\r\n")
    path.write_bytes(mark + content.encode(encoding))

    assert read_text(str(path), "a workload file", 1 << 20) == content
    assert cli.run(["size", "--machine", "none", "--workload", str(path)]) == 0
    path.write_bytes(path.read_bytes()[:-1] + b"\xff" * 2)
    with pytest.raises(
        UsageError, match=rf"expected a workload file in {encoding[:6].rstrip('-').upper()}, found byte"
    ):
        read_text(str(path), "a workload file", 1 << 20)
