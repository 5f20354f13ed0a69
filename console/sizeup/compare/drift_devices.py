"""What drifted of network ports, PCI devices, accelerators and CXL memory."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.compare.drift_facts import (
    ComparedFact,
    Facts,
    Kind,
    both,
    compare_parts,
    number_text,
    size_text,
    speed_text,
    switch_text,
)
from sizeup.compare.drift_storage import NO_LINK
from sizeup.model.devices import Accelerator, CxlMemory
from sizeup.model.machine import Machine
from sizeup.model.network import Nic, RdmaPort, is_port
from sizeup.model.pci import PciFunction

_OVER_PORTS = ("bond", "vlan")
"""Bridges and virtual interfaces come and go with containers and guests."""
_IDLE_DOWN = (0x03, 0x12)
"""Base classes of devices that lower the speed of their link while they are idle."""


def device_facts(baseline: Machine, now: Machine) -> Iterator[ComparedFact]:
    """Return all that is on the network or on PCI."""
    sides = (baseline, now)
    yield from compare_parts(
        Kind("interface", "interfaces", on_every_machine=True),
        both(sides, lambda machine: {nic.name: nic for nic in machine.nics if is_port(nic) or nic.kind in _OVER_PORTS}),
        _nic_facts,
        lambda nic: nic.mac,
    )
    yield from compare_parts(
        Kind("RDMA port", "RDMA ports", "RDMA port "),
        both(sides, lambda machine: {f"{port.device}/{port.port}": port for port in machine.rdma_ports}),
        _rdma_facts,
    )
    yield from compare_parts(
        Kind("PCI", "PCI devices", "PCI ", on_every_machine=True),
        both(sides, lambda machine: {one.address: one for one in machine.pci if _is_listed(one)}),
        _pci_facts,
    )
    yield from compare_parts(
        Kind("accelerator", "accelerators", "accelerator "),
        both(sides, lambda machine: {one.pci_address: one for one in machine.accelerators}),
        _accelerator_facts,
    )
    yield from compare_parts(
        Kind("CXL", "CXL devices", "CXL "),
        both(sides, lambda machine: {one.name: one for one in machine.cxl_memory}),
        _cxl_facts,
    )


def _speed(bits_per_second: int | None, *, down: bool) -> str | None:
    """A port without a link has no speed, which is known."""
    return NO_LINK if down else speed_text(bits_per_second)


def _nic_facts(nic: Nic) -> Facts:
    return {
        "link": switch_text(nic.up, ("up", "down")),
        "speed": _speed(nic.speed_bits_per_second, down=nic.up is False),
        "MTU": number_text(nic.mtu),
        "driver": nic.driver,
        "receive queues": number_text(nic.receive_queues),
        "transmit queues": number_text(nic.transmit_queues),
        "bond mode": nic.bond_mode,
        "members": ", ".join(nic.lower) or "none",
    }


def _rdma_facts(port: RdmaPort) -> Facts:
    return {
        "state": port.state,
        "rate": _speed(port.rate_bits_per_second, down=port.state == "DOWN"),
        "link layer": port.link_layer,
        "firmware": port.firmware,
    }


def _is_listed(function: PciFunction) -> bool:
    """Virtual functions are counted at the physical one."""
    return not function.is_bridge and function.virtual_function_of is None


def _pci_facts(function: PciFunction) -> Facts:
    idles = (function.class_code or 0) >> 16 in _IDLE_DOWN
    link = None if function.link is None or idles else f"{function.link.gigatransfers:g} GT/s x{function.link.width}"
    return {
        "link": link,
        "driver": function.driver or "none",
        "virtual functions": number_text(function.virtual_functions),
    }


def _accelerator_facts(found: Accelerator) -> Facts:
    return {
        "model": found.model,
        "driver": found.driver,
        "memory": size_text(found.memory_bytes),
        "firmware": found.firmware,
    }


def _cxl_facts(found: CxlMemory) -> Facts:
    return {
        "volatile": size_text(found.volatile_bytes),
        "persistent": size_text(found.persistent_bytes),
        "firmware": found.firmware,
    }
