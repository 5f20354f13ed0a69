"""Drift against an earlier fleet run, and runs that several hosts began together."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from fleet_sessions import Figures, made_fleet, records, server, with_port_down, write
from sizeup.cli import run
from sizeup.fleet.against import FleetDrift, fleet_drift
from sizeup.fleet.fleet import Fleet, build_fleet, fleet_paths, read_fleet
from sizeup.fleet.synchronized import jain, synchronized_runs
from sizeup.fleet.table import drift_lines, synchronized_lines
from sizeup.model.sample import Status
from sizeup.session.records import EndRecord, Record, StepStartRecord

ALIKE = Figures()
START = 1772355630.0


def fleet(folder: Path) -> Fleet:
    return build_fleet(read_fleet(fleet_paths([str(folder)])))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """An earlier run and a new one, alike."""
    for name, seed in (("before", 1), ("now", 2)):
        (tmp_path / name).mkdir()
        made_fleet(tmp_path / name, 8, seed=seed)
    return tmp_path / "before", tmp_path / "now"


def drift_of(folders: tuple[Path, Path]) -> FleetDrift:
    return fleet_drift(fleet(folders[0]), fleet(folders[1]))


def test_like_runs_have_not_changed(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert list(drift_lines(drift_of(folders), 100)) == [
        "Against the earlier run: nothing changed on 8 hosts (64 figures)"
    ]
    assert run(["fleet", str(folders[1]), "--against", str(folders[0])]) == 0
    assert "nothing changed on 8 hosts" in capsys.readouterr().out


def test_a_host_that_changed_is_named_with_what_drifted(folders: tuple[Path, Path]) -> None:
    worse = replace(ALIKE, scan_bytes_per_second=ALIKE.scan_bytes_per_second / 2)
    write(folders[1], "db03", records("db03", worse, with_port_down(server())))
    other = replace(ALIKE, iops=ALIKE.iops / 2)
    write(folders[1], "db02", records("db02", other, server(), settings={"io.direct": {"block": 512}}))
    (folders[1] / "db08.sizeup.jsonl").rename(folders[1] / "x.sizeup.jsonl")
    write(folders[1], "x", records("db09", ALIKE, server()))
    (folders[0] / "db07.sizeup.jsonl").write_text("x")
    found = drift_of(folders)

    assert [(one.host, one.figure) for one in found.of_hosts] == [("db03", "storage.bandwidth@io.direct")]
    assert not found.of_fleet
    text = "\n".join(drift_lines(found, 100))
    assert text.startswith("Against the earlier run, 6 hosts of both: figures changed on 1, 2 facts drifted")
    assert "db03: adapter host4 state: Linkdown, was Online" in text
    assert "Not in this run: db08" in text
    assert "Not in the earlier run: db07, db09" in text
    assert "db07.sizeup.jsonl:expectedasizeupsession" in "".join(text.split())  # wherever a long path is folded


@pytest.mark.parametrize("side", [0, 1])
def test_a_run_without_a_machine_leaves_its_facts_open(folders: tuple[Path, Path], side: int) -> None:
    write(folders[side], "db03", records("db03", ALIKE, None))

    assert drift_of(folders).facts == ()


@pytest.mark.parametrize(("dram_ns", "told"), [(109.0, False), (124.0, True)])
def test_of_two_hosts_a_change_of_a_quarter_is_told(tmp_path: Path, dram_ns: float, told: bool) -> None:
    """95 ns became 15 % or 31 % more; two hosts do not tell how much is usual."""
    for name, value in (("before", 95.0), ("now", dram_ns)):
        (tmp_path / name).mkdir()
        for host in ("db01", "db02"):
            own = value if host == "db01" else 95.0
            write(tmp_path / name, host, records(host, replace(ALIKE, dram_ns=own), server()))
    found = drift_of((tmp_path / "before", tmp_path / "now"))

    assert {one.host for one in found.of_hosts} == ({"db01"} if told else set())


@pytest.mark.parametrize("dram_ns", [120.0, 76.0])
def test_a_change_of_all_hosts_is_one_of_the_fleet(folders: tuple[Path, Path], dram_ns: float) -> None:
    kernel = replace(server(), platform=replace(server().platform, kernel="6.12"))
    for number in range(1, 9):
        host = f"db{number:02}"
        write(folders[1], host, records(host, replace(ALIKE, dram_ns=dram_ns, clock_ns=22.5), kernel))
    found = drift_of(folders)

    assert {one.figure for one in found.of_fleet} == {
        "memory.local_latency@memory.latency", "memory.local_latency@memory.numa",
    }  # fmt: skip
    assert not found.of_hosts
    assert [(one.fact, len(one.hosts)) for one in found.facts] == [("kernel", 8)]
    assert f"median of 8 hosts: DRAM latency {dram_ns:g} ns, was 95" in "\n".join(drift_lines(found, 100))


def started(host: str, figures: Figures, *, at: float = START, **facts: float | bool | None) -> list[Record]:
    together: Mapping[str, float | bool | None] = {"start_at_seconds": at, "clock_synchronized": True, **facts}
    return records(host, figures, server(), facts=together)


def test_synchronized_runs_are_added_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, iops in enumerate((100_000.0, 100_000.0, 100_000.0, 60_000.0), 1):
        host, written = f"db{number:02}", started(f"db{number:02}", replace(ALIKE, iops=iops))
        late = 5000 if number == 1 else 1000
        write(tmp_path, host, [replace(one, start_delay_ns=late) if isinstance(one, StepStartRecord) else one
                               for one in written])  # fmt: skip
    (found,) = synchronized_runs(fleet(tmp_path))
    total = next(one for one in found.totals if one.name.startswith("storage.random_iops"))

    assert total.total == 360_000
    assert dict(total.shares)["db04"] == pytest.approx(1 / 6)
    assert total.fairness == pytest.approx(0.964, abs=0.001)
    assert found.latest_ns == 5000
    assert not found.spoiled
    assert run(["fleet", str(tmp_path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Synchronized run 2026-03-01 09:00:30 UTC: 4 hosts, started at most 5 us late" in text
    assert "Random read IOPS, highest: 360 k/s in total, 17 % to 28 % per host, fairness 0.964 (Jain's index)" in text


def test_one_late_host_spoils_the_run_and_is_named(tmp_path: Path) -> None:
    for number in range(1, 4):
        write(tmp_path, f"db{number:02}", started(f"db{number:02}", ALIKE))
    late = [one for one in started("db04", ALIKE) if type(one).__name__ in ("SessionRecord", "EnvironmentRecord")]
    reason = "--start-at: the start was missed by 2.0 s"
    write(tmp_path, "db04", [*late, EndRecord(1000, "canceled", reason)])
    write(tmp_path, "db05", started("db05", ALIKE, clock_synchronized=False))
    write(tmp_path, "db06", records("db06", ALIKE, server()))
    (found,) = synchronized_runs(fleet(tmp_path))

    assert found.spoiled == (f"db04: {reason}",)
    assert not found.totals
    lines = list(synchronized_lines(found, 100))
    assert lines[0] == "Synchronized run 2026-03-01 09:00:30 UTC: spoiled, no totals; 4 hosts measured"
    assert "  Caution: the clock is not synchronized on db05" in lines
    assert "  Caution: no run at this start of db06: a host that was late writes no session" in lines


def test_a_host_that_was_canceled_after_some_steps_spoils_the_run(tmp_path: Path) -> None:
    for number in range(1, 4):
        write(tmp_path, f"db{number:02}", started(f"db{number:02}", ALIKE))
    write(tmp_path, "db03", [*started("db03", ALIKE)[:-1], EndRecord(9_000_000_000, "canceled", "by the user")])
    (found,) = synchronized_runs(fleet(tmp_path))

    assert found.spoiled == ("db03: by the user",)
    assert not found.totals


def test_a_figure_that_a_host_lacks_is_not_added_up(tmp_path: Path) -> None:
    write(tmp_path, "db01", started("db01", ALIKE))
    write(tmp_path, "db02", started("db02", replace(ALIKE, iops=0.0)))
    failed = records("db03", ALIKE, server(), facts={"start_at_seconds": START + 1}, status=Status.FAILED)
    write(tmp_path, "db03", failed)
    (found,) = synchronized_runs(fleet(tmp_path))

    assert {one.name.partition("@")[0] for one in found.totals} == {"storage.bandwidth", "memory.read_bandwidth"}


def test_jains_index() -> None:
    assert jain([1.0, 1.0, 1.0]) == pytest.approx(1.0)
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain([0.0, 0.0]) == 0.0
    assert jain([1e308, 1e308]) == 1.0


def test_numbers_of_a_stranger_break_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, value in enumerate((5e-324, 1e308, 1e308, 1e300), 1):
        host = f"db{number:02}"
        odd = replace(ALIKE, dram_ns=value, iops=value, clock_ns=value)
        write(tmp_path, host, started(host, odd, at=1e300))

    assert run(["fleet", str(tmp_path), "--against", str(tmp_path)]) == 0
    assert "Synchronized run at 1e+300 s: 4 hosts" in capsys.readouterr().out
