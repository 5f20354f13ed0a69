"""What a native job drops is told: a series with a hole is not passed off as whole."""

import time
from pathlib import Path

import pytest

from fakes import HandContext, QuietControl
from sizeup.model.machine import Gap
from sizeup.model.plan import Step
from sizeup.model.records import GapRecord, StepRecord
from sizeup.model.sample import Outcome, Samples, Status
from sizeup.probing.api import Emission
from sizeup.probing.native import EstimatePoint, NativeJob
from sizeup.probing.runner import run_step
from sizeup_clock import binding as clock
from sizeup_memory import binding as memory

RING = 8192


def push(job: NativeJob, count: int, module: object = memory) -> None:
    """So many samples that nobody takes out meanwhile."""
    ffi, lib = vars(module)["ffi"], vars(module)["lib"]
    sample = ffi.new("struct sizeup_sample *", {"value": 1.0})
    for _ in range(count):
        lib.sizeup_job_push(job.job, sample)


@pytest.mark.parametrize("module", [memory, clock])
def test_samples_that_did_not_fit_the_ring_become_a_gap_with_their_number(module: object, context: HandContext) -> None:
    job = vars(module)["new_job"]()
    push(job, RING + 1234, module)

    emissions: list[Emission] = list(job.follow(lambda: 0, (EstimatePoint("dram-thp", {}),), context))

    assert sum(len(batch.values) for batch in emissions if isinstance(batch, Samples)) == RING
    (gap,) = [emission for emission in emissions if isinstance(emission, Gap)]
    assert gap.subject == "1,234 samples of dram-thp"
    assert gap.reason.startswith("dropped: sizeup could not collect them in time")


def test_where_nothing_was_dropped_there_is_no_gap(context: HandContext) -> None:
    job = memory.new_job()
    push(job, RING)

    assert [e for e in job.follow(lambda: 0, (EstimatePoint("a", {}),), context) if isinstance(e, Gap)] == []


def test_a_job_that_is_canceled_tells_what_it_dropped(context: HandContext) -> None:
    job = memory.new_job()
    push(job, RING + 1)
    context.cancel()

    assert [e.subject for e in job.follow(lambda: 0, (EstimatePoint("a", {}),), context) if isinstance(e, Gap)]


def test_the_gap_reaches_the_runner_of_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropping.py").write_text(
        "from sizeup.probing.native import EstimatePoint\n"
        "from sizeup_memory import binding\n"
        "class Probe:\n"
        "    def run(self, step, context):\n"
        "        job = binding.new_job()\n"
        "        sample = binding.ffi.new('struct sizeup_sample *')\n"
        f"        for _ in range({RING} + 7): binding.lib.sizeup_job_push(job.job, sample)\n"
        "        yield from job.follow(lambda: 0, (EstimatePoint('a', {}),), context)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    kept: list[StepRecord] = []
    origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

    outcome = run_step(
        Step("a", "a", "", {}, 1.0, 30.0),
        "dropping:Probe",
        origin_ns=origin_ns,
        control=QuietControl(),
        listener=kept.extend,
    )

    assert outcome == Outcome(Status.OK)
    assert [record.gap.subject for record in kept if isinstance(record, GapRecord)] == ["7 samples of a"]
