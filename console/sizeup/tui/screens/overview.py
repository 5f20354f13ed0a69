"""What this box is, whether anything is wrong, and what it should carry."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.charts.chart import BarChart
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine
from sizeup.tui.actions import bindings
from sizeup.tui.runs import spec_of
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.facts import FactsGrid, finding_text, indented
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.units import format_ns
from sizeup.views.machine_facts import machine_facts
from sizeup.views.overview import Overview, OverviewEntry, overview, rest, shares

_MACHINE = "machine"
"""Key of the lines that lead the list; what is known of the machine stands behind them."""
_BADGES = {"! critical": "bold auto 95% on $error", "! warning": "bold auto 95% on $warning"}
_ANSI_BADGES = {"! critical": "bold ansi_bright_white on ansi_red", "! warning": "ansi_black on ansi_yellow"}
"""On a color of their own, so that the words stay legible on a cursor of any color."""

_PANES = {"sizing": "Working", "probes": "Measured", "sessions": "Saved"}
"""What stands behind a line, by the mode that has more to say; behind a folded group stands the rest of it."""

_BALANCE_ROWS = 2
"""Around the bars: the line above them and their title."""
_CAPTION_FROM_ROWS = 30
"""On a lower screen what the bars come to is said by the advice alone."""
_BALANCE_FROM_ROWS = 21
"""On a lower screen the lines need them all."""
_BORDER_FROM_ROWS = 10
_PICTURE_ROWS = 11
"""The least that a picture is worth showing in, with the line above it."""


class OverviewScreen(ModeScreen):
    """Findings by severity, headline figures, and the balance of demand and capacity."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "overview"
    LEAST = (20, 5)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("overview")]

    def __init__(self) -> None:
        super().__init__()
        self._overview: Overview | None = None
        """What is known of the machine and the run; None before it was first asked for."""
        self._shown: tuple[Overview, str, int, int] | None = None
        """With the words in place of figures, and the width and the rows that it was folded to."""
        self._unfolded: set[str] = set()
        """Groups that are shown whole though that takes more rows than there are."""
        self._entries: dict[str, OverviewEntry] = {}
        self._detail_key: str | None = None
        """The line whose details are shown."""

    def body(self) -> Iterable[Widget]:
        """The list above the balance; beside them, where there is room, what stands behind a line."""
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield KeyList(id="entries")
                yield ChartView(self.host.glyphs, id="picture")
                yield ChartView(self.host.glyphs, id="balance")
            with VerticalScroll(id="detail-pane", can_focus=False):
                yield Static(id="detail", markup=False)

    def show_machine(self) -> None:
        """The machine is half of what is shown."""
        super().show_machine()
        self._update()

    def show_run(self) -> None:
        """So is the run."""
        super().show_run()
        self._update()

    def _update(self) -> None:
        """Take what is known now, and show it."""
        host = self.host
        session = host.runs.session
        known = () if session is None else host.registry.probes.values()
        probes = [(probe.name, probe.manifest.title) for probe in known if not probe.manifest.diagnostic]
        self._overview = overview(host.machine, session, host.advice, probes, measures=host.measures)
        self._fill()

    def on_resize(self, event: events.Resize) -> None:
        """Fold the sentences anew once the list has its new width; a new mode has it already."""
        del event
        self._fill()
        self.call_after_refresh(self._fill)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what stands behind a line, where it does not stand there since the list was filled."""
        if event.option_id != self._detail_key:
            self._show_detail(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go where the line leads; a finding leads to several places."""
        entry = self._entries.get(event.option_id or "")
        if event.option_id == _MACHINE:
            self.host.go("topology", _MACHINE)
        elif entry is not None and not entry.mode:
            self._fold(entry.key)
        elif entry is not None and entry.finding is not None:
            self._act_on(entry.finding, entry)
        elif entry is not None:
            self.host.go(entry.mode, entry.target)

    def _act_on(self, finding: Finding, entry: OverviewEntry) -> None:
        from sizeup.probing.planner import unmet
        from sizeup.tui.screens.dialogs import FindingDialog

        host = self.host
        probe = host.registry.confirming(finding)
        reason = "" if probe is None or host.machine is None else unmet(host.machine, probe.manifest) or ""

        def answered(answer: str | None) -> None:
            if answer == "part":
                host.go(entry.mode, entry.target)
            elif answer == "probe" and probe is not None:
                host.go("probes", probe.name)
            elif answer == "copy":
                self.app.copy_to_clipboard(finding.command)
                self.notify("Copied, if the terminal allows it. Nothing was run.", markup=False)

        self.app.push_screen(
            FindingDialog(finding, entry.mark.strip(), probe="" if probe is None else probe.name, reason=reason),
            answered,
        )

    def action_measure(self) -> None:
        """Run the quick plan here, so that the figures fill in one after the other."""
        host = self.host
        if not host.measures:
            self.notify(f"Not measured: {self.host.unmeasured}.", markup=False)
        elif not host.runs.running:
            host.start_run(spec_of("", {}))
            self.show_run()

    def action_cancel(self) -> None:
        """Cancel the run."""
        self.cancel_run()

    def action_open(self) -> None:
        """Go where the line under the cursor leads, whatever has the focus."""
        self.query_one(KeyList).action_select()

    def idle_actions(self) -> Collection[str]:
        """A run that is on can be canceled and not started again; elsewhere than on this machine none starts."""
        runs = self.host.runs
        idle = () if runs.going_on else ("overview.cancel",)
        return idle if self.host.measures and not runs.running else (*idle, "overview.measure")

    def _unmeasured(self) -> str:
        """The words in place of figures while there are none."""
        if self.host.runs.running:
            spec = self.host.runs.spec
            if spec is None or spec.plan != "quick" or spec.probes:
                return "Measuring: no figures yet"
            return f"Measuring: the quick plan takes about {format_ns(round(self._quick_seconds) * 1e9)}"
        if self.host.measures:
            return "No measurements yet: press r to measure"
        return f"No measurements: {self.host.unmeasured}."

    @cached_property
    def _quick_seconds(self) -> float:
        """How long the probes of the quick plan that fit this machine take; reading the probes costs 25 ms of CPU."""
        from sizeup.probing.planner import unmet

        machine = self.host.machine
        return sum(
            probe.manifest.estimated_seconds.get("quick", 0.0)
            for probe in self.host.registry.probes.values()
            if "quick" in probe.manifest.plans
            and not probe.manifest.target
            and (machine is None or unmet(machine, probe.manifest) is None)
        )

    def _fold(self, key: str) -> None:
        """Show a group whole, or fold it again."""
        self._unfolded ^= {key}
        self._shown = None
        self._fill(stay=key in self._unfolded)

    def _fill(self, *, stay: bool = False) -> None:
        """Show what is known; the cursor keeps to its line, or with ``stay`` to its place on the screen."""
        host, shown = self.host, self._overview
        session = host.runs.session
        if shown is None:
            return
        self.set_class(self.app.size.height < _BORDER_FROM_ROWS, "-tiny")
        listed, left = self.query_one(KeyList), self.query_one("#left")
        width, rows = listed.scrollable_content_region.width, left.content_size.height
        room = rows - self._balance(shown.balance)
        unmeasured = "" if shown.figures else self._unmeasured()
        if not width or not rows or (shown, unmeasured, width, room) == self._shown:
            return
        self._shown = shown, unmeasured, width, room
        name = host.header()[0]
        if not host.measures and session is not None:
            name += f", as of {session.header.started[:16].replace('T', ' ')} UTC"
        left.border_title = Content(name)
        picture = session is not None and bool(session.steps) and self.has_class("-high")
        options = self._options(shown, unmeasured, width, room // 2 if picture else room)
        names = [option.id for option in options]
        place = listed.highlighted or 0
        if not stay and self._detail_key in names:
            place = names.index(self._detail_key)
        listed.set_options(options)
        listed.highlighted = min(place, len(options) - 1)
        self._share_out(sum(str(option.prompt).count("\n") + 1 for option in options), room)
        self._show_detail(options[listed.highlighted or 0].id)

    def _balance(self, chart: BarChart) -> int:
        """Show the balance where there is room; how many rows it takes."""
        balance = self.query_one("#balance", ChartView)
        screen = self.app.size.height
        height = max(len(chart.bars), 1) + _BALANCE_ROWS + (screen >= _CAPTION_FROM_ROWS)
        balance.display = screen >= _BALANCE_FROM_ROWS
        balance.styles.height = height
        balance.show(chart)
        return height if balance.display else 0

    def _share_out(self, used: int, room: int) -> None:
        """Leave what the list does not need to a picture: of what was measured, else of the machine."""
        left, listed, machine = self.query_one("#left"), self.query_one(KeyList), self.host.machine
        session = self.host.runs.session
        roomy = room - min(used, room) >= _PICTURE_ROWS
        measured = session is not None and bool(session.steps)
        left.set_class(roomy and measured, "-run")
        mapped = roomy and not measured and machine is not None and self.has_class("-high")
        left.set_class(mapped, "-map")
        listed.styles.height = used if roomy and (measured or mapped) else "1fr"
        if mapped and machine is not None:
            self._show_map(machine, left.content_size.width)

    def _show_map(self, machine: Machine, width: int) -> None:
        from sizeup.tui.widgets.map import MapView
        from sizeup.views.map import MapMaker

        if not self.query(MapView):
            self.query_one("#left").mount(MapView(id="map"), before="#picture")
        self.query_one(MapView).show(MapMaker(machine).draw(machine.nodes, {}, width - 2))

    def _options(self, shown: Overview, unmeasured: str, width: int, room: int) -> list[Option]:
        """The lines, folded to what fits."""
        badges = _ANSI_BADGES if self.app.current_theme.ansi else _BADGES
        groups = (
            ("Findings", shown.findings, (), "No findings."),
            ("Measured", shown.figures, shown.onward, unmeasured),
            ("Should carry", shown.advice, (), "No sizing yet."),
        )
        lines = {entry.key: _line(entry, width, badges) for _, *parts, _ in groups for part in parts for entry in part}
        heights = {key: line.plain.count("\n") + 1 for key, line in lines.items()}
        machine = "\n".join(hanging(line, width, 1, 1) for line in shown.machine)
        fixed = (
            machine.count("\n") + 1 + len(groups) + sum(heights[entry.key] for entry in (*shown.onward, *shown.advice))
        )
        foldable = [[heights[entry.key] for entry in entries] for _, entries, _, _ in groups[:2]]
        fitting = shares(foldable, room - fixed - sum(not heights for heights in foldable))
        self._entries = {}
        options = [Option(machine, id=_MACHINE)]
        for (title, entries, onward, otherwise), count in zip(groups, (*fitting, len(shown.advice)), strict=True):
            options.append(Option(Content.styled(title, "bold underline"), id=f"group {title}", disabled=True))
            put = list(entries)
            if count < len(entries):
                more = rest(title, entries[count:], unfolded=f"rest {title}" in self._unfolded)
                put = [*(entries if more.key in self._unfolded else entries[:count]), more]
            for entry in (*put, *onward):
                self._entries[entry.key] = entry
                options.append(Option(lines.get(entry.key) or _line(entry, width, badges), id=entry.key))
            if not entries:
                options.append(Option(hanging(otherwise, width, 1, 1), id=f"empty {title}", disabled=True))
        return options

    def _show_detail(self, key: str | None) -> None:
        self._detail_key = key
        entry, detail = self._entries.get(key or ""), self.query_one("#detail", Static)
        pane = self.query_one("#detail-pane")
        if entry is None:
            pane.border_title = "Machine"
            if self.host.machine is not None:
                detail.update(FactsGrid(machine_facts(self.host.machine)))
        elif entry.finding is not None:
            pane.border_title = entry.mark.strip()
            detail.update(finding_text(entry.finding))
        else:
            pane.border_title = _PANES.get(entry.mode, "More")
            detail.update(Group(*(indented(line) for line in entry.details)))
        self._show_picture(entry)

    def _show_picture(self, entry: OverviewEntry | None) -> None:
        """The chart of the figure under the cursor, else of what was measured last."""
        session = self.host.runs.session
        if session is None or not session.steps or not self.query_one("#left").has_class("-run"):
            return
        from sizeup.views.finished import headline
        from sizeup.views.step import latest_run

        named = None if entry is None or entry.mode != "probes" else latest_run(session, entry.target)
        run = named or list(session.steps.values())[-1]
        self.query_one("#picture", ChartView).show(headline(run, self.host.machine))


def _line(entry: OverviewEntry, width: int, badges: Mapping[str, str]) -> Content:
    if not entry.mark:
        return Content(hanging(entry.line, width, 1, 1))
    badge = f" {entry.mark:<10} "
    text = hanging(entry.line, width, len(badge) + 2, len(badge) + 2)
    return Content.assemble(" ", (badge, badges.get(entry.mark, "")), " ", text[len(badge) + 2 :])
