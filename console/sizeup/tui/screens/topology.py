"""What this machine is: a map, or a tree in its place, and what is known of the part under the cursor.

While it is shown the machine is watched: load, memory, links, and devices that come and go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import ScreenResume
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static, Tree

from sizeup.charts.drawing import Drawing
from sizeup.errors import SizeupError
from sizeup.live.hotplug import HotplugMonitor
from sizeup.model.machine import Machine
from sizeup.tui.actions import action_of, bindings, first_key
from sizeup.tui.baseline_sessions import baseline, choices, machine_of
from sizeup.tui.dialogs import ChoiceDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.cells import ScrolledRows
from sizeup.tui.widgets.facts import facts_grid, finding_text
from sizeup.tui.widgets.lines import tabs_text
from sizeup.tui.widgets.map import MapView, legend_text
from sizeup.tui.widgets.tree import ItemTree
from sizeup.views.band import Band
from sizeup.views.cards.measured import measured_texts
from sizeup.views.cards.measured_texts import MeasuredTexts
from sizeup.views.machine.difference import MachineComparison, OtherMachine, compared
from sizeup.views.machine.topology import node_item, topology
from sizeup.views.machine.topology_item import TopologyItem, find, holding
from sizeup.views.map.details import Problem, about, problems, topology_band
from sizeup.views.map.map import MapMaker
from sizeup.views.map.node_matrix import node_matrices

PAGES: Mapping[str, tuple[str, ...]] = {
    "CPU": ("cpu",),
    "Memory": ("memory", "numa"),
    "Storage": ("storage", "budget"),
    "Network": ("network", "nfs"),
    "Devices": ("devices",),
    "Settings": ("settings",),
    "Platform": ("platform",),
}
"""Names of the pages, and which parts of ``sizeup detect`` each of them shows."""


class MachinePage(ScrolledRows):
    """One page, as text that scrolls."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._shown: tuple[Machine, str] | None = None
        self._lines: tuple[object, list[tuple[str, str]]] = (None, [])
        """What the lines were made of, and text and role of each."""

    def show(self, machine: Machine, page: str) -> None:
        """Show a page of a machine, another one from its first line on."""
        if self._shown is None or self._shown[1] != page:
            self._top = 0
        self._shown = machine, page
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._shown is None or not width or not height:
            return
        if self._lines[0] != (id(self._shown[0]), self._shown[1], width):
            self._lines = (id(self._shown[0]), self._shown[1], width), page_lines(*self._shown, width)
        drawing = Drawing(width, height)
        for y, (text, role) in enumerate(self._visible(self._lines[1], height)):
            drawing.put(0, y, text, role)
        self.present(drawing)


def page_lines(machine: Machine, page: str, width: int) -> list[tuple[str, str]]:
    """Return text and role of each line of a page."""
    from sizeup.report.machine import section_lines
    from sizeup.views.machine.machine import machine_sections

    lines: list[tuple[str, str]] = []
    for part in PAGES[page]:
        for section in machine_sections(machine, part):
            title, *rest = section_lines(section, width)
            lines += [("", "")] if lines else []
            lines += [(title, "title"), *((text, "text") for text in rest)]
    return lines or [("Nothing of this kind was found on this machine.", "text")]


_MAP = "Map"
_LOOK_SECONDS = 1.0
"""Between two looks at load, memory and links, while this mode is shown."""


