"""NFS mounts from ``/proc/self/mountinfo`` and ``/proc/self/mountstats``.

Never from the mount point: a statvfs of a mount whose server is gone hangs its caller for ever.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from sizeup.discovery.routes import Address, Routes, parse_address
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import NfsMount
from sizeup.procfs.mounts import MountEntry, MountStats, parse_mountstats
from sizeup.text import plural
from sizeup.units import whole_number

_SWITCHES = "/sys/kernel/sunrpc/xprt-switches"
_TRANSPORT = re.compile(r"xprt-\d{1,6}-tcp")
_TRANSPORTS_LIMIT = 1024
_FIELD_CHARACTERS = 37
"""Of an IPv6 address and its port, the longest there is."""
_CONNECTIONS_LIMIT = 1 << 16
_NFS_PORT = 2049
_ESTABLISHED, _SYN_SENT = 0x01, 0x02
_LOST_ESTABLISHED, _LOST_SYN = 4, 1
"""Retransmissions of one segment in a row from which a connection does not answer: of data, about 3 s; of the first
segment, 1 s (TCP's timer doubles each time)."""
_ATTRIBUTE_CACHE = ("actimeo", "acregmin", "acregmax", "acdirmin", "acdirmax")


class TcpConnection(Struct, frozen=True):
    """One line of ``/proc/net/tcp``."""

    remote: Address
    port: int
    state: int
    retransmissions: int
    """Of the oldest segment that is not acknowledged."""


def parse_tcp(text: str) -> Iterator[TcpConnection]:
    """The connections of ``/proc/net/tcp`` and ``tcp6``; addresses are words in the host's byte order."""
    for line in text.splitlines()[1 : _CONNECTIONS_LIMIT + 1]:
        fields = line.split()
        if len(fields) < 7 or max(map(len, fields[2:7])) > _FIELD_CHARACTERS:
            continue
        address, _, port = fields[2].partition(":")
        try:
            raw = bytes.fromhex(address)
            words = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
            remote = ipaddress.ip_address(words)
            number, state, lost = int(port, 16), int(fields[3], 16), int(fields[6], 16)
        except ValueError:
            continue
        if isinstance(remote, ipaddress.IPv6Address) and remote.ipv4_mapped is not None:
            remote = remote.ipv4_mapped
        yield TcpConnection(remote, number, state, lost)


class NfsServers:
    """The connections to NFS servers; the table of all TCP connections is read only where a call may wait."""

    def __init__(self, sysroot: Sysroot) -> None:
        self._sysroot = sysroot

    def unanswered(self, address: str | None, port: int | None, *, waiting: bool) -> str | None:
        """Return what shows that a server does not answer, in words; None where nothing does.

        ``waiting`` says whether calls are without an answer, by mountstats.
        """
        parsed = parse_address(address)
        if parsed is None:
            return None
        states = self._states.get(parsed[0], [])
        if not waiting and not any("CONNECTING" in state and "CONNECTED" not in state for state in states):
            return None
        port = port or _NFS_PORT
        for found in self._connections:
            if (found.remote, found.port) != (parsed[0], port):
                continue
            again = plural(found.retransmissions, "retransmission")
            if found.state == _SYN_SENT and found.retransmissions >= _LOST_SYN:
                return f"TCP connection to port {port} is not accepted (SYN_SENT, {again})"
            if found.state == _ESTABLISHED and found.retransmissions >= _LOST_ESTABLISHED:
                return f"TCP connection to port {port} is not acknowledged ({again})"
        return None

    @cached_property
    def _states(self) -> dict[Address, list[list[str]]]:
        transports: dict[Address, list[list[str]]] = {}
        for switch in self._sysroot.names(_SWITCHES)[:_TRANSPORTS_LIMIT]:
            for name in self._sysroot.names(f"{_SWITCHES}/{switch}")[:_TRANSPORTS_LIMIT]:
                base = f"{_SWITCHES}/{switch}/{name}"
                if _TRANSPORT.fullmatch(name) and (to := parse_address(self._sysroot.line(f"{base}/dstaddr"))):
                    state = (self._sysroot.line(f"{base}/xprt_state") or "").removeprefix("state=")
                    transports.setdefault(to[0], []).append(state.split())
        return transports

    @cached_property
    def _connections(self) -> tuple[TcpConnection, ...]:
        tables = ((self._sysroot.read(f"/proc/net/{name}") or "") for name in ("tcp", "tcp6"))
        return tuple(connection for table in tables for connection in parse_tcp(table))


def _mount(mount: MountEntry, stats: MountStats | None, routes: Routes, servers: NfsServers) -> NfsMount:
    given = (*(stats.options if stats else ()), *mount.options)
    options = dict(word.partition("=")[::2] for word in reversed(given))  # the first of a name counts
    version = options.get("vers", options.get("nfsvers"))
    if version == "4" and "minorversion" in options:
        version = f"4.{options['minorversion']}"
    address = options.get("addr", options.get("mountaddr"))
    limits = [f"{name}={options[name]}" for name in _ATTRIBUTE_CACHE if name in options]
    numbers = {name: whole_number(value) for name, value in options.items()}
    waiting = bool(stats is not None and stats.calls_waiting)
    return NfsMount(
        mount_point=mount.point,
        export=mount.source,
        version=version,
        protocol=options.get("proto") or (stats.transports[0] if stats and stats.transports else None),
        read_size_bytes=numbers.get("rsize"),
        write_size_bytes=numbers.get("wsize"),
        transports=len(stats.transports) if stats and stats.transports else numbers.get("nconnect"),
        nconnect=numbers.get("nconnect"),
        hard=True if "hard" in options else False if "soft" in options or "softerr" in options else None,
        sync="sync" in options,
        read_only="ro" in mount.options,
        security=options.get("sec"),
        address=address,
        options=tuple(dict.fromkeys(given)),
        attribute_cache="noac" if "noac" in options else ",".join(limits) or None,
        age_seconds=stats.age_seconds if stats else None,
        retransmits=stats.retransmits if stats else None,
        read_bytes=stats.read_bytes if stats else None,
        written_bytes=stats.written_bytes if stats else None,
        operations=stats.operations if stats else (),
        device=mount.devno,
        nic=routes.to(address),
        unanswered=servers.unanswered(address, numbers.get("port"), waiting=waiting)
        if (options.get("proto") or "tcp").startswith("tcp")
        else None,
    )


def read_nfs_mounts(sysroot: Sysroot, routes: Routes, table: Sequence[MountEntry]) -> tuple[NfsMount, ...]:
    """All NFS mounts, in the order of the table of mounts; from mountstats alone where it has none of them."""
    sections = parse_mountstats(sysroot.read("/proc/self/mountstats") or "")
    mounts = [mount for mount in table if mount.kind in ("nfs", "nfs4")]
    listed = {mount.point for mount in mounts}
    # One mount point can be mounted over several times: both files list the mounts in the same order.
    left: dict[str, list[MountStats]] = {}
    for section in sections:
        left.setdefault(section.mount_point, []).append(section)
        if section.mount_point not in listed:
            mounts.append(MountEntry(section.export, section.mount_point, "nfs", ()))
    servers = NfsServers(sysroot)
    return tuple(
        _mount(mount, own.pop(0) if (own := left.get(mount.point)) else None, routes, servers) for mount in mounts
    )
