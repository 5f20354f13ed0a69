"""The page of one probe: its form, how its run stands, and tabs with what it measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from rich.console import RenderableType
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, Static

from sizeup.charts.axes import hold_axes
from sizeup.charts.chart import Axis, BarChart, HeatMap, LineChart
from sizeup.charts.drawing import Drawing, Glyphs
from sizeup.charts.latency_cells import Histogram, Picture, Timeline
from sizeup.model.machine import Machine
from sizeup.session.value import PointKey, StepRun
from sizeup.tui.actions import bindings
from sizeup.tui.console import ConsoleApp
from sizeup.tui.runs import Runs
from sizeup.tui.screens.probe_forms import ProbeForms
from sizeup.tui.screens.probe_text import fact_rows, progress_rows, share_rows, validity_rows
from sizeup.tui.screens.summary import BalanceView
from sizeup.tui.widgets.band import large_digits
from sizeup.tui.widgets.cells import CellView, SegmentRows
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lines import tabs_text, visible_tabs
from sizeup.tui.widgets.lists import hanging
from sizeup.views.cards.balance import Balance
from sizeup.views.run.chart_list import (
    DISTRIBUTION,
    OVER_TIME,
    TABLE,
    ChartEntry,
    chart_list,
    leading,
    tabs,
    underlying_charts,
)
from sizeup.views.run.latency import has_one_load, latency_family, percentiles, timeline
from sizeup.views.run.live_figures import LiveFigure, live_tiles
from sizeup.views.run.point_rows import PointRows, point_rows
from sizeup.views.run.samples import underlying_points as point_samples
from sizeup.views.run.step import VALIDITY, step_position
from sizeup.views.run.yardstick import Earlier, compared, last_run

_HEIGHT = 5
"""Rows with all of a tile: its name, three rows of large digits or figure, note and bars, and a note."""
_LARGE, _FEW, _LEAST = 24, 4, 9
"""Columns of the first tile, which has large digits; as many tiles at most have them all; the least columns of one."""
_DRAWN = set("0123456789.,")
"""The characters that can be large."""
_FLAT_COLUMNS = 100
"""On a narrower page a tile has a name and a figure only."""


class TileRow(CellView):
    """Tiles side by side, five rows high or two."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._glyphs = glyphs
        self._tiles: tuple[LiveFigure, ...] = ()

    def show(self, tiles: Sequence[LiveFigure], columns: int) -> None:
        """Show figures in place of the last."""
        self._tiles = tuple(tiles)
        self.set_class(columns < _FLAT_COLUMNS, "-flat")
        self._redraw()

    def _redraw(self) -> None:
        self.present(draw_tiles(self._tiles, *self.size, self._glyphs))


