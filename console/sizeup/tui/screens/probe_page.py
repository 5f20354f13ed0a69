"""The page of one probe: its form, how its run stands, and tabs with what it measured."""

from __future__ import annotations

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from sizeup.charts.axes import hold_axes
from sizeup.model.machine import Machine
from sizeup.session.value import PointKey, Session, StepRun
from sizeup.tui.console import ConsoleApp
from sizeup.tui.runs import Runs
from sizeup.tui.screens.probe_forms import ProbeForms
from sizeup.tui.screens.probe_text import badge_rows, live_rows
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import hanging
from sizeup.tui.widgets.points import PointTable
from sizeup.tui.widgets.segments import SegmentRows
from sizeup.tui.widgets.tab_row import TabRow
from sizeup.views.run.chart_list import TABLE, ChartEntry, chart_list, tabs, underlying_charts
from sizeup.views.run.point_rows import PointRows, point_rows
from sizeup.views.run.samples import underlying_points as point_samples
from sizeup.views.run.step import VALIDITY, latest_refusal, runs_of

_MOST_LINES, _MOST_NARROW_LINES, _NARROW = 2, 3, 60
"""Of each sentence of the status, also on a page of fewer columns: the rows are the chart's, and *Validity* has the
whole reason."""


class ProbePage(Vertical):
    """What is shown of a probe, and which of its tabs."""

    def __init__(self, host: ConsoleApp) -> None:
        super().__init__(id="probe")
        self._host = host
        self._entries: tuple[ChartEntry, ...] = ()
        self._listed: tuple[object, ...] = ()
        """What the list of charts was made of."""
        self._tab = ""
        """Name of the tab that was chosen; empty for the first."""
        self._tab_before = ""
        """While the samples behind a point, or the table, are shown."""
        self._names: tuple[str, ...] = ()
        self._samples_of: tuple[str, PointKey] | None = None
        """Step and point whose samples are shown in place of the pictures of the step; None where those are."""
        self._table: PointTable | None = None
        self._notes: VerticalScroll | None = None
        self._note_words = Static(id="notes", markup=False)
        self._validity: VerticalScroll | None = None
        self._validity_words = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Build the page; tables and texts are made when they are first shown."""
        yield ProbeForms(self._host)
        yield SegmentRows(id="standing")
        yield SegmentRows(id="live")
        yield TabRow(id="tabs")
        yield Static(id="about", markup=False)
        yield ChartView(self._host.glyphs, id="chart")

    @property
    def chart(self) -> ChartView:
        """The chart, which a table or a text can stand in for."""
        return self.query_one(ChartView)

    @property
    def shows_samples(self) -> bool:
        """Whether the samples behind a point are shown."""
        return self._samples_of is not None

    @property
    def shows_table(self) -> bool:
        """Whether the points are shown as a table."""
        return self.shown_tab == TABLE

    @property
    def shown_tab(self) -> str:
        """The name of the tab that is shown; empty where there is none."""
        return self._tab if self._tab in self._names else (self._names[0] if self._names else "")

    def start_over(self) -> None:
        """Show the first tab of what comes next."""
        self._samples_of, self._tab, self._tab_before = None, "", ""

    def choose_tab(self, name: str) -> None:
        """Show a tab with the next drawing."""
        self._tab = name

    def next_tab(self, step: int) -> None:
        """Show another tab: other series, other units, other samples behind the point."""
        if self._names:
            at = self._names.index(self.shown_tab)
            self._tab = self._names[(at + step) % len(self._names)]

    def toggle_table(self) -> None:
        """Show the points as a table in place of the chart, or the chart again."""
        if self.shows_table:
            self._tab = self._tab_before
        elif TABLE in self._names:
            self._tab_before, self._tab = self._tab, TABLE

    def sort_table(self) -> None:
        """Sort the table by its next column, up and then down."""
        if self._table is not None and self._table.display:
            self._table.action_sort()

    def has_samples(self, run: StepRun) -> bool:
        """Whether there are samples behind the point under the readout."""
        key = self.chart.chosen
        return key is not None and not self.shows_samples and bool(point_samples(run, key))

    def show_samples(self, run: StepRun) -> bool:
        """Show the samples behind the point under the readout; without a readout put it on the last point.

        Whether they are to be drawn now.
        """
        chart = self.chart
        if not chart.display or self.shows_samples:
            return False
        chart.focus()
        if not chart.reads:
            chart.action_cursor_to(-1)
            return False
        key = chart.chosen
        if key is None or not point_samples(run, key):
            self.notify("no samples were recorded for this point", markup=False, timeout=3)
            return False
        self._samples_of, self._tab_before, self._tab = (run.step.id, key), self._tab, ""
        return True

    def leave_samples(self) -> None:
        """Show the pictures of the step again."""
        self._samples_of, self._tab = None, self._tab_before

    def focus_picture(self) -> None:
        """Focus what is shown in place of the chart, or the chart."""
        for shown in (self._table, self._validity, self.chart):
            if shown is not None and shown.display:
                shown.focus()
                return

    def show_words(self, words: RenderableType) -> None:
        """Leave the page to words: nothing was measured."""
        self._show_parts(pictures=False)
        self.query_one("#about", Static).update(words, layout=False)  # it has all rows that are left, whatever it says
        self._names = ()
        self.chart.display = False
        self.query_one("#live", SegmentRows).show(())
        for part in (self._table, self._notes, self._validity):
            if part is not None:
                part.display = False

    def _show_parts(self, *, pictures: bool, zoomed: bool = False) -> None:
        self.query_one("#about").display = not pictures
        for part in ("#standing", "#tabs"):
            self.query_one(part).display = pictures and not zoomed

    def show_pictures(self, run: StepRun, runs: Runs, machine: Machine | None, *, zoomed: bool) -> None:
        """Show a step: how it stands, and the tab that was chosen."""
        self._show_parts(pictures=True, zoomed=zoomed)
        session = runs.session
        machine = machine if session is None or session.machine is None else session.machine
        samples = (
            underlying_charts(run, self._samples_of[1])
            if self._samples_of and self._samples_of[0] == run.step.id
            else ()
        )
        self._list_charts(run, machine, samples, 0 if session is None else session.revision)
        self._names = tuple(entry.name for entry in samples) or tabs(self._entries)
        shown = self.shown_tab
        self.query_one(TabRow).show_tabs(self._names, shown)
        self._show_run_state(run, runs, session)
        live = run.outcome is None and runs.going_on and session is not None and not zoomed
        width = self.content_size.width
        now_ns = 0 if session is None else session.last_ns
        self.query_one("#live", SegmentRows).show(live_rows(run, now_ns, width) if live else ())
        chart = self.chart
        chart.display = shown not in (TABLE, VALIDITY) or bool(samples)
        self._show_table(run, shown=shown == TABLE)
        self._show_validity(run, shown=shown == VALIDITY and not samples, going_on=runs.going_on)
        if not chart.display:
            return
        chart.hint = lambda key: "Enter: samples" if not samples and point_samples(run, key) else ""
        picture = next((entry for entry in self._entries if entry.name == shown), self._entries[0])
        drawn = picture.draw()
        if drawn is not None:
            chart.show(drawn if run.outcome is not None else hold_axes(drawn, chart.chart))

    def _list_charts(
        self, run: StepRun, machine: Machine | None, samples: tuple[ChartEntry, ...], revision: int
    ) -> None:
        """List what can be drawn; what a frame brings of new samples leaves the list as it is."""
        state = (run.step.id, run.started_ns, revision, len(run.points), run.outcome, bool(samples))
        if samples or state != self._listed:
            self._listed = state
            self._entries = samples or chart_list(run, machine)

    def _show_run_state(self, run: StepRun, runs: Runs, session: Session | None) -> None:
        probe = run.step.probe
        steps = [other.step.id for other in runs_of(session, probe)]
        planned = () if session is None or session.plan is None else session.plan.steps
        every = {*steps, *(step.id for step in planned if step.probe == probe)}
        position = f"step {steps.index(run.step.id) + 1} of {len(every)}" if len(every) > 1 else ""
        refused = "" if run.outcome is None and runs.going_on else latest_refusal(session, probe)
        width = self.content_size.width
        rows = badge_rows(
            run, runs.caveat, position, width, going_on=runs.going_on, refused=refused, quiet_seconds=runs.quiet_seconds
        )
        most_lines = _MOST_LINES if width >= _NARROW else _MOST_NARROW_LINES
        self.query_one("#standing", SegmentRows).show(rows, fold=run.outcome is not None, most_lines=most_lines)

    def _show_table(self, run: StepRun, *, shown: bool) -> None:
        if shown and self._table is None:
            self._table = PointTable(id="points")
            self._notes = VerticalScroll(self._note_words, id="notes-pane", can_focus=False)
            self.mount(self._table, self._notes)
        if self._table is not None and self._notes is not None:
            self._table.display = self._notes.display = shown
            if shown:
                self.call_after_refresh(self._fill_table, self._table, self._notes, point_rows(run))

    def _fill_table(self, table: PointTable, notes: VerticalScroll, rows: PointRows) -> None:
        """Fill the table once it is mounted, with the figures and notes below it."""
        table.show(rows)
        width = notes.content_size.width - 1
        lines = [hanging(f"{name}: {value}", width, 0, 2) for name, value in rows.figures]
        lines += [hanging(note, width, 0, 2) for note in rows.notes]
        self._note_words.update("\n".join(lines))

    def _show_validity(self, run: StepRun, *, shown: bool, going_on: bool) -> None:
        if shown and self._validity is None:
            self._validity = VerticalScroll(self._validity_words, id="validity")
            self.mount(self._validity)
        if self._validity is not None:
            self._validity.display = shown
            if shown:
                from sizeup.tui.screens.validity_text import validity_text

                width = self.content_size.width - 1
                self._validity_words.update(validity_text(run, width, going_on=going_on))
