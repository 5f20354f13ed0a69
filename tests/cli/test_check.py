"""``sizeup drift``: its statuses, its baselines and its output."""

import json
from pathlib import Path

import msgspec
import pytest

from report.sessions import records, written
from sizeup.cli import run
from sizeup.discovery.machine import discover
from sizeup.views.machine.detection import detection
from trees import machine

SWAP = "/proc/sys/vm/swappiness = 1"


@pytest.fixture
def baseline(tmp_path: Path) -> str:
    """A document of ``sizeup detect --json``."""
    found = detection(discover(machine(tmp_path / "was", "2-sockets-smt", SWAP)))
    path = tmp_path / "baseline.json"
    path.write_bytes(msgspec.json.encode(found))
    return str(path)


def test_nothing_drifted_is_status_0(tmp_path: Path, baseline: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = machine(tmp_path / "now", "2-sockets-smt", SWAP)

    assert run(["drift", "--against", baseline, "--sysroot", root]) == 0
    assert capsys.readouterr().out.startswith("Nothing drifted: ")


def test_drift_is_status_5_and_a_table(tmp_path: Path, baseline: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = machine(tmp_path / "now", "2-sockets-smt", "/proc/sys/vm/swappiness = 60")

    assert run(["drift", "--against", baseline, "--sysroot", root]) == 5
    assert "  vm.swappiness  1         60\n" in capsys.readouterr().out


def test_an_unknown_fact_is_status_6_unless_it_is_allowed(
    tmp_path: Path, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = machine(tmp_path / "now", "2-sockets-smt")

    assert run(["drift", "--against", baseline, "--sysroot", root]) == 6
    assert "--allow-undecided" in capsys.readouterr().err
    assert run(["drift", "--against", baseline, "--sysroot", root, "--allow-undecided"]) == 0


def test_drift_wins_over_an_unknown_fact(tmp_path: Path, baseline: str) -> None:
    root = machine(tmp_path / "now", "2-sockets-smt", "/proc/meminfo = MemTotal: 1024 kB")

    assert run(["drift", "--against", baseline, "--sysroot", root, "--allow-undecided"]) == 5


def test_scripts_get_a_document(tmp_path: Path, baseline: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    root = machine(tmp_path / "now", "2-sockets-smt", "/proc/sys/vm/swappiness = 60")

    assert run(["drift", "--against", baseline, "--sysroot", root, "--json"]) == 5

    document = json.loads(capfdbinary.readouterr().out)
    assert document["schema"] == "sizeup.check/1"
    assert document["drifted"] == [{"fact": "vm.swappiness", "baseline": "1", "now": "60"}]
    assert document["undecided"] == []


def test_a_session_is_a_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = written(tmp_path / "run.sizeup.jsonl", *records())
    root = machine(tmp_path / "now", "2-sockets-smt")

    assert run(["drift", "--against", session, "--sysroot", root]) == 5
    assert "drifted" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["missing.json", "notes.txt"])
def test_a_baseline_that_is_none_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "notes.txt").write_text("notes")

    assert run(["drift", "--against", str(tmp_path / name), "--sysroot", machine(tmp_path / "now", "networks")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_baseline_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == 2
    assert "arguments are required: BASELINE; try: sizeup drift --help" in capsys.readouterr().err


def test_another_machine_is_named_first_in_text_and_json(
    tmp_path: Path, baseline: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root = machine(tmp_path / "now", "2-sockets-smt", SWAP, "/proc/sys/kernel/hostname = rack9")

    assert run(["drift", "--against", baseline, "--sysroot", root]) == 0
    assert capfdbinary.readouterr().out.startswith(b"The baseline is of another machine: another host name.\n")

    assert run(["drift", "--against", baseline, "--sysroot", root, "--json"]) == 0
    document = json.loads(capfdbinary.readouterr().out)
    assert document["other_host"] is True
    assert document["other_host_evidence"] == "another host name"