def draw_tiles(tiles: Sequence[LiveFigure], width: int, height: int, glyphs: Glyphs) -> Drawing:
    """Return tiles side by side, the last ones left out where there are too few columns."""
    drawing = Drawing(width, height)
    tiles = tiles[: max(width // _LEAST, 1)]
    count = len(tiles)
    if not count or not height:
        return drawing
    large = glyphs is not Glyphs.ASCII and height >= _HEIGHT
    first = min(_LARGE, width // 3) if large and count > _FEW else width // count
    ends = [0, *(first + (width - first) * number // max(count - 1, 1) for number in range(count))]
    for number, (tile, left, right) in enumerate(zip(tiles, ends, ends[1:], strict=False)):
        _draw(drawing, tile, left, right - 1, large=large and (number == 0 or count <= _FEW))
    return drawing


def _draw(drawing: Drawing, tile: LiveFigure, left: int, right: int, *, large: bool) -> None:
    columns, newest = right - left - 1, "s1" if tile.newest else "title"
    drawing.put(left + 1, 0, tile.name[:columns], "dim")
    number = tile.text[: len(tile.text) - len(tile.text.lstrip("0123456789.,"))]
    unit = tile.text[len(number) :].strip()
    if large and len(number) * 3 + len(unit) + 1 <= columns and set(number) <= _DRAWN:
        for row, text in enumerate(digits := large_digits(number), start=1):
            drawing.put(left + 1, row, text, newest)
        drawing.put(left + 2 + len(digits[0]), 3, unit, newest)
        drawing.put(left + 1, 4, tile.note[:columns], "dim")
    else:
        drawing.put(left + 1, 1, number[:columns], newest)
        drawing.put(left + 2 + len(number), 1, unit[: max(columns - len(number) - 1, 0)], "text")
        drawing.put(left + 1, 2, tile.note[:columns], "dim")
        drawing.put(left + 1, 3, tile.bars(columns), "s1")
    drawing.shade(range(left, right), range(drawing.height), "tile")


class PointTable(DataTable[Text]):
    """One line for each measurement."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, cell_padding=1)
        self.shown = PointRows((), (), ())
        """What the table holds."""
        self._sorted_by: int | None = None
        """The column; None for the order of the measurements."""
        self._reversed = False

    def show(self, rows: PointRows) -> None:
        """Show measurements in place of the last; the order that was chosen stays."""
        if rows == self.shown and self.columns:
            return
        if rows.columns != self.shown.columns:
            self._sorted_by, self._reversed = None, False
        self.shown = rows
        self._fill()

    def action_sort(self) -> None:
        """Sort by the column the other way round, then by the next one."""
        if self.shown.columns:
            at = -1 if self._sorted_by is None else self._sorted_by
            self._sort_by(at if at >= 0 and not self._reversed else (at + 1) % len(self.shown.columns))

    @on(DataTable.HeaderSelected)
    def _clicked(self, event: DataTable.HeaderSelected) -> None:
        event.stop()
        self._sort_by(event.column_index)

    def _sort_by(self, column: int) -> None:
        """Sort by a column, the other way round where it is sorted by that one."""
        self._sorted_by, self._reversed = column, column == self._sorted_by and not self._reversed
        self._fill()

    def _fill(self) -> None:
        cursor, shown = self.cursor_row, self.shown
        self.clear(columns=True)
        for number, (title, numeric) in enumerate(zip(shown.columns, shown.numeric, strict=True)):
            mark = "" if number != self._sorted_by else " ▼" if self._reversed else " ▲"
            self.add_column(Text(f"{title}{mark}", justify="right" if numeric else "left"))
        rows, column = shown.rows, self._sorted_by
        if column is not None:
            rows = tuple(sorted(rows, key=lambda row: row[column].sort_key, reverse=self._reversed))
        for row in rows:
            cells = [
                Text(cell.text, justify="right" if numeric else "left")
                for cell, numeric in zip(row, shown.numeric, strict=True)
            ]
            self.add_row(*cells)
        if shown.rows:
            self.move_cursor(row=min(max(cursor, 0), len(shown.rows) - 1))

    action_first, action_last = DataTable.action_scroll_top, DataTable.action_scroll_bottom


_PAIR_COLUMNS, _FACTS_COLUMNS, _BELOW_ROWS, _BALANCED_ROWS, _OTHER_ROWS = 70, 84, 26, 30, 16
"""Of a page, from which on another picture, or the figures, stand beside the view, and what stands below these."""


class ProbePage(Vertical):
    """What is shown of a probe, and which of its tabs."""

    def __init__(self, host: ConsoleApp) -> None:
        super().__init__(id="probe")
        self._host = host
        self._entries: tuple[ChartEntry, ...] = ()
        self._listed: tuple[object, ...] = ()
        """What the list of charts was made of."""
        self.tab = ""
        """Name of the tab that was chosen; empty for the first. It is shown with the next drawing."""
        self._tab_before = ""
        """While the samples behind a point, or the table, are shown."""
        self.names: tuple[str, ...] = ()
        """The names of the views, in their order."""
        self.card_title = ""
        """What the frame is called, in place of the views while there is nothing to choose from."""
        self._frames: dict[Widget, tuple[Content, str]] = {}
        """The names in the edges of each frame."""
        self._last: Earlier | None = None
        """The last run of the step that is shown."""
        self.earlier: list[Earlier] = []
        """The steps of stored sessions, the latest first."""
        self._samples_of: tuple[str, PointKey] | None = None
        """Step and point whose samples are shown in place of the pictures of the step; None where those are."""
        self._table: PointTable | None = None
        self._notes: VerticalScroll | None = None
        self._note_words = Static(id="notes", markup=False)
        self._validity: VerticalScroll | None = None
        self._validity_rows = SegmentRows()
        # Held here: a query stays in a cache of its node after each change of what is shown.
        self.forms = ProbeForms(host)
        self._about, self._balance = Static(id="about", markup=False), BalanceView(id="balance")
        self._standing, self._facts = SegmentRows(id="standing"), SegmentRows(id="facts")
        self._tiles = TileRow(host.glyphs, id="tiles")
        curves = [ChartView(host.glyphs, id=name) for name in ("chart", "beside", "below")]
        self.chart, self._beside, self._below = curves
        self._views, self._side = (Vertical(id=name, classes="panel") for name in ("views", "side"))
        self._parts = (self._about, self._balance, self._standing, self._tiles, self._facts, self._side, *curves)

    def compose(self) -> ComposeResult:
        """Build the page; tables and texts are made when they are first shown."""
        yield self.forms
        yield self._standing
        yield self._tiles
        with Horizontal(id="panels"):
            with self._views:
                yield self._about
                yield self._balance
                yield self.chart
            with self._side:
                yield self._facts
                yield self._beside
        yield self._below

    def on_mount(self) -> None:
        """Leave the readout to the main picture, and name the views by the columns that what is beside them leaves."""
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._name_views())
        self._beside.can_focus = self._below.can_focus = False

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
        return self.tab if self.tab in self.names else (self.names[0] if self.names else "")

    def stored(self, probe: str, machine: Machine | None) -> Earlier | None:
        """Return the last stored step of a probe on this machine; None where there is none."""
        host = "" if machine is None else machine.platform.hostname
        return next((one for one in self.earlier if one.run.step.probe == probe and one.host == host), None)

    def start_over(self) -> None:
        """Show the first tab of what comes next."""
        self._samples_of, self.tab, self._tab_before = None, "", ""

    def next_tab(self, step: int) -> None:
        """Show another tab: other series, other units, other samples behind the point."""
        if self.names:
            at = self.names.index(self.shown_tab)
            self.tab = self.names[(at + step) % len(self.names)]

    def toggle_table(self) -> None:
        """Show the points as a table in place of the chart, or the chart again."""
        if self.shows_table:
            self.tab = self._tab_before
        elif TABLE in self.names:
            self._tab_before, self.tab = self.tab, TABLE

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
        self._samples_of, self._tab_before, self.tab = (run.step.id, key), self.tab, ""
        return True

    def leave_samples(self) -> None:
        """Show the pictures of the step again."""
        self._samples_of, self.tab = None, self._tab_before

    def focus_picture(self) -> None:
        """Focus what is shown in place of the chart, or the chart."""
        for shown in (self._table, self._validity, self.chart):
            if shown is not None and shown.display:
                shown.focus()
                return

    def show_words(self, words: RenderableType, found: Balance | None) -> None:
        """Leave the page to words, as nothing was measured, and to the balance where there is room for both."""
        self._show_parts("about")
        found = found if self.size.height >= _BALANCED_ROWS else None
        self._balance.show(found, self._balance.size.width + 4)
        self._about.update(words, layout=False)  # it has all rows that are left, whatever it says
        self.names = ()
        self._name_frame(self._views, Content.styled(self.card_title, "bold $hi"))
        for part in (self._table, self._notes, self._validity):
            if part is not None:
                part.display = False

    def _show_parts(self, *shown: str) -> None:
        for part in self._parts:
            part.display = part.id in shown

    def show_pictures(self, run: StepRun, runs: Runs, machine: Machine | None, *, zoomed: bool) -> None:
        """Show a step: how it stands, the view that was chosen, and what belongs beside it."""
        session = runs.session
        machine = machine if session is None or session.machine is None else session.machine
        samples = (
            underlying_charts(run, self._samples_of[1])
            if self._samples_of and self._samples_of[0] == run.step.id
            else ()
        )
        revision = 0 if session is None else session.revision
        state = (run.step.id, run.started_ns, revision, len(run.points), run.outcome, bool(samples))
        if samples or state != self._listed:  # what a frame brings of new samples leaves the list as it is
            self._listed = state
            self._entries = samples or chart_list(run, machine)
        self.names = tuple(entry.name for entry in samples) or tabs(self._entries, leading(run))
        shown = self.shown_tab
        live = run.outcome is None and runs.going_on
        drawn = bool(samples) or shown not in (TABLE, VALIDITY)
        picture = next((one for one in self._entries if one.name == shown), self._entries[0]).draw() if drawn else None
        beside = () if zoomed or samples or not drawn else self._parts_beside(run, shown, picture, live=live)
        tiles = live_tiles(run, machine) if live and not zoomed else ()
        # The tiles have their place before there is a figure, so that each step does not lay the page out again.
        parts = {"chart": drawn, "standing": live and not zoomed, "tiles": live and not zoomed}
        self._show_parts(*(name for name, is_shown in parts.items() if is_shown), *beside)
        self._name_views()
        position = step_position(run, session)
        self._standing.show(progress_rows(run, position, runs, self.size.width))
        self._tiles.show(tiles, self.app.size.width)
        self._show_table(run, shown=shown == TABLE)
        self._show_validity(run, shown=shown == VALIDITY and not samples)
        if not drawn:
            return
        chart = self.chart
        chart.hint = lambda key: "Enter: samples" if not samples and point_samples(run, key) else ""
        host = "" if machine is None else machine.platform.hostname or ""
        self._last = None if samples else last_run(run, host, self.earlier)
        if picture is not None:
            chart.show(self._held(run, picture, chart))
        self._show_beside(run, beside)

    def _name_views(self) -> None:
        """Name the views in the edge of their frame, those around the one that is shown where not all fit."""
        names = visible_tabs(self.names, self.shown_tab, (self._views.size.width or 999) - 4)
        if names:
            self._name_frame(self._views, tabs_text(names, self.shown_tab), self.card_title)

    def _name_frame(self, frame: Widget, title: Content, subtitle: str = "") -> None:
        """Name a frame in its edges; the same names again would draw all of it again."""
        if self._frames.get(frame) != (title, subtitle):
            self._frames[frame] = title, subtitle
            frame.border_title, frame.border_subtitle = title, Content(subtitle)

    def _parts_beside(self, run: StepRun, shown: str, picture: Picture | None, *, live: bool) -> tuple[str, ...]:
        """Return which parts stand beside a view: a curve that grows, percentiles, or the figures."""
        width, height = self.size
        if shown == OVER_TIME and live and latency_family(run) and width >= _PAIR_COLUMNS:
            return "side", "beside"
        if shown == DISTRIBUTION and not live and has_one_load(run) and width >= _PAIR_COLUMNS:
            return ("side", "beside", "below") if height >= _BELOW_ROWS else ("side", "beside")
        if isinstance(picture, BarChart) and not live and height >= _BELOW_ROWS and self._other(shown)[1]:
            return ("below",)  # bars show their figures themselves
        cells = len(picture.columns) if isinstance(picture, HeatMap) else 0
        needed = _FACTS_COLUMNS + 4 * max(cells - 10, 0)  # beside the figures there is room for ten cells
        return ("side", "facts", "beside") if not live and width >= needed else ()

    def _show_beside(self, run: StepRun, parts: Sequence[str]) -> None:
        side, facts, view = self._side, self._facts, self._beside
        side.set_class("facts" in parts, "-facts")
        if "facts" in parts:
            advice = self._host.advice
            cards = () if advice is None else advice.given.cards
            card = next((card for card in cards if card.resource == run.declaration.card), None)
            share = [] if card is None else share_rows(card, self._host.look)
            facts.show(fact_rows(run, share), fold=True)
            self._name_frame(side, Content("Figures"))
            has_room = self.size.height - len(facts.rows) >= _OTHER_ROWS
            name, other = self._other(self.shown_tab) if has_room else ("", None)
            view.display = other is not None
            if other is not None:
                self._name_frame(view, Content(f" {name} "))
                view.show(self._held(run, other, view))
        elif "beside" in parts:
            curve = next((entry for entry in self._entries if entry.is_curve), self._entries[0])
            picture = percentiles(run) if run.outcome is not None else curve.draw()
            ended = run.outcome is not None
            self._name_frame(side, Content("Percentiles" if ended else curve.name), "95 % by rank" if ended else "")
            if picture is not None:
                view.show(self._held(run, picture, view))
        elif "below" in parts:
            name, other = self._other(self.shown_tab)
            if other is not None:
                self._name_frame(self._below, Content(name))
                self._below.show(self._held(run, other, self._below))
        if {"beside", "below"}.issubset(parts) and (over_time := timeline(run)) is not None:
            self._name_frame(self._below, Content("Latency over time"))
            self._below.show(replace(over_time, rates=()))

    def _other(self, shown: str) -> tuple[str, LineChart | BarChart | None]:
        """Return name and picture of the first of the main views that may stand beside the one that is shown."""
        main = (entry for entry in self._entries if entry.name in self.names[:2] and entry.name != shown)
        for entry in main:
            picture = entry.draw()
            if isinstance(picture, BarChart):  # the lengths of a few bars can be compared without a logarithm
                return entry.name, replace(picture, axis=Axis("", picture.axis.unit), apart=4)
            if isinstance(picture, LineChart):
                return entry.name, picture
        return "", None

    def _held(self, run: StepRun, picture: Picture, view: ChartView) -> Picture:
        """Return a picture of a step that goes on with the axes of the one before, while they suit."""
        if isinstance(picture, Timeline | Histogram):
            return picture
        if isinstance(picture, LineChart):
            picture = compared(picture, run, self._last)
        picture = replace(picture, title="")  # the frame has it
        return picture if run.outcome is not None else hold_axes(picture, view.chart)

    def _show_table(self, run: StepRun, *, shown: bool) -> None:
        if shown and self._table is None:
            self._table = PointTable(id="points")
            self._notes = VerticalScroll(self._note_words, id="notes-pane", can_focus=False)
            self._views.mount(self._table, self._notes)
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

    def _show_validity(self, run: StepRun, *, shown: bool) -> None:
        if shown and self._validity is None:
            self._validity = VerticalScroll(self._validity_rows, id="validity")
            self._views.mount(self._validity)
        if self._validity is not None:
            self._validity.display = shown
            if shown:
                self._validity_rows.show(validity_rows(run), fold=True)
