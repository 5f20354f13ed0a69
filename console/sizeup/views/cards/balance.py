"""Whether a machine is balanced: what its CPUs can use against what its parts can deliver, on one logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from sizeup.charts.share_bar import ShareBar
from sizeup.model.machine import Machine
from sizeup.model.network import is_port
from sizeup.sizing.rules import shipped
from sizeup.sizing.storage_paths import storage_path_bandwidths
from sizeup.units import as_percent, format_rate

if TYPE_CHECKING:
    from sizeup.session.value import Session

_TYPICAL = "io.ghz-rule.exact"
_LOADS = {"Data loading": "io.class.load.per-core", "Light scans": "io.class.light-scan.per-core"}
"""The least and the most that a core takes in."""
_TITLES = {"NVMe": "Local NVMe", "FC": "Fibre Channel", "FCOE": "Fibre Channel", "ISCSI": "iSCSI", "VIRTIO": "virtio"}
_BYTES_PER_TRANSFER = 8


class Supply(Struct, frozen=True):
    """A part and the most that it can deliver."""

    resource: str
    title: str
    bytes_per_second: float
    is_least: bool = False
    """A gentle run measured it, which stays below what the part can deliver."""


class Balance(Struct, frozen=True):
    """What the CPUs can use by rule of thumb, and what the parts can deliver; in bytes per second."""

    least: float
    typical: float
    most: float
    supplies: tuple[Supply, ...]

    @property
    def storage(self) -> Supply | None:
        """The widest path to storage; None where none is known."""
        return next((one for one in self.supplies if one.resource == "storage"), None)

    def sentence(self) -> str:
        """Return how many times over the storage feeds a typical load."""
        if self.storage is None:
            return ""
        times = self.storage.bytes_per_second / self.typical
        least = "at least " if self.storage.is_least else ""
        over = f"a typical load {least}{times:.0f} times over"
        how = over if times >= 2 else f"{least}{as_percent(times)} of a typical load"
        return f"{self.storage.title} feeds {how}"

    def loads(self) -> Iterator[tuple[str, float, ShareBar]]:
        """Yield what typical loads take of the widest path to storage: name, rate, and the share."""
        named = (("Typical load", self.typical), *zip(_LOADS, (self.least, self.most), strict=True))
        for name, rate in named if self.storage is not None else ():
            share = rate / self.storage.bytes_per_second if self.storage is not None else math.inf
            yield name, rate, ShareBar(share, share, judged=False)

    def decades(self) -> range:
        """Return the powers of ten of the axis, in bytes per second."""
        values = [self.least, self.most, *(one.bytes_per_second for one in self.supplies)]
        return range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)


def balance(machine: Machine | None, session: Session | None = None) -> Balance | None:
    """Return the balance of a machine; None where the speed of its CPUs is unknown."""
    if machine is None or machine.base_clock is None or not machine.core_count:
        return None
    rules, cores = shipped(), machine.core_count
    least, most = (rules.figure(name).value * cores for name in _LOADS.values())
    typical = rules.figure(_TYPICAL).value * cores * machine.base_clock.value
    return Balance(least, typical, most, tuple(_supplies(machine, session)))


def _supplies(machine: Machine, session: Session | None) -> Iterator[Supply]:
    read = _measured(session, "memory.read_bandwidth")
    modules = [slot.configured_transfers_per_second or 0 for slot in machine.dimm_slots if slot.size_bytes]
    if read is not None or any(modules):
        value = sum(modules) * _BYTES_PER_TRANSFER if read is None else read
        yield Supply("memory", "Memory", float(value))
    paths = storage_path_bandwidths(machine)
    transports = {hba.name: hba.transport.name for hba in machine.hbas}
    for path in paths:
        if path.bytes_per_second:
            kind = transports.get(path.devices[0], path.kind)
            yield Supply("storage", _TITLES.get(kind, kind), path.bytes_per_second)
    if not paths and (measured := _measured(session, "storage.bandwidth")) is not None:
        yield Supply("storage", "Storage", measured, session is not None and session.gentle is not None)
    payload = {one.device: one.limit_bytes_per_second for one in machine.budgets}
    up = (nic for nic in machine.nics if is_port(nic) and nic.carrier)
    links = [payload.get(nic.name) or (nic.speed_bits_per_second or 0) / 8 for nic in up]
    if any(links):
        yield Supply("network", "Network", sum(links))


def _measured(session: Session | None, name: str) -> float | None:
    """Return the best measured figure of a quantity; None where it was not measured."""
    if session is None:
        return None
    from sizeup.sizing.inputs.measured_figures import best, figures  # which the first screen of a machine does without

    found = best(figures(session.steps.values(), name))
    return None if found is None else found.value


def delivers(found: Balance | None, resource: str) -> str:
    """Return the most that a resource can deliver, and by which of several ways; empty where that is unknown."""
    supplies = [] if found is None else [one for one in found.supplies if one.resource == resource]
    if not supplies:
        return ""
    return format_rate(supplies[0].bytes_per_second) + (f", {supplies[0].title}" if len(supplies) > 1 else "")
