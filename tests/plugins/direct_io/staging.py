"""What staged runs share: commands, marked processes, and a run of the whole program with a fault in its middle."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from marked_processes import marked_processes
from plugins.direct_io import faulty
from sizeup.model.sample import Status
from sizeup.probing.registry import load_registry
from sizeup.probing.settings import used
from sizeup.session.reader import read_session
from sizeup.session.value import StepRun

MIB = 1 << 20
MANIFEST = load_registry().get("io.direct").manifest
MakeMount = Callable[..., Path]
LONGEST_STALL = 60
"""Seconds for which an emulated guest on a busy host may complete nothing: only what tests a stall sets it lower."""
_MARK = "DIRECT_IO_TEST_MARK"


def command(*words: str) -> str:
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout.strip()


@contextmanager
def untouched(device: str) -> Iterator[str]:
    """The number that allows a device to be written to, of which no byte may change meanwhile."""
    number = os.stat(device).st_rdev
    before = hashlib.sha256(Path(device).read_bytes()).hexdigest()
    yield f"{os.major(number)}:{os.minor(number)}"
    assert hashlib.sha256(Path(device).read_bytes()).hexdigest() == before


@dataclass(frozen=True)
class FaultRun:
    """What a run said and left, after a fault in its middle."""

    status: int
    error: str
    """Standard error."""
    step: StepRun
    seconds: float
    """From the fault to the end of the program."""
    left: list[int]
    """Processes that were still there 30 s after it."""

    @property
    def words(self) -> str:
        return self.step.outcome.reason

    @property
    def samples(self) -> int:
        return sum(len(point.values) for point in self.step.points.values())

    @property
    def verdicts(self) -> dict[str, str]:
        """The worst verdict of each part."""
        return {part: said[0] for part, said in self.reasons().items()}

    def said(self) -> str:
        """Verdicts and reasons in one line each, to be printed."""
        return "\n".join(f"{part}: {verdict}: {why}" for part, (verdict, why) in self.reasons().items())

    def reasons(self) -> dict[str, tuple[str, str]]:
        """The worst verdict of each part with its reasons."""
        order = ["pass", "unknown", "warn", "fail"]
        found: dict[str, tuple[str, str]] = {}
        for point in self.step.points.values():
            if point.series == "validity" and point.estimate is not None:
                said = (str(point.estimate.extra["verdict"]), str(point.estimate.extra.get("reasons", "")))
                part = str(point.at["part"])
                found[part] = max(found.get(part, said), said, key=lambda told: order.index(told[0]))
        return found


def processes(mark: str) -> list[int]:
    """Every live process that carries a mark in its environment."""
    return marked_processes(_MARK, mark)


def watched(
    target: Path | str,
    session: Path,
    *,
    fault: Callable[[], object] | None = None,
    after: str = '"series":"iops"',
    times: int = 8,
    under: Sequence[str] = (),
    group: Path | None = None,
    **settings: object,
) -> FaultRun:
    """Run the program on a target; ``fault`` comes once the session holds ``times`` records with ``after`` in them.

    ``under`` is a command that it is run by, ``group`` a control group that all of it goes into.
    """
    chosen: dict[str, object] = {
        "path": target, "preset": "oltp-7030", "size": "32M", "reserve": "1M", "seconds": 2, "warmup": 0.3,
        "depth": 2, "ramps": 1, "precision": 1, "stall": LONGEST_STALL, "check_concurrency": "false",
    }  # fmt: skip
    chosen = dict(used(MANIFEST, {**chosen, "preset": settings.get("preset", "oltp-7030")}))  # type: ignore[dict-item]
    if not os.path.isdir(target):
        del chosen["reserve"]
    chosen |= settings
    words = [word for name, value in chosen.items() for word in ("--set", f"io.direct.{name}={value}")]
    mark = uuid.uuid4().hex
    start = ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"] if group is not None else []
    running = subprocess.Popen(
        [
            *start,
            *under,
            sys.executable,
            "-m",
            "sizeup",
            "--batch",
            "--full-load",
            "-p",
            "io.direct",
            *words,
            "-o",
            str(session),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, _MARK: mark},
    )
    try:
        began = time.monotonic()
        while fault is not None and running.poll() is None:
            assert time.monotonic() - began < 120, "nothing was measured"
            if session.exists() and session.read_text().count(after) >= times:
                fault()
                began, fault = time.monotonic(), None
            time.sleep(0.02)
        _, error = running.communicate(timeout=180)
        seconds = time.monotonic() - began
        gone_by = time.monotonic() + 30
        while processes(mark) and time.monotonic() < gone_by:
            time.sleep(0.05)
        left = processes(mark)
    finally:
        for pid in processes(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert session.exists(), error
    (step,) = read_session(str(session)).steps.values()
    ended = f"{step.outcome.status.value}: {step.outcome.reason}" if step.outcome is not None else "interrupted"
    print(f"status {running.returncode}, {seconds:.2f} s, {ended}")
    assert fault is None, f"it ended before the fault: {error}"
    assert not re.search("Traceback", error + session.read_text()), error
    return FaultRun(running.returncode, error, step, seconds, left)


def unmount(point: Path) -> None:
    """Unmount; io_uring lets go of its files a moment after its descriptor is closed."""
    for _ in range(50):
        if subprocess.run(["umount", str(point)], check=False, capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    command("umount", str(point))


def assert_ended_well(told: FaultRun, *words: str) -> None:
    """Ended as failed, in words, soon, with what was measured and without a process."""
    assert (told.status, told.step.outcome.status) == (1, Status.FAILED)
    for word in words:
        assert word in told.words
    assert told.samples > 0
    assert told.left == []


class Faulty:
    """A mounted file system that fails on demand."""

    def __init__(self, folder: Path) -> None:
        self.point = folder / "faulty"
        self.point.mkdir()
        self._state = folder / "state"
        self.ask(0)
        self.server = subprocess.Popen(
            [sys.executable, faulty.__file__, str(self.point), str(self._state)], stdout=subprocess.PIPE, text=True
        )
        assert self.server.stdout.readline() == "mounted\n"

    def ask(self, what: int) -> None:
        with self._state.open("r+b" if self._state.exists() else "wb") as file:
            file.write(what.to_bytes(4, "little", signed=True))
