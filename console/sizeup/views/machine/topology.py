"""A machine as a tree: packages, NUMA nodes, caches, cores and PUs, with the devices of each node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode, pool_key
from sizeup.model.topology import Cache, CacheKind, Core, Package, Pu
from sizeup.procfs.lists import format_list
from sizeup.text import counted, if_known, plural
from sizeup.units import as_percent, format_bytes, format_hz, format_ns, format_rate
from sizeup.views.machine.devices import Devices
from sizeup.views.machine.facts import KIND_TEXTS, known_facts, machine_facts, no_cpus_text
from sizeup.views.machine.topology_item import TopologyItem, label_of


def topology(machine: Machine) -> TopologyItem:
    """Return the tree of the whole machine."""
    return _TreeBuilder(machine).tree()


def node_item(machine: Machine, os_id: int) -> TopologyItem | None:
    """Return one node without its parts, to refresh its memory."""
    return next((_TreeBuilder(machine).node_alone(node) for node in machine.nodes if node.os_id == os_id), None)


class _TreeBuilder:
    """Builds the items of one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._devices = Devices(machine)
        self._core_index = {core.pus: index for index, core in enumerate(machine.cores)}
        self._pus: dict[int, Pu] = {pu.cpu: pu for pu in machine.pus}
        self._caches: dict[int, list[Cache]] = {}
        for cache in machine.caches:
            for cpu in cache.shared_by:
                self._caches.setdefault(cpu, []).append(cache)

    def tree(self) -> TopologyItem:
        machine = self._machine
        inside: list[TopologyItem] = []
        placed: set[int] = set()
        for index, package in enumerate(machine.packages):
            nodes = [node for node in machine.nodes if node.packages == (index,)]
            placed.update(node.os_id for node in nodes)
            inside.append(self._package(index, package, nodes))
        inside.extend(self._node(node) for node in machine.nodes if node.os_id not in placed)
        if not machine.packages and not machine.nodes:
            inside.extend(self._caches_and_cores(machine.cores))
            inside.extend(self._loose_pus(machine.pus))
        devices, mounts = self._devices, f"NFS: {plural(len(machine.nfs_mounts), 'mount')}"
        across = "Across the machine", "Devices that combine others, possibly of several nodes"
        unknown = "Devices: node unknown", "The kernel reports no NUMA node for these devices"
        groups = (
            ("across", *across, devices.across()),
            ("devices", *unknown, devices.on(None)),
            ("nfs", mounts, "File systems mounted from NFS servers", devices.mounts()),
        )
        inside.extend(
            TopologyItem(key, label, (("What", what),), items, expanded=True)
            for key, label, what, items in groups
            if items
        )
        if machine.gaps:
            facts = tuple((gap.subject, gap.reason) for gap in machine.gaps)
            inside.append(TopologyItem("gaps", f"Not readable: {plural(len(machine.gaps), 'fact')}", facts))
        label = machine.platform.hostname or machine.platform.model or "This machine"
        facts, also = machine_facts(machine), ("cpu", "memory", "clock")
        return TopologyItem("machine", label, facts, tuple(inside), expanded=True, also=also)

    def _package(self, index: int, package: Package, nodes: Sequence[NumaNode]) -> TopologyItem:
        machine = self._machine
        cores = [core for core in machine.cores if core.package == index]
        in_nodes = {cpu for node in nodes for cpu in node.pus}
        inside = [self._node(node) for node in nodes]
        inside.extend(self._caches_and_cores([core for core in cores if not in_nodes.intersection(core.pus)]))
        loose = [pu for cpu in package.pus if cpu not in in_nodes and (pu := self._pus.get(cpu)) is not None]
        inside.extend(self._loose_pus(loose))
        label = f"Socket {index if package.os_id is None else package.os_id}"
        facts = known_facts(
            ("Processor", package.model or machine.cpu_model),
            ("Cores", len(cores) if machine.cores else "unknown"),
            ("Threads", f"{len(package.pus)} ({format_list(package.pus)})"),
            ("Dies", sum(die.package == index for die in machine.dies)),
            ("Kernel id", package.os_id),
        )
        small = len(machine.packages) <= 2
        core_text = counted(len(cores) if machine.cores else None, "core")
        key, label_text = f"package:{index}", label_of(label, core_text, "")
        return TopologyItem(key, label_text, facts, tuple(inside), small, name=label, brief=(core_text,))

    def _node(self, node: NumaNode) -> TopologyItem:
        few = len(self._machine.nodes) <= 4
        inside = (
            *self._caches_and_cores(self._cores_of(node)),
            *self._loose_pus([self._pus[cpu] for cpu in node.pus if cpu in self._pus]),
            *self._devices.on(node.os_id),
        )
        return replace(self.node_alone(node), children=inside, expanded=few)

    def _cores_of(self, node: NumaNode) -> list[Core]:
        pus = frozenset(node.pus)
        return [core for core in self._machine.cores if not pus.isdisjoint(core.pus)]

    def node_alone(self, node: NumaNode) -> TopologyItem:
        key = f"node:{node.os_id}"
        size = if_known(node.memory_bytes, format_bytes) or "memory unknown"
        memory = "no memory" if node.memory_bytes == 0 else size
        cores = "no cores" if not node.pus else counted(len(self._cores_of(node)) or None, "core")
        pools = {pool_key(node.os_id, pool.page_bytes): pool for pool in node.huge_pages}
        troubles = [self._devices.troubles.get(key, "")]
        troubles += [
            f"{format_bytes(pool.page_bytes)} PAGES {word}"
            for name, pool in pools.items()
            if (word := self._devices.troubles.get(name))
        ]
        trouble = ", ".join(filter(None, troubles))
        name, about = f"Node {node.os_id}", f"{cores}, {memory}"
        label, facts, also = label_of(name, about, trouble), _node_facts(node), tuple(pools)
        return TopologyItem(key, label, facts, also=also, name=name, brief=(about,), trouble=trouble)

    def _loose_pus(self, pus: Sequence[Pu]) -> list[TopologyItem]:
        """Return one item per CPU, for a machine whose cores are unknown."""
        if self._machine.cores:
            return []
        states = ["offline" if not pu.online else "not allowed" if not pu.allowed else "" for pu in pus]
        labels = [label_of(f"CPU {pu.cpu}", "", state) for pu, state in zip(pus, states, strict=True)]
        return [TopologyItem(f"pu:{pu.cpu}", label) for pu, label in zip(pus, labels, strict=True)]

    def _caches_and_cores(self, cores: Sequence[Core]) -> list[TopologyItem]:
        """Return cores grouped by the largest cache they share; cores that share none are listed directly."""
        remaining = list(cores)
        groups: list[TopologyItem] = []
        caches = {id(cache): cache for core in cores for cpu in core.pus for cache in self._caches.get(cpu, ())}
        for cache in sorted(caches.values(), key=lambda item: (-item.level, item.shared_by)):
            shared = frozenset(cache.shared_by)
            below = [core for core in remaining if not shared.isdisjoint(core.pus)]
            if len(below) < 2:
                continue
            remaining = [core for core in remaining if shared.isdisjoint(core.pus)]
            inside = tuple(self._core(core) for core in below)
            sharing = sum(not shared.isdisjoint(core.pus) for core in self._machine.cores)
            here = f", {len(below)} here" if sharing > len(below) else ""
            label = f"{cache_name(cache)} shared by {plural(sharing, 'core')}{here}"
            key = f"cache:{cache.level}:{below[0].pus[0]}"
            facts = known_facts(
                ("Level", cache.level),
                ("Kind", cache.kind.value),
                ("Size", if_known(cache.size_bytes, format_bytes) or "not reported"),
                ("Line", if_known(cache.line_bytes, "{} B".format) or "not reported"),
                ("Ways", cache.ways),
                ("Sets", cache.sets),
                ("Shared by", f"CPUs {format_list(cache.shared_by)}"),
            )
            groups.append(TopologyItem(key, label, facts, inside, len(self._machine.cores) <= 8))
        return [*groups, *(self._core(core) for core in remaining)]

    def _core(self, core: Core) -> TopologyItem:
        index = self._core_index[core.pus]
        noun = "CPU" if len(core.pus) == 1 else "CPUs"
        caches = {id(cache): cache for cpu in core.pus for cache in self._caches.get(cpu, ())}
        own = [self._pus[cpu] for cpu in core.pus if cpu in self._pus]
        offline = tuple(pu.cpu for pu in own if not pu.online)
        not_allowed = tuple(pu.cpu for pu in own if pu.online and not pu.allowed)
        facts = known_facts(
            ("Threads", f"{noun} {format_list(core.pus)}"),
            ("Offline", format_list(offline)),
            ("Not allowed", format_list(not_allowed)),
            ("Kind", core.kind),
            ("Kernel id", core.os_id),
            ("Module", core.module),
            ("Cluster", core.cluster),
            ("Base clock", if_known(core.base_hz, format_hz)),
            ("Highest clock", if_known(core.max_hz, format_hz)),
            *((f"Cache {cache_level(item)}", cache_size(item)) for item in caches.values()),
        )
        kind = f" {core.kind}" if core.kind else ""
        state = "offline" if offline else "not allowed" if not_allowed else ""
        label = label_of(f"Core {index}{kind}", f"{noun} {format_list(core.pus)}", state)
        return TopologyItem(f"core:{index}", label, facts)


