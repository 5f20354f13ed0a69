"""Every option of the probes of memory and clocks changes what the native code is told or what is yielded.

The native calls are stood in for: each is noted with its arguments and returns at once.
"""

import os

import msgspec
import pytest

from fakes import HandContext
from plugins.told import MACHINE, MIB, Told
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_class, load_registry
from sizeup_clock import binding as clock
from sizeup_memory import binding as memory
from sizeup_memory import latency, shm
from tiers import one_in

REGISTRY = load_registry()
STOP_RULE: dict[str, SettingValue] = {
    "replicates": 7,
    "replicates_max": 33,
    "replicate": 0.3,
    "warm_up": 0.4,
    "budget": 5.5,
    "target": 0.2,
    "seed": 99,
}
OTHER: dict[str, dict[str, SettingValue]] = {
    "memory.latency": {"patterns": "dram-4k", "cpu": 1, "largest": 128 * MIB, "points": 3, **STOP_RULE},
    "memory.numa": {"pages": "4k", "span": 128 * MIB, "matrix_time": 1.0, **STOP_RULE},
    "memory.bandwidth": {"pages": "4k", "matrix_time": 1.0, **STOP_RULE},
    "memory.loaded": STOP_RULE,
    "memory.core-to-core": STOP_RULE,
    "memory.hammer": {"pages": 512, "loops": 9, "replicates": 2},
    "memory.shm": {
        "bytes": 32 * MIB,
        "replicates": 7,
        "replicates_max": 33,
        "budget": 5.5,
        "target": 0.2,
        "matrix_time": 1.0,
    },
    "clock.cost": {"iops": 5.0, "cpu": 1, "seconds_per_method": 0.1},
    "clock.skew": {"reads": 5000, "partners": 2},
}
"""Another value than the default of each option."""


@pytest.fixture
def noting(monkeypatch: pytest.MonkeyPatch) -> tuple[Told, Told]:
    both = Told(memory, growth=2000.0), Told(clock)
    monkeypatch.setattr(memory, "lib", both[0])
    monkeypatch.setattr(clock, "lib", both[1])
    return both


def trace(probe: str, noting: tuple[Told, Told], chosen: dict[str, SettingValue]) -> list[str]:
    """What a run tells the native code, and what it yields."""
    registered = REGISTRY.get(probe)
    plan = make_plan(MACHINE, REGISTRY, name="standard", probes=[probe], settings={probe: chosen})
    if not plan.steps:
        raise RefusedError("; ".join(refusal.reason for refusal in plan.refusals))
    for one in noting:
        one.calls.clear()
    found: list[str] = []
    for step in plan.steps:
        found.append(step.id)
        emissions = load_class(registered.target).run(step, HandContext())
        found += [repr(msgspec.to_builtins(each)) for each in emissions if not isinstance(each, Progress)]
    return [*found, *(repr(told) for one in noting for told in one.calls)]


def test_the_table_has_every_option_of_every_probe() -> None:
    probes = {name for name in REGISTRY.probes if name.startswith(("memory.", "clock."))}
    assert probes == OTHER.keys()
    for name, other in OTHER.items():
        parameters = {parameter.name: parameter.default for parameter in REGISTRY.get(name).manifest.parameter}
        assert other.keys() == parameters.keys()
        assert [key for key, value in other.items() if parameters[key] == value] == []


@pytest.mark.parametrize("probe", one_in(3, OTHER))
def test_an_option_changes_what_runs(probe: str, noting: tuple[Told, Told], monkeypatch: pytest.MonkeyPatch) -> None:
    if probe == "memory.shm" and not os.path.isdir("/dev/shm"):
        pytest.skip("/dev/shm is not mounted here")
    monkeypatch.setattr(shm, "read_free_by_node", dict)
    for name, value in OTHER[probe].items():
        beside: dict[str, SettingValue] = {}
        if name == "replicates" and "replicates_max" in OTHER[probe]:
            beside["replicates_max"] = 64
        before = trace(probe, noting, beside)
        assert before == trace(probe, noting, beside), "the same options give the same"
        assert trace(probe, noting, {**beside, name: value}) != before, f"{probe}.{name} changes nothing"


