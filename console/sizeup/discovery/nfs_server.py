"""Whether an NFS server answers, by the state of its connections alone: the mount itself is never touched.

A server that is gone hangs whoever asks its mount. The kernel shows what it knows without that: the transports of
sunrpc (``/sys/kernel/sunrpc``, Linux 5.14) and, for calls that wait, the TCP connections in ``/proc/net``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from msgspec import Struct

from sizeup.discovery.routes import Address, parse_address
from sizeup.discovery.sysroot import Sysroot
from sizeup.text import plural

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
