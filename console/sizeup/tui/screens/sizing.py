"""Demand, capacity and licenses of this machine, and what they would be with other inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import DataTable, Input, OptionList, Static

from sizeup.compare.published_results import PREFIX
from sizeup.errors import SizeupError
from sizeup.quantity import Words
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.presets import shipped_presets
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.table import rows
from sizeup.sizing.rules import shipped
from sizeup.sizing.verdict import RESOURCE_NAMES
from sizeup.text import cell_len
from sizeup.tui.actions import CURSOR_KEYS, bindings, by_keys, first_key_of, in_console
from sizeup.tui.baseline_sessions import choices
from sizeup.tui.dialogs import ChoiceDialog, PickDialog, ask
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.sizing_state import SizingState
from sizeup.tui.screens.sizing_text import (
    ANSWERS,
    comparison_page,
    cost_lines,
    factor_lines,
    factors_chart,
    input_options,
    licenses_page,
    share_lines,
    working_line,
    working_lines,
)
from sizeup.tui.screens.summary import BalanceView
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lines import frame_title
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.views.band import Band, NextStep
from sizeup.views.cards.balance import balance
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.sizing_table import AnswerRow, answer_rows
from sizeup.views.inputs.whatif import parse_typed, stepped
from sizeup.views.result.band import changed_band, summary_band
from sizeup.views.result.licenses import priced_at
from sizeup.views.result.summary import summary

_STATUSES = ("pass", "warn", "fail", "uncertain", "assumed")
"""Verdicts that have a color, which their words say as well."""
_PADDING = 1
_FULL, _SOME = 76, 62
"""Columns from which every column has room, and from which all but range and confidence do."""
_WIDE = 110
_HEADING = "group "


class AnswerTable(DataTable[Text], inherit_bindings=False):
    """Rows with a cursor; left and right are the screen's, as no cell is selected alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list"),
        Binding("enter", "select_cursor", show=False),
        *CURSOR_KEYS,
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"answers--{status}" for status in _STATUSES}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id, cursor_type="row", cell_padding=_PADDING, zebra_stripes=False)
        self._answers: tuple[AnswerRow, ...] = ()
        self._changes: Mapping[str, str] = {}

    @property
    def chosen(self) -> str:
        """Id of the answer under the cursor; empty on a heading."""
        if not self.row_count:
            return ""
        key = str(self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value)
        return "" if key.startswith(_HEADING) else key

    @property
    def ids(self) -> list[str]:
        """Ids of the answers from the top down."""
        return [row.id for row in self._answers]

    def choose(self, answer: str) -> bool:
        """Put the cursor on an answer; whether there is such an answer."""
        if answer not in self.ids:
            return False
        self.move_cursor(row=self.get_row_index(answer), animate=False)
        return True

    def show(self, rows: Sequence[AnswerRow], changes: Mapping[str, str]) -> None:
        """Show answers in place of the last, the cursor on the same one; ``changes`` says what a change did to each."""
        chosen, top = self.chosen, self.scroll_offset.y
        self._answers, self._changes = tuple(rows), changes
        self.clear(columns=True)
        widths = self._widths()
        for name, width in widths.items():
            self.add_column(name, width=width, key=name)
        group = ""
        for row in rows:
            if row.group != group:
                group = row.group
                blank = (Text("") for _ in range(len(widths) - 1))
                self.add_row(Text(group, style="bold"), *blank, key=f"{_HEADING}{group}")
            self.add_row(*(self._cell(row, name, width) for name, width in widths.items()), key=row.id)
        if not self.choose(chosen):
            self.choose(next(iter(self.ids), ""))
        self.scroll_to(y=top, animate=False)

    def _widths(self) -> dict[str, int]:
        """Return the columns that there is room for, with their widths."""
        columns = (self.size.width or _WIDE + 1) - 1  # the scroll bar
        fixed = {"Change": 9} if any(self._changes.values()) else {}
        longest = max((cell_len(row.value) for row in self._answers), default=0)
        fixed["Value"] = 16 if columns >= _WIDE else min(max(longest, 12), 16)
        if columns - 11 * len(fixed) + 11 >= _FULL:
            if any(row.range_ for row in self._answers):
                fixed["Range"] = 22 if columns >= _WIDE else 14
            if any(row.confidence for row in self._answers):
                fixed["Confidence"] = 10
        left = columns - sum(width + 2 * _PADDING for width in fixed.values())
        basis = {"Basis": max(left * 2 // 5, 14)} if columns >= _SOME else {}
        answer = max(left - sum(width + 2 * _PADDING for width in basis.values()) - 2 * _PADDING, 12)
        every = {"Answer": answer, **fixed, **basis}
        return {name: every[name] for name in _ORDER if name in every}

    def _cell(self, row: AnswerRow, column: str, width: int) -> Text:
        texts = {
            "Change": self._changes.get(row.id, ""),
            "Answer": row.title,
            "Value": row.value,
            "Range": row.range_,
            "Basis": row.basis,
            "Confidence": row.confidence,
        }
        text = Text(texts[column], no_wrap=True)
        if column == "Change" and texts["Change"]:
            text = Text(texts["Change"], style="bold", no_wrap=True)
        elif column == "Value" and row.status in _STATUSES:
            text.stylize(self.get_component_rich_style(f"answers--{row.status}", partial=True))
        text.truncate(width, overflow="ellipsis")
        return text

    def action_first(self) -> None:
        """Go to the first answer."""
        self.scroll_to(y=0, animate=False)
        self.choose(next(iter(self.ids), ""))

    def action_last(self) -> None:
        """Go to the last answer."""
        self.choose(next(reversed(self.ids), ""))


_ORDER = ("Change", "Answer", "Value", "Range", "Basis", "Confidence")


_HIGH = 30
"""Rows from which on factors and cost stand below the shares."""
_COST_FROM_ROW = 18
"""Rows of everything above the cost but for the shares and factors."""
_LEAST_WIDTH = 40
"""Columns from which on an input has a name, its ends and a bar."""
_LEAST_FACTORS = 8
"""Rows below the shares, both frames among them, with which factors are shown on a low screen."""
_FRAME = 4
_MOVES, _BACK = "Enter: factors", "Enter: working"
_INPUTS, _EDITING = "~ assumed; Enter edits", "Enter takes it, Esc leaves"


class SizingScreen(ModeScreen):
    """Inputs on the left, answers on the right, the working of the chosen answer below."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "sizing"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sizing")]

    def __init__(self) -> None:
        super().__init__()
        self._state = SizingState(self.host)
        self._editing = ""
        self._change = ("", "")
        """The input that was stepped last, and how it changed; shown until another one is chosen."""
        self._moving = False
        """Whether what moves the chosen answer is shown in place of its working."""
        self._inputs, self._help = KeyList(id="inputs"), Static(id="input-help", markup=False)
        self._field, self._answers = Input(id="input-value", compact=True), AnswerTable(id="answers")
        panes = (Vertical(id=name) for name in ("inputs-pane", "answers-pane", "proof"))
        self._inputs_pane, self._answers_pane, self._proof = panes

    def body(self) -> Iterable[Widget]:
        """Inputs beside shares, factors and cost, or beside the answers with their working."""
        with Horizontal(id="body"):
            with self._inputs_pane:
                yield self._inputs
                yield self._help
                yield self._field
            with Vertical(id="right"):
                with self._proof:
                    yield Static(id="shares", markup=False)
                    yield BalanceView(id="balance")
                    yield Static(id="factors", markup=False)
                    yield Static(id="cost", markup=False)
                with self._answers_pane:
                    yield Static(id="answers-label", markup=False)
                    yield self._answers
                    with VerticalScroll(id="working-pane", can_focus=False):
                        yield Static(id="working", markup=False)
                    yield ChartView(self.host.glyphs, id="tornado")

    def on_mount(self) -> None:
        """Show the answers; what is edited waits for its key."""
        self._field.display = self._field.cursor_blink = False
        inputs, answers = self._inputs_pane, self._answers_pane
        inputs.border_title, answers.border_title = "Inputs", ANSWERS
        inputs.border_subtitle, answers.border_subtitle = _INPUTS, _MOVES
        self._fill()

    def show_machine(self) -> None:
        """Size the machine again."""
        super().show_machine()
        # A dialog that closes brings the screen back too, and must not wipe what it put there.
        self._update()

    def show_run(self) -> None:
        """Take what a run has measured by now."""
        super().show_run()
        self._update()

    def _update(self) -> None:
        if self._state.outdated:
            self._state.calculate()
            self._fill()

    def band(self) -> Band:
        """Return the verdict in the words of Summary, and what it was before a change."""
        host, base = self.host, self._state.base
        measures = first_key_of("mode.measure", host.keys)
        steps = [NextStep(key=first_key_of("app.workload", host.keys), does="Enter a workload, or an AWR file")]
        if host.measures:
            steps.append(NextStep(key=measures, does="Measure what the storage can do"))
        found = in_console(summary(host.machine, host.runs.session, host.stated_advice), host.keys)
        shown = summary_band(
            found, steps, host.machine, why=first_key_of("sizing.tornado", host.keys), measures=measures
        )
        return shown if base is None else changed_band(shown, base.cards)

    def idle_actions(self) -> Collection[str]:
        """Recompute without a saved session, as advice on a machine is current; save without unsaved inputs."""
        saved, host = self.host.saved_session, self.host
        idle = ["sizing.recompute"] if saved is None or saved.machine is None else []
        return idle if host.typed.are_unsaved(host.runs) else [*idle, "sizing.save"]

    def action_save(self) -> None:
        """Save what was typed for the session that is shown."""
        if self.host.typed.are_unsaved(self.host.runs):
            self.run_worker(self.host.save_inputs(self.host.runs.path), group="save")
        else:
            self.notify("No unsaved input. Type one first: Enter edits the selected input.", markup=False)

    def action_recompute(self) -> None:
        """Recompute the advice of a saved session, or show what it recorded again."""
        self.host.recompute_advice()

    def show_target(self, target: str) -> None:
        """Put the cursor on an answer, or on an input."""
        answers, inputs = self._answers, self._inputs
        if target in KEYS and self._state.row(target) is None:
            self._state.add(target)
            self._fill()
        if answers.choose(target):
            self.add_class("-answers")
            answers.focus()
            self.call_after_refresh(self._fill_answers)
        elif target and any(option.id == target for option in inputs.options):
            inputs.highlighted = inputs.get_option_index(target)
            inputs.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Explain an input, unless what was entered of it was just refused."""
        if event.option_id != self._editing or not self._help.has_class("-wrong"):
            self._explain_input(event.option_id)

    def on_data_table_row_highlighted(self) -> None:
        """Show the working of an answer."""
        self._show_working()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Edit an input."""
        self._edit(event.option_id or "")

    def on_data_table_row_selected(self) -> None:
        """Show what moves an answer most; from what is missing go to its input."""
        chosen = self._answers.chosen
        key = chosen.removeprefix("? ")
        if key != chosen:
            self.show_target(key)
            self._edit(key)
        elif chosen:
            self.action_tornado()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the new value, or show why it is refused."""
        key = self._editing
        row = self._state.row(key)
        if row is not None and event.value.strip() == row.whole:
            self.leave_input()
            return
        try:
            value = parse_typed(key, event.value)
        except SizeupError as error:
            self._refuse(f"{input_label(key)}: {error}")
            return
        self._change = ("", "")
        if self._take({key: value}):
            self.leave_input()

    def leave_input(self) -> None:
        """Stop editing without a change."""
        if self._field.display:
            self._field.display = False
            self._inputs_pane.border_subtitle = _INPUTS
            self._inputs.focus()
            self._explain_input(self._editing)

    def action_step(self, steps: int) -> None:
        """Move the chosen input up or down."""
        key = self._chosen_input()
        if key is None:
            return
        value = stepped(key, self._state.sizing.inputs.get(key), steps)
        row = self._state.row(key)
        label = key if row is None else row.label
        if value is None:
            self._refuse(f"{label} has no value to change in steps. Press Enter and type one.")
        elif row is not None and value == self._state.sizing.inputs.get(key):
            self._refuse(f"{label} is at its limit, {row.value}.")
        elif self._take({key: value}) and row is not None and (now := self._state.row(key)) is not None:
            undo = first_key_of("sizing.reset", self.host.keys)
            self._change = (key, f"{label}: {row.value} changed to {now.value}. {undo} undoes it.\n")
            self._explain_input(key)

    def action_reset(self) -> None:
        """Take back the last change, and put the cursor on what it was of."""
        key = self._state.undo(self._chosen_input())
        if key is None:
            self.notify("No change to undo.", markup=False)
            return
        row = self._state.row(key)
        self._change = ("", "") if row is None else (row.key, f"{row.label}: back to {row.value}.\n")
        if row is not None:
            self.show_target(row.key)  # before the list is filled, which explains what was chosen in it
        self._show_change()
        self._explain_input(key)

    def action_add(self) -> None:
        """Let any input be chosen, listed or not, and typed."""

        def answered(answer: str) -> None:
            key, equals, text = answer.partition("=")
            self._state.add(key)
            self._fill()
            self.show_target(key)
            self._edit(key)
            if equals:
                self._field.value = text
                self.on_input_submitted(Input.Submitted(self._field, text))

        offered = [(key.name, f"{input_label(key.name)}, {key.name}: {key.help}") for key in KEYS.values()]
        ask(self.app, PickDialog("Which input?", offered), answered)

    def action_plan(self) -> None:
        """Go to growth, the first input of the plan."""
        self.show_target("workload.growth_percent")

    def action_tornado(self) -> None:
        """Show the answers with their working, then which input moves the chosen one most, then the shares again."""
        self._moving = self.has_class("-answers") and not self._moving
        self.set_class(self._moving or not self.has_class("-answers"), "-answers")
        self.set_class(self._moving, "-tornado")
        (self._answers if self._moving else self._inputs).focus()
        self.call_after_refresh(self._fill_answers)
        self._answers_pane.border_subtitle = _BACK if self._moving else _MOVES

    def action_licenses(self) -> None:
        """Show every vendor's licenses for this machine."""
        self.app.push_screen(
            licenses_page(self._state.sizing, self._page_width(), self._state.deviation, self._in_console)
        )

    def action_compare(self) -> None:
        """Put a published case, or the machine of another session, beside this machine."""
        answers = [(f"{PREFIX}{name}", f"{name}: {preset.title}") for name, preset in shipped_presets().items()]
        with self.host.telling_errors():
            answers += choices(self.host.runs.path)

        def answered(name: str) -> None:
            with self.host.telling_errors():
                page = comparison_page(name, self._state.sizing, self._page_width(), self._state.deviation)
                self.app.push_screen(page)

        ask(self.app, ChoiceDialog("Which published case or session?", answers), answered)

    def _page_width(self) -> int:
        return min(self.app.size.width, 130) - 6

    def _take(self, values: Mapping[str, Value]) -> bool:
        """Size with other values; those that contradict the rest are refused."""
        try:
            self._state.put({**self._state.changed, **values})
        except SizeupError as error:
            self._refuse(str(error))
            return False
        self._show_change()
        return True

    def _show_change(self) -> None:
        """Show the answers with other inputs, and the demand above them."""
        super().show_machine()
        self._fill()

    def _refuse(self, reason: str) -> None:
        self._help.update(Text(f"! {self._in_console(reason)}", style="bold"))
        self._help.add_class("-wrong")

    def _fill(self) -> None:
        """Show verdict, inputs and answers, and put the cursor on what a change asks for or does."""
        self.show_band()
        self._fill_inputs()
        self._fill_proof()
        self._answers_pane.border_title = self._state.title
        self._fill_answers()
        answers, state = self._answers, self._state
        asked = [name for name in answers.ids if name.startswith("? ") and name.removeprefix("? ") in state.asked]
        changed = asked or [name for name in answers.ids if state.effects.get(name)]
        if changed and self._state.is_changed and answers.chosen not in changed:
            answers.choose(changed[0])

    def _fill_proof(self) -> None:
        """Show shares, the strongest inputs and the cost, as far as there is room."""
        state, look = self._state, self.host.look
        width, high = self._proof.size.width - _FRAME, self.app.size.height >= _HIGH
        if width <= 0:
            return
        shares, factors, cost = (self.query_one(f"#{name}", Static) for name in ("shares", "factors", "cost"))
        base = {} if state.base is None else {card.resource: card.share for card in state.base.cards}
        shares.border_title = frame_title("Share of capacity", "today, worst case and in the last year", width + _FRAME)
        rows_of_shares = share_lines(state.given.cards, base, width, look, high=high)
        shares.update(rows_of_shares)
        card, balanced = state.deciding, self.query_one(BalanceView)
        found = balance(self.host.machine, self.host.runs.session) if card is None else None
        balanced.show(found, width + _FRAME)
        left = self._proof.size.height - len(rows_of_shares.split("\n"))
        fits = width >= _LEAST_WIDTH and (high or left >= _LEAST_FACTORS)
        factors.display, cost.display = fits and not balanced.display, high
        name = "" if card is None else f"{RESOURCE_NAMES[card.resource]} when one input moves"
        factors.border_title = frame_title("What changes the answer most", name, width + _FRAME)
        factors.border_subtitle = "" if card is None or not high else self._in_console(card.decides)
        factors.update(factor_lines(None if card is None else card.share, state.factors, width))
        if not high:
            return
        chosen = state.sizing.inputs.get("license.pack")
        cost.border_title = frame_title("Cost", f"{priced_at(state.sizing.inputs)} over the term", width + _FRAME)
        products = rows(state.sizing.inputs, shipped())
        rows_above = _COST_FROM_ROW + 3 * sum(bool(one.demand) for one in state.given.cards) + len(state.factors[:5])
        room = self.app.size.height // 5 if self.has_class("-high") else max(self.app.size.height - rows_above, 3)
        cost.update(cost_lines(products, chosen.value if isinstance(chosen, Words) else "", width, look, room))

    def _fill_inputs(self) -> None:
        inputs, rows, chosen = self._inputs, self._state.rows, self._chosen_input()
        inputs.set_options(input_options(rows, _text_width(inputs), apart=self.has_class("-high")))
        if rows:
            known = {row.key for row in rows}
            inputs.highlighted = inputs.get_option_index(chosen if chosen in known else rows[0].key)

    def on_resize(self) -> None:
        """Wrap all text again once the panes have their new width."""
        self.call_after_refresh(self._fold)

    def _fold(self) -> None:
        self._fill_inputs()
        self._fill_proof()
        self._fill_answers()

    def _fill_answers(self) -> None:
        state = self._state
        label = self.query_one("#answers-label", Static)
        label.update(hanging(state.label, _text_width(self._answers), 0, 2))
        self._answers.show(answer_rows(state.given, state.asked), state.effects if state.is_changed else {})
        self._show_working()

    def _chosen_input(self) -> str | None:
        option = self._inputs.highlighted_option
        return None if option is None else option.id

    def _edit(self, key: str) -> None:
        row = self._state.row(key)
        if row is None:
            return
        self._editing = key
        self._field.value, self._field.border_title, self._field.display = row.whole, row.label, True
        self._field.focus()
        self._inputs_pane.border_subtitle = _EDITING

    def _explain_input(self, key: str | None) -> None:
        row = self._state.row(key)
        if row is None:
            return
        self._help.remove_class("-wrong")
        found = f" (before: {row.found})" if row.found else ""
        if self._change[0] != key:
            self._change = ("", "")
        self._help.update(self._in_console(f"{self._change[1]}{row.label}{found}: {row.help}\nFrom: {row.origin}"))
        # A longer text takes rows of the list, the one under the cursor among them.
        self.call_after_refresh(self._inputs.scroll_to_highlight)

    def _show_working(self) -> None:
        state, chosen = self._state, self._answers.chosen
        workload_key = first_key_of("app.workload", self.host.keys)
        heading, *rest = working_lines(state.given, chosen, None if state.is_changed else state.advice, workload_key)
        width = _text_width(self.query_one("#working-pane")) - 2  # its padding
        folded = Text("\n".join(working_line(self._in_console(line), width) for line in rest))
        self.query_one("#working", Static).update(Group(Text(hanging(heading, width, 0, 2), style="bold"), folded))
        chart = self.query_one(ChartView)
        if chart.display and chosen:
            chart.show(factors_chart(state.sizing, chosen, state.deviation if self.host.saved_session else ""))

    def _in_console(self, text: str) -> str:
        """A text with the keys of the console in place of options of the command line."""
        return by_keys(text, self.host.keys, in_sizing=True)


def _text_width(pane: Widget) -> int:
    """Columns of a pane beside its scroll bar, which may come with the text that is folded."""
    return pane.outer_size.width - 1
