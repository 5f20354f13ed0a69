"""Children of this program take no code from the directory that it was started in, and find all that it finds."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planted import names_that_ran, package_names, plant
from report.sessions import records, written
from sizeup.child_process import environment, python_command, sizeup_command
from sizeup.live.cpu_name import with_cpu_name
from sizeup.model.machine import Machine
from sizeup.tui.runs import launch
from sizeup.tui.screens.export_dialog import write_export

SIZEUP = [sys.executable, "-P", "-m", "sizeup"]
"""As the installed script starts it: without the working directory on its path."""


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of everybody's, away from the files of the test."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return folder


def test_a_run_of_the_console_and_its_worker_take_no_planted_module(shared: Path, tmp_path: Path) -> None:
    ran = plant(shared)
    with open(tmp_path / "errors", "w+b") as errors:
        run = launch(["--batch", "--control", "-p", "null", "-o", str(tmp_path / "run")], errors)
        run.stdin.write(b"keep\n")
        run.stdin.close()

        assert run.wait() == 0, (tmp_path / "errors").read_text()
    assert names_that_ran(ran) == ""


@pytest.mark.parametrize(
    ("sizeup", "planted"),
    [(SIZEUP, None), ([sys.executable, "-m", "sizeup"], package_names() - {"sizeup"})],
    ids=["as installed", "python -m sizeup"],
)
def test_a_batch_run_and_its_worker_take_no_planted_module(
    shared: Path, tmp_path: Path, sizeup: list[str], planted: set[str] | None
) -> None:
    """What Python itself imports before ``-m`` runs is out of our hands: SECURITY.md says so."""
    ran = plant(shared, planted)
    command = [*sizeup, "--batch", "-q", "-p", "null", "-o", str(tmp_path / "run")]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (names_that_ran(ran), done.returncode) == ("", 0), done.stderr


@pytest.mark.parametrize("kind", ["page", "text"])
async def test_an_export_of_the_console_takes_no_planted_module(shared: Path, tmp_path: Path, kind: str) -> None:
    session = written(tmp_path / "one.sizeup.jsonl", *records())
    ran = plant(shared)

    failed, words = await write_export(session, kind, str(tmp_path / "report"))

    assert (names_that_ran(ran), failed) == ("", False), words


async def test_what_serve_starts_takes_no_planted_module(shared: Path) -> None:
    ran = plant(shared)
    child = await asyncio.create_subprocess_exec(
        *sizeup_command("--help"), env=environment({"TERM": "dumb"}), stdout=subprocess.DEVNULL
    )

    assert (await child.wait(), names_that_ran(ran)) == (0, "")


def imported_by_a_child(name: str) -> bool:
    done = subprocess.run(
        python_command(f"import {name}"), env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or f"No module named '{name}'" in done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("entry", ["", "."])
def test_an_empty_entry_of_pythonpath_is_dropped_and_a_named_one_is_kept(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """An empty one comes from ``$PYTHONPATH:/x``, nobody wrote it; a relative one is the caller's word."""
    (shared / "left_here.py").touch()
    (tmp_path / "given").mkdir()
    (tmp_path / "given/named_there.py").touch()
    monkeypatch.setenv("PYTHONPATH", f"{entry}{os.pathsep}{tmp_path / 'given'}")
    monkeypatch.setattr(sys, "path", [str(shared), str(tmp_path / "given"), *sys.path])  # as Python resolved them

    assert imported_by_a_child("named_there")
    assert imported_by_a_child("left_here") is (entry == ".")


def test_the_directory_of_a_parent_started_with_c_is_not_handed_on(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "left_here.py").touch()
    monkeypatch.setattr(sys, "path", ["", *sys.path])

    assert not imported_by_a_child("left_here")


def test_a_child_finds_what_only_the_parent_was_told_of(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the archive that sizeup may be running from."""
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive/in_an_archive.py").touch()
    assert not imported_by_a_child("in_an_archive")

    monkeypatch.syspath_prepend(tmp_path / "archive")

    assert imported_by_a_child("in_an_archive")


def test_a_child_starts_from_an_absolute_interpreter_whatever_the_parent_ignores() -> None:
    command = ["-E", "-s", "-c", "from sizeup.child_process import *; print(python_command('pass'), environment())"]
    environ = {**os.environ, "PYTHONPATH": "/opt/lib", "PYTHONWARNINGS": "error"}

    told = subprocess.run([sys.executable, *command], env=environ, capture_output=True, text=True, check=True).stdout

    assert told.startswith(f"['{sys.executable}', '-P', '-s', '-c', ")
    assert os.path.isabs(sys.executable)
    assert "PYTHONPATH" not in told
    assert "PYTHONWARNINGS" not in told


def test_the_name_of_a_processor_is_asked_in_a_child_that_takes_no_planted_module(shared: Path) -> None:
    ran = plant(shared)

    unnamed = Machine()
    assert (with_cpu_name(unnamed).cpu_model or "(by py-cpuinfo)").endswith("(by py-cpuinfo)")
    assert names_that_ran(ran) == ""
