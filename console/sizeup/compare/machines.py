"""Where two machines differ, in the order a buyer would ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.topology import CacheKind
from sizeup.text import if_known, switch_text
from sizeup.units import format_bit_rate, format_bytes, format_decimal_bytes, format_hz

UNKNOWN = "unknown"


class Difference(Struct, frozen=True):
    """One fact that is not the same on both sides."""

    what: str
    new: str
    """As people read it; several values where the sessions of a side disagree."""
    baseline: str


def machine_differences(new: Sequence[Machine | None], baseline: Sequence[Machine | None]) -> tuple[Difference, ...]:
    """Facts that differ between the sides; those equal everywhere are left out.

    A side without any machine, such as a published case, differs in nothing that is known.
    """
    if not any(new) or not any(baseline):
        return ()
    differences = []
    for what, fact in _FACTS.items():
        left, right = _side(new, fact), _side(baseline, fact)
        if left != right:
            differences.append(Difference(what, left, right))
    return tuple(differences)


def configuration(machine: Machine) -> dict[str, str | None]:
    """Return the facts that do not change by themselves, in words; None where one is unknown.

    Those with a section of their own in ``sizeup.compare.drift`` are left out.
    """
    return {what: fact(machine) for what, fact in _FACTS.items() if what not in _ELSEWHERE}


def _side(machines: Sequence[Machine | None], fact: Callable[[Machine], str | None]) -> str:
    seen = dict.fromkeys((fact(machine) if machine is not None else None) or UNKNOWN for machine in machines)
    return " / ".join(seen) or UNKNOWN


def _caches(machine: Machine) -> str | None:
    counts = Counter(
        (cache.level, cache.size_bytes)
        for cache in machine.caches
        if cache.size_bytes is not None and cache.kind is not CacheKind.INSTRUCTION
    )
    return ", ".join(f"{count} x L{level} {format_bytes(size)}" for (level, size), count in sorted(counts.items()))


def _disks(machine: Machine) -> str | None:
    counts = Counter((disk.kind.value, disk.model or "", disk.size_bytes or 0) for disk in machine.drives)
    counts.update(("LUN", "", found.size_bytes or 0) for found in machine.maps)
    return ", ".join(
        " ".join(filter(None, (f"{count} x", kind, model, format_decimal_bytes(size) if size else "of unknown size")))
        for (kind, model, size), count in sorted(counts.items())
    )


def _nics(machine: Machine) -> str | None:
    counts = Counter((nic.driver or nic.kind, nic.speed_bits_per_second) for nic in machine.ports)
    return ", ".join(
        f"{count} x {driver}" + (f" {format_bit_rate(speed)}" if speed else "")
        for (driver, speed), count in sorted(counts.items(), key=str)
    )


def _nodes(machine: Machine) -> str | None:
    return ", ".join(
        f"{node.os_id}: {'unknown' if node.memory_bytes is None else format_bytes(node.memory_bytes)}"
        for node in machine.nodes
    )


def _pools(machine: Machine) -> str | None:
    return ", ".join(f"{pool.total} x {format_bytes(pool.page_bytes)}" for pool in machine.huge_pages if pool.total)


def _adapters(machine: Machine) -> str | None:
    counts = Counter(
        (hba.transport.value, hba.driver or "", hba.speed_bits_per_second, len(hba.targets)) for hba in machine.hbas
    )
    return ", ".join(
        " ".join(filter(None, (f"{count} x", transport, driver, format_bit_rate(speed) if speed else "")))
        + (f" to {targets} targets" if targets else "")
        for (transport, driver, speed, targets), count in sorted(counts.items(), key=str)
    )


def _paths(machine: Machine) -> str | None:
    return ", ".join(f"{found.name}: {len(found.paths)}" for found in machine.maps)


def _links(machine: Machine) -> str | None:
    counts = Counter(
        (function.driver or f"{function.vendor:04x}:{function.device:04x}", function.link)
        for function in machine.pci
        if function.link is not None and not function.is_bridge and None not in (function.vendor, function.device)
    )
    return ", ".join(
        f"{count} x {name} {link.gigatransfers:g} GT/s x{link.width}"
        for (name, link), count in sorted(counts.items(), key=str)
        if link is not None
    )


def _shares(machine: Machine) -> str | None:
    return ", ".join(
        f"{mount.mount_point} v{mount.version or '?'} nconnect={mount.transports or '?'}"
        for mount in machine.nfs_mounts
    )


def _tcp(machine: Machine) -> str | None:
    if machine.tcp is None:
        return None
    named = (("receive", machine.tcp.receive), ("send", machine.tcp.send))
    return ", ".join(f"{name} {format_bytes(sizes[-1])}" for name, sizes in named if sizes is not None)


_FACTS: dict[str, Callable[[Machine], str | None]] = {
    "CPU": lambda machine: machine.cpu_model,
    "architecture": lambda machine: machine.platform.architecture,
    "packages": lambda machine: if_known(machine.socket_count),
    "dies": lambda machine: if_known(len(machine.dies) or None),
    "cores": lambda machine: if_known(machine.core_count),
    "PUs online": lambda machine: str(machine.pu_counts.online),
    "PUs allowed": lambda machine: str(machine.pu_counts.allowed),
    "base clock": lambda machine: format_hz(machine.base_clock.value) if machine.base_clock is not None else None,
    "caches": _caches,
    "memory": lambda machine: format_bytes(machine.memory_bytes) if machine.memory_bytes is not None else None,
    "NUMA nodes": lambda machine: if_known(machine.node_count),
    "memory by node": _nodes,
    "distances": lambda machine: " / ".join(
        " ".join(map(str, node.distances)) for node in machine.nodes if node.distances
    ),
    "huge page pools": _pools,
    "disks": _disks,
    "host adapters": _adapters,
    "paths": _paths,
    "PCI links": _links,
    "networks": _nics,
    "NFS": _shares,
    "TCP buffers": _tcp,
    "product": lambda machine: machine.platform.model,
    "hypervisor": lambda machine: machine.platform.hypervisor,
    "container": lambda machine: machine.platform.container,
    "kernel": lambda machine: machine.platform.kernel,
    "clock source": lambda machine: machine.platform.clock_source,
    "governor": lambda machine: machine.platform.governor,
    "SMT": lambda machine: machine.platform.smt,
    "settings": lambda machine: " ".join(machine.platform.kernel_settings),
    "huge pages": lambda machine: machine.platform.transparent_huge_pages,
    "NUMA balancing": lambda machine: switch_text(machine.platform.numa_balancing),
    "findings": lambda machine: ", ".join(sorted({finding.id for finding in machine.findings})),
}

_ELSEWHERE = frozenset(
    {
        "findings", "clock source", "governor", "huge pages", "huge page pools", "NUMA balancing", "disks",
        "host adapters", "paths", "PCI links", "networks", "NFS",
    }
)  # fmt: skip
