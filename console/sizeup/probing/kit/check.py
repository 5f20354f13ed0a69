"""Check a plug-in before it is installed: its entry points and manifests, without running any of it."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from msgspec import Struct, field

from sizeup.decoding import TomlError
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Settings, Step
from sizeup.model.records import EstimateRecord, SamplesRecord, StepRecord
from sizeup.model.sample import Coordinates, Status
from sizeup.probing.kit.plugin_files import DeclaredPoint, PluginFiles, Problem, find_plugin, line_of
from sizeup.probing.manifest_file import FILE_NAME, manifest_mistakes, unreported_limits
from sizeup.probing.planner import BrokenPlan, NotCompiled, make_plan
from sizeup.probing.registry import GROUP, RegisteredProbe, Registry, load_registry
from sizeup.probing.runner import TERM_AFTER_SECONDS, run_step
from sizeup.text import listed, nearest, one_line

TRIAL_SECONDS = 0.5
"""How long a probe may measure once its first record has arrived."""
FIRST_RECORD_SECONDS = 20.0
"""How long it may take until then: a probe may first fill its memory or a file."""
_FINE = (Status.OK, Status.NOT_CONVERGED, Status.CANCELED)


class CheckedPlugin(Struct):
    """The result of a check."""

    files: PluginFiles
    problems: list[Problem] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """The probes that were found."""


def check_plugin(root: Path) -> CheckedPlugin:
    """Return every problem of the plug-in below a folder; reads files and runs nothing."""
    files = find_plugin(root)
    checked = CheckedPlugin(files, list(files.problems))
    for package, folder in files.import_roots.items():
        points = [point for point in files.points if point.package == package]
        _check_manifest(checked, folder / package / FILE_NAME, points)
        for point in points:
            module = point.target.partition(":")[0]
            base = folder.joinpath(*module.split("."))
            if not any(base.parent.glob(f"{base.name}.*")) and not (base / "__init__.py").is_file():
                found, key = f"no {files.name(base.with_suffix('.py'))}", f"entry point {point.name}"
                checked.problems.append(Problem(point.file, point.line, key, f"a module {module}", found))
    if not checked.problems:
        registry = registry_with(files)
        checked.problems += [
            Problem(
                point.file, point.line, f"entry point {point.name}", "a probe that can be registered", broken.reason
            )
            for point in files.points
            for broken in registry.broken
            if broken.name == point.name
        ]
    return checked


def registry_with(files: PluginFiles) -> Registry:
    """Return the registry as it will be once the plug-in is installed, in place of an installed version of it."""
    own = files.distribution.replace("-", "_").lower()
    installed = [
        point
        for point in entry_points(group=GROUP)
        if point.dist is None or point.dist.name.replace("-", "_").lower() != own
    ]
    with importable(files):
        return load_registry([*installed, *(EntryPoint(point.name, point.target, GROUP) for point in files.points)])


@contextmanager
def importable(files: PluginFiles) -> Iterator[None]:
    """Let the packages of a plug-in be found, before all others."""
    before = list(sys.path)
    sys.path[:0] = [str(folder.resolve()) for folder in dict.fromkeys(files.import_roots.values())]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def _check_manifest(checked: CheckedPlugin, path: Path, points: list[DeclaredPoint]) -> None:
    """Add the problems of one manifest, and the probes that it declares."""
    file = checked.files.name(path)
    try:
        text = path.read_text(encoding="utf-8")
        manifests, found = manifest_mistakes(text)
    except FileNotFoundError:
        checked.problems.append(Problem(file, 0, "file", "the manifest of the package", "no such file"))
        return
    except (OSError, UnicodeDecodeError, TomlError) as error:
        line = error.line if isinstance(error, TomlError) else 0
        checked.problems.append(Problem(file, line, "file", "TOML in UTF-8", one_line(str(error))))
        return
    checked.problems += [
        Problem(file, line_of(text, one.place), one.key, one.expected, one.found, one.action)
        for one in (*found, *unreported_limits(manifests))
    ]
    declared = {manifest.name: manifest for manifest in manifests}
    named = {point.name for point in points}
    if manifests:
        checked.names += [name for name in declared if name in named]
        for point in points:
            if point.name not in declared:
                key = f"entry point {point.name}"
                found_there = f"{listed(list(declared))}{nearest(point.name, declared)}"
                expected = f"a probe of this name in {file}"
                checked.problems.append(Problem(point.file, point.line, key, expected, found_there))
    for index, manifest in enumerate(manifests):
        if manifest.name not in named:
            line = line_of(text, ("probe", index, "name"))
            action = f'add "{manifest.name}" = "{points[0].package}.probe:Class" to the entry points'
            expected = f"an entry point of group {GROUP}"
            checked.problems.append(Problem(file, line, f"probe {manifest.name}", expected, "none", action))


class Trial(Struct):
    """What a moment of a probe showed."""

    probe: str
    step: str = ""
    samples: int = 0
    estimates: int = 0
    problems: list[Problem] = field(default_factory=list)
    refused: str = ""
    """Why it must not or cannot run here; empty where it did."""
    note: str = ""
    """What the author should know and what is no mistake."""


class _Moment:
    """Cancels the step half a second after its first record."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        self._began = time.monotonic()
        self.first: float | None = None
        self.canceled: float | None = None

    def fileno(self) -> int:
        return self._read_end

    def read_commands(self) -> None:
        os.read(self._read_end, 64)

    @property
    def cancel_step(self) -> bool:
        now = time.monotonic()
        due = self._began + FIRST_RECORD_SECONDS if self.first is None else self.first + TRIAL_SECONDS
        if now >= due and self.canceled is None:
            self.canceled = now
        return now >= due

    def close(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)


