"""What a run took of the host is in its session, and shown."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sizeup.child_process import environment, sizeup_command
from sizeup.session.effect import effect as stated
from sizeup.session.reader import read_session
from sizeup.session.records import ContinuedRecord, EndRecord, EnvironmentRecord, SessionRecord
from sizeup.session.value import Session
from sizeup.views.document.document import effect_text
from sizeup.views.run.results import results_data

HEADER = SessionRecord(2, "1", "sizeup", "db01", "2026-01-31T09:30:00Z")


# Reads /proc at the end of the session, after as much work of the runner as a step makes.
_RUN = """
import json, os, sys
from sizeup.engine.run import run
from sizeup.engine.spec import RunSpec
from sizeup.session.records import EndRecord

class Look:
    def show(self, line):
        pass
    def __call__(self, record):
        if isinstance(record, EndRecord):
            ticks = open("/proc/self/stat").read().rpartition(")")[2].split()[11:15]
            status = dict(line.split(":", 1) for line in open("/proc/self/status"))
            moved = dict(line.split(":") for line in open("/proc/self/io"))
            print(json.dumps({
                "cpu": sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), "peak": int(status["VmHWM"].split()[0]) * 1024,
                "read": int(moved["read_bytes"]), "written": int(moved["write_bytes"])}))

run(RunSpec(probes=("io.direct",), assignments=tuple(sys.argv[2:]), output=sys.argv[1]), Look())
"""


@pytest.mark.ci
def test_the_session_states_what_the_kernel_counts(tmp_path: Path) -> None:
    """Within 5 % of /proc at the same moment; a tick of the kernel is 10 ms, and the last record follows."""
    path, target = tmp_path / "run", tmp_path / "target"
    target.mkdir()
    settings = {"path": target, "size": "16MiB", "seconds": "500ms", "warmup": "200ms", "engine": "threads", "depth": 1}
    command = [
        sys.executable,
        "-c",
        _RUN,
        str(path),
        *(f"io.direct.{name}={value}" for name, value in settings.items()),
    ]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)

    session = read_session(str(path))
    used = stated(session)
    assert used is not None
    assert used.cpu_seconds == pytest.approx(counted["cpu"], rel=0.05, abs=0.05)
    assert used.read_bytes == pytest.approx(counted["read"], rel=0.05)
    assert used.written_bytes == pytest.approx(counted["written"], rel=0.05, abs=1 << 16)
    assert used.peak_memory_bytes >= 0.95 * counted["peak"]
    assert used.written_bytes >= 16 << 20
    assert used.temporary_files == (str(target),)
    assert (used.files_unknown, list(target.iterdir())) == (0, [])
    assert effect_text(session).endswith(f", 1 temporary file made and removed in {target}")
    assert results_data(session)["used"] == used


@pytest.mark.ci
def test_files_of_a_worker_that_died_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "run"
    options = ("--batch", "-q", "-p", "null", "--set", "null.samples=1", "null.misbehave=exit", "--full-load")
    subprocess.run(sizeup_command(*options, "-o", str(path)), env=environment(), capture_output=True)

    assert effect_text(read_session(str(path))).endswith(", no temporary files, those of 1 step unknown")


def effect(*facts: dict[str, float], ended: bool = True, resumed: bool = False) -> str:
    records = [EnvironmentRecord(number, dict(each)) for number, each in enumerate(facts)]
    end = EndRecord(9, "complete") if ended else None
    return effect_text(Session(HEADER, [ContinuedRecord(1, "x", "y")] if resumed else [], records, end=end))


def run(seconds: float, peak: int, read: int, written: int) -> dict[str, float]:
    return {
        "run_cpu_seconds": seconds, "run_peak_memory_bytes": peak, "run_read_bytes": read, "run_written_bytes": written,
    }  # fmt: skip


def test_the_last_totals_of_each_process_count() -> None:
    first, later, resumed = run(1.0, 50 << 20, 0, 10**6), run(4.0, 90 << 20, 2 * 10**6, 10**9), run(0.5, 60 << 20, 5, 5)

    assert effect(first, later) == (
        "4 s of CPU time, 90 MiB of memory in the largest process, 2 MB read from and 1 GB written to storage, "
        "no temporary files"
    )
    assert effect(first, later, resumed, ended=False, resumed=True).startswith("at least 4.5 s of CPU time, 90 MiB of")


@pytest.mark.parametrize("facts", [{}, {"sizeup_cpu_seconds": 1.0}])
def test_a_session_that_does_not_record_it_says_nothing(facts: dict[str, float]) -> None:
    assert effect(facts) == ""


def test_without_accounting_of_storage_that_is_unknown_and_not_nothing() -> None:
    assert effect({"run_cpu_seconds": 1.0}).endswith("storage unknown, no temporary files")
