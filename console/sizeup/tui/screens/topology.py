"""What this machine is: a map, or a tree in its place, and what is known of the part under the cursor.

While it is shown the machine is watched: load, memory, links, and devices that come and go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partialmethod
from pathlib import Path
from typing import ClassVar

from rich.console import Group
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import ScreenResume
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static, Tree
from textual.widgets.tree import TreeNode

from sizeup.charts.drawing import Drawing
from sizeup.charts.share_bar import ScreenLook
from sizeup.errors import SizeupError
from sizeup.live.hotplug import HotplugMonitor
from sizeup.model.machine import Machine
from sizeup.model.topology import Pu
from sizeup.tui.actions import action_of, bindings, first_key
from sizeup.tui.baseline_sessions import baseline, choices, machine_of
from sizeup.tui.dialogs import ChoiceDialog, ask
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.widgets.cells import END, ScrolledRows
from sizeup.tui.widgets.facts import facts_grid, finding_text
from sizeup.tui.widgets.lines import tabs_text
from sizeup.views.band import Band
from sizeup.views.cards.measured import measured_texts
from sizeup.views.cards.measured_texts import MeasuredTexts
from sizeup.views.machine.difference import MachineComparison, OtherMachine, compared
from sizeup.views.machine.topology import node_item, topology
from sizeup.views.machine.topology_item import ItemChange, TopologyItem, find, holding, unfolding
from sizeup.views.map.cells import Cell, Row
from sizeup.views.map.cores import FULL, LOADS, legend
from sizeup.views.map.details import Problem, about, problems, topology_band
from sizeup.views.map.map import Map, MapMaker
from sizeup.views.map.node_matrix import node_matrices


class ItemTree(Tree[TopologyItem]):
    """A machine as a tree."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list", "tree")]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"tree--{change.value}" for change in ItemChange}

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


_ROLES = {
    "name": "title", "device": "hi", "offline": "disturbed", "barred": "disturbed", "trouble": "status-warn",
    "used": "s1", "free": "track", "core": "faint", "cpu": "faint", "cache": "dim", "value": "hi",
    "added": "s3", "removed": "s4", "changed": "s2", "edge": "frame",
}  # fmt: skip
"""What a map's roles look like."""
_LOAD, _SELECTED = "load-", "selected-"
_CELLS, _BARS = frozenset({"core", "cpu"}), frozenset({"used", "free"})
"""Roles of cores without a load, and of bars, which the cursor leaves as they are."""
_RAMP_STEPS = 6
_DENSITY = {ScreenLook.SIXTEEN: "░▒▓█", ScreenLook.PLAIN: "░▒▓█", ScreenLook.ASCII: ".:+#"}
"""Loads where there are few colors."""


