"""The forms of the probes, the ways to their fields, and how long a run takes that they describe."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.validation import ValidationResult, Validator
from textual.widget import Widget
from textual.widgets import Button, Input, Select, Static
from textual.widgets.select import NoSelection

from sizeup.errors import SizeupError
from sizeup.probing.manifest import PLANS, Parameter, expectation, parse_value
from sizeup.probing.registry import RegisteredProbe
from sizeup.session.value import StepRun
from sizeup.tui.console import ConsoleApp
from sizeup.tui.dialogs import PickDialog, ask
from sizeup.tui.run_form import RunForm, entered, format_seconds, format_setting, label, value_label
from sizeup.tui.screens.write_confirmation import estimated_seconds, file_size, unfit_target
from sizeup.tui.widgets.lists import KeyList

PLAN = "plan"
"""Name of the field that chooses the plan; no parameter has it."""


class SettingValidator(Validator):
    """Accepts the values that the parameter accepts; an empty field means its default."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self._parameter = parameter

    def validate(self, value: str) -> ValidationResult:
        """Return success, or a failure with the reason."""
        try:
            if value.strip():
                parse_value(self._parameter, entered(self._parameter, value), label(self._parameter))
        except SizeupError as error:
            return self.failure(str(error))
        return self.success()


class SettingInput(Input):
    """A field for a number, a size or a name; up and down go through the values that are suggested."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "suggest(-1)", show=False),
        Binding("down", "suggest(1)", show=False),
    ]

    def __init__(self, parameter: Parameter, text: str) -> None:
        self._suggested = [value_label(parameter, format_setting(parameter, one)) for one in parameter.suggestions]
        super().__init__(
            text,
            placeholder="such as /u01/data" if parameter.type == "path" else "",
            suggester=SuggestFromList(self._suggested, case_sensitive=False),
            validators=[SettingValidator(parameter)],
            validate_on=["changed"],
            compact=True,
        )
        self.cursor_blink = False  # an idle screen sends nothing

    def action_suggest(self, step: int) -> None:
        """Put the next suggested value in place of this one, or the one before."""
        if self._suggested:
            at = self._suggested.index(self.value) + step if self.value in self._suggested else 0
            self.value = self._suggested[min(max(at, 0), len(self._suggested) - 1)]


class FormField(Horizontal):
    """The name of a setting beside its control."""

    @dataclass
    class Changed(Message):
        """Another value was chosen or typed; ``run`` is whether that was confirmed by Enter."""

        name: str
        text: str
        run: bool = False

    @dataclass
    class Wrong(Message):
        """The typed value is refused; an empty problem means that it is valid again."""

        problem: str

    def __init__(self, name: str, title: str, key: str, control: Select[str] | SettingInput, classes: str) -> None:
        super().__init__(id=f"f-{name}", classes=classes)
        self.setting = name
        self.control = control
        """What has the focus here."""
        self._title, self._key = title, key
        self.text = "" if isinstance(control.value, NoSelection) else control.value
        """The value that holds, as it is shown."""
        self._came_from: Widget | None = None
        """What had the focus when a key opened the list; it gets it back."""

    def compose(self) -> ComposeResult:
        """The key that changes it, its name, and its control."""
        key = ((self._key, "bold $acc"), " ") if self._key else ()
        yield Static(Content.assemble(*key, (f"{self._title} ", "$dim")), classes="label")
        yield self.control

    def open(self) -> None:
        """Give the control the focus; a list opens, and when it closes the focus goes back."""
        came_from = self.screen.focused
        self.control.focus()
        if isinstance(self.control, Select):
            self._came_from = came_from
            self.control.action_show_overlay()

    def show(self, text: str, *, unused: bool) -> None:
        """Show another value, which was not chosen here; ``unused`` is whether it has no effect."""
        self.set_class(unused, "-unused")
        self.text, control = text, self.control
        with control.prevent(Select.Changed, Input.Changed):
            if isinstance(control, Select):
                control.value = text or Select.NULL
            elif not control.has_focus:
                control.value = text

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        event.stop()
        if isinstance(event.value, str) and event.value != self.text:
            self.text = event.value
            self.post_message(self.Changed(self.setting, event.value))

    def on_descendant_blur(self) -> None:
        """Forget where the focus came from once it goes elsewhere."""
        if (focused := self.screen.focused) is None or self not in focused.ancestors:
            self._came_from = None

    def on_descendant_focus(self) -> None:
        """Give the focus back to where it was when a key opened the list, which has closed."""
        if self._came_from is not None and isinstance(self.control, Select) and not self.control.expanded:
            self._came_from.focus()
            self._came_from = None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        result = event.validation_result
        problem = "; ".join(result.failure_descriptions) if result is not None and not result.is_valid else ""
        self.post_message(self.Wrong(problem))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Changed(self.setting, event.value, run=True))

    @on(Input.Blurred)
    def _left(self, event: Input.Blurred) -> None:
        event.stop()
        if event.value != self.text:
            self.post_message(self.Changed(self.setting, event.value))

    def on_key(self, event: Key) -> None:
        """Escape forgets what was typed: the value from before holds."""
        if event.key == "escape" and isinstance(self.control, Input):
            with self.control.prevent(Input.Changed):
                self.control.value = self.text
            self.post_message(self.Wrong(""))


class TargetDialog(PickDialog):
    """What can be measured here; any other target is typed."""

    KEYS = (("Enter", "Take, measure"), ("Down", "Choose"), ("Esc", "Close"))
    NO_MATCH = "Enter measures what was typed."

    def fill(self, text: str) -> None:
        """Narrow the list, with the cursor on nothing while a path is typed."""
        super().fill(text)
        if "/" in text:
            self.query_one(KeyList).highlighted = None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed where the cursor is on nothing."""
        if self.query_one(KeyList).highlighted is None:
            self.dismiss(event.value.strip())


