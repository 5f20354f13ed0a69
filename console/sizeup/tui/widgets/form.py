"""The form of a probe: a control for each setting, those that matter at once and the others on request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Grid, Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.validation import ValidationResult, Validator
from textual.widgets import Button, Collapsible, Input, OptionList, Select, Static

from sizeup.errors import SizeupError
from sizeup.probing.manifest import Parameter
from sizeup.probing.planner import PLANS
from sizeup.probing.settings import expectation, parse_value
from sizeup.tui.run_form import RunForm, format_seconds, format_setting, label, value_label
from sizeup.units import format_bytes

_OTHER = "\0"
"""Of a list: what leads to a field in which any value can be typed."""
_EXAMPLE_PATH = "such as /u01/data"
PLAN = "plan"
"""Name of the field that chooses the plan; no parameter has it."""


class SettingValidator(Validator):
    """Takes what a parameter takes; nothing typed is its default."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self._parameter = parameter

    def validate(self, value: str) -> ValidationResult:
        """Say what is wrong with a value."""
        if not value.strip():
            return self.success()
        try:
            parse_value(self._parameter, value, label(self._parameter))
        except SizeupError as error:
            return self.failure(str(error))
        return self.success()


class SettingSelect(Select[str]):
    """A list whose first line, which says that nothing is chosen, is no choice."""

    begins_blank = False
    """Whether there is such a line."""

    def watch_expanded(self, expanded: bool) -> None:  # noqa: FBT001  Textual passes it so
        """Refuse the first line while the list is shown."""
        if expanded and self.begins_blank:
            self.query_one(OptionList).disable_option_at_index(0)


class FormField(Horizontal):
    """The name of a setting beside its control."""

    class Changed(Message):
        """Another value was chosen or typed; ``run`` is whether that was confirmed by Enter."""

        def __init__(self, name: str, text: str, *, run: bool = False) -> None:
            super().__init__()
            self.name = name
            self.text = text
            self.run = run

    class Wrong(Message):
        """What is typed cannot be taken; an empty problem is the end of it."""

        def __init__(self, problem: str) -> None:
            super().__init__()
            self.problem = problem

    def __init__(
        self,
        name: str,
        title: str,
        text: str,
        *,
        key: str = "",
        options: Sequence[tuple[str, str]] = (),
        parameter: Parameter | None = None,
        wide: bool = False,
    ) -> None:
        super().__init__(id=f"f-{name}", classes="wide" if wide else "short")
        self.setting = name
        self._title, self._key, self._text = title, key, text
        self._options = tuple(options)
        self._parameter = parameter
        self._begins_blank = not text
        self._offered: set[str] = set()
        """The values in the list as it stands."""

    def compose(self) -> ComposeResult:
        """The key that changes it, its name, and a list or a field."""
        words = Text(no_wrap=True)
        if self._key:
            words.append(self._key, "reverse bold")
            words.append(" ")
        words.append(f"{self._title} ")
        yield Static(words, classes="label")
        if self._options:
            select = SettingSelect(
                self._listed(self._text),
                value=self._text or Select.NULL,
                allow_blank=self._begins_blank,
                prompt=f"choose a {self._title.lower()}",
                compact=True,
            )
            select.begins_blank = self._begins_blank
            yield select
        validators = [] if self._parameter is None else [SettingValidator(self._parameter)]
        is_path = self._parameter is not None and self._parameter.type == "path"
        field = Input(
            self._text,
            placeholder=_EXAMPLE_PATH if is_path else "",
            compact=True,
            validators=validators,
            validate_on=["changed"],
        )
        field.cursor_blink = False  # an idle screen sends nothing
        field.display = not self._options
        yield field

    def _listed(self, text: str) -> list[tuple[Text, str]]:
        listed = [(Text(shown), value) for shown, value in self._options]
        if text and text not in {value for _, value in self._options}:
            listed.append((Text(text), text))
        if self._parameter is not None and self._parameter.type != "choice" and self._parameter.type != "bool":
            listed.append((Text("other ..."), _OTHER))
        self._offered = {value for _, value in listed}
        return listed

    @property
    def control(self) -> Select[str] | Input:
        """What has the focus here."""
        selects = [select for select in self.query(Select) if select.display]
        return selects[0] if selects else self.query_one(Input)

    def open(self) -> None:
        """Give the control the focus; a list opens."""
        self._show_list()
        control = self.control
        control.focus()
        if isinstance(control, Select):
            control.action_show_overlay()
            overlay = control.query_one(OptionList)
            if control.is_blank() and overlay.option_count > 1:
                overlay.highlighted = 1  # behind the words that nothing is chosen

    def show(self, text: str, *, unused: bool) -> None:
        """Show another value, which was not chosen here; ``unused`` is whether it has no effect."""
        self.set_class(unused, "-unused")
        if not self.is_mounted or not self.query(Input):
            self._text = text
            return
        field = self.query_one(Input)
        for select in self.query(Select):
            with select.prevent(Select.Changed):
                if (text or Select.NULL) == select.value:
                    continue
                if text and text not in self._offered:
                    select.set_options(self._listed(text))
                if text or self._begins_blank:
                    select.value = text or Select.NULL
        if field.value != text and not field.has_focus:
            with field.prevent(Input.Changed):
                field.value = text
        self._text = text

    @on(Select.Changed)
    def _chosen(self, event: Select.Changed) -> None:
        event.stop()
        if event.value == _OTHER:
            event.select.display = False
            field = self.query_one(Input)
            field.display = True
            field.focus()
        elif isinstance(event.value, str) and event.value != self._text:
            self._text = event.value
            self.post_message(self.Changed(self.setting, event.value))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        result = event.validation_result
        problem = "; ".join(result.failure_descriptions) if result is not None and not result.is_valid else ""
        self.post_message(self.Wrong(problem))

    def _show_list(self) -> None:
        """Put the list back in place of the field for any value."""
        field = self.query_one(Input)
        for select in self.query(Select):
            if not select.display:
                select.display, field.display = True, False
                select.focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._show_list()
        self.post_message(self.Changed(self.setting, event.value, run=True))

    @on(Input.Blurred)
    def _left(self, event: Input.Blurred) -> None:
        event.stop()
        if event.value != self._text:
            self.post_message(self.Changed(self.setting, event.value))


