"""The form of a probe: what is shown is what runs, for every option of every probe."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consoles import machine
from sizeup.engine.spec import RunSpec
from sizeup.model.plan import SettingValue
from sizeup.probing.manifest import PLANS, Parameter, parse_value
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import RegisteredProbe, load_registry
from sizeup.probing.settings import parse_assignments, resolve, used
from sizeup.tui.actions import ACTIONS
from sizeup.tui.run_form import RunForm, format_setting
from sizeup.tui.runs import spec_of

REGISTRY = load_registry().builtin_only()
OPTIONS = [(name, parameter.name) for name, probe in REGISTRY.probes.items() for parameter in probe.manifest.parameter]
STORAGE = next(name for name, probe in REGISTRY.probes.items() if (of := probe.manifest.target) is not None and of.more)


def other_values(parameter: Parameter, folder: Path) -> Iterator[str]:
    """Some values that differ from the default and that the parameter takes."""
    match parameter.type:
        case "choice":
            yield from (choice for choice in parameter.choices if choice != parameter.default)
        case "bool":
            yield "no" if parameter.default else "yes"
        case "path":
            yield str(folder)
        case "str" | "device" | "cpulist":
            yield "0"
        case _:
            low, high = parameter.minimum, parameter.maximum
            candidates: list[SettingValue] = [*parameter.suggestions, 2, 4, 16, 64, 4096, 0.5, 0.02, 100.0, 30.0]
            for value in candidates:
                inside = (low is None or float(value) >= low) and (high is None or float(value) <= high)
                whole = parameter.type in ("float", "seconds") or value == int(float(value))
                if inside and whole and value != parameter.default:
                    yield format_setting(parameter, int(value) if parameter.type in ("int", "bytes") else float(value))


def given_settings(spec: RunSpec, probe: RegisteredProbe) -> dict[str, SettingValue]:
    """What the engine makes of a request: the settings that the plug-in plans its steps with."""
    given = parse_assignments(spec.assignments, REGISTRY)
    make_plan(machine(), REGISTRY, name=spec.plan, probes=spec.probes, settings=given)  # refuses what has no effect
    return used(probe.manifest, resolve(probe.manifest, spec.plan, given.get(probe.name, {})))


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_what_the_form_shows_is_what_the_run_is_given(name: str, option: str, tmp_path: Path) -> None:
    probe = REGISTRY.get(name)
    for text in other_values(
        probe.manifest.parameter[[p.name for p in probe.manifest.parameter].index(option)], tmp_path
    ):
        form = RunForm(probe.manifest, "quick")
        before = form.typed
        if text == form.text(option):  # which the plan sets
            continue
        change = form.change(option, text)
        shown = {parameter.name: form.text(parameter.name) for parameter in probe.manifest.parameter}
        if change.problem:
            assert "has no effect with" in change.problem
            assert form.typed == before
            continue
        given = given_settings(spec_of(name, form.typed, form.plan), probe)
        assert given == {key: value for key, value in form.settings.items() if not form.unused(key)}
        for key, value in given.items():
            assert shown[key] == form.typed.get(key, format_setting(form.parameter(key), value))
        assert given[option] == parse_value(form.parameter(option), text, option)


def test_an_option_that_the_workload_ignores_changes_it_to_custom_and_keeps_what_it_did() -> None:
    form = RunForm(REGISTRY.get(STORAGE).manifest, "quick")
    form.change("preset", "oltp-7030")
    change = form.change("block", "64KiB")

    assert change.problem == ""
    assert change.note.startswith("Workload is now Custom")
    assert form.typed == {"preset": "custom", "block": "64KiB", "read_percent": "70"}


def test_an_option_that_no_single_workload_takes_is_refused_with_the_reason() -> None:
    form = RunForm(REGISTRY.get(STORAGE).manifest, "quick")
    form.change("preset", "redo")
    change = form.change("depth", "32")

    assert "Depth has no effect with preset=redo: set preset to one of" in change.problem
    assert form.typed == {"preset": "redo"}


def test_a_workload_that_ignores_what_was_changed_resets_it_and_says_so() -> None:
    form = RunForm(REGISTRY.get(STORAGE).manifest, "quick")
    form.change("depth", "32")
    change = form.change("preset", "redo")

    assert change.note == "Depth has no effect now and was reset"
    assert form.typed == {"preset": "redo"}


def test_what_a_workload_does_by_itself_stands_in_place_of_what_it_ignores() -> None:
    form = RunForm(REGISTRY.get(STORAGE).manifest, "quick")
    form.change("preset", "dss-scan")

    assert (form.text("block"), form.text("pattern")) == ("1MiB", "sequential")
    assert form.change("block", "1MiB").note == ""
    assert form.typed == {"preset": "dss-scan"}


@pytest.mark.parametrize(
    "preset",
    REGISTRY.get(STORAGE)
    .manifest.parameter[[p.key for p in REGISTRY.get(STORAGE).manifest.parameter].index("i")]
    .implies,
)
def test_what_the_manifest_says_of_a_workload_is_what_it_does(preset: str) -> None:
    from sizeup_direct_io.presets import sweeps

    parameters = {parameter.name: parameter for parameter in REGISTRY.get(STORAGE).manifest.parameter}
    implied = parameters["preset"].implies[preset]
    streams = {
        stream for sweep in sweeps(preset, depth=0, pages="both") for point in sweep.points for stream, _ in point.loads
    }
    (stream,) = streams
    pattern = "random" if stream.pattern.value == "random" else "sequential"

    assert implied["block"] == stream.block_bytes
    assert implied["pattern"] == pattern
    assert implied["read_percent"] == stream.read_percent
    assert implied.get("sync", "no") == stream.durable.value


def test_a_plan_changes_what_was_not_changed() -> None:
    probe = next(probe for probe in REGISTRY.probes.values() if len(probe.manifest.plans.get("quick", {})) > 1)
    form = RunForm(probe.manifest, "quick")
    name, value = next(iter(probe.manifest.plans["quick"].items()))
    quick = form.text(name)
    form.plan = "standard"

    assert quick == format_setting(form.parameter(name), value)
    assert form.text(name) != quick
    assert form.typed == {}


def test_the_letters_of_fields_are_those_of_no_action() -> None:
    taken = {
        key
        for scope in ("app", "measure", "chart", "list")
        for action in ACTIONS[scope]
        for key in action.keys.split(",")
    }
    for probe in REGISTRY.probes.values():
        letters = [parameter.key for parameter in probe.manifest.parameter if parameter.key]

        assert len(letters) == len(set(letters))
        assert not {*letters, *(letter.upper() for letter in letters)} & taken


def test_every_value_with_a_label_is_one_and_its_line_is_short() -> None:
    for probe in REGISTRY.probes.values():
        for parameter in probe.manifest.parameter:
            for value, text in parameter.labels.items():
                assert parameter.type != "choice" or value in parameter.choices
                assert len(text) <= 40
            if parameter.labels and parameter.type == "choice":
                assert {*parameter.labels} == {*parameter.choices}
    assert PLANS[0] == "quick"