def _drawn(cell: Cell, look: ScreenLook) -> tuple[str, str]:
    """Return the text and the role of a cell: a load as a color of the ramp, or as a density where colors are few."""
    text = cell.text
    if cell.role == "free" and look in (ScreenLook.COLOR, ScreenLook.SIXTEEN):
        text = text.replace("·", "▄")
    if not cell.role.startswith(_LOAD):
        return text, _ROLES.get(cell.role, cell.role)
    step = int(cell.role.removeprefix(_LOAD))
    if look is ScreenLook.COLOR:
        return text, f"ramp-{step * _RAMP_STEPS // LOADS}"
    if set(text) <= {FULL, "█"}:
        text = _DENSITY[look][step * len(_DENSITY[look]) // LOADS] * len(text)
    return text, "s1"


def legend_text(pus: Sequence[Pu], width: int, look: ScreenLook) -> Content:
    """Return what the colors of the cores mean, and the signs that are there."""
    return Content.assemble(*((text, f"${role}") for text, role in (_drawn(cell, look) for cell in legend(pus, width))))


class MapView(ScrolledRows):
    """Sockets, nodes, cores, memory and devices; scrolls by rows where they do not fit."""

    look = ScreenLook.COLOR
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "go(-1, 0)", show=False),
        Binding("right,l", "go(1, 0)", show=False),
    ]

    class Selected(Message):
        """The cursor was moved to a part of the machine."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._map: Map | None = None
        self._shown: Sequence[Row] = ()
        """The rows in sight."""
        self.chosen = ""
        """Key of the part under the cursor; empty where none is."""

    def show(self, shown: Map) -> None:
        """Show a map in place of the last."""
        self._map = shown
        self._redraw()

    def choose(self, *keys: str) -> None:
        """Put the cursor on the first of some parts that is on the map, and scroll to it."""
        places = self._places()
        chosen = next((key for key in keys if key in places), "")
        if chosen != self.chosen:
            self.chosen = chosen
            if chosen:
                y = places[chosen][0]
                if not self._top <= y < self._top + self._visible_rows:
                    self._top = max(y - self._visible_rows // 2, 0)
            self._redraw()

    def on_click(self, event: events.Click) -> None:
        """Select the part under the mouse."""
        x = 0
        for cell in self._shown[event.y] if event.y < len(self._shown) else ():
            x += len(cell.text)
            if event.x < x:
                self._select(cell.key, None)
                return

    def action_go(self, across: int, down: int) -> None:
        """Select the nearest part in a direction; where there is none, scroll."""
        places = self._places()
        if self.chosen not in places:
            self._select(next(iter(places), ""), 0)
            return
        y, x, end = places[self.chosen]
        found: list[tuple[int, int, str]] = []
        for key, (row, start, stop) in places.items():
            if down and (row - y) * down > 0:
                gap = max(start - end, x - stop, 0)
                found.append((abs(row - y) + 2 * gap, abs(start - x), key))
            elif across and row == y and (start - x) * across > 0:
                found.append((abs(start - x), 0, key))
        if found:
            self._select(min(found)[2], None)
        elif down:
            self._move_by(down)

    def _go_to_end(self, rows: int) -> None:
        """Go to the last part, of rows below 0 to the first."""
        places = self._places()
        self._select(next(iter(places) if rows < 0 else reversed(places), ""), max(rows, 0))

    action_cursor_up, action_cursor_down = partialmethod(action_go, 0, -1), partialmethod(action_go, 0, 1)
    action_first, action_last = partialmethod(_go_to_end, -END), partialmethod(_go_to_end, END)

    def _select(self, key: str, top: int | None) -> None:
        if top is not None:
            self._top = top
        if key:
            self.choose(key)
            self.post_message(self.Selected(key))
        self._redraw()

    def _places(self) -> dict[str, tuple[int, int, int]]:
        """Row, first and behind-last column of the first cells of each part."""
        places: dict[str, tuple[int, int, int]] = {}
        for y, row in enumerate(() if self._map is None else self._map.rows):
            x = 0
            for cell in row:
                end = x + len(cell.text)
                if cell.key:
                    before = places.setdefault(cell.key, (y, x, end))
                    if before[0] == y and before[2] == x:
                        places[cell.key] = (y, before[1], end)
                x = end
        return places

    def _redraw(self) -> None:
        width, height = self.size
        if self._map is None or not width or not height:
            return
        drawing = Drawing(width, height)
        below = self._map.below
        room = height - len(below)
        higher = len(self._map.rows) > room
        self._shown = self._visible(self._map.rows, room - higher)
        left, line, right = "   " if any(row[0].role == "edge" for row in self._shown[-1:]) else "╰─╯"
        note = f" {self.border_subtitle} {line}{right}"  # in the edge of a frame that is cut, else below one
        edge = (Cell(f"{left:{line}<{width - len(note)}}", "frame"), Cell(note, "dim"))
        for y, row in enumerate((*self._shown, *[edge] * higher, *below)):
            x = 0
            for cell in row:
                drawing.put(x, y, *self._cell(cell))
                x += len(cell.text)
        self.present(drawing)

    def _cell(self, cell: Cell) -> tuple[str, str]:
        text, role = _drawn(cell, self.look)
        if not cell.key or cell.key != self.chosen or cell.role in _BARS:
            return text, role
        if cell.role.startswith(_LOAD) or cell.role in _CELLS:
            return "◆" * len(text), "status-active"
        return text, f"{_SELECTED}{role}" if self.look in (ScreenLook.COLOR, ScreenLook.SIXTEEN) else "cursor"

    def style_of(self, role: str) -> str:
        """Return what a role looks like, with the ground of the part under the cursor."""
        style = super().style_of(role.removeprefix(_SELECTED))
        return f"{style} on $sel" if role.startswith(_SELECTED) else style


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
        """Draw the map or the page again once it has its new size."""
        self.call_after_refresh(self._show_map)

    def show_run(self) -> None:
        """Show what was measured between nodes by now."""
        super().show_run()
        if self.is_mounted and self._maker is not None and self._state() != self._maker[0]:
            self._show_map()

    def action_map(self) -> None:
        """Go to the tree, or back to the map or the page that was shown."""
        self.set_class(not self.has_class("-tree"), "-tree")
        self._show_view()

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

    def _show_view(self) -> None:
        """Show what was chosen, and give it the focus: the map, a page, or the tree."""
        tree = self.has_class("-tree")
        self.query_one("#parts-pane").display = tree
        self.query_one(MapView).display = self._shows_loads
        self.query_one(MachinePage).display = not tree and self._page != _MAP
        self.query_one("#tree" if tree else "#map" if self._page == _MAP else "#page").focus()
        self._begin_loads()
        self._entitle()
        self.call_after_refresh(self._show_map)

    def action_diff(self) -> None:
        """Hold the machine against the baseline, or against a session to be chosen; alone again if it is."""
        if self.host.compared_with is not None:
            self._compare_with(None)
            return
        with self.host.telling_errors():
            if (path := baseline()) is not None:
                self._compare_with(machine_of(path))
            else:
                self.action_choose_other()

    def action_choose_other(self) -> None:
        """Choose a session to hold the machine against."""

        def answered(path: str) -> None:
            with self.host.telling_errors():
                self._compare_with(machine_of(path))

        with self.host.telling_errors():
            if answers := choices(self.host.runs.path):
                ask(self.app, ChoiceDialog("Compare this machine with which session?\n", answers), answered)
            else:
                words = "No other session to compare with; for a file use: sizeup --against FILE"
                self.notify(words, severity="warning", markup=False)

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
            self._found = tuple(part for _, _, part, _ in self._problems() if part is not None)
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
        lives = machine is not None and self.host.live_source is not None and self._shows_loads
        pus = machine.pus if machine is not None else ()
        self.query_one("#legend", Static).update(legend_text(pus, width, self.host.look) if lives else "")

    def _show_map(self) -> None:
        """Draw the map, or the page in its place."""
        machine, shown, page = self.host.machine, self.query_one(MapView), self.query_one(MachinePage)
        if machine is not None and page.display:
            page.show(machine, self._page)
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
