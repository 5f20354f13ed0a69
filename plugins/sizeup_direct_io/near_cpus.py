"""The CPUs near a target: those of the NUMA nodes that its devices are attached to."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from msgspec import Struct

from sizeup.procfs.block import read_block_stack
from sizeup.procfs.kernel_file import SYS, list_names, read_integer, read_line
from sizeup.procfs.lists import format_list, parse_cpulist

_NODE = re.compile(r"node(\d+)")
_CONTROLLER = re.compile(r"nvme\d+")


class NearCpus(Struct, frozen=True):
    """Where the threads of a target run."""

    groups: tuple[tuple[int, ...], ...]
    """The allowed CPUs of each node; empty: the threads are not pinned."""
    description: str
    """The CPUs with their nodes and devices, or why the threads are not pinned."""

    def of_worker(self, index: int) -> tuple[int, ...]:
        """Return the CPUs of a worker: the workers take turns over the nodes."""
        return self.groups[index % len(self.groups)] if self.groups else ()


def not_pinned(reason: str) -> NearCpus:
    """Return that the threads run wherever the process may."""
    return NearCpus((), f"not pinned: {reason}")


def _nodes_with_cpus(sysfs: str) -> dict[int, tuple[int, ...]]:
    folder = f"{sysfs}/devices/system/node"
    found = {}
    for name in list_names(folder):
        match = _NODE.fullmatch(name)
        cpus = parse_cpulist(read_line(f"{folder}/{name}/cpulist") or "") if match else ()
        if match and cpus:
            found[int(match[1])] = cpus
    return found


def _node_above(folder: str, sysfs: str) -> int | None:
    """Return the node of the closest device in a sysfs path that has one; None without."""
    top = os.path.realpath(sysfs)
    folder = os.path.realpath(folder)
    while folder.startswith(f"{top}/"):
        node = read_integer(f"{folder}/numa_node")
        if node is not None and node >= 0:
            return node
        folder = os.path.dirname(folder)
    return None


def _nodes_of(disk: str, sysfs: str) -> set[int | None]:
    """Return the nodes of a disk: of each controller of an NVMe subsystem with several paths; None for unknown ones."""
    controllers = [name for name in list_names(f"{disk}/device") if _CONTROLLER.fullmatch(name)]
    folders = [f"{disk}/device/{name}" for name in controllers] or [disk]
    return {_node_above(folder, sysfs) for folder in folders}


def find_near_cpus(device_number: int, allowed: Collection[int], sysfs: str = SYS) -> NearCpus:
    """Return the CPUs of the nodes of all devices beneath a target that this process may use."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None:
        return not_pinned("the target is on no block device")
    nodes = _nodes_with_cpus(sysfs)
    only = next(iter(nodes)) if len(nodes) == 1 else None
    devices: dict[int, list[str]] = {}
    for disk in stack.disks:
        for node in _nodes_of(disk, sysfs):
            known = only if node is None else node
            if known is None:
                return not_pinned(f"the node of {os.path.basename(disk)} is unknown")
            devices.setdefault(known, []).append(os.path.basename(disk))
    groups = []
    for node in sorted(devices):
        cpus = tuple(cpu for cpu in nodes.get(node, ()) if cpu in allowed)
        if not cpus:
            return not_pinned(
                f"this process may use no CPU of node {node}, where {', '.join(devices[node])} is attached"
            )
        groups.append(cpus)
    descriptions = (
        f"{format_list(cpus)} (node {node}: {', '.join(devices[node])})"
        for node, cpus in zip(sorted(devices), groups, strict=True)
    )
    return NearCpus(tuple(groups), "; ".join(descriptions))


def several_nodes(sysfs: str = SYS) -> bool:
    """Return whether it matters where a thread runs."""
    return len(_nodes_with_cpus(sysfs)) > 1
