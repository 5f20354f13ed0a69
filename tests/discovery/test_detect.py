"""``sizeup detect``: calm text, and one documented JSON object."""

import json
from pathlib import Path

import msgspec
import pytest

from sizeup.cli import run
from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine
from trees import machine


def test_text_keeps_to_80_columns_and_names_what_matters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["detect", "--sysroot", machine(tmp_path, "2-sockets-smt")]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:6] == [
        "Processor",
        "  model         Example(R) CPU 8000 @ 2.50GHz",
        "  counts        2 sockets, 4 cores, 8 threads",
        "  base clock    2.5 GHz",
        "  caches        not reported",
        "",
    ]


def test_json_has_the_counts_first(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["detect", "--json", "--sysroot", machine(tmp_path, "2-sockets-smt")]) == 0

    document = json.loads(capfdbinary.readouterr().out)
    assert document["schema"] == "sizeup.detect/1"
    assert document["counts"] == {
        "packages": 2,
        "dies": 2,
        "cores": 4,
        "pus": {"present": 8, "online": 8, "allowed": 8},
        "numa_nodes": 2,
    }
    assert document["processor"]["base_clock"]["value"] == 2.5e9


def test_a_sysroot_that_is_none_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["detect", "--sysroot", "/nonexistent"]) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1


def test_a_machine_survives_the_session_file(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "2-sockets-smt"))

    assert msgspec.convert(msgspec.to_builtins(found), Machine) == found
    assert msgspec.json.decode(msgspec.json.encode(Machine()), type=Machine) == Machine()
