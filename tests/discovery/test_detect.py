"""``sizeup detect``: calm text, and one documented JSON object."""

import json
from pathlib import Path

import msgspec
import pytest

from sizeup.cli import run
from sizeup.cli.detect import load_machine, watch
from sizeup.discovery.machine import discover
from sizeup.model.machine import Gap, Machine
from sizeup.model.numa import NumaNode
from sizeup.report.machine import machine_text
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


@pytest.mark.parametrize(("locale", "ascii_only"), [("C", True), ("POSIX", True), ("C.UTF-8", False)])
def test_text_has_only_the_characters_of_the_locale(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], locale: str, *, ascii_only: bool
) -> None:
    found = Machine(cpu_model="Größe × 2 – CPU")
    monkeypatch.setattr("sizeup.discovery.machine.discover", lambda _: found)
    monkeypatch.setenv("LC_ALL", locale)

    assert run(["detect"]) == 0
    assert capsys.readouterr().out.isascii() is ascii_only


def test_memory_that_may_not_be_read_is_unknown_with_the_reason() -> None:
    denied = Machine(gaps=(Gap("/proc/meminfo", "permission denied"),))

    assert "memory        unknown (/proc/meminfo: permission denied)" in machine_text(denied)
    assert "counts        unknown: no CPU could be read" in machine_text(denied)


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
    assert document["numa"]["distances"] == [[10, 21], [21, 10]]
    assert document["processor"]["base_clock"]["value"] == 2.5e9


def test_a_machine_survives_the_session_file(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "2-sockets-smt"))

    assert msgspec.convert(msgspec.to_builtins(found), Machine) == found
    assert msgspec.json.decode(msgspec.json.encode(Machine()), type=Machine) == Machine()


def test_two_machines_are_compared_fact_by_fact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = machine(tmp_path / "one", "2-sockets-smt")
    other = machine(tmp_path / "other", "2-sockets-smt", "/sys/devices/system/cpu/online = 0-6")

    assert run(["detect", "--sysroot", one, "--against", one]) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert run(["detect", "--sysroot", one, "--against", other]) == 5
    out = capsys.readouterr().out
    assert "PUs online\n  this   8\n  other  7\n" in out
    assert "  ~ changed Core 3: CPUs 3,7\n" in out
    assert max(map(len, out.splitlines())) <= 80


def test_parts_that_differ_are_listed_for_scripts(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    one = machine(tmp_path / "one", "2-sockets-smt")
    grown = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages = 96"
    other = machine(tmp_path / "other", "2-sockets-smt", grown)

    assert run(["detect", "--sysroot", one, "--against", other, "--json"]) == 5

    assert json.loads(capfdbinary.readouterr().out)["parts"] == [
        {
            "part": "node:1",
            "change": "changed",
            "label": "Node 1: 2 cores, 16 GiB",
            "facts": [{"name": "Huge pages", "before": "96 of 2 MiB", "after": "64 of 2 MiB"}],
        }
    ]


def test_a_document_written_earlier_stands_for_its_machine(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root, earlier = machine(tmp_path / "root", "2-sockets-smt"), tmp_path / "earlier.json"
    assert run(["detect", "--sysroot", root, "--json"]) == 0
    earlier.write_bytes(capfdbinary.readouterr().out)

    assert load_machine(str(earlier)) == discover(root)
    assert run(["detect", "--sysroot", root, "--against", str(earlier)]) == 0


def test_growth_since_an_earlier_look_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = machine(tmp_path / "before", "2-sockets-smt")
    grown = "MemTotal: 16777216 kB\\nNode 0 MemFree: 2097152 kB\\nNode 0 MemUsed: 14680064 kB"
    after = machine(tmp_path / "after", "2-sockets-smt", f"/sys/devices/system/node/node0/meminfo = Node 0 {grown}")

    assert run(["detect", "--sysroot", after, "--since", before]) == 0

    out = capsys.readouterr().out
    assert "100.0 % of newly used memory is on NUMA node 0" in out
    assert max(map(len, out.splitlines())) <= 80


def test_watching_measures_from_the_first_look() -> None:
    free = iter((90, 90, 10))
    written: list[str] = []

    class DoneError(Exception):
        pass

    def look() -> Machine:
        try:
            left = next(free)
        except StopIteration:
            raise DoneError from None
        node = NumaNode(0, (0,), memory_bytes=100 << 30, free_bytes=left << 30)
        other = NumaNode(1, (1,), memory_bytes=100 << 30, free_bytes=90 << 30)
        return Machine(nodes=(node, other))

    with pytest.raises(DoneError):
        watch(look, written.append, lambda: None)

    assert ["one-sided" in text or "on NUMA node 0" in text for text in written] == [False, True]


def test_files_that_are_no_machine_are_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = machine(tmp_path / "root", "2-sockets-smt")
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "other.json").write_text('{"schema": "sizeup.detect/1"}')

    for name in ("notes.txt", "other.json", "missing"):
        assert run(["detect", "--sysroot", root, "--against", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
