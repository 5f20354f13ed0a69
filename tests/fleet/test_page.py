"""The profile and the queries of docs/how-to/many-servers.md do what the page says."""

import os
import re
from pathlib import Path

import pytest

from fleet_sessions import Figures, made_fleet, records, server, write
from sizeup.cli import run
from sizeup.model.sample import Status

PAGE = Path(__file__).parents[2] / "docs/how-to/many-servers.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_profile_of_the_page_accepts_like_hosts(tmp_path: Path) -> None:
    made_fleet(tmp_path, 4)
    (profile,) = blocks("toml")
    (tmp_path / "profile.toml").write_text(profile)

    assert run(["fleet", str(tmp_path), "--profile", str(tmp_path / "profile.toml")]) == 0
    write(tmp_path, "db02", records("db02", Figures(dram_ns=115.0), server()))
    assert run(["fleet", str(tmp_path), "--profile", str(tmp_path / "profile.toml")]) == 5


@pytest.mark.ci
def test_the_queries_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    os.mkdir("sessions")
    made_fleet(tmp_path / "sessions", 3)
    write(tmp_path / "sessions", "db04", records("db04", Figures(), server(), status=Status.FAILED))
    with open("sessions/db01.sizeup.jsonl", "ab") as file:
        file.write(b'{"kind":"torn')
    assert run(["fleet", "sessions", "--parquet", "figures", "--partition"]) == 0
    of_parquet, of_sessions = blocks("sql")

    ((product, hosts, latency),) = duckdb.sql(of_parquet).fetchall()
    assert (product, hosts) == ("PowerEdge R650", 3)
    assert 90 < latency < 100
    found = duckdb.sql(of_sessions).fetchall()
    assert {(Path(row[0]).name, row[2]) for row in found} == {("db04.sizeup.jsonl", "failed")}
    assert run(["fleet", "figures"]) == 0
