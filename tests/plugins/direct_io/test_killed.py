"""SIGKILL at random moments, of the run and of its worker: no file and no process stays, the session reads.

pytest -m lab tests/plugins/direct_io/test_killed.py
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab
TRIALS = 30


def start(target: Path, session: Path) -> subprocess.Popen[bytes]:
    settings = {"path": target, "preset": "oltp-7030", "size": "64M", "reserve": "1M", "seconds": 1, "warmup": 0.3}
    words = [word for name, value in settings.items() for word in ("--set", f"io.direct.{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "sizeup", "--batch", "--quiet", "-p", "io.direct", *words, "-o", str(session)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def wait_until_gone(pid: int) -> float:
    start_seconds = time.monotonic()
    while alive(pid) and time.monotonic() - start_seconds < 10:
        time.sleep(0.02)
    return time.monotonic() - start_seconds


@pytest.mark.parametrize("victim", ["run", "worker"])
def test_a_kill_at_any_moment_leaves_no_file_and_no_process_and_a_session_that_reads(place: Path, victim: str) -> None:
    target = place / "target"
    target.mkdir()
    marked = 0
    for trial in range(TRIALS):
        session = place / f"{trial}.sizeup.jsonl"
        running = start(target, session)
        worker = None
        while worker is None and running.poll() is None:
            worker = next(iter(children(running.pid)), None)
            time.sleep(0.01)
        assert worker is not None
        time.sleep(random.uniform(0.0, 5.0))
        with suppress(ProcessLookupError):
            os.kill(running.pid if victim == "run" else worker, signal.SIGKILL)
        running.wait(timeout=30)
        assert wait_until_gone(worker) < 5
        assert os.listdir(target) == []
        shown = subprocess.run(
            [sys.executable, "-m", "sizeup", "open", str(session)], capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, shown.stderr
        marked += "crashed" in shown.stdout or "interrupted" in shown.stdout or "SIGKILL" in shown.stdout
    print(f"{victim}: {TRIALS} kills, {marked} sessions say so")
    assert marked >= TRIALS - 2  # a run may be over before the kill
