"""Bandwidth budget: what the path from a device to memory can carry, stage by stage."""

from __future__ import annotations

from msgspec import Struct


class Stage(Struct, frozen=True):
    """One stage of a path."""

    name: str
    """``media``, ``port``, ``link``, ``uplink``, ``root port``, ``interconnect``, ``memory``."""
    subject: str
    """What carries it: a PCI address, a host, a node."""
    bytes_per_second: float | None
    """Payload in one direction; None where it is unknown, and then the stage limits nothing here."""
    source: str
    """The figure it was computed from, in words."""
    shared_with: tuple[str, ...] = ()
    """Other devices on the same stage."""
    wanted_bytes_per_second: float | None = None
    """What all devices on the stage could ask for together; None where it carries one device."""


class PathBudget(Struct, frozen=True):
    """The path of one device's data to memory."""

    device: str
    """``nvme0``, ``host11``, ``eth0``."""
    pci_address: str | None
    """None where only the port is known."""
    node: int | None
    stages: tuple[Stage, ...]
    limit_bytes_per_second: float | None
    """The least of the stages that are known; None where none is."""
    narrowest: str | None
    """Name and subject of that stage."""
    share_bytes_per_second: float | None = None
    """What is left when all devices that share its stages work at once."""
