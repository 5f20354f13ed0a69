"""What each publisher says of a recording, in our terms: ``comparison`` gives (ours, theirs) by field.

The semantics are each tool's own. hwloc shows what this process may use, hides nodes without memory
and rounds memory; lscpu counts what is online; libvirt counts what is present unless its kernel
cannot tell. Every field a publisher gives is either compared here or named in ``NOT_OURS``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from sizeup.model.machine import Machine
from sizeup.model.numa import MemoryKind, NumaNode
from sizeup.model.topology import Cache, CacheKind
from sizeup.procfs.lists import format_list, parse_cpulist
from sizeup.units import parse_bytes

Comparison = dict[str, tuple[Any, Any]]

NOT_OURS = {
    "by", "base", "env", "file", "note", "options", "fallback", "how", "published",
    # hwloc's own invention out of distances and caches
    "groups",
    # lscpu: the same facts in words
    "summary",
    # libvirt: its guess where it lacks the kernel's topology; the product is compared
    "cores_per_socket", "sockets_per_node", "regular", "sockets_if_node_eq_pkg",
    # the momentary clock
    "mhz",
    # resctrl's control groups and the guests' interconnect hints
    "cache_banks", "interconnects",
    # a statement about the table, compared as such
    "distances_square", "distances_symmetric",
    # lsmem's view of memory blocks
    "ranges", "json",
}  # fmt: skip

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
        "threads_per_core": (
            max((len(core.pus) for core in machine.cores), default=0),
            entry["threads_per_core"],
        ),
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


def _instances(raw: str, metric: str) -> dict[str, str]:
    """Values by instance of one metric in a PCP report."""
    match = re.search(rf"^{re.escape(metric)}\n((?: .*\n)*)", raw + "\n", re.MULTILINE)
    body = match[1] if match else ""
    return dict(re.findall(r'(?:or )?"([^"]+)"\]? (?:value )?(\S+)', body))


def pcp(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """PCP: memory by node, huge pages, disks, FC counters, CPUs and nodes online."""
    out: Comparison = {}
    if "cpu_online" in entry:
        out["cpu_online"] = ({f"cpu{pu.cpu}": int(pu.online) for pu in machine.pus}, entry["cpu_online"])
        # PCP calls a machine without nodes one node.
        nodes = {f"node{node.os_id}": 1 for node in machine.nodes} or {"node0": 1}
        out["node_online"] = (nodes, entry["node_online"])
    if "nfchost" in entry:
        out["nfchost"] = (len(machine.hbas), entry["nfchost"])
        received = {hba.name: hba.received_bytes for hba in machine.hbas}
        out["in_bytes"] = ({name: received[name] for name in entry["in_bytes"]}, entry["in_bytes"])
    raw = entry.get("raw", "")
    kib = 1024
    for metric, read in (
        ("mem.numa.util.total", lambda node: (node.memory_bytes or 0) // kib),
        ("mem.numa.util.free", lambda node: (node.free_bytes or 0) // kib),
        ("mem.numa.util.used", lambda node: (node.used_bytes or 0) // kib),
        ("mem.numa.util.filePages", lambda node: (node.file_bytes or 0) // kib),
        ("mem.numa.util.shmem", lambda node: (node.shmem_bytes or 0) // kib),
    ):
        theirs = _instances(raw, metric)
        if theirs:
            out[metric] = ({f"node{node.os_id}": str(read(node)) for node in machine.nodes}, theirs)
    for metric, field in (("free", "free"), ("totalsize", "total"), ("surplus", "surplus"), ("reserved", "reserved")):
        theirs = _instances(raw, f"mem.hugepages.{metric}")
        if theirs:
            out[f"mem.hugepages.{metric}"] = (
                {f"{p.page_bytes // kib}kB": str(getattr(p, field) * p.page_bytes // kib) for p in machine.huge_pages},
                theirs,
            )
        theirs = _instances(raw, f"mem.numa.hugepages.{metric}")
        if theirs:
            out[f"mem.numa.hugepages.{metric}"] = (
                {
                    f"node{node.os_id}::{p.page_bytes // kib}kB": str(getattr(p, field) * p.page_bytes // kib)
                    for node in machine.nodes
                    for p in node.huge_pages
                },
                theirs,
            )
    if "hinv.cpu.online" in raw:
        out["hinv.cpu.online"] = (
            {f"cpu{pu.cpu}": str(int(pu.online)) for pu in machine.pus},
            _instances(raw, "hinv.cpu.online"),
        )
        out["hinv.node.online"] = (
            {f"node{node.os_id}": "1" for node in machine.nodes},
            _instances(raw, "hinv.node.online"),
        )
    disks = _instances(raw, "disk.dev.blkread")
    if disks:
        ours = {device.name for device in machine.block_devices}
        out["disks"] = (sorted(ours & set(disks)), sorted(disks))
        capacity = _instances(raw, "disk.dev.capacity")
        sizes = {d.name: str((d.size_bytes or 0) // kib) for d in machine.block_devices if d.name in capacity}
        out["capacity"] = (sizes, capacity)
    return out


def libvirt_fc(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """FC adapters by name."""
    ours, theirs = {}, {}
    hbas = {hba.name: hba for hba in machine.hbas}
    for name, host in entry["fc_hosts"].items():
        hba = hbas[name]
        ours[name] = (hba.port_name, hba.node_name, hba.fabric_name)
        theirs[name] = (host["wwpn"], host["wwnn"], host.get("fabric_wwn"))
    online = next(hba.name for hba in machine.hbas if hba.state == "Online")
    return {"fc_hosts": (ours, theirs), "first_online": (online, entry["first_online_vport_capable"])}


def libnvme(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """NVMe controllers, namespaces with their paths, subsystems; without ANA every path is optimized."""
    nqns = {subsystem.name: subsystem.nqn for subsystem in machine.nvme_subsystems}
    return {
        "controllers": (
            {c.name: {"traddr": c.address, "transport": c.transport} for c in machine.nvme_controllers},
            entry["controllers"],
        ),
        "subsystems": (sorted(nqns), sorted(entry["subsystems"])),
        "namespaces": (
            {
                n.name: {
                    "controllers": list(n.controllers),
                    "nqn": nqns.get(n.subsystem or ""),
                    "nsid": n.namespace_id,
                    "paths": [
                        {"ana": p.ana_state or "optimized", "numa_nodes": format_list(p.numa_nodes), "path": p.name}
                        for p in n.paths
                    ],
                    "subsystem": n.subsystem,
                }
                for n in machine.nvme_namespaces
            },
            entry["namespaces"],
        ),
    }


def _gigabits(text: str | None) -> int | None:
    return None if not text else int(text.split()[0]) * 10**9


def prometheus(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Procfs and node_exporter: a class of devices each."""
    out: Comparison = {}
    hbas = {hba.name: hba for hba in machine.hbas}
    for name, host in entry.get("fc_hosts", {}).items():
        hba = hbas[name]
        out[f"fc_hosts.{name}"] = (
            (hba.port_name, hba.state, hba.speed_bits_per_second),
            (host["port_name"] or None, host["port_state"], _gigabits(host["speed"])),
        )
    for name, host in entry.get("sas_hosts", {}).items():
        out[f"sas_hosts.{name}"] = (hbas[name].phys, host["phys"])
    controllers = {controller.name: controller for controller in machine.nvme_controllers}
    for name, wanted in entry.get("nvme", {}).items():
        c = controllers[name]
        out[f"nvme.{name}"] = (
            (c.model, c.serial, c.firmware, c.state),
            tuple(wanted.get(key, wanted.get(f"{key}_revision")) for key in ("model", "serial", "firmware", "state")),
        )
    nics = {nic.name: nic for nic in machine.nics}
    for name, wanted in entry.get("nics", {}).items():
        nic = nics[name]
        pairs = {
            "address": nic.mac,
            "duplex": nic.duplex,
            "mtu": nic.mtu,
            "speed": nic.speed_bits_per_second and nic.speed_bits_per_second // 10**6,
            "operstate": "up" if nic.up else "down",
        }
        out[f"nics.{name}"] = (
            {key: pairs[key] for key in wanted if key in pairs},
            {k: v for k, v in wanted.items() if k in pairs},
        )
    for address, wanted in entry.get("pci", {}).items():
        f = next(function for function in machine.pci if function.address == address)
        ours = {
            "cls": f"{f.class_code:06x}",
            "cur": f.link and [f.link.gigatransfers, f.link.width],
            "max": f.link_limit and [f.link_limit.gigatransfers, f.link_limit.width],
            "numa": -1 if f.node is None else f.node,
            "parent": f.parent,
            "sriov_numvfs": f.virtual_functions,
            "sriov_totalvfs": f.virtual_functions_limit,
        }
        out[f"pci.{address}"] = (
            {key: ours[key] for key in wanted if key in ours},
            {k: v for k, v in wanted.items() if k in ours},
        )
    maps = {found.name: found for found in machine.maps}
    for name, wanted in entry.get("multipath", {}).items():
        m = maps[name]
        out[f"multipath.{name}"] = (
            {
                "dm": m.device,
                "paths": {p.device: p.state for p in m.paths},
                "size": m.size_bytes,
                "suspended": m.suspended,
                "uuid": m.uuid,
            },
            wanted,
        )
    for name in entry.get("not_multipath", ()):
        out[f"not_multipath.{name}"] = (any(m.device == name for m in machine.maps), False)
    # Of several mounts on one place the one with statistics is theirs.
    mounts = {mount.mount_point: mount for mount in machine.nfs_mounts if mount.age_seconds is not None}
    for wanted in entry.get("nfs_mounts", ()):
        mount = mounts.get(wanted.get("mount", ""))
        if mount is None:
            mount = next(m for m in machine.nfs_mounts if m.export == wanted.get("export", wanted.get("device")))
        ours = {
            "age": mount.age_seconds,
            "device": mount.export,
            "export": mount.export,
            "mount": mount.mount_point,
            "proto": mount.protocol,
            "retrans": next((int(o[8:]) for o in mount.options if o.startswith("retrans=")), None),
            "rsize": mount.read_size_bytes,
            "wsize": mount.write_size_bytes,
            "sec": mount.security,
            "vers": mount.version,
            "xprts": mount.transports,
        }
        out[f"nfs.{mount.mount_point}"] = (
            {k: ours[k] for k in wanted if k in ours},
            {k: v for k, v in wanted.items() if k in ours},
        )
    bonds = {nic.name: nic for nic in machine.nics if nic.kind == "bond"}
    for name, wanted in entry.get("bonding", {}).items():
        lower = bonds[name].lower
        out[f"bonding.{name}"] = (len(lower), wanted["slaves"])
    arrays = {device.name: device for device in machine.block_devices}
    for name, wanted in entry.get("md", {}).items():
        if name in arrays and "raid_disks" in wanted:
            out[f"md.{name}"] = (
                (arrays[name].raid_disks, arrays[name].raid_degraded or 0),
                (wanted["raid_disks"], wanted["degraded"]),
            )
    for name, wanted in entry.get("disks", {}).items():
        if name in arrays:
            d = arrays[name]
            # Serials are in a udev database that the recording has packed away; unknown is printed as 0.
            out[f"disks.{name}"] = (bool(d.rotational), wanted["rotational"] == "1")
    for name, wanted in entry.get("infiniband", {}).items():
        rates = {str(p.port): (p.rate_bits_per_second or 0) / 8 for p in machine.rdma_ports if p.device == name}
        out[f"infiniband.{name}"] = (rates, wanted["rate_Bps"])
    return out


