"""What this machine is: a tree, and what is known of the part under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static, Tree

from sizeup.live.load import cpu_loads
from sizeup.tui.actions import bindings
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

    def __init__(self) -> None:
        super().__init__()
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
        """Nothing looks at the load any more."""
        if self._timer is not None:
            self._timer.stop()

    def on_screen_suspend(self) -> None:
        """Nobody sees the load while another mode is shown."""
        if self._timer is not None:
            self._timer.pause()

    def on_screen_resume(self) -> None:
        """Look at the load again."""
        super().on_screen_resume()
        if self._timer is not None and self.query_one(MapView).display:
            self._timer.resume()

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
