"""Frequencies beside loops written apart from the probes, and ticks as the time that they are."""

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes import HandContext
from plugins.loops import compiled_loops
from plugins.told import MACHINE, Told, median_of
from sizeup.model.sample import Estimate
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_class, load_registry
from sizeup_clock import binding, skew
from sizeup_clock.binding import OrderingResult, Rates, Steps, is_counter, methods


@pytest.mark.ci
@pytest.mark.alone
def test_the_core_is_as_fast_as_an_independent_loop_says(tmp_path: Path) -> None:
    """In turns, and the fastest of each: what else runs makes both slower and neither faster."""
    loops, cpu = compiled_loops(tmp_path), max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, [cpu])
    ours, theirs = [], []
    for _ in range(8):
        rates = binding.measure_rates()
        assert rates.cpu == cpu
        ours.append(rates.core_hz)
        theirs += [loops.core_hz(200_000) for _ in range(5)]

    assert 0.8 <= max(ours) / max(theirs) <= 1.25


@pytest.mark.ci
@pytest.mark.alone
def test_the_counter_is_as_fast_as_an_independent_reading_says(tmp_path: Path) -> None:
    """The median of each: a reading that was interrupted is wrong in either direction."""
    loops = compiled_loops(tmp_path)
    theirs = statistics.median(loops.counter_hz() for _ in range(7))
    if not theirs:
        pytest.skip("no counter is known on this architecture")
    ours = statistics.median(binding.measure_rates().counter_hz for _ in range(15))

    assert 0.8 <= ours / theirs <= 1.25


def test_the_image_of_the_kernel_has_the_clock_or_there_is_none() -> None:
    """Its bytes name the function, under whichever prefix."""
    image = b""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if line.endswith("[vdso]"):
            start, end = (int(address, 16) for address in line.split()[0].split("-"))
            with Path("/proc/self/mem").open("rb", buffering=0) as memory:
                memory.seek(start)
                image = memory.read(end - start)

    assert binding.vdso_has_clock_gettime() is (b"_clock_gettime\0" in image)


def test_ticks_are_converted_by_the_counter_and_nanoseconds_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = Rates(core_hz=4e9, counter_hz=2e9, cpu=0)
    monkeypatch.setattr(skew, "is_counter", lambda index: index == 1)

    assert skew._in_ns(500.0, 1, rates) == 250.0
    assert skew._in_ns(500.0, 0, rates) == 500.0


@pytest.mark.parametrize(
    ("name", "backwards", "caveat", "series"),
    [
        ("lfence-rdtsc", 0, "", {"backwards", "skew"}),
        ("lfence-rdtsc", 3, "timestamps of these CPUs cannot be ordered", {"backwards", "skew"}),
        ("rdtsc", 3, "this is not a defect", {"backwards"}),
        ("rdtsc", 0, "", {"backwards"}),
    ],
)
def test_an_order_of_two_cpus_is_told_with_its_offset(
    name: str, backwards: int, caveat: str, series: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ordered(skew.OrderingJob):
        def call(self, job: object) -> Callable[[], int]:
            return lambda: 0

        def result(self) -> OrderingResult:
            return OrderingResult(1000, backwards, 40, -200.0, 20.0)

    monkeypatch.setattr(skew, "OrderingJob", Ordered)
    monkeypatch.setattr(skew, "is_counter", lambda _: True)
    rates = Rates(core_hz=4e9, counter_hz=2e9, cpu=0)
    emissions = skew._order(0, name, 4, 6, 1000, rates, HandContext())
    found = {one.series: one for one in emissions if isinstance(one, Estimate)}

    assert found.keys() == series
    first = found["backwards"]
    assert (first.value, first.at) == (backwards, {"method": name, "cpu": 4, "partner": 6})
    assert first.extra == {"reads": 1000, "worst_ns": 20.0}
    assert [caveat in one for one in first.caveats] == ([True] if caveat else [])
    if "skew" in found:
        assert (found["skew"].value, found["skew"].low, found["skew"].high) == (-100.0, -110.0, -90.0)


def run(probe: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Told, list[Estimate]]:
    """Run a probe that the native code is stood in for."""
    told, registry = Told(binding), load_registry()
    monkeypatch.setattr(binding, "lib", told)
    (step,) = make_plan(MACHINE, registry, name="quick", probes=[probe], settings={}).steps
    emissions = list(load_class(registry.get(probe).target).run(step, HandContext()))
    return told, [one for one in emissions if isinstance(one, Estimate)]


def test_each_cost_is_that_of_its_method(monkeypatch: pytest.MonkeyPatch) -> None:
    told, found = run("clock.cost", monkeypatch)

    ((_, indexes, _, _, rule, _),) = told.of("sizeup_clock_cost_run")
    costs = {str(one.at["method"]): one.value for one in found if one.series == "cost"}
    assert costs == {methods()[index]: median_of(at) for at, index in enumerate(indexes)}
    # Five replicates of a fifth of the time of a method, which the quick plan leaves at its default.
    (step,) = make_plan(MACHINE, load_registry(), name="quick", probes=["clock.cost"], settings={}).steps
    assert rule["replicate_ns"] == round(float(step.settings["seconds_per_method"]) / 5 * 1e9)
    assert [str(one.at["method"]) for one in found if "published_core_cycles_before" in one.extra] == ["gettimeofday"]


def test_each_order_and_step_is_that_of_its_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skew, "steps", lambda *_: Steps(1000, 5, 40, 0))
    monkeypatch.setattr(skew, "measure_rates", lambda: Rates(core_hz=4e9, counter_hz=2e9, cpu=0))
    told, found = run("clock.skew", monkeypatch)

    orders = [(methods()[call[1]], call[2], call[3]) for call in told.of("sizeup_clock_order_run")]
    assert [
        (one.at["method"], one.at["cpu"], one.at["partner"]) for one in found if one.series == "backwards"
    ] == orders
    steps = {str(one.at["method"]): one for one in found if one.series == "smallest-step"}
    assert {name: one.value for name, one in steps.items()} == {
        name: 20.0 if is_counter(methods().index(name)) else 40.0 for name in steps
    }
    assert {one.extra["resolution_ns"] for one in steps.values()} == {5}


def test_what_an_order_found_arrives() -> None:
    order = binding.OrderingJob(0, 0, 1, 10)
    native = order._native
    native.reads, native.backwards, native.worst_backwards, native.offset, native.offset_bound = 10, 2, 30, -4.0, 5.0

    assert order.result() == OrderingResult(10, 2, 30, -4.0, 5.0)
