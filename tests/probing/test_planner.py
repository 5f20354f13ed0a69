"""A plan says what will run, in which order, and what must not run and why."""

import importlib.machinery
import importlib.util
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup.errors import MalformedError, UsageError
from sizeup.model.machine import Machine, Platform
from sizeup.model.numa import NumaNode
from sizeup.model.plan import NOT_REPORTED, Gentle, Hazard, Plan, Refusal, SettingValue, Step
from sizeup.model.topology import Pu
from sizeup.probing.manifest import Manifest, Parameter, ProbeLimits, Requires, TargetEntry
from sizeup.probing.manifest_file import parse_manifest
from sizeup.probing.planner import make_plan, renumber, unmet
from sizeup.probing.registry import RegisteredProbe, Registry, load_registry

ROOT = Path(__file__).parents[2]
MACHINE = Machine(pus=(Pu(0, online=True, allowed=True),), platform=Platform(architecture="x86_64"))

CLASSES = """
from sizeup.errors import RefusedError
from sizeup.model.plan import Refusal, Step
def step(id, seconds=60.0):
    return Step(id, id, "", {}, 1.0, seconds)
class Two:
    def plan(self, machine, settings):
        yield step("two.a")
        yield step("two.b", 5.0)
        yield Refusal("two.c", "two", "no second node")
class Slow:
    def plan(self, machine, settings): yield Step("slow", "slow", "", {}, 100.0, 60.0)
class One:
    def plan(self, machine, settings): yield step("one")
class Bad:
    def plan(self, machine, settings): yield step("memory.latency")
class Broken:
    def plan(self, machine, settings): return 1 / 0
class Viewer:
    def plan(self, machine, settings): raise ModuleNotFoundError("No module named 'x._native'", name="x._native")
class Foreign:
    def plan(self, machine, settings): import foreign._native
class Refusing:
    def plan(self, machine, settings): raise RefusedError("not on a Tuesday")
"""


def manifest(name: str, **more: object) -> Manifest:
    return Manifest(name, name, "", (), "nothing", "", plans={"quick": {}}, **more)  # type: ignore[arg-type]


def registry(*manifests: Manifest) -> Registry:
    return Registry(
        {each.name: RegisteredProbe(each, f"plannable:{each.name.capitalize()}", "sizeup 0.1.0") for each in manifests}
    )


@pytest.fixture(autouse=True)
def plannable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plannable.py").write_text(CLASSES)
    monkeypatch.syspath_prepend(tmp_path)


def test_the_harmless_come_first_and_a_limit_bounds_each_step() -> None:
    probes = registry(
        manifest("one", hazards=(Hazard.IO_WRITE,)),
        manifest("two", hazards=(Hazard.MEMORY,), limits=ProbeLimits(seconds=30.0)),
    )

    plan = make_plan(MACHINE, probes, name="quick")

    assert [(step.id, step.time_limit_seconds) for step in plan.steps] == [("two.a", 30), ("two.b", 5), ("one", 60)]
    assert plan.refusals == (Refusal("two.c", "two", "no second node"),)


@pytest.mark.parametrize("most", [150.0, 400.0])
def test_a_step_has_half_more_than_its_estimate_whatever_it_asks_for(most: float) -> None:
    (step,) = make_plan(MACHINE, registry(manifest("slow", limits=ProbeLimits(seconds=most))), name="quick").steps

    assert step.time_limit_seconds == 150.0


def test_a_step_that_could_not_end_in_time_is_refused() -> None:
    plan = make_plan(MACHINE, registry(manifest("slow", limits=ProbeLimits(seconds=149.0))), name="quick")

    assert plan.steps == ()
    assert plan.refusals == (
        Refusal(
            "slow",
            "slow",
            "it would take about 100 s: expected at most 99 s, as a step of slow is ended after 149 s; "
            "set what it measures lower",
        ),
    )


