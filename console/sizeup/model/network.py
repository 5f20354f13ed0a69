"""Network interfaces and NFS mounts."""

from __future__ import annotations

from msgspec import Struct

PORTS = ("physical", "ipoib")
"""Kinds of interfaces that are ports of cards: Ethernet, and InfiniBand with IP over it."""


class NicRings(Struct, frozen=True):
    """Entries of the rings of an interface; the most is None where the card does not say."""

    receive: int
    receive_most: int | None
    send: int
    send_most: int | None


class Nic(Struct, frozen=True):
    """One network interface."""

    name: str
    kind: str
    """``physical``, ``ipoib``, ``virtio``, ``bond``, ``vlan``, ``bridge``, ``veth``, ``tunnel``, ``loopback``,
    ``virtual``. A member of a bond or bridge keeps its own kind and names its ``master``."""
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
    bond_mode: str | None = None
    """``active-backup``, ``802.3ad`` ...; None for what is no bond."""
    bond_active: str | None = None
    """The member in use, for modes that use one."""
    members_down: tuple[str, ...] = ()
    """Members that the bond itself takes for down, whatever their links say."""
    virtual_function_of: str | None = None
    """PCI address of the physical function; its link is shared."""
    virtual_functions: int | None = None
    """How many are made; None where the device cannot."""
    rdma: tuple[str, ...] = ()
    """RDMA devices on the same PCI function."""
    rings: NicRings | None = None
    """None where the driver has none, or was not asked."""
    offloads: tuple[tuple[str, bool], ...] = ()
    """Names as ethtool -k writes them, with whether each is on; empty where the driver was not asked."""


def is_port(nic: Nic) -> bool:
    """Return whether traffic enters the machine there: a port of a card, or one that a hypervisor gives a guest."""
    return nic.kind in (*PORTS, "virtio")


class RdmaPort(Struct, frozen=True):
    """One port of an InfiniBand or RoCE device."""

    device: str
    port: int
    state: str | None
    rate_bits_per_second: int | None
    """None where the port carries nothing or its rate is unknown."""
    pci_address: str | None = None
    node: int | None = None
    link_layer: str | None = None
    """``InfiniBand`` or ``Ethernet`` (RoCE, iWARP)."""
    encoding: str | None = None
    """Lanes and generation, ``4X EDR``."""
    firmware: str | None = None
    model: str | None = None
    """As the driver calls the adapter, ``MT4129``."""


class TcpBuffers(Struct, frozen=True):
    """Sizes between which the kernel chooses the buffers of a TCP connection; None for what it does not tell."""

    receive: tuple[int, int, int] | None = None
    """Least, first and largest size in bytes: ``net.ipv4.tcp_rmem``."""
    send: tuple[int, int, int] | None = None
    """The same of what is sent: ``net.ipv4.tcp_wmem``."""
    window_scaling: bool | None = None
    """Without it no window is above 64 KiB."""


class NfsOperation(Struct, frozen=True):
    """What one kind of call has cost since the mount; mountstats, per-op statistics."""

    name: str
    calls: int
    bytes_sent: int | None
    """As the others None where the kernel's counter has run below zero, which some kernels' times do."""
    bytes_received: int | None
    queue_ms: int | None
    response_ms: int | None
    execute_ms: int | None


class NfsMount(Struct, frozen=True):
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
    nconnect: int | None = None
    """Connections that the mount asks for; None where it has no such option."""
    hard: bool | None = None
    sync: bool | None = None
    read_only: bool | None = None
    security: str | None = None
    address: str | None = None
    options: tuple[str, ...] = ()
    attribute_cache: str | None = None
    """``noac``, ``actimeo=N`` or the four limits where set; None for the defaults."""
    age_seconds: int | None = None
    retransmits: int | None = None
    """Retries of all calls, from the per-operation statistics."""
    read_bytes: int | None = None
    """Read from the server since the mount."""
    written_bytes: int | None = None
    operations: tuple[NfsOperation, ...] = ()
    """Calls made, the busiest first."""
    device: str | None = None
    """``major:minor``: mounts that share one share their statistics."""
    nic: str | None = None
    """The interface the route to the server takes; None in a capture without routes."""
    unanswered: str | None = None
    """What shows that the server does not answer, by its connections; None where nothing does."""


class OracleHome(Struct, frozen=True):
    """An installation of Oracle that ``/etc/oratab`` or the central inventory names."""

    path: str
    direct_nfs: bool | None
    """Whether the library of Direct NFS is linked."""
    unknown: str | None = None
    """Why that is not known: ``remote`` (on a mount that may wait, not read), ``missing`` (no ``rdbms/lib``, or not
    readable), ``copied`` (11g: the library has another name then)."""
    oranfstab: str | None = None
    """The table that names its NFS servers; without one Direct NFS takes the mounts of the kernel."""


class DirectNfsServer(Struct, frozen=True):
    """One server of an ``oranfstab``."""

    server: str
    local_addresses: tuple[str, ...] = ()
    """Addresses of this host, or names of them; empty for any."""
    server_addresses: tuple[str, ...] = ()
    exports: tuple[tuple[str, str], ...] = ()
    """Each with its mount point here."""
    missing_mount_points: tuple[str, ...] = ()
    """Mount points where the kernel has no NFS mount, without which Direct NFS does not serve them."""
    oranfstab: str = ""
