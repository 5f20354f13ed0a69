"""Where there is no /proc, or it cannot be read, nothing ends in a traceback and what is unknown is left out."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batch.conftest import Run
from sizeup.model.sample import Status
from sizeup.probing.runner import HangDetector
from sizeup.session.reader import read_session
from tiers import one_in

RUN = ("--batch", "-q", "-p", "null", "--set", "null.samples=5", "--set", "null.interval=0")


@pytest.fixture
def no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at /proc from Python says that it is not there."""

    def without(function: Callable[..., object]) -> Callable[..., object]:
        def look(path: object, *arguments: object, **more: object) -> object:
            if isinstance(path, str) and (path == "/proc" or path.startswith("/proc/")):
                raise FileNotFoundError(2, "No such file or directory", path)
            return function(path, *arguments, **more)

        return look

    for name in ("open", "listdir", "scandir", "stat", "lstat", "readlink"):
        monkeypatch.setattr(os, name, without(getattr(os, name)))
    monkeypatch.setattr("builtins.open", without(open))


def test_a_run_comes_to_its_end_and_claims_nothing_of_others(sizeup: Run, tmp_path: Path, no_proc: None) -> None:
    done = sizeup(*RUN, "-o", "run")

    assert done.returncode == 0, done.stderr
    session = read_session(str(tmp_path / "run"))
    assert session.end.status == "complete"
    assert session.outcomes["null"].status is Status.OK
    assert "others_busy_percent" not in session.environment[-1].facts


def test_whether_a_process_hangs_is_not_guessed(no_proc: None) -> None:
    parting = HangDetector(os.getpid())

    assert not any(parting.hangs(now) for now in (1.0, 10.0, 100.0))


@pytest.mark.parametrize("command", one_in(5, ["size", "probe list", "doctor", "detect", "session list"]))
def test_every_command_says_what_it_can(command: str, sizeup: Run, no_proc: None) -> None:
    assert sizeup(*command.split()).returncode == 0


@pytest.mark.parametrize("where", ["sizeup.engine.run.run_step", "sizeup.engine.run.probe_findings"])
def test_an_error_in_the_middle_still_ends_the_session(
    where: str, sizeup: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **more: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(where, fail)

    done = sizeup(*RUN, "-o", "run")

    assert (done.returncode, done.stderr) == (2, "sizeup: Too many open files\n")
    session = read_session(str(tmp_path / "run"))
    assert (session.end.status, session.end.reason) == ("terminated", "[Errno 24] Too many open files")


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace needs root")
@pytest.mark.ci
@pytest.mark.parametrize(
    "mount", ["mount -t tmpfs none /proc", "umount -l /proc || mount -t tmpfs -o mode=0 none /proc"]
)
def test_a_machine_without_a_proc_is_measured(tmp_path: Path, mount: str) -> None:
    run = f'{mount}; exec "$@"'
    command = [sys.executable, "-m", "sizeup", "--batch", "-q", "--plan", "quick", "-o", str(tmp_path / "run")]

    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", run, "sh", *command],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")

    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 3)
    session = read_session(str(tmp_path / "run"))
    assert session.end is not None