def test_a_gentle_plan_has_one_cpu_and_leaves_out_what_does_not_say_what_it_would_take() -> None:
    two_cpus = replace(MACHINE, pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in range(2)))
    caps = Gentle(cpu=1)
    probes = registry(
        manifest("one", gentle={}, limits=ProbeLimits(seconds=200.0)),
        manifest("two"),
        manifest("bad", not_gentle="it loads every CPU"),
        manifest("slow", gentle={}, requires=Requires(minimum_cpus=2)),
    )

    plan = make_plan(two_cpus, probes, name="quick", gentle=caps)

    # The probe asks for 60 s; at the lowest priority it may wait for its CPU as long as the manifest allows.
    assert [(step.id, step.gentle, step.time_limit_seconds) for step in plan.steps] == [("one", caps, 200.0)]
    assert {refusal.probe: refusal.reason for refusal in plan.refusals} == {
        "two": "left out of a gentle run: its manifest does not say what it sets there (gentle = {} for nothing)",
        "bad": "left out of a gentle run: it loads every CPU",
        "slow": "needs 2 CPUs; 1 may be used here",
    }
    assert [step.gentle for step in make_plan(two_cpus, probes, name="quick", probes=["one"]).steps] == [None]


def test_a_gentle_plan_sets_what_the_manifest_says_below_what_the_user_chose() -> None:
    gentle = {"largest_file": 256 << 20, "depth": 1, "cold_read": False}
    probes = load_registry()

    def settings(**typed: SettingValue) -> Mapping[str, SettingValue]:
        chosen = {"io.direct": {"size": 1 << 30, **typed}} if typed else {}
        plan = make_plan(MACHINE, probes, name="quick", mount="/", settings=chosen, gentle=Gentle(cpu=0))
        return next(step.settings for step in plan.steps if step.probe == "io.direct")

    assert {name: settings()[name] for name in gentle} == gentle
    assert (settings(depth=2)["depth"], settings(depth=2)["cold_read"]) == (2, False)


def test_rounds_repeat_the_whole_plan_under_ids_of_their_own() -> None:
    plan = make_plan(MACHINE, registry(manifest("one"), manifest("two")), name="quick", rounds=3)

    ids = ["one", "two.a", "two.b"]
    assert [step.id for step in plan.steps] == [f"{id_}{suffix}" for suffix in ("", "~2", "~3") for id_ in ids]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bad", "its plan is wrong: expected ids of its own that start with bad, found 'memory.latency'"),
        ("broken", "its plan failed: ZeroDivisionError: division by zero"),
        ("refusing", "not on a Tuesday"),
        (
            "viewer",
            "its compiled part is missing: this is the viewer; to measure, install the wheel for this type of machine",
        ),
        ("absent", "its plan failed: AttributeError: module 'plannable' has no attribute 'Absent'"),
    ],
)
def test_a_probe_that_cannot_plan_is_set_aside_and_the_others_run(name: str, reason: str) -> None:
    plan = make_plan(MACHINE, registry(manifest(name), manifest("one")), name="quick")

    assert [(one.step, one.probe, one.reason) for one in plan.refusals] == [(name, name, reason)]
    assert [step.id for step in plan.steps] == ["one"]


