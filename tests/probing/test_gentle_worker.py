"""A worker of a gentle step, as the kernel sees it; what it measured is marked."""

import ctypes
import os
import platform
import re
import select
from pathlib import Path

import pytest

from fakes import QuietControl
from sizeup.model.plan import Gentle, Step
from sizeup.model.sample import Outcome, Status
from sizeup.probing import wire
from sizeup.probing.runner import WorkerProcess, run_step
from terminal import PATIENCE_SECONDS
from tiers import one_in

_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}
NULL = "sizeup_null.probe:Null"


def null_step(gentle: Gentle | None) -> Step:
    settings = {"samples": 100_000, "interval": 0.001, "misbehave": "no"}
    return Step("null", "null", "", settings, 1.0, 600.0, gentle=gentle)


@pytest.mark.parametrize("gently", one_in(2, [True, False]))
def test_all_threads_of_a_worker_stand_back_if_its_step_is_gentle(*, gently: bool) -> None:
    allowed, nice = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)
    step = null_step(Gentle(cpu=min(allowed)) if gently else None)
    worker = WorkerProcess(lambda descriptor: wire.StepJob(NULL, step, 0, descriptor, os.getpid()))
    try:
        assert select.select([worker.records], [], [], PATIENCE_SECONDS)[0], "it measures"
        process = Path("/proc", str(worker.process.pid))
        tasks = list((process / "task").iterdir())
        lists = {re.search(r"Cpus_allowed_list:\t(\S+)", (task / "status").read_text())[1] for task in tasks}  # type: ignore[index]
        nices = {int((task / "stat").read_text().rpartition(")")[2].split()[16]) for task in tasks}
        number = _IOPRIO_GET.get(platform.machine())
        classes = {ctypes.CDLL(None).syscall(number, 1, int(task.name)) >> 13 for task in tasks} if number else set()
        group = process / "autogroup"
        # None where autogroups are off; of users without rights the kernel takes one change in a tenth of a second.
        words = group.read_text().split() if group.exists() and not os.geteuid() else []
        group_nice = int(words[-1]) if words else 19 if gently else nice
    finally:
        worker.kill()
        worker.close()

    assert len(tasks) > 1
    if gently:
        assert (lists, nices, classes - {3}, group_nice) == ({str(min(allowed))}, {19}, set(), 19)
    else:
        assert (nices, 3 in classes) == ({nice}, False)
        assert group_nice != 19 or nice == 19


def test_a_cpu_that_may_not_be_used_is_refused_and_nothing_is_measured() -> None:
    outcome = run_step(
        null_step(Gentle(cpu=1 << 14)), NULL, origin_ns=0, control=QuietControl(), listener=lambda records: None
    )

    assert outcome == Outcome(Status.REFUSED, "cannot be measured gently on CPU 16384: [Errno 22] Invalid argument")
