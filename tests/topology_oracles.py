"""What hwloc, lscpu, libvirt and others say of the CPUs, caches and nodes of a recording, in our terms."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from sizeup.model.machine import Machine
from sizeup.model.numa import MemoryKind, NumaNode
from sizeup.model.topology import Cache, CacheKind
from sizeup.procfs.lists import format_list, parse_cpulist
from sizeup.units import parse_bytes

Comparison = dict[str, tuple[Any, Any]]

_LETTERS = {CacheKind.DATA: "d", CacheKind.INSTRUCTION: "i", CacheKind.UNIFIED: ""}


def _rounded(size: int) -> str:
    """As lstopo prints it: KiB below 10 MiB, MiB below 10 GiB, then GiB, rounded half up."""
    for limit, shift, unit in ((10 << 20, 10, "KiB"), (10 << 30, 20, "MiB"), (10 << 40, 30, "GiB")):
        if size < limit:
            return f"{((size >> (shift - 1)) + 1) >> 1}{unit}"
    return f"{((size >> 39) + 1) >> 1}TiB"


def _as_printed(size: int | None) -> int | None:
    """Lstopo prints caches of 10 MiB and more in whole MiB."""
    return size if size is None or size < 10 << 20 else ((size >> 19) + 1 >> 1) << 20


class _View:
    """The machine as a publisher sees it: restricted to some CPUs.

    What holds the memory of an allowed node is kept too, though none of its CPUs may be used.
    """

    def __init__(self, machine: Machine, cpus: set[int], nodes: Iterable[NumaNode] = ()) -> None:
        self.machine = machine
        self.cpus = cpus
        self.near = [set(node.pus) for node in nodes if node.pus]
        self.cores = [core for core in machine.cores if cpus & set(core.pus)]
        self.packages = [package for package in machine.packages if self._kept(package.pus)]

    def _kept(self, cpus: tuple[int, ...]) -> bool:
        return bool(self.cpus & set(cpus)) or any(node <= set(cpus) for node in self.near)

    def caches(self) -> dict[str, Counter[int | None]]:
        found: dict[str, Counter[int | None]] = {}
        for cache in self.machine.caches:
            if self._kept(cache.shared_by) or not cache.shared_by:
                found.setdefault(_cache_name(cache), Counter())[cache.size_bytes] += 1
        return found


def _cache_name(cache: Cache) -> str:
    return f"L{cache.level}{_LETTERS[cache.kind]}"


def _hwloc_nodes(machine: Machine, cpus: set[int]) -> list[NumaNode]:
    """Allowed nodes that have memory; where the kernel has no nodes hwloc makes one of the whole machine."""
    if not machine.nodes and machine.pus:
        return [NumaNode(0, tuple(cpus), local_pus=tuple(cpus), memory_bytes=machine.memory_bytes)]
    return [
        node for node in machine.nodes if node.allowed and node.memory_bytes != 0 and node.kind is not MemoryKind.NONE
    ]


def _hwloc_locality(node: NumaNode, view: _View) -> str:
    """Hwloc calls a node of unknown locality local to all."""
    local = set(node.local_pus) & view.cpus
    return format_list(tuple(local))


def hwloc(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """lstopo: allowed CPUs and nodes; a filter takes whole levels away and those are not compared."""
    view = _View(machine, {pu.cpu for pu in machine.pus if pu.allowed}, (n for n in machine.nodes if n.allowed))
    filtered = "--filter all:structure" in entry.get("options", "")
    out: Comparison = {
        "sockets": (len(view.packages), entry["sockets"]),
        "socket_ids": (sorted(p.os_id or 0 for p in view.packages), sorted(entry["socket_ids"])),
        "threads": (len(view.cpus), entry["threads"]),
        "cpus": (sorted(view.cpus), list(parse_cpulist(entry["cpus"]))),
    }
    nodes = _hwloc_nodes(machine, view.cpus)
    out["nodes"] = (
        {str(node.os_id): _hwloc_locality(node, view) for node in nodes},
        {name: format_list(parse_cpulist(node["locality"])) for name, node in entry["nodes"].items()},
    )
    exact = any("memory_bytes" in node for node in entry["nodes"].values())
    out["memory"] = (
        {str(n.os_id): n.memory_bytes if exact else _rounded(n.memory_bytes or 0) for n in nodes},
        {name: node["memory_bytes" if exact else "memory_rounded"] for name, node in entry["nodes"].items()},
    )
    if "distances" in entry:
        ids = sorted(entry["distances"]["nodes"])
        order = [node.os_id for node in machine.nodes]
        rows = {node.os_id: node.distances for node in machine.nodes}
        ours = [[rows[a][order.index(b)] if rows.get(a) else None for b in ids] for a in ids if a in rows]
        out["distances"] = (ours, entry["distances"]["matrix"])
    if not filtered:
        out["cores"] = (len(view.cores), entry["cores"])
        ours = {name: {str(_as_printed(size)): n for size, n in s.items()} for name, s in view.caches().items()}
        theirs = {name: cache["by_size"] for name, cache in entry["caches"].items()}
        if "--no-icaches" in entry.get("options", "") or not any(name.endswith("i") for name in theirs):
            ours = {name: sizes for name, sizes in ours.items() if not name.endswith("i")}
        out["caches"] = (ours, theirs)
    if "dies" in entry:
        out["dies"] = (len(machine.dies), entry["dies"])
    if "memory_side_caches" in entry:
        out["memory_side_caches"] = (
            sum(node.memory_side_cache_bytes is not None for node in nodes),
            entry["memory_side_caches"],
        )
    if "pci" in entry:
        out["pci"] = _hwloc_pci(machine, entry["pci"])
    if "osdevs" in entry:
        out["osdevs"] = _hwloc_devices(machine, entry["osdevs"])
    return out


def _hwloc_pci(machine: Machine, published: list[dict[str, Any]]) -> tuple[Any, Any]:
    functions = {function.address: function for function in machine.pci}
    ours: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    for wanted in published:
        function = functions.get(wanted["busid"])
        if wanted["vendor"] == "0000":  # what hwloc prints where the recording has no ids
            theirs[wanted["busid"]] = None
            ours[wanted["busid"]] = None if function is None else function.vendor
            continue
        theirs[wanted["busid"]] = (wanted["cls"], wanted["vendor"], wanted["device"])
        if function is not None and None not in (function.class_code, function.vendor, function.device):
            ours[wanted["busid"]] = (
                f"{function.class_code >> 8:04x}", f"{function.vendor:04x}", f"{function.device:04x}",
            )  # fmt: skip
    return ours, theirs


def _hwloc_devices(machine: Machine, published: list[dict[str, Any]]) -> tuple[Any, Any]:
    """The PCI function behind disks, interfaces and RDMA devices; co-processors are no concern of ours."""
    places = {device.name: device.pci_address for device in machine.block_devices}
    places |= {nic.name: nic.pci_address for nic in machine.nics}
    places |= {port.device: port.pci_address for port in machine.rdma_ports}
    wanted = {device["name"]: device["pci"] for device in published if device.get("subtype") != "VectorEngine"}
    wanted = {name: pci for name, pci in wanted.items() if not re.match(r"card\d|render|dma\d|ve\d", name)}
    return {name: places[name] for name in wanted if name in places}, wanted


def lscpu(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """lscpu: all online CPUs; caches in total sizes."""
    view = _View(machine, {pu.cpu for pu in machine.pus if pu.online})
    caches = view.caches()
    theirs = {name: cache["instances"] for name, cache in entry["caches"].items()}
    totals = {name: parse_bytes(cache["total_human"]) for name, cache in entry["caches"].items()}
    named = {name: counts for name, counts in caches.items() if all(size for size in counts)}
    return {
        "sockets": (len(view.packages), entry["sockets"]),
        "cores": (len(view.cores), entry["cores"]),
        "threads": (len(view.cpus), entry["threads"]),
        "cpus": (sorted(view.cpus), list(parse_cpulist(entry["cpus"]))),
        "cpus_present": (machine.pu_counts.present, entry["cpus_present"]),
        "threads_per_core": (max((len(core.pus) for core in machine.cores), default=0), entry["threads_per_core"]),
        "nodes": (
            {str(node.os_id): format_list(node.pus) for node in machine.nodes},
            {name: format_list(parse_cpulist(node["cpus"])) for name, node in entry["nodes"].items()},
        ),
        "p_nodes": (sum(bool(node.pus) for node in machine.nodes), entry.get("p_nodes", 0)),
        "caches": (
            {name: None if theirs.get(name, 0) is None else sum(sizes.values()) for name, sizes in named.items()},
            theirs,
        ),
        "cache_totals": (
            {name: sum((size or 0) * count for size, count in sizes.items()) for name, sizes in named.items()},
            totals,
        ),
        "cache_instances_p": (
            {name: sum(sizes.values()) for name, sizes in caches.items() if name in entry["cache_instances_p"]},
            entry["cache_instances_p"],
        ),
    }


def libvirt_nodeinfo(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Libvirt's totals; where it falls back it counts every CPU present as a core of one socket."""
    online = sum(pu.online for pu in machine.pus)
    out: Comparison = {"cpus_present": (machine.pu_counts.present, entry["cpus_present"])}
    if entry["fallback"]:
        whole = entry["cores_per_socket"] * entry["sockets_per_node"] * entry["node_count"]
        out["threads"] = (machine.pu_counts.present, entry["threads"])
        out["threads_per_machine"] = (machine.pu_counts.present, whole * entry["threads_per_core"])
        return out
    # On POWER a guest gets all threads of a core of which the host has one online: libvirt counts them
    # (its test double says 8), unless the online CPUs do not fit that picture.
    per_core = entry["threads_per_core"]
    ours_per_core = max(len(core.pus) for core in machine.cores)
    lent = per_core if ours_per_core == 1 else 1
    by_package = Counter(core.package for core in machine.cores)
    out["cores_per_socket"] = (max(by_package.values()), entry["cores_per_socket"])
    return out | {
        "threads": (online * lent, entry["threads"]),
        "cores": (max(by_package.values()) * len(machine.packages), entry["cores"]),
        "node_count": (len(machine.nodes), entry["node_count"]),
    }


