"""What this machine is: a tree, and what is known of the part under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static, Tree

from sizeup.errors import SizeupError
from sizeup.live.hotplug import Change, Follower
from sizeup.live.load import cpu_loads
from sizeup.tui.actions import bindings
from sizeup.tui.hotplug import Hotplug
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.facts import facts_grid
from sizeup.tui.widgets.lists import ItemTree
from sizeup.tui.widgets.map import MapView
from sizeup.views.map import machine_map
from sizeup.views.topology import Item, holding, topology


class TopologyScreen(ModeScreen):
    """Packages, nodes, caches, cores and devices."""

    SCOPE = "topology"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("topology")]

    class DevicesChanged(Message):
        """Something was plugged in or out."""

    def __init__(self) -> None:
        super().__init__()
        self._devices: Follower | None = None
        self._asked = self._stale = False
        self._settling: Timer | None = None
        self._timer: Timer | None = None
        self._found: tuple[Item, ...] = ()
        self._place = 0

    def body(self) -> Iterable[Widget]:
        """The tree beside its details."""
        with Horizontal(id="body"):
            yield ItemTree(self._root(), id="tree")
            with VerticalScroll(id="detail-pane", can_focus=True):
                yield Static(id="detail", markup=False)
        yield MapView(id="map")
        yield Input(placeholder="words to find; n for the next", id="filter", compact=True)

    def on_mount(self) -> None:
        """Begin with the tree."""
        self.query_one(MapView).display = False
        self.query_one("#filter").display = False
        super().on_mount()

    def on_unmount(self) -> None:
        """Nothing looks at the load and at devices any more."""
        if self._devices is not None:
            self._devices.stop()
        if self._timer is not None:
            self._timer.stop()

    def on_screen_suspend(self) -> None:
        """Nobody sees the load while another mode is shown."""
        if self._timer is not None:
            self._timer.pause()

    def on_screen_resume(self) -> None:
        """Look at the load again, and at what changed meanwhile."""
        super().on_screen_resume()
        if not self._asked and self.host.hotplug is not None:
            self._asked = True
            self.run_worker(self._follow, thread=True)
        self._settle()
        if self._timer is not None and self.query_one(MapView).display:
            self._timer.resume()

    def on_topology_screen_devices_changed(self) -> None:
        """Read the machine again soon, if somebody is looking."""
        self._stale = True
        self._settle()

    def _follow(self) -> None:
        hotplug = self.host.hotplug

        def heard(change: Change) -> None:
            del change  # that something changed is all it says; discovery says what is there now
            self.post_message(self.DevicesChanged())

        if hotplug is not None:
            self._devices = hotplug.follow(heard)

    def _settle(self) -> None:
        hotplug = self.host.hotplug
        if hotplug is not None and self._stale and self._settling is None and self.is_current:
            self._settling = self.set_timer(hotplug.settle_seconds, self._settled)

    def _settled(self) -> None:
        self._settling = None
        hotplug = self.host.hotplug
        if hotplug is None or not self.is_current:
            return
        if self.host.runs.running:
            # Reading the machine would disturb what is measured, and the console may stand aside just now.
            self._settle()
            return
        self._stale = False
        self.run_worker(lambda: self._read_again(hotplug), thread=True)

    def _read_again(self, hotplug: Hotplug) -> None:
        try:
            machine = hotplug.discover()
        except SizeupError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)
            return
        self.app.call_from_thread(self.host.renew_machine, machine)

    def action_map(self) -> None:
        """Show the map in place of the tree, or the other way round."""
        shown = self.query_one(MapView)
        shown.display = not shown.display
        self.query_one("#body").display = not shown.display
        if not shown.display:
            self.query_one(ItemTree).focus()
            if self._timer is not None:
                self._timer.pause()
            return
        shown.focus()
        if self._timer is None:
            self._timer = self.set_interval(1.0, self._show_map)
        self._timer.resume()
        self.call_after_refresh(self._show_map)

    def action_find(self) -> None:
        """Search in labels and facts."""
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def leave_input(self) -> None:
        """Go back to the tree."""
        self.query_one("#filter").display = False
        self.query_one(ItemTree).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Go to the first part that holds all words."""
        self._found = holding(self._root(), event.value.split())
        self._place = 0
        self.action_find_next(0)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the place and go back to the tree."""
        del event
        self.leave_input()

    def action_find_next(self, step: int) -> None:
        """Go to another part that was found."""
        if self._found:
            self._place = (self._place + step) % len(self._found)
            self.query_one(ItemTree).reveal(self._found[self._place].key)

    def _show_map(self) -> None:
        host, shown = self.host, self.query_one(MapView)
        if host.machine is None:
            return
        loads = cpu_loads() if host.measures else {}
        shown.show(machine_map(host.machine, loads, max(shown.size.width, 40)))

    def show_machine(self) -> None:
        """Fill the tree anew."""
        super().show_machine()
        root = self._root()
        tree = self.query_one(ItemTree)
        if tree.root.data != root:
            tree.fill(root)
        self._show_item(tree.cursor_node.data if tree.cursor_node is not None else root)

    def show_target(self, target: str) -> None:
        """Put the cursor on a part of the machine."""
        self.query_one(ItemTree).reveal(target)

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Item]) -> None:
        """Show what is known of the part under the cursor."""
        self._show_item(event.node.data)

    def _root(self) -> Item:
        machine = self.host.machine
        return Item("machine", "Reading this machine ...") if machine is None else topology(machine)

    def _show_item(self, item: Item | None) -> None:
        if item is None:
            return
        self.query_one("#detail", Static).update(Group(Text(item.label, style="bold"), Text(), facts_grid(item.facts)))
