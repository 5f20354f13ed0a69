"""A machine as a tree: packages, nodes, caches, cores and PUs, with the devices on the node they hang on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import NumaNode
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.model.topology import Cache, CacheKind, Core, Package
from sizeup.units import format_bytes, format_count, format_decimal_bytes, format_hz, format_ns, format_rate

_MEMINFO = "/proc/meminfo"


class Item(Struct, frozen=True):
    """One part of the machine: a label, what is known of it, and the parts inside."""

    key: str
    """Stable for one machine: ``node:0``, ``core:3``, ``nic:eth0``; findings name their subjects so."""
    label: str
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value, units included; what is unknown is left out or said to be unknown."""
    children: tuple[Item, ...] = ()
    expanded: bool = False
    """Whether the tree opens with this part unfolded."""


def machine_line(machine: Machine) -> str:
    """The machine in a line, what matters least last: ``2 sockets, 16 cores, 32 threads, 2.66 GHz, 128 GiB``."""
    counts = machine.pu_counts
    parts = [
        _count(len(machine.packages), "socket"),
        _count(len(machine.cores), "core"),
        _count(counts.present, "thread"),
    ]
    if counts.online != counts.present:
        parts[-1] += f" ({counts.online} online)"
    if machine.base_clock is not None:
        parts.append(format_hz(machine.base_clock.value))
    if machine.memory_bytes is not None:
        parts.append(format_bytes(machine.memory_bytes))
    if machine.nodes:
        parts.append(_count(len(machine.nodes), "node"))
    return ", ".join(parts)


def topology(machine: Machine) -> Item:
    """The whole machine."""
    inside: list[Item] = []
    placed: set[int] = set()
    by_package = _nodes_by_package(machine)
    for index, package in enumerate(machine.packages):
        nodes = by_package.get(index, [])
        placed.update(node.os_id for node in nodes)
        inside.append(_package(machine, index, package, nodes))
    inside.extend(_node(machine, node) for node in machine.nodes if node.os_id not in placed)
    inside.extend(_elsewhere(machine))
    if machine.gaps:
        facts = tuple((gap.subject, gap.reason) for gap in machine.gaps)
        inside.append(Item("gaps", f"Not readable: {_count(len(machine.gaps), 'fact')}", facts))
    return Item("machine", _machine_label(machine), machine_facts(machine), tuple(inside), expanded=True)


def find(root: Item, key: str) -> tuple[Item, ...]:
    """The parts from the root down to ``key``; empty where there is none."""
    if root.key == key:
        return (root,)
    for child in root.children:
        below = find(child, key)
        if below:
            return (root, *below)
    return ()


def holding(root: Item, words: Sequence[str]) -> tuple[Item, ...]:
    """The parts whose label and facts hold every word, whatever the case, from the top down; none without words."""
    if not words:
        return ()
    text = " ".join((root.label, *(f"{name} {value}" for name, value in root.facts))).lower()
    own = (root,) if all(word.lower() in text for word in words) else ()
    return (*own, *(item for child in root.children for item in holding(child, words)))


def cpu_ranges(cpus: Iterable[int]) -> str:
    """CPU numbers as the kernel writes them: ``0-3,8``."""
    spans: list[list[int]] = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in spans)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _facts(*facts: tuple[str, object]) -> tuple[tuple[str, str], ...]:
    """The facts that are known."""
    return tuple((name, _say(value)) for name, value in facts if value not in (None, "", ()))


