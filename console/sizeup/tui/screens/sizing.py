"""What this machine should carry, and what it would if it were another one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
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
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.inputs.presets import shipped_presets
from sizeup.sizing.keys import KEYS, Value
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import tornado
from sizeup.sizing.session_advice import ShownAdvice, rules_text
from sizeup.text import plural
from sizeup.tui.actions import bindings
from sizeup.tui.screens.dialogs import ChoiceDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.pick import PickDialog
from sizeup.tui.screens.sizing_pages import licenses_page, preset_page
from sizeup.tui.screens.sizing_text import (
    NO_WORKLOAD,
    WORKLOAD_HELP,
    answer_options,
    input_options,
    working_line,
)
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.views.advice import FACTORS, advice_lines, tornado_chart, unmoved_chart
from sizeup.views.whatif import InputRow, effect, input_rows, stepped

_ANSWERS = "Answers"
_MOVES, _BACK = "Enter: factors", "Enter: working"
_CHANGED = "Answers, compared with the detected machine"


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
                yield KeyList(id="answers")
                with VerticalScroll(id="working-pane", can_focus=False):
                    yield Static(id="working", markup=False)
                yield ChartView(self.host.glyphs, id="tornado")

    def on_mount(self) -> None:
        """Show the answers; what is edited waits for its key."""
        self.query_one(Input).display = False
        inputs, answers = self.query_one("#inputs-pane"), self.query_one("#answers-pane")
        inputs.border_title, answers.border_title = "Inputs", _ANSWERS
        inputs.border_subtitle, answers.border_subtitle = "Enter edits a value", _MOVES
        super().on_mount()

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
        for name in ("#answers", "#inputs"):
            listed = self.query_one(name, KeyList)
            if target and any(option.id == target for option in listed.options):
                listed.highlighted = listed.get_option_index(target)
                listed.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Explain an input, or show the working of an answer."""
        if event.option_list.id == "inputs":
            self._explain_input(event.option_id)
        else:
            self._show_working()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Edit an input, also from what waits for it; for an answer, show what moves it most."""
        key = (event.option_id or "").removeprefix("? ")
        if event.option_list.id == "inputs" or key != event.option_id:
            self.show_target(key)
            self._edit(key)
        else:
            self.action_tornado()

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
        if self._take(key, value):
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
            self._take(key, value)

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

        offered = [(key.name, f"{key.name}: {key.help}") for key in KEYS.values()]
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
        """Put a published case beside this machine."""
        answers = [(name, f"{name}: {preset.title}") for name, preset in shipped_presets().items()]

        def answered(name: str | None) -> None:
            if name is not None and self._sizing is not None:
                self.app.push_screen(preset_page(name, self._sizing, self._page_width(), self._what_if()))

        self.app.push_screen(ChoiceDialog("Which published case?", answers), answered)

    def _page_width(self) -> int:
        return min(self.app.size.width, 130) - 6

    def _what_if(self) -> str:
        """That it is not the machine as found any more, or not what the session recorded."""
        recomputed = "" if self.host.saved_session is None else f", recomputed with {self._rules()}"
        return recomputed + (f", {plural(len(self._changed), 'input')} changed" if self._changed else "")

    def _rules(self) -> str:
        return "" if self._sizing is None else rules_text(self._sizing)

    def _machine(self) -> Machine:
        return Machine() if self.host.machine is None else self.host.machine

    def _take(self, key: str, value: Value) -> bool:
        """Size with another value; one that contradicts the others is refused."""
        changed = {**self._changed, key: value}
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
        shown.update(Text(f"! {words.removeprefix('what-if: ')}", style="bold"))
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
        self.query_one("#answers-pane").border_title = self._title()
        self._fill_answers()
        self._point_at_change()

    def _title(self) -> str:
        """What the answers are: current, recorded, recomputed, or changed."""
        saved = self.host.saved_session is not None
        if self._changed:
            return f"{_CHANGED}, recomputed" if saved else _CHANGED
        return f"{_ANSWERS}, {self._advice.mark or 'recorded'}" if saved and self._advice is not None else _ANSWERS

    def _label(self) -> str:
        """What must be known of the answers, in full."""
        return "" if self._changed or self._advice is None else self._advice.label

    def _point_at_change(self) -> None:
        """Put the cursor on what a change asks for or does, unless it is on such an answer."""
        answers = self.query_one("#answers", KeyList)
        moved = [f"? {key}" for key in sorted(self._asked)] + [key for key, effect in self._before.items() if effect]
        chosen = answers.highlighted_option
        if moved and self._changed and not (chosen is not None and chosen.id in moved):
            answers.highlighted = answers.get_option_index(moved[0])

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
        answers = self.query_one("#answers", KeyList)
        if self._sizing is None:
            return
        chosen = answers.highlighted_option
        changes = self._before if self._changed else {}
        options = answer_options(self._given, changes, self._asked, self._label(), _room(answers))
        answers.set_options(options)
        ids = [option.id for option in options]
        first = next((index for index, option in enumerate(options) if not option.disabled), None)
        answers.highlighted = ids.index(chosen.id) if chosen is not None and chosen.id in ids else first
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
        shown.update(f"{row.key}{found}: {row.help}\nFrom: {row.origin}")

    def _show_working(self) -> None:
        option = self.query_one("#answers", KeyList).highlighted_option
        if self._sizing is None or option is None:
            return
        advice = self._given.find(option.id or "")
        if option.id == NO_WORKLOAD:
            heading, *rest = WORKLOAD_HELP
        elif advice is None:
            question = next(item for item in self._given.questions if option.id == f"? {item.key}")
            heading, rest = "Not answered", [question.sentence(typed=True), "", "Enter goes to the input."]
        else:
            heading, *rest = advice_lines(advice, sources=True)
            if self._advice is not None and not self._changed and (old := self._advice.recorded_verdict(advice)):
                rest.insert(0, f"  Recorded: {old}")
        width = _room(self.query_one("#working-pane")) - 2  # its padding
        folded = Text("\n".join(working_line(line, width) for line in rest))
        self.query_one("#working", Static).update(Group(Text(hanging(heading, width, 0, 2), style="bold"), folded))
        self._show_tornado()

    def _show_tornado(self) -> None:
        chart, option = self.query_one(ChartView), self.query_one("#answers", KeyList).highlighted_option
        if not chart.display or self._sizing is None or option is None or option.id is None:
            return
        advice = self._sizing.find(option.id)
        if advice is None or advice.quantity is None:
            chart.show(unmoved_chart("Not answered" if advice is None else advice.title))
        else:
            drawn = tornado_chart(advice, tornado(self._sizing.inputs, advice.id, shipped()), FACTORS)
            chart.show(replace(drawn, title=drawn.title + self._what_if()) if self.host.saved_session else drawn)


def _room(pane: Widget) -> int:
    """Columns of a pane beside its scroll bar, which may come with the text that is folded."""
    return pane.outer_size.width - 1
