"""The command line as users meet it: arguments in, two streams and an exit status out.

Most tests run it in their own process, which saves half a second each; those about signals, limits and what
is imported start a real one.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sizeup import cli

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}


def measured(folder: Path, *arguments: str) -> bytes:
    """The session of a run in a process of its own, whatever came of it, for tests that only read it."""
    command = [sys.executable, "-m", "sizeup", "--batch", "-q", "-p", "null", *arguments, "-o", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120).stdout


@pytest.fixture
def sizeup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        status = cli.run(arguments)
        output, errors = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, int(status), output, errors)

    return run
