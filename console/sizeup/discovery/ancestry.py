"""From a device's directory up to the PCI function behind it, its driver and its NUMA node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sizeup.discovery.sysroot import Sysroot

PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
"""``domain:bus:device.function``; a domain behind Intel's VMD has more than four digits."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a device hangs; all None for a virtual one."""

    path: str | None
    """Its directory under ``/sys/devices``, without links."""
    pci_address: str | None = None
    node: int | None = None


def parents(path: str) -> Iterator[str]:
    """The directory itself and those above it, up to ``/sys/devices``."""
    while path.count("/") > 2:
        yield path
        path = path.rpartition("/")[0]


def nearest_pci(path: str) -> tuple[str, str] | None:
    """Address and directory of the last PCI function on the way down to ``path``; None where there is none."""
    for directory in parents(path):
        name = directory.rpartition("/")[2]
        if PCI_ADDRESS.fullmatch(name):
            return name, directory
    return None


def read_node(sysroot: Sysroot, path: str) -> int | None:
    """The NUMA node of the device or of the nearest parent that names one; None when unknown.

    -1 is common on machines with several nodes; it means that this device's firmware entry says
    nothing, not that it is near node 0.
    """
    for directory in parents(path):
        node = sysroot.integer(f"{directory}/numa_node")
        if node is not None and node >= 0:
            return node
    return None


def locate(sysroot: Sysroot, path: str) -> Place:
    """Follow the link of a class device to its place."""
    real = sysroot.realpath(path)
    if real is None:
        return Place(None)
    pci = nearest_pci(real)
    return Place(real, None if pci is None else pci[0], read_node(sysroot, real))


def link_name(sysroot: Sysroot, path: str) -> str | None:
    """The last name in a link's target, such as the driver's behind ``driver``; None where there is no link."""
    target = sysroot.readlink(path)
    return None if target is None else target.rstrip("/").rpartition("/")[2] or None
