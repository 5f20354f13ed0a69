"""What this machine is: a tree, a map, and what is known of the part under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import ScreenResume
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static, Tree

from sizeup.errors import SizeupError
from sizeup.live.hotplug import HotplugChange, HotplugMonitor
from sizeup.model.machine import Machine
from sizeup.tui.actions import bindings
from sizeup.tui.baseline_sessions import baseline, choices, machine_of
from sizeup.tui.live_source import LiveSource
from sizeup.tui.screens.dialogs import ChoiceDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.facts import FactsGrid
from sizeup.tui.widgets.map import MapView
from sizeup.tui.widgets.tree import ItemTree
from sizeup.views.difference import MachineComparison, OtherMachine, compared
from sizeup.views.map import MapMaker
from sizeup.views.topology import node_item, topology
from sizeup.views.topology_item import TopologyItem, holding

_LOOK_SECONDS = 1.0
"""Between two looks at load, memory and links, while this mode is shown."""
_MOST_RESTS = 8
"""Looks that a slow line is spared at most, once it has drawn the last."""


class TopologyScreen(ModeScreen):
    """Packages, nodes, caches, cores and devices."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "topology"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("topology")]

    class DevicesChanged(Message):
        """Something was plugged in or out."""

    def __init__(self) -> None:
        super().__init__()
        self._devices: HotplugMonitor | None = None
        self._asked = self._stale = False
        self._settling: Timer | None = None
        self._timer: Timer | None = None
        self._looking = False
        self._rest_looks = 0
        self._moment: Machine | None = None
        """The machine with its memory as it was a second ago."""
        self._loads: Mapping[int, float] = {}
        self._maker: tuple[Machine, MachineComparison | None, MapMaker] | None = None
        self._tree: tuple[tuple[Machine | None, OtherMachine | None], TopologyItem] | None = None
        self._comparison: MachineComparison | None = None
        self._filled: TopologyItem | None = None
        self._detailed: TopologyItem | None = None
        self._held: OtherMachine | None = None
        self._words = ""
        self._found: tuple[TopologyItem, ...] = ()
        """What holds the words that are looked for; without words, what differs."""
        self._place = 0

    def body(self) -> Iterable[Widget]:
        """The tree beside its details."""
        with Horizontal(id="body"):
            yield ItemTree(self._root(), id="tree")
            with VerticalScroll(id="detail-pane", can_focus=True):
                yield Static(id="detail", markup=False)
        yield MapView(id="map")
        with Horizontal(id="find"):
            yield Static("Find: ", markup=False)
            yield Input(placeholder="name or value, such as node 0 or 10 Gbit/s", compact=True)

    def on_mount(self) -> None:
        """Begin with the tree."""
        self.query_one(MapView).display = False
        self.query_one("#find").display = False
        self._timer = self.set_interval(_LOOK_SECONDS, self.look, pause=True)
        super().on_mount()

    def on_unmount(self) -> None:
        """Nothing looks at the load and at devices any more."""
        if self._devices is not None:
            self._devices.stop()
        if self._timer is not None:
            self._timer.stop()

    def on_screen_suspend(self) -> None:
        """Nobody sees the load while another mode is shown."""
        self.pause_looks()

    def pause_looks(self) -> None:
        """Look no more by the clock, until this mode is shown again."""
        if self._timer is not None:
            self._timer.pause()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Look at the load again, and at what changed meanwhile."""
        super().on_screen_resume(event)
        live_source = self.host.live_source
        if not self._asked and live_source is not None:
            self._asked = True
            self.run_worker(self._follow, thread=True)
        self._settle()
        if self._timer is not None and live_source is not None:
            self._loads = {}
            self._begin_loads(live_source)
            self._timer.resume()

    def _begin_loads(self, live_source: LiveSource) -> None:
        """The first answer is about the time that nobody looked."""
        if self.query_one(MapView).display:
            live_source.loads()

    def on_topology_screen_devices_changed(self) -> None:
        """Read the machine again soon, if somebody is looking."""
        self._stale = True
        self._settle()

    def _follow(self) -> None:
        live_source = self.host.live_source

        def heard(change: HotplugChange) -> None:
            del change  # that something changed is all it says; discovery says what is there now
            self.post_message(self.DevicesChanged())

        if live_source is not None:
            self._devices = live_source.follow(heard)

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
        self.run_worker(lambda: self._read_again(live_source), thread=True)

    def _read_again(self, live_source: LiveSource) -> None:
        try:
            machine = live_source.discover()
        except SizeupError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)
            return
        self.app.call_from_thread(self.host.renew_machine, machine)

    def look(self) -> None:
        """Take in the load, and in a thread of its own memory and links: a driver may let the reader wait.

        Nothing is drawn on top of what is still on its way, and a slow line then rests as long as it took.
        """
        host = self.host
        live_source = host.live_source
        if live_source is None or host.machine is None:
            return
        if host.link_busy:
            self._rest_looks = min(self._rest_looks + 1, _MOST_RESTS)
            return
        if self._rest_looks:
            self._rest_looks -= 1
            return
        shown = self.query_one(MapView).display
        if shown:
            self._loads = live_source.loads()
        # A run is not disturbed: what a device answers may cost it time.
        if not self._looking and not host.runs.running:
            self._looking = True
            known = host.machine
            self.run_worker(lambda: self._looked(live_source, known), thread=True)
        elif shown:  # else load and memory are drawn in one
            self._show_map()

    def _looked(self, live_source: LiveSource, known: Machine) -> None:
        try:
            now = live_source.refreshed(known)
        except SizeupError:
            now = known  # what cannot be read now is told by the next discovery
        self.app.call_from_thread(self._show_moment, known, now)

    def _show_moment(self, known: Machine, now: Machine) -> None:
        self._looking = False
        if self.host.machine is not known or not self.is_current:
            return
        if _standing(now) != _standing(known):
            self.host.renew_machine(now)
            return
        self._moment = now
        cursor = self.query_one(ItemTree).cursor_node
        item = None if cursor is None else cursor.data
        if self.query_one(MapView).display:
            self._show_map()
        elif item is not None and item.key.startswith("node:") and self._comparison is None:
            self._show_item(node_item(now, int(item.key.partition(":")[2])))

    def action_map(self) -> None:
        """Show the map in place of the tree, or the other way round."""
        shown = self.query_one(MapView)
        shown.display = not shown.display
        self.query_one("#body").display = not shown.display
        if not shown.display:
            self.query_one(ItemTree).focus()
            return
        shown.focus()
        self._loads = {}
        if self.host.live_source is not None:
            self._begin_loads(self.host.live_source)
        self.call_after_refresh(self._show_map)

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
            words = "No other session to compare with; for a file use: sizeup --diff FILE"
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
        differing = () if self._comparison is None else self._comparison.parts
        self._found = holding(self._root(), self._words.split()) if self._words else differing
        self._place = 0
        self._entitle()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the place and go back to the tree."""
        del event
        self._close_find()

    def action_find_next(self, step: int) -> None:
        """Go to another part that was found, or that differs."""
        if not self._found:
            if not self._words:
                self.notify("nothing to go to: press / to search or d to compare", markup=False)
            return
        self._leave_map()
        self._place = (self._place + step) % len(self._found)
        self.query_one(ItemTree).reveal(self._found[self._place].key)
        self._entitle()

    def _leave_map(self) -> None:
        if self.query_one(MapView).display:
            self.action_map()

    def _entitle(self) -> None:
        """Say above the tree which part of how many it stands at, and what is shown beside it and on the map."""
        compared_with, comparison = self.host.compared_with, self._comparison
        title, sides, drawn = "Parts", "Details", "Map"
        if compared_with is not None and comparison is not None:
            title, sides = comparison.counts, f"{compared_with.name} -> this machine"
            drawn = f"Map, {sides}: {title}"
        place = self._place + 1
        if self._words:
            title = (
                f'{place} of {len(self._found)} with "{self._words}"'
                if self._found
                else f'No match for "{self._words}"'
            )
        elif self._found:
            title = f"{place} of {title}"
        for name, words in (("#tree", title), ("#detail-pane", sides), ("#map", drawn)):
            self.query_one(name).border_title = Text(words)

    def _show_map(self) -> None:
        machine, shown = self.host.machine, self.query_one(MapView)
        if machine is None:
            return
        self._root()
        if self._maker is None or self._maker[0] is not machine or self._maker[1] is not self._comparison:
            self._maker = machine, self._comparison, MapMaker(machine, self._comparison)
        nodes = (self._moment or machine).nodes
        shown.show(self._maker[2].draw(nodes, self._loads, max(shown.size.width, 40)))

    def show_machine(self) -> None:
        """Fill the tree anew."""
        super().show_machine()
        root = self._root()
        tree = self.query_one(ItemTree)
        if self._filled is not root:
            self._moment = None
            if tree.root.data != root:
                tree.fill(root, afresh=self._held is not self.host.compared_with, fit=self._comparison is None)
            self._filled, self._held = root, self.host.compared_with
            self._search()
        if self.query_one(MapView).display:
            self._show_map()
        self._show_item(tree.cursor_node.data if tree.cursor_node is not None else root)

    def show_target(self, target: str) -> None:
        """Put the cursor on a part of the machine."""
        self._leave_map()
        self.query_one(ItemTree).reveal(target)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[TopologyItem]) -> None:
        """Show what is known of the part under the cursor."""
        self._show_item(event.node.data)

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
        self.query_one("#detail", Static).update(Group(Text(item.label, style="bold"), Text(), FactsGrid(item.facts)))


def _standing(machine: Machine) -> object:
    """What must not change unnoticed by the other modes: links, and which findings there are."""
    findings = {(finding.id, finding.subjects) for finding in machine.findings}
    return machine.nics, machine.pci, findings
