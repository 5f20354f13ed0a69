"""The network files of a masked capture: they lead to the masked servers as before, and say nothing else."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from sizeup.discovery.anonymizer import Anonymizer
from sizeup.discovery.fabric_paths import parse_fabric_address, portal_host
from sizeup.discovery.nfs_server import parse_tcp
from sizeup.discovery.routes import IPV4_ROUTES, IPV6_ADDRESSES, IPV6_ROUTES, Address, parse_address
from sizeup.model.machine import Machine

_TCP_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_HEADINGS = {
    IPV4_ROUTES: "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT",
    **dict.fromkeys(_TCP_TABLES, "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt"),
}


def _followed(machine: Machine) -> Iterator[tuple[str | None, str | None, bool]]:
    """Each address that was looked up, its interface, and whether it is one of this host."""
    for mount in machine.nfs_mounts:
        yield mount.address, mount.nic, False
    for hba in machine.hbas:
        yield hba.local_address, hba.net_device, True
        for target in hba.targets:
            yield portal_host(target.address), hba.net_device, False
    for controller in machine.nvme_controllers:
        address = parse_fabric_address(controller.address or "")
        yield address.get("traddr"), controller.net_device, False
        yield address.get("src_addr") or address.get("host_traddr"), controller.net_device, True


def _reversed_words(address: Address) -> str:
    packed = address.packed
    return "".join(packed[at : at + 4][::-1].hex().upper() for at in range(0, len(packed), 4))


def masked_network(files: dict[str, bytes], machine: Machine, anonymizer: Anonymizer) -> dict[str, bytes]:
    """Return the routes, addresses and connections among ``files`` with stand-ins for what was looked up in them."""
    lines: dict[str, dict[str, None]] = {
        name: {} for name in (IPV4_ROUTES, IPV6_ROUTES, IPV6_ADDRESSES, *_TCP_TABLES) if name in files
    }
    for text, nic, local in _followed(machine):
        if text is None or nic in (None, "lo"):
            continue
        masked = parse_address(anonymizer.text(text, mounts=True))
        if masked is None:
            continue
        address, name = masked[0], anonymizer.text(nic or "")
        if isinstance(address, ipaddress.IPv4Address):
            line = f"{name}\t{_reversed_words(address)}\t00000000\t0001\t0\t0\t0\tFFFFFFFF\t0\t0\t0"
            lines.get(IPV4_ROUTES, {})[line] = None
            continue
        packed, none = address.packed.hex(), "0" * 32
        lines.get(IPV6_ROUTES, {})[f"{packed} 80 {none} 00 {none} 00000400 0 0 00000001 {name}"] = None
        if local:
            lines.get(IPV6_ADDRESSES, {})[f"{packed} 01 80 00 80 {name}"] = None
    servers = {
        parsed[0]: mount.address
        for mount in machine.nfs_mounts
        if mount.address is not None and (parsed := parse_address(mount.address)) is not None
    }
    for table in _TCP_TABLES:
        for number, found in enumerate(parse_tcp(files.get(table, b"").decode("latin-1"))):
            if found.remote in servers:
                server = parse_address(anonymizer.text(servers[found.remote], mounts=True))
                remote = "0" * 8 if server is None else _reversed_words(server[0])
                state = f"{found.state:02X} 0:0 00:0 {found.retransmissions:X}"
                line = f"{number}: 00000000:0000 {remote}:{found.port:04X} {state}"
                lines[table][line] = None
    return {
        name: "".join(f"{line}\n" for line in (*filter(None, (_HEADINGS.get(name),)), *own)).encode()
        for name, own in lines.items()
    }
