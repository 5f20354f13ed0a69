"""What discovery found, as inputs of sizing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.network import TcpBuffers
from sizeup.model.storage import Transport
from sizeup.procfs.lparcfg import LPARCFG
from sizeup.quantity import Origin, Quantity, Uncertainty, Words
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import KEYS, LEAVE_TO_OTHERS
from sizeup.sizing.storage_paths import (
    PathBandwidth,
    bare_mount,
    block_device,
    down_text,
    local_points,
    mount_point,
    nfs_mount,
    served_points,
    shared_storage,
    storage_path_bandwidths,
    visible_disks,
)
from sizeup.text import plural
from sizeup.units import format_bit_rate, format_bytes, format_decimal_bytes, format_in


def detected(machine: Machine, device: str | None = None, *, bare: bool = False) -> dict[str, Value]:
    """Return the inputs that this machine provides; what is unknown is absent.

    ``device`` is that of the database, without which every path to storage counts; ``bare`` states that it is no guest.
    """
    values: dict[str, Value] = {}
    if down := down_text(machine, device):
        values["path.down"] = Words(down, Origin.DETECTED, "state of ports and paths")

    def count(key: str, number: int, source: str, but: tuple[str, ...] = ()) -> None:
        if number > 0:
            values[key] = Quantity(number, "1", Origin.DETECTED, source, caveats=but)

    counts, present = machine.pu_counts, _present_cores(machine)
    offline = f"{counts.present - counts.online} of {counts.present} CPUs are offline and may hide cores"
    caveats = _caveats(machine, bare=bare)
    if present > len(machine.cores):
        caveats += (f"{offline}: licenses count every physical core. Use {KEYS['machine.cores'].flag}",)
    count("machine.sockets", len(machine.packages), "packages", caveats)
    stated = max((cores for one in machine.packages for cores in one.stated_cores), default=0)
    if stated and (fewest := math.ceil(len(machine.cores) / stated)) < len(machine.packages):  # by "cpu cores"
        sockets = Quantity(len(machine.packages), "1", Origin.DETECTED, "packages", caveats=caveats)
        values["machine.sockets"] = replace(sockets, low=fewest, high=sockets.value)
    if machine.cores:
        cores = Quantity(len(machine.cores), "1", Origin.DETECTED, "distinct core_cpus sets", caveats=caveats)
        of = Counter(core.package for core in machine.cores)
        ways = [(of[index], *one.stated_cores) for index, one in enumerate(machine.packages)]
        low, high = (sum(map(end, ways)) for end in (min, max))
        if low != high:  # the machine counts them in two ways
            cores = replace(cores, low=min(low, cores.value), high=max(high, cores.value))
        if present > cores.value:
            hidden = Uncertainty(present, offline, f"Use {KEYS['machine.cores'].flag}", upper=True)
            cores = replace(cores, low=cores.least, high=max(present, cores.high or 0), uncertainties=(hidden,))
        values["machine.cores"] = cores
        if machine.packages and len(machine.cores) % len(machine.packages) == 0:
            each = replace(cores.scaled(1 / len(machine.packages)), source="cores / packages")
            values["machine.cores_per_socket"] = each
    count("machine.vcpus", machine.pu_counts.online, "PUs online")
    threads = {len(core.pus) for core in machine.cores}
    if len(threads) == 1:
        count("machine.threads_per_core", threads.pop(), "core_cpus", caveats)
    count("numa.nodes", sum(bool(node.memory_bytes) for node in machine.nodes), "/sys/devices/system/node")
    nodes = [node for node in machine.nodes if node.memory_bytes]
    free = [found_bytes(node.free_bytes, f"node{node.os_id}/meminfo") for node in nodes if node.free_bytes is not None]
    sizes = [found_bytes(node.memory_bytes or 0, "/sys/devices/system/node") for node in nodes]
    values |= {key: tuple(each) for key, each in (("numa.free_mb", free), ("numa.node_mb", sizes)) if each}
    speeds = Counter(
        nic.speed_bits_per_second
        for nic in machine.ports
        if nic.up is not False and nic.carrier is not False and nic.speed_bits_per_second
    )
    if speeds:  # of the physical interfaces with a link
        links = [f"{number} x {format_bit_rate(speed)}" for speed, number in sorted(speeds.items(), reverse=True)]
        values["net.links"] = Words(", ".join(links), Origin.DETECTED, "/sys/class/net")
    if machine.memory_bytes:
        memory, uncertainties = found_bytes(machine.memory_bytes, "/proc/meminfo"), _in_use(machine)
        if any(one.id == "memory.node-sum" for one in machine.findings):
            added = sum(node.memory_bytes or 0 for node in machine.nodes)
            why, how = f"all NUMA nodes together have {format_bytes(added)}", f"Use {KEYS['machine.memory_gib'].flag}"
            more = added > machine.memory_bytes
            taken = 0 if more else sum(machine.memory_bytes - (one.end or 0.0) for one in uncertainties)
            why += f", of which {format_bytes(taken)} are in use now" if taken else ""
            uncertainties = (Uncertainty(max(added - taken, 0.0), why, how, upper=more), *uncertainties)
        values["machine.memory_gib"] = replace(memory, uncertainties=uncertainties)
    if _is_virtual(machine) or machine.platform.is_guest is False:
        source = machine.platform.guest_evidence or machine.platform.hypervisor or "as recorded"
        values["machine.guest"] = Words("yes" if _is_virtual(machine) else "no", Origin.DETECTED, source)
        if machine.platform.hypervisor and _is_virtual(machine):
            values["machine.hypervisor"] = Words(machine.platform.hypervisor, Origin.DETECTED, source)
    if (page_bytes := machine.huge_page_bytes) is not None:
        values["memory.huge_page_kib"] = Quantity(page_bytes, "bytes", Origin.DETECTED, "/proc/meminfo")
    for pool in machine.huge_pages:
        if pool.page_bytes == (page_bytes or 2 << 20):
            count("memory.huge_pages", pool.total, "nr_hugepages")
    if machine.base_clock is not None:
        values["machine.ghz"] = machine.base_clock
    # On IBM Z, the vendor is all the name there is.
    name = machine.cpu_model or (machine.cpu_vendor if machine.cpu_vendor == "IBM/S390" else None)
    if name:
        values["machine.cpu_model"] = Words(name, Origin.DETECTED, "/proc/cpuinfo")
    connections = (mount.transports for mount in machine.nfs_mounts if mount.transports)
    count("net.connections", min(connections, default=0), "mountstats, the mount with the fewest")
    return (
        values
        | path_bandwidth_values(machine, storage_path_bandwidths(machine, device), device)
        | _found_spindles(machine, device)
        | space_for(machine, device)
        | _tcp(machine, device)
        | _partition(machine)
    )


def storage_of(machine: Machine, stated: Mapping[str, Value]) -> Machine:
    """Return the machine with the storage that counts: of a server of a cluster what all of its servers reach."""
    nodes, device = stated.get("cluster.nodes"), stated.get("db.device")
    if not isinstance(nodes, Quantity) or nodes.value < 2:
        return machine
    return shared_storage(machine, device.value if isinstance(device, Words) else None)


def _in_use(machine: Machine) -> tuple[Uncertainty, ...]:
    """Return that other programs may need what is in use now; huge pages are reserved for a database."""
    if machine.memory_bytes is None or machine.memory_available_bytes is None:
        return ()
    pages = sum(pool.total * pool.page_bytes for pool in machine.huge_pages)
    left = min(machine.memory_available_bytes + pages, machine.memory_bytes)
    taken = format_bytes(machine.memory_bytes - left)
    return (Uncertainty(left, f"{taken} are in use now, perhaps by other programs", LEAVE_TO_OTHERS),)


def _partition(machine: Machine) -> dict[str, Value]:
    """Kind and cap of a partition of PowerVM, and the cores of its server."""
    found = machine.platform.partition
    if found is None:
        return {}
    values: dict[str, Value] = {}
    if found.server_cores:
        values["machine.server_cores"] = Quantity(found.server_cores, "1", Origin.DETECTED, LPARCFG)
    kind = "dedicated" if found.shared is False else _KINDS.get(found.capped) if found.shared else None
    if kind is not None:
        values["license.partition"] = Words(kind, Origin.DETECTED, LPARCFG)
    if kind == "capped" and found.entitled_cores:
        cap, most = found.entitled_cores, found.max_entitled_cores or 0.0
        raised = f"its cap of {format_in(cap, 'cores')} can be raised to {format_in(most, 'cores')} while it runs"
        caveats = (f"{raised}: licenses must cover what it is raised to",) if most > cap else ()
        values["license.pinned_cores"] = Quantity(cap, "1", Origin.DETECTED, LPARCFG, caveats=caveats)
    return values


_KINDS: dict[bool | None, str] = {True: "capped", False: "uncapped"}
"""Partitions that share their processors, by whether they have a cap."""


def _found_spindles(machine: Machine, device: str | None) -> dict[str, Value]:
    """Effective drives for writes and reads behind the database's device, where discovery found them."""
    if device is None or nfs_mount(machine, device) is not None or bare_mount(machine, device):
        return {}
    found = block_device(machine, device)
    figures = {"path.write_spindles": found.write_spindles, "path.read_spindles": found.read_spindles}
    source = f"stack of {found.name}"
    return {key: Quantity(value, "1", Origin.DETECTED, source) for key, value in figures.items() if value}


