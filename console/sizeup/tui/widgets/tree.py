"""A machine as a tree that knows the keys of vi, and takes text from hardware literally."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from sizeup.tui.actions import bindings
from sizeup.views.machine.topology_item import ItemChange, TopologyItem, unfolding


class ItemTree(Tree[TopologyItem]):
    """A machine as a tree."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list", "tree")]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"tree--{change.value}" for change in ItemChange}
    DEFAULT_CSS = """
    ItemTree { background: $background; padding: 0; scrollbar-size-vertical: 1; }
    ItemTree:focus { background-tint: $foreground 0%; }
    ItemTree > .tree--added { color: $text-success; }
    ItemTree > .tree--removed { color: $text-error; }
    ItemTree > .tree--changed { color: $text-warning; }
    """

    def __init__(self, root: TopologyItem, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(Text(root.marked_label), root, id=id)
        self.guide_depth = 2
        self.show_root = True
        self.auto_expand = False
        self._fits = False
        self._folded: set[str] = set()
        """Parts that the user folded, which no room that comes later unfolds."""
        self.fill(root)

    def render_label(self, node: TreeNode[TopologyItem], base_style: Style, style: Style) -> Text:
        """What differs stands out by color as well as by its sign and word; what is too long ends in dots."""
        label = super().render_label(node, base_style, style)
        depth, above = 0, node.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        if self.size.width:  # widths are asked for before there is one
            width = self.size.width - self.scrollbar_size_vertical - depth * self.guide_depth
            label.truncate(max(width, 1), overflow="ellipsis")
        if node.data is not None and node.data.change is not None and node is not self.cursor_node:
            with suppress(KeyError):  # widths are asked for before there are colors
                label.stylize(self.get_component_rich_style(f"tree--{node.data.change.value}", partial=True))
        return label

    def fill(self, root: TopologyItem, *, afresh: bool = False, fit: bool = True) -> None:
        """Show another machine, or the same one read again; unfolded parts stay unfolded unless all is new.

        What is new opens as far as it fits; without ``fit`` only what its parts say.
        """
        open_keys = {node.data.key for node in self._walk(self.root) if node.data is not None and node.is_expanded}
        chosen = self.cursor_node.data.key if self.cursor_node is not None and self.cursor_node.data else root.key
        self._fits = fit
        if afresh or not self.root.children:
            self._folded = set()
            open_keys = set(self._unfolding(root))
        self.clear()
        self.root.set_label(Text(root.marked_label))
        self.root.data = root
        self._grow(self.root, root, open_keys)
        self.root.expand()
        self.reveal(chosen)

    def reveal(self, key: str) -> bool:
        """Put the cursor on a part, its parents unfolded; whether there is such a part."""
        for node in self._walk(self.root):
            if node.data is not None and key in (node.data.key, *node.data.also):
                parent = node.parent
                while parent is not None:
                    parent.expand()
                    parent = parent.parent
                self.call_after_refresh(self.move_cursor, node)
                return True
        return False

    def _unfolding(self, root: TopologyItem) -> frozenset[str]:
        return unfolding(root, self.size.height if self._fits else 0)

    def on_resize(self) -> None:
        """Unfold what there is room for now; what is unfolded stays."""
        if self.root.data is None:
            return
        keys = self._unfolding(self.root.data) - self._folded
        for node in self._walk(self.root):
            if node.data is not None and node.data.key in keys and not node.is_expanded:
                node.expand()

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[TopologyItem]) -> None:
        """Remember what the user does not want to see."""
        if event.node.data is not None:
            self._folded.add(event.node.data.key)

    def _grow(self, node: TreeNode[TopologyItem], item: TopologyItem, open_keys: set[str]) -> None:
        for child in item.children:
            if child.children:
                expand = child.key in open_keys
                self._grow(node.add(Text(child.marked_label), child, expand=expand), child, open_keys)
            else:
                node.add_leaf(Text(child.marked_label), child)

    def _walk(self, node: TreeNode[TopologyItem]) -> list[TreeNode[TopologyItem]]:
        return [node, *(below for child in node.children for below in self._walk(child))]

    action_first, action_last = Tree.action_scroll_home, Tree.action_scroll_end

    def action_fold(self) -> None:
        """Fold this part; if it is, go to the part around it."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand and node.children:
            node.collapse()
        elif node.parent is not None:
            self.move_cursor(node.parent)

    def action_unfold(self) -> None:
        """Unfold this part; if it is, go to the first part inside."""
        node = self.cursor_node
        if node is None or not node.children:
            return
        if node.is_expanded:
            self.move_cursor(node.children[0])
        else:
            node.expand()
