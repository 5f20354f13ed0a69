"""What each publisher says of a recording, in our terms: ``comparison`` gives (ours, theirs) by field.

The semantics are each tool's own. hwloc shows what this process may use, hides nodes without memory
and rounds memory; lscpu counts what is online; libvirt counts what is present unless its kernel
cannot tell. Every field a publisher gives is either compared here or named in ``NOT_OURS``.
"""

import re
from collections.abc import Callable
from typing import Any

from device_oracles import libnvme, libvirt_fc, lsblk, prometheus, telegraf
from sizeup.model.machine import Machine
from topology_oracles import Comparison, ghw, hwloc, libvirt_caps, libvirt_nodeinfo, lscpu, nri

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
