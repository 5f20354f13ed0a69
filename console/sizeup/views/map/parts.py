"""What a map of a machine shows: sockets, nodes with their cores and devices, and what belongs to no node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.numa import MemoryKind, NumaNode, pool_key
from sizeup.model.topology import Cache
from sizeup.procfs.lists import format_list
from sizeup.text import if_known, plural
from sizeup.units import format_bytes
from sizeup.views.machine.devices import Devices
from sizeup.views.machine.difference import MachineComparison
from sizeup.views.machine.facts import kind_text, no_cpus_text
from sizeup.views.machine.topology import cache_name, page_cache_text
from sizeup.views.machine.topology_item import ItemChange, TopologyItem
from sizeup.views.map.boxes import Box, CacheGroup, NodeMemory, NodePart
from sizeup.views.map.cells import memory_used
from sizeup.views.map.tiles import CorePart

LOOSE = "No node"
"""The row of devices that the kernel gives no node."""
_ALIKE = 6
"""If a node has more disks without faults, they are counted instead of named."""


class MapParts:
    """The parts of one machine, without load and memory, which change all the time."""

    def __init__(
        self,
        machine: Machine,
        comparison: MachineComparison | None = None,
        measured: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """With a ``comparison``, differences are marked and removed parts are listed; ``measured`` adds to nodes."""
        self._measured = measured
        self.machine = machine
        self.changes = {} if comparison is None else _changes(comparison.root)
        self.states = {pu.cpu: (pu.online, pu.allowed) for pu in machine.pus}
        """Online, and allowed, by CPU."""
        devices = Devices(machine)
        self.troubles = devices.troubles
        self.cell_role = "cpu" if machine.pus and not machine.cores else "core"
        self._caches: dict[int, list[Cache]] = {}
        for cache in machine.caches:
            for cpu in cache.shared_by:
                self._caches.setdefault(cpu, []).append(cache)
        cores = self._cores()
        self.nodes: dict[str, NodePart] = {}
        """Nodes by name, ``S0 N1``, and after them cores that are in no node."""
        placed: set[int] = set()
        for node in machine.nodes:
            pus = frozenset(node.pus)
            here = [core for core in cores if not pus.isdisjoint(core.cpus)]
            placed.update(cpu for core in here for cpu in core.cpus)
            shown = tuple(self._shown(devices.on(node.os_id)))
            self.nodes[node_name(node)] = NodePart(f"node:{node.os_id}", node.os_id, self._groups(here), shown)
        for index, package in enumerate(machine.packages):
            here = [core for core in cores if core.cpus[0] in package.pus and placed.isdisjoint(core.cpus)]
            if here:
                self.nodes[f"S{index}"] = NodePart(f"package:{index}", None, self._groups(here))
        if not machine.packages and not machine.nodes and cores:
            self.nodes["CPUs"] = NodePart("machine", None, self._groups(cores))
        self.boxes = self._socket_boxes()
        self.below = [
            ("Across", self._shown(devices.across())),
            (LOOSE, self._shown(devices.on(None))),
            ("NFS", self._shown(devices.mounts())),
            ("Missing", [] if comparison is None else _gone(comparison)),
        ]
        """What belongs to no node, by the name of its row."""

    @property
    def core_count(self) -> int:
        """Return how many cores are drawn."""
        return sum(len(group.cores) for part in self.nodes.values() for group in part.groups)

    def _cores(self) -> list[CorePart]:
        machine = self.machine
        if not machine.cores:
            return [CorePart(f"pu:{pu.cpu}", str(pu.cpu), (pu.cpu,)) for pu in machine.pus]
        return [
            CorePart(f"core:{index}", str(index), core.pus, self._own_caches(core.pus))
            for index, core in enumerate(machine.cores)
            if core.pus  # a session may hold any core
        ]

    def _own_caches(self, cpus: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """Return level and name of the caches that a core shares with no other, the largest first."""
        caches = {id(cache): cache for cpu in cpus for cache in self._caches.get(cpu, ())}
        own = [cache for cache in caches.values() if set(cache.shared_by) <= set(cpus)]
        return tuple((cache.level, cache_name(cache)) for cache in sorted(own, key=lambda cache: -cache.level))

    def _groups(self, cores: Sequence[CorePart]) -> tuple[CacheGroup, ...]:
        """Return cores grouped by the largest cache that they share; the others as one group."""
        highest = max((cache.level for cache in self.machine.caches), default=0)
        caches = {cpu: cache for cache in self.machine.caches if cache.level == highest for cpu in cache.shared_by}
        groups: dict[tuple[int, ...], list[CorePart]] = {}
        for core in cores:
            cache = caches.get(core.cpus[0])
            shared = () if cache is None or len(cache.shared_by) <= len(core.cpus) else cache.shared_by
            groups.setdefault(shared, []).append(core)
        return tuple(
            CacheGroup(
                f"cache:{highest}:{members[0].cpus[0]}" if shared else "",
                cache_name(caches[shared[0]]) if shared else "",
                tuple(members),
            )
            for shared, members in groups.items()
        )

    def _socket_boxes(self) -> list[Box]:
        """Return a box for each socket with its nodes, and one for each node in none or in several."""
        machine = self.machine
        boxes = []
        placed: set[str] = set()
        for index, package in enumerate(machine.packages):
            names = [node_name(node) for node in machine.nodes if node.packages == (index,)]
            parts = [self.nodes[name] for name in (*names, f"S{index}") if name in self.nodes]
            placed.update((*names, f"S{index}"))
            caches = Counter(group.cache for part in parts for group in part.groups if group.cache)
            title = (
                f"Socket {index if package.os_id is None else package.os_id}",
                *((plural(sum(core.package == index for core in machine.cores), "core"),) if machine.cores else ()),
                plural(len(package.pus), "thread"),
                *(_times(count, name) for name, count in caches.items()),
                *filter(None, (package.model or machine.cpu_model,)),
            )
            boxes.append(Box(f"package:{index}", title, tuple(parts)))
        for name, part in self.nodes.items():
            if name not in placed:
                boxes.append(Box(part.key, (self._loose_title(name),), (part,)))
        return boxes

    def _loose_title(self, name: str) -> str:
        node = next((node for node in self.machine.nodes if node_name(node) == name), None)
        if node is None:
            return name
        if node.packages:
            return f"Node {node.os_id}, sockets {format_list(node.packages)}"
        return f"Node {node.os_id}, {'sockets unknown' if node.pus else no_cpus_text(node)}"

    def memory_of(self, node: NumaNode, *, unused: bool) -> NodeMemory:
        """Return memory and huge pages of a node as they are drawn; ``unused`` with pools of which nothing is used."""
        share, words = memory_used(node)
        key = f"node:{node.os_id}"
        pools = tuple(
            (
                format_bytes(pool.page_bytes),
                1 - pool.free / pool.total,
                f"{pool.total - pool.free} of {pool.total}",
                self.troubles.get(pool_key(node.os_id, pool.page_bytes), ""),
            )
            for pool in node.huge_pages
            if pool.total and (unused or pool.free < pool.total)
        )
        more = tuple(filter(None, (_uses(node), self._kind(node), self._measured.get(node.os_id))))
        short = memory_used(node, "/")[1]
        return NodeMemory(share, words, short, self.troubles.get(key, ""), self.changes.get(key), pools, more)

    def _kind(self, node: NumaNode) -> str:
        """Return the kind of memory and its tier, as far as they are known and tell nodes apart."""
        known = node.kind not in (MemoryKind.UNKNOWN, MemoryKind.NONE)
        tiers = {other.tier for other in self.machine.nodes}
        tier = "" if node.tier is None or len(tiers) < 2 else f"memory tier {node.tier}"
        return ", ".join(filter(None, (kind_text(node.kind) if known else "", tier)))

    def _shown(self, items: Sequence[TopologyItem]) -> list[TopologyItem]:
        """Return the items that the map shows; bridges are left out, and many disks without faults become one item."""
        items = [replace(item, change=self.changes.get(item.key)) for item in items if item.name]
        plain = [item for item in items if item.key.startswith("disk:") and not (item.trouble or item.change)]
        if len(plain) <= _ALIKE:
            return items
        name, count = f"{plain[0].name} to {plain[-1].name}", plural(len(plain), "disk")
        alike = TopologyItem(plain[0].key, f"{name}: {count}", name=name, brief=f": {count}", about=count)
        return [*(item for item in items if item not in plain), alike]


def _uses(node: NumaNode) -> str:
    """Return what is free of the memory of a node, and what of the used is page cache or shared."""
    uses = (("page cache", page_cache_text(node)), ("shared memory", if_known(node.shmem_bytes, format_bytes)))
    used = ", ".join(f"{name} {size}" for name, size in uses if size)
    free = "" if node.free_bytes is None or not node.memory_bytes else f"free {format_bytes(node.free_bytes)}"
    return "; ".join(filter(None, (free, used and f"used includes {used}")))


def node_name(node: NumaNode) -> str:
    """Return the name of a node with its sockets: ``S0 N1``."""
    packages = f"S{format_list(node.packages)} " if node.packages else ""
    return f"{packages}N{node.os_id}"


def _times(count: int, name: str) -> str:
    return name if count == 1 else f"{count} x {name}"


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
    """Return what was removed: devices, sockets and nodes by name and values, other parts as a count."""
    gone = [part for part in comparison.parts if part.change is ItemChange.REMOVED]
    shown = [part for part in gone if part.name]
    rest = plural(len(gone) - len(shown), "other part")
    more = [TopologyItem("rest", rest, name=rest, change=ItemChange.REMOVED)] if len(gone) > len(shown) else []
    return [*shown, *more]
