"""What this machine does: choose a probe, see what it takes, run it, watch its chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.model.plan import Hazard
from sizeup.probing.devices import read_device
from sizeup.probing.planner import PLANS, make_plan, unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.probing.settings import parse_value, resolve
from sizeup.tui.actions import bindings
from sizeup.tui.runs import Request
from sizeup.tui.screens.dialogs import ChoiceDialog, DeviceDialog, SettingsDialog, spell_setting
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.probe_words import about, entry, summary
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList
from sizeup.tui.widgets.rows import TextRows
from sizeup.tui.widgets.table import TableView
from sizeup.units import format_decimal_bytes, format_ns
from sizeup.views.pictures import pictures
from sizeup.views.results import points_table
from sizeup.views.steady import steady
from sizeup.views.step import latest_run

_WRITES = frozenset({Hazard.IO_WRITE, Hazard.RAW_DEVICE_WRITE, Hazard.DISK_SPACE})
_ALLOWS = "allow_write_to"
"""Parameter of a probe that takes the full name of a device which may be overwritten."""
_NARROW_TABLE = 70
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
        self._picture = ""
        """Title of the picture that was chosen; empty for the first."""
        self._titles: tuple[str, ...] = ()
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
            waits = any(request.probe == name for request in self.host.runs.queue)
            line = entry(probe, self._plan, latest_run(session, name), self.host.machine, waits=waits)
            if str(listed.get_option(name).prompt) != line.plain:
                listed.replace_option_prompt(name, line)
        self._show_probe()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another probe was chosen."""
        del event
        self._show_probe()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter goes to the chart, where the arrows read values."""
        del event
        self._focus_picture()

    def _focus_picture(self) -> None:
        (self.query_one(TableView) if self._shows_table else self.query_one(ChartView)).focus()

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
        if self._asks_for_device(probe):
            return
        typed = self._typed.get(probe.name, {})
        settings = "\n".join(f"  {key} = {value}" for key, value in typed.items()) or "  as the plan has them"
        question = (
            f"{probe.name} may write: {', '.join(hazard.value for hazard in probe.manifest.hazards)}\n"
            f"It touches: {probe.manifest.touches}\n"
            f"Space at most: {probe.manifest.ceilings.space}\nSettings:\n{settings}"
        )
        answers = (("no", "Do not run it"), ("yes", "Run it with these settings"))

        def answered(answer: str | None) -> None:
            if answer == "yes":
                self._start(probe)

        self.app.push_screen(ChoiceDialog(question, answers), answered)

    def _asks_for_device(self, probe: RegisteredProbe) -> bool:
        """Have a device named in full before it is overwritten; whether there is one, and so this was the way."""
        machine = self.host.machine
        typed = {key: text for key, text in self._typed.get(probe.name, {}).items() if key != _ALLOWS}
        values = [value for text in self._settings(probe).values() for value in text.split(":")]
        device = next((found for value in values if value.startswith("/") and (found := read_device(value))), None)
        parameters = {parameter.name: parameter for parameter in probe.manifest.parameter}
        if machine is None or device is None or _ALLOWS not in parameters:
            return False
        settings = {key: parse_value(parameters[key], text, key) for key, text in typed.items()}
        plan = make_plan(
            machine, self.host.registry, name=self._plan, probes=[probe.name], settings={probe.name: settings}
        )
        writing = [step for step in plan.steps if not _WRITES.isdisjoint(step.hazards)]
        if not writing:
            return False
        if device.mounted_on:
            words = f"{device.path} is mounted on {', '.join(device.mounted_on)}: it is not written to"
            self.app.notify(words, severity="error", markup=False)
            return True
        size = "not known" if device.size_bytes is None else format_decimal_bytes(device.size_bytes)
        estimated = sum(step.estimated_seconds for step in writing)
        facts = (
            ("Size", size),
            ("Takes", f"about {format_ns(estimated * 1e9)}"),
            ("Runs", "; ".join(step.title for step in writing)),
        )

        def answered(name: str | None) -> None:
            if name is not None:
                self.host.start_run(Request(probe.name, {**typed, _ALLOWS: name}, self._plan))
                self.show_run()

        self.app.push_screen(DeviceDialog(device, facts), answered)
        return True

    def action_settings(self) -> None:
        """Change the settings of the chosen probe."""
        probe = self.chosen
        if probe is None:
            return

        def answered(typed: dict[str, str] | None) -> None:
            if typed is not None:
                self._typed[probe.name] = typed
                self._redraw()

        dialog = SettingsDialog(
            probe.manifest, resolve(probe.manifest, self._plan, {}), self._typed.get(probe.name, {})
        )
        self.app.push_screen(dialog, answered)

    def action_next_plan(self) -> None:
        """Be more thorough, and after the most thorough plan quick again."""
        self._plan = PLANS[(PLANS.index(self._plan) + 1) % len(PLANS)]
        self.show_run()
        self.notify(f"{self._plan} runs from now on", markup=False, timeout=2)

    def action_next_view(self, step: int) -> None:
        """Show another picture of the step: other series, other units, what lies behind a point."""
        if self._titles:
            at = self._titles.index(self._picture) if self._picture in self._titles else 0
            self._picture = self._titles[(at + step) % len(self._titles)]
        self.remove_class("-table")
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
        if self.has_class("-zoomed"):
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
        self.app.push_screen(ChoiceDialog("Cancel? What was measured stays in the file.", answers), answered)

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
        words, standing = self.query_one("#about", Static), self.query_one(TextRows)
        words.display = run is None
        standing.display = run is not None and not self.has_class("-zoomed")  # the line below says how it stands
        chart, table = self.query_one(ChartView), self.query_one(TableView)
        chart.display = run is not None and not self._shows_table
        table.display = run is not None and self._shows_table
        if run is None:
            words.update(about(probe, self._plan, refusal, self._settings(probe)))
            return
        machine = self.host.machine if session is None or session.machine is None else session.machine
        shown = pictures(run, machine)
        self._titles = tuple(picture.title for picture in shown)
        place = self._titles.index(self._picture) if self._picture in self._titles else 0
        standing.show(summary(run, self.host.runs.doubt, place, len(shown)), fold=run.outcome is not None)
        if self._shows_table:
            table.show(points_table(run, narrow=self.query_one("#probe").size.width < _NARROW_TABLE))
            return
        drawn = shown[place].draw()
        if drawn is not None:
            chart.show(drawn if run.outcome is not None else steady(drawn, chart.chart))
