"""The PCI function that a device is attached to, its driver and its NUMA node, from the parents of its directory."""

from __future__ import annotations

import re

from msgspec import Struct

from sizeup.discovery.sysroot import Sysroot

PCI_DEVICES = "/sys/bus/pci/devices"
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
"""``domain:bus:device.function``; a domain behind Intel's VMD has more than four digits."""


_HAS_NODE = re.compile(rf"{PCI_ADDRESS.pattern}|nvme\d+|[A-Z0-9]+:\d\d|pci[0-9a-f]+:[0-9a-f]+")
"""Devices that may have a ``numa_node``: PCI functions, NVMe controllers, ACPI devices."""


class DeviceLocation(Struct, frozen=True):
    """Where a device hangs; all None for a virtual one."""

    path: str | None
    """Its directory under ``/sys/devices``, without links."""
    pci_address: str | None = None
    node: int | None = None


def nearest_pci(path: str) -> tuple[str, str] | None:
    """Address and directory of the last PCI function on the way down to ``path``; None where there is none."""
    directory = path
    while directory:
        directory, _, name = directory.rpartition("/")
        if PCI_ADDRESS.fullmatch(name):
            return name, f"{directory}/{name}"
    return None


def link_name(sysroot: Sysroot, path: str) -> str | None:
    """The last name in a link's target, such as the driver's behind ``driver``; None where there is no link."""
    target = sysroot.readlink(path)
    return None if target is None else target.rstrip("/").rpartition("/")[2] or None


class DeviceParents:
    """The places of devices; a bridge above thousands of disks is read once."""

    def __init__(self, sysroot: Sysroot) -> None:
        self._sysroot = sysroot
        self._nodes: dict[str, int | None] = {}
        self._own: dict[str, int | None] = {}

    def node(self, path: str) -> int | None:
        """The NUMA node of the device or of the nearest parent that names one; None when unknown.

        -1 is common on machines with several nodes; it means that this device's firmware entry says
        nothing, not that it is near node 0.
        """
        if path.count("/") <= 2:
            return None
        above, _, name = path.rpartition("/")
        if not _HAS_NODE.fullmatch(name):
            return self.node(above)  # SCSI targets, ports and the like have no such file
        if path not in self._nodes:
            own = self.own_node(path)
            self._nodes[path] = self.node(above) if own is None else own
        return self._nodes[path]

    def own_node(self, path: str) -> int | None:
        """The NUMA node that the device itself names; None where it names none."""
        if path not in self._own:
            self._own[path] = self._sysroot.count(f"{path}/numa_node")
        return self._own[path]

    def locate(self, path: str) -> DeviceLocation:
        """Follow the link of a class device to its location."""
        real = self._sysroot.realpath(path)
        if real is None or not real.startswith("/sys/devices/"):
            return DeviceLocation(real)
        pci = nearest_pci(real)
        return DeviceLocation(real, None if pci is None else pci[0], self.node(real.rpartition("/block/")[0] or real))
