"""The times that the list of probes shows are those of their plans on this machine."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from consoles import Console, machine, until
from sizeup.model.machine import Machine
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup.tui.run_form import RunForm, format_seconds
from sizeup.tui.screens.measure import ProbeList
from sizeup.tui.screens.probe_forms import PlannedSeconds, ProbeForms

REGISTRY = load_registry()
LATENCY = REGISTRY.get("memory.latency")
DISK = REGISTRY.get("io.direct")


def host(shown: Machine | None, unmeasured: str = "") -> SimpleNamespace:
    return SimpleNamespace(machine=shown, unmeasured=unmeasured, registry=REGISTRY)


def with_last_level(size_bytes: int) -> Machine:
    made = machine()
    (last,) = [cache for cache in made.caches if cache.level == max(one.level for one in made.caches)][:1]
    others = [cache for cache in made.caches if cache is not last]
    return replace(made, caches=(*others, replace(last, size_bytes=size_bytes)))


def planned(shown: Machine, plan: str) -> float:
    return sum(step.estimated_seconds for step in make_plan(shown, REGISTRY, name=plan, probes=[LATENCY.name]).steps)


@pytest.mark.parametrize("plan", ["quick", "standard", "full"])
def test_a_probe_takes_what_its_plan_says_on_this_machine(plan: str) -> None:
    small, large = with_last_level(32 << 20), with_last_level(480 << 20)
    shown = host(small)
    seconds = PlannedSeconds(shown)  # type: ignore[arg-type]

    assert seconds.of(LATENCY, plan) == pytest.approx(planned(small, plan), rel=0.05)
    shown.machine = large
    assert seconds.of(LATENCY, plan) == pytest.approx(planned(large, plan), rel=0.05)
    assert planned(large, plan) > planned(small, plan)


def test_without_a_machine_to_measure_the_time_is_the_manifests() -> None:
    typical = LATENCY.manifest.estimated_seconds["quick"]

    assert PlannedSeconds(host(None)).of(LATENCY, "quick") == typical  # type: ignore[arg-type]
    assert PlannedSeconds(host(machine(), "saved")).of(LATENCY, "quick") == typical  # type: ignore[arg-type]


def test_a_probe_without_its_target_takes_the_manifests_time_and_one_of_no_plan_none() -> None:
    seconds = PlannedSeconds(host(machine()))  # type: ignore[arg-type]

    assert seconds.of(DISK, "quick") == DISK.manifest.estimated_seconds["quick"]
    assert seconds.of(REGISTRY.get("memory.loaded"), "quick") is None


def test_what_was_typed_changes_the_time_of_the_form_alone() -> None:
    seconds = PlannedSeconds(host(machine()))  # type: ignore[arg-type]
    before = seconds.of(LATENCY, "quick")
    form = RunForm(LATENCY.manifest, "quick")
    form.change("budget", "60")

    assert before is not None
    assert (seconds.of_form(LATENCY, form) or 0.0) > 10 * before
    assert seconds.of(LATENCY, "quick") == before


@pytest.mark.ci
async def test_the_list_shows_the_time_of_this_machine(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.pause()
        probes = [probe for name, probe in console.app.registry.probes.items() if "full" in probe.manifest.plans]
        seconds = [PlannedSeconds(console.app).of(probe, "full") for probe in probes]
        await pilot.press("3")
        console.app.screen.query_one(ProbeForms).choose_plan("full")
        listed = console.app.screen.query_one(ProbeList)
        await until(pilot, lambda: listed.size.width > 0)
        width = listed.scrollable_content_region.width
        listed.show_runs(console.runs, "full", console.app.machine, lambda *_: None)

        timed = 0
        for probe, planned_seconds in zip(probes, seconds, strict=True):
            assert planned_seconds is not None
            line, time = str(listed.get_option(probe.name).prompt), f" {format_seconds(planned_seconds)}"
            timed += line.endswith(time)
            assert line.endswith((time, " not here")) or len(line) + len(time) > width
        assert timed >= 3
