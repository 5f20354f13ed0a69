"""Demand, capacity and licenses of this machine, and what they would be with other inputs."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from sizeup.errors import SizeupError
from sizeup.model.advice import AdviceSet
from sizeup.model.machine import Machine
from sizeup.quantity import Origin
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.inputs.presets import shipped_presets
from sizeup.sizing.keys import KEYS
from sizeup.sizing.session_advice import ShownAdvice, rules_text
from sizeup.text import plural
from sizeup.tui.actions import bindings, first_key_of
from sizeup.tui.baseline_sessions import choices
from sizeup.tui.screens.dialogs import ChoiceDialog, TextDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.pick import PickDialog
from sizeup.tui.screens.sizing_pages import PREFIX, beside_page, factors_chart, licenses_page
from sizeup.tui.screens.sizing_text import ANSWERS, answers_title, by_keys, input_options, working_line, working_lines
from sizeup.tui.screens.workload_file import workload_inputs
from sizeup.tui.widgets.answers import AnswerTable
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.views.sizing_table import answer_rows
from sizeup.views.whatif import WORKLOAD_KEYS, InputRow, effect, input_label, input_rows, question_of, stepped

_MOVES, _BACK = "Enter: factors", "Enter: working"


class SizingScreen(ModeScreen):
    """Inputs on the left, answers on the right, the working of the chosen answer below."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "sizing"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sizing")]

    def __init__(self) -> None:
        super().__init__()
        self._changed: dict[str, Value] = {}
        self._added: dict[str, None] = {}
        """Inputs that the user wants to see, though nothing is known of them."""
        self._sizing: Sizing | None = None
        """What the inputs give by today's rules."""
        self._given = AdviceSet()
        """The answers that are shown: those of a saved session as it recorded them, until something is changed."""
        self._advice: ShownAdvice | None = None
        """The advice on the session or the machine, nothing changed."""
        self._rows: tuple[InputRow, ...] = ()
        self._editing = ""
        self._moving = False
        """Whether what moves the chosen answer has the place of its working."""
        self._sized: Machine | None = None
        self._measured: dict[str, Value] = {}
        self._before: dict[str, str] = {}
        """How each answer differs from that on the machine as found."""
        self._asked: set[str] = set()
        """What is asked for since something was changed."""

    def body(self) -> Iterable[Widget]:
        """Inputs, answers, working."""
        with Horizontal(id="body"):
            with Vertical(id="inputs-pane"):
                yield KeyList(id="inputs")
                yield Static(id="input-help", markup=False)
                yield Input(id="input-value", compact=True)
            with Vertical(id="answers-pane"):
                yield Static(id="answers-label", markup=False)
                yield AnswerTable(id="answers")
                with VerticalScroll(id="working-pane", can_focus=False):
                    yield Static(id="working", markup=False)
                yield ChartView(self.host.glyphs, id="tornado")

    def on_mount(self) -> None:
        """Show the answers; what is edited waits for its key."""
        self.query_one(Input).display = False
        inputs, answers = self.query_one("#inputs-pane"), self.query_one("#answers-pane")
        inputs.border_title, answers.border_title = "Inputs", ANSWERS
        inputs.border_subtitle, answers.border_subtitle = "~ assumed; Enter edits", _MOVES

    def show_machine(self) -> None:
        """Size the machine anew."""
        super().show_machine()
        # A dialog that closes brings the screen back too, and must not wipe what it put there.
        if self._sizing is None or self._sized is not self.host.machine or self._outdated():
            self._calculate()

    def show_run(self) -> None:
        """Take what a run has measured by now."""
        super().show_run()
        if self._sizing is not None and self._outdated():
            self._calculate()

    def _outdated(self) -> bool:
        return self._measured != self._known({}) or self._advice is not self.host.advice

    def idle_actions(self) -> Collection[str]:
        """Only the advice of a saved session can be recomputed: that of a machine is always current."""
        saved = self.host.saved_session
        return ("sizing.recompute",) if saved is None or saved.machine is None else ()

    def action_recompute(self) -> None:
        """Recompute the advice of a saved session, or show what it recorded again."""
        self.host.recompute_advice()

    def show_target(self, target: str) -> None:
        """Put the cursor on an answer, or on an input."""
        answers, inputs = self._answers, self.query_one("#inputs", KeyList)
        if answers.choose(target):
            answers.focus()
        elif target and any(option.id == target for option in inputs.options):
            inputs.highlighted = inputs.get_option_index(target)
            inputs.focus()

    @property
    def _answers(self) -> AnswerTable:
        return self.query_one("#answers", AnswerTable)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Explain an input."""
        self._explain_input(event.option_id)

    def on_data_table_row_highlighted(self, event: AnswerTable.RowHighlighted) -> None:
        """Show the working of an answer."""
        del event
        self._show_working()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Edit an input."""
        self._edit(event.option_id or "")

    def on_data_table_row_selected(self, event: AnswerTable.RowSelected) -> None:
        """Show what moves an answer most; from what is missing go to its input."""
        del event
        chosen = self._answers.chosen
        key = chosen.removeprefix("? ")
        if key != chosen:
            self.show_target(key)
            self._edit(key)
        elif chosen:
            self.action_tornado()

    def action_workload(self) -> None:
        """Go to the inputs that describe the workload."""
        chosen, known = self._chosen_input(), {} if self._sizing is None else self._sizing.inputs
        listed = [row.key for row in self._rows if row.question == question_of(WORKLOAD_KEYS[0])]
        first = [key for key in WORKLOAD_KEYS if key in known] or list(WORKLOAD_KEYS[:1])
        order = list(dict.fromkeys((*first, *listed)))
        self.show_target(order[(order.index(chosen) + 1) % len(order)] if chosen in order else order[0])

    def action_workload_file(self) -> None:
        """Ask for a file, and take the workload that it describes."""

        def answered(path: str | None) -> None:
            if path:
                self.run_worker(self._import(path), exclusive=True)

        question = "Workload file: AWR or Statspack (text, HTML), sar, iostat, vmstat, kSar's CSV, or TOML"
        self.app.push_screen(TextDialog(question, hint="Enter reads the file, Esc cancels."), answered)

    async def _import(self, path: str) -> None:
        try:
            values = await asyncio.to_thread(workload_inputs, path)
        except SizeupError as error:
            self._refuse(str(error))
            return
        if self._take(values):
            self.show_target(next(iter(values)))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the new value, or say what is wrong with it."""
        key = self._editing
        row = self._row(key)
        if row is not None and event.value.strip() == row.whole:
            self.leave_input()
            return
        try:
            value = KEYS[key].parse(event.value, Origin.USER, "what-if")
        except SizeupError as error:
            self._refuse(str(error))
            return
        if self._take({key: value}):
            self.leave_input()

    def leave_input(self) -> None:
        """Stop editing without a change."""
        field = self.query_one(Input)
        if field.display:
            field.display = False
            self.query_one("#inputs", KeyList).focus()
            self._explain_input(self._editing)

    def action_step(self, steps: int) -> None:
        """Move the chosen input up or down."""
        key = self._chosen_input()
        if key is None or self._sizing is None:
            return
        value = stepped(key, self._sizing.inputs.get(key), steps)
        if value is None:
            self._refuse(f"{key}: cannot be stepped from here; Enter edits a value")
        else:
            self._take({key: value})

    def action_reset(self) -> None:
        """Take back the change of the chosen input; where it has none, of all."""
        key = self._chosen_input()
        if key in self._changed:
            del self._changed[key]
        else:
            self._changed.clear()
            self._added.clear()
        self._calculate()

    def action_add(self) -> None:
        """Let any input be chosen, listed or not, and typed."""

        def answered(key: str | None) -> None:
            if key is not None:
                self._added[key] = None
                self._calculate()
                self.show_target(key)
                self._edit(key)

        offered = [(key.name, f"{input_label(key.name)}, {key.name}: {key.help}") for key in KEYS.values()]
        self.app.push_screen(PickDialog("Which input?", offered), answered)

    def action_tornado(self) -> None:
        """Show which input moves the chosen answer most, or its working again."""
        self._moving = not self._moving
        self.set_class(self._moving, "-tornado")
        self.query_one("#answers" if self._moving else "#inputs").focus()
        self.call_after_refresh(self._fill_answers)
        self.query_one("#answers-pane").border_subtitle = _BACK if self._moving else _MOVES

    def action_licenses(self) -> None:
        """Show every vendor's licenses for this machine."""
        if self._sizing is None:
            return
        self.app.push_screen(licenses_page(self._sizing, self._page_width(), self._what_if()))

    def action_presets(self) -> None:
        """Put a published case, or the machine of another session, beside this machine."""
        answers = [(f"{PREFIX}{name}", f"{name}: {preset.title}") for name, preset in shipped_presets().items()]
        try:
            answers += choices(self.host.runs.path)
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)

        def answered(name: str | None) -> None:
            if name is None or self._sizing is None:
                return
            try:
                page = beside_page(name, self._sizing, self._page_width(), self._what_if())
            except SizeupError as error:
                self.notify(str(error), severity="error", markup=False)
            else:
                self.app.push_screen(page)

        self.app.push_screen(ChoiceDialog("Which published case or session?", answers), answered)

    def _page_width(self) -> int:
        return min(self.app.size.width, 130) - 6

    def _what_if(self) -> str:
        """That it is not the machine as found any more, or not what the session recorded."""
        shown = None if self.host.saved_session is None else self._sizing
        recomputed = "" if shown is None else f", recomputed with {rules_text(shown)}"
        return recomputed + (f", {plural(len(self._changed), 'input')} changed" if self._changed else "")

    def _machine(self) -> Machine:
        return Machine() if self.host.machine is None else self.host.machine

    def _take(self, values: Mapping[str, Value]) -> bool:
        """Size with other values; those that contradict the rest are refused."""
        changed = {**self._changed, **values}
        try:
            size(described(self._machine(), self._known(changed)))
        except SizeupError as error:
            self._refuse(str(error))
            return False
        self._changed = changed
        self._calculate()
        return True

    def _refuse(self, words: str) -> None:
        shown = self.query_one("#input-help", Static)
        shown.update(Text(f"! {self._in_console(words.removeprefix('what-if: '))}", style="bold"))
        shown.add_class("-wrong")

    def _calculate(self) -> None:
        self._sizing = size(described(self._machine(), self._known(self._changed)))
        if self.host.saved_session is None:
            self.host.stated = dict(self._changed)
        self._sized = self.host.machine
        self._measured = self._known({})
        before = size(described(self._machine(), self._measured))
        self._rows = input_rows(self._sizing, self._changed, before.inputs, self._added)
        chosen = self._chosen_input()
        self._fill_inputs(chosen)
        self._asked = {item.key for item in self._sizing.questions} - {item.key for item in before.questions}
        self._before = {advice.id: effect(advice, before.find(advice.id)) for advice in self._sizing.advice}
        self._advice = self.host.advice
        recorded = None if self._changed or self.host.saved_session is None else self._advice
        self._given = self._sizing if recorded is None else recorded.given
        self.query_one("#answers-pane").border_title = answers_title(
            self._advice if self.host.saved_session is not None else None, changed=bool(self._changed)
        )
        self._fill_answers()
        self._point_at_change()

    def _label(self) -> str:
        """What must be known of the answers, in full."""
        return "" if self._changed or self._advice is None else self._advice.label

    def _point_at_change(self) -> None:
        """Put the cursor on what a change asks for or does, unless it is on such an answer."""
        ids = self._answers.ids
        moved = [name for name in ids if name.removeprefix("? ") in self._asked and name.startswith("? ")]
        moved = moved or [name for name in ids if self._before.get(name)]
        if moved and self._changed and self._answers.chosen not in moved:
            self._answers.choose(moved[0])

    def _fill_inputs(self, chosen: str | None) -> None:
        inputs = self.query_one("#inputs", KeyList)
        inputs.set_options(input_options(self._rows, _room(inputs)))
        if self._rows:
            known = {row.key for row in self._rows}
            inputs.highlighted = inputs.get_option_index(chosen if chosen in known else self._rows[0].key)

    def on_resize(self, event: events.Resize) -> None:
        """Fold all text anew once the panes have their new width."""
        del event
        self.call_after_refresh(self._fold)

    def _fold(self) -> None:
        self._fill_inputs(self._chosen_input())
        self._fill_answers()

    def _fill_answers(self) -> None:
        if self._sizing is None or not self._answers.size.width:
            return
        label = self.query_one("#answers-label", Static)
        label.display = bool(self._label())
        label.update(hanging(self._label(), _room(self._answers), 0, 2))
        self._answers.show(answer_rows(self._given, self._asked), self._before if self._changed else {})
        self._show_working()

    def _known(self, changed: dict[str, Value]) -> dict[str, Value]:
        """What was measured in the session, with what was changed in its place."""
        session = self.host.runs.session
        return changed if session is None else {**measured(session, changed), **changed}

    def _row(self, key: str | None) -> InputRow | None:
        return next((row for row in self._rows if row.key == key), None)

    def _chosen_input(self) -> str | None:
        option = self.query_one("#inputs", KeyList).highlighted_option
        return None if option is None else option.id

    def _edit(self, key: str) -> None:
        row = self._row(key)
        if row is None:
            return
        self._editing = key
        field = self.query_one(Input)
        field.value = row.whole
        field.display = True
        field.focus()

    def _explain_input(self, key: str | None) -> None:
        row = self._row(key)
        if row is None:
            return
        shown = self.query_one("#input-help", Static)
        shown.remove_class("-wrong")
        found = f" (detected: {row.found})" if row.found else ""
        shown.update(self._in_console(f"{row.key}{found}: {row.help}\nFrom: {row.origin}"))

    def _show_working(self) -> None:
        chosen = self._answers.chosen
        if self._sizing is None:
            return
        file_key = first_key_of("sizing.file", self.host.keys)
        heading, *rest = working_lines(self._given, chosen, None if self._changed else self._advice, file_key)
        width = _room(self.query_one("#working-pane")) - 2  # its padding
        folded = Text("\n".join(working_line(self._in_console(line), width) for line in rest))
        self.query_one("#working", Static).update(Group(Text(hanging(heading, width, 0, 2), style="bold"), folded))
        self._show_tornado()

    def _in_console(self, text: str) -> str:
        """A text with the keys of the console in place of options of the command line."""
        return by_keys(text, first_key_of("sizing.add", self.host.keys))

    def _show_tornado(self) -> None:
        chart, chosen = self.query_one(ChartView), self._answers.chosen
        if not chart.display or self._sizing is None or not chosen:
            return
        chart.show(factors_chart(self._sizing, chosen, self._what_if() if self.host.saved_session else ""))


def _room(pane: Widget) -> int:
    """Columns of a pane beside its scroll bar, which may come with the text that is folded."""
    return pane.outer_size.width - 1
