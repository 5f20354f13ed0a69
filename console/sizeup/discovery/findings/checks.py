"""Every check of one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from sizeup.discovery.findings import devices, dimms, memory, platform, settings, storage
from sizeup.model.finding import Finding, gravity
from sizeup.model.machine import Machine

_CHECKS: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
    memory.exhausted_nodes, memory.exhausted_pools, storage.arrays, memory.skewed_memory, memory.suma,
    memory.unassigned_cpus, memory.shared_nodes, memory.uneven_memory, memory.node_sum, devices.remote_devices,
    devices.degraded_links, devices.narrow_uplinks, devices.bonds, storage.maps, storage.fc_ports,
    devices.nfs_transports, memory.memlock_without_huge_pages, platform.clock_source, platform.processors,
    platform.restricted, platform.firmware, dimms.errors, dimms.unbalanced_channels, dimms.reduced_speed,
    dimms.mixed_sizes, settings.swap, settings.zone_reclaim, settings.huge_pages, settings.numa_balancing,
    settings.power, settings.microcode, settings.schedulers, settings.cgroup_memory, storage.failing_drives,
    storage.worn_drives, storage.lost_mounts, storage.file_systems, devices.nfs_mounts, storage.slow_ports,
    storage.single_points, memory.low_nodes,
)  # fmt: skip


def find(machine: Machine) -> tuple[Finding, ...]:
    """All findings of one look, the gravest first.

    Where the topology contradicts itself, that is the finding, and nothing is concluded from the sockets of a node.
    """
    if any(platform.contradictions(machine)):
        machine = replace(machine, nodes=tuple(replace(node, packages=()) for node in machine.nodes))
    return tuple(sorted((finding for check in _CHECKS for finding in check(machine)), key=gravity))