class AdvancedButton(Button):
    """Shows and hides the advanced settings, below a line with their number."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "press", show=False)]

    def __init__(self, settings: int) -> None:
        super().__init__(id="advanced", compact=True)
        self.active_effect_duration = 0  # meanwhile a button takes no key
        self._settings = settings
        self.show(folded=True)

    def show(self, *, folded: bool) -> None:
        """Say what it does; an arrow would promise a list to choose from."""
        self.label = Content(f"[{'+' if folded else '-'}] Advanced ({self._settings})")


class RunFormView(Vertical):
    """The form of one probe with its button."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

    @dataclass
    class PlanChosen(Message):
        """Another plan was chosen."""

        plan: str

    @dataclass
    class Edited(Message):
        """A value was changed or refused; ``run`` is whether the run is wanted with it."""

        run: bool

    def __init__(
        self,
        form: RunForm,
        targets: Sequence[tuple[str, str]],
        plan_seconds: Mapping[str, float],
        refusal: Callable[[Mapping[str, str]], str] = lambda _: "",
    ) -> None:
        super().__init__()
        self.form = form
        self._plan_seconds = plan_seconds
        self._targets = tuple(targets)
        self._refusal = refusal
        """Returns why a target cannot be measured; empty where it can."""
        self._seconds: float | None = None
        self._said = "", False

    def compose(self) -> ComposeResult:
        """The controls that matter, the others folded, the button, and a line for what is wrong."""
        advanced = [parameter for parameter in self.form.manifest.parameter if not parameter.basic]
        with Grid(classes="basics"):
            for parameter in self.form.manifest.parameter:
                if parameter.basic:
                    yield self._field(parameter)
            seconds = self._plan_seconds
            plans = [(f"{plan} {format_seconds(seconds[plan])}" if plan in seconds else plan, plan) for plan in PLANS]
            select = Select(plans, value=self.form.plan, allow_blank=False, compact=True)
            yield FormField(PLAN, "Plan", "p", select, "short")
        with Vertical(classes="act"), Horizontal():
            yield Button("Measure", id="run", compact=True, variant="primary", action="screen.run_probe")
            if advanced:
                yield AdvancedButton(len(advanced))
        yield Static(id="hint", markup=False)

    def _field(self, parameter: Parameter) -> FormField:
        text, title = self.form.text(parameter.name), label(parameter)
        choices = ("yes", "no") if parameter.type == "bool" else parameter.choices
        control: Select[str] | SettingInput
        if choices:
            options = [(Text(value_label(parameter, choice)), choice) for choice in choices]
            prompt = f"choose a {title.lower()}"
            control = Select(options, value=text or Select.NULL, allow_blank=not text, prompt=prompt, compact=True)
        else:
            control = SettingInput(parameter, value_label(parameter, text))
        wide = parameter.basic and parameter.type in ("path", "choice")
        return FormField(parameter.name, title, parameter.key, control, "wide" if wide else "short")

    def field(self, name: str) -> FormField | None:
        """The field of a setting; None while it is not shown."""
        return next((field for field in self.query(FormField) if field.setting == name), None)

    def open_field(self, name: str, *, measures: bool = False) -> None:
        """Show the form, and go to a field; its list opens where it has one, and that of the targets as a dialog.

        ``measures`` is whether a run waits for the value: the dialog says what it creates.
        """
        self.display = True
        field, target = self.field(name), self.form.manifest.target
        if field is not None and target is not None and name == target.setting and self._targets:
            offered = [(path, line) for line, path in self._targets]

            def taken(path: str) -> None:
                self._changed(FormField.Changed(name, path, run=path not in dict(offered)))

            title = label(self.form.parameter(name))
            if measures:
                size = file_size(self.form.manifest, self.form.texts)
                title = f"Measure where? In a directory: a temporary file{size and f' of {size}'}"
            ask(self.app, TargetDialog(title, offered), taken)
        elif field is not None:
            field.open()

    def sync(self) -> None:
        """Show every value as the form has it now; a field that is still being made shows it once it is there."""
        for field in self.query(FormField):
            if not field.is_mounted:
                continue
            if field.setting == PLAN:
                field.show(self.form.plan, unused=False)
            else:
                parameter, text = self.form.parameter(field.setting), self.form.text(field.setting)
                shown = text if isinstance(field.control, Select) else value_label(parameter, text)
                field.show(shown, unused=bool(self.form.unused(field.setting)))

    def show_estimate(self, seconds: float | None) -> None:
        """Say on the button how long the run takes."""
        if seconds != self._seconds and self.query(Button):
            self._seconds = seconds
            button = self.query_one("#run", Button)
            button.label = "Measure" if seconds is None else f"Measure, about {format_seconds(seconds)}"
            button.refresh(layout=True)

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Show a line below the controls, or none."""
        if (text, wrong) == self._said or not self.is_mounted:
            return
        self._said = text, wrong
        hint = self.query_one("#hint", Static)
        hint.update(f"! {text}" if wrong and text else text)
        hint.set_class(wrong, "-wrong")
        hint.display = bool(text)

    async def unfold(self) -> None:
        """Show the advanced settings; their controls are made when they are first looked at."""
        advanced = [parameter for parameter in self.form.manifest.parameter if not parameter.basic]
        if advanced and not self.query(".more"):
            rows = [Vertical(self._field(one), Static(_hint(one), classes="help")) for one in advanced]
            await self.query_one(".act").mount(VerticalScroll(*rows, can_focus=False, classes="more"))
            self.sync()
        self.fold(folded=False)

    def fold(self, *, folded: bool = True) -> None:
        """Leave the advanced settings folded, or show those that were made."""
        for button in self.query(AdvancedButton):
            button.show(folded=folded)
        self.query(".more").set(display=not folded)

    @on(Button.Pressed)
    async def _fold_or_unfold(self, event: Button.Pressed) -> None:
        event.stop()
        if any(more.display for more in self.query(".more")):
            self.fold()
        else:
            await self.unfold()

    @on(FormField.Wrong)
    def _wrong(self, event: FormField.Wrong) -> None:
        event.stop()
        self.say(event.problem, wrong=bool(event.problem))

    @on(FormField.Changed)
    def _changed(self, event: FormField.Changed) -> None:
        event.stop()
        if event.name == PLAN:
            self.post_message(self.PlanChosen(event.text))
            return
        target = self.form.manifest.target
        is_target = target is not None and event.name == target.setting
        if is_target and (problem := self._refusal({event.name: event.text.strip()})):
            self.sync()
            self.say(problem, wrong=True)
            field = self.field(event.name)
            if event.run and field is not None:
                with field.control.prevent(Input.Changed):
                    field.control.value = event.text
                field.control.focus()
            return
        self.change(event.name, event.text, run=event.run)

    def change(self, name: str, text: str, *, run: bool = False) -> None:
        """Take a value, or say why not; ``run`` is whether the run is wanted with it."""
        change = self.form.change(name, text)
        self.sync()
        self.say(change.problem or change.note, wrong=bool(change.problem))
        self.post_message(self.Edited(run=run and not change.problem))


def _hint(parameter: Parameter) -> Text:
    unit = f", {parameter.unit}" if parameter.unit and parameter.type not in ("bytes", "seconds") else ""
    takes = "" if parameter.type == "str" else f": {expectation(parameter)}{unit}"  # any text
    return Text(f"{parameter.help}{takes}", style="dim")


class PlannedSeconds:
    """Plans each probe once for each of its plans; the manifest's time is for any machine."""

    def __init__(self, host: ConsoleApp) -> None:
        self._host = host
        self._machine = host.machine
        self._known: dict[tuple[str, str], float | None] = {}

    def of(self, probe: RegisteredProbe, plan: str) -> float | None:
        """Return how long a probe takes in a plan with its defaults; None where the plan does not include it."""
        typical = probe.manifest.estimated_seconds.get(plan)
        return None if typical is None else self.of_form(probe, RunForm(probe.manifest, plan))

    def of_form(self, probe: RegisteredProbe, form: RunForm) -> float | None:
        """Return how long a run takes that a form describes; the manifest's time where it cannot be planned."""
        typical = probe.manifest.estimated_seconds.get(form.plan)
        machine = self._host.machine
        if machine is None or self._host.unmeasured:
            return typical
        if machine is not self._machine:
            self._machine = machine
            self._known.clear()
        key = probe.name, form.plan
        if form.typed or key not in self._known:
            planned = estimated_seconds(machine, self._host.registry, probe, form)
            if not form.typed:
                self._known[key] = planned
        else:
            planned = self._known[key]
        return typical if planned is None else float(f"{planned:.2g}")


