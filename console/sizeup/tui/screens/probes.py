"""What this machine does: a page for each probe, with its form, how its run stands, and what it measured."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from sizeup.charts.axis_hysteresis import hold_axes
from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.probing.planner import PLANS, unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.session.value import PointKey, StepRun
from sizeup.tui.actions import bindings
from sizeup.tui.run_form import RunForm, format_setting, label
from sizeup.tui.runs import spec_of
from sizeup.tui.screens import write_confirmation
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.probe_text import (
    StepPosition,
    about,
    badge_rows,
    card_groups,
    card_title,
    entry,
    live_rows,
    waiting_text,
)
from sizeup.tui.screens.write_dialogs import confirm_device, confirm_write
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.form import RunFormView
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.tui.widgets.points import PointTable
from sizeup.tui.widgets.segments import SegmentRows
from sizeup.tui.widgets.tab_row import TabRow
from sizeup.views.chart_list import TABLE, VALIDITY, ChartEntry, chart_list, tabs, underlying_charts
from sizeup.views.point_rows import PointRows, point_rows
from sizeup.views.samples import underlying_points as point_samples
from sizeup.views.step import latest_refusal, latest_run, runs_of

_FORM_DELAY_SECONDS = 0.12
"""The controls of a probe are made once the cursor rests on it."""
_ESTIMATE_DELAY_SECONDS = 0.2


class ProbesScreen(ModeScreen):
    """The probes of this installation, and what they found."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "probes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("probes")]

    def __init__(self) -> None:
        super().__init__()
        self._plan = PLANS[0]
        self._forms: dict[str, RunForm] = {}
        self._entries: tuple[ChartEntry, ...] = ()
        self._tab = ""
        """Name of the tab that was chosen; empty for the first."""
        self._tab_before = ""
        """While the samples behind a point, or the table, are shown."""
        self._names: tuple[str, ...] = ()
        self._samples_of: tuple[str, PointKey] | None = None
        """Step and point whose samples are shown in place of the pictures of the step; None where those are."""
        self._step = ""
        """Step that was chosen of those of the probe; empty for the last."""
        self._drawn: tuple[object, ...] = ()
        self._page = ""
        """The probe whose page is shown."""
        self._runs_when_chosen = False
        """A run was asked for and lacks a value: it starts when that is chosen."""
        self._making_form = asyncio.Lock()
        self._views: dict[str, RunFormView] = {}
        """The controls that were made so far, by probe."""
        self._table: PointTable | None = None
        self._notes: VerticalScroll | None = None
        self._note_words = Static(id="notes", markup=False)
        self._validity: VerticalScroll | None = None
        self._validity_words = Static(markup=False)

    def body(self) -> Iterable[Widget]:
        """The list beside the page of the chosen probe."""
        with Horizontal(id="body"):
            yield KeyList(*self._options(), id="probes")
            with Vertical(id="probe"):
                yield Vertical(id="forms")
                yield SegmentRows(id="standing")
                yield SegmentRows(id="live")
                yield TabRow(id="tabs")
                yield Static(id="about", markup=False)
                yield ChartView(self.host.glyphs, id="chart")

    def _options(self) -> list[Option]:
        options = []
        for card, probes in card_groups(self.host.registry.probes.values()):
            options.append(Option(Text(card, style="bold underline"), disabled=True))
            options += [Option(Text(f"  {probe.manifest.title}"), id=probe.name) for probe in probes]
        return options

    def on_mount(self) -> None:
        """Start on the first probe."""
        listed = self.query_one(KeyList)
        listed.border_title = "Measure"
        listed.highlighted = next((index for index, option in enumerate(listed.options) if option.id), None)
        super().on_mount()

    @property
    def chosen(self) -> RegisteredProbe | None:
        """The probe under the cursor; None where none is installed."""
        option = self.query_one(KeyList).highlighted_option
        return None if option is None or option.id is None else self.host.registry.probes.get(option.id)

    def form_of(self, probe: RegisteredProbe) -> RunForm:
        """The values of a probe's form."""
        form = self._forms.get(probe.name)
        if form is None:
            form = self._forms[probe.name] = RunForm(probe.manifest, self._plan)
        if form.plan != self._plan:
            form.plan = self._plan
        return form

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
        """List and page, from the file alone."""
        super().show_run()
        session = self.host.runs.session
        listed = self.query_one(KeyList)
        width = listed.scrollable_content_region.width or 26
        for name, probe in self.host.registry.probes.items():
            waits = any(name in spec.probes for spec in self.host.runs.queue)
            run, runs = latest_run(session, name), self.host.runs
            starts = run is None and runs.spec is not None and name in runs.spec.probes
            pending = "queued" if waits else "starting" * starts
            line = entry(probe, self._plan, run, self.host.machine, width, pending=pending, going_on=runs.going_on)
            if str(listed.get_option(name).prompt) != line.plain:
                listed.replace_option_prompt(name, line)
        self._show_probe()

    def on_resize(self, event: events.Resize) -> None:
        """Lines of the list end where its border is."""
        del event
        self.call_after_refresh(self.show_run)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another probe was chosen."""
        if event.option_list.id != "probes" or event.option_id == self._page:
            return
        self._page = event.option_id or ""
        self._step, self._samples_of, self._tab, self._tab_before = "", None, "", ""
        self._runs_when_chosen = False
        self._show_probe()
        self.set_timer(_FORM_DELAY_SECONDS, self._show_form)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter goes to the chart, where the arrows read values, or to the button that runs the probe."""
        if event.option_list.id != "probes":
            return
        if self._run is not None:
            self._focus_picture()
        else:
            self.run_worker(self._focus_button())

    async def _focus_button(self) -> None:
        view = await self._form_view()
        if view is not None and view.display:
            view.query_one("#run").focus()

    def on_chart_view_moved(self) -> None:
        """What can be done at the point stands in the last line."""
        self.show_keys()

    def _focus_picture(self) -> None:
        for shown in (self._table, self._validity, self.query_one(ChartView)):
            if shown is not None and shown.display:
                shown.focus()
                return

    # The form

    async def _form_view(self) -> RunFormView | None:
        """The controls of the chosen probe, made when they are first needed."""
        probe = self.chosen
        if probe is None:
            return None
        async with self._making_form:
            view = self._views.get(probe.name)
            if view is None:
                view = RunFormView(self.form_of(probe), self._targets(probe))
                view.display = False
                await self.query_one("#forms").mount(view)
                self._views[probe.name] = view
        return view

    def _targets(self, probe: RegisteredProbe) -> list[tuple[str, str]]:
        """What the probe can measure of this machine, where it has a target."""
        if probe.manifest.target is None or self.host.unmeasured:
            return []
        from sizeup.live.storage_targets import storage_targets

        return [(target.line, target.path) for target in storage_targets(self.host.machine)]

    def _show_form(self) -> None:
        self.run_worker(self._arrange_form())

    async def _arrange_form(self) -> None:
        """Show the form of the chosen probe, unless it runs or cannot run here."""
        probe = self.chosen
        view = None if probe is None or not self._can_start(probe) else await self._form_view()
        if probe is None or probe is not self.chosen:
            return
        view = view if self._can_start(probe) else None  # a run may have begun meanwhile
        for other in self._views.values():
            other.display = other is view and not self.has_class("-zoomed")
        if view is not None:
            self.form_of(probe)
            view.sync()
            self.set_timer(_ESTIMATE_DELAY_SECONDS, self._show_estimate)

    def _can_start(self, probe: RegisteredProbe) -> bool:
        runs = self.host.runs
        own = runs.spec is not None and probe.name in runs.spec.probes
        waits = any(probe.name in spec.probes for spec in runs.queue)
        return not (self._refusal(probe) or (runs.going_on and own) or waits)

    def _show_estimate(self) -> None:
        """Say how long the run takes that the form describes now."""
        probe, machine = self.chosen, self.host.machine
        view = next((view for view in self._views.values() if view.display), None)
        if probe is None or view is None or view.form is not self._forms.get(probe.name):
            return
        seconds = probe.manifest.estimated_seconds.get(self._plan)
        if view.form.typed and machine is not None:
            try:
                plan = write_confirmation.plan_for(
                    machine, self.host.registry, probe, self._plan, self._unconfirmed(probe)
                )
            except SizeupError:
                plan = None
            if plan is not None and plan.steps:
                seconds = sum(step.estimated_seconds for step in plan.steps)
        view.show_estimate(seconds)

    @on(RunFormView.Edited)
    def _edited(self) -> None:
        self._redraw()
        probe = self.chosen
        if self._runs_when_chosen and probe is not None and not self.form_of(probe).lacking():
            self._runs_when_chosen = False
            self.action_run_probe()
        self.set_timer(_ESTIMATE_DELAY_SECONDS, self._show_estimate)

    @on(RunFormView.PlanChosen)
    def _plan_chosen(self, event: RunFormView.PlanChosen) -> None:
        self._choose_plan(event.plan)

    @on(RunFormView.RunPressed)
    def _run_pressed(self) -> None:
        self.action_run_probe()

    async def on_key(self, event: events.Key) -> None:
        """The letter in front of a field changes it; a capital one goes back."""
        probe = self.chosen
        letter = event.character or ""
        if probe is None or not letter.isalpha() or isinstance(self.focused, Input):
            return
        parameter = next((one for one in probe.manifest.parameter if one.key and one.key == letter.lower()), None)
        if parameter is None or not self._can_start(probe):
            return
        event.stop()
        view = await self._form_view()
        if view is None:
            return
        view.display = True
        if not parameter.suggestions:
            field = view.field(parameter.name)
            if field is not None:
                field.open()
            return
        self._step_value(view, parameter.name, 1 if letter.islower() else -1)

    def _step_value(self, view: RunFormView, name: str, step: int) -> None:
        """Choose the next of the values that are offered."""
        form = view.form
        parameter = form.parameter(name)
        offered = [format_setting(parameter, value) for value in parameter.suggestions]
        now = form.text(name)
        at = offered.index(now) + step if now in offered else 0
        view.change(name, offered[at % len(offered)])

    def action_settings(self) -> None:
        """Show all settings of the chosen probe, and go to the first of them."""
        self.run_worker(self._open_settings())

    async def _open_settings(self) -> None:
        probe = self.chosen
        view = await self._form_view()
        if view is None or probe is None or not self._can_start(probe):
            return
        view.display = True
        await view.unfold()
        first = next((one for one in probe.manifest.parameter if not one.basic), None)
        field = None if first is None else view.field(first.name)
        if field is not None:
            field.control.focus()

    def action_next_plan(self) -> None:
        """Be more thorough, and after the most thorough plan quick again."""
        self._choose_plan(PLANS[(PLANS.index(self._plan) + 1) % len(PLANS)])

    def _choose_plan(self, plan: str) -> None:
        self._plan = plan
        for view in self._views.values():
            view.form.plan = plan
            if view.display:
                view.sync()
        self._show_estimate()
        self.show_run()

    # Runs

    def action_run_probe(self) -> None:
        """Run the chosen probe, after asking where it would write."""
        probe = self.chosen
        if probe is None:
            return
        if reason := self._refusal(probe):
            self.app.notify(reason, title=f"{probe.manifest.title} cannot run here", severity="warning", markup=False)
            return
        form = self.form_of(probe)
        if lacking := form.lacking():
            self.run_worker(self._ask_for(probe, lacking[0]))
            return
        if write_confirmation.WRITES.isdisjoint(probe.manifest.hazards) or self.host.machine is None:
            self._start(probe, form.typed)
            return
        self._confirm_writing(probe, self.host.machine)

    async def _ask_for(self, probe: RegisteredProbe, name: str) -> None:
        """Have a value chosen that only the user can give; the run starts then."""
        view = await self._form_view()
        if view is None:
            return
        view.display = True
        field = view.field(name)
        if field is None:
            await view.unfold()
            field = view.field(name)
        view.say(f"Choose a {label(view.form.parameter(name)).lower()} first: it has none")
        if field is not None:
            field.open()
        self._runs_when_chosen = probe is self.chosen

    def _unconfirmed(self, probe: RegisteredProbe) -> dict[str, str]:
        """What the form changes, without the name of a device that is asked for each time."""
        consent = write_confirmation.consent(probe)
        return {key: text for key, text in self.form_of(probe).typed.items() if key != consent}

    def _confirm_writing(self, probe: RegisteredProbe, machine: Machine) -> None:
        form = self.form_of(probe)
        typed = form.typed
        settings = {parameter.name: form.text(parameter.name) for parameter in probe.manifest.parameter}
        consent = write_confirmation.consent(probe)
        unconfirmed = self._unconfirmed(probe)
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
            self.run_worker(self._say(reason))
        else:
            confirm_write(self.app, probe, plan, settings, typed, lambda: self._start(probe, typed))

    async def _say(self, reason: str) -> None:
        """Say in the form why nothing was started."""
        view = await self._form_view()
        if view is not None:
            view.display = True
            view.say(reason, wrong=True)

    def _start(self, probe: RegisteredProbe, settings: Mapping[str, str]) -> None:
        self._step, self._samples_of, self._tab = "", None, ""
        self.host.start_run(spec_of(probe.name, settings, self._plan))
        self.query_one(KeyList).focus()
        self._show_form()
        self.show_run()

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
            self._show_form()
            self.show_run()
            return
        self.cancel_run()

    def _refusal(self, probe: RegisteredProbe) -> str:
        host = self.host
        return host.unmeasured or ("" if host.machine is None else unmet(host.machine, probe.manifest) or "")

    # Pictures

    @on(TabRow.Chosen)
    def _tab_chosen(self, event: TabRow.Chosen) -> None:
        self._tab = event.name
        self._redraw()

    def action_next_view(self, step: int) -> None:
        """Show another tab: other series, other units, other samples behind the point."""
        if self._names:
            at = self._names.index(self._shown_tab)
            self._tab = self._names[(at + step) % len(self._names)]
        self._redraw()

    @property
    def _shown_tab(self) -> str:
        return self._tab if self._tab in self._names else (self._names[0] if self._names else "")

    def action_next_step(self, step: int) -> None:
        """Show another step of the probe."""
        runs = runs_of(self.host.runs.session, "" if self.chosen is None else self.chosen.name)
        if len(runs) > 1:
            ids = [run.step.id for run in runs]
            at = ids.index(self._step) if self._step in ids else len(ids) - 1
            self._step, self._samples_of, self._tab = ids[(at + step) % len(ids)], None, ""
            self._redraw()

    def action_samples(self) -> None:
        """Show the samples behind the point under the readout; without a readout put it on the last point."""
        chart = self.query_one(ChartView)
        run = self._run
        if run is None or not chart.display or self._samples_of is not None:
            return
        chart.focus()
        if not chart.reads:
            chart.action_cursor_to(-1)
            return
        key = chart.chosen
        if key is None or not point_samples(run, key):
            self.notify("no samples were recorded for this point", markup=False, timeout=3)
            return
        self._samples_of, self._tab_before, self._tab = (run.step.id, key), self._tab, ""
        self._redraw()

    def _leave_samples(self) -> None:
        self._samples_of, self._tab = None, self._tab_before
        self._redraw()

    def action_table(self) -> None:
        """Show the points as a table in place of the chart, or the chart again."""
        if self._shown_tab == TABLE:
            self._tab = self._tab_before
        elif TABLE in self._names:
            self._tab_before, self._tab = self._tab, TABLE
        self._redraw()
        if self._shown_tab == TABLE:
            self._focus_picture()

    def action_sort(self, step: int) -> None:
        """Sort the table by its next column, or the other way round."""
        if self._table is not None and self._table.display:
            self._table.action_sort(step)

    def action_zoom(self) -> None:
        """Give the chart, or the table, the whole screen but for the line that says how the run stands."""
        self.toggle_class("-zoomed")
        self._show_form()
        self._redraw()
        if self.has_class("-zoomed"):
            self._focus_picture()
        else:
            self.query_one(KeyList).focus()

    def action_back(self) -> None:
        """Undo what was put in front, one thing at a time; else cancel."""
        if self._samples_of is not None:
            self._leave_samples()
        elif self.has_class("-zoomed"):
            self.action_zoom()
        elif self._shown_tab == TABLE:
            self.action_table()
            self.query_one(KeyList).focus()
        elif self.focused is not None and self.focused is not self.query_one(KeyList):
            self.query_one(KeyList).focus()
        else:
            self.action_cancel()

    def leave_input(self) -> None:
        """Escape goes back to the list."""
        self.query_one(KeyList).focus()

    def _redraw(self) -> None:
        self._drawn = ()
        self._show_probe()

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
            idle |= {"run.start", "run.plan", "run.settings"}
        if not self.host.measures:
            idle |= {"run.start", "run.plan", "run.settings"}
        if self._run is None:
            idle |= {"run.view", "run.table", "run.zoom"}
        if self._run is None or self._shown_tab != TABLE:
            idle.add("run.sort")
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
        startable = self._can_start(probe)
        state = (
            probe.name,
            self._plan,
            None if run is None or session is None else session.last_ns,
            self.form_of(probe).typed,
            state_text,
            self.host.runs.going_on,
            startable,
        )
        if state == self._drawn:
            return
        drawn, self._drawn = self._drawn, state
        if drawn and drawn[-1] != startable:
            self._show_form()
        if not drawn or drawn[0] != probe.name:
            self.query_one("#probe").border_title = Text(card_title(probe))
        words = self.query_one("#about", Static)
        words.display = run is None
        for part in ("#standing", "#tabs"):
            self.query_one(part).display = run is not None and not self.has_class("-zoomed")
        if run is None:
            self._hide_pictures()
            form = self.form_of(probe)
            settings = {parameter.name: form.text(parameter.name) for parameter in probe.manifest.parameter}
            words.update(about(probe, state_text, settings, form.typed))
        else:
            self._show_pictures(run, probe)
        self.show_keys()

    def _hide_pictures(self) -> None:
        self._names = ()
        self.query_one(ChartView).display = False
        self.query_one("#live", SegmentRows).show(())
        for part in self._panes:
            part.display = False

    @property
    def _panes(self) -> list[Widget]:
        """What was made in place of the chart so far; to look for it in the tree costs more than to draw a frame."""
        return [part for part in (self._table, self._notes, self._validity) if part is not None]

    def _show_pictures(self, run: StepRun, probe: RegisteredProbe) -> None:
        session = self.host.runs.session
        machine = self.host.machine if session is None or session.machine is None else session.machine
        samples = (
            underlying_charts(run, self._samples_of[1])
            if self._samples_of and self._samples_of[0] == run.step.id
            else ()
        )
        self._entries = samples or chart_list(run, machine)
        self._names = tuple(entry.name for entry in samples) or tabs(self._entries)
        shown = self._shown_tab
        self.query_one(TabRow).show_tabs(self._names, shown)
        self._show_standing(run, probe)
        live = run.outcome is None and self.host.runs.going_on and session is not None and not self.has_class("-zoomed")
        width = self.query_one("#probe").content_size.width
        now_ns = 0 if session is None else session.last_ns
        self.query_one("#live", SegmentRows).show(live_rows(run, now_ns, width) if live else ())
        chart = self.query_one(ChartView)
        chart.display = shown not in (TABLE, VALIDITY) or bool(samples)
        self._show_table(run, shown=shown == TABLE)
        self._show_validity(run, shown=shown == VALIDITY and not samples)
        if not chart.display:
            return
        chart.hint = lambda key: "Enter: samples" if not samples and point_samples(run, key) else ""
        picture = next((entry for entry in self._entries if entry.name == shown), self._entries[0])
        drawn = picture.draw()
        if drawn is not None:
            chart.show(drawn if run.outcome is not None else hold_axes(drawn, chart.chart))

    def _show_standing(self, run: StepRun, probe: RegisteredProbe) -> None:
        session, runs = self.host.runs.session, self.host.runs
        steps = [other.step.id for other in runs_of(session, probe.name)]
        planned = () if session is None or session.plan is None else session.plan.steps
        every = {*steps, *(step.id for step in planned if step.probe == probe.name)}
        position = StepPosition(steps.index(run.step.id) + 1, len(every))
        refused = "" if run.outcome is None and runs.going_on else latest_refusal(session, probe.name)
        rows = badge_rows(run, runs.caveat, position, going_on=runs.going_on, refused=refused)
        self.query_one("#standing", SegmentRows).show(rows, fold=run.outcome is not None)

    def _show_table(self, run: StepRun, *, shown: bool) -> None:
        if shown and self._table is None:
            self._table = PointTable(id="points")
            self._notes = VerticalScroll(self._note_words, id="notes-pane", can_focus=False)
            self.query_one("#probe").mount(self._table, self._notes)
        if self._table is not None and self._notes is not None:
            self._table.display = self._notes.display = shown
            if shown:
                self.call_after_refresh(self._fill_table, self._table, self._notes, point_rows(run))

    def _fill_table(self, table: PointTable, notes: VerticalScroll, rows: PointRows) -> None:
        """Fill the table once it is mounted, with the figures and notes below it."""
        table.show(rows)
        width = notes.content_size.width - 1
        lines = [hanging(f"{name}: {value}", width, 0, 2) for name, value in rows.figures]
        lines += [hanging(note, width, 0, 2) for note in rows.notes]
        self._note_words.update("\n".join(lines))

    def _show_validity(self, run: StepRun, *, shown: bool) -> None:
        if shown and self._validity is None:
            self._validity = VerticalScroll(self._validity_words, id="validity")
            self.query_one("#probe").mount(self._validity)
        if self._validity is not None:
            self._validity.display = shown
            if shown:
                from sizeup.tui.screens.validity_text import validity_text

                width = self.query_one("#probe").content_size.width - 1
                self._validity_words.update(validity_text(run, width, going_on=self.host.runs.going_on))
