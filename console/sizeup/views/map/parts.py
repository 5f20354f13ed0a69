"""What a map of a machine shows: sockets, nodes with their cores and devices, and what belongs to no node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.model.numa import MemoryKind, NumaNode, pool_key
from sizeup.model.topology import CacheKind
from sizeup.procfs.lists import format_list
from sizeup.text import capitalized, counted, if_known, plural
from sizeup.units import format_bytes, format_hz
from sizeup.views.machine.devices import Devices
from sizeup.views.machine.difference import MachineComparison
from sizeup.views.machine.facts import KIND_TEXTS, no_cpus_text
from sizeup.views.machine.topology import cache_name
from sizeup.views.machine.topology_item import ItemChange, TopologyItem
from sizeup.views.map.cells import Cell, Row, change_mark, fault
from sizeup.views.map.cores import CacheGroup, CorePart

_ALIKE = 6
"""If a node has more disks without faults, or a machine more such mounts, they are counted instead of named."""
_FEW_NODES = 2


class NodePart(Struct, frozen=True):
    """A node with its cores and devices, or cores outside all nodes, which have no ``os_id``."""

    key: str
    os_id: int | None
    groups: tuple[CacheGroup, ...] = ()
    devices: tuple[TopologyItem, ...] = ()


class Box(Struct, frozen=True):
    """A socket, or a node that is in no socket or in several."""

    key: str
    title: str
    facts: tuple[str, ...] = ()
    """The last ones go where there is no room."""
    caches: str = ""
    parts: tuple[NodePart, ...] = ()


class MapParts:
    """The parts of one machine, without load and memory, which change all the time."""

    def __init__(self, machine: Machine, comparison: MachineComparison | None = None) -> None:
        """With a ``comparison``, differences are marked and removed parts are listed."""
        self.machine = machine
        self.changes = {} if comparison is None else _changes(comparison.root)
        self.states = {pu.cpu: (pu.online, pu.allowed) for pu in machine.pus}
        """Online, and allowed, by CPU."""
        self._servers = {f"nfs:{mount.mount_point}": mount.export.partition(":/")[0] for mount in machine.nfs_mounts}
        devices = Devices(machine)
        self.troubles = devices.troubles
        self.cell_role = "cpu" if machine.pus and not machine.cores else "core"
        cores = [
            CorePart(f"core:{index}", str(index), core.pus) for index, core in enumerate(machine.cores) if core.pus
        ]
        if not machine.cores:  # a core without CPUs may be in a session
            cores = [CorePart(f"pu:{pu.cpu}", str(pu.cpu), (pu.cpu,)) for pu in machine.pus]
        self.nodes: dict[str, NodePart] = {}
        """Nodes by name, ``S0 N1``, and after them cores that are in no node."""
        placed: set[int] = set()
        for node in machine.nodes:
            pus = frozenset(node.pus)
            here = [core for core in cores if not pus.isdisjoint(core.cpus)]
            placed.update(cpu for core in here for cpu in core.cpus)
            own = tuple(self._shown(devices.on(node.os_id)))
            self.nodes[node_name(node)] = NodePart(f"node:{node.os_id}", node.os_id, self._groups(here), own)
        for index, package in enumerate(machine.packages):
            here = [core for core in cores if core.cpus[0] in package.pus and placed.isdisjoint(core.cpus)]
            if here:
                self.nodes[f"S{index}"] = NodePart(f"package:{index}", None, self._groups(here))
        if not machine.packages and not machine.nodes and cores:
            self.nodes["CPUs"] = NodePart("machine", None, self._groups(cores))
        self.boxes = self._socket_boxes()
        loose = "Devices" if len(machine.nodes) < 2 else "Devices, node unknown"
        self.below = [
            ("Across the machine", self._shown(devices.across())),
            (loose, self._shown(devices.on(None))),
            ("NFS mounts", self._shown(devices.mounts())),
        ]
        """What belongs to no node, by its title."""
        if comparison is not None:
            gone = [part for part in comparison.parts if part.change is ItemChange.REMOVED]
            shown = [part for part in gone if part.name]
            rest = plural(len(gone) - len(shown), "other part")
            more = [TopologyItem("rest", rest, name=rest, change=ItemChange.REMOVED)] if len(gone) > len(shown) else []
            self.below.append(("Missing", [*shown, *more]))

    def _caches_of(self, pus: Sequence[int], cores: int) -> str:
        """Return the caches of a socket, from the largest down: ``8 × L3 32 MiB; each core L2 1 MiB, L1d 32 KiB``."""
        inside = frozenset(pus)
        counts = Counter(
            (-cache.level, cache_name(cache))
            for cache in self.machine.caches
            if cache.kind is not CacheKind.INSTRUCTION and not inside.isdisjoint(cache.shared_by)
        )
        own = [name for (_, name), count in sorted(counts.items()) if 1 < count == cores]
        others = [name if n == 1 else f"{n} × {name}" for (_, name), n in sorted(counts.items()) if name not in own]
        return "; ".join(filter(None, (", ".join(others), ", ".join(own) and f"each core {', '.join(own)}")))

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
            CacheGroup(f"cache:{highest}:{members[0].cpus[0]}" if shared else "", tuple(members))
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
            if not parts and any(index in node.packages for node in machine.nodes):  # which has a box with others
                continue
            placed.update((*names, f"S{index}"))
            cores = sum(core.package == index for core in machine.cores)
            counts = f"{counted(cores if machine.cores else None, 'core')}, {plural(len(package.pus), 'thread')}"
            clock = if_known(machine.base_clock, lambda clock: format_hz(clock.value))
            facts = (counts, *filter(None, (package.model or machine.cpu_model, clock)))
            title = f"Socket {index if package.os_id is None else package.os_id}"
            boxes.append(Box(f"package:{index}", title, facts, self._caches_of(package.pus, cores), tuple(parts)))
        nodes = {node_name(node): node for node in machine.nodes}
        for name, part in self.nodes.items():
            if name not in placed:
                node, title = nodes.get(name), name
                if node is not None:
                    title = "Sockets unknown" if node.pus else capitalized(no_cpus_text(node))
                    title = f"Sockets {format_list(node.packages)}" if node.packages else title
                boxes.append(Box(part.key, title, parts=(part,)))
        return boxes

    def marks(self, key: str) -> Row:
        """Return how a node differs and what is wrong with it."""
        return (*change_mark(self.changes.get(key)), *fault(self.troubles.get(key)))

    def pools(self, node: NumaNode) -> list[Row]:
        """Return the pools of huge pages of a node; where there are many nodes only those of which some are used."""
        return [
            (
                Cell(f"{format_bytes(pool.page_bytes)} pages: {pool.total - pool.free} of {pool.total} used", "dim"),
                *fault(self.troubles.get(pool_key(node.os_id, pool.page_bytes))),
            )
            for pool in node.huge_pages
            if pool.total and (len(self.nodes) <= _FEW_NODES or pool.free < pool.total)
        ]

    def kind(self, node: NumaNode) -> str:
        """Return the kind of memory that is no plain DRAM, and its tier where that tells nodes apart."""
        known = node.kind not in (MemoryKind.UNKNOWN, MemoryKind.NONE, MemoryKind.DRAM)
        tiers = {other.tier for other in self.machine.nodes}
        tier = "" if node.tier is None or len(tiers) < 2 else f"memory tier {node.tier}"
        return ", ".join(filter(None, (KIND_TEXTS[node.kind] if known else "", tier)))

    def _shown(self, items: Sequence[TopologyItem]) -> list[TopologyItem]:
        """Return the items that the map shows; without bridges; many disks or mounts without faults become one."""
        shown = []
        for item in (one for one in items if one.name):
            keys = {item.key, *item.also}
            told = {finding.severity for finding in self.machine.findings if keys.intersection(finding.subjects)}
            made = replace(item, change=self.changes.get(item.key), grave=Severity.CRITICAL in told)
            if item.trouble and told == {Severity.INFO}:  # which is just not in service
                made = replace(made, trouble="", up=False, brief=(*item.brief, item.trouble))
            shown.append(made)
        sound = [item for item in shown if item.up and not (item.trouble or item.grave or item.change)]
        plain = [item for item in sound if item.key.startswith(("disk:", "nfs:"))]
        if len(plain) <= _ALIKE:
            return shown
        rest, servers = [item for item in shown if item not in plain], [self._servers.get(one.key, "") for one in plain]
        for server in dict.fromkeys(servers):
            same = [item for item, where in zip(plain, servers, strict=True) if where == server]
            name = server or f"{same[0].name} to {same[-1].name}"
            count = f"{plural(len(same), 'mount')} OK" if server else plural(len(same), "disk")
            alike = TopologyItem(same[0].key, f"{name}: {count}", name=name, brief=(count,), number=len(same))
            rest += [alike] if len(same) > 1 else same
        return rest


def node_name(node: NumaNode) -> str:
    """Return the name of a node with its sockets: ``S0 N1``."""
    packages = f"S{format_list(node.packages)} " if node.packages else ""
    return f"{packages}N{node.os_id}"


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
