"""Two sessions compared: what is faster or slower, by how much, how sure, and what else changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from sizeup.charts.drawing import cut
from sizeup.compare.compare import compare
from sizeup.compare.digest import digest
from sizeup.compare.drift import drift
from sizeup.compare.parts import ComparedFact
from sizeup.report.table import fits, table_lines, wrap
from sizeup.session.reader import read_session
from sizeup.session.store import session_name
from sizeup.text import cell_len
from sizeup.tui.actions import bindings, first_key_of
from sizeup.tui.dialogs import PageDialog
from sizeup.tui.screens.export_dialog import ask_export
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.changes import ChangeTable
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lines import Header
from sizeup.views.band import Band, NextStep
from sizeup.views.comparison.answer import answer, changed_card, compared_hosts, fact_cards, leading_card, side_names
from sizeup.views.comparison.compared_charts import compared_curves
from sizeup.views.comparison.comparison import differences_table, figure_sentences, metrics_table, nothing_shared


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
        names = side_names(self._comparison)
        self._answer = answer(self._comparison)
        self._charts = compared_curves(*self._sessions, names, leading_card(self._comparison))
        self._place = 0
        card = changed_card(self._answer.rows)
        self._facts = [ComparedFact(one.what, one.baseline, one.new) for one in self._answer.differences]
        self._compared_facts = 0
        now, before = self._sessions
        if now.machine is not None and before.machine is not None and now.header.host == before.header.host:
            found = drift(before.machine, now.machine)
            self._facts, self._compared_facts = list(found.drifted), found.compared
        self._likely = [one for one in self._facts if card in (one.cards or fact_cards(one.fact))]

    def body(self) -> Iterable[Widget]:
        """The changes above their picture and what else changed."""
        with Vertical(id="body"):
            yield ChangeTable(self.host.glyphs, id="changes")
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
        table.show(self._answer.rows, self._answer.interval, nothing_shared(self._comparison))
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
        width = self.query_one("#causes").content_size.width
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
        lines += [] if self._facts else [Content.styled("Nothing that both sessions know.", "$dim")]
        lines += [Content(""), Content.styled("Can the runs be compared?", "bold $hi")]
        for trust in self._answer.trust:
            sign = Content.styled("● " if trust.status == "ok" else "▲ ", f"${trust.status}")
            gap = " " * (width - 2 - cell_len(trust.name) - cell_len(trust.text))
            lines.append(sign + Content(f"{trust.name}{gap}") + Content.styled(trust.text, "$dim"))
        return lines

    def _show_chart(self) -> None:
        view = self.query_one(ChartView)
        view.display = bool(self._charts)
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
