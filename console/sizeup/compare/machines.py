"""Where two machines differ, in the order a buyer would ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

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
    texts = (
        Difference(
            what,
            *(" / ".join(dict.fromkeys((one and fact(one)) or UNKNOWN for one in side)) for side in (new, baseline)),
        )
        for what, fact in _FACTS.items()
    )
    return tuple(one for one in texts if one.new != one.baseline)


def configuration(machine: Machine) -> dict[str, str | None]:
    """Return the facts that do not change by themselves, in words; None where one is unknown.

    Those with a section of their own in ``sizeup.compare.drift`` are left out.
    """
    return {what: fact(machine) for what, fact in _FACTS.items() if what not in _ELSEWHERE}


def _counted(parts: Iterable[tuple[Any, ...]], text: Callable[..., str], order: Callable[[Any], Any] = str) -> str:
    """Return how many parts of each kind there are, ``2 x`` and the text of a kind, in the order of the kinds."""
    counts = sorted(Counter(parts).items(), key=order)
    return ", ".join(f"{count} x {text(*kind)}" for kind, count in counts)


def _caches(machine: Machine) -> str:
    data = (one for one in machine.caches if one.size_bytes is not None and one.kind is not CacheKind.INSTRUCTION)
    kinds = ((cache.level, cache.size_bytes) for cache in data)
    return _counted(kinds, lambda level, size: f"L{level} {format_bytes(size)}", itemgetter(0))


def _disks(machine: Machine) -> str:
    kinds = [(disk.kind.value, disk.model or "", disk.size_bytes or 0) for disk in machine.drives]
    kinds += (("LUN", "", found.size_bytes or 0) for found in machine.maps)

    def text(kind: str, model: str, size: int) -> str:
        return " ".join(filter(None, (kind, model, format_decimal_bytes(size) if size else "of unknown size")))

    return _counted(kinds, text, itemgetter(0))


def _adapters(machine: Machine) -> str:
    def text(transport: str, driver: str, speed: int | None, targets: int) -> str:
        ending = f"to {targets} targets" if targets else ""
        return " ".join(filter(None, (transport, driver, format_bit_rate(speed) if speed else "", ending)))

    hbas = machine.hbas
    kinds = ((hba.transport.value, hba.driver or "", hba.speed_bits_per_second, len(hba.targets)) for hba in hbas)
    return _counted(kinds, text)


def _links(machine: Machine) -> str:
    linked = (one for one in machine.pci if one.link is not None and not one.is_bridge)
    kinds = (
        (one.driver or f"{one.vendor:04x}:{one.device:04x}", one.link)
        for one in linked
        if None not in (one.vendor, one.device)
    )
    return _counted(kinds, lambda name, link: f"{name} {link.gigatransfers:g} GT/s x{link.width}")


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
    "base clock": lambda machine: if_known(machine.base_clock, lambda clock: format_hz(clock.value)),
    "caches": _caches,
    "memory": lambda machine: if_known(machine.memory_bytes, format_bytes),
    "NUMA nodes": lambda machine: if_known(machine.node_count),
    "memory by node": lambda machine: ", ".join(
        f"{node.os_id}: {if_known(node.memory_bytes, format_bytes) or UNKNOWN}"
        for node in machine.nodes
        if not any(one.id == "memory.node-sum" for one in machine.findings)  # which says that one of them is wrong
    ),
    "distances": lambda machine: " / ".join(
        " ".join(map(str, node.distances)) for node in machine.nodes if node.distances
    ),
    "huge page pools": lambda machine: ", ".join(
        f"{pool.total} x {format_bytes(pool.page_bytes)}" for pool in machine.huge_pages if pool.total
    ),
    "disks": _disks,
    "host adapters": _adapters,
    "paths": lambda machine: ", ".join(f"{found.name}: {len(found.paths)}" for found in machine.maps),
    "PCI links": _links,
    "networks": lambda machine: _counted(
        ((nic.driver or nic.kind, nic.speed_bits_per_second) for nic in machine.ports),
        lambda driver, speed: f"{driver} {format_bit_rate(speed)}" if speed else driver,
    ),
    "NFS": lambda machine: ", ".join(
        f"{mount.mount_point} v{mount.version or '?'} nconnect={mount.transports or '?'}"
        for mount in machine.nfs_mounts
    ),
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
