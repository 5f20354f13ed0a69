"""The form of a probe: a control for each setting, those that matter at once and the others on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Button, Collapsible, Static

from sizeup.probing.manifest import PLANS, Parameter, expectation
from sizeup.tui.run_form import RunForm, format_seconds, format_setting, label, value_label
from sizeup.tui.widgets.form_field import FormField
from sizeup.units import format_bytes

PLAN = "plan"
"""Name of the field that chooses the plan; no parameter has it."""
_PLAN_KEY, _RUN_KEY = "p", "r"


class AdvancedSettings(Collapsible):
    """Settings that are folded at first, below a line with their number."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "fold", show=False)]

    def __init__(self, settings: int) -> None:
        # An arrow would promise a list to choose from.
        title = f"Advanced ({settings})"
        super().__init__(title=title, collapsed_symbol="[+]", expanded_symbol="[-]", id="advanced")

    def action_fold(self) -> None:
        """Show the settings if they are hidden, and hide them if not."""
        self.collapsed = not self.collapsed


class RunFormView(Vertical):
    """The form of one probe with its button."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

    class RunPressed(Message):
        """The button was pressed."""

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
            yield FormField(PLAN, "Plan", self.form.plan, key=_PLAN_KEY, options=self._plans(), letters=self._letters())
        with Horizontal(classes="act"):
            yield Button("Run", id="run", compact=True, variant="primary")
            if advanced:
                yield AdvancedSettings(len(advanced))
        yield Static(id="hint", markup=False)

    def _letters(self) -> str:
        """Return the keys of the fields and that of the run, which also work in an open list."""
        return "".join(parameter.key for parameter in self.form.manifest.parameter) + _PLAN_KEY + _RUN_KEY

    def _plans(self) -> list[tuple[str, str]]:
        seconds = self._plan_seconds
        return [(f"{plan} {format_seconds(seconds[plan])}" if plan in seconds else plan, plan) for plan in PLANS]

    def _field(self, parameter: Parameter) -> FormField:
        form = self.form
        target = form.manifest.target
        field = FormField(
            parameter.name,
            label(parameter),
            form.text(parameter.name),
            key=parameter.key,
            options=self._options(parameter),
            parameter=parameter,
            wide=parameter.basic and parameter.type in ("path", "choice"),
            letters=self._letters(),
        )
        field.set_class(target is not None and parameter.name == target.setting, "target")
        return field

    def _options(self, parameter: Parameter) -> list[tuple[str, str]]:
        target = self.form.manifest.target
        if target is not None and parameter.name == target.setting:
            return list(self._targets)
        if parameter.type == "bool":
            return [("yes", "yes"), ("no", "no")]
        if parameter.choices:
            return [(value_label(parameter, choice), choice) for choice in parameter.choices]
        texts = [format_setting(parameter, value) for value in parameter.suggestions]
        sizes = parameter.type == "bytes"
        return [
            (format_bytes(value) if sizes and isinstance(value, int) else value_label(parameter, text), text)
            for value, text in zip(parameter.suggestions, texts, strict=True)
        ]

    def field(self, name: str) -> FormField | None:
        """The field of a setting; None while it is not shown."""
        return next((field for field in self.query(FormField) if field.setting == name), None)

    def open_field(self, name: str) -> None:
        """Show the form, and go to a field; its list opens where it has one."""
        self.display = True
        if (field := self.field(name)) is not None:
            field.open()

    def sync(self) -> None:
        """Show every value as the form has it now."""
        for field in self.query(FormField):
            if field.setting == PLAN:
                field.show(self.form.plan, unused=False)
            else:
                field.show(self.form.text(field.setting), unused=bool(self.form.unused(field.setting)))

    def show_estimate(self, seconds: float | None) -> None:
        """Say on the button how long the run takes."""
        if seconds != self._seconds and self.query(Button):
            self._seconds = seconds
            button = self.query_one(Button)
            button.label = "Run" if seconds is None else f"Run, about {format_seconds(seconds)}"
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
        for advanced in self.query(AdvancedSettings):
            await self._fill(advanced)
            advanced.collapsed = False

    def fold(self) -> None:
        """Leave the advanced settings folded."""
        for advanced in self.query(AdvancedSettings):
            advanced.collapsed = True

    async def _fill(self, advanced: AdvancedSettings) -> None:
        if advanced.query(FormField):
            return
        rows = [
            Vertical(self._field(parameter), Static(_hint(parameter), classes="help"))
            for parameter in self.form.manifest.parameter
            if not parameter.basic
        ]
        await advanced.query_one(Collapsible.Contents).mount(VerticalScroll(*rows, can_focus=False, classes="more"))
        self.sync()

    async def on_collapsible_expanded(self, event: Collapsible.Expanded) -> None:
        """Make the controls."""
        event.stop()
        for advanced in self.query(AdvancedSettings):
            await self._fill(advanced)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.RunPressed())

    @on(FormField.Pressed)
    def _pressed_in_list(self, event: FormField.Pressed) -> None:
        event.stop()
        if event.character == _RUN_KEY:
            self.post_message(self.RunPressed())
            return
        names = {parameter.key: parameter.name for parameter in self.form.manifest.parameter}
        self.open_field(PLAN if event.character == _PLAN_KEY else names.get(event.character, ""))

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
                field.type_again(event.text)
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
    return Text(f"{parameter.help}: {expectation(parameter)}{unit}", style="dim")
