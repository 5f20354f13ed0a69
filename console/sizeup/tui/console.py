"""The console: one app that holds the machine and the run, and modes that show them."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from rich.cells import cached_cell_len
from textual import work
from textual.binding import BindingType
from textual.reactive import Reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import AwaitMount

from sizeup.charts.drawing import Glyphs
from sizeup.charts.share_bar import ScreenLook
from sizeup.errors import ExitStatus, SizeupError, UsageError
from sizeup.model.machine import Machine
from sizeup.model.plan import Gentle, Hazard
from sizeup.session.store import directory, ended_without_terminal, latest, session_name, start_of, unfinished
from sizeup.sizing.advise import HEADLINE
from sizeup.sizing.session_advice import AdviceSelector
from sizeup.terminal.app import OnceStyledScreen, TerminalApp
from sizeup.terminal.capabilities import colors
from sizeup.text import counted, plain, plural
from sizeup.tui.actions import ACTIONS, SCOPES, bindings, first_key, first_key_of
from sizeup.tui.options import SIXTEEN_COLORS, THEMES, Options
from sizeup.tui.runs import Runs
from sizeup.tui.themes import DARK, textual_name
from sizeup.tui.unsaved_inputs import TypedInputs, recomputed_with, unsaved_text
from sizeup.tui.widgets.lines import Header
from sizeup.units import as_percent, format_bytes, format_rate

if TYPE_CHECKING:
    from sizeup.engine.spec import RunSpec
    from sizeup.probing.registry import Registry
    from sizeup.session.value import Session
    from sizeup.sizing.input_value import Value
    from sizeup.sizing.session_advice import ShownAdvice
    from sizeup.tui.dialogs import ConsoleCommand
    from sizeup.tui.runs import LiveSource
    from sizeup.views.machine.difference import OtherMachine

_RECENT_SECONDS = 24 * 3600.0
"""Older ones are left to the list of sessions."""


def running_session(besides: str) -> Path | None:
    """Return a session that a run writes at this moment, other than ``besides``; None where there is none."""
    from sizeup.session.writer import in_use

    return next((path for path in unfinished(directory()) if str(path) != besides and in_use(str(path))), None)


class OfferedSession:
    """What a user who comes back should know of: a run in progress, one that ended unseen, or was interrupted."""

    def __init__(self, key: str, resume_key: str) -> None:
        self._key = key
        self._resume_key = resume_key
        self.notice = ""
        """What to say of it first; empty where there is none."""
        self.name = ""
        """The latest session; empty where there is none."""
        self.running: Path | None = None
        """The session that a run writes; None where none does."""
        self.interrupted: Path | None = None
        """The session that can be resumed; None where none is spoken of."""

    def find(self) -> None:
        """Look for it in the store."""
        from sizeup.session.writer import in_use

        def recent(path: Path) -> bool:
            return time.time() - path.stat().st_mtime < _RECENT_SECONDS

        self.notice, self.interrupted = "", None
        with suppress(OSError, SizeupError):  # a store that cannot be read is the Sessions mode's to report
            self.running, last = running_session(besides=""), latest()
            self.name = "" if last is None else session_name(str(last))
            if self.running is not None:
                shows = f"{self._key} or " if self.running == last else ""
                self.notice = f"{_run_of(self.running)} in progress; {shows}sizeup session follow shows it"
            elif last is not None and recent(last) and (ended := ended_without_terminal(last)):
                how = "finished" if ended == "complete" else f"was {ended}"
                self.notice = f"{_run_of(last)} {how} without its terminal; {self._key} opens it"
            else:
                waiting = (path for path in unfinished(directory()) if recent(path) and not in_use(str(path)))
                if (path := next(waiting, None)) is not None:
                    self.interrupted = path
                    self.notice = f"{_run_of(path)} was interrupted; {self._resume_key} runs its missing steps"

    def has_ended(self) -> bool:
        """Look again at the run that goes on; whether it has ended."""
        from sizeup.session.writer import in_use

        if self.running is None or in_use(str(self.running)):
            return False
        self.find()
        return True


def _run_of(path: Path) -> str:
    """Return a run by its start, as the list of sessions has it."""
    started = start_of(path)[:16].replace("T", " ")
    return f"Run of {started} UTC" if started else "Run"


_NO_WORKLOAD = "no workload"


def workload_text(shown: ShownAdvice | None) -> str:
    """Return the demand of the workload, of I/O if known, and what is to be known of the advice."""
    advice = None if shown is None else shown.given.find(HEADLINE)
    demand = None if advice is None else advice.quantity
    words = _demand_of(shown, "storage")
    if not words:
        words = _demand_of(shown) if demand is None else format_rate(demand.value)
    words = f"demand {words}" if words else _NO_WORKLOAD
    if shown is not None and shown.mark:
        return shown.mark if words == _NO_WORKLOAD else f"{words}, {shown.mark}"
    return words


def _demand_of(shown: ShownAdvice | None, resource: str = "") -> str:
    """Return the demand on a resource, or the first on any, such as the CPU; empty without a workload."""
    cards = () if shown is None else shown.given.cards
    wanted = [card for card in cards if card.resource == resource or (not resource and card.resource != "license")]
    return next((card.demand for card in wanted if card.demand), "")


def running_states(runs: Runs) -> tuple[str, ...]:
    """Return how a run stands, the longest text first."""
    session = runs.session
    now = None if session is None or not session.steps else list(session.steps.values())[-1]
    if runs.canceling:
        state = "canceling"
    elif runs.followed:
        state = "following"
    elif not runs.paused:
        state = "running"
    else:  # a step that has begun goes on to its end
        state = "paused" if now is not None and now.outcome is not None else "pausing"
    elapsed = "" if runs.followed else f" {runs.elapsed_seconds:.0f} s"
    if session is None or now is None or (runs.running and not runs.begun):  # the last step is of an earlier run
        return f"{state}, starting{elapsed}", elapsed.strip() or state
    from sizeup.views.run.live_figures import time_left

    progress, left = now.progress, ""
    if progress is not None:
        left = ", ".join(filter(None, (f" {as_percent(progress.done)}", time_left(progress))))
    queued = f", {len(runs.queue)} queued" if runs.queue else ""
    planned = [] if session.plan is None else [planned.id for planned in session.plan.steps]
    number = planned.index(now.step.id) + 1 if now.step.id in planned else 1
    steps = f"{number}/{max(len(planned), 1)}{elapsed}"
    return f"{state} {now.step.id} step {steps}{left}{queued}", f"{state} {steps}", elapsed.strip() or state


def saved_text(path: str, *, missing: bool = False) -> str:
    """Return where a session is, how to come back to it, and how to measure what is ``missing`` of its plan."""
    from sizeup.session.store import command_name

    name = command_name(path)
    more = f"\nMeasure what is missing with: sizeup run --resume {name}" if missing else ""
    return f"Session saved in {path}\nOpen it with: sizeup {name}{more}"


_DEFAULT = Options()
TICK_SECONDS = 0.5
"""Between two looks at the session file; every third of them draws a frame of a run."""
WAITS = "far longer where it waits for others"
_SLIGHT = frozenset((Hazard.CPU_LOAD, Hazard.MEMORY))
_DIMMED_CELLS = 10_000
"""A larger screen is not dimmed behind the palette: that sends all of it again, 20 kB for 200 x 60."""
_OFFERED_SECONDS = 2.0  # how often a run that another console started is looked at
_CANCEL_SECONDS = 0.6
"""How long leaving waits for a canceled run to save; it saves by itself after that."""
_AGAIN_SECONDS = 2.0
"""A second interrupt leaves within these."""
_RUN_ANSWERS = [("keep", "Quit and keep it running"), ("cancel", "Cancel it, save, and quit")]
"""What becomes of a run."""
_INPUT_ANSWERS = [
    ("save keep", "Save the inputs, quit, and keep the run going"),
    ("save cancel", "Save the inputs, cancel the run, and quit"),
    ("keep", "Lose the inputs, quit, and keep the run going"),
    ("cancel", "Lose the inputs, cancel the run, and quit"),
]
"""What becomes of typed inputs and of a run."""


def _screen(mode: str) -> Screen[Any]:
    """Return the screen of a mode; its module is imported when it is first shown: the first need not wait for it."""
    made: Screen[Any] = getattr(import_module(f"sizeup.tui.screens.{mode}"), f"{mode.capitalize()}Screen")()
    return made


MODES: Mapping[str, Callable[[], Screen[Any]]] = {
    mode: partial(_screen, mode) for mode in ("summary", "topology", "measure", "sizing", "sessions")
}
"""What makes the screen of each mode, by the mode's name."""


