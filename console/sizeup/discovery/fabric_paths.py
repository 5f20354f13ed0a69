"""iSCSI sessions and NVMe controllers over a fabric, followed to the interface or the adapter that carries them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from sizeup.discovery.routes import Routes
from sizeup.model.network import Nic
from sizeup.model.storage import Hba, NvmeController, Transport

_OVER_IP = ("tcp", "rdma")
_BOND_DEPTH = 8
"""Most levels of bonds, bridges and VLANs one on the other."""


def node_of(nic: Nic | None, by_name: Mapping[str, Nic], depth: int = _BOND_DEPTH) -> int | None:
    """Return the NUMA node of an interface: of a stacked one that of all below it; None where they differ."""
    if nic is None or depth == 0:
        return None
    if nic.node is not None or not nic.lower:
        return nic.node
    nodes = {node_of(by_name.get(name), by_name, depth - 1) for name in nic.lower}
    return nodes.pop() if len(nodes) == 1 else None


def placed_by_interface(hbas: tuple[Hba, ...], nics: tuple[Nic, ...], routes: Routes) -> tuple[Hba, ...]:
    """FCoE and iSCSI in software hang on no bus of their own: they are where their interface is."""
    by_name = {nic.name: nic for nic in nics}
    placed = []
    for hba in hbas:
        name = hba.net_device
        if hba.transport is Transport.ISCSI and hba.pci_address is None and name not in by_name:
            portal = next((target.address for target in hba.targets if target.address), None)
            name = routes.holding(hba.local_address) or routes.to(portal_host(portal))
        if name is None or hba.pci_address is not None:
            placed.append(hba)
        else:
            node = node_of(by_name.get(name), by_name)
            placed.append(replace(hba, net_device=name, node=hba.node if node is None else node))
    return tuple(placed)


def portal_host(portal: str | None) -> str | None:
    """Return the address of ``192.0.2.1:3260`` or ``[2001:db8::1]:3260``."""
    host = re.fullmatch(r"\[(.+)\](?::\d+)?|([^:]+)(?::\d+)?", portal or "")
    return None if host is None else host[1] or host[2]


def parse_fabric_address(text: str) -> dict[str, str]:
    """Parts of a controller's ``address``: ``traddr=192.0.2.1,trsvcid=4420,src_addr=192.0.2.9``."""
    parts = (word.strip().partition("=") for word in text.split(","))
    return {key: value for key, sign, value in parts if sign and value}


def placed_on_fabric(
    controllers: tuple[NvmeController, ...], nics: tuple[Nic, ...], hbas: tuple[Hba, ...], routes: Routes
) -> tuple[NvmeController, ...]:
    """Controllers over TCP and RDMA with their interface, those over Fibre Channel where their adapter is."""
    by_name = {nic.name: nic for nic in nics}
    ports = {hba.port_name: hba for hba in hbas if hba.transport is Transport.FC and hba.port_name is not None}
    placed = []
    for controller in controllers:
        address = parse_fabric_address(controller.address or "")
        if controller.transport in _OVER_IP and address:
            local = address.get("src_addr") or address.get("host_traddr")
            name = address.get("host_iface") or routes.holding(local) or routes.to(address.get("traddr"))
            node = node_of(by_name.get(name or ""), by_name)
            placed.append(replace(controller, net_device=name, node=controller.node if node is None else node))
        elif (
            controller.transport == "fc"
            and (hba := ports.get(_port_name(address.get("host_traddr")) or "")) is not None
        ):
            placed.append(replace(controller, pci_address=hba.pci_address, node=hba.node))
        else:
            placed.append(controller)
    return tuple(placed)


def _port_name(address: str | None) -> str | None:
    """Return the port's name of ``nn-0x200000109b123456:pn-0x100000109b123456``."""
    match = re.search(r"pn-0x([0-9a-fA-F]{1,16})", address or "")
    return None if match is None else match[1].lower()
