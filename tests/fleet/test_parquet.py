"""Parquet of a fleet: what is read back is what was written, in one file or in partitions that DuckDB reads."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from fleet_sessions import LINK_DOWN, Figures, made_fleet, records, server, write
from sizeup.errors import RefusedError, UsageError
from sizeup.fleet.data import fleet_data
from sizeup.fleet.fleet import build_fleet, fleet_paths, read_fleet
from sizeup.fleet.host_session import HostSession
from sizeup.fleet.parquet import read_parquet, write_parquet
from sizeup.fleet.table import fleet_lines

pytestmark = pytest.mark.ci


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    made_fleet(folder, 4)
    start = {"start_at_seconds": 1772442000.0, "clock_synchronized": None}
    slow = Figures(dram_ns=152.0)
    started = "2026-03-02T09:00:00Z"
    write(folder, "db02", records("db02", slow, server(), started=started, facts=start, findings=(LINK_DOWN,)))
    bare = [one for one in records("db05", Figures(), None) if type(one).__name__ in ("SessionRecord", "EndRecord")]
    write(folder, "db05", bare)
    with (folder / "db01.sizeup.jsonl").open("ab") as file:
        file.write(b'{"kind":"torn')
    return folder


@pytest.mark.parametrize("partitioned", [False, True])
def test_what_is_read_back_is_what_was_written(tmp_path: Path, sessions: Path, *, partitioned: bool) -> None:
    first = read_fleet(fleet_paths([str(sessions)]))
    target = tmp_path / ("rows" if partitioned else "rows.parquet")
    write_parquet(first.sessions, str(target), partitioned=partitioned)
    again = read_fleet(fleet_paths([str(target)]))

    assert with_sorted_figures(again.sessions) == with_sorted_figures(first.sessions)
    assert fleet_data(build_fleet(again))["hosts"][1]["outliers"]
    assert [one.problem for one in again.problems] == [one.problem for one in first.problems]
    assert {path.name for path in tmp_path.iterdir()} == {"sessions", target.name}


def with_sorted_figures(sessions: Sequence[HostSession]) -> list[HostSession]:
    """Parquet has sessions by their paths, and their figures by name."""
    by_path = sorted(sessions, key=lambda one: one.path)
    return [replace(one, figures=tuple(sorted(one.figures, key=lambda each: each.name))) for one in by_path]


def test_duckdb_reads_the_partitions(tmp_path: Path, sessions: Path) -> None:
    write_parquet(read_fleet(fleet_paths([str(sessions)])).sessions, str(tmp_path / "rows"), partitioned=True)
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(
        f"SELECT host, round(value) FROM read_parquet('{tmp_path}/rows/**/*.parquet', hive_partitioning = true) "
        "WHERE day = '2026-03-02' AND product = 'PowerEdge R650' AND figure = 'memory.local_latency@memory.latency'"
    ).fetchall()

    assert found == [("db02", 152.0)]
    assert sorted(path.name for path in (tmp_path / "rows").iterdir()) == ["day=2026-03-01", "day=2026-03-02"]


def test_an_unexpected_file_is_reported_and_fails_nothing(tmp_path: Path, sessions: Path) -> None:
    (sessions / "other.parquet").write_bytes(b"PAR1 no parquet")
    pytest.importorskip("duckdb").sql(f"COPY (SELECT 1 AS x) TO '{sessions}/x.parquet' (FORMAT parquet)")
    problems = {Path(one.path).name: one.problem for one in read_fleet(fleet_paths([str(sessions)])).problems}

    assert problems["other.parquet"].startswith("expected Parquet of sizeup fleet --parquet, found Invalid")
    assert problems["x.parquet"].startswith("expected Parquet of sizeup fleet --parquet, found Binder Error")


def test_a_directory_with_files_is_not_written_into(tmp_path: Path, sessions: Path) -> None:
    with pytest.raises(UsageError, match="expected an empty or new directory for --partition, found files"):
        write_parquet((), str(sessions), partitioned=True)


def test_without_duckdb_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "duckdb", None)

    with pytest.raises(RefusedError, match=r"pip install 'sizeup\[fleet\]'"):
        write_parquet((), str(tmp_path / "rows.parquet"), partitioned=False)
    with pytest.raises(RefusedError, match=r"pip install 'sizeup\[fleet\]'"):
        read_parquet(str(tmp_path / "rows.parquet"))


def test_parquet_of_a_stranger_steers_no_terminal_and_breaks_nothing(tmp_path: Path, sessions: Path) -> None:
    read = read_fleet(fleet_paths([str(sessions)])).sessions
    odd = [replace(one, host=f"{one.host}\x1b[31m") for one in read]
    odd = [replace(one, packed_machine=b"no zlib") if one.host.startswith("db02") else one for one in odd]
    write_parquet(odd, str(tmp_path / "rows.parquet"), partitioned=False)
    text = "\n".join(fleet_lines(build_fleet(read_fleet([str(tmp_path / "rows.parquet")])), every_host=True))

    assert "\x1b" not in text
    assert "differences unknown: its sessions contain no machine" in text