def _say(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _optional_bytes(count: int | None) -> str | None:
    return None if count is None else format_bytes(count)


def _machine_label(machine: Machine) -> str:
    return machine.platform.hostname or machine.platform.model or "This machine"


def machine_facts(machine: Machine) -> tuple[tuple[str, str], ...]:
    """What is true of the machine as a whole, name and value."""
    platform = machine.platform
    counts = machine.pu_counts
    clock = machine.base_clock
    guest = {True: "virtual machine", False: "no hypervisor", None: None}[platform.is_guest]
    return _facts(
        ("Model", platform.model),
        ("Processor", machine.cpu_model),
        ("Base clock", None if clock is None else f"{format_hz(clock.value)} ({clock.origin.value}, {clock.source})"),
        ("Sockets", len(machine.packages)),
        ("Dies", len(machine.dies)),
        ("Cores", len(machine.cores)),
        ("Threads", f"{counts.present} present, {counts.online} online, {counts.allowed} allowed"),
        ("NUMA nodes", len(machine.nodes) or "none: the kernel knows no NUMA"),
        ("Memory", _optional_bytes(machine.memory_bytes) or memory_unknown(machine)),
        ("Available", _optional_bytes(machine.memory_available_bytes)),
        ("Virtual", platform.hypervisor or guest),
        ("Container", platform.container),
        ("Kernel", platform.kernel),
        ("Clock source", platform.clock_source),
        ("Governor", platform.governor),
        ("THP", platform.transparent_huge_pages),
        ("NUMA balancing", platform.numa_balancing),
        ("Architecture", platform.architecture),
    )


def memory_unknown(machine: Machine) -> str:
    """That the size of the memory is unknown, and what it should have been read from."""
    gap = next((gap.reason for gap in machine.gaps if gap.subject == _MEMINFO), None)
    reason = gap or "no MemTotal there, and no node or memory block states a size"
    return f"unknown ({_MEMINFO}: {reason})"


def _nodes_by_package(machine: Machine) -> dict[int, list[NumaNode]]:
    """Nodes that lie inside one package; a node across several stands beside them."""
    found: dict[int, list[NumaNode]] = {}
    for node in machine.nodes:
        if len(node.packages) == 1:
            found.setdefault(node.packages[0], []).append(node)
    return found


def _package(machine: Machine, index: int, package: Package, nodes: Sequence[NumaNode]) -> Item:
    cores = [core for core in machine.cores if core.package == index]
    in_nodes = {cpu for node in nodes for cpu in node.pus}
    inside = [_node(machine, node) for node in nodes]
    inside.extend(_caches_and_cores(machine, [core for core in cores if not in_nodes.intersection(core.pus)]))
    label = f"Socket {index if package.os_id is None else package.os_id}"
    facts = _facts(
        ("Processor", package.model or machine.cpu_model),
        ("Cores", len(cores)),
        ("Threads", f"{len(package.pus)} ({cpu_ranges(package.pus)})"),
        ("Dies", sum(die.package == index for die in machine.dies)),
        ("Kernel id", package.os_id),
    )
    small = len(machine.packages) <= 2
    return Item(f"package:{index}", f"{label}: {_count(len(cores), 'core')}", facts, tuple(inside), expanded=small)


def _node(machine: Machine, node: NumaNode) -> Item:
    pus = set(node.pus)
    devices = _devices(machine, node.os_id)
    memory = "no memory" if not node.memory_bytes else format_bytes(node.memory_bytes)
    own = [core for core in machine.cores if pus.intersection(core.pus)]
    cores = "no cores" if not node.pus else _count(len(own), "core")
    distances = " ".join(map(str, node.distances))
    pools = tuple(
        f"{format_bytes(pool.page_bytes)} x {pool.total}, {pool.free} free" for pool in node.huge_pages if pool.total
    )
    access = node.access
    facts = _facts(
        ("Threads", f"{len(node.pus)} ({cpu_ranges(node.pus)})" if node.pus else "none: memory only"),
        ("Memory", _optional_bytes(node.memory_bytes)),
        ("Free", _share(node.free_bytes, node.memory_bytes)),
        ("Page cache", _optional_bytes(node.file_bytes)),
        ("Shared memory", _optional_bytes(node.shmem_bytes)),
        ("Huge pages", pools or "none set aside"),
        ("Distances", f"{distances} (firmware's table, not measured)" if distances else None),
        ("Kind", node.kind.value),
        ("HMAT read", None if access is None or access.read_latency_ns is None else format_ns(access.read_latency_ns)),
        (
            "HMAT rate",
            None
            if access is None or access.read_bytes_per_second is None
            else format_rate(access.read_bytes_per_second),
        ),
        ("Memory cache", _optional_bytes(node.memory_side_cache_bytes)),
    )
    few = len(machine.nodes) <= 4
    label = f"Node {node.os_id}: {cores}, {memory}"
    return Item(f"node:{node.os_id}", label, facts, (*_caches_and_cores(machine, own), *devices), expanded=few)


def _share(part: int | None, whole: int | None) -> str | None:
    if part is None:
        return None
    return f"{format_bytes(part)} ({part / whole:.0%})" if whole else format_bytes(part)


def _caches_and_cores(machine: Machine, cores: Sequence[Core]) -> list[Item]:
    """Cores under the largest cache that several of them share; cores without one stand alone."""
    remaining = list(cores)
    groups: list[Item] = []
    for cache in sorted(machine.caches, key=lambda item: (-item.level, item.shared_by)):
        shared = set(cache.shared_by)
        below = [core for core in remaining if shared.intersection(core.pus)]
        if len(below) < 2:
            continue
        remaining = [core for core in remaining if core not in below]
        first = min(cache.shared_by)
        inside = tuple(_core(machine, core) for core in below)
        label = f"{_cache_name(cache)} shared by {_count(len(below), 'core')}"
        groups.append(Item(f"cache:{cache.level}:{first}", label, _cache_facts(cache), inside, len(machine.cores) <= 8))
    return [*groups, *(_core(machine, core) for core in remaining)]


def _cache_name(cache: Cache) -> str:
    letter = {CacheKind.DATA: "d", CacheKind.INSTRUCTION: "i", CacheKind.UNIFIED: ""}[cache.kind]
    size = "size unknown" if cache.size_bytes is None else format_bytes(cache.size_bytes)
    return f"L{cache.level}{letter} {size}"


def _cache_facts(cache: Cache) -> tuple[tuple[str, str], ...]:
    return _facts(
        ("Level", cache.level),
        ("Kind", cache.kind.value),
        ("Size", "not reported" if cache.size_bytes is None else format_bytes(cache.size_bytes)),
        ("Line", "not reported" if cache.line_bytes is None else f"{cache.line_bytes} B"),
        ("Ways", cache.ways),
        ("Sets", cache.sets),
        ("Shared by", f"CPUs {cpu_ranges(cache.shared_by)}"),
    )


def _core(machine: Machine, core: Core) -> Item:
    index = next(place for place, other in enumerate(machine.cores) if other is core)
    pus = frozenset(core.pus)
    own = [cache for cache in machine.caches if not pus.isdisjoint(cache.shared_by)]
    states = {pu.cpu: pu for pu in machine.pus}
    dark = [cpu for cpu in core.pus if cpu in states and not states[cpu].online]
    kept = [cpu for cpu in core.pus if cpu in states and states[cpu].online and not states[cpu].allowed]
    note = " ! offline" if dark else " ! not allowed" if kept else ""
    facts = _facts(
        ("Threads", f"CPUs {cpu_ranges(core.pus)}"),
        ("Offline", cpu_ranges(dark)),
        ("Not allowed", cpu_ranges(kept)),
        ("Kind", core.kind),
        ("Kernel id", core.os_id),
        ("Module", core.module),
        ("Cluster", core.cluster),
        ("Base clock", None if core.base_hz is None else format_hz(core.base_hz)),
        ("Highest clock", None if core.max_hz is None else format_hz(core.max_hz)),
        *((f"Cache {_cache_name(cache).split(' ')[0]}", _cache_name(cache).partition(" ")[2]) for cache in own),
    )
    noun = "CPU" if len(core.pus) == 1 else "CPUs"
    kind = f" {core.kind}" if core.kind else ""
    return Item(f"core:{index}", f"Core {index}{kind}: {noun} {cpu_ranges(core.pus)}{note}", facts)


def _devices(machine: Machine, node: int | None) -> tuple[Item, ...]:
    nics = [_nic(nic) for nic in machine.nics if nic.node == node and nic.kind != "loopback"]
    hidden = (BlockKind.PARTITION, BlockKind.LOOP, BlockKind.RAM)
    whole = [device for device in machine.block_devices if device.node == node and device.kind not in hidden]
    return (*nics, *(_disk(machine, device) for device in whole))


def _elsewhere(machine: Machine) -> list[Item]:
    """Devices whose node the firmware does not name, and what is mounted from other machines."""
    known = {node.os_id for node in machine.nodes}
    named = {nic.node for nic in machine.nics} | {device.node for device in machine.block_devices}
    lost = sorted(named - known, key=lambda node: -1 if node is None else node)
    devices = [item for node in lost for item in _devices(machine, node)]
    items = []
    if devices:
        items.append(Item("devices", "Devices: node not known", (), tuple(devices), expanded=True))
    if machine.nfs_mounts:
        mounts = tuple(_mount(mount) for mount in machine.nfs_mounts)
        items.append(Item("nfs", f"NFS: {_count(len(mounts), 'mount')}", (), mounts, expanded=True))
    return items


def _nic(nic: Nic) -> Item:
    speed = None if nic.speed_bits_per_second is None else f"{format_count(nic.speed_bits_per_second)}bit/s"
    state = {True: "up", False: "no link", None: None}[nic.carrier]
    label = ", ".join(filter(None, (f"{nic.name}: {nic.kind}", speed, state)))
    facts = _facts(
        ("Kind", nic.kind),
        ("Driver", nic.driver),
        ("Speed", speed),
        ("Duplex", nic.duplex),
        ("Up", nic.up),
        ("Link", nic.carrier),
        ("MTU", None if nic.mtu is None else f"{nic.mtu} B"),
        ("MAC", nic.mac),
        ("PCI", nic.pci_address),
        ("Queues", None if nic.receive_queues is None else f"{nic.receive_queues} rx, {nic.transmit_queues} tx"),
        ("Part of", nic.master),
        ("Over", nic.lower),
    )
    return Item(f"nic:{nic.name}", label, facts)


def _disk(machine: Machine, device: BlockDevice) -> Item:
    parts = tuple(
        _disk(machine, part)
        for part in machine.block_devices
        if part.kind is BlockKind.PARTITION and part.parent == device.name
    )
    size = "size unknown" if device.size_bytes is None else format_decimal_bytes(device.size_bytes)
    used = f" on {device.mount_points[0]}" if device.mount_points else ""
    facts = _facts(
        ("Kind", device.kind.value),
        ("Size", size),
        ("Vendor", device.vendor),
        ("Model", device.model),
        ("Rotating", device.rotational),
        ("Scheduler", device.scheduler),
        ("Queue limit", device.queue_depth_limit),
        ("Queues", device.hardware_queues),
        ("Write cache", device.write_cache),
        ("Blocks", _blocks(device)),
        ("Read only", device.read_only),
        ("PCI", device.pci_address),
        ("Address", device.hctl),
        ("Map", device.dm_name),
        ("Over", device.members),
        ("Under", device.holders),
        ("RAID", device.raid_level),
        ("Mounted on", device.mount_points),
        ("Serial", device.serial),
        ("WWN", device.wwn),
    )
    return Item(f"disk:{device.name}", f"{device.name}: {device.kind.value}, {size}{used}", facts, parts)


def _blocks(device: BlockDevice) -> str | None:
    if device.logical_block_bytes is None:
        return None
    physical = "" if device.physical_block_bytes is None else f", {device.physical_block_bytes} B physical"
    return f"{device.logical_block_bytes} B logical{physical}"


def _mount(mount: NfsMount) -> Item:
    facts = _facts(
        ("Export", mount.export),
        ("Version", mount.version),
        ("Protocol", mount.protocol),
        ("Read size", _optional_bytes(mount.read_size_bytes)),
        ("Write size", _optional_bytes(mount.write_size_bytes)),
        ("Connections", mount.transports),
        ("Hard", mount.hard),
        ("Sync", mount.sync),
        ("Read only", mount.read_only),
        ("Security", mount.security),
        ("Server", mount.address),
        ("Options", mount.options),
    )
    return Item(f"nfs:{mount.mount_point}", f"{mount.mount_point}: {mount.export}", facts)