class AdvancedSettings(Collapsible, inherit_css=False):
    """Settings that are folded at first.

    Without Textual's rules for it, one of which has all controls inside styled anew whenever the focus moves.
    """

    DEFAULT_CSS = """
    AdvancedSettings { width: 1fr; height: auto; }
    AdvancedSettings.-collapsed > Contents { display: none; }
    AdvancedSettings Contents { padding: 0; }
    """


class RunFormView(Vertical):
    """The form of one probe with its button."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

    class RunPressed(Message):
        """The button was pressed."""

    class PlanChosen(Message):
        """Another plan was chosen."""

        def __init__(self, plan: str) -> None:
            super().__init__()
            self.plan = plan

    def __init__(self, form: RunForm, targets: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.form = form
        self._targets = tuple(targets)
        self._seconds: float | None = None
        self._said = "", False

    def compose(self) -> ComposeResult:
        """The controls that matter, the others folded, the button, and a line for what is wrong."""
        advanced = [parameter for parameter in self.form.manifest.parameter if not parameter.basic]
        with Grid(classes="basics"):
            for parameter in self.form.manifest.parameter:
                if parameter.basic:
                    yield self._field(parameter)
            yield FormField(PLAN, "Plan", self.form.plan, key="p", options=self._plans())
        with Horizontal(classes="act"):
            yield Button("Run", id="run", compact=True, variant="primary")
            if advanced:
                yield AdvancedSettings(title=f"Advanced ({len(advanced)})", id="advanced")
        yield Static(id="hint", markup=False)

    def _plans(self) -> list[tuple[str, str]]:
        seconds = self.form.manifest.estimated_seconds
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
            (
                format_bytes(value) if sizes and isinstance(value, int) else value_label(parameter, text),
                text,
            )
            for value, text in zip(parameter.suggestions, texts, strict=True)
        ]

    def field(self, name: str) -> FormField | None:
        """The field of a setting; None while it is not shown."""
        return next((field for field in self.query(FormField) if field.setting == name), None)

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

    async def unfold(self, *, toggle: bool = False) -> None:
        """Show the advanced settings; their controls are made when they are first looked at."""
        for advanced in self.query(AdvancedSettings):
            await self._fill(advanced)
            advanced.collapsed = not advanced.collapsed if toggle else False

    async def _fill(self, advanced: Collapsible) -> None:
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
        await self._fill(event.collapsible)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.RunPressed())

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
        self.change(event.name, event.text, run=event.run)

    def change(self, name: str, text: str, *, run: bool = False, told: bool = False) -> None:
        """Take a value, or say why not; ``run`` is whether the run is wanted with it, ``told`` to say the value too."""
        change = self.form.change(name, text)
        self.sync()
        taken = f"{label(self.form.parameter(name))} is now {self.form.shown(name)}" if told else ""
        words = change.problem or "; ".join(filter(None, (taken, change.note)))
        self.say(words, wrong=bool(change.problem))
        self.post_message(self.Edited(run=run and not change.problem))

    class Edited(Message):
        """A value was changed or refused; ``run`` is whether the run is wanted with it."""

        def __init__(self, *, run: bool) -> None:
            super().__init__()
            self.run = run


def _hint(parameter: Parameter) -> Text:
    unit = f", {parameter.unit}" if parameter.unit and parameter.type not in ("bytes", "seconds") else ""
    return Text(f"{parameter.help}: {expectation(parameter)}{unit}", style="dim")
