"""Network interfaces from ``/sys/class/net`` (Documentation/ABI/testing/sysfs-class-net), RDMA ports, TCP buffers."""

from __future__ import annotations

import re
from functools import partial

from msgspec.structs import replace

from sizeup.discovery.device_parents import DeviceLocation, DeviceParents, link_name
from sizeup.discovery.sysroot import ANSWERS, Sysroot
from sizeup.model.network import Nic, RdmaPort, TcpBuffers, is_port
from sizeup.procfs import device_questions
from sizeup.text import clean

NET = "/sys/class/net"
"""The directory of all interfaces; also the subject of the gap that says why none is known."""
_RDMA = "/sys/class/infiniband"
_LOOPBACK = 772  # ARPHRD_LOOPBACK
_INFINIBAND = 32  # ARPHRD_INFINIBAND
_TUNNELS = frozenset({768, 769, 776, 778, 65534})  # ipip, ip6tnl, sit, gre, none (tun, wireguard)
_KINDS = ("bond", "bridge", "vlan", "veth", "vxlan", "macvlan", "ipvlan", "dummy", "wlan", "gre", "ppp")
_UNKNOWN_SPEEDS = frozenset({0, 65535, 4294967295})
_ONE_PORT_AT_A_TIME = frozenset({"active-backup"})
_INTERFACES_LIMIT = 4096
_SETTINGS = "/proc/sys/net/ipv4"


def _optional_integer(sysroot: Sysroot, path: str) -> int | None:
    """A number that the kernel refuses (EINVAL) while the link is down."""
    text = sysroot.line_if_any(path) or ""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None


