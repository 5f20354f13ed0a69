"""Which interface a connection takes, from the routing tables in ``/proc/net``; nothing is asked of the network.

A connection that is bound to an address leaves over the interface that has it. Otherwise the route to the server
decides. Policy routing (``ip rule``) and routes of other tables are in no file of /proc and are not considered.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import Nic
from sizeup.model.storage import Hba, NvmeController, Transport

IPV4_ROUTES = "/proc/net/route"
IPV6_ROUTES = "/proc/net/ipv6_route"
IPV6_ADDRESSES = "/proc/net/if_inet6"

_ROUTES_LIMIT = 4096
_UP, _REJECT, _GATEWAY = 0x1, 0x200, 0x2
"""Flags of routes: RTF_UP, RTF_REJECT, RTF_GATEWAY (include/uapi/linux/route.h)."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_OVER_IP = ("tcp", "rdma")
_BOND_DEPTH = 8
"""Most levels of bonds, bridges and VLANs one on the other."""


class Route(Struct, frozen=True):
    """One route of the main table."""

    network: Network
    nic: str
    metric: int
    direct: bool
    """No gateway: the network is the interface's own."""


def parse_routes(text: str) -> tuple[Route, ...]:
    """IPv4 routes of ``/proc/net/route``, as the kernel prefers them; addresses are in the host's byte order."""
    routes = []
    for line in text.splitlines()[1 : _ROUTES_LIMIT + 1]:
        fields = line.split()
        if len(fields) < 8:
            continue
        try:
            destination = int.from_bytes(bytes.fromhex(fields[1]), "little")
            mask = int.from_bytes(bytes.fromhex(fields[7]), "little")
            network = ipaddress.IPv4Network((destination, str(ipaddress.IPv4Address(mask))))
            flags = int(fields[3], 16)
            metric = int(fields[6]) if fields[6].isdecimal() and len(fields[6]) < 12 else 0
        except ValueError:
            continue
        if not flags & _REJECT:
            routes.append(Route(network, fields[0], metric, not flags & _GATEWAY))
    return _preferred(routes)


def parse_ipv6_routes(text: str) -> tuple[Route, ...]:
    """IPv6 routes of ``/proc/net/ipv6_route``, as the kernel prefers them; those that refuse are left out."""
    routes = []
    for line in text.splitlines()[:_ROUTES_LIMIT]:
        fields = line.split()
        if len(fields) != 10:
            continue
        try:
            network = ipaddress.IPv6Network((bytes.fromhex(fields[0]), int(fields[1], 16)))
            metric, flags = int(fields[5], 16), int(fields[8], 16)
        except ValueError:
            continue
        if flags & _UP and not flags & _REJECT and not network.is_multicast:
            routes.append(Route(network, fields[9], metric, not flags & _GATEWAY))
    return _preferred(routes)


def _preferred(routes: Iterable[Route]) -> tuple[Route, ...]:
    """The longest prefix first, then the lowest metric; of equal ones the kernel takes the first of its list."""
    return tuple(sorted(routes, key=lambda route: (-route.network.prefixlen, route.metric)))


def parse_ipv6_addresses(text: str) -> dict[Address, str]:
    """Interfaces by their IPv6 addresses, of ``/proc/net/if_inet6``; link-local ones may stand on several."""
    found: dict[Address, str] = {}
    for line in text.splitlines()[:_ROUTES_LIMIT]:
        fields = line.split()
        try:
            address = ipaddress.IPv6Address(bytes.fromhex(fields[0])) if len(fields) == 6 else None
        except ValueError:
            continue
        if address is not None and not address.is_link_local:
            found[address] = fields[5]
    return found


def parse_address(text: str | None) -> tuple[Address, str | None] | None:
    """Return an address and its zone, of ``192.0.2.1``, ``fe80::1%eth0`` or ``[2001:db8::1]``; None for none."""
    bare, _, zone = (text or "").strip("[] ").partition("%")
    try:
        return ipaddress.ip_address(bare), zone or None
    except ValueError:
        return None


class Routes:
    """The routes of a machine; a file is read at the first question that needs it."""

    def __init__(self, sysroot: Sysroot) -> None:
        self._sysroot = sysroot

    @cached_property
    def _ipv4(self) -> tuple[Route, ...]:
        return parse_routes(self._sysroot.read(IPV4_ROUTES) or "")

    @cached_property
    def _ipv6(self) -> tuple[Route, ...]:
        return parse_ipv6_routes(self._sysroot.read(IPV6_ROUTES) or "")

    @cached_property
    def _ipv6_addresses(self) -> dict[Address, str]:
        return parse_ipv6_addresses(self._sysroot.read(IPV6_ADDRESSES) or "")

    def to(self, server: str | None) -> str | None:
        """Return the interface over which the server is reached; None where no route says so."""
        parsed = parse_address(server)
        if parsed is None:
            return None
        address, zone = parsed
        if address.is_loopback:
            return "lo"
        if zone:
            return zone
        routes = self._ipv4 if address.version == 4 else self._ipv6
        return next((route.nic for route in routes if address in route.network), None)

    def holding(self, local: str | None) -> str | None:
        """Return the interface that has a local address; None where none is known, or several may have it."""
        parsed = parse_address(local)
        if parsed is None or parsed[0].is_unspecified:
            return None
        address, zone = parsed
        if zone is not None or address.is_loopback:
            return zone or "lo"
        if address.version == 6:
            return self._ipv6_addresses.get(address)
        # /proc has no IPv4 addresses by interface: the one whose own network it lies in, if there is only one.
        own = [route for route in self._ipv4 if route.direct and address in route.network]
        longest = own[0].network.prefixlen if own else 0
        nics = {route.nic for route in own if route.network.prefixlen == longest}
        return nics.pop() if len(nics) == 1 else None


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
            continue
        # nn-0x200000109b123456:pn-0x100000109b123456
        port = re.search(r"pn-0x([0-9a-fA-F]{1,16})", address.get("host_traddr", ""))
        if controller.transport == "fc" and port is not None and (hba := ports.get(port[1].lower())) is not None:
            placed.append(replace(controller, pci_address=hba.pci_address, node=hba.node))
        else:
            placed.append(controller)
    return tuple(placed)
