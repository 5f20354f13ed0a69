"""A host for tests of ``--target`` that is this machine."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sizeup.remote.measurement import HostMeasurement, HostResult
from sizeup.remote.one_file import OneFile
from sizeup.remote.wheels import WheelFolder
from terminal import PATIENCE_SECONDS


class TargetHost:
    """A host that is this machine, with a temporary directory of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.temporary = folder / "host's temporary files"
        self.trace = folder / "trace"
        self.wheels = folder / "wheels"
        self.sessions = folder / "sessions"
        for made in (self.temporary, self.sessions):
            made.mkdir()
        monkeypatch.setenv("TMPDIR", str(self.temporary))
        monkeypatch.setenv("TRACE", str(self.trace))
        monkeypatch.setenv("STAND_IN", str(self.wheels / "script"))
        self.shown: list[str] = []
        self.run = HostMeasurement("dba@db01", str(self.sessions), self.shown.append)

    def measure(self, ssh: str, *options: str) -> HostResult:
        return asyncio.run(self.run.measure(ssh, self.sent, options))

    def measure_and_cancel(self, ssh: str, condition: Callable[[], object]) -> HostResult:
        """Cancel the run as soon as a condition holds."""

        async def cancel() -> None:
            await asyncio.to_thread(until, condition)
            self.run.cancel(wait=True)

        async def measure() -> HostResult:
            return (await asyncio.gather(self.run.measure(ssh, self.sent, ()), cancel()))[0]

        return asyncio.run(measure())

    def traced(self) -> list[str]:
        return self.trace.read_text().splitlines() if self.trace.exists() else []

    @property
    def sent(self) -> WheelFolder | OneFile:
        """The one file where a test made it, else the wheels."""
        one_file = self.wheels / "sizeup-one"
        return OneFile(str(one_file)) if one_file.exists() else WheelFolder(str(self.wheels))

    @property
    def left(self) -> list[str]:
        return sorted(entry.name for entry in self.temporary.iterdir())


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TargetHost:
    return TargetHost(tmp_path, monkeypatch)


def until(condition: Callable[[], object]) -> None:
    """Wait until something holds; fails after some minutes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
