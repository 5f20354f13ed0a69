"""What several checks ask of a machine: what to recommend on this kind of it, and the sockets of nodes."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.model.machine import Machine

SHELL_CPUS = "grep Cpus_allowed_list /proc/$$/status; cat /proc/$$/cgroup"
"""Shows the CPUs that the shell may use, and so what it starts."""


def for_guest(machine: Machine, physical: str, virtual: str) -> str:
    """Return the advice for a physical machine, or that for a guest, whose hardware is the hypervisor's to change."""
    return virtual if machine.platform.is_guest else physical


def on_host(machine: Machine, advice: str) -> str:
    """Return the advice to change the kernel; a container cannot, whatever its own root may do."""
    return f"On the container's host: {advice}" if machine.platform.container else advice


def memory_command(machine: Machine) -> str:
    """Return the command that shows the memory: its modules where the firmware lists them, else that of each node."""
    platform = machine.platform
    x86 = (platform.architecture or "").startswith(("x86", "i386", "i686"))
    if (x86 or platform.firmware) and not platform.is_guest:
        return "dmidecode --type memory"
    return "grep MemTotal /sys/devices/system/node/node*/meminfo"


def packages_of(machine: Machine, nodes: Iterable[int | None]) -> set[int]:
    """Return the packages that these nodes belong to; a node that is unknown adds none."""
    by_node = {node.os_id: node.packages for node in machine.nodes}
    return {package for node in nodes if node is not None for package in by_node.get(node, ())}
