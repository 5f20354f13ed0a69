"""What this machine does: choose a probe, see what it takes, run it, watch its chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from msgspec.structs import replace
from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard
from sizeup.model.sample import Disturbance, Status
from sizeup.probing.planner import PLANS, unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.probing.settings import resolve
from sizeup.session.log import StepRun
from sizeup.tui.actions import bindings
from sizeup.tui.runs import OUTCOME_WORDS, Request
from sizeup.tui.screens.dialogs import ChoiceDialog, SettingsDialog, spell_setting
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.facts import facts_grid
from sizeup.tui.widgets.lists import KeyList
from sizeup.units import format_ns
from sizeup.views.finished import finished_charts
from sizeup.views.steady import steady
from sizeup.views.step import latest_run, point_value, step_chart

_WRITES = frozenset({Hazard.IO_WRITE, Hazard.RAW_DEVICE_WRITE, Hazard.DISK_SPACE})
_LONG_SECONDS = 10.0
"""A run of more than this is not cancelled without a question."""


class ProbesScreen(ModeScreen):
    """The probes of this installation, and what they found."""

    SCOPE = "probes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("probes")]

    def __init__(self) -> None:
        super().__init__()
        self._plan = PLANS[0]
        self._typed: dict[str, dict[str, str]] = {}
        self._view = 0
        self._drawn: tuple[object, ...] = ()

    def body(self) -> Iterable[Widget]:
        """The list beside the chosen probe."""
        with Horizontal(id="body"):
            yield KeyList(*(Option(Text(name), id=name) for name in self.host.registry.probes), id="probes")
            with Vertical(id="probe"):
                yield Static(id="about", markup=False)
                yield ChartView(self.host.glyphs, id="chart")

    def on_mount(self) -> None:
        """Start on the first probe that can run here."""
        names = list(self.host.registry.probes)
        if names:
            self.query_one(KeyList).highlighted = next((index for index, name in enumerate(names) if name != "null"), 0)
        super().on_mount()

    @property
    def chosen(self) -> RegisteredProbe | None:
        """The probe under the cursor; None where none is installed."""
        option = self.query_one(KeyList).highlighted_option
        return None if option is None or option.id is None else self.host.registry.probes.get(option.id)

    def show_target(self, target: str) -> None:
        """Put the cursor on a probe."""
        if target in self.host.registry.probes:
            listed = self.query_one(KeyList)
            listed.highlighted = listed.get_option_index(target)

    def show_machine(self) -> None:
        """What can run depends on the machine."""
        super().show_machine()
        self.show_run()

    def show_run(self) -> None:
        """List, details and chart, from the file alone."""
        super().show_run()
        session = self.host.runs.session
        listed = self.query_one(KeyList)
        for name, probe in self.host.registry.probes.items():
            entry = _entry(probe, self._plan, latest_run(session, name), self.host.machine)
            if str(listed.get_option(name).prompt) != entry.plain:
                listed.replace_option_prompt(name, entry)
        self._show_probe()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another probe was chosen."""
        del event
        self._show_probe()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter goes to the chart, where the arrows read values."""
        del event
        self.query_one(ChartView).focus()

    def action_run_probe(self) -> None:
        """Run the chosen probe, after asking where it would write."""
        probe = self.chosen
        if probe is None:
            return
        reason = self._refusal(probe)
        if reason:
            self.app.notify(reason, title=f"{probe.name} cannot run here", severity="warning", markup=False)
            return
        lacking = [
            parameter.name
            for parameter in probe.manifest.parameter
            if parameter.default is None and parameter.name not in self._typed.get(probe.name, {})
        ]
        if lacking:
            self.action_settings()
            return
        if _WRITES.isdisjoint(probe.manifest.hazards):
            self._start(probe)
            return
        settings = "\n".join(f"  {key} = {value}" for key, value in self._settings(probe).items())
        question = (
            f"{probe.name} may write: {', '.join(hazard.value for hazard in probe.manifest.hazards)}\n"
            f"It touches: {probe.manifest.touches}\nSpace at most: {probe.manifest.ceilings.space}\n{settings}\n"
        )
        answers = (("no", "Do not run it"), ("yes", "Run it with these settings"))

        def answered(answer: str | None) -> None:
            if answer == "yes":
                self._start(probe)

        self.app.push_screen(ChoiceDialog(question, answers), answered)

    def action_settings(self) -> None:
        """Change the settings of the chosen probe."""
        probe = self.chosen
        if probe is None:
            return

        def answered(typed: dict[str, str] | None) -> None:
            if typed is not None:
                self._typed[probe.name] = typed
                self._drawn = ()
                self._show_probe()

        dialog = SettingsDialog(
            probe.manifest, resolve(probe.manifest, self._plan, {}), self._typed.get(probe.name, {})
        )
        self.app.push_screen(dialog, answered)

    def action_next_plan(self) -> None:
        """Be more thorough, and after the most thorough plan quick again."""
        self._plan = PLANS[(PLANS.index(self._plan) + 1) % len(PLANS)]
        self.show_run()
        self.notify(f"{self._plan} runs from now on", markup=False, timeout=2)

    def action_next_view(self) -> None:
        """Show the next picture of the step: other series, other units."""
        self._view += 1
        self._show_probe()

    def action_pause(self) -> None:
        """Hold the run or let it go on."""
        if self.host.runs.followed:
            self.notify("only the console that started this run can pause it", severity="warning", markup=False)
        self.host.runs.toggle_pause()
        self.show_run()

    def action_cancel(self) -> None:
        """Cancel the run; a long one only after a question."""
        runs = self.host.runs
        if not runs.going_on:
            return
        if runs.running and runs.elapsed_seconds < _LONG_SECONDS:
            runs.cancel()
            self.show_run()
            return

        def answered(answer: str | None) -> None:
            if answer == "cancel":
                runs.cancel()
            elif answer == "step":
                runs.cancel_step()

        step = (("step", "Cancel this step only"),) if runs.running else ()
        answers = (("stay", "Go on"), *step, ("cancel", "Cancel the run"))
        self.app.push_screen(ChoiceDialog("Cancel? What was measured stays in the file.\n", answers), answered)

    def _start(self, probe: RegisteredProbe) -> None:
        self.host.start_run(Request(probe.name, self._typed.get(probe.name, {}), self._plan))
        self.show_run()

    def _refusal(self, probe: RegisteredProbe) -> str:
        host = self.host
        if not host.measures:
            return "this is a saved session; start sizeup without a file to measure this machine"
        return "" if host.machine is None else unmet(host.machine, probe.manifest) or ""

    def _settings(self, probe: RegisteredProbe) -> Mapping[str, str]:
        defaults = resolve(probe.manifest, self._plan, {})
        typed = self._typed.get(probe.name, {})
        return {
            parameter.name: typed.get(parameter.name, spell_setting(parameter, defaults.get(parameter.name)))
            for parameter in probe.manifest.parameter
        }

    def _show_probe(self) -> None:
        probe = self.chosen
        if probe is None:
            return
        session = self.host.runs.session
        run = latest_run(session, probe.name)
        state = (
            probe.name,
            self._plan,
            None if run is None or session is None else session.last_ns,
            self._typed.get(probe.name),
        )
        if state == self._drawn:
            return
        self._drawn = state
        refusal = self._refusal(probe)
        about = self.query_one("#about", Static)
        about.set_class(run is not None, "-run")
        if run is None:
            about.update(_about(probe, self._plan, refusal, self._settings(probe)))
        else:
            # Always as high: a new layout would repaint the whole screen with every frame.
            about.update(_summary(run, self.host.runs.doubt), layout=False)
        chart = self.query_one(ChartView)
        chart.display = run is not None
        if run is not None:
            machine = self.host.machine if session is None or session.machine is None else session.machine
            charts = finished_charts(run, machine) or (step_chart(run, machine),)
            place = self._view % len(charts)
            shown = charts[place]
            if len(charts) > 1:
                shown = replace(shown, title=f"{place + 1}/{len(charts)} {shown.title}")
            chart.show(shown if run.outcome is not None else steady(shown, chart.chart))


def _entry(probe: RegisteredProbe, plan: str, run: StepRun | None, machine: Machine | None) -> Text:
    """A line of the list: name, and beneath it where it stands."""
    text = Text(probe.name, no_wrap=True, overflow="ellipsis")
    if run is None:
        reason = None if machine is None else unmet(machine, probe.manifest)
        seconds = probe.manifest.estimated_seconds.get(plan)
        state = f"not here: {reason}" if reason else "" if seconds is None else f"takes {format_ns(seconds * 1e9)}"
    elif run.outcome is None:
        state = "running"  # how far stands in the status line: each change here repaints the whole list
    else:
        settled = run.outcome.status is Status.OK
        moving = run.outcome.status is Status.NOT_CONVERGED
        words = "" if settled else "~" if moving else OUTCOME_WORDS[run.outcome.status]
        state = f"{words} {point_value(run, placed=False)}".strip() or OUTCOME_WORDS[run.outcome.status]
    text.append(f"\n  {state or 'not run yet'}", style="dim")
    return text


def _about(probe: RegisteredProbe, plan: str, refusal: str, settings: Mapping[str, str]) -> Group:
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


def _summary(run: StepRun, doubt: str) -> Text:
    """Two lines above a chart: how the step stands, and what to doubt."""
    text = Text(no_wrap=True, overflow="ellipsis")
    if run.outcome is None:
        progress = run.progress
        remaining = ""
        if progress is not None and progress.remaining_seconds is not None:
            remaining = f", needs {format_ns(progress.remaining_seconds * 1e9)} more"
        doing = f": {progress.doing}" if progress is not None and progress.doing else ""
        text.append(f"running{remaining}{doing}\n", style="bold")
    else:
        mark = "" if run.outcome.status in (Status.OK, Status.NOT_CONVERGED) else " !"
        reason = f": {run.outcome.reason}" if run.outcome.reason else ""
        text.append(f"{OUTCOME_WORDS[run.outcome.status]}{mark}{reason}\n", style="bold")
    disturbed = sum(1 for point in run.points.values() for flag in point.flags if flag & ~Disturbance.WARMUP)
    total = sum(len(point.values) for point in run.points.values())
    text.append(f"{run.step.id}: {len(run.points)} points, {total} samples")
    text.append(f", {disturbed} disturbed" if disturbed else "")
    text.append(f"; {doubt}" if doubt and run.outcome is None else "")
    return text
