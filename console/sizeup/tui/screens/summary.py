"""The first screen: the verdict, a card for each resource, the findings, and the charts behind the cards."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.errors import SizeupError
from sizeup.model.finding import Finding
from sizeup.session.store import latest
from sizeup.tui.actions import bindings, first_key_of
from sizeup.tui.option_text import by_keys
from sizeup.tui.runs import spec_of
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.summary_text import (
    MORE,
    StatusStyles,
    card_content,
    finding_options,
    in_console,
    status_styles,
    verdict_content,
)
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.views.card_table import card_table
from sizeup.views.cards import CardView
from sizeup.views.summary import (
    SEVERITY_WORDS,
    Summary,
    card_details,
    finding_line,
    finding_parts,
    finding_target,
    summary,
)
from sizeup.views.whatif import WORKLOAD_KEYS

MEASURE_SECONDS = 30
"""What the quick plan takes with storage, as far as it is known before the probes are read."""
_BORDER_FROM_ROWS = 30
"""On a lower screen the lines need the rows of the borders."""
_WHOLE_VERDICT_FROM_ROWS = 16
"""On a lower screen the rows are left to the cards."""
_STATEMENT_ROWS, _STATEMENT_ROWS_LOW = 6, 4
"""Most rows of the verdict; the rest is shown with its card."""
_MAP_FROM_ROWS = 50
_AROUND = 3
"""Rows of the lines above and below."""
_CHART_ROWS = 10
"""The least that a chart is worth showing in."""
_CHART_COLUMNS = 56
_BESIDE_FROM_COLUMNS = 160
"""From this width on charts and details stand side by side."""


class SummaryScreen(ModeScreen):
    """Verdict, cards, findings; charts or details below, where there are rows to spare."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "summary"
    LEAST = (20, 5)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (_BORDER_FROM_ROWS, "-bordered"), (_MAP_FROM_ROWS, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("summary")]

    def __init__(self) -> None:
        super().__init__()
        self._screen_size = self.app.size
        """Known before the first layout, so that everything is laid out and drawn once."""
        self._summary: Summary | None = None
        """What is known of the machine and the run; None before it was first asked for."""
        self._filled: tuple[object, ...] = ()
        """What the screen was filled with, and the size it was folded to."""
        self._unfolded = False
        """Whether all findings are listed though that takes more rows than there are."""
        self._cards: dict[str, CardView] = {}
        self._findings: dict[str, Finding] = {}

    def body(self) -> Iterable[Widget]:
        """The verdict above the list of cards and findings; what there is to see of them below."""
        with Vertical(id="body"):
            yield Static(id="verdict", markup=False)
            yield KeyList(id="entries")
            with Horizontal(id="below"), VerticalScroll(id="preview", can_focus=False):
                yield Static(id="detail", markup=False)

    def show_all(self) -> None:
        """Show the whole frame, and the body once: it is of the machine and the run."""
        super().show_run()
        self.show_machine()

    def show_machine(self) -> None:
        """Show the machine again."""
        super().show_machine()
        self._update()

    def show_run(self) -> None:
        """Show the run again."""
        super().show_run()
        self._update()

    def _update(self) -> None:
        """Compute the view and show it."""
        host = self.host
        shown = summary(host.machine, host.runs.session, host.stated_advice, self._actions())
        self._summary = in_console(shown, host.keys)
        self._fill()

    def _actions(self) -> tuple[str, ...]:
        """What a reader can do while there is no verdict."""
        host = self.host
        workload = f"{first_key_of('summary.workload', host.keys)}: enter four numbers or an AWR file."
        if host.runs.running:
            return (workload, "Measuring.")
        if not host.measures:
            return (workload, f"Not measured: {host.unmeasured}.") if host.saved_session is None else (workload,)
        return (workload, f"{first_key_of('summary.measure', host.keys)}: measure (about {MEASURE_SECONDS} s).")

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines again."""
        self._screen_size = event.size
        self._fill()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the details of a line."""
        self._show_preview(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show the details of a line, and where they lead."""
        chosen = event.option_id or ""
        if chosen == MORE:
            self._unfolded = not self._unfolded
            self._filled = ()
            self._fill()
        elif chosen in self._cards:
            self._open_card(self._cards[chosen])
        elif chosen in self._findings:
            self._act_on(self._findings[chosen])

    def _open_card(self, card: CardView) -> None:
        from sizeup.tui.screens.dialogs import ChoiceDialog

        host = self.host
        shown = self._summary
        assert shown is not None
        lines = self._details(card, shown)
        ways = [("sizing", "Show its working in Sizing")] if card.advice else [("sizing", "Go to Sizing")]
        session = host.runs.session
        run = None if session is None or not card.steps else session.steps.get(card.steps[0])
        if run is not None:
            ways.insert(0, ("measure", "Show its charts in Measure"))
        ways.append(("topology", "Show the machine in Topology"))

        def answered(answer: str | None) -> None:
            if answer == "measure" and run is not None:
                host.go("measure", run.step.probe)
            elif answer == "sizing":
                host.go("sizing", card.advice)
            elif answer == "topology":
                host.go("topology", "machine")

        self.app.push_screen(ChoiceDialog(Text("\n".join(lines)), ways, title=f"{card.title}  {card.label}"), answered)

    def _details(self, card: CardView, shown: Summary) -> list[str]:
        return [by_keys(line, self.host.keys) for line in card_details(card, shown.given, self.host.machine)]

    def _act_on(self, finding: Finding) -> None:
        from sizeup.probing.planner import unmet
        from sizeup.tui.screens.dialogs import FindingDialog

        host = self.host
        probe = host.registry.confirming(finding)
        reason = "" if probe is None or host.machine is None else unmet(host.machine, probe.manifest) or ""

        def answered(answer: str | None) -> None:
            if answer == "part":
                host.go("topology", finding_target(finding))
            elif answer == "probe" and probe is not None:
                host.go("measure", probe.name)
            elif answer == "copy":
                self.app.copy_to_clipboard(finding.command)
                self.notify("Copied, if the terminal allows it. Nothing was run.", markup=False)

        words = SEVERITY_WORDS[finding.severity]
        self.app.push_screen(
            FindingDialog(finding, words, probe="" if probe is None else probe.name, reason=reason), answered
        )

    def action_measure(self) -> None:
        """Run the quick plan here, with storage on the mount that the user chose; asked for once."""
        host = self.host
        if not host.measures:
            self.notify(f"Not measured: {host.unmeasured}.", markup=False)
        elif not host.runs.running:
            from sizeup.tui.screens.mount_choice import remembered_mount

            mount = remembered_mount()
            if mount is None or (mount and not Path(mount).is_dir()):
                self._choose_mount()
            else:
                self._measure(mount)

    def action_mount(self) -> None:
        """Choose another mount, and measure it."""
        if not self.host.measures:
            self.notify(f"Not measured: {self.host.unmeasured}.", markup=False)
        elif not self.host.runs.running:
            self._choose_mount()

    def _choose_mount(self) -> None:
        from sizeup.tui.screens.mount_choice import ask_mount, remember_mount

        def chosen(mount: str) -> None:
            remember_mount(mount)
            self._measure(mount)

        ask_mount(self.app, self.host.machine, chosen)

    def _measure(self, mount: str) -> None:
        self.host.start_run(spec_of("", {}, mount=mount))
        self.show_run()

    def action_cancel(self) -> None:
        """Cancel the run."""
        self.cancel_run()

    def action_open(self) -> None:
        """Show the details of the line under the cursor, whatever has the focus."""
        self.query_one(KeyList).action_select()

    def action_latest(self) -> None:
        """Open the session that was written last; the one that is shown is none."""
        try:
            path = latest()
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if path is None or str(path) == self.host.runs.path:
            self.notify("No other session is saved yet.", markup=False)
        else:
            self.host.show_session(str(path))

    def action_workload(self) -> None:
        """Go to the input that a verdict needs first."""
        self.host.go("sizing", WORKLOAD_KEYS[0])

    def action_licenses(self) -> None:
        """Go to the licenses of every vendor."""
        self.host.go("sizing", "", "screen.licenses")

    def idle_actions(self) -> Collection[str]:
        """Leave out measuring during a run or where nothing can be measured, canceling without a run."""
        runs = self.host.runs
        idle = [] if runs.going_on else ["summary.cancel"]
        if not self.host.measures or runs.running:
            idle += ["summary.measure", "summary.mount"]
        if self.host.saved_session is not None or runs.session is not None:
            idle.append("summary.latest")
        return idle

    def _fill(self) -> None:
        """Show what is known, folded to the size of the screen; the cursor keeps to its line."""
        shown = self._summary
        listed = self.query_one(KeyList)
        width, rows = self._screen_size.width - 1, self._screen_size.height - _AROUND
        filled = shown, width, rows, self._unfolded, self.app.theme
        if shown is None or filled == self._filled:
            return
        self._filled = filled
        above = self._show_verdict(shown, width)
        table = card_table(shown.cards, width - 2)
        max_rows = rows - above - len(table.lines) - 1
        options = [Option(Content.styled(f" {table.header}", "dim"), id="header", disabled=True)]
        options += [Option(card_content(line, self._styles), id=line.resource) for line in table.lines]
        options += finding_options(shown, max_rows, width, self._styles, unfolded=self._unfolded)
        before = listed.highlighted_option
        listed.set_options(options)
        names = [option.id for option in options]
        listed.highlighted = names.index(before.id) if before is not None and before.id in names else 1
        self._cards = {card.resource: card for card in shown.cards}
        self._findings = dict(shown.findings)
        left = rows - above - len(options)
        listed.styles.height = len(options) if left >= _CHART_ROWS else "1fr"
        self._show_below(width, left)

    def _show_verdict(self, shown: Summary, width: int) -> int:
        """Show the verdict; how many rows it takes."""
        verdict = self.query_one("#verdict", Static)
        most_rows = _STATEMENT_ROWS if self._screen_size.height >= _BORDER_FROM_ROWS else _STATEMENT_ROWS_LOW
        text = verdict_content(shown.verdict, width - 2, self._styles, most_rows)
        if shown.label:
            text = Content.assemble(text, "\n", (hanging(shown.label, width - 2, 1, 1), "dim"))
        if self._screen_size.height < _WHOLE_VERDICT_FROM_ROWS:
            text = text.split("\n")[0]
        verdict.update(text)
        session, host = self.host.runs.session, self.host
        title = host.header()[0]
        if not host.measures and session is not None:
            title += f", as of {session.header.started[:16].replace('T', ' ')} UTC"
        verdict.border_title = Content(title)
        return text.plain.count("\n") + 1 + (0 if self.has_class("-low") else 2)

    @property
    def _styles(self) -> StatusStyles:
        return status_styles(ansi=self.app.current_theme.ansi)

    def _show_below(self, width: int, rows: int) -> None:
        """Give the rows that are left to charts of what was measured, else to the details of the line."""
        below, preview = self.query_one("#below"), self.query_one("#preview")
        below.display = rows >= _CHART_ROWS
        if not below.display:
            return
        steps = self._chart_steps()
        beside = width >= _BESIDE_FROM_COLUMNS
        preview.display = beside or not steps
        if steps:
            self._show_charts(steps, width * 2 // 3 if beside else width, rows)
        else:
            self._hide("#charts")
            self._show_map(width)
        option = self.query_one(KeyList).highlighted_option
        self._show_preview(None if option is None else option.id)

    def _hide(self, selector: str) -> None:
        for widget in self.query(selector):
            widget.display = False

    def _show_charts(self, steps: list[str], width: int, rows: int) -> None:
        """Show a chart for each card, the worst first, as many as have room."""
        from sizeup.tui.widgets.chart_grid import ChartGrid

        self._hide("#map")
        columns = max(min(width // _CHART_COLUMNS, len(steps)), 1)
        session = self.host.runs.session
        shown = [] if session is None else [session.steps[step] for step in steps[: columns * (rows // _CHART_ROWS)]]
        if not self.query(ChartGrid):
            self.query_one("#below").mount(ChartGrid(self.host.glyphs, id="charts"))
        charts = self.query_one(ChartGrid)
        charts.display = True
        charts.show(shown, self.host.machine, columns)

    def _show_map(self, width: int) -> None:
        """Show the map of a machine of which nothing was measured, where there are rows for it."""
        machine = self.host.machine
        if machine is None or not self.has_class("-high"):
            self._hide("#map")
            return
        from sizeup.tui.widgets.map import MapView
        from sizeup.views.map import MapMaker

        if not self.query(MapView):
            self.query_one("#below").mount(MapView(id="map"))
        shown = self.query_one(MapView)
        shown.display = True
        shown.show(MapMaker(machine).draw(machine.nodes, {}, width // 2 - 4))

    def _chart_steps(self) -> list[str]:
        """The steps that lead the cards, worst card first."""
        shown, session = self._summary, self.host.runs.session
        if shown is None or session is None:
            return []
        leading = [card.steps[0] for card in shown.cards if card.steps and session.steps[card.steps[0]].points]
        return list(dict.fromkeys(leading))

    def _show_preview(self, key: str | None) -> None:
        """Show the details of a line, where there are rows for it and no charts."""
        shown = self._summary
        preview = self.query_one("#preview")
        if shown is None or not preview.display or not self.query_one("#below").display:
            return
        card, finding = self._cards.get(key or ""), self._findings.get(key or "")
        detail = self.query_one("#detail", Static)
        if finding is not None:
            preview.border_title = finding_line(finding)
            lines = [line for part in finding_parts(finding) for line in (part[0], *(f"  {one}" for one in part[1:]))]
        elif card is not None:
            preview.border_title = card.title
            lines = self._details(card, shown)
        else:
            return
        others = [widget for widget in self.query("#charts, #map") if widget.display]
        width = self._screen_size.width // (1 if not others else 3 if others[0].id == "charts" else 2) - 6
        detail.update("\n".join(hanging(line.strip(), width, _indent(line), _indent(line)) for line in lines))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
