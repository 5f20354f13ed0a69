"""What this machine is: a tree, and what is known of the part under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static, Tree

from sizeup.tui.actions import bindings
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.facts import facts_grid
from sizeup.tui.widgets.lists import ItemTree
from sizeup.views.topology import Item, topology


class TopologyScreen(ModeScreen):
    """Packages, nodes, caches, cores and devices."""

    SCOPE = "topology"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("topology")]

    def body(self) -> Iterable[Widget]:
        """The tree beside its details."""
        with Horizontal(id="body"):
            yield ItemTree(self._root(), id="tree")
            with VerticalScroll(id="detail-pane", can_focus=True):
                yield Static(id="detail", markup=False)

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