class ConsoleApp(TerminalApp):
    """Holds what must survive a change of mode."""

    TITLE = "sizeup"
    CSS_PATH = "console.tcss"
    ENABLE_COMMAND_PALETTE = False
    MODES: ClassVar[Any] = MODES
    DEFAULT_MODE = "summary"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    # From the start: another one has every style sheet parsed again.
    theme: Reactive[str] = Reactive(partial(textual_name, THEMES[0]))

    def __init__(
        self,
        runs: Runs,
        machine: Machine | None,
        options: Options = _DEFAULT,
        *,
        measures: bool = True,
        live_source: LiveSource | None = None,
        compared_with: OtherMachine | None = None,
    ) -> None:
        # Set from the start: otherwise Textual takes the filter that turns all colors into grays.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.animation_level = "none"
        # Without color the grays of the other themes would still be sent.
        self.theme = textual_name("ansi-dark" if self.no_color else options.theme)
        self.runs = self._own_runs = runs
        """Those that are shown, and those of this console: others while a saved session is shown."""
        self.machine = self._own_machine = machine
        wanted = Glyphs.BRAILLE if options.glyphs == "auto" else Glyphs(options.glyphs)
        self.glyphs = Glyphs.ASCII if options.ascii else wanted
        self.measures = self._own_measures = measures
        """Whether probes can be started: not on a saved session, nor on a recording of another machine."""
        self.readonly = options.readonly
        self.export_folder = ""
        """Where the last export went; empty before the first."""
        self._busy, self.gentle = options.busy, False
        self._live_source = live_source
        self.compared_with = compared_with
        """Another machine that this one is held against; None where it stands alone."""
        self.keys = dict(options.keys)
        """Keys that the user's configuration gives to actions, by the action's id."""
        self.set_keymap(self.keys)
        is_capture = not measures and live_source is None
        self.typed = TypedInputs(runs, lambda: self._own_machine, readonly=options.readonly, is_capture=is_capture)
        self._interrupted = -_AGAIN_SECONDS
        """When the user pressed ^c, by the monotonic clock."""
        self.exit_message = ""
        """What to print once the terminal is back."""
        self.offered = OfferedSession(*(first_key_of(name, self.keys) for name in ("app.latest", "summary.resume")))
        self._timer: Timer | None = None
        self._frame_ticks = 4 if options.low_bandwidth else 3
        self._waited_ticks = self._frame_ticks
        """Since the last frame; the first is drawn at once."""
        self._stage: tuple[int, ...] = ()  # runs, steps and outcomes in that frame: another one is drawn at once
        self._advice = AdviceSelector(f"press 4, then {first_key_of('sizing.recompute', self.keys)}")
        self._stated_advice = AdviceSelector()

    def on_mount(self) -> None:
        """Start the threads of the console, and looking at the file where there is one to look at."""
        pool, together = ThreadPoolExecutor(4, "console"), Barrier(4)  # from the start on: none comes, and grows, later
        for _ in range(together.parties):
            pool.submit(together.wait)
        asyncio.get_running_loop().set_default_executor(pool)
        if (session := self.runs.session) is not None and session.end is None:
            self._watch()
        if self.measures:
            self.call_after_refresh(self._find_offered)
        if self.compared_with is not None:
            self.call_after_refresh(self.action_mode, "topology")

    def _find_offered(self) -> None:
        self.offered.find()
        self._refresh_modes("show_status")
        if self.offered.running is not None:
            self.set_interval(_OFFERED_SECONDS, self._show_offered)

    def _show_offered(self) -> None:
        if self.offered.has_ended():
            self._refresh_modes("show_status")

    @cached_property
    def registry(self) -> Registry:
        """Every probe of this installation; read when it is first asked for, which the first screen does not."""
        from sizeup.probing.registry import load_registry

        return load_registry()

    def set_machine(self, machine: Machine | None) -> None:
        """Show a machine, read just now or again."""
        self.machine = machine
        self._refresh_modes("show_machine")

    @contextmanager
    def telling_errors(self) -> Iterator[None]:
        """Show a ``SizeupError`` of a block as a notification; the rest of the block is skipped."""
        try:
            yield
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False, timeout=10)

    @property
    def saved_session(self) -> Session | None:
        """The saved session that is shown; None where it is a machine."""
        return self.runs.session if self.live_source is None and not self.measures else None

    @property
    def advice(self) -> ShownAdvice | None:
        """What a saved session recorded, or what is worked out now for a machine; None without either."""
        if (saved := self.saved_session) is not None:
            return self._advice.of_session(saved)
        return None if self.machine is None else self._advice.of_machine(self.machine, self.runs.session)

    @property
    def stated_advice(self) -> ShownAdvice | None:
        """The advice with the inputs that the user typed; that of a saved session is labeled recomputed."""
        stated, is_saved = self.stated, self.saved_session is not None
        if self.machine is None or not (self.typed.are_unsaved(self.runs) if is_saved else stated):
            return self.advice
        shown = self._stated_advice.of_machine(self.machine, self.runs.session, stated)
        return recomputed_with(shown, len(stated)) if is_saved else shown

    @property
    def stated(self) -> Mapping[str, Value]:
        """Inputs that the user entered in the console for what is shown."""
        return self.typed.of(self.runs)

    @stated.setter
    def stated(self, values: Mapping[str, Value]) -> None:
        self.typed.take(self.runs, values)

    async def save_inputs(self, path: str = "") -> bool:
        """Record the inputs typed for all sessions, or one, with the advice on them; whether that succeeded."""
        with self.telling_errors():
            for place in await self.typed.save(self.typed.unsaved(path)):
                self.notify(f"Inputs and verdict saved in {place}", markup=False)
            self.runs.poll()
            self._refresh_modes("show_machine")
            return True
        return False

    def recompute_advice(self) -> None:
        """Recompute the advice of the saved session that is shown, or show what it recorded again."""
        if (saved := self.saved_session) is not None and saved.machine is not None:
            self._advice.toggle(saved)
            self._refresh_modes("show_machine")

    @property
    def live_source(self) -> LiveSource | None:
        """How to watch the machine; None where a capture or a saved session is shown."""
        return self._live_source if self.runs is self._own_runs else None

    @property
    def unmeasured(self) -> str:
        """Why no probe can be started; empty where one can."""
        if self.measures:
            return ""
        if self.readonly:
            return "sizeup was started read-only"
        if self.live_source is not None:
            return self.runs.problem
        return f"a {'capture' if self.runs.session is None else 'saved session'} is shown, not this machine"

    def renew_machine(self, machine: Machine) -> None:
        """Take this machine as it was read again; shown at once unless a saved session is."""
        self._own_machine = machine
        if self.runs is self._own_runs:
            self.set_machine(machine)

    @property
    def look(self) -> ScreenLook:
        """What the terminal can show of bars and badges."""
        if self.glyphs is Glyphs.ASCII:
            return ScreenLook.ASCII
        if self.no_color:
            return ScreenLook.PLAIN
        return ScreenLook.SIXTEEN if self.current_theme.ansi else ScreenLook.COLOR

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return our tokens, which Textual's own themes lack."""
        return DARK.variables

    def header(self) -> Header:
        """For the line above every mode: the machine, its size, and what it does or what it should carry."""
        session, running, machine = self.runs.session, self.runs.going_on, self.machine
        if running:
            states = running_states(self.runs)
        else:
            workload, kind = workload_text(self.stated_advice), "read-only" if self.readonly else ""
            if not self.measures and self.live_source is None:
                kind = "capture" if session is None else f"saved session of {session.header.started[:10]}"
            elif self.offered.running is not None:
                kind = "measuring in the background"
            state = kind if workload == _NO_WORKLOAD else ", ".join(filter(None, (kind, workload)))
            states = tuple(dict.fromkeys((state or "idle", kind or workload)))
        if machine is None:
            return Header("no machine in this session", states=states, running=running)
        host = machine.platform.hostname or ("capture" if session is None else session.header.host)
        cores = (
            counted(machine.core_count, "core") if machine.core_count else plural(machine.pu_counts.online, "thread")
        )
        memory = "" if machine.memory_bytes is None else format_bytes(machine.memory_bytes)
        return Header(host, " · ".join(filter(None, (cores, memory))), states, running)

    def notice(self) -> str:
        """What a user must know besides the screen; empty for nothing."""
        if self.runs.problem:
            return f"! {self.runs.problem}"
        if self.runs.going_on:
            return "low bandwidth, drawn every 2 s" if self._frame_ticks > 3 else ""
        advice = self.stated_advice if self.saved_session is not None else None
        if advice is not None and advice.label:
            return advice.label
        if self.runs is not self._own_runs:
            return "saved session; press 5, then u to return to this machine"
        return self.offered.notice if self.measures and self.runs.session is None else ""

    def start_run(self, spec: RunSpec) -> None:
        """Run a probe now or after the current one; on a busy host after a question, unless the run is gentle."""
        busy = None if self.live_source is None or self._busy == "ignore" else self.live_source.busy
        if self.gentle:
            self._start(replace(spec, gentle=Gentle()))
        elif self.runs.running and self.runs.spec is not None:  # whose load is not that of others
            self._start(replace(spec, gentle=self.runs.spec.gentle, full_load=self.runs.spec.full_load))
        elif busy is None:
            self._start(spec)
        else:
            self._start_after_check(spec, busy)

    @work(group="start", exclusive=True)
    async def _start_after_check(self, spec: RunSpec, busy: Callable[[], str]) -> None:
        """Run on a host that others leave idle, else as the user or the configuration says."""
        excess = await asyncio.to_thread(busy)
        probes = [self.registry.probes[name].manifest for name in spec.probes]
        gentle_probes = [probe for probe in probes if probe.gentle is not None]
        # What loads one CPU and a small part of the memory has no limit to keep in a gentle run.
        is_slight = bool(probes) and all(
            probe in gentle_probes and _SLIGHT.issuperset(probe.hazards) for probe in probes
        )
        if not excess:
            self._start(spec)
        elif self._busy == "gentle" or is_slight:
            key = first_key_of("app.gentle", self.keys)
            self.notify(f"This host is busy ({excess}): measuring gently, {WAITS}; {key}: full load", markup=False)
            self._start(replace(spec, gentle=Gentle()))
        else:
            from sizeup.tui.dialogs import BusyDialog, ask_which

            gentle, full = replace(spec, gentle=Gentle()), replace(spec, full_load=True)
            question = f"This host is busy: {excess}. A run at full load can slow down what runs here."
            answers = [("gentle", f"Gently: one CPU, {Gentle()}, {WAITS}"), ("full", "Full load"), ("no", "Cancel")]
            if probes and not gentle_probes:
                answers = answers[:0:-1]
            ways = {"gentle": partial(self._start, gentle), "full": partial(self._start, full)}
            ask_which(self, BusyDialog(question, answers), ways)

    def action_gentle(self) -> None:
        """Switch between gentle runs and runs at full load."""
        self.gentle = not self.gentle
        self.notify(f"The next runs measure {f'gently: {Gentle()}' if self.gentle else 'at full load'}", markup=False)

    def _start(self, spec: RunSpec) -> None:
        """Start a run; where another console's run is in progress, after a question."""

        def start() -> None:
            if not self.runs.start(spec):
                remedy = f"; {first_key_of('run.cancel', self.keys)} removes it" if spec.probes else ""
                what = ", ".join(spec.probes) or spec.plan
                self.notify(f"{what} is queued until the current run ends{remedy}", markup=False)
            self._watch()

        other = None
        if not self.runs.going_on:
            with suppress(OSError, SizeupError):  # a store that cannot be read holds no run that is known
                other = running_session(besides=self.runs.path)
        if other is None:
            start()
            return
        from sizeup.tui.dialogs import ChoiceDialog, ask_which

        # Two at once would measure each other.
        question = (
            f"A run is in progress in session {session_name(str(other))}. A second run at the same time disturbs both: "
            "their figures would not be valid."
        )
        answers = (("no", "Cancel"), ("yes", "Run both at the same time"))
        ask_which(self, ChoiceDialog(question, answers), {"yes": start})

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = self.set_interval(TICK_SECONDS, self._tick)

    def report_cost(self) -> None:
        """Have what this console cost so far recorded with the current run."""
        from sizeup.live.cost import ConsoleCost

        self._own_runs.report_cost(ConsoleCost(round(time.process_time(), 3), self.bytes_sent))

    def _tick(self) -> None:
        self.runs.poll()
        if self.runs is not self._own_runs:
            self._own_runs.poll()
        self._waited_ticks += 1
        session = self.runs.session
        stage = () if session is None else (len(session.plans), len(session.steps), len(session.outcomes))
        ends = session is not None and session.end is not None  # what its process does next, and is drawn with it
        waits = self.runs.going_on and self._waited_ticks < self._frame_ticks
        if self.link_busy or (waits and (ends or stage == self._stage)):
            return
        self._waited_ticks, self._stage = 0, stage
        if not self.runs.running and (session is None or session.end is not None or self.measures):
            if self._timer is not None:
                self._timer.stop()
            self._timer = None
        self._refresh_modes("show_run")
        # With each frame, and not when a step has ended: the run notes what it knows at that moment.
        self.report_cost()
        if self._timer is None:  # no run is disturbed; Python itself waits for garbage of a quarter of all that is kept
            cached_cell_len.cache_clear()  # Rich would hold 4,096 texts, of which those with figures never come again
            self.call_after_refresh(lambda: gc.collect())  # noqa: PLW0108  of a built-in function Textual parses the signature

    @property
    def _mode(self) -> Any:
        """The ``ModeScreen`` that is shown, which imports this module; None while a dialog is in front of it."""
        return self.screen if isinstance(self.screen, OnceStyledScreen) else None

    def _refresh_modes(self, method: str) -> None:
        """Tell the mode that is shown; the others catch up when they come back."""
        for screen in self.screen_stack if self.is_running else ():
            if isinstance(screen, OnceStyledScreen) and screen.is_mounted:
                getattr(screen, method)()

    def action_mode(self, mode: str) -> AwaitMount:
        """Show another mode; what lies above this one closes first."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        switched = self.switch_mode(mode)
        if mode == "measure" and self._mode.is_mounted:  # a new one has its first focus yet to come
            self._mode.leave_input()
        return switched

    def go(self, mode: str, target: str = "", action: str = "") -> None:
        """Show another mode, there the target, and do the action of that screen, before the next key is handled."""

        async def arrive() -> None:
            await self.action_mode(mode)
            if (screen := self._mode) is not None:
                screen.show_target(target)
                if action:
                    await self.run_action(action, default_namespace=screen)

        self.call_later(arrive)

    def show_session(self, path: str) -> None:
        """Show a saved session in all modes instead of this machine; the current run continues in the background."""
        if path == self._own_runs.path:
            self.show_live()
            return
        runs = Runs(path)
        try:
            runs.follow()
            if runs.session is None:
                raise UsageError(f"{path}: cannot open the session: it is empty, or has gone")
        except SizeupError as error:
            runs.close()
            self.notify(str(error), severity="error", markup=False)
            return
        self._leave_session()
        self.runs, self.measures = runs, False
        self.set_machine(None if runs.session is None else runs.session.machine)
        self._watch()
        self.action_mode("summary")

    def show_live(self) -> None:
        """Show this machine again."""
        self._leave_session()
        self.runs, self.measures = self._own_runs, self._own_measures
        self.set_machine(self._own_machine)
        self.action_mode("summary")

    def action_new_session(self) -> None:
        """Put the next runs into a session of their own, so that they can be compared with those before."""
        words = "a run is in progress: wait for it, or cancel it first"
        if self._own_runs.leave_session():
            self.show_live()
            words = "The next runs go into a new session; c compares it with an earlier one"
        self.notify(words, markup=False)

    def resume_session(self, path: str) -> None:
        """Run what a saved session is missing."""
        if not self._own_measures:
            self.notify("runs cannot be started from this console", severity="warning", markup=False)
        elif not self.typed.resume(path):
            self.notify("a run is in progress: wait for it, or cancel it first", severity="warning", markup=False)
        else:
            self.show_live()
            self._watch()

    def _leave_session(self) -> None:
        if self.runs is not self._own_runs:
            self.runs.close()

    def action_help(self) -> None:
        """Show the keys that hold here."""
        if self._mode is not None:
            scopes = [self._mode.SCOPE, "app", "list", "tree", "chart"]
            from sizeup.tui.dialogs import HelpDialog

            self.push_screen(HelpDialog(scopes, self.keys))

    def action_copy(self) -> None:
        """Copy the screen as text by OSC 52, and keep it in a file: many terminals ignore OSC 52 silently."""
        text = plain(self.screen_text) if self.glyphs is Glyphs.ASCII else self.screen_text
        self.copy_to_clipboard(text)
        self._save("txt", text, "; also copied to the clipboard, if the terminal allows it" if self.copies else "")

    def action_picture(self) -> None:
        """Write the screen as SVG."""
        self._save("svg", without_web_fonts(self.export_screenshot(title="sizeup")))

    def _save(self, ending: str, content: str, note: str = "") -> None:
        """Write what is shown into a file; ``note`` is shown with its name."""
        if self.readonly:
            self.notify(f"read-only: no file is written{note}", severity="warning", markup=False)
            return
        from sizeup import files
        from sizeup.report import output

        try:
            name = f"sizeup-{self.current_mode}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
            path = files.free_path(output.current_folder(), name, f".{ending}")
            output.write(path, lambda file: file.write(content.encode()), advice="")
        except SizeupError as error:
            self.notify(f"{error}{note}", severity="error", markup=False)
            return
        self.notify(f"Wrote {path}{note}", markup=False)

    def action_leave(self) -> None:
        """Leave; ask once where typed inputs would be lost or a run goes on."""
        unsaved, running = self.typed.unsaved(), self._own_runs.running
        if not unsaved and not running:
            self._answered("quit")
            return
        from sizeup.tui.dialogs import ChoiceDialog

        problem = self.typed.why_unsaveable(unsaved)
        question = "\n\n".join(filter(None, ("A run is in progress." * running, self._question(unsaved, problem))))
        if not running:
            answers = [("save", "Save and quit"), ("quit", "Quit without saving"), ("stay", "Stay")]
            answers = answers[:0:-1] if problem else answers
        elif not unsaved:
            answers = [("stay", "Stay"), *_RUN_ANSWERS]
        else:
            answers = [("stay", "Stay"), *(_INPUT_ANSWERS[2:] if problem else _INPUT_ANSWERS)]
        self.push_screen(ChoiceDialog(question, answers, title="Quit"), self._answered)

    def _question(self, unsaved: list[str], problem: str) -> str:
        """Return which inputs would be lost, and how to repeat them where they cannot be saved."""
        if not unsaved:
            return ""
        question = f"Inputs entered in the console are not saved: {self.typed.names(unsaved) or 'removed inputs'}."
        if problem:
            question = f"{question}\n\n! They cannot be saved. {problem}"
            if commands := self.typed.commands(unsaved):
                question = "\n".join((f"{question}\n\nThese commands repeat them:", *commands))
        return question

    def _answered(self, answer: str | None) -> None:
        """Save where that was chosen, and then leave."""
        if answer in (None, "stay"):
            return
        save, _, then = ("save quit" if answer == "save" else answer).rpartition(" ")
        if save:
            self._save_and_leave(then)
        else:
            self._leave_run(then)

    @work(exclusive=True)
    async def _save_and_leave(self, then: str) -> None:
        if await self.save_inputs():
            self._leave_run(then)

    def _leave_run(self, then: str) -> None:
        """Leave, and keep or cancel the run, which may have ended meanwhile."""
        runs = self._own_runs
        self.report_cost()
        if not runs.running:
            self._end(saved_text(runs.path) if runs.session is not None else "")
        elif then == "keep":
            runs.keep()
            runs.release()
            self._end(f"The run continues and writes {runs.path}\nReattach with: sizeup session follow {runs.path}")
        else:
            runs.cancel()
            runs.wait(_CANCEL_SECONDS)
            self._end(f"Canceled. {saved_text(runs.path, missing=True)}")

    def _end(self, message: str, status: ExitStatus = ExitStatus.OK) -> None:
        self.exit_message = "\n".join(filter(None, (message, unsaved_text(self.typed))))
        self.exit(status)

    def action_interrupt(self) -> None:
        """Leave on the second press; the first shows a hint."""
        runs = self._own_runs
        before, self._interrupted = self._interrupted, time.monotonic()
        if self._interrupted - before < _AGAIN_SECONDS:
            self.report_cost()
            runs.cancel()
            runs.wait(_CANCEL_SECONDS)
            missing = runs.session is not None and bool(runs.session.missing_steps)
            saved = "" if runs.session is None else saved_text(runs.path, missing=missing)
            self._end(saved, ExitStatus.INTERRUPTED)
            return
        self.notify(f"Press ^c again to {'cancel the run and quit' if runs.running else 'quit'}.", markup=False)

    def commands(self) -> Iterable[ConsoleCommand]:
        """The actions that hold here, those of the other screens, and the themes that can be shown."""
        from sizeup.tui.dialogs import ConsoleCommand  # which the start does without

        base = self._mode
        if base is None:  # a dialog has its own keys
            return
        values = {
            "app.latest": self.offered.name,
            "app.gentle": "gentle now" if self.gentle else "full load now",
            **base.command_values(),
        }
        others = [mode for mode in MODES if mode != base.SCOPE]
        for scope in (base.SCOPE, "app", *others):
            run = partial(self.go, scope, "") if scope in others else partial(self.run_action, default_namespace=base)
            for action in ACTIONS[scope]:
                if action.palette and (scope in others or action.id not in base.idle_actions()):
                    group = "Go to" if action.id.startswith("mode.") else SCOPES[scope]
                    key, value = first_key(action, self.keys), values.get(action.id, "")
                    yield ConsoleCommand(group, action.help.rstrip("."), value, key, partial(run, action.call))
        for probe in self.registry.probes.values() if self.measures else ():
            measure = partial(self.go, "measure", probe.name, "screen.run_probe")
            yield ConsoleCommand("Probes", f"Measure {probe.manifest.title}", probe.manifest.card, "", measure)
        few = 0 < colors(os.environ) <= 16
        for name in THEMES if not self.no_color else ():
            if textual_name(name) != self.theme and not (few and name in SIXTEEN_COLORS):
                kept = f"to keep it: --theme {name}"
                yield ConsoleCommand("Theme", f"Draw in the {name} theme", kept, "", partial(self._draw_in, name))

    def _draw_in(self, name: str) -> None:
        self.theme = textual_name(name)
        self._refresh_modes("show_all")  # some texts bear colors of their own

    def action_command_palette(self) -> None:
        """Offer every command by name."""
        from sizeup.tui.dialogs import CommandDialog, ask

        commands = list(self.commands())
        dialog = CommandDialog(commands)
        columns, rows = self.size
        dialog.set_class(self._frame_ticks > 3 or columns * rows > _DIMMED_CELLS, "-undimmed")
        ask(self, dialog, lambda chosen: self.call_next(commands[int(chosen)].run))

    def on_key(self, event: Any) -> None:
        """Escape leaves an input."""
        if event.key == "escape" and self._mode is not None:
            from textual.widgets import Input

            if isinstance(self.focused, Input):
                self._mode.leave_input()


def without_web_fonts(picture: str) -> str:
    """Return Textual's picture without the fonts that it would fetch from the network."""
    local = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return local.replace("Fira Code", "DejaVu Sans Mono")
