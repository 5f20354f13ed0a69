"""Every check of one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from sizeup.discovery.findings import dimms, settings
from sizeup.discovery.findings.devices import degraded_links, narrow_uplinks, remote_devices
from sizeup.discovery.findings.memory import (
    exhausted_nodes,
    incomplete_nodes,
    low_nodes,
    memlock_without_huge_pages,
    node_sum,
    skewed_memory,
    suma,
    uneven_memory,
)
from sizeup.discovery.findings.network import bonds, nfs_mounts, nfs_transports
from sizeup.discovery.findings.platform import clock_source, contradictions, firmware, processors, restricted
from sizeup.discovery.findings.storage import (
    arrays,
    failing_drives,
    fc_ports,
    file_systems,
    lost_mounts,
    maps,
    single_points,
    slow_ports,
    worn_drives,
)
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine

_CHECKS: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
    exhausted_nodes, arrays, skewed_memory, suma, incomplete_nodes, uneven_memory, node_sum, remote_devices,
    degraded_links, narrow_uplinks, bonds, maps, fc_ports, nfs_transports, memlock_without_huge_pages, clock_source,
    processors, restricted, firmware, dimms.errors, dimms.unbalanced_channels, dimms.reduced_speed, dimms.mixed_sizes,
    settings.swap, settings.zone_reclaim, settings.huge_pages, settings.numa_balancing, settings.power,
    settings.microcode, settings.schedulers, settings.cgroup_memory,
    failing_drives, worn_drives, lost_mounts, file_systems, nfs_mounts, slow_ports, single_points, low_nodes,
)  # fmt: skip


def find(machine: Machine) -> tuple[Finding, ...]:
    """All findings of one look, the gravest first.

    Where the topology contradicts itself, that is the finding, and nothing is concluded from the sockets of a node.
    """
    if contradictions(machine):
        machine = replace(machine, nodes=tuple(replace(node, packages=()) for node in machine.nodes))
    order = list(Severity)
    found = [finding for check in _CHECKS for finding in check(machine)]
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))
