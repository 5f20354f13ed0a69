"""Findings in the words of ``catalog.toml``, which holds what each says, and what to recommend on a kind of machine."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine

SHELL_CPUS = "grep Cpus_allowed_list /proc/$$/status; cat /proc/$$/cgroup"
"""Shows the CPUs that the shell may use, and so what it starts."""


class _FindingWords(Struct, frozen=True, forbid_unknown_fields=True):
    severity: Severity
    title: str = ""
    consequence: str = ""
    remedy: str = ""
    remedy_in_guest: str = ""
    of_kernel: bool = False
    """Whether the remedy changes the kernel, which a container cannot."""
    command: str = ""
    quantity: str = ""
    subjects: tuple[str, ...] = ()


def finding(
    id_: str,
    title: str = "",
    evidence: Iterable[str] = (),
    subjects: Iterable[str] = (),
    *,
    machine: Machine | None = None,
    consequence: str = "",
    remedy: str = "",
    command: str = "",
) -> Finding:
    """Return a finding of the catalog; what the check states takes the place of what the catalog says.

    ``id_`` may name a case of it, ``numa.suma/off``, which the catalog has under that name. ``machine`` decides between
    the remedies of a physical machine, a guest and a container.
    """
    entry: _FindingWords = data_beside(__file__, "catalog.toml", dict[str, _FindingWords])[id_]
    remedy = remedy or entry.remedy
    if machine is not None:
        remedy = for_guest(machine, remedy, entry.remedy_in_guest or remedy)
        remedy = on_host(machine, remedy) if entry.of_kernel else remedy
    return Finding(
        id_.partition("/")[0],
        entry.severity,
        title or entry.title,
        tuple(evidence),
        consequence or entry.consequence,
        remedy,
        tuple(subjects) or entry.subjects,
        command=command or entry.command,
        quantity=entry.quantity,
    )


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
