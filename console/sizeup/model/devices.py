"""Interrupts, accelerators and CXL memory devices."""

from __future__ import annotations

from msgspec import Struct


class DeviceInterrupts(Struct, frozen=True):
    """The interrupts of one PCI device."""

    pci_address: str
    count: int
    cpus: tuple[int, ...] = ()
    """CPUs that they go to now; empty where that could not be read."""


class Accelerator(Struct, frozen=True):
    """A GPU or another processor on PCI; the adapters that only drive a console are none."""

    pci_address: str
    vendor: str
    model: str | None = None
    """None where no driver names it."""
    driver: str | None = None
    node: int | None = None
    memory_bytes: int | None = None
    firmware: str | None = None


class DaxDevice(Struct, frozen=True):
    """A device of memory for direct access (``/sys/bus/dax/devices/daxN.M``)."""

    name: str
    size_bytes: int | None = None
    node: int | None = None
    """Node that its memory is of, or would become."""
    driver: str | None = None
    """``kmem`` where the kernel uses it as memory, ``device_dax`` where programs map it."""


class CxlMemory(Struct, frozen=True):
    """A memory device on CXL (``/sys/bus/cxl/devices/memN``)."""

    name: str
    volatile_bytes: int | None = None
    persistent_bytes: int | None = None
    pci_address: str | None = None
    node: int | None = None
    firmware: str | None = None