def _node_facts(node: NumaNode) -> tuple[tuple[str, str], ...]:
    distances = " ".join(map(str, node.distances))
    pools = [pool for pool in node.huge_pages if pool.total]
    access, size = node.access, node.memory_bytes
    cache = if_known(node.memory_side_cache_bytes, format_bytes)
    page_cache = if_known(node.page_cache_bytes, format_bytes)
    if node.page_cache_bytes is None and node.file_bytes is not None:
        page_cache = f"{format_bytes(node.file_bytes)}, shared memory included"

    def free(count: int) -> str:
        return f"{format_bytes(count)} ({as_percent(count / size)})" if size else format_bytes(count)

    def of_firmware(value: float | None, write: Callable[[float], str]) -> str | None:
        return None if value is None else f"{write(value)} (from the firmware's HMAT, not measured)"

    return known_facts(
        ("Threads", f"{len(node.pus)} ({format_list(node.pus)})" if node.pus else f"none: {no_cpus_text(node)}"),
        ("Memory", if_known(size, format_bytes)),
        ("Free", if_known(node.free_bytes, free)),
        ("Page cache", page_cache),
        ("Shared memory", if_known(node.shmem_bytes, format_bytes)),
        ("Huge pages", tuple(f"{pool.total} of {format_bytes(pool.page_bytes)}" for pool in pools) or "none reserved"),
        ("Huge pages free", tuple(f"{pool.free} of {format_bytes(pool.page_bytes)}" for pool in pools)),
        ("Distances", f"{distances} (from the firmware's SLIT, not measured)" if distances else None),
        ("Kind", KIND_TEXTS[node.kind]),
        ("Kind read from", node.kind_source),
        ("Memory tier", node.tier),
        ("Latency", None if access is None else of_firmware(access.read_latency_ns, format_ns)),
        ("Read rate", None if access is None else of_firmware(access.read_bytes_per_second, format_rate)),
        ("Memory cache", cache and f"{cache} in front of slower memory"),
    )


def cache_name(cache: Cache) -> str:
    """Return level, kind and size of a cache: ``L1d 32 KiB``."""
    return f"{cache_level(cache)} {cache_size(cache)}"


def cache_level(cache: Cache) -> str:
    """Return level and kind of a cache: ``L1d``."""
    return f"L{cache.level}" + {CacheKind.DATA: "d", CacheKind.INSTRUCTION: "i", CacheKind.UNIFIED: ""}[cache.kind]


def cache_size(cache: Cache) -> str:
    """Return the size of a cache as text."""
    return if_known(cache.size_bytes, format_bytes) or "size unknown"