def telegraf(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Mount points that must be there."""
    mounts = {mount.mount_point for mount in machine.nfs_mounts}
    wanted = entry["mounts_at_least"]
    return {"mounts_at_least": ([where for where in wanted if where in mounts], wanted)}


def lsblk(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Lsblk's columns that we have."""
    devices = {device.dm_name or device.name: device for device in machine.block_devices}
    out: Comparison = {}
    for name, wanted in entry["devices"].items():
        d = devices.get(name)
        if d is None:
            out[name] = (None, wanted)
            continue
        ours = {
            "KNAME": d.name,
            "MAJ:MIN": d.devno,
            "RO": str(int(bool(d.read_only))),
            "LOG-SEC": str(d.logical_block_bytes),
            "PHY-SEC": str(d.physical_block_bytes),
            "ROTA": str(int(bool(d.rotational))),
        }
        if d.parent is None:
            ours["SCHED"] = d.scheduler
            ours["RQ-SIZE"] = str(d.queue_depth_limit)
            ours["MODEL"] = d.model and d.model.split()[0]  # the table was split at blanks
        if "STATE" in wanted and d.parent is None and d.state is not None:
            ours["STATE"] = d.state
        keys = [key for key in ours if key in wanted]
        out[name] = ({key: ours[key] for key in keys}, {key: wanted[key] for key in keys})
    return out


def lsmem(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Memory online; the recording has the blocks alone, and no node directory."""
    ours = None if machine.memory_bytes is None else _lsmem_size(machine.memory_bytes)
    return {"online": (ours, entry["totals"]["Total online memory"])}


def _lsmem_size(size: int) -> str:
    """Gibibytes with a decimal where it is not whole, as lsmem prints."""
    tenths = round(size / (1 << 30) * 10)
    return f"{tenths // 10}G" if tenths % 10 == 0 else f"{tenths / 10}G"


_BY: tuple[tuple[str, Callable[[Machine, dict[str, Any]], Comparison]], ...] = (
    ("hwloc", hwloc),
    ("lscpu", lscpu),
    ("libvirt-nodeinfo", libvirt_nodeinfo),
    ("libvirt-caps", libvirt_caps),
    ("libvirt fchosttest", libvirt_fc),
    ("libnvme", libnvme),
    ("ghw", ghw),
    ("nri-plugins", nri),
    ("pcp", pcp),
    ("procfs", prometheus),
    ("node_exporter", prometheus),
    ("telegraf", telegraf),
    ("lsblk", lsblk),
    ("lsmem", lsmem),
)


def comparison(machine: Machine, entry: dict[str, Any]) -> Comparison:
    """Ours and theirs by field; empty for a publisher that states nothing."""
    for prefix, compare in _BY:
        if entry["by"].startswith(prefix):
            return compare(machine, entry)
    return {}