class ProbeForms(Vertical):
    """Holds the values of every form, and the controls that were made so far: those of one probe are shown at most."""

    def __init__(self, host: ConsoleApp) -> None:
        super().__init__(id="forms")
        self._host = host
        self._seconds = PlannedSeconds(host)
        self.plan = PLANS[0]
        self._forms: dict[str, RunForm] = {}
        self._views: dict[str, RunFormView] = {}
        """The controls by probe."""
        self._target_of: dict[str, StepRun] = {}
        """The run by probe whose target was named last."""
        self._making = asyncio.Lock()

    def form_of(self, probe: RegisteredProbe) -> RunForm:
        """Return the values of a probe's form."""
        form = self._forms.get(probe.name)
        if form is None:
            form = self._forms[probe.name] = RunForm(probe.manifest, self.plan)
        if form.plan != self.plan:
            form.plan = self.plan
        return form

    def take_target(self, probe: RegisteredProbe, run: StepRun | None) -> None:
        """Name the target of a run that is shown, where it still exists and the form has none; once for each run."""
        target, form = probe.manifest.target, self.form_of(probe)
        if target is None or run is None or run is self._target_of.get(probe.name):
            return
        self._target_of[probe.name] = run
        path = str(run.step.settings.get(target.setting, ""))
        if not form.text(target.setting) and os.path.exists(path):
            form.change(target.setting, path)
            for view in self._views.values():
                view.sync()

    @property
    def shown(self) -> RunFormView | None:
        """The controls that are shown; None where none are."""
        return next((view for view in self._views.values() if view.display), None)

    async def view(self, probe: RegisteredProbe) -> RunFormView:
        """Return the controls of a probe, made when they are first needed."""
        async with self._making:
            view = self._views.get(probe.name)
            if view is None:
                plan_seconds = {plan: time for plan in PLANS if (time := self._seconds.of(probe, plan)) is not None}
                view = RunFormView(self.form_of(probe), self._targets(probe), plan_seconds, unfit_target)
                view.display = False
                await self.mount(view)
                self._views[probe.name] = view
        return view

    def _targets(self, probe: RegisteredProbe) -> list[tuple[str, str]]:
        """What the probe can measure of this machine, where it has a target."""
        if probe.manifest.target is None or probe.manifest.peer_setting or self._host.unmeasured:
            return []
        from sizeup.live.storage_targets import keeps_reserve, storage_targets
        from sizeup.tui.screens.mount_choice import remembered_mount

        found = {target.path: target.line for target in storage_targets(self._host.machine)}
        session = self._host.runs.session
        used = [str(run.step.settings.get("path", "")) for run in session.steps.values()] if session is not None else []
        recent = [path for path in (*reversed(used), remembered_mount() or "") if path and os.path.exists(path)]
        listed = {path: f"{path}  measured last" for path in recent}
        listed |= {**found, gettempdir(): found.get(gettempdir(), f"{gettempdir()}  temporary files")}
        return [(line, path) for path, line in listed.items() if path in found or keeps_reserve(path)]

    def show_estimate(self, probe: RegisteredProbe) -> None:
        """Say how long the run takes that the form describes now."""
        view = self.shown
        if view is not None and view.form is self._forms.get(probe.name):
            view.show_estimate(self._seconds.of_form(probe, view.form))

    def show(self, view: RunFormView | None) -> None:
        """Show these controls and no others."""
        for other in self._views.values():
            other.display = other is view

    def fold(self) -> None:
        """Leave the settings of the form that is shown folded, so that the status of a run stands right below it."""
        if self.shown is not None:
            self.shown.fold()

    def choose_plan(self, plan: str) -> None:
        """Fill all forms with the values of a plan."""
        self.plan = plan
        for view in self._views.values():
            view.form.plan = plan
            if view.display:
                view.sync()