def libvirt_caps(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Libvirt's host capabilities; its figures of memory come from its own test double, not the recording."""
    return {
        "sockets": (len(machine.packages), entry["sockets"]),
        "cores": (len(machine.cores), entry["cores"]),
        "threads": (sum(pu.online for pu in machine.pus), entry["threads"]),
        "nodes": (
            {str(node.os_id): format_list(node.pus) for node in machine.nodes},
            {name: format_list(parse_cpulist(node["cpus"])) for name, node in entry["nodes"].items()},
        ),
    }


def ghw(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Single statements of ghw's tests."""
    functions = {function.address: function for function in machine.pci}
    out: Comparison = {}
    if "pci_parent" in entry:
        out["pci_parent"] = ({name: functions[name].parent for name in entry["pci_parent"]}, entry["pci_parent"])
    if "pci_numa" in entry:
        # Theirs is the device's own file; ours climbs to a bridge that knows.
        theirs = {name: None if node < 0 else node for name, node in entry["pci_numa"].items()}
        out["pci_numa"] = ({name: functions[name].node for name in theirs}, theirs)
        wanted = {name: int(revision, 16) for name, revision in entry["pci_revision"].items()}
        out["pci_revision"] = ({name: functions[name].revision for name in wanted}, wanted)
    if "node_count" in entry:
        rows = [node.distances for node in machine.nodes]
        out["node_count"] = (len(machine.nodes), entry["node_count"])
        out["square"] = (all(len(row) == len(rows) for row in rows), entry["distances_square"])
        symmetric = all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(len(rows)))
        out["symmetric"] = (symmetric, entry["distances_symmetric"])
        out["hugepage_sizes_per_node"] = (
            {len(node.huge_pages) for node in machine.nodes},
            {entry["hugepage_sizes_per_node"]},
        )
    return out


def nri(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """nri-plugins: caches by CPU, kinds of cores, clusters, nearness of nodes."""
    kinds = {"Data": CacheKind.DATA, "Instruction": CacheKind.INSTRUCTION, "Unified": CacheKind.UNIFIED}

    def cache_of(cpu: int, level: int, kind: CacheKind) -> tuple[str, int | None]:
        cache = next(c for c in machine.caches if c.level == level and c.kind is kind and cpu in c.shared_by)
        return format_list(cache.shared_by), cache.size_bytes

    caches = entry["cpu_caches"]
    out: Comparison = {
        "cpu_caches": (
            [cache_of(cache["cpu"], cache["level"], kinds[cache["type"]]) for cache in caches],
            [(format_list(parse_cpulist(cache["shared"])), cache["size"]) for cache in caches],
        )
    }
    if "p_cores" in entry:
        by_kind = {
            kind: format_list(tuple(pu for core in machine.cores if core.kind == kind for pu in core.pus))
            for kind in ("performance", "efficient")
        }
        out["kinds"] = (by_kind, {"performance": entry["p_cores"], "efficient": entry["e_cores"]})
        clusters: dict[int | None, set[int]] = {}
        for at, core in enumerate(machine.cores):
            clusters.setdefault(core.cluster if core.cluster is not None else -1 - at, set()).update(core.pus)
        out["clusters"] = (
            sorted(format_list(tuple(cpus)) for cpus in clusters.values()),
            sorted(entry["clusters"].values()),
        )
        last = max(cache.level for cache in machine.caches)
        out["llc"] = (
            {format_list(cache.shared_by) for cache in machine.caches if cache.level == last},
            set(entry["llc"].values()),
        )
    if "closest" in entry:
        order = [node.os_id for node in machine.nodes]
        out["closest"] = (
            {
                str(node.os_id): [
                    [sorted(order[i] for i, d in enumerate(node.distances) if d == distance), distance]
                    for distance in sorted(set(node.distances) - {10})
                ]
                for node in machine.nodes
            },
            entry["closest"],
        )
        for key, ours in (
            ("nodes_with_cpus", [node.os_id for node in machine.nodes if node.pus]),
            ("nodes_without_cpus", [node.os_id for node in machine.nodes if not node.pus]),
            ("dram_nodes", [node.os_id for node in machine.nodes if node.pus]),
            ("pmem_nodes", [node.os_id for node in machine.nodes if not node.pus]),
        ):
            out[key] = (ours, entry[key])
    return out
