"""NFS mounts from ``/proc/self/mountinfo`` and ``/proc/self/mountstats``.

Never from the mount point: a statvfs of a mount whose server is gone hangs its caller for ever.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from msgspec import Struct

from sizeup.discovery.routes import Address, Routes, parse_address
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import NfsMount
from sizeup.procfs.mounts import MountEntry, MountStats, parse_mountinfo, parse_mounts, parse_mountstats
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
_TYPES = ("nfs", "nfs4")
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
        self._transports: dict[Address, list[str]] | None = None
        self._connections: tuple[TcpConnection, ...] | None = None

    def unanswered(self, address: str | None, port: int | None, *, waiting: bool) -> str | None:
        """Return what shows that a server does not answer, in words; None where nothing does.

        ``waiting`` says whether calls are without an answer, by mountstats.
        """
        parsed = parse_address(address)
        if parsed is None:
            return None
        states = self._states().get(parsed[0], [])
        if states and not waiting and all("CONNECTED" in state.split() for state in states):
            return None
        connecting = [state for state in states if "CONNECTING" in state.split() and "CONNECTED" not in state.split()]
        if not (connecting or waiting):
            return None
        return self._lost(parsed[0], port or _NFS_PORT)

    def _states(self) -> dict[Address, list[str]]:
        if self._transports is None:
            self._transports = {}
            for switch in self._sysroot.names(_SWITCHES)[:_TRANSPORTS_LIMIT]:
                for name in self._sysroot.names(f"{_SWITCHES}/{switch}")[:_TRANSPORTS_LIMIT]:
                    base = f"{_SWITCHES}/{switch}/{name}"
                    if _TRANSPORT.fullmatch(name) and (to := parse_address(self._sysroot.line(f"{base}/dstaddr"))):
                        state = (self._sysroot.line(f"{base}/xprt_state") or "").removeprefix("state=")
                        self._transports.setdefault(to[0], []).append(state)
        return self._transports

    def _lost(self, server: Address, port: int) -> str | None:
        if self._connections is None:
            text = ((self._sysroot.read(f"/proc/net/{name}") or "") for name in ("tcp", "tcp6"))
            self._connections = tuple(connection for table in text for connection in parse_tcp(table))
        for found in self._connections:
            if (found.remote, found.port) != (server, port):
                continue
            again = plural(found.retransmissions, "retransmission")
            if found.state == _SYN_SENT and found.retransmissions >= _LOST_SYN:
                return f"TCP connection to port {port} is not accepted (SYN_SENT, {again})"
            if found.state == _ESTABLISHED and found.retransmissions >= _LOST_ESTABLISHED:
                return f"TCP connection to port {port} is not acknowledged ({again})"
        return None


def _value(options: dict[str, str], *names: str) -> str | None:
    return next((options[name] for name in names if name in options), None)


def _number(options: dict[str, str], name: str) -> int | None:
    return whole_number(options.get(name, ""))


def _version(options: dict[str, str]) -> str | None:
    version = _value(options, "vers", "nfsvers")
    minor = options.get("minorversion")
    return f"{version}.{minor}" if version == "4" and minor is not None else version


def _attribute_cache(options: dict[str, str]) -> str | None:
    if "noac" in options:
        return "noac"
    limits = [f"{name}={options[name]}" for name in _ATTRIBUTE_CACHE if name in options]
    return ",".join(limits) or None


def _mount(mount: MountEntry, stats: MountStats | None, routes: Routes, servers: NfsServers) -> NfsMount:
    given = (*(stats.options if stats else ()), *mount.options)
    options: dict[str, str] = {}
    for word in given:
        key, _, value = word.partition("=")
        options.setdefault(key, value)
    address = _value(options, "addr", "mountaddr")
    over_tcp = (_value(options, "proto") or "tcp").startswith("tcp")
    waiting = bool(stats is not None and stats.calls_waiting)
    return NfsMount(
        mount_point=mount.point,
        export=mount.source,
        version=_version(options),
        protocol=_value(options, "proto") or (stats.transports[0] if stats and stats.transports else None),
        read_size_bytes=_number(options, "rsize"),
        write_size_bytes=_number(options, "wsize"),
        transports=(len(stats.transports) if stats and stats.transports else _number(options, "nconnect")),
        nconnect=_number(options, "nconnect"),
        hard=True if "hard" in options else False if "soft" in options or "softerr" in options else None,
        sync="sync" in options,
        read_only="ro" in mount.options,
        security=_value(options, "sec"),
        address=address,
        options=tuple(dict.fromkeys(given)),
        attribute_cache=_attribute_cache(options),
        age_seconds=stats.age_seconds if stats else None,
        retransmits=stats.retransmits if stats else None,
        read_bytes=stats.read_bytes if stats else None,
        written_bytes=stats.written_bytes if stats else None,
        operations=stats.operations if stats else (),
        device=mount.devno,
        nic=routes.to(address),
        unanswered=servers.unanswered(address, _number(options, "port"), waiting=waiting) if over_tcp else None,
    )


def read_nfs_mounts(sysroot: Sysroot, routes: Routes) -> tuple[NfsMount, ...]:
    """All NFS mounts, in the order of the mount table; from mountstats alone where there is no table."""
    table = parse_mountinfo(sysroot.read("/proc/self/mountinfo") or "")
    if not table:
        table = parse_mounts(sysroot.read("/proc/self/mounts") or sysroot.read("/proc/mounts") or "")
    sections = parse_mountstats(sysroot.read("/proc/self/mountstats") or "")
    mounts = [mount for mount in table if mount.kind in _TYPES]
    listed = {mount.point for mount in mounts}
    mounts += [
        MountEntry(section.export, section.mount_point, "nfs", ())
        for section in sections
        if section.mount_point not in listed
    ]
    # One mount point can be mounted over several times: both files list the mounts in the same order.
    left: dict[str, list[MountStats]] = {}
    for section in sections:
        left.setdefault(section.mount_point, []).append(section)
    servers = NfsServers(sysroot)
    values = []
    for mount in mounts:
        own = left.get(mount.point)
        values.append(_mount(mount, own.pop(0) if own else None, routes, servers))
    return tuple(values)
