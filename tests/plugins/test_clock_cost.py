"""What reading the clock costs."""

import os

import pytest

from fakes import HandContext
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Step
from sizeup.model.sample import Estimate
from sizeup.model.topology import Pu
from sizeup.probing.native import EstimatePoint
from sizeup.probing.registry import load_registry
from sizeup.probing.settings import resolve
from sizeup_clock import binding
from sizeup_clock.binding import Rates
from sizeup_clock.probe import ClockCost

MACHINE = Machine(pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in sorted(os.sched_getaffinity(0))))


def plan(cpu: int = -1) -> Step | Refusal:
    manifest = load_registry().get("clock.cost").manifest
    (step,) = ClockCost().plan(MACHINE, resolve(manifest, "quick", {"cpu": cpu, "seconds_per_method": 0.001}))
    return step


def test_each_method_has_a_cost_in_nanoseconds_cycles_and_ticks(context: HandContext) -> None:
    step = plan()
    assert isinstance(step, Step)

    estimates = [entry for entry in ClockCost().run(step, context) if isinstance(entry, Estimate)]

    costs = {str(entry.at["method"]): entry for entry in estimates if entry.series == "cost"}
    assert {"gettimeofday", "clock_gettime-monotonic", "syscall-clock_gettime"} <= set(costs)
    for estimate in costs.values():
        assert 0.1 < estimate.value < 1e6
        assert estimate.extra["core_cycles"] == pytest.approx(estimate.value * float(estimate.extra["core_hz"]) / 1e9)
    assert 1e8 < float(costs["gettimeofday"].extra["core_hz"]) < 8e9
    (ratio,) = [entry for entry in estimates if entry.series == "vdso-ratio"]
    assert ratio.extra["verdict"] in {"vdso", "system-call", "unclear"}
    (statement,) = [entry.extra["statement"] for entry in estimates if "statement" in entry.extra]
    assert str(statement).startswith("timing I/O costs ")
    assert costs["syscall-clock_gettime"].value > costs["clock_gettime-monotonic-coarse"].value


def test_core_cycles_are_those_of_the_measured_cpu_while_it_is_busy(
    context: HandContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, last = sorted(os.sched_getaffinity(0)) * 2
    os.sched_setaffinity(0, {first})
    job, cost = binding.new_job(), binding.CostJob([0], last, 5, 0.001, 0.01)
    assert cost.rates() is None, "nothing before it ran"
    list(job.follow(cost.call(job), (EstimatePoint("cost", {}),), context))
    rates = cost.rates()
    assert rates.cpu == last

    real = Rates(core_hz=2e9, counter_hz=1e9, cpu=int(last))
    monkeypatch.setattr(binding.CostJob, "rates", lambda _: real)
    monkeypatch.setattr(binding, "measure_rates", lambda: pytest.fail("measured outside of the job"))
    step = plan(last)
    assert isinstance(step, Step)
    final = [e for e in ClockCost().run(step, context) if isinstance(e, Estimate) and e.converged is not None]
    for estimate in final:
        if estimate.series == "cost":
            assert estimate.extra["core_cycles"] == pytest.approx(2 * estimate.value)
            assert estimate.extra["counter_ticks"] == pytest.approx(estimate.value)


def test_without_the_frequency_of_that_cpu_there_are_no_cycles(
    context: HandContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binding.CostJob, "rates", lambda _: None)
    step = plan()
    assert isinstance(step, Step)

    emissions = list(ClockCost().run(step, context))

    (gap,) = [entry for entry in emissions if isinstance(entry, Gap)]
    assert gap.subject == "clock.cost: core cycles and counter ticks"
    costs = [entry for entry in emissions if isinstance(entry, Estimate) and entry.series == "cost"]
    assert costs
    assert not any("core_cycles" in entry.extra for entry in costs)


def test_a_cpu_that_this_process_may_not_use_is_refused() -> None:
    refusal = plan(cpu=8000)

    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("cpu=8000: not among the CPUs that sizeup may use: ")
