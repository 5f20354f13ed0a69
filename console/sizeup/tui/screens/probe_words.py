"""What the Probes mode says of a probe and of a step, in words."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group
from rich.text import Text

from sizeup.model.machine import Machine
from sizeup.model.sample import Disturbance, Status
from sizeup.probing.planner import unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.session.value import StepRun
from sizeup.tui.runs import OUTCOME_WORDS
from sizeup.tui.widgets.facts import facts_grid
from sizeup.units import format_ns
from sizeup.views.step import point_value


def entry(probe: RegisteredProbe, plan: str, run: StepRun | None, machine: Machine | None, *, waits: bool) -> Text:
    """A line of the list: name, and beneath it where it stands."""
    text = Text(probe.name, no_wrap=True, overflow="ellipsis")
    if waits:
        state = "queued"
    elif run is None:
        reason = None if machine is None else unmet(machine, probe.manifest)
        seconds = probe.manifest.estimated_seconds.get(plan)
        state = f"not here: {reason}" if reason else "" if seconds is None else f"takes {format_ns(seconds * 1e9)}"
    elif run.outcome is None:
        state = "running"  # how far stands in the status line: each change here repaints the whole list
    else:
        words = {Status.OK: "", Status.NOT_CONVERGED: "moving"}.get(
            run.outcome.status, OUTCOME_WORDS[run.outcome.status]
        )
        state = f"{words} {point_value(run, placed=False)}".strip() or OUTCOME_WORDS[run.outcome.status]
    text.append(f"\n  {state or 'not run yet'}", style="dim")
    return text


def about(probe: RegisteredProbe, plan: str, refusal: str, settings: Mapping[str, str]) -> Group:
    """What a probe measures and takes, before it is run."""
    manifest = probe.manifest
    text = Text(f"{manifest.title}\n", style="bold")
    text.append(f"{manifest.summary}\n", style="not bold")
    seconds = manifest.estimated_seconds.get(plan)
    hazards = ", ".join(hazard.value for hazard in manifest.hazards) or "none"
    facts = [
        ("Touches", manifest.touches),
        ("Plan", f"{plan}, " + ("time not known" if seconds is None else f"about {format_ns(seconds * 1e9)}")),
        ("Memory", manifest.ceilings.memory),
        ("CPUs", manifest.ceilings.cpus),
        ("At most", f"{manifest.ceilings.seconds:g} s a step"),
        ("Hazards", hazards),
        ("Method", manifest.method),
        ("From", probe.distribution),
    ]
    facts += [
        ("Settings" if number == 0 else "", f"{name} = {value or '(must be given)'}")
        for number, (name, value) in enumerate(settings.items())
    ]
    advice = f"! {refusal}" if refusal else "Press r to run it, s to change its settings, p for another plan."
    return Group(text, facts_grid(facts), Text(f"\n{advice}", style="bold"))


def summary(run: StepRun, doubt: str, place: int, pictures: int) -> tuple[tuple[str, str], ...]:
    """Two rows above a chart: how the step stands with its newest figure, and what to doubt."""
    figure = point_value(run)
    if run.outcome is None:
        progress = run.progress
        needs = ""
        if progress is not None and progress.remaining_seconds is not None:
            needs = f", needs {format_ns(max(progress.remaining_seconds, 0.0) * 1e9)} more"
        doing = f": {progress.doing}" if progress is not None and progress.doing else ""
        stands = f"running{needs}{doing}{f'; {figure}' if figure else ''}"
    else:
        mark = "" if run.outcome.status in (Status.OK, Status.NOT_CONVERGED) else " !"
        reason = f": {run.outcome.reason}" if run.outcome.reason else ""
        said = f"{OUTCOME_WORDS[run.outcome.status]}{mark}"
        stands = f"{said}{f', {figure}' if figure else ''}{reason}"
    # Counted in C, as it is with every frame.
    calm = (Disturbance.NONE.value, Disturbance.WARMUP.value)
    disturbed = sum(len(point.flags) - sum(map(point.flags.count, calm)) for point in run.points.values())
    total = sum(len(point.values) for point in run.points.values())
    behind = f"{len(run.points)} points, {total} samples"
    if pictures > 1:
        behind = f"view {place + 1}/{pictures}: {behind}"
    behind += f", ! {disturbed} disturbed" if disturbed else ""
    behind += f"; {doubt}" if doubt and run.outcome is None else ""
    return (stands, "title"), (behind, "text")