class TopologyScreen(ModeScreen):
    """Packages, nodes, caches, cores and devices; watched once a second, and read again when devices have changed."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "topology"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("topology")]

    def __init__(self) -> None:
        super().__init__()
        self._maker: tuple[object, MapMaker] | None = None
        self._tree: tuple[tuple[Machine | None, OtherMachine | None], TopologyItem] | None = None
        self._comparison: MachineComparison | None = None
        self._filled: TopologyItem | None = None
        self._detailed: TopologyItem | None = None
        self._held: OtherMachine | None = None
        self._words = ""
        self._found: tuple[TopologyItem, ...] = ()
        """What holds the words that are looked for; without words, what differs, or what findings are about."""
        self._place = 0
        self._page = _MAP
        """What stands beside the tree: the map, or the name of a page."""
        self._devices: HotplugMonitor | None = None
        self._asked = self._stale = False
        self._settling: Timer | None = None
        self._timer: Timer | None = None
        self._looking = False
        self._moment: Machine | None = None
        """The machine with its memory as it was a second ago."""
        self._loads: Mapping[int, float] = {}

    def body(self) -> Iterable[Widget]:
        """The map or a page of facts, or in their place the tree with its details."""
        with Horizontal(id="views"):
            yield Static(id="tabs")
            yield Static(id="legend")
        yield MapView(id="map")
        yield MachinePage(id="page")
        with Horizontal(id="parts-pane"):
            yield ItemTree(self._root(), id="tree")
            with VerticalScroll(id="detail-pane", can_focus=True):
                yield Static(id="detail", markup=False)
        with Horizontal(id="find"):
            yield Static("Find: ", markup=False)
            yield Input(placeholder="name or value, such as node 0 or 10 Gb/s", compact=True)

    def on_mount(self) -> None:
        """Begin with the map, and look by the clock."""
        self._timer = self.set_interval(_LOOK_SECONDS, self.look, pause=True)
        self.query_one("#find").display = False
        if self.host.compared_with is None:
            self.action_view(_MAP)
        else:
            self.action_map()

    def band(self) -> Band | None:
        """What this machine is, and what is wrong with it."""
        machine = self.host.machine
        place = first_key(action_of("topology.next"), self.host.keys)
        return None if machine is None else topology_band(machine, self._problems(), place)

    def show_band(self) -> None:
        """Redraw the band, small on every screen: the map takes the rows."""
        super().show_band()
        self._band.add_class("-small")

    def _problems(self) -> list[Problem]:
        machine = self.host.machine
        return [] if machine is None else problems(self._root(), machine.findings)

    @property
    def _shows_loads(self) -> bool:
        """Whether the map, with the load of CPUs, is on the screen."""
        return self._page == _MAP and not self.has_class("-tree")

    def on_resize(self) -> None:
        """Draw the map again once it has its new size."""
        self.call_after_refresh(self._show_map)
        self.call_after_refresh(self._show_page)

    def show_run(self) -> None:
        """Show what was measured between nodes by now."""
        super().show_run()
        if self.is_mounted and self._maker is not None and self._state() != self._maker[0]:
            self._show_map()

    def action_map(self) -> None:
        """Go to the tree, or back to the map or the page that was shown."""
        self.set_class(not self.has_class("-tree"), "-tree")
        self._show_view()
        if self.has_class("-tree"):
            self.query_one(ItemTree).focus()
        else:
            self.query_one("#map" if self._page == _MAP else "#page").focus()

    def action_open(self) -> None:
        """Show all that is known of the selected part, in the tree."""
        self._leave_map()
        self.query_one("#detail-pane").focus()

    def action_next_view(self, step: int) -> None:
        """Show the next of the map and the pages about the machine."""
        names = (_MAP, *PAGES)
        self.action_view(names[(names.index(self._page) + step) % len(names)])

    def action_view(self, name: str) -> None:
        """Show the map, or a page about the machine in its place."""
        self._page = name
        self.remove_class("-tree")
        self._show_view()
        self.query_one("#map" if self._page == _MAP else "#page").focus()

    def _show_view(self) -> None:
        """Show what was chosen: the map, a page, or the tree."""
        tree = self.has_class("-tree")
        self.query_one("#parts-pane").display = tree
        self.query_one(MapView).display = self._shows_loads
        self.query_one(MachinePage).display = not tree and self._page != _MAP
        self._begin_loads()
        self._entitle()
        self.call_after_refresh(self._show_map)
        self.call_after_refresh(self._show_page)

    def _show_page(self) -> None:
        machine, page = self.host.machine, self.query_one(MachinePage)
        if machine is not None and page.display:
            page.show(machine, self._page)

    def action_diff(self) -> None:
        """Hold the machine against the baseline, or against a session to be chosen; alone again if it is."""
        if self.host.compared_with is not None:
            self._compare_with(None)
            return
        try:
            path = baseline()
            if path is not None:
                self._compare_with(machine_of(path))
                return
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.action_choose_other()

    def action_choose_other(self) -> None:
        """Choose a session to hold the machine against."""
        try:
            answers = choices(self.host.runs.path)
        except SizeupError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if not answers:
            words = "No other session to compare with; for a file use: sizeup --against FILE"
            self.notify(words, severity="warning", markup=False)
            return

        def answered(path: str | None) -> None:
            try:
                if path is not None:
                    self._compare_with(machine_of(path))
            except SizeupError as error:
                self.notify(str(error), severity="error", markup=False)

        self.app.push_screen(ChoiceDialog("Compare this machine with which session?\n", answers), answered)

    def _compare_with(self, other: OtherMachine | None) -> None:
        self.host.compared_with = other
        self._leave_map()
        self.show_machine()

    def action_find(self) -> None:
        """Search in labels and facts, in the tree."""
        self._leave_map()
        self.query_one("#find").display = True
        self.query_one(Input).focus()

    def leave_input(self) -> None:
        """Forget what was looked for and go back to the tree."""
        self.query_one(Input).clear()
        self._close_find()

    def _close_find(self) -> None:
        self.query_one("#find").display = False
        self.query_one(ItemTree).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Go to the first part that holds all words."""
        self._words = event.value.strip()
        self._search()
        if self._words:
            self.action_find_next(0)

    def _search(self) -> None:
        root = self._root()
        if self._words:
            self._found = holding(root, self._words.split())
        elif self._comparison is not None:
            self._found = self._comparison.parts
        else:
            self._found = tuple(part for _, _, part in self._problems() if part is not None)
        self._place = 0 if self._words or self._comparison is not None else -1
        self._entitle()

    def on_input_submitted(self) -> None:
        """Keep the place and go back to the tree."""
        self._close_find()

    def action_find_next(self, step: int) -> None:
        """Go to another part that was found, or that differs."""
        if not self._found:
            if not self._words:
                self.notify("nothing to go to: press / to search or d to compare", markup=False)
            return
        self._place = (self._place + step) % len(self._found)
        self.query_one(ItemTree).reveal(self._found[self._place].key)
        self._entitle()

    def _leave_map(self) -> None:
        """Show the tree in place of the map."""
        if not self.has_class("-tree"):
            self.action_map()

    def _entitle(self) -> None:
        """Say above the tree which part of how many it stands at, and what is shown beside it and on the map."""
        compared_with, comparison = self.host.compared_with, self._comparison
        title, sides = "Parts", "Details"
        if compared_with is not None and comparison is not None:
            title, sides = comparison.counts, f"{compared_with.name} -> this machine"
        place = self._place + 1
        if self._words:
            title = (
                f'{place} of {len(self._found)} with "{self._words}"'
                if self._found
                else f'No match for "{self._words}"'
            )
        elif self._found and comparison is not None:
            title = f"{place} of {title}"
        self.query_one("#tree").border_title = Text(title)
        self.query_one("#detail-pane").border_title = Text(sides)
        shown = "" if self.has_class("-tree") else self._page
        self.query_one("#tabs", Static).update(tabs_text((_MAP, *PAGES), shown))
        machine, width = self.host.machine, 15 if self.has_class("-narrow") else 52
        if machine is None or self.host.live_source is None or not self._shows_loads:
            self.query_one("#legend", Static).update("")
        else:
            self.query_one("#legend", Static).update(legend_text(machine.pus, width, self.host.look))

    def _show_map(self) -> None:
        machine, shown = self.host.machine, self.query_one(MapView)
        width, height = shown.size
        if machine is None or not self._shows_loads or not width or not height:
            return
        self._root()
        shown.look = self.host.look
        state, session = self._state(), self.host.runs.session
        if self._maker is None or self._maker[0] != state:
            live, matrices = self.host.live_source is not None, node_matrices(machine, session)
            found = MeasuredTexts() if session is None or len(machine.nodes) != 1 else measured_texts(session, "memory")
            measured = f"measured: {', '.join(found.texts)}" if found.valid else ""
            self._maker = state, MapMaker(machine, self._comparison, matrices, measured, live=live)
        nodes = (self._moment or machine).nodes
        shown.show(self._maker[1].draw(nodes, self._loads, max(width, 40), height, self._detailed))

    def _state(self) -> object:
        """What the constant part of the map is made of; it changes once another step has ended."""
        session = self.host.runs.session
        ended = () if session is None else tuple(name for name, run in session.steps.items() if run.outcome is not None)
        return self.host.machine, self._comparison, ended

    def show_machine(self) -> None:
        """Fill the tree again."""
        super().show_machine()
        root = self._root()
        tree = self.query_one(ItemTree)
        if self._filled is not root:
            self._moment = None
            if tree.root.data != root:
                tree.fill(root, afresh=self._held is not self.host.compared_with, fit=self._comparison is None)
            self._filled, self._held = root, self.host.compared_with
            self._search()
        self._show_map()
        self._show_page()
        self._show_item(tree.cursor_node.data if tree.cursor_node is not None else root)

    def show_target(self, target: str) -> None:
        """Put the cursor on a part of the machine."""
        self._leave_map()
        self.query_one(ItemTree).reveal(target)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[TopologyItem]) -> None:
        """Show what is known of the part under the cursor, and where it is on the map."""
        self._show_item(event.node.data)
        if event.node.data is not None:
            way = find(self._root(), event.node.data.key)
            self.query_one(MapView).choose(*(item.key for item in reversed(way)))

    def on_map_view_selected(self, event: MapView.Selected) -> None:
        """Go to the same part in the tree."""
        self.query_one(ItemTree).reveal(event.key)

    def _root(self) -> TopologyItem:
        machine, compared_with = self.host.machine, self.host.compared_with
        if machine is None:
            return TopologyItem("machine", "Reading this machine ...")
        if self._tree is None or self._tree[0][0] is not machine or self._tree[0][1] is not compared_with:
            self._comparison = None if compared_with is None else compared(machine, compared_with.machine)
            root = topology(machine) if self._comparison is None else self._comparison.root
            self._tree = (machine, compared_with), root
        return self._tree[1]

    def _show_item(self, item: TopologyItem | None) -> None:
        if item is None or item == self._detailed:
            return
        self._detailed = item
        machine = self.host.machine
        told = [] if machine is None else about(item, machine.findings)
        findings = [part for finding in told for part in (finding_text(finding, confirmation=False), Text())]
        self.query_one("#detail", Static).update(
            Group(Text(item.marked_label, style="bold"), Text(), *findings, facts_grid(item.facts))
        )
        self._show_map()

    # What comes and goes while it is watched

    def on_unmount(self) -> None:
        """Stop watching devices; Textual ends the timer."""
        if self._devices is not None:
            self._devices.stop()

    def on_screen_suspend(self) -> None:
        """Stop reading the load while another mode is shown."""
        if self._timer is not None:
            self._timer.pause()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Read the load again, and the devices if they changed."""
        del event
        live_source = self.host.live_source

        def changed() -> None:
            self._stale = True
            self._settle()

        def follow() -> None:
            if live_source is not None:
                self._devices = live_source.follow(lambda: self.call_later(changed))

        if not self._asked and live_source is not None:
            self._asked = True
            self.run_worker(follow, thread=True)
        self._settle()
        if self._timer is not None and live_source is not None:
            self._begin_loads()
            self._timer.resume()

    def _begin_loads(self) -> None:
        """Drop the first figures: they cover the time while another mode was shown."""
        self._loads = {}
        if self.host.live_source is not None and self._shows_loads:
            self.host.live_source.loads()

    def _settle(self) -> None:
        live_source = self.host.live_source
        if live_source is not None and self._stale and self._settling is None and self.is_current:
            self._settling = self.set_timer(live_source.settle_seconds, self._settled)

    def _settled(self) -> None:
        self._settling = None
        live_source = self.host.live_source
        if live_source is None or not self.is_current:
            return
        if self.host.runs.running:
            # Reading the machine would disturb what is measured, and the console may stand aside just now.
            self._settle()
            return
        self._stale = False

        def read_again() -> None:
            try:
                machine = live_source.discover()
            except SizeupError as error:
                self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)
            else:
                self.app.call_from_thread(self.host.renew_machine, machine)

        self.run_worker(read_again, thread=True)

    def look(self) -> None:
        """Take in the load, and in a thread of its own memory and links: a driver may let the reader wait.

        Nothing is drawn on top of what is still on its way.
        """
        host = self.host
        live_source = host.live_source
        if live_source is None or host.machine is None or host.link_busy:
            return
        if self._shows_loads:
            self._loads = live_source.loads()
        # A run is not disturbed: what a device answers may cost it time.
        if not self._looking and not host.runs.running:
            self._looking = True
            known = host.machine

            def looked() -> None:
                try:
                    now = live_source.refreshed(known)
                except SizeupError:
                    now = known  # the next discovery reports what cannot be read now
                self.app.call_from_thread(self._show_moment, known, now)

            self.run_worker(looked, thread=True)
        elif self._shows_loads:  # else load and memory are drawn in one
            self._show_map()

    def _show_moment(self, known: Machine, now: Machine) -> None:
        self._looking = False
        if self.host.machine is not known or not self.is_current:
            return
        if _links_and_findings(now) != _links_and_findings(known):
            self.host.renew_machine(now)
            return
        self._moment = now
        if self._shows_loads:
            self._show_map()
        cursor = self.query_one(ItemTree).cursor_node
        item = None if cursor is None else cursor.data
        if item is not None and item.key.startswith("node:") and self._comparison is None:
            self._show_item(node_item(now, int(item.key.partition(":")[2])))


def _links_and_findings(machine: Machine) -> object:
    """What must not change unnoticed by the other modes: links, and which findings there are."""
    findings = {(finding.id, finding.subjects) for finding in machine.findings}
    return machine.nics, machine.pci, findings
