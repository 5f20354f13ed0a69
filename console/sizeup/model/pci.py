"""PCI functions and the links between them."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class NodeOrigin(Enum):
    """How a device's NUMA node came to be known."""

    FIRMWARE = "firmware"
    """The device's own ``numa_node``."""
    PARENT = "parent"
    """That of the nearest bridge above it that has one."""
    LOCAL_CPUS = "local-cpus"
    """From ``local_cpulist``, where it is the CPUs of one node and not of the whole machine."""


class PciLink(Struct, frozen=True):
    """Speed and width of a PCI Express link."""

    gigatransfers: float
    """Per second and lane: 2.5, 5, 8, 16, 32, 64."""
    width: int
    """Lanes."""


class PciFunction(Struct, frozen=True):
    """One function of a PCI device, with the edge that leads up from it."""

    address: str
    """``domain:bus:device.function``."""
    class_code: int | None
    """24 bits: base class, subclass, interface; 0x010802 is NVMe."""
    vendor: int | None
    device: int | None
    subsystem_vendor: int | None = None
    subsystem_device: int | None = None
    revision: int | None = None
    driver: str | None = None
    parent: str | None = None
    """The bridge it hangs on; None at a root."""
    root: str | None = None
    """The host bridge, ``pci0000:00``; a domain of its own below Intel's VMD."""
    node: int | None = None
    """None when unknown, which is common and no hint of node 0."""
    node_origin: NodeOrigin | None = None
    local_cpus: tuple[int, ...] = ()
    """As the kernel gives them; all CPUs where it knows nothing."""
    link: PciLink | None = None
    """As trained now; None where there is none, or nothing is attached to a port."""
    link_limit: PciLink | None = None
    """What this end could do."""
    common_link_limit: PciLink | None = None
    """What both ends of the edge above could do: the lesser of this function and the port above it."""
    virtual_function_of: str | None = None
    virtual_functions: int | None = None
    """Made now; None where the device has no SR-IOV."""
    virtual_functions_limit: int | None = None
    slot: str | None = None

    @property
    def is_bridge(self) -> bool:
        """It leads to another bus."""
        return self.class_code is not None and self.class_code >> 8 == 0x0604
