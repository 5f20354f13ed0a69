"""A machine as a map: one band per node, a cell per core, memory and huge pages as bars, then what hangs on it.

Where cores are unknown each CPU has a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode, pool_key
from sizeup.procfs.lists import format_list
from sizeup.text import plural
from sizeup.units import format_bytes
from sizeup.views.devices import Devices
from sizeup.views.difference import MachineComparison
from sizeup.views.topology_item import ItemChange, TopologyItem

LOADS = 10
"""The number of load steps in a core's cell, 0 to 9."""

_CORE, _OFFLINE, _NOT_ALLOWED, _USED, _FREE = "■", "x", "-", "█", "·"
_SIGNS = (
    ("core", f"{_CORE} core"),
    ("cpu", f"{_CORE} CPU, cores unknown"),
    ("load", "0-9 tenths of load"),
    ("offline", f"{_OFFLINE} offline"),
    ("barred", f"{_NOT_ALLOWED} not allowed"),
    ("cache", "| between caches"),
    ("used", f"{_USED} used, {_FREE} free"),
)
"""Roles of cells, and the legend of their signs."""
_WIDE = 110
"""From this width, bars are twice as long."""
_BAR_CELLS = 10
_LEAST_CORES = 8
_ALIKE = 6
"""If a node has more disks without faults, they are counted instead of named."""


class Cell(Struct, frozen=True):
    """Text with its role: ``core``, ``load-7``, ``offline``, ``used``, ``trouble``, ``added``."""

    text: str
    role: str


Row = tuple[Cell, ...]
_Cpus = tuple[int, ...]
"""The CPUs that one cell represents."""


class Map(Struct, frozen=True):
    """Rows of cells with their legend."""

    heading: Row
    rows: tuple[Row, ...]
    legend: str


class _Column(Struct, frozen=True):
    """A column to the right of the cores, by node name."""

    heading: str
    entries: Mapping[str, Row]

    @property
    def width(self) -> int:
        return max([len(self.heading), *map(_width, self.entries.values())]) if self.entries else 0

    def cells(self, name: str) -> Row:
        own = self.entries.get(name, ())
        return (*own, Cell(" " * (self.width - _width(own)), "text"))