def _tcp(machine: Machine, device: str | None) -> dict[str, Value]:
    """TCP buffers of the kernel, and the round-trip time to the NFS server, where there is an NFS mount over TCP."""
    over_tcp = [mount for mount in machine.nfs_mounts if mount.protocol in (None, "tcp", "tcp6")]
    mounts = [mount for mount in over_tcp if device is None or mount == nfs_mount(machine, device)]
    if not mounts:
        return {}
    values: dict[str, Value] = {}
    buffers = machine.tcp or TcpBuffers()
    for name, sizes in (("tcp_rmem", buffers.receive), ("tcp_wmem", buffers.send)):
        if sizes is not None:
            values[f"net.{name}"] = tuple(found_bytes(size, f"net.ipv4.{name}") for size in sizes)
    if buffers.window_scaling is False:
        caveat = "window scaling is off; turn it on with sysctl net.ipv4.tcp_window_scaling=1 and mount again"
        values["net.window_bytes"] = found_bytes(0xFFFF, "net.ipv4.tcp_window_scaling = 0", caveat)
    trips = [
        (operation.response_ms / operation.calls, operation.name, mount.mount_point)
        for mount in mounts
        for operation in mount.operations
        if operation.response_ms and operation.calls >= 100  # a mean of fewer says little of the network
    ]
    if trips:
        shortest, name, where = min(trips)
        caveat = f"the round trip is that of {name} on {where} at most: it includes the time of the server"
        values["net.rtt_ms"] = Quantity(shortest * 1e6, "ns", Origin.DETECTED, "mountstats", caveats=(caveat,))
    return values