@pytest.mark.parametrize(
    ("probe", "chosen", "reason"),
    [
        (
            "memory.latency",
            {"replicates": 20, "replicates_max": 15},
            "replicates_max=15: expected at least replicates=20",
        ),
        ("memory.numa", {"replicates_max": 3}, "replicates_max=3: expected at least replicates=5"),
        ("memory.bandwidth", {"replicates": 9, "replicates_max": 8}, "replicates_max=8"),
        ("memory.loaded", {"replicates": 9, "replicates_max": 8}, "replicates_max=8"),
        ("memory.core-to-core", {"replicates": 31, "replicates_max": 30}, "replicates_max=30"),
        ("memory.shm", {"replicates": 16, "replicates_max": 15}, "replicates_max=15"),
        ("memory.latency", {"largest": 16 << 10}, "largest=16384: expected at least 32 KiB"),
        ("memory.latency", {"patterns": "tlb-local", "largest": 256 << 10}, "expected at least 512 KiB"),
        ("memory.numa", {"span": 100 * MIB}, "expected a power of two of at least 16 MiB"),
        ("memory.numa", {"span": 8 * MIB}, "expected a power of two of at least 16 MiB"),
    ],
)
def test_what_could_not_be_done_as_asked_is_refused(probe: str, chosen: dict[str, SettingValue], reason: str) -> None:
    plan = make_plan(MACHINE, REGISTRY, name=None, probes=[probe], settings={probe: chosen})

    assert plan.steps == ()
    assert reason in plan.refusals[0].reason


def test_working_sets_that_do_not_fit_are_told(noting: tuple[Told, Told], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda _: 40 * MIB)
    (step,) = make_plan(
        MACHINE, REGISTRY, name=None, probes=["memory.latency"], settings={"memory.latency": {"largest": 64 * MIB}}
    ).steps

    gap, level = [e for e in latency.MemoryLatency().run(step, HandContext()) if isinstance(e, Gap)]
    assert gap.subject == "memory.latency: dram-thp beyond 4 MiB"
    assert gap.reason == "not measured: it exceeds half of the available memory"
    assert level.subject == "memory.latency: DRAM latency of dram-thp"


def test_the_probe_that_measures_nothing_does_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("sizeup_null.probe.time.sleep", slept.append)
    (step,) = make_plan(
        MACHINE,
        REGISTRY,
        name=None,
        probes=["null"],
        settings={"null": {"samples": 3, "interval": 0.5, "misbehave": "fail"}},
    ).steps
    probe = load_class(REGISTRY.get("null").target)

    with pytest.raises(SizeupError, match="asked to fail"):
        list(probe.run(step, HandContext()))
    assert slept == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("shares", "told"), [((1.0, 1.0, 0.4, 1.0), "40 %"), ((0.2, 1.0, 1.0, 1.0), "20 %"), ((1.0,) * 4, "")]
)
@pytest.mark.usefixtures("noting")
def test_loaded_latency_tells_the_memory_that_is_not_on_huge_pages(
    shares: tuple[float, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = memory.Placement(1, {0: 1}, 0, 1.0, verified=True, bound=True)
    monkeypatch.setattr(
        memory.Traffic, "placement", lambda _, member: msgspec.structs.replace(nowhere, huge_share=shares[member])
    )
    (step,) = make_plan(MACHINE, REGISTRY, name=None, probes=["memory.loaded"], settings={}).steps
    emissions = load_class(REGISTRY.get("memory.loaded").target).run(step, HandContext())

    found = [each for each in emissions if isinstance(each, Estimate) and each.converged is not False]
    latencies = [each for each in found if each.series == "latency"]
    assert latencies
    for each in latencies:
        assert each.extra["huge_page_share"] == min(shares)
        caveats = [caveat for caveat in each.caveats if "huge pages" in caveat]
        assert caveats == ([f"only {told} of the memory is on transparent huge pages"] if told else [])