def try_probe(probe: RegisteredProbe, registry: Registry, machine: Machine, settings: Settings) -> Trial:
    """Plan a probe twice and run its first step for a moment."""
    name = probe.name
    trial = Trial(name)
    if Hazard.RAW_DEVICE_WRITE in probe.manifest.hazards:
        trial.refused = f"it can overwrite a device; run it with: sizeup --batch -p {name}"
        return trial
    chosen = {name: settings} if settings else {}
    first, second = (make_plan(machine, registry, name="quick", probes=[name], settings=chosen) for _ in range(2))
    broken = [refusal for refusal in first.refusals if isinstance(refusal, BrokenPlan)]
    if broken:
        trial.problems.append(_problem(name, "plan", "steps or refusals", broken[0].reason))
        return trial
    if not first.steps:
        trial.refused = first.refusals[0].reason if first.refusals else "its plan is empty"
        if first.refusals and isinstance(first.refusals[0], NotCompiled):
            missing = "its compiled part is missing"
            trial.refused = f"{missing}: build a wheel of it (pip wheel --no-deps DIR) and check the wheel"
        return trial
    if [step.id for step in first.steps] != [step.id for step in second.steps]:
        found = "others when it was planned again"
        action = "runs are compared and resumed by the ids of steps"
        trial.problems.append(_problem(name, "plan", "the same ids of steps each time", found, action))
    for step in first.steps:
        undeclared = [hazard.value for hazard in step.hazards if hazard not in probe.manifest.hazards]
        if undeclared:
            found = f"{', '.join(undeclared)} of step {step.id}"
            trial.problems.append(_problem(name, "hazards", "those of the manifest", found))
            break
    _run(trial, first.steps[0], probe)
    return trial


def _run(trial: Trial, step: Step, probe: RegisteredProbe) -> None:
    moment, records = _Moment(), list[StepRecord]()

    def listen(arrived: Iterable[StepRecord]) -> None:
        for record in arrived:
            if moment.first is None and isinstance(record, SamplesRecord | EstimateRecord):
                moment.first = time.monotonic()
            records.append(record)

    try:
        origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        outcome = run_step(step, probe.target, origin_ns=origin_ns, control=moment, listener=listen)
        ended = time.monotonic()
    finally:
        moment.close()
    trial.step = step.id
    if outcome.status is Status.REFUSED:
        trial.refused = outcome.reason
        return
    if outcome.status not in _FINE:
        said = f"{outcome.status.value}: {outcome.reason or outcome.signal or 'no reason given'}"
        trial.problems.append(_problem(trial.probe, "run", "a step that ends without an error", said))
    _check_records(trial, records, probe)
    if moment.canceled is not None and ended - moment.canceled > TERM_AFTER_SECONDS:
        trial.note = (
            f"it did not end within {TERM_AFTER_SECONDS:g} s of its cancellation and was ended by SIGTERM: "
            "look at context.canceled more often"
        )


def _check_records(trial: Trial, records: Iterable[StepRecord], probe: RegisteredProbe) -> None:
    declared = {series.name: series for series in probe.series}
    seen: set[tuple[str, str]] = set()

    def add(series: str, key: str, expected: str, found: str) -> None:
        if (series, key) not in seen:  # once for each series, not for each of a million samples
            seen.add((series, key))
            trial.problems.append(_problem(trial.probe, key, expected, found))

    def place(series: str, at: Coordinates) -> None:
        if series not in declared:
            add(series, "series of a record", f"one of {', '.join(declared)}", repr(series))
        elif (axis := declared[series].axis) is not None and axis not in at:
            found = ", ".join(at) or "no coordinates"
            add(series, f"coordinates of series {series}", f"its axis {axis}", found)

    for record in records:
        if isinstance(record, SamplesRecord):
            trial.samples += len(record.values)
            place(record.series, record.at)
        elif isinstance(record, EstimateRecord):
            trial.estimates += 1
            estimate = record.estimate
            place(estimate.series, estimate.at)
            low, high = (end if end is not None else estimate.value for end in (estimate.low, estimate.high))
            if not low <= estimate.value <= high:
                key = f"interval of series {estimate.series}"
                add(estimate.series, key, "low <= value <= high", f"{low:g} <= {estimate.value:g} <= {high:g}")
    if not trial.samples and not trial.estimates and not trial.problems:
        expected = f"Samples or an Estimate within {FIRST_RECORD_SECONDS:g} s"
        trial.problems.append(_problem(trial.probe, "run", expected, "none"))


def _problem(probe: str, key: str, expected: str, found: str, action: str = "") -> Problem:
    return Problem("", 0, f"run of {probe}: {key}", expected, found, action)
