"""Two sessions compared: what is faster or slower, by how much, how sure, and what else changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from sizeup.charts.drawing import Drawing, cut
from sizeup.compare.compare import compare
from sizeup.compare.comparison import Comparison
from sizeup.compare.digest import digest
from sizeup.compare.drift import drift
from sizeup.compare.parts import ComparedFact
from sizeup.compare.statistics import MOST_RUNS
from sizeup.report.table import fits, table_lines
from sizeup.session.reader import read_session
from sizeup.session.store import session_name
from sizeup.text import cell_len, plural, wrap
from sizeup.tui.actions import bindings, first_key_of
from sizeup.tui.dialogs import PageDialog
from sizeup.tui.screens.export_dialog import ask_export
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.summary_rows import fact_lines
from sizeup.tui.widgets.cells import ScrolledRows
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lines import Header
from sizeup.tui.widgets.lists import hanging
from sizeup.views.band import Band, NextStep
from sizeup.views.comparison.answer import (
    SCALE,
    SHADED,
    Answer,
    ChangeResult,
    ChangeRow,
    answer,
    changed_card,
    compared_hosts,
    fact_cards,
    leading_card,
    missing_runs,
)
from sizeup.views.comparison.compared_charts import compared_curves
from sizeup.views.comparison.comparison import differences_table, figure_sentences, metrics_table, nothing_shared
from sizeup.views.machine.facts import setting_texts

_CARD, _VALUE, _RESULT = 8, 10, 13
"""Columns of the resource, of each value, and of what follows."""
_LEAST_BAR, _WIDEST_BAR, _LEAST_TITLE, _WIDEST_CAUSE = 13, 101, 17, 66
_LEAST_SAME = 4
"""Rows from which on settings that are the same have a list."""
_AROUND = 8
"""Rows of the screen above and below what is compared."""
_TICKS = (-30, -20, -10, 0, 10, 20, 30)


class ChangeTable(ScrolledRows):
    """Improvement is to the right; what counts as the same is shaded."""

    def __init__(self) -> None:
        super().__init__(id="changes")
        self._rows: tuple[ChangeRow, ...] = ()
        self._notes: list[str] = []

    def show(self, comparison: Comparison, shown: Answer, *, alone: bool) -> None:
        """Show the changes, or why there are none; ``alone`` without a picture."""
        self._rows = rows = shown.rows
        bracket = f"  ├─●─┤ {shown.interval} interval, improvement to the right."
        bracket *= any(row.low is not None for row in rows)
        legend = ["", f"Shaded: within ±{SHADED * 100:.0f} % counts as the same.{bracket}"]
        self._notes = legend if rows else [nothing_shared(comparison)]
        if any(row.result is ChangeResult.CANNOT_TELL for row in rows):
            more = missing_runs(rows)
            needed = f"over {MOST_RUNS} more runs" if more is None else f"{plural(more, 'more run')} of each side"
            self._notes.append(f"? CANNOT TELL: the runs allow both; {needed} would tell.")
        if invalid := dict.fromkeys(why for figure in comparison.headlines for why in figure.invalid if why):
            self._notes.append(f"! NOT VALID: {'; '.join(invalid)}.")
        self.styles.height = len(rows) + len(self._notes) + 3
        self.styles.max_height = max(self.screen.size.height * (100 if alone else 60) // 100 - _AROUND, 4)
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if height:
            notes = self._notes if height > len(self._rows) + len(self._notes) else []
            shown = self._visible(self._rows, height - 1 - len(notes))
            self.border_subtitle = self.border_subtitle or "slower or less ◀   ▶ faster or more"
            self.present(self.drawn(shown, notes, width, height))

    def drawn(self, shown: Sequence[ChangeRow], notes: Sequence[str], width: int, height: int) -> Drawing:
        """Return a heading, rows and notes in so many columns; the bars take what the words leave."""
        drawing = Drawing(width, height)
        change = max((cell_len(row.change) for row in shown), default=0)
        title = max((cell_len(row.title) for row in shown), default=0)
        fixed = _CARD + 2 * (_VALUE + 1) + change + _RESULT + 6
        title = max(min(title, width - fixed - 29), min(_LEAST_TITLE, width - fixed + _CARD))
        bar = min(width - fixed - title, _WIDEST_BAR) // 2 * 2 - 1
        left, right = _CARD + title + 2 * (_VALUE + 1) + 2, width - _RESULT - change - 2
        if shown:
            head = f"{'Figure':{_CARD + title}} {'Baseline':>{_VALUE}} {'New':>{_VALUE}}"
            drawing.put(0, 0, head, "dim")
            drawing.put(right, 0, f"{'Change':>{change}}  Result", "dim")
        if bar >= _LEAST_BAR:
            self._draw_bars(drawing, range(left, left + bar), shown)
        is_open = all(row.result is ChangeResult.CANNOT_TELL for row in shown)  # which the badge says for all
        for y, row in enumerate(shown, start=1):
            changed = row.result not in (ChangeResult.SAME, ChangeResult.CANNOT_TELL, ChangeResult.NOT_VALID)
            bold = "title" if changed else "text"
            drawing.put(0, y, row.card if y == 1 or shown[y - 2].card != row.card else "", "acc")
            drawing.put(_CARD, y, cut(row.title if cell_len(row.title) <= title else row.short, title), bold)
            drawing.put(_CARD + title + 1, y, f"{row.baseline:>{_VALUE}}", "s3")
            drawing.put(_CARD + title + _VALUE + 2, y, f"{row.new:>{_VALUE}}", "s1")
            drawing.put(right, y, f"{row.change:>{change}}", bold if changed else "dim")
            drawing.put(
                width - _RESULT, y, f"{row.result.sign} {row.result.word}", "dim" if is_open else row.result.status
            )
        for y, note in enumerate(notes if bar >= _LEAST_BAR else notes[2:], start=len(shown) + 1):
            drawing.put(0, y, note, "dim")
        return drawing

    def _draw_bars(self, drawing: Drawing, columns: range, rows: Sequence[ChangeRow]) -> None:
        """Draw scale, zero and change of each row into these columns."""
        middle = columns[len(columns) // 2]
        half = len(columns) // 2

        def column(share: float) -> int:
            return middle + round(max(min(share / SCALE, 1.0), -1.0) * half)

        step = 1 if half >= 3 * (len("+30") + 1) else 3
        for tick in _TICKS[::step]:
            text = f"{tick:+d}" if tick else "0 %"
            drawing.put(column(tick / 100) - len(text) // 2, 0, text, "hi" if not tick else "dim")
        for y, row in enumerate(rows, start=1):
            drawing.put(middle, y, "│", "dim")
            if row.better is not None:
                at, role = column(row.better), "dim"
                if row.result in (ChangeResult.FASTER, ChangeResult.SLOWER):
                    role = "s1" if row.result is ChangeResult.FASTER else "s2"
                start, end = sorted((middle, at))
                drawing.put(start, y, "━" * (end - start + 1), f"{role}-pale" if role != "dim" else "line")
                if row.low is not None and row.high is not None:
                    low, high = column(row.low), column(row.high)
                    drawing.put(low, y, "─" * (high - low + 1), role)
                    drawing.put(low, y, "├" if row.low >= -SCALE else "◀", role)
                    drawing.put(high, y, "┤" if row.high <= SCALE else "▶", role)
                beyond = "◀" if row.better < -SCALE else "▶" if row.better > SCALE else "●"
                drawing.put(at, y, beyond, "hi")
            drawing.shade(range(column(-SHADED), column(SHADED) + 1), range(y, y + 1), "track")


class CompareScreen(ModeScreen):
    """The new session against the baseline, above Sessions or a fleet; to make it reads both files."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE, TAB = "compare", "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compare")]

    def __init__(self, new: str, baseline: str, title: str = "Change against the baseline") -> None:
        super().__init__()
        self._title = title
        self._read(new, baseline)

    def _read(self, new: str, baseline: str) -> None:
        self._paths = new, baseline
        self._sessions = read_session(new), read_session(baseline)
        digests = [digest(one, session_name(path)) for one, path in zip(self._sessions, self._paths, strict=True)]
        self._comparison = compare(digests[:1], digests[1:])
        self._answer = answer(self._comparison)
        self._charts = compared_curves(*self._sessions, self._answer.names, leading_card(self._comparison))
        self._place = 0
        card = changed_card(self._answer.rows)
        self._facts = [ComparedFact(one.what, one.baseline, one.new) for one in self._answer.differences]
        self._compared_facts = 0
        self._same: list[tuple[str, str, str]] = []
        now, before = self._sessions
        if now.machine is not None and before.machine is not None and now.header.host == before.header.host:
            found = drift(before.machine, now.machine)
            self._facts, self._compared_facts = list(found.drifted), found.compared
            settings = {one[:2] for one in setting_texts(before.machine)}
            self._same = [(*one[:2], "") for one in setting_texts(now.machine) if one[:2] in settings]
        self._likely = [one for one in self._facts if card in (one.cards or fact_cards(one.fact))]

    def body(self) -> Iterable[Widget]:
        """The changes above their picture and what else changed."""
        with Vertical(id="body"):
            yield ChangeTable()
            with Horizontal(id="charts"):
                yield ChartView(self.host.glyphs, id="overlay")
                with VerticalScroll(id="causes"):
                    yield Static(id="else", markup=False)

    def band(self) -> Band:
        """The answer, and the key that measures again."""
        band, key = self._answer.band, first_key_of("compare.measure", self.host.keys)
        words = [step.text for step in band.steps]
        if self._likely:
            one = self._likely[0]
            words = [f"Check {one.fact}: {cut(one.baseline or '', 16)} before, {cut(one.now or '', 16)} now."]
        steps = tuple(NextStep(text, key, "measures again") for text in words[:1])
        basis = " · ".join((*band.basis.split(" · ")[:2], f"{self._answer.interval} intervals"))
        return replace(band, steps=steps, basis=basis)

    def header(self) -> Header:
        """What is compared, in place of the machine."""
        return Header(compared_hosts(self._comparison), states=("compare",))

    def show_machine(self) -> None:
        """Show everything again."""
        super().show_machine()
        table = self.query_one(ChangeTable)
        table.border_title = self._title
        table.show(self._comparison, self._answer, alone=not self._charts)
        pane = self.query_one("#causes")
        pane.border_title = "What else changed"
        count = self._compared_facts
        pane.border_subtitle = f"{len(self._facts)} of {count} settings" if count else ""
        self.call_after_refresh(self._fold)
        self._show_chart()

    def on_resize(self) -> None:
        """Fold what else changed to the width of its pane."""
        self.call_after_refresh(self._fold)

    def _fold(self) -> None:
        width = min(self.query_one("#causes").content_size.width, _WIDEST_CAUSE)
        if width > 0:
            self.query_one("#else", Static).update(Content("\n").join(self._causes(width)))

    def _causes(self, width: int) -> list[Content]:
        """Return what is different beside the figures, the likely cause first, and whether the runs can be compared."""
        lines: list[Content] = []
        for one in (*self._likely, *(one for one in self._facts if one not in self._likely)):
            note = "likely cause" if one in self._likely else ""
            name = Content.styled(cut(one.fact, width - len(note) - 1), "bold $hi" if note else "")
            lines.append(name + Content(" " * (width - name.cell_length - len(note))) + Content.styled(note, "$warn"))
            before, after = (cut(text or "unknown", width - 4) for text in (one.baseline, one.now))
            if cell_len(before) + cell_len(after) + 5 <= width:
                lines.append(Content.assemble("  ", (before, "$s3"), (" → ", "$dim"), (after, "$s1")))
            else:
                lines += [Content.assemble("  ", (before, "$s3")), Content.assemble("→ ", (after, "$s1"))]
        none = "Nothing." if self._same else "No setting that both sessions know."
        lines += [] if self._facts else [Content.styled(none, "$dim")]
        lines += [Content(""), Content.styled("Can the runs be compared?", "bold $hi")]
        for trust in self._answer.trust:
            sign = Content.styled("● " if trust.status == "ok" else "▲ ", f"${trust.status}")
            gap = " " * (width - 2 - cell_len(trust.name) - cell_len(trust.text))
            text = trust.text if gap else f"\n{hanging(trust.text, width, 2, 2)}"
            lines.append(sign + Content(f"{trust.name}{gap}") + Content.styled(text, "$dim"))
        rows = self.query_one("#causes").size.height - sum(line.plain.count("\n") + 1 for line in lines) - 1
        if self._same and rows >= _LEAST_SAME:
            lines += [Content(""), fact_lines("Settings that are the same", self._same, width, rows)]
        return lines

    def _show_chart(self) -> None:
        view = self.query_one(ChartView)
        view.display = bool(self._charts)
        self.set_class(not self._charts, "-alone")
        if self._charts:
            chart = self._charts[self._place]
            view.border_title = chart.title
            count = len(self._charts)
            view.border_subtitle = f"{self._place + 1} of {count}" if count > 1 else ""
            view.show(replace(chart, title=""))

    def action_next_view(self) -> None:
        """Show the next picture of both."""
        self._place = (self._place + 1) % max(len(self._charts), 1)
        self._show_chart()

    def action_swap(self) -> None:
        """Make the new session the baseline, and the baseline the new one."""
        self._read(*reversed(self._paths))
        self.show_all()

    def action_zoom(self) -> None:
        """Give the whole screen to the picture, or take it back; the last line stays."""
        self.toggle_class("-zoomed")

    def action_table(self) -> None:
        """Show every metric with its interval, and the caveats."""
        width = min(self.app.size.width, 130) - 6
        found = self._comparison
        table, rows = metrics_table(found), figure_sentences(found)
        lines = table_lines(table, width) if fits(table, width) else [part for row in rows for part in row]
        lines += ["", *table_lines(differences_table(found), width)]
        lines += [line for warning in found.warnings for line in ("", *wrap(f"! {warning}", width, rest="  "))]
        self.app.push_screen(PageDialog("Statistics", lines))

    def action_measure(self) -> None:
        """Go to the probe of the figure that changed most, to measure it again."""
        figures = sorted(self._comparison.headlines, key=lambda one: (not one.different, -abs(one.ratio - 1)))
        self.host.go("measure", figures[0].metric.partition("@")[2] if figures else "")

    def action_compare(self) -> None:
        """Choose another session to compare with."""
        self.host.go("sessions", self._paths[0], "screen.compare_with")

    def action_export(self) -> None:
        """Write the comparison, or the new session."""
        ask_export(self, self._paths[0], self._sessions[0], self._paths[1])

    def action_note(self) -> None:
        """Write a note into the new session."""
        self.host.go("sessions", self._paths[0], "screen.note")

    def action_back(self) -> None:
        """Undo the zoom, or else leave."""
        if self.has_class("-zoomed"):
            self.action_zoom()
        else:
            self.app.pop_screen()

    def command_values(self) -> Mapping[str, str]:
        """Which sessions are compared."""
        new, baseline = map(session_name, self._paths)
        return {"compare.swap": baseline, "app.export": new, "app.note": new}