class MapMaker:
    """The constant part of a machine's map, so that refreshing load and memory is cheap."""

    def __init__(self, machine: Machine, comparison: MachineComparison | None = None) -> None:
        """With a ``comparison``, differences are marked and removed parts are listed."""
        self._changes = {} if comparison is None else _changes(comparison.root)
        self._states = {pu.cpu: (pu.online, pu.allowed) for pu in machine.pus}
        devices = Devices(machine)
        self._troubles = devices.troubles
        self._cell_role = "cpu" if machine.pus and not machine.cores else "core"
        cells = [core.pus for core in machine.cores] or [(pu.cpu,) for pu in machine.pus]
        self._groups: dict[str, list[list[_Cpus]]] = {}
        self._devices: dict[str, list[TopologyItem]] = {}
        placed: set[int] = set()
        for node in machine.nodes:
            pus = frozenset(node.pus)
            here = [cpus for cpus in cells if not pus.isdisjoint(cpus)]
            placed.update(cpu for cpus in here for cpu in cpus)
            name = _node_name(node)
            self._groups[name] = _groups(machine, here)
            self._devices[name] = self._shown(devices.on(node.os_id))
        for index, package in enumerate(machine.packages):
            here = [cpus for cpus in cells if cpus[0] in package.pus and placed.isdisjoint(cpus)]
            if here:
                self._groups[f"S{index}"] = _groups(machine, here)
        if not machine.packages and not machine.nodes and cells:
            self._groups["CPUs"] = _groups(machine, cells)
        self._below = [
            ("Across", self._shown(devices.across())),
            ("No node", self._shown(devices.on(None))),
            ("NFS", self._shown(devices.mounts())),
            ("Gone", [] if comparison is None else _gone(comparison)),
        ]
        self._names = max(map(len, [*self._groups, *(name for name, items in self._below if items)]), default=0) + 1
        self._most = max(map(_cells, self._groups.values()), default=0)

    def draw(self, nodes: Sequence[NumaNode], loads: Mapping[int, float], width: int) -> Map:
        """The map with the memory of ``nodes``; ``loads`` are percent by CPU and may be empty, as on a recording."""
        bar = _BAR_CELLS * (2 if width >= _WIDE else 1)
        by_name = {_node_name(node): node for node in nodes}
        columns = [_Column("Memory free", self._memory(by_name, bar))]
        pools = self._pools(by_name, bar // 2)
        room = max(min(self._most, width - self._names - columns[0].width - 2), _LEAST_CORES)
        inline = self._names + room + sum(2 + column.width for column in (*columns, *pools)) <= width
        columns += pools if inline else []
        rows: list[Row] = []
        for name, groups in self._groups.items():
            rows += self._band(name, groups, loads, room, [column.cells(name) for column in columns])
            if not inline:
                pool_rows = [
                    (Cell(f"{pool.heading} ", "text"), *pool.entries[name]) for pool in pools if name in pool.entries
                ]
                rows += self._listed("", pool_rows, width)
            rows += self._listed("", map(_device, self._devices.get(name, ())), width)
        for name, items in self._below:
            rows += self._listed(name, map(_device, items), width)
        heading = (
            Cell("Node".ljust(self._names), "name"),
            Cell(("Cores" if self._cell_role == "core" else "CPUs").ljust(room), "name"),
            *(Cell(f"  {column.heading.ljust(column.width)}", "name") for column in columns if column.entries),
        )
        return Map(heading, tuple(rows), _legend(self._groups, rows, width))

    def _band(
        self, name: str, groups: Sequence[Sequence[_Cpus]], loads: Mapping[int, float], room: int, beside: Sequence[Row]
    ) -> list[Row]:
        """Return the cores of a node in as many rows as needed, with ``beside`` at the end of the first row."""
        rows: list[list[Cell]] = [[Cell(name.ljust(self._names), "name")]]
        used = 0
        for number, group in enumerate(groups):
            cells = ([Cell("|", "cache")] if number else []) + [self._core(cpus, loads) for cpus in group]
            for cell in cells:
                if used >= room:
                    rows.append([Cell(" " * self._names, "text")])
                    used = 0
                rows[-1].append(cell)
                used += 1
        first = rows[0]
        first.append(Cell(" " * (room - (len(first) - 1)), "text"))
        for entry in beside:
            first += [Cell("  ", "text"), *entry]
        return [tuple(row) for row in rows]

    def _core(self, cpus: _Cpus, loads: Mapping[int, float]) -> Cell:
        online = [cpu for cpu in cpus if self._states.get(cpu, (True, True))[0]]
        if not online:
            return Cell(_OFFLINE, "offline")
        if not any(self._states.get(cpu, (True, True))[1] for cpu in online):
            return Cell(_NOT_ALLOWED, "barred")
        known = [loads[cpu] for cpu in online if cpu in loads]
        if not known:
            return Cell(_CORE, self._cell_role)
        load = min(int(max(known) / 100 * LOADS), LOADS - 1)
        return Cell(str(load), f"load-{load}")

    def _memory(self, nodes: Mapping[str, NumaNode], bar: int) -> dict[str, Row]:
        """Return bar and text by node, aligned so that the values form a column."""
        words = {name: _memory_words(node) for name, node in nodes.items()}
        room = max(map(len, words.values()), default=0)
        found: dict[str, Row] = {}
        for name, node in nodes.items():
            cells: Row = (Cell(words[name], "text"),)
            if node.memory_bytes and node.free_bytes is not None:
                cells = (*_bar(1 - node.free_bytes / node.memory_bytes, bar), Cell(f" {words[name]:>{room}}", "text"))
            cells = (*cells, *_trouble(self._troubles.get(f"node:{node.os_id}")))
            found[name] = (*cells, *_mark(self._changes.get(f"node:{node.os_id}")))
        return found

    def _pools(self, nodes: Mapping[str, NumaNode], bar: int) -> list[_Column]:
        """Return a column for each huge page size of any node."""
        found: dict[int, dict[str, Row]] = {}
        for name, node in nodes.items():
            for pool in node.huge_pages:
                if pool.total:
                    cells: Row = (
                        *_bar(1 - pool.free / pool.total, bar),
                        Cell(f" {pool.free} of {pool.total}", "text"),
                        *_trouble(self._troubles.get(pool_key(node.os_id, pool.page_bytes))),
                    )
                    found.setdefault(pool.page_bytes, {})[name] = cells
        return [_Column(f"{format_bytes(size)} pages free", entries) for size, entries in sorted(found.items())]

    def _shown(self, items: Sequence[TopologyItem]) -> list[TopologyItem]:
        """Return the items that the map shows; bridges are left out, and many disks without faults become one item."""
        items = [replace(item, change=self._changes.get(item.key)) for item in items if item.brief]
        plain = [item for item in items if item.key.startswith("disk:") and not (item.trouble or item.change)]
        if len(plain) <= _ALIKE:
            return items
        words = f"{_name(plain[0])} to {_name(plain[-1])}: {plural(len(plain), 'disk')}"
        return [*(item for item in items if item not in plain), TopologyItem("disks", words, brief=words)]

    def _listed(self, name: str, entries: Iterable[Sequence[Cell]], width: int) -> list[Row]:
        """Return rows with as many entries as fit; an entry that is longer than a row is cut."""
        rows: list[list[Cell]] = []
        used = width
        for cells in entries:
            gap = 3 if used > self._names else 0
            if used + gap + _width(cells) > width:
                rows.append([Cell((name if not rows else "").ljust(self._names), "name")])
                used, gap = self._names, 0
            rows[-1] += [Cell(" " * gap, "text"), *_cut(cells, width - used)]
            used += gap + _width(cells)
        return [tuple(row) for row in rows]


def _node_name(node: NumaNode) -> str:
    packages = f"S{format_list(node.packages)} " if node.packages else ""
    return f"{packages}N{node.os_id}"


def _groups(machine: Machine, cores: Sequence[_Cpus]) -> list[list[_Cpus]]:
    """Return cores, each as its CPUs, grouped by the largest cache that they share; the others as one group."""
    highest = max((cache.level for cache in machine.caches), default=0)
    caches = {cpu: cache.shared_by for cache in machine.caches if cache.level == highest for cpu in cache.shared_by}
    groups: dict[_Cpus, list[_Cpus]] = {}
    for cpus in cores:
        shared = caches.get(cpus[0], ())
        groups.setdefault(shared if len(shared) > len(cpus) else (), []).append(cpus)
    return list(groups.values())


def _cells(groups: Sequence[Sequence[_Cpus]]) -> int:
    """Return the columns of a band: one per core, and a bar between caches."""
    return sum(map(len, groups)) + max(len(groups) - 1, 0)


def _name(item: TopologyItem) -> str:
    return item.brief.partition(" ")[0]


def _changes(item: TopologyItem) -> dict[str, ItemChange]:
    """Return the changes of parts by key; a node counts as changed if its cores or caches are."""
    found: dict[str, ItemChange] = {}
    for child in item.children:
        found |= _changes(child)
    if item.change is not None:
        found[item.key] = item.change
    elif item.key.startswith("node:") and any(key.startswith(("core:", "cache:")) for key in found):
        found[item.key] = ItemChange.CHANGED
    return found


def _gone(comparison: MachineComparison) -> list[TopologyItem]:
    """Return what was removed: devices by name and values, sockets and nodes by label, other parts as a count."""
    gone = [part for part in comparison.parts if part.change is ItemChange.REMOVED]
    shown = [
        replace(part, brief=part.brief or part.label.removeprefix("- removed "))
        for part in gone
        if part.brief or part.key.startswith(("removed/package:", "removed/node:"))
    ]
    rest = f"{plural(len(gone) - len(shown), 'other part')}"
    return (
        [*shown, TopologyItem("rest", rest, brief=rest, change=ItemChange.REMOVED)] if len(gone) > len(shown) else shown
    )


def _mark(change: ItemChange | None) -> tuple[Cell, ...]:
    return () if change is None else (Cell(f" {change.sign} {change.value}", change.value),)


def _trouble(word: str | None) -> tuple[Cell, ...]:
    return () if not word else (Cell(f" ! {word}", "trouble"),)


def _device(item: TopologyItem) -> tuple[Cell, ...]:
    """Return the cells of a device: name, values, change and fault, the last two with sign and word."""
    sound = item.brief.removesuffix(f" ! {item.trouble}") if item.trouble else item.brief
    name, space, rest = sound.partition(" ")
    cells = (Cell(name, "device"), Cell(space + rest, "text"), *_mark(item.change))
    return (*cells, *_trouble(item.trouble))


def _bar(share_used: float, cells: int) -> tuple[Cell, ...]:
    used = min(max(round(share_used * cells), 0), cells)
    return Cell("[", "free"), Cell(_USED * used, "used"), Cell(_FREE * (cells - used) + "]", "free")


def _memory_words(node: NumaNode) -> str:
    if node.memory_bytes is None:
        return "memory unknown"
    if not node.memory_bytes:
        return "no memory"
    if node.free_bytes is None:
        return f"unknown of {format_bytes(node.memory_bytes)}"
    return _of(node.free_bytes, node.memory_bytes)


def _of(free_bytes: int, total_bytes: int) -> str:
    """``41.8 of 126 GiB``, or with both units where they differ."""
    free, total = format_bytes(free_bytes), format_bytes(total_bytes)
    same = free.partition(" ")[2] == total.partition(" ")[2]
    return f"{free.partition(' ')[0] if same else free} of {total}"


def _width(cells: Iterable[Cell]) -> int:
    return sum(len(cell.text) for cell in cells)


def _cut(cells: Sequence[Cell], room: int) -> list[Cell]:
    """Return the cells that fit; a fault, which comes last, is never cut."""
    *sound, last = cells
    kept: list[Cell] = []
    room -= len(last.text) if last.role == "trouble" else 0
    for cell in sound if last.role == "trouble" else cells:
        kept.append(Cell(cell.text[: max(room, 0)], cell.role))
        room -= len(cell.text)
    return [*kept, last] if last.role == "trouble" else kept


def _legend(names: Iterable[str], rows: Iterable[Row], width: int) -> str:
    """Return the legend of the signs that are on the map, as many as fit."""
    cells = [cell for row in rows for cell in row]
    roles = {cell.role.partition("-")[0] for cell in cells}
    there = [
        "S socket" if any(name.startswith("S") for name in names) else "",
        "N node" if any("N" in name for name in names) else "",
        *(words for role, words in _SIGNS if role in roles),
        "PCIe: GT/s of a lane x lanes" if any(" GT/s x" in cell.text for cell in cells) else "",
    ]
    legend = ""
    for words in filter(None, there):
        longer = f"{legend}, {words}" if legend else words
        legend = longer if len(longer) <= width else legend
    return legend
