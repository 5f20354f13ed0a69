"""Rings and offloads of a network interface, by the ioctl ``SIOCETHTOOL`` that ethtool uses; no root needed to read.

Layouts: ``struct ethtool_ringparam``, ``struct ethtool_value`` and the command numbers of include/uapi/linux/ethtool.h,
``SIOCETHTOOL`` of include/uapi/linux/sockios.h, ``struct ifreq`` of include/uapi/linux/if.h.
"""

from __future__ import annotations

import array
import errno
import os
import socket
import struct

from sizeup.errors import MalformedError
from sizeup.model.network import NicRings

try:
    import fcntl
except ImportError:  # a system that is no Unix: devices are asked nothing there
    fcntl = None  # type: ignore[assignment]

_SIOCETHTOOL = 0x8946
_NAME_BYTES = 16  # IFNAMSIZ, with its zero
_IFREQ = struct.Struct(f"={_NAME_BYTES}sQ16x")
"""Name and pointer; the union is 24 bytes where pointers have 64 bits, and no shorter request is made."""

_GRINGPARAM = 0x10
_RINGS = struct.Struct("=9I")
_VALUE = struct.Struct("=II")
_GFLAGS, _LRO = 0x25, 1 << 15  # ETH_FLAG_LRO
_OFFLOADS = (
    ("rx-checksumming", 0x14),  # ETHTOOL_GRXCSUM
    ("tx-checksumming", 0x16),  # ETHTOOL_GTXCSUM
    ("scatter-gather", 0x18),  # ETHTOOL_GSG
    ("tcp-segmentation-offload", 0x1E),  # ETHTOOL_GTSO
    ("generic-segmentation-offload", 0x23),  # ETHTOOL_GGSO
    ("generic-receive-offload", 0x2B),  # ETHTOOL_GGRO
)
LARGE_RECEIVE = "large-receive-offload"
OFFLOADS = (*(name for name, _ in _OFFLOADS), LARGE_RECEIVE)
"""Names as ethtool -k writes them."""


def _call(interface: str, command: bytes) -> bytes:
    """Return the structure of a command as the kernel filled it in; raise OSError where it refuses."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no ioctl")
    name = os.fsencode(interface)
    if not 0 < len(name) < _NAME_BYTES or b"\0" in name:
        raise OSError(errno.ENODEV, "no name of an interface")
    data = array.array("B", command)
    address, _ = data.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        fcntl.ioctl(channel, _SIOCETHTOOL, _IFREQ.pack(name, address))
    return data.tobytes()


def ask_rings(interface: str) -> bytes:
    """Return ``struct ethtool_ringparam``; EOPNOTSUPP of an interface without rings."""
    return _call(interface, _RINGS.pack(_GRINGPARAM, *[0] * 8))


def parse_rings(data: bytes) -> NicRings:
    """Return the entries of the receive and send rings, and the most that the card has."""
    if len(data) != _RINGS.size:
        raise MalformedError(f"expected {_RINGS.size} bytes, found {len(data)}")
    command, receive_most, _, _, send_most, receive, _, _, send = _RINGS.unpack(data)
    if command != _GRINGPARAM:
        raise MalformedError(f"expected the command {_GRINGPARAM:#x}, found {command:#x}")
    return NicRings(receive, receive_most or None, send, send_most or None)


def ask_offloads(interface: str) -> bytes:
    """Return a line for each offload, its name and 0 or 1; EOPNOTSUPP where the interface answers for none."""
    lines = []
    for name, command in (*_OFFLOADS, (LARGE_RECEIVE, _GFLAGS)):
        try:
            _, value = _VALUE.unpack(_call(interface, _VALUE.pack(command, 0)))
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            continue
        lines.append(f"{name} {int(bool(value & _LRO if command == _GFLAGS else value))}\n")
    if not lines:
        raise OSError(errno.EOPNOTSUPP, "the interface answers for no offload")
    return "".join(lines).encode()


def parse_offloads(text: str) -> tuple[tuple[str, bool], ...]:
    """Return each known offload with whether it is on."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name not in OFFLOADS or value not in ("0", "1"):
            raise MalformedError(f"expected the name of an offload and 0 or 1, found {line[:60]!r}")
        found[name] = value == "1"
    return tuple(found.items())
