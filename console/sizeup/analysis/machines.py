"""Where two machines differ, in the order a buyer would ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sizeup.model.machine import Machine
from sizeup.model.topology import CacheKind
from sizeup.units import format_bytes, format_decimal_bytes, format_hz

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not the same on both sides."""

    what: str
    first: str
    """As people read it; several values where the sessions of a side disagree."""
    base: str


def machine_differences(first: Sequence[Machine | None], base: Sequence[Machine | None]) -> tuple[Difference, ...]:
    """Facts that differ between the sides; those equal everywhere are left out."""
    differences = []
    for what, fact in _FACTS.items():
        left, right = _side(first, fact), _side(base, fact)
        if left != right:
            differences.append(Difference(what, left, right))
    return tuple(differences)


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
    whole = [disk for disk in machine.block_devices if disk.parent is None and not disk.members and disk.size_bytes]
    counts = Counter((disk.kind.value, disk.model or "", disk.size_bytes or 0) for disk in whole)
    return ", ".join(
        " ".join(filter(None, (f"{count} x", kind, model, format_decimal_bytes(size))))
        for (kind, model, size), count in sorted(counts.items())
        if kind not in ("loop", "ram", "optical")
    )


def _nics(machine: Machine) -> str | None:
    counts = Counter(
        (nic.driver or nic.kind, nic.speed_bits_per_second)
        for nic in machine.nics
        if nic.kind in ("physical", "virtio")
    )
    return ", ".join(
        f"{count} x {driver}" + (f" {speed / 1e9:g} Gb/s" if speed else "")
        for (driver, speed), count in sorted(counts.items(), key=str)
    )


_FACTS: dict[str, Callable[[Machine], str | None]] = {
    "CPU": lambda machine: machine.cpu_model,
    "architecture": lambda machine: machine.platform.architecture,
    "packages": lambda machine: str(len(machine.packages)),
    "cores": lambda machine: str(len(machine.cores)),
    "PUs online": lambda machine: str(machine.pu_counts.online),
    "PUs allowed": lambda machine: str(machine.pu_counts.allowed),
    "base clock": lambda machine: format_hz(machine.base_clock.value) if machine.base_clock is not None else None,
    "caches": _caches,
    "memory": lambda machine: format_bytes(machine.memory_bytes) if machine.memory_bytes is not None else None,
    "NUMA nodes": lambda machine: str(len(machine.nodes)),
    "disks": _disks,
    "networks": _nics,
    "product": lambda machine: machine.platform.model,
    "hypervisor": lambda machine: machine.platform.hypervisor,
    "kernel": lambda machine: machine.platform.kernel,
    "clock source": lambda machine: machine.platform.clock_source,
    "governor": lambda machine: machine.platform.governor,
    "huge pages": lambda machine: machine.platform.transparent_huge_pages,
}
