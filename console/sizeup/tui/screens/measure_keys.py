"""Which keys of the screen for measurements have something to act on."""

from __future__ import annotations

from textual.widget import Widget
from textual.widgets import Input

from sizeup.probing.registry import RegisteredProbe
from sizeup.session.value import StepRun
from sizeup.terminal.compact_select import ChoiceOverlay
from sizeup.tui.console import ConsoleApp
from sizeup.tui.screens.probe_page import ProbePage
from sizeup.tui.widgets.form_field import FormField
from sizeup.views.run.step import runs_of


def form_keys(focused: Widget | None) -> tuple[tuple[str, str], ...]:
    """Return keys and what they do while a list of a form is open, or a field has the focus; none elsewhere."""
    if isinstance(focused, ChoiceOverlay):
        return (
            ("enter", "Take"),
            ("tab", "Take, next field"),
            ("letter", "Take, its field"),
            ("r", "Take, run"),
            ("escape", "Leave"),
        )
    field = None if focused is None else focused.parent
    if isinstance(focused, Input) and isinstance(field, FormField):
        return ("tab", "Take, next field"), ("enter", "Take, run"), ("escape", "Undo")
    return ()


def idle_actions(
    host: ConsoleApp, probe: RegisteredProbe | None, run: StepRun | None, page: ProbePage, *, startable: bool
) -> frozenset[str]:
    """Return the ids of what has nothing to act on: no run, no picture, no other step."""
    runs = host.runs
    idle: set[str] = set()
    if not runs.going_on:
        idle |= {"run.pause", "run.cancel"}
    if not host.measures or (probe is not None and runs.going_on and runs.includes(probe.name)):
        idle.add("run.start")
    if not host.measures or (probe is not None and not startable):
        idle |= {"run.plan", "run.settings"}
    if run is None:
        idle |= {"run.view", "run.table", "run.zoom"}
    if run is None or not page.shows_table:
        idle.add("run.sort")
    if run is None or not page.has_samples(run):
        idle.add("run.samples")
    if probe is None or len(runs_of(runs.session, probe.name)) < 2:
        idle.add("run.step")
    return frozenset(idle)
