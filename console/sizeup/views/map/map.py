"""A machine as a map: sockets as frames with their nodes, cores and devices; from four on one band per node.

Below them stand the figures between nodes, what belongs to no node, and what is known of the selected part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.views.machine.difference import MachineComparison
from sizeup.views.machine.facts import setting_texts
from sizeup.views.machine.topology_item import TopologyItem
from sizeup.views.map.cells import (
    Cell,
    Row,
    bar,
    beside,
    device_cells,
    flowed,
    memory_used,
    padded,
    panel,
    rule,
    width_of,
    wrapped,
)
from sizeup.views.map.cores import CORE, CORE_SIZES, FULL, CoreSize, CpuStates, core_line, evenly
from sizeup.views.map.details import details
from sizeup.views.map.node_matrix import NodeMatrix
from sizeup.views.map.parts import Box, MapParts, node_name
from sizeup.views.map.sections import Section, channel_rows, device_section, matrix_rows, node_rows, settings_section

_MOST_BOXES = 8
"""Frames of sockets, and of nodes in none; more are bands."""
_LEAST_BOX = 38
"""Columns of a socket beside another one."""
_DETAIL_ROWS, _FEW_DETAIL_ROWS, _TALL = 8, 5, 34
"""Rows for the selected part at least; fewer on a screen that is less tall."""
_LEFT = 0.6
"""Share of the width that the left one of the panels below takes."""
_HIGH, _HIGH_CELL = 50, 2
"""From so many rows on cores are drawn larger; of cells that are higher than so many rows half the map is below."""
_WIDE = 100
"""From so many columns on it is the larger one."""
_GAP = 2
_LEAST_CORES = 8
_LEAST_BAR = 8


class Bands:
    """The bands of one machine."""

    def __init__(self, parts: MapParts) -> None:
        self._parts = parts
        self._names = max(map(len, parts.nodes), default=0) + 1
        self._most = max((len(core_line(part.groups, CpuStates({}, {}))) for part in parts.nodes.values()), default=0)

    def in_columns(self, nodes: Sequence[NumaNode], cpus: CpuStates, width: int, height: int) -> list[Row]:
        """Return the bands in the fewest columns whose rows fit, or in the most; below them the devices by node."""
        below = self._devices(nodes, width)
        rows = [row for band in self._draw(nodes, cpus, width) for row in band]
        ends = max((width_of(end) for _, end in self._memory(nodes).values()), default=0)
        for count in (2, 3, 4):
            room = (width - (count - 1) * _GAP) // count
            first = self._names + min(self._most, _LEAST_CORES) + _GAP + _LEAST_BAR + ends
            if len(rows) + len(below) <= height or room < first:  # where memory stands in the first row of a band
                break
            columns = _split(self._draw(nodes, cpus, room), count)
            if max(map(len, columns)) >= len(rows):  # cores in several rows each
                break
            rows = beside(columns, [room] * len(columns), _GAP)
        return [*rows, *below]

    def legend(self, cpus: CpuStates) -> Row:
        """Return what the signs of a band are."""
        caches = any(len(part.groups) > 1 for part in self._parts.nodes.values())
        core = Cell(FULL if cpus.loads else CORE, cpus.role)
        shared = (Cell("   | ", "cache"), Cell("between caches", "dim")) if caches else ()
        return (core, Cell(f" {cpus.role}", "dim"), *shared, Cell("   ▄ ", "used"), Cell("memory used ", "dim"))

    def _draw(self, nodes: Sequence[NumaNode], cpus: CpuStates, width: int) -> list[list[Row]]:
        """Return the rows of each band: cores, memory and, where they have room, devices stand in columns."""
        memory = self._memory(nodes)
        ends = max((width_of(end) for _, end in memory.values()), default=0)
        free = max(width - self._names - _GAP - ends - _LEAST_BAR, _LEAST_CORES)
        each = 2 if 2 * self._most <= free else 1
        cores_width = min(each * self._most, free)
        length = max(width - self._names - cores_width - _GAP - ends, _LEAST_BAR)
        rest, bands = " " * self._names, []
        for name, part in self._parts.nodes.items():
            cells = core_line(part.groups, cpus, each)
            step = max(cores_width // each, 1)
            lines = [cells[at : at + step] for at in range(0, len(cells), step)] or [[]]
            key, (share, end) = part.key, memory.get(name, (None, ()))
            used: Row = end[1:] if share is None else (*bar(share, length, key), *end)
            begin = (Cell(name.ljust(self._names), "name", key), *padded(lines[0], cores_width + _GAP))
            first: Row = (*begin, *padded(used, length + ends))
            more = [[Cell(rest, "text"), *line] for line in lines[1:]]
            if width_of(first) > width:
                first, more = begin, [[Cell(rest, "text"), *used], *more]
            bands.append([first, *map(tuple, more)])
        return bands

    def _devices(self, nodes: Sequence[NumaNode], width: int) -> list[Row]:
        """Return the pools of huge pages that are used and the devices, those of a node behind its name."""
        pools = {node_name(node): self._parts.pools(node) for node in nodes}
        rows: list[Row] = []
        for name, part in self._parts.nodes.items():
            found = [*pools.get(name, ()), *map(device_cells, part.devices)]
            rows += flowed(found, width, name.ljust(self._names))
        return [rule((Cell("Devices by node", "name"),), width), *rows] if rows else []

    def _memory(self, nodes: Sequence[NumaNode]) -> dict[str, tuple[float | None, Row]]:
        """Return the share of memory that is used, by node, and what stands behind its bar: the fullest is bright."""
        texts = [memory_used(node)[1].removesuffix(" used") for node in nodes]  # the legend says so
        shares = [memory_used(node)[0] for node in nodes]
        highest = sorted(share for share in shares if share is not None)[-2:]
        ends: dict[str, tuple[float | None, Row]] = {}
        for node, share, text in zip(nodes, shares, texts, strict=True):
            key, role = f"node:{node.os_id}", "name" if highest[-1:] == [share] != highest[:-1] else "text"
            words = Cell(text.rjust(max(map(len, texts))), role, key)
            ends[node_name(node)] = share, (Cell(" ", "text"), words, *self._parts.marks(key))
        return ends


class Map(Struct, frozen=True):
    """Rows of cells, and what stays below them while they scroll."""

    rows: tuple[Row, ...]
    below: tuple[Row, ...] = ()


class MapMaker:
    """The constant part of a machine's map, so that refreshing load and memory is cheap."""

    def __init__(
        self,
        machine: Machine,
        comparison: MachineComparison | None = None,
        matrices: Sequence[NodeMatrix] = (),
        measured: str = "",
        *,
        live: bool = False,
    ) -> None:
        """With a ``comparison``, differences are marked and removed parts are listed.

        ``measured`` is what was measured of the memory of the only node; ``live`` is whether loads will be known.
        """
        self._live = live
        self._findings, self._settings = machine.findings, setting_texts(machine)  # read once, drawn each second
        self._matrices = matrices
        self._measured = measured
        self._parts = MapParts(machine, comparison)
        self._bands = Bands(self._parts)
        self._packages = {node.os_id: node.packages for node in machine.nodes}
        self._channels = channel_rows(machine)
        self._sockets = [box for box in self._parts.boxes if any(part.groups for part in box.parts)]
        self._layouts: dict[tuple[int, int, bool], tuple[bool, CoreSize]] = {}

    def draw(
        self,
        nodes: Sequence[NumaNode],
        loads: Mapping[int, float],
        width: int,
        height: int,
        chosen: TopologyItem | None = None,
    ) -> Map:
        """The map with the memory of ``nodes``; ``loads`` are percent by CPU and may be empty, as on a recording.

        It fills ``height`` rows as well as it can, the last of them with what is known of the ``chosen`` part.
        """
        now = {node.os_id: node for node in nodes}
        cpus = CpuStates(self._parts.states, loads, self._parts.cell_role)
        across = (width + 1) // (_LEAST_BOX + 1)
        few = across > 0 and len(self._parts.boxes) <= _MOST_BOXES
        layouts = [few] if len(self._sockets) <= across or not few else [True, False]
        inside = (width if chosen is None else int(width * _LEFT) if width >= _WIDE else width // 2) - 4
        least = _DETAIL_ROWS if height >= _TALL else _FEW_DETAIL_ROWS
        key = (width, height, self._live or bool(loads))
        columns = [CoreSize(0, rows=rows) for rows in (height // 6, 4, 3)] if key[2] and len(self._sockets) == 1 else []
        large = height >= _HIGH and len(layouts) == 1
        high = [CoreSize(wide, height=rows) for wide in (10, 8, 6, 4, 2) for rows in (4, 3, 2)] if large else []
        sizes = [
            (framed, replace(size, air=air, listed=listed))
            for framed in layouts
            for listed in (True, False)
            for size in (*columns, *high, *CORE_SIZES)
            for air in (True, False)
        ]
        for framed, size in [self._layouts[key]] if key in self._layouts else [*sizes, (layouts[-1], CORE_SIZES[-2])]:
            if framed:
                top = self._framed(now, cpus, size, width)
            else:
                bands = self._bands.in_columns(nodes, cpus, width - 4, height - least - 4)
                top = panel((Cell("Nodes", "name"),), bands, width, basis=self._bands.legend(cpus))
            sections = self._sections(size, inside, framed=framed, whole=size.listed and height >= _HIGH)
            left = height - len(top) - 2
            foot = height // 2 if size.height > _HIGH_CELL else least
            if max(sum(len(body) + 1 for _, _, body in sections) - 1, foot) <= left:
                self._layouts[key] = framed, size
                longer = self._sections(size, inside, framed=framed, whole=True, with_facts=True)
                return Map((*top, *self._foot((sections, longer), chosen, inside, width, left)))
        self._layouts[key] = framed, size
        sections = self._sections(size, width - 4, framed=framed)
        rows = [*top, *(row for title, basis, body in sections for row in panel(title, body, width, basis=basis))]
        return Map(tuple(rows), tuple(self._details(chosen, width, least)))

    def _framed(self, now: Mapping[int, NumaNode], cpus: CpuStates, size: CoreSize, width: int) -> list[Row]:
        """Return the sockets side by side, in as many rows as they need, and below them the nodes that are in none."""
        count = evenly(max(len(self._sockets), 1), (width + 1) // (_LEAST_BOX + 1))
        others = [box for box in self._parts.boxes if box not in self._sockets]
        lines = [group[at : at + count] for group in (self._sockets, others) for at in range(0, len(group), count)]
        rows: list[Row] = []
        for boxes in lines:
            least = (width + 1) // count - 1
            each = [least] * len(boxes)
            bodies = [self._box_rows(box, now, cpus, size, least - 4) for box in boxes]
            high = max(map(len, bodies), default=0)
            frames = []
            for box, body in zip(boxes, bodies, strict=True):
                words = ""
                for fact in box.facts:  # as many as fit beside the name
                    longer = f"{words} · {fact}" if words else fact
                    if len(longer) + len(box.title) + 12 > least:
                        break
                    words = longer
                basis = (Cell(f"{words} ", "dim", box.key),) if words else ()
                frames.append(panel((Cell(box.title, "name", box.key),), body, least, high, basis))
            rows += beside(frames, each, 1 + (width + 1) % count // max(count - 1, 1))
        return rows

    def _box_rows(
        self, box: Box, now: Mapping[int, NumaNode], cpus: CpuStates, size: CoreSize, width: int
    ) -> list[Row]:
        """Return a socket: memory, cores and caches, and beside other sockets the devices of each node."""
        alone = len(self._sockets) == 1
        channels = self._channels if alone and width >= _WIDE else ()
        beside_channels = max(map(width_of, channels), default=-_GAP) + _GAP
        inside = width - beside_channels
        rows: list[Row] = []
        for part in box.parts:
            node = None if part.os_id is None else now.get(part.os_id)
            rows += node_rows(part, node, self._parts, cpus, size, inside, self._measured)
        rows += wrapped(box.caches, inside, "dim")
        if channels:
            rows = beside((rows, channels), (inside, beside_channels - _GAP), _GAP)
        for part in box.parts if not alone else ():
            name = f"Devices on node {part.os_id}"
            title, basis, body = device_section(name, part.devices, width, listed=size.listed)
            rows += [*[()] * size.air, rule(title, width, basis), *body] if body else []
        return rows

    def _sections(
        self, size: CoreSize, inside: int, *, framed: bool, whole: bool = False, with_facts: bool = False
    ) -> list[Section]:
        """Return what stands below the nodes, each with its title: ``whole`` distances, devices ``with_facts``."""
        found: list[Section] = []
        if self._matrices:
            whole = whole or framed or len(self._packages) <= 8
            rows = matrix_rows(self._matrices, self._packages, inside, whole=whole)
            found.append(((Cell("Between the nodes", "name"),), (), rows))
        here = [item for part in self._parts.nodes.values() for item in part.devices]
        groups = [("Devices", here)] if framed and len(self._sockets) == 1 else []
        shown = [(title, items) for title, items in (*groups, *self._parts.below) if items]
        found += [
            device_section(title, items, inside, listed=size.listed, with_facts=with_facts) for title, items in shown
        ]
        return found

    def _foot(
        self, both: Sequence[list[Section]], chosen: TopologyItem | None, inside: int, width: int, rows: int
    ) -> list[Row]:
        """Return the panels below the nodes: the sections, longer ones if they fit, with the settings; the details."""
        used, more = (sum(len(body) + 1 for _, _, body in sections) for sections in both)
        settings = settings_section(self._settings, inside, rows - used)
        sections = [*both[more + len(settings[2]) <= rows], *([settings] if settings[2] else [])]
        if not sections:
            return self._details(chosen, width, rows)
        (title, basis, body), *others = sections
        body = [*body, *(row for name, end, more in others for row in (rule(name, inside, end), *more))]
        if chosen is None:
            return panel(title, body, width, basis=basis)
        left = panel(title, body, inside + 4, rows, basis)
        right = self._details(chosen, width - inside - 5, rows)
        return beside((left, right), (inside + 4, width - inside - 5))

    def _details(self, chosen: TopologyItem | None, width: int, rows: int) -> list[Row]:
        if chosen is None:
            return []
        body = details(chosen, self._findings, width - 4, rows)
        title = (Cell(chosen.name or chosen.label, "name", chosen.key),)
        return panel(title, body, width, rows, (Cell("selected ", "dim"),))


def _split(bands: Sequence[list[Row]], count: int) -> list[list[Row]]:
    """Return bands in that many columns of about the same height, none of them torn apart."""
    total = sum(map(len, bands))
    for high in range(-(-total // count), total + 1):
        columns: list[list[Row]] = [[]]
        for band in bands:
            if columns[-1] and len(columns[-1]) + len(band) > high:
                columns.append([])
            columns[-1] += band
        if len(columns) <= count:
            return columns
    return [[row for band in bands for row in band]]
