"""What the Probes mode says of a probe and of a step, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from rich.console import Group
from rich.text import Text

from sizeup.model.machine import Machine
from sizeup.model.sample import Disturbance, Status
from sizeup.probing.manifest import Parameter
from sizeup.probing.planner import unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.session.value import StepRun
from sizeup.text import plural
from sizeup.tui.outcome_text import OUTCOME_WORDS
from sizeup.tui.runs import Runs
from sizeup.tui.widgets.facts import FactsGrid
from sizeup.units import format_ns
from sizeup.views.step import latest_refusal, point_value

_MOST_SETTINGS = 6
"""More would push what else there is to know off a small screen; the form has them all."""


def format_seconds(seconds: float) -> str:
    """A time as people say it: ``60 s``, ``8 min``, ``24 h``."""
    if seconds < 120:
        return format_ns(seconds * 1e9)
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


INTERRUPTED = "! interrupted"
"""How a step stands that never ended, in a file that nobody writes any more."""


def entry(
    probe: RegisteredProbe, plan: str, run: StepRun | None, machine: Machine | None, *, pending: str, going_on: bool
) -> Text:
    """A line of the list: name, and beneath it where it stands.

    ``pending`` says that its run waits or starts, ``going_on`` whether any run is going on.
    """
    text = Text(probe.name, no_wrap=True, overflow="ellipsis")
    if pending:
        state = pending
    elif run is None:
        reason = None if machine is None else unmet(machine, probe.manifest)
        seconds = probe.manifest.estimated_seconds.get(plan)
        state = "not on this machine" if reason else "" if seconds is None else f"takes {format_seconds(seconds)}"
    elif run.outcome is None:
        # How far stands in the status line: each change here repaints the whole list.
        state = "running" if going_on else INTERRUPTED
    else:
        words = {Status.OK: "", Status.NOT_CONVERGED: "!"}.get(run.outcome.status, OUTCOME_WORDS[run.outcome.status])
        state = f"{words} {point_value(run, placed=False, spread=False)}".strip() or OUTCOME_WORDS[run.outcome.status]
    text.append(f"\n  {state or 'not run yet'}", style="dim")
    return text


def waiting_text(name: str, runs: Runs, refusal: str) -> str:
    """Return whether a probe that has not begun can be run, or what its request to run waits for.

    ``refusal`` is the reason why this machine cannot run it, empty if it can.
    """
    refused = latest_refusal(runs.session, name)
    if any(name in spec.probes for spec in runs.queue):
        return "Queued: it starts when the current run ends. x removes it."
    if runs.spec is not None and name in runs.spec.probes and not refused:
        return "Starting: no samples yet."
    plan = None if runs.session is None else runs.session.plan
    if runs.going_on and plan is not None and any(step.probe == name for step in plan.steps):
        return "Waiting in the current run: no samples yet."
    if refusal or refused:
        return f"! {refusal}" if refusal else f"! refused: {refused}"
    return "Press r to run it, s to change its settings, p for another plan."


def about(
    probe: RegisteredProbe, plan: str, state_text: str, settings: Mapping[str, str], typed: Collection[str]
) -> Group:
    """What a probe measures and takes, before it is run; ``state_text`` says whether it can be."""
    manifest = probe.manifest
    seconds = manifest.estimated_seconds.get(plan)
    hazards = ", ".join(hazard.value for hazard in manifest.hazards) or "none"
    facts = [
        ("Touches", manifest.touches),
        *_settings_facts(manifest.parameter, settings, typed),
        ("Plan", f"{plan}, " + ("time unknown" if seconds is None else f"about {format_seconds(seconds)}")),
        ("Memory", manifest.limits.memory),
        ("CPUs", manifest.limits.cpus),
        ("At most", f"{format_seconds(manifest.limits.seconds)} a step"),
        ("Hazards", hazards),
        ("Method", manifest.method),
        ("From", probe.distribution),
    ]
    words = Text(f"{manifest.title}\n", style="bold")
    words.append(manifest.summary, style="not bold")
    return Group(words, Text(f"\n{state_text}\n", style="bold"), FactsGrid(facts))


def _settings_facts(
    parameters: Sequence[Parameter], settings: Mapping[str, str], typed: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Every setting, or of many those that must be given or were changed, and how many more there are."""
    few = len(parameters) <= _MOST_SETTINGS
    shown = [item for item in parameters if few or item.default is None or item.type == "path" or item.name in typed]
    lines = []
    for item in shown:
        lacks = "(required)" if item.default is None else "(none)"
        unit = f" {item.unit}" if item.unit and item.type in ("int", "float") and settings[item.name] else ""
        lines.append(f"{item.name} = {settings[item.name] or lacks}{unit}")
    if len(shown) < len(parameters):
        rest = plural(len(parameters) - len(shown), "more setting" if shown else "setting")
        lines.append(f"{rest} at {'its default' if rest.startswith('1 ') else 'their defaults'} (s)")
    for number, line in enumerate(lines):
        yield "Settings" if number == 0 else "", line


class Shown(Struct, frozen=True):
    """Which of the pictures of a step is looked at."""

    picture: int
    pictures: int
    step: int = 0
    steps: int = 1
    table: bool = False
    samples: bool = False
    """The pictures are of the samples behind one point."""

    @property
    def words(self) -> str:
        """As it stands before the counts; empty where there is nothing to leaf through."""
        step = f"step {self.step + 1}/{self.steps}" if self.steps > 1 else ""
        view = f"view {self.picture + 1}/{self.pictures}" if self.pictures > 1 else ""
        view = "table" if self.table else f"samples of one point, {view}; Esc goes back" if self.samples else view
        return ", ".join(filter(None, (step, view)))


def summary(
    run: StepRun, caveat: str, shown: Shown, *, going_on: bool, narrow: bool = False
) -> tuple[tuple[str, str], ...]:
    """Two rows above a chart: how the step stands with its newest figure, and the caveats."""
    live = run.outcome is None and going_on
    figure = point_value(run, placed=not (narrow and live))
    if run.outcome is None and not going_on:
        state_text = f"{INTERRUPTED}{f', {figure}' if figure else ''}"
    elif run.outcome is None:
        progress = run.progress
        left = ""
        if progress is not None and progress.remaining_seconds is not None:
            left = f", {format_ns(max(progress.remaining_seconds, 0.0) * 1e9)} left"
        activity = f": {progress.activity}" if progress is not None and progress.activity else ""
        state_text = f"running{left}{activity}{f'; {figure}' if figure else ''}"
    else:
        mark = "" if run.finished else "! "
        reason = f": {run.outcome.reason}" if run.outcome.reason else ""
        ended = f"{mark}{OUTCOME_WORDS[run.outcome.status].removeprefix('! ')}"
        state_text = f"{ended}{f', {figure}' if figure else ''}{reason}"
    # Counted in C, as it is with every frame.
    calm = (Disturbance.NONE.value, Disturbance.WARMUP.value)
    disturbed = sum(len(point.flags) - sum(map(point.flags.count, calm)) for point in run.points.values())
    total = sum(len(point.values) for point in run.points.values())
    if shown.samples and not shown.table:
        return (state_text, "title"), (shown.words, "text")
    samples = plural(total, "sample") if total else "no samples"
    samples += " yet" if not total and live else ""
    samples += f", ! {disturbed} disturbed" if disturbed else ""
    if not live:
        samples = f"{plural(len(run.points), 'figure')}, {samples}"
    samples = f"{shown.words}: {samples}" if shown.words else samples
    samples += f"; {caveat}" if caveat and run.outcome is None else ""
    return (state_text, "title"), (samples, "text")
