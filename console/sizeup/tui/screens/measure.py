"""What this machine does: a page for each probe, with its form, how its run stands, and what it measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from msgspec.structs import replace
from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Select
from textual.widgets.option_list import Option

from sizeup.model.machine import Machine
from sizeup.probing.manifest import Manifest
from sizeup.probing.planner import unmet
from sizeup.probing.registry import RegisteredProbe
from sizeup.session.store import recent_sessions
from sizeup.session.value import Session, StepRun
from sizeup.text import capitalized
from sizeup.tui.actions import bindings, first_key_of
from sizeup.tui.console import ConsoleApp
from sizeup.tui.run_form import label
from sizeup.tui.runs import Runs, spec_of
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.probe_forms import PLAN, PlannedSeconds, RunFormView
from sizeup.tui.screens.probe_page import ProbePage
from sizeup.tui.screens.probe_text import about, card_groups, card_title, entry, waiting_text
from sizeup.tui.screens.write_confirmation import WRITES, RunConfirmation
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList
from sizeup.views.band import Band, NextStep
from sizeup.views.cards.balance import balance
from sizeup.views.run.latency import has_one_load
from sizeup.views.run.step import VALIDITY, latest_refusal, latest_run, runs_of, step_position
from sizeup.views.run.step_badge import step_band
from sizeup.views.run.yardstick import Earlier, earlier_steps, yardstick

_COLUMNS = 25
"""Of a line, until the list has a width."""


class ProbeList(KeyList):
    """Lists the probes of this installation and of the session below the cards that they are about."""

    def __init__(self, host: ConsoleApp) -> None:
        self._installed: Mapping[str, RegisteredProbe] = host.registry.probes
        self._probes = self._installed
        self._seconds = PlannedSeconds(host)
        super().__init__(*_options(self._probes.values()), id="probes")

    @property
    def chosen(self) -> RegisteredProbe | None:
        """The probe under the cursor; None where there is none."""
        option = self.highlighted_option
        return None if option is None or option.id is None else self._probes.get(option.id)

    def choose_first(self) -> None:
        """Put the cursor on the first probe."""
        self.highlighted = next((index for index, option in enumerate(self.options) if option.id), None)

    def choose(self, name: str) -> None:
        """Put the cursor on a probe, where there is such a one."""
        if name in self._probes:
            self.highlighted = self.get_option_index(name)

    def _list(self, probes: Mapping[str, RegisteredProbe]) -> None:
        """List other probes, and leave the cursor on its probe where that is still listed."""
        chosen = self.chosen
        self._probes = probes
        self.set_options(_options(probes.values()))
        if chosen is not None and chosen.name in probes:
            self.choose(chosen.name)
        else:
            self.choose_first()

    def show_runs(
        self, runs: Runs, plan: str, machine: Machine | None, stored: Callable[[str, Machine | None], Earlier | None]
    ) -> None:
        """Rewrite the lines that changed, with one for each probe of the session that is not installed."""
        steps = () if runs.session is None else runs.session.steps.values()
        recorded = {run.step.probe: run for run in steps if run.step.probe not in self._installed}
        probes = {**self._installed, **{name: _recorded(run) for name, run in recorded.items()}}
        if probes != self._probes:
            self._list(probes)
        width = self.scrollable_content_region.width or _COLUMNS
        for name, probe in self._probes.items():
            run = None if runs.starts(name) else latest_run(runs.session, name)
            starts = run is None and runs.includes(name)
            runs_now = run is not None and run.outcome is None and runs.going_on
            pending = "queued" if runs.queues(name) and not runs_now else "starting" * starts
            seconds = self._seconds.of(probe, plan)
            refused = bool(latest_refusal(runs.session, name))
            last = stored(name, machine) if run is None and not pending and not refused else None
            shown = run if last is None else last.run
            going_on = runs.going_on and last is None
            line = entry(probe, seconds, shown, machine, width, pending=pending, refused=refused, going_on=going_on)
            if str(self.get_option(name).prompt) != line.plain:
                self.replace_option_prompt(name, line)


def _options(probes: Iterable[RegisteredProbe]) -> Iterator[Option]:
    for card, group in card_groups(probes):
        yield Option(Content.assemble((card, "$dim"), (" ──────────────────────────────", "$line")), disabled=True)
        yield from (Option(Content(f"  {probe.manifest.title}"), id=probe.name) for probe in group)


def _recorded(run: StepRun) -> RegisteredProbe:
    """Return a probe that is not installed, as far as a step of it tells."""
    declared, name = run.declaration, run.step.probe
    card = cast("Any", declared.card)  # may be one that this version does not know
    manifest = Manifest(name, declared.title or name, "", (), "", "", card=card, diagnostic=declared.diagnostic)
    return RegisteredProbe(manifest, "", run.distribution)


_FORM_DELAY_SECONDS = 0.12
"""The controls of a probe are made once the cursor rests on it."""
_ESTIMATE_DELAY_SECONDS = 0.2
_LOW_ROWS = 30
"""With fewer the band is a small one."""
_LIST_KEYS = ("enter", "Take"), ("escape", "Leave")
_FIELD_KEYS = ("down", "Suggested"), ("tab", "Take, next field"), ("enter", "Take, measure"), ("escape", "Undo")
"""Keys and what they do while a list of a form is open, and while a field has the focus."""


class MeasureScreen(ModeScreen):
    """The probes of this installation and of the session, and what they found."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "measure"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("measure")]

    def __init__(self) -> None:
        super().__init__()
        self._step = ""
        """Step that was chosen of those of the probe; empty for the last."""
        self._drawn: tuple[object, ...] = ()
        self._page = ""
        """The probe whose page is shown."""
        self._runs_when_chosen = False
        """A run was asked for and lacks a value: it starts when that is chosen."""
        self._stored: Mapping[tuple[str, int], Session] = {}
        """The sessions that were read, by path and time."""
        self._read_at = -1
        """How many steps had ended when they were read."""
        self._confirmation = RunConfirmation(self.host, self.host.registry)
        self._list, self._yardstick = ProbeList(self.host), ChartView(self.host.glyphs, id="yardstick")
        self._probe_page = ProbePage(self.host)
        self._forms = self._probe_page.forms

    def body(self) -> Iterable[Widget]:
        """The list beside the page of the chosen probe."""
        with Horizontal(id="body"):
            with Vertical(id="measurements"):
                yield self._list
                yield self._yardstick
            yield self._probe_page

    def on_mount(self) -> None:
        """Start on the first probe."""
        self.query_one("#measurements").border_title = "Measurements"
        self._yardstick.can_focus = False
        self._list.choose_first()

    def _look_for_earlier(self) -> None:
        """Read the stored sessions where a run ended since they were read last: never beside a measurement."""
        ended = 0 if (session := self.host.runs.session) is None else len(session.outcomes)
        if not self.host.runs.going_on and self._read_at != ended:
            self._read_at = ended
            self._read_earlier()

    @work(exclusive=True)
    async def _read_earlier(self) -> None:
        self._stored = await asyncio.to_thread(recent_sessions, self._stored, self.host.runs.path)
        found = earlier_steps(self._stored.values(), self.host.runs.session)
        if self.app.is_running and found != (page := self._probe_page).earlier:  # else the widgets go, or show them
            page.earlier, self._drawn = found, ()
            self.show_run()

    @property
    def chosen(self) -> RegisteredProbe | None:
        """The probe under the cursor; None where there is none, or no list any more, as timers outlive it."""
        return self._list.chosen if self._list.is_attached else None

    def show_target(self, target: str) -> None:
        """Put the cursor on a probe."""
        self._list.choose(target)

    def show_all(self) -> None:
        """Show the machine, which shows the run too."""
        self.show_machine()

    def show_machine(self) -> None:
        """What can run depends on the machine."""
        super().show_machine()
        self.show_run()

    def show_run(self) -> None:
        """List and page, from the file alone."""
        super().show_run()
        self._look_for_earlier()
        self._list.show_runs(self.host.runs, self._forms.plan, self.host.machine, self._stand_in)
        self._show_probe()

    def on_resize(self) -> None:
        """Lines of the list end where its border is."""
        self._drawn = ()
        self.call_after_refresh(self.show_run)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another probe was chosen."""
        if event.option_list.id != "probes" or event.option_id == self._page:
            return
        self._page = event.option_id or ""
        self._step = ""
        self._probe_page.start_over()
        self._runs_when_chosen = False
        self._show_probe()
        self.set_timer(_FORM_DELAY_SECONDS, self._show_form)

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter goes to the chart, where the arrows read values, or to the button that runs the probe."""
        if event.option_list.id == "probes" and self._run is not None:
            self._probe_page.focus_picture()
        elif event.option_list.id == "probes" and (view := await self._form_view()) is not None and view.display:
            view.query_one("#run").focus()

    def on_descendant_focus(self) -> None:
        """The last line names the keys of an open list."""
        self.call_after_refresh(self.show_keys)

    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        """The keys of an open list or of a field, where one has the focus."""
        focused = self.focused
        if focused is not None and isinstance(focused.parent, Select):
            return _LIST_KEYS
        return _FIELD_KEYS if isinstance(focused, Input) else ()

    def on_chart_view_moved(self) -> None:
        """What can be done at the point stands in the last line."""
        self.show_keys()

    # The form

    async def _form_view(self) -> RunFormView | None:
        """The controls of the chosen probe."""
        return None if self.chosen is None else await self._forms.view(self.chosen)

    @work
    async def _show_form(self) -> None:
        """Show the form of the chosen probe, unless it runs or cannot run here."""
        probe = self.chosen
        view = None if probe is None or not self._can_start(probe) else await self._form_view()
        if probe is None or probe is not self.chosen:
            return
        view = view if self._can_start(probe) else None  # a run may have begun meanwhile
        self._forms.show(None if self.has_class("-zoomed") else view)
        if view is not None:
            view.sync()
            self.set_timer(_ESTIMATE_DELAY_SECONDS, self._show_estimate)

    def _can_start(self, probe: RegisteredProbe) -> bool:
        runs = self.host.runs
        own = runs.going_on and runs.includes(probe.name)
        return not (self._refusal(probe) or own or runs.queues(probe.name))

    def _show_estimate(self) -> None:
        if self.chosen is not None:
            self._forms.show_estimate(self.chosen)

    @on(RunFormView.Edited)
    async def _edited(self, event: RunFormView.Edited) -> None:
        self._redraw()
        probe = self.chosen
        chosen = self._runs_when_chosen and probe is not None and not self._forms.form_of(probe).lacking()
        if event.run or chosen:
            self._runs_when_chosen = False
            self.leave_input()  # a field would swallow the keys of the screen
            await self.action_run_probe(agreed=chosen)
        self.set_timer(_ESTIMATE_DELAY_SECONDS, self._show_estimate)

    @on(RunFormView.PlanChosen)
    def _plan_chosen(self, event: RunFormView.PlanChosen) -> None:
        self._forms.choose_plan(event.plan)
        self._show_estimate()
        self.show_run()

    async def on_key(self, event: events.Key) -> None:
        """The letter in front of a field opens its list."""
        probe = self.chosen
        letter = event.character or ""
        if probe is None or not letter.isalpha() or isinstance(self.focused, Input):
            return
        parameter = next((one for one in probe.manifest.parameter if one.key and one.key == letter), None)
        if parameter is None or not self._can_start(probe):
            return
        event.stop()
        await self._open_field(parameter.name)

    async def _open_field(self, name: str) -> None:
        self._runs_when_chosen = False
        if (view := await self._form_view()) is not None:
            view.open_field(name)

    async def action_settings(self) -> None:
        """Show all settings of the chosen probe, and go to the first of them."""
        view, probe = await self._form_view(), self.chosen
        if view is not None and probe is not None and self._can_start(probe):
            view.display = True
            await view.unfold()
            first = next((one.name for one in probe.manifest.parameter if not one.basic), "")
            if (field := view.field(first)) is not None:
                field.control.focus()

    async def action_plan(self) -> None:
        """Open the list of plans."""
        if self.chosen is not None and self._can_start(self.chosen):
            await self._open_field(PLAN)

    # Runs

    async def action_run_probe(self, *, agreed: bool = False) -> None:
        """Run the chosen probe, after asking where it would write, unless that is ``agreed``."""
        probe = self.chosen
        if probe is None:
            return
        if reason := self._refusal(probe):
            self.app.notify(reason, title=f"{probe.manifest.title} cannot run here", severity="warning", markup=False)
            return
        if self.host.runs.starts(probe.name):
            self.app.notify(f"{probe.manifest.title} is starting already", markup=False)
            return
        form = self._forms.form_of(probe)
        if lacking := form.lacking():
            await self._ask_for(probe, lacking[0])
            return
        if WRITES.isdisjoint(probe.manifest.hazards) or self.host.machine is None:
            self._start(probe, form.typed)
            return
        start = partial(self._start, probe)
        reason = self._confirmation.ask(self.host.machine, form, probe, start, agreed=agreed)
        if reason and (view := await self._form_view()) is not None:
            view.display = True
            view.say(reason, wrong=True)

    async def _ask_for(self, probe: RegisteredProbe, name: str) -> None:
        """Have a value chosen that only the user can give; the run starts then."""
        view = await self._form_view()
        if view is None:
            return
        if view.field(name) is None:
            await view.unfold()
        view.say(f"Choose a {label(view.form.parameter(name)).lower()} first: it has none")
        view.open_field(name, measures=True)
        self._runs_when_chosen = probe is self.chosen

    def _start(self, probe: RegisteredProbe, settings: Mapping[str, str]) -> None:
        self._step = ""
        self._probe_page.start_over()
        self.host.start_run(spec_of(probe.name, settings, self._forms.plan))
        self._list.focus()
        self._forms.fold()
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
        if self.chosen is not None and self.host.runs.forget(self.chosen.name):
            self._show_form()
            self.show_run()
        else:
            super().action_cancel()

    def _refusal(self, probe: RegisteredProbe) -> str:
        host = self.host
        if not host.unmeasured and probe.name not in host.registry.probes:
            return f"not installed, or it cannot be used: {probe.distribution}; see: sizeup probe list"
        return host.unmeasured or ("" if host.machine is None else unmet(host.machine, probe.manifest) or "")

    def action_view(self, name: str) -> None:
        """Show the tab of this name."""
        self._probe_page.tab = name
        self._redraw()

    def action_next_view(self, step: int) -> None:
        """Show another tab: other series, other units, other samples behind the point."""
        self._probe_page.next_tab(step)
        self._redraw()

    def action_next_step(self, step: int) -> None:
        """Show another step of the probe."""
        runs = runs_of(self.host.runs.session, "" if self.chosen is None else self.chosen.name)
        if len(runs) > 1:
            ids = [run.step.id for run in runs]
            at = ids.index(self._step) if self._step in ids else len(ids) - 1
            self._step = ids[(at + step) % len(ids)]
            self._probe_page.start_over()
            self._redraw()

    def action_samples(self) -> None:
        """Show the samples behind the point under the readout; without a readout put it on the last point."""
        if self._run is not None and self._probe_page.show_samples(self._run):
            self._redraw()

    def action_table(self) -> None:
        """Show the points as a table in place of the chart, or the chart again."""
        self._probe_page.toggle_table()
        self._redraw()
        if self._probe_page.shows_table:
            self._probe_page.focus_picture()

    def action_sort(self) -> None:
        """Sort the table by its next column, up and then down."""
        self._probe_page.sort_table()

    def action_zoom(self) -> None:
        """Maximize the chart or the table; only the status line of the run stays."""
        self.toggle_class("-zoomed")
        self._show_form()
        self._redraw()
        if self.has_class("-zoomed"):
            self._probe_page.focus_picture()
        else:
            self._list.focus()

    def action_back(self) -> None:
        """Undo what was put in front, one thing at a time; else cancel."""
        if self._probe_page.shows_samples:
            self._probe_page.leave_samples()
            self._redraw()
        elif self.has_class("-zoomed"):
            self.action_zoom()
        elif self._probe_page.shows_table:
            self.action_table()
            self._list.focus()
        elif self.focused is not None and self.focused is not self._list:
            self._list.focus()
        elif self.host.runs.going_on:
            self.notify(f"{first_key_of('run.cancel', self.host.keys)} cancels the run", markup=False, timeout=3)

    def leave_input(self) -> None:
        """Escape goes back to the list."""
        self._list.focus()

    def _redraw(self) -> None:
        self._drawn = ()
        self._show_probe()

    def _stand_in(self, probe: str, machine: Machine | None) -> Earlier | None:
        """Return the last stored step of a probe on this machine; None beside a saved session, which has its own."""
        return None if self.host.saved_session is not None else self._probe_page.stored(probe, machine)

    @property
    def _run(self) -> StepRun | None:
        """The step that is shown of the chosen probe, else the last one stored; None while another one starts."""
        name = "" if self.chosen is None else self.chosen.name
        runs = [] if self.host.runs.starts(name) else runs_of(self.host.runs.session, name)
        if not runs and not self.host.runs.includes(name):
            last = self._stand_in(name, self.host.machine)
            return None if last is None else last.run
        return next((run for run in runs if run.step.id == self._step), runs[-1] if runs else None)

    def command_values(self) -> Mapping[str, str]:
        """The probe that would run, and the plan."""
        probe = self.chosen
        return {} if probe is None else {"run.start": probe.manifest.title, "run.plan": self._forms.plan}

    def idle_actions(self) -> frozenset[str]:
        """What has nothing to act on: no run, no picture, no other step."""
        probe, run, page, runs = self.chosen, self._run, self._probe_page, self.host.runs
        idle: set[str] = set()
        if not runs.going_on:
            idle |= {"run.pause", "run.cancel"}
        if runs.going_on or run is None:
            idle.add("app.compare")
        if not self.host.measures or (probe is not None and runs.going_on and runs.includes(probe.name)):
            idle.add("run.start")
        if not self.host.measures or (probe is not None and not self._can_start(probe)):
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

    def _show_yardstick(self, run: StepRun | None) -> None:
        machine, found = self.host.machine, None
        if run is not None and machine is not None and self.size.height >= _LOW_ROWS:
            found = yardstick(run, machine.platform.hostname or "", machine, self._probe_page.earlier)
        self._yardstick.display = found is not None
        if found is not None:
            self._yardstick.show(found)

    def band(self) -> Band | None:
        """How the step that is shown ended; how one stands that goes on is above its picture."""
        probe, run, runs = self.chosen, self._run, self.host.runs
        self._band.set_class(self.size.height < _LOW_ROWS, "-small")
        if probe is None or self.has_class("-zoomed") or (run is not None and run.outcome is None and runs.going_on):
            return None
        if refused := latest_refusal(runs.session, probe.name):
            return Band("REFUSED", "bad", refused)
        if run is not None:
            offered = (
                NextStep("One load shows no limit.", "d", "ramps it")
                if has_one_load(run)
                else NextStep(key="c", does="compares it with another run")
            )
            band = step_band(run, step_position(run, runs.session), self._session_of(run), offered)
            steps = [one for one in band.steps if one.key != "v" or self._probe_page.shown_tab != VALIDITY]
            if not self.host.measures:  # no key measures again
                steps = [replace(one, key="", does="") if one.key in ("r", "d") else one for one in steps]
            return replace(band, steps=tuple(steps))
        if runs.going_on and not self.host.measures:
            plan = None if runs.session is None else runs.session.plan
            planned = plan is not None and any(step.probe == probe.name for step in plan.steps)
            words = "waits in the run that is shown" if planned else "is not part of the run that is shown"
            return Band("WAITING" if planned else "NOT PLANNED", "acc", f"{probe.manifest.title} {words}.")
        if waiting := self._refusal(probe):
            return Band("NOT HERE", "acc", f"{capitalized(waiting)}.")
        if runs.starts(probe.name):
            return Band("STARTING", "acc", f"{probe.manifest.title}: no samples yet.")
        return Band(
            "NOT YET",
            "acc",
            f"{probe.manifest.title}: not measured yet.",
            steps=(NextStep(key="r", does="measures it"),),
            basis=f"Touches {probe.manifest.touches.partition(',')[0]}",
        )

    def _session_of(self, run: StepRun) -> str:
        """Return which session a step is of, by its time where that is of today, in UTC as all times."""
        session = self.host.runs.session
        last = next((one.started for one in self._probe_page.earlier if one.run is run), "")
        started = last or ("" if session is None else session.header.started)
        is_today = started.startswith(time.strftime("%Y-%m-%d", time.gmtime()))
        return f"{'last session' if last else 'of'} {started[11:16] if is_today else started[:10]}"

    def _show_probe(self) -> None:
        probe = self.chosen
        if probe is None:
            return
        session = self.host.runs.session
        run = self._run
        self._forms.take_target(probe, run)
        waiting = waiting_text(probe.name, self.host.runs, self._refusal(probe))
        startable = self._can_start(probe)
        state = (
            probe.name,
            self._forms.plan,
            None if run is None or session is None else session.last_ns,
            self._forms.form_of(probe).typed,
            waiting,
            self.host.runs.quiet_seconds,
            self.host.runs.going_on,
            startable,
        )
        if state == self._drawn:
            return
        drawn, self._drawn = self._drawn, state
        if drawn and drawn[-1] != startable:
            self._show_form()
        shown = None if run is None else (run, self._session_of(run))
        self._probe_page.card_title = card_title(probe, shown, is_narrow=self.has_class("-narrow"))
        self.show_band()
        self._show_yardstick(run)
        if run is None:
            form = self._forms.form_of(probe)
            found = balance(self.host.machine, session) if probe.manifest.card not in ("", "clock") else None
            self._probe_page.show_words(about(probe, waiting, form.texts, form.typed), found)
        else:
            self._probe_page.show_pictures(run, self.host.runs, self.host.machine, zoomed=self.has_class("-zoomed"))
        self.show_keys()