def _kind(sysroot: Sysroot, base: str, location: DeviceLocation) -> str:
    if sysroot.exists(f"{base}/bonding") or sysroot.exists(f"/proc/net/bonding/{base.rpartition('/')[2]}"):
        return "bond"
    if sysroot.exists(f"{base}/bridge"):
        return "bridge"
    if location.path is not None and "/virtio" in location.path:
        return "virtio"
    hardware = sysroot.integer(f"{base}/type")
    if hardware == _INFINIBAND:
        # A partition (P_Key) of another interface is to it what a VLAN is.
        return "vlan" if sysroot.exists(f"{base}/parent") else "ipoib"
    if hardware == _LOOPBACK or base.endswith("/lo"):
        return "loopback"
    # Whatever a capture says of its device, what is under devices/virtual has none.
    if "/virtual/net/" not in (sysroot.readlink(base) or "") and sysroot.exists(f"{base}/device"):
        return "physical"
    for line in (sysroot.read(f"{base}/uevent") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "DEVTYPE" and value in _KINDS:
            return {"vxlan": "tunnel", "gre": "tunnel", "ppp": "tunnel"}.get(value, value)
    if sysroot.exists(f"/proc/net/vlan/{base.rpartition('/')[2]}"):
        return "vlan"
    if sysroot.exists(f"{base}/tun_flags") or hardware in _TUNNELS:
        return "tunnel"
    index, peer = sysroot.integer(f"{base}/ifindex"), sysroot.integer(f"{base}/iflink")
    return "veth" if None not in (index, peer) and index != peer else "virtual"


def _speed(sysroot: Sysroot, base: str, kind: str, *, up: bool) -> int | None:
    """Bits per second; unknown while down, and for interfaces that only invent one."""
    if not up or kind in ("bridge", "veth", "tunnel", "loopback", "virtual", "dummy"):
        return None
    megabits = _optional_integer(sysroot, f"{base}/speed")
    if megabits is None or megabits < 0 or megabits in _UNKNOWN_SPEEDS:
        return None
    return megabits * 1_000_000


def _read_nic(sysroot: Sysroot, parents: DeviceParents, name: str, rdma_ports: tuple[RdmaPort, ...]) -> Nic:
    base = f"{NET}/{name}"
    location = parents.locate(f"{base}/device")
    kind = _kind(sysroot, base, location)
    names = sysroot.names(base)
    queues = sysroot.names(f"{base}/queues")
    mode = (sysroot.line(f"{base}/bonding/mode") or "").partition(" ")[0] or None
    address = sysroot.line(f"{base}/address")
    linked = sorted(entry.removeprefix("lower_") for entry in names if entry.startswith("lower_"))
    members = (sysroot.line(f"{base}/bonding/slaves") or "").split()
    own = [port.device for port in rdma_ports if port.pci_address and port.pci_address == location.pci_address]
    nic = Nic(
        name=clean(name),  # any bytes but blanks, slashes and colons may be in it
        kind=kind,
        driver=link_name(sysroot, f"{base}/device/driver"),
        mac=None if address is None or not address.strip("0:") else address,
        mtu=sysroot.integer(f"{base}/mtu"),
        pci_address=location.pci_address,
        node=location.node,
        receive_queues=sum(queue.startswith("rx-") for queue in queues) or None,
        transmit_queues=sum(queue.startswith("tx-") for queue in queues) or None,
        master=link_name(sysroot, f"{base}/master"),
        lower=tuple(dict.fromkeys(map(clean, (*linked, *members, *sysroot.names(f"{base}/brif"))))),
        bond_mode=mode,
        virtual_function_of=link_name(sysroot, f"{base}/device/physfn"),
        virtual_functions=sysroot.integer(f"{base}/device/sriov_numvfs"),
        rdma=tuple(dict.fromkeys(own)),
    )
    return read_nic_link(sysroot, nic)


def read_nic_link(sysroot: Sysroot, nic: Nic) -> Nic:
    """The interface with its link as it is now."""
    base = f"{NET}/{nic.name}"
    carrier = _optional_integer(sysroot, f"{base}/carrier")
    state = sysroot.line(f"{base}/operstate")
    up = state == "up" or (state in (None, "unknown") and carrier == 1)
    duplex = sysroot.line_if_any(f"{base}/duplex")
    one_port = nic.bond_mode in _ONE_PORT_AT_A_TIME
    # Linux before 4.5 and some captures have slave_NAME in the bond; NAME itself may be captured or not.
    links = {member: (f"{base}/lower_{member}", f"{base}/slave_{member}", f"{NET}/{member}") for member in nic.lower}
    states = {
        member: next(filter(None, (sysroot.line(f"{link}/bonding_slave/mii_status") for link in paths)), None)
        for member, paths in links.items()
    }
    return replace(
        nic,
        up=None if state is None and carrier is None else up,
        carrier=None if carrier is None else carrier == 1,
        speed_bits_per_second=_speed(sysroot, base, nic.kind, up=up),
        duplex=duplex if duplex in ("full", "half") and up else None,
        bond_active=sysroot.line(f"{base}/bonding/active_slave") if one_port else None,
        members_down=tuple(member for member, status in states.items() if status == "down"),
    )


def parse_rdma_rate(text: str) -> int | None:
    """Bits per second of ``100 Gb/sec (4X EDR)``."""
    match = re.match(r"(\d{1,6}(?:\.\d)?) Gb/sec", text)
    return None if match is None else round(float(match[1]) * 1e9)


def parse_rdma_encoding(text: str) -> str | None:
    """Lanes and generation of ``100 Gb/sec (4X EDR)``."""
    match = re.search(r"\((\d{1,2}X(?: [A-Z0-9]{1,8})?)\)", text)
    return None if match is None else match[1]


def read_rdma_ports(sysroot: Sysroot, parents: DeviceParents) -> tuple[RdmaPort, ...]:
    """Ports of all RDMA devices; state and rate as ``4: ACTIVE`` and ``100 Gb/sec (4X EDR)``."""
    found = []
    for device in sorted(sysroot.names(_RDMA)):
        location = parents.locate(f"{_RDMA}/{device}/device")
        firmware, model = (sysroot.line(f"{_RDMA}/{device}/{name}") for name in ("fw_ver", "hca_type"))
        for port in sorted(sysroot.names(f"{_RDMA}/{device}/ports")):
            if not port.isdecimal() or len(port) > 3:
                continue
            base = f"{_RDMA}/{device}/ports/{port}"
            state = (sysroot.line(f"{base}/state") or "").partition(":")[2].strip() or None
            # A port that is down, or waits for the subnet manager, carries nothing and states the lowest rate.
            rate = sysroot.line(f"{base}/rate") if state in (None, "ACTIVE", "ACTIVE_DEFER") else None
            found.append(
                RdmaPort(
                    device=device,
                    port=int(port),
                    state=state,
                    rate_bits_per_second=parse_rdma_rate(rate or ""),
                    pci_address=location.pci_address,
                    node=location.node,
                    link_layer=sysroot.line(f"{base}/link_layer"),
                    encoding=parse_rdma_encoding(rate or ""),
                    firmware=firmware,
                    model=model,
                )
            )
    return tuple(found)


def read_nics(sysroot: Sysroot, parents: DeviceParents, rdma_ports: tuple[RdmaPort, ...] = ()) -> tuple[Nic, ...]:
    """All interfaces by name; ``bonding_masters`` and other plain files beside them are none."""
    names = sorted(sysroot.names(NET))[:_INTERFACES_LIMIT]
    if not names and not sysroot.live and not sysroot.exists(NET):
        sysroot.note(NET, "missing")
    return tuple(_read_nic(sysroot, parents, name, rdma_ports) for name in names if sysroot.names(f"{NET}/{name}"))


def parse_buffer_sizes(text: str) -> tuple[int, int, int]:
    """Return least, first and largest size in bytes; raise ValueError for anything but three whole numbers."""
    sizes = tuple(int(word) for word in text.split() if word.isdecimal() and len(word) < 19)
    if len(sizes) != 3 or len(text.split()) != 3:
        raise ValueError(f"expected three sizes in bytes, found {text!r}")
    return sizes[0], sizes[1], sizes[2]


def read_tcp_buffers(sysroot: Sysroot) -> TcpBuffers | None:
    """Return the TCP buffers of the running kernel; None where it reports none of them."""
    buffers = TcpBuffers(
        sysroot.parsed(f"{_SETTINGS}/tcp_rmem", parse_buffer_sizes),
        sysroot.parsed(f"{_SETTINGS}/tcp_wmem", parse_buffer_sizes),
        sysroot.flag(f"{_SETTINGS}/tcp_window_scaling"),
    )
    return None if buffers == TcpBuffers() else buffers


def with_rings(sysroot: Sysroot, nics: tuple[Nic, ...]) -> tuple[Nic, ...]:
    """Return the interfaces with rings and offloads of those that carry traffic, as their drivers answer."""
    found = []
    for nic in nics:
        if not (is_port(nic) or nic.kind == "bond"):
            found.append(nic)
            continue
        rings, offloads = (f"{ANSWERS}/ethtool/{nic.name}/{name}" for name in ("rings", "offloads"))
        found.append(
            replace(
                nic,
                rings=sysroot.asked(rings, partial(device_questions.ask_rings, nic.name), device_questions.parse_rings),
                offloads=sysroot.asked(
                    offloads,
                    partial(device_questions.ask_offloads, nic.name),
                    lambda data: device_questions.parse_offloads(data.decode("ascii", "replace")),
                )
                or (),
            )
        )
    return tuple(found)