def _is_virtual(machine: Machine) -> bool:
    """Whether its CPUs are virtual: a guest, or the control domain of Xen."""
    return bool(machine.platform.is_guest) or machine.platform.hypervisor is not None


def _present_cores(machine: Machine) -> int:
    """Return the most cores that all present CPUs may be, offline ones included.

    A core has at least the threads that another one shows; two where SMT is only switched off; those of its generation
    on POWER, whose kernel numbers them in a row: the first threads of the cores are multiples of their number.
    """
    counts, fewest = machine.pu_counts, max((len(core.pus) for core in machine.cores), default=1)
    if machine.platform.smt in ("on", "off", "forceoff"):
        fewest = max(fewest, 2)
    if power := _POWER.match(machine.cpu_model or ""):
        firsts = (min(core.pus) for core in machine.cores)
        fewest = max(fewest, min(math.gcd(counts.present, *firsts), 8 if power[1] else 4))
    offline = counts.present - counts.online
    return min(len(machine.cores) + offline, max(counts.present // fewest, len(machine.cores)))


_POWER = re.compile(r"POWER *(?:(8|1\d)|7|9)", re.IGNORECASE)  # cores of eight threads, and of four at least


def _caveats(machine: Machine, *, bare: bool) -> tuple[str, ...]:
    """Return why the visible cores may differ from the physical ones."""
    caveats: list[str] = []
    if _is_virtual(machine):
        signs = machine.platform.guest_evidence or machine.platform.hypervisor or "what was recorded"
        stated = f"machine.guest=no is stated, but these are virtual CPUs of a guest by {signs}"
        of_guest = "these are virtual CPUs of a guest; the cores of the host are unknown"
        caveats.append(stated if bare else of_guest)
    elif machine.platform.is_guest is None and not bare:
        caveats.append(
            f"these may be virtual CPUs: nothing proves a guest or bare metal. Use {KEYS['machine.guest'].flag}"
        )
    if machine.contradictions:
        caveats.append(f"{machine.contradictions[0]}: check the data sheet and use {KEYS['machine.cores'].flag}")
    return tuple(caveats)


def path_bandwidth_values(
    machine: Machine, bandwidths: Sequence[PathBandwidth], device: str | None = None
) -> dict[str, Value]:
    """The widest kind of path to storage, with the others as a caveat; ``bandwidths`` are widest first.

    Where they lead to NFS alone and no ``device`` of the database is named, it may be elsewhere, at any speed.
    """
    if not bandwidths:
        return {}
    widest, *others = bandwidths
    caveats = []
    if widest.measured and widest.estimated:
        known = ((one.target.name, float(f"{one.bytes_per_second:.4g}")) for one in widest.measured)
        rates = ", ".join(f"{name} {format_in(rate, 'MB/s')}" for name, rate in known)
        caveats = [f"measured: {rates}; estimated by their links: {', '.join(widest.estimated)}"]
    caveats += [
        f"{other.kind} ({'; '.join(filter(None, (', '.join(other.devices), other.unknown_text)))}) is not counted, "
        f"with {format_in(other.bytes_per_second, 'MB/s')}: "
        f"for the device of the database, use {KEYS['db.device'].flag}"
        for other in others
    ]
    source = _named(machine, widest.kind, widest.devices)
    source += f" ({widest.unknown_text})" if widest.unknown else ""
    origin = Origin.DETECTED if widest.estimated else Origin.MEASURED
    bandwidth = Quantity(widest.bytes_per_second, "bytes/s", origin, source, caveats=tuple(caveats))
    elsewhere = [point for point in (*served_points(machine), *local_points(machine)) if point not in _OF_SYSTEM]
    if device is None and elsewhere and not widest.measured and {one.kind for one in bandwidths} == {"NFS"}:
        why = f"the database may be on {' or '.join(dict.fromkeys(elsewhere[:3]))}, whose speed is unknown"
        bandwidth = replace(bandwidth, uncertainties=(Uncertainty(None, why, _USE_DEVICE, upper=True),))
    lost = _named(machine, widest.kind, tuple(widest.failure.split(", "))) if widest.failure else ""
    lost = f"card {widest.card} ({lost})" if widest.card else lost
    port = _named(machine, widest.kind, (widest.port,))
    of_port = Quantity(widest.port_lost_bytes_per_second, "bytes/s", origin, port)
    half = Quantity(widest.half_bytes_per_second, "bytes/s", origin, "half of the paths")
    degraded = Quantity(widest.degraded_bytes_per_second, "bytes/s", origin, lost)
    return {
        **({"path.port_lost_mb_s": of_port} if of_port.value else {}),
        "path.bandwidth_mb_s": bandwidth,
        **({"path.active_mb_s": half} if half.value else {}),
        **({"path.degraded_mb_s": degraded} if lost else {}),
        "path.bottleneck": Words(widest.bottleneck, origin, source),
        "path.kind": Words(widest.kind, origin, source),
    }


_OF_SYSTEM = frozenset({"/", "/boot", "/boot/efi"})
"""Mounts that no database goes to where there are others."""
_USE_DEVICE = f"Use {KEYS['db.device'].flag}"


def _named(machine: Machine, kind: str, devices: Sequence[str]) -> str:
    """Return devices of one kind with what they are: ``FC ports host0, host1``."""
    if {hba.name for hba in machine.hbas if hba.transport is Transport.FC}.issuperset(devices):
        kind = "FC port" if len(devices) == 1 else "FC ports"
    return f"{kind} {', '.join(devices)}"


def space_for(machine: Machine, device: str | None) -> dict[str, Value]:
    """Space of the database's mount or device; without one the size of all disks, where no other storage is mounted.

    Of a mount that is what is free, at most its size; of a device that is in use and whose free space is unknown the
    size, of which nothing is certain.
    """
    if device is None:
        disks = visible_disks(machine)
        whole = sum(disk.size_bytes or 0 for disk in machine.block_devices if disk.name in disks)
        remote = machine.nfs_mounts or any(one.kind in _REMOTE for one in machine.file_systems)
        return {"path.disks_gb": found_bytes(whole, plural(len(disks), "disk"))} if whole and not remote else {}
    if nfs_mount(machine, device) is not None:
        return {}
    found = None if bare_mount(machine, device) else block_device(machine, device)
    mounts = {one.mount_point: one for one in machine.local_mounts}
    named = (
        mounts.get(point) for point in (mount_point(machine, device), *(() if found is None else found.mount_points))
    )
    mount = next((one for one in named if one is not None and one.free_bytes is not None), None)
    if mount is not None and mount.free_bytes is not None and mount.size_bytes:
        free = f"free of {format_decimal_bytes(mount.size_bytes)} on {mount.mount_point}"
        there = Uncertainty(mount.size_bytes, "data of this database may be there already", _ENTER, upper=True)
        least = max(mount.free_bytes, 1e6)  # of a full file system: no demand is a share of nothing
        return {"capacity.gb": replace(found_bytes(least, free), uncertainties=(there,))}
    size = None if found is None else found.usable_bytes or found.size_bytes
    if found is None or not size:
        return {}
    parts = [device.name for device in machine.block_devices if device.parent == found.name]
    used = f"mounted on {found.mount_points[0]}" if found.mount_points else ", ".join((*parts, *found.holders))
    unsure = Uncertainty(0.0, f"{found.name} is in use ({used}), and its free space is unknown", _ENTER)
    return {"capacity.gb": replace(found_bytes(size, found.name), uncertainties=(unsure,) if used else ())}


_REMOTE = frozenset({"lustre", "gpfs", "ceph"})
"""File systems that lie on the disks of other machines."""
_ENTER = f"Use {KEYS['capacity.gb'].flag}"


def found_bytes(size: float, source: str, *caveats: str) -> Quantity:
    """Return an amount of memory or space that discovery found."""
    return Quantity(size, "bytes", Origin.DETECTED, source, caveats=caveats)