@pytest.mark.parametrize("damage", ["architecture", "no ELF"])
def test_a_compiled_part_that_does_not_load_is_named(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.find_spec("sizeup_memory._native")
    assert spec is not None
    assert spec.origin is not None
    content = bytearray(Path(spec.origin).read_bytes())
    content[18:20] = (0xBEEF).to_bytes(2, "little")  # e_machine
    (tmp_path / "foreign").mkdir()
    library = tmp_path / "foreign" / f"_native{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    library.write_bytes(content if damage == "architecture" else b"#!/bin/sh")
    monkeypatch.syspath_prepend(str(tmp_path))

    plan = make_plan(MACHINE, registry(manifest("foreign"), manifest("one")), name="quick")

    (refusal,) = plan.refusals
    assert refusal.reason.startswith("its compiled part does not load here ("), refusal.reason
    assert refusal.reason.endswith("); to measure, install the wheel for this type of machine")


def test_a_value_only_the_user_can_give_is_asked_for() -> None:
    needy = manifest("one", parameter=(Parameter("target", "path", "the file to read"),))

    plan = make_plan(MACHINE, registry(needy), name="quick")

    assert plan.refusals[0].reason == ("needs a value that only you can give: --set one.target=... (the file to read)")
    assert plan.refusals[0].setting == "target"


@pytest.mark.parametrize(
    ("requires", "reason"),
    [
        (Requires(architectures=("aarch64",)), "needs aarch64; this machine is x86_64"),
        (Requires(minimum_nodes=2), "needs 2 NUMA nodes; this machine has 1"),
        (Requires(minimum_cpus=4), "needs 4 CPUs; 1 may be used here"),
        (Requires(architectures=("x86_64",), minimum_nodes=1), None),
    ],
)
def test_what_a_machine_lacks_is_said_in_numbers(requires: Requires, reason: str | None) -> None:
    assert unmet(MACHINE, manifest("one", requires=requires)) == reason


def test_a_second_node_meets_what_needs_two() -> None:
    machine = Machine(nodes=(NumaNode(0, (0,)), NumaNode(4, (1,))))

    assert unmet(machine, manifest("one", requires=Requires(minimum_nodes=2))) is None


def test_what_a_step_leaves_out_is_as_the_manifest_says_and_a_limit_that_it_leaves_out_is_not_reported() -> None:
    writing = replace(manifest("one"), touches="a file of 1 GiB", hazards=(Hazard.IO_WRITE,))

    (step,) = make_plan(MACHINE, registry(writing), name="quick").steps

    assert (step.touches, step.hazards) == ("a file of 1 GiB", (Hazard.IO_WRITE,))
    assert (writing.limits.memory, writing.limits.space, writing.limits.cpus) == (NOT_REPORTED,) * 3


def test_settings_for_a_probe_that_will_not_run_are_an_error_not_a_silence() -> None:
    with pytest.raises(UsageError, match="does not include probe two; add it with -p two"):
        make_plan(MACHINE, registry(manifest("one"), manifest("two")), name=None, probes=["one"], settings={"two": {}})


@pytest.mark.parametrize("rounds", [0, -1, 1001])
def test_rounds_out_of_range_are_refused(rounds: int) -> None:
    with pytest.raises(UsageError, match="--repeat: expected a whole number from 1 to 1,000"):
        make_plan(MACHINE, registry(), name="quick", rounds=rounds)


def test_ids_that_a_file_holds_are_not_given_again() -> None:
    plan = Plan("custom", tuple(Step(id_, "null", "", {}, 1, 1) for id_ in ("null", "null~2", "two.a")))

    assert [step.id for step in renumber(plan, ["null", "null~3"]).steps] == ["null~2", "null~4", "two.a"]


def _measuring_mounts() -> Registry:
    parameters = (Parameter("path", "path", "where", ""), Parameter("seconds", "float", "how long", 9.0))
    storage = manifest("one", parameter=parameters, target=TargetEntry("path"), mount_plans={"quick": {"seconds": 2.0}})
    return registry(storage, manifest("two"))


def test_a_plan_measures_the_mount_that_is_named_and_none_without() -> None:
    without = make_plan(MACHINE, _measuring_mounts(), name="quick")
    plan = make_plan(MACHINE, _measuring_mounts(), name="quick", mount="/u01")

    assert [step.id for step in without.steps] == ["two.a", "two.b"]
    assert [step.id for step in plan.steps] == ["one", "two.a", "two.b"]
    assert plan.settings == {"one": {"path": "/u01", "seconds": 2.0}}
    assert make_plan(MACHINE, _measuring_mounts(), name="full", mount="/u01").steps == ()


def test_what_the_user_sets_wins_over_what_the_plan_sets_on_a_mount() -> None:
    chosen = {"one": {"seconds": 5.0}}
    plan = make_plan(MACHINE, _measuring_mounts(), name="quick", mount="/u01", settings=chosen)

    assert plan.settings == {"one": {"path": "/u01", "seconds": 5.0}}


def test_a_setting_of_a_mount_that_is_no_parameter_is_a_mistake_of_the_manifest() -> None:
    text = (ROOT / "plugins/sizeup_direct_io/probe.toml").read_text(encoding="utf-8")

    with pytest.raises(MalformedError, match=r"mount_plans: expected a parameter of io.direct, found 'speed'"):
        parse_manifest(text.replace("[probe.mount_plans]\nquick = {", "[probe.mount_plans]\nquick = { speed = 1,"), "x")
