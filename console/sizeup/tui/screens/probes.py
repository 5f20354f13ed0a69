"""What this machine does: choose a probe, see what it takes, run it, watch its chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.charts.axis_hysteresis import hold_axes
from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.probing.planner import PLANS, unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.probing.settings import resolve
from sizeup.session.value import PointKey, StepRun
from sizeup.tui.actions import bindings
from sizeup.tui.runs import spec_of
from sizeup.tui.screens import write_confirmation
from sizeup.tui.screens.dialogs import SettingsDialog, format_setting
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.probe_text import Shown, about, entry, summary, waiting_text
from sizeup.tui.screens.write_dialogs import confirm_device, confirm_write
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList
from sizeup.tui.widgets.rows import TextRows
from sizeup.tui.widgets.table import TableView
from sizeup.views.chart_list import chart_list, underlying_charts
from sizeup.views.results import points_table
from sizeup.views.samples import underlying_points as point_samples
from sizeup.views.step import latest_refusal, latest_run, runs_of

_NARROW_TABLE = 70


class ProbesScreen(ModeScreen):
    """The probes of this installation, and what they found."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "probes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("probes")]

    def __init__(self) -> None:
        super().__init__()
        self._plan = PLANS[0]
        self._typed: dict[str, dict[str, str]] = {}
        self._picture = ""
        """Title of the picture that was chosen; empty for the first."""
        self._picture_before = ""
        """Of the step, while the samples behind a point are shown."""
        self._titles: tuple[str, ...] = ()
        self._samples_of: tuple[str, PointKey] | None = None
        """Step and point whose samples are shown in place of the pictures of the step; None where those are."""
        self._step = ""
        """Step that was chosen of those of the probe; empty for the last."""
        self._drawn: tuple[object, ...] = ()

    def body(self) -> Iterable[Widget]:
        """The list beside the chosen probe."""
        with Horizontal(id="body"):
            yield KeyList(*(Option(Text(name), id=name) for name in self.host.registry.probes), id="probes")
            with Vertical(id="probe"):
                yield Static(id="about", markup=False)
                yield TextRows(id="standing")
                yield ChartView(self.host.glyphs, id="chart")
                yield TableView(id="points")

    def on_mount(self) -> None:
        """Start on the first probe that can run here."""
        probes = list(self.host.registry.probes.values())
        if probes:
            measuring = (index for index, probe in enumerate(probes) if not probe.manifest.diagnostic)
            self.query_one(KeyList).highlighted = next(measuring, 0)
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
            waits = any(name in spec.probes for spec in self.host.runs.queue)
            run, runs = latest_run(session, name), self.host.runs
            starts = run is None and runs.spec is not None and name in runs.spec.probes
            pending = "queued" if waits else "starting" * starts
            line = entry(probe, self._plan, run, self.host.machine, pending=pending, going_on=runs.going_on)
            if str(listed.get_option(name).prompt) != line.plain:
                listed.replace_option_prompt(name, line)
        self._show_probe()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another probe was chosen."""
        del event
        self._step, self._samples_of = "", None
        self._show_probe()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter goes to the chart, where the arrows read values."""
        del event
        self._focus_picture()

    def on_chart_view_moved(self) -> None:
        """What can be done at the point stands in the last line."""
        self.show_keys()

    def _focus_picture(self) -> None:
        (self.query_one(TableView) if self._shows_table else self.query_one(ChartView)).focus()

    def action_run_probe(self) -> None:
        """Run the chosen probe, after asking where it would write."""
        probe = self.chosen
        if probe is None:
            return
        if reason := self._refusal(probe):
            self.app.notify(reason, title=f"{probe.name} cannot run here", severity="warning", markup=False)
            return
        lacking = [
            parameter.name
            for parameter in probe.manifest.parameter
            if parameter.default is None and parameter.name not in self._typed.get(probe.name, {})
        ]
        if lacking:
            self._change_settings(probe, f"! needs {' and '.join(lacking)}")
            return
        if write_confirmation.WRITES.isdisjoint(probe.manifest.hazards) or self.host.machine is None:
            self._start(probe, self._typed.get(probe.name, {}))
            return
        self._confirm_writing(probe, self.host.machine)

    def _confirm_writing(self, probe: RegisteredProbe, machine: Machine) -> None:
        typed, settings = self._typed.get(probe.name, {}), self._settings(probe)
        consent = write_confirmation.consent(probe)
        unconfirmed = {key: text for key, text in typed.items() if key != consent}
        try:
            plan = write_confirmation.plan_for(machine, self.host.registry, probe, self._plan, unconfirmed)
        except SizeupError as error:
            self.app.notify(str(error), severity="error", markup=False)
            return
        device = write_confirmation.named_device(write_confirmation.targets(settings))
        if device is not None and consent in settings and write_confirmation.writing_steps(plan):

            def start(name: str) -> None:
                self._start(probe, {**unconfirmed, consent: name})

            confirm_device(self.app, device, plan, start)
        elif reason := write_confirmation.why_no_plan(plan):
            self._change_settings(probe, f"! {reason}")
        else:
            confirm_write(self.app, probe, plan, settings, typed, lambda: self._start(probe, typed))

    def action_settings(self) -> None:
        """Change the settings of the chosen probe."""
        if self.chosen is not None:
            self._change_settings(self.chosen)

    def _change_settings(self, probe: RegisteredProbe, why: str = "") -> None:
        def answered(typed: dict[str, str] | None) -> None:
            if typed is not None:
                self._typed[probe.name] = typed
                self._redraw()

        dialog = SettingsDialog(
            probe.manifest, resolve(probe.manifest, self._plan, {}), self._typed.get(probe.name, {}), why
        )
        self.app.push_screen(dialog, answered)

    def action_next_plan(self) -> None:
        """Be more thorough, and after the most thorough plan quick again."""
        self._plan = PLANS[(PLANS.index(self._plan) + 1) % len(PLANS)]
        self.show_run()
        self.notify(f"Plan: {self._plan}", markup=False, timeout=2)

    def action_next_view(self, step: int) -> None:
        """Show another picture: other series, other units, other samples behind the point."""
        if self._titles:
            at = self._titles.index(self._picture) if self._picture in self._titles else 0
            self._picture = self._titles[(at + step) % len(self._titles)]
        self.remove_class("-table")
        self._redraw()

    def action_next_step(self, step: int) -> None:
        """Show another step of the probe."""
        runs = runs_of(self.host.runs.session, "" if self.chosen is None else self.chosen.name)
        if len(runs) > 1:
            ids = [run.step.id for run in runs]
            at = ids.index(self._step) if self._step in ids else len(ids) - 1
            self._step, self._samples_of = ids[(at + step) % len(ids)], None
            self._redraw()

    def action_samples(self) -> None:
        """Show the samples behind the point under the readout; without a readout put it on the last point."""
        chart = self.query_one(ChartView)
        run = self._run
        if run is None or self._shows_table or self._samples_of is not None:
            return
        chart.focus()
        if not chart.reads:
            chart.action_cursor_to(-1)
            return
        key = chart.chosen
        if key is None or not point_samples(run, key):
            self.notify("no samples were recorded for this point", markup=False, timeout=3)
            return
        self._samples_of, self._picture_before, self._picture = (run.step.id, key), self._picture, ""
        self._redraw()

    def _leave_samples(self) -> None:
        self._samples_of, self._picture = None, self._picture_before
        self._redraw()

    def action_table(self) -> None:
        """Show the points as a table in place of the chart, or the chart again."""
        self.toggle_class("-table")
        self._redraw()

    def action_zoom(self) -> None:
        """Give the chart, or the table, the whole screen but for the line that says how the run stands."""
        self.toggle_class("-zoomed")
        self._redraw()
        if self.has_class("-zoomed"):
            self._focus_picture()
        else:
            self.query_one(KeyList).focus()

    def action_back(self) -> None:
        """Undo what was put in front, one thing at a time; else cancel."""
        if self._samples_of is not None and not self._shows_table:
            self._leave_samples()
        elif self.has_class("-zoomed"):
            self.action_zoom()
        elif self._shows_table:
            self.action_table()
        else:
            self.action_cancel()

    @property
    def _shows_table(self) -> bool:
        return self.has_class("-table")

    def _redraw(self) -> None:
        self._drawn = ()
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
        if self.chosen is not None and runs.forget(self.chosen.name):
            self.show_run()
            return
        self.cancel_run()

    def _start(self, probe: RegisteredProbe, settings: Mapping[str, str]) -> None:
        self.host.start_run(spec_of(probe.name, settings, self._plan))
        self.show_run()

    def _refusal(self, probe: RegisteredProbe) -> str:
        host = self.host
        return host.unmeasured or ("" if host.machine is None else unmet(host.machine, probe.manifest) or "")

    def _settings(self, probe: RegisteredProbe) -> Mapping[str, str]:
        defaults = resolve(probe.manifest, self._plan, {})
        typed = self._typed.get(probe.name, {})
        return {
            parameter.name: typed.get(parameter.name, format_setting(parameter, defaults.get(parameter.name)))
            for parameter in probe.manifest.parameter
        }

    @property
    def _run(self) -> StepRun | None:
        """The step that is shown of the chosen probe; None before there is one."""
        runs = runs_of(self.host.runs.session, "" if self.chosen is None else self.chosen.name)
        return next((run for run in runs if run.step.id == self._step), runs[-1] if runs else None)

    def idle_actions(self) -> frozenset[str]:
        """What has nothing to act on: no run, no picture, no other step."""
        runs, probe = self.host.runs, self.chosen
        idle: set[str] = set()
        if not runs.going_on:
            idle |= {"run.pause", "run.cancel"}
        elif runs.spec is not None and probe is not None and probe.name in runs.spec.probes:
            idle |= {"run.start", "run.plan"}
        if not self.host.measures:
            idle |= {"run.start", "run.plan", "run.settings"}
        if self._run is None:
            idle |= {"run.view", "run.table", "run.zoom"}
        key = self.query_one(ChartView).chosen
        if self._run is None or key is None or self._samples_of or not point_samples(self._run, key):
            idle.add("run.samples")
        if probe is None or len(runs_of(runs.session, probe.name)) < 2:
            idle.add("run.step")
        return frozenset(idle)

    def _show_probe(self) -> None:
        probe = self.chosen
        if probe is None:
            return
        session = self.host.runs.session
        run = self._run
        state_text = waiting_text(probe.name, self.host.runs, self._refusal(probe))
        state = (
            probe.name,
            self._plan,
            None if run is None or session is None else session.last_ns,
            self._typed.get(probe.name),
            state_text,
            self.host.runs.going_on,
        )
        if state == self._drawn:
            return
        self._drawn = state
        self.show_keys()
        words, standing = self.query_one("#about", Static), self.query_one(TextRows)
        words.display = run is None
        standing.display = run is not None and not self.has_class("-zoomed")  # the line below says how it stands
        chart, table = self.query_one(ChartView), self.query_one(TableView)
        chart.display = run is not None and not self._shows_table
        table.display = run is not None and self._shows_table
        if run is None:
            words.update(about(probe, self._plan, state_text, self._settings(probe), self._typed.get(probe.name, {})))
            return
        self._show_pictures(run, probe)

    def _show_pictures(self, run: StepRun, probe: RegisteredProbe) -> None:
        session = self.host.runs.session
        machine = self.host.machine if session is None or session.machine is None else session.machine
        underlying_points = (
            underlying_charts(run, self._samples_of[1])
            if self._samples_of and self._samples_of[0] == run.step.id
            else ()
        )
        shown = underlying_points or chart_list(run, machine)
        self._titles = tuple(picture.title for picture in shown)
        place = self._titles.index(self._picture) if self._picture in self._titles else 0
        steps = [other.step.id for other in runs_of(session, probe.name)]
        planned = () if session is None or session.plan is None else session.plan.steps
        every = {*steps, *(step.id for step in planned if step.probe == probe.name)}
        looked_at = Shown(
            place,
            len(shown),
            steps.index(run.step.id),
            len(every),
            table=self._shows_table,
            samples=bool(underlying_points),
        )
        narrow = self.query_one("#probe").size.width < _NARROW_TABLE
        going_on = self.host.runs.going_on
        rows = summary(run, self.host.runs.caveat, looked_at, going_on=going_on, narrow=narrow)
        refused = "" if run.outcome is None and going_on else latest_refusal(session, probe.name)
        rows = (*rows, (f"! the last request was refused: {refused}", "disturbed")) if refused else rows
        self.query_one(TextRows).show(rows, fold=run.outcome is not None)
        if self._shows_table:
            self.query_one(TableView).show(points_table(run, narrow=narrow))
            return
        chart = self.query_one(ChartView)
        chart.hint = lambda key: "Enter: samples" if not underlying_points and point_samples(run, key) else ""
        drawn = shown[place].draw()
        if drawn is not None:
            chart.show(drawn if run.outcome is not None else hold_axes(drawn, chart.chart))
