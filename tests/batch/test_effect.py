"""What a run took of the host is in its session, and shown."""

import os
import subprocess
from pathlib import Path

import pytest

from sizeup.child_process import environment, sizeup_command
from sizeup.session.reader import read_session
from sizeup.session.records import ContinuedRecord, EndRecord, EnvironmentRecord, SessionRecord
from sizeup.session.value import Session
from sizeup.views.document.document import effect_text

HEADER = SessionRecord(2, "1", "sizeup", "db01", "2026-01-31T09:30:00Z")


def test_the_session_states_what_the_kernel_counts(tmp_path: Path) -> None:
    """No more than for the whole process, and most of that: the last record is made when the last step has ended."""
    path = tmp_path / "run"
    options = ("--batch", "-q", "-p", "null", "--set", "null.samples=5", "null.interval=1ms", "--full-load")
    command = sizeup_command(*options, "--repeat", "3", "-o", str(path))
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
    _, status, whole = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0

    facts = read_session(str(path)).environment[-1].facts
    took = whole.ru_utime + whole.ru_stime
    assert 0.5 * took < float(facts["run_cpu_seconds"] or 0) <= 1.05 * took
    assert 0.5 * whole.ru_maxrss < int(facts["run_peak_memory_bytes"] or 0) / 1024 <= 1.05 * whole.ru_maxrss
    assert effect_text(read_session(str(path))).endswith(" storage")


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
        "4 s of CPU time, 90 MiB of memory in the largest process, 2 MB read from and 1 GB written to storage"
    )
    assert effect(first, later, resumed, ended=False, resumed=True).startswith("at least 4.5 s of CPU time, 90 MiB of")


@pytest.mark.parametrize("facts", [{}, {"sizeup_cpu_seconds": 1.0}])
def test_a_session_that_does_not_record_it_says_nothing(facts: dict[str, float]) -> None:
    assert effect(facts) == ""


def test_without_accounting_of_storage_that_is_unknown_and_not_nothing() -> None:
    assert effect({"run_cpu_seconds": 1.0}).endswith("storage unknown")
