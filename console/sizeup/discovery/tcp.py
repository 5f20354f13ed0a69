"""TCP buffers of this network namespace, from ``/proc/sys/net/ipv4``; Documentation/networking/ip-sysctl.rst."""

from __future__ import annotations

from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import TcpBuffers

_SETTINGS = "/proc/sys/net/ipv4"


def parse_buffer_sizes(text: str) -> tuple[int, int, int]:
    """Return least, first and largest size in bytes; raise ValueError for anything but three whole numbers."""
    sizes = tuple(int(word) for word in text.split() if word.isdecimal() and len(word) < 19)
    if len(sizes) != 3 or len(text.split()) != 3:
        raise ValueError(f"expected three sizes in bytes, found {text!r}")
    return sizes[0], sizes[1], sizes[2]


def read_tcp_buffers(sysroot: Sysroot) -> TcpBuffers | None:
    """Return the TCP buffers of the running kernel; None where it reports none of them."""
    scaling = sysroot.integer(f"{_SETTINGS}/tcp_window_scaling")
    buffers = TcpBuffers(
        sysroot.parsed(f"{_SETTINGS}/tcp_rmem", parse_buffer_sizes),
        sysroot.parsed(f"{_SETTINGS}/tcp_wmem", parse_buffer_sizes),
        None if scaling is None else scaling != 0,
    )
    return None if buffers == TcpBuffers() else buffers
