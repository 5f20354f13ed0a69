"""Network interfaces and NFS mounts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nic:
    """One network interface."""

    name: str
    kind: str
    """``physical``, ``virtio``, ``bond``, ``bond-member``, ``vlan``, ``bridge``, ``veth``,
    ``loopback``, ``virtual``."""
    driver: str | None = None
    mac: str | None = None
    mtu: int | None = None
    up: bool | None = None
    carrier: bool | None = None
    speed_bits_per_second: int | None = None
    """Only while the link is up and the driver knows; bridges and virtual interfaces invent one."""
    duplex: str | None = None
    pci_address: str | None = None
    node: int | None = None
    receive_queues: int | None = None
    transmit_queues: int | None = None
    master: str | None = None
    lower: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NfsMount:
    """One NFS mount, read from the mount table and never by touching the server."""

    mount_point: str
    export: str
    """``server:/path`` as mounted."""
    version: str | None = None
    protocol: str | None = None
    read_size_bytes: int | None = None
    write_size_bytes: int | None = None
    transports: int | None = None
    """Connections in use (``nconnect``), counted from the transports in mountstats."""
    hard: bool | None = None
    sync: bool | None = None
    read_only: bool | None = None
    security: str | None = None
    address: str | None = None
    options: tuple[str, ...] = ()
