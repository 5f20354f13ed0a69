"""Findings about storage: paths and ports, software RAID, file systems, the health of NVMe drives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from shlex import quote

from sizeup.discovery.findings.catalog import finding, packages_of
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine, device_of
from sizeup.model.storage import Hba, MultipathMap, NvmeController, NvmeHealth, Transport
from sizeup.text import first_of, plural
from sizeup.units import as_percent, format_bit_rate, format_decimal_bytes

_FC = (Transport.FC, Transport.FCOE)
_FC_DOWN = frozenset(
    {"Linkdown", "Offline", "Not Present", "Blocked", "Bypassed", "Error", "Deleted", "Diagnostics", "Loopback"}
)
"""States of an fc_host that carry no I/O, as the kernel writes them (drivers/scsi/scsi_transport_fc.c)."""
_REAL = (*_FC, Transport.SAS, Transport.ISCSI)
"""Transports with redundant hardware; a hypervisor's paths say nothing of the host's."""
_MAPS_NAMED = 8
_SHORT = 24
"""Characters of a state that fit into a title."""

_LOOK = {"zfs": "grep . /proc/spl/kstat/zfs/*/state", "drbd": "cat /proc/drbd"}
_REPAIR = {
    "zfs": "Find the device that failed (zpool status), and replace it.",
    "btrfs": "Find the device that is missing (btrfs filesystem show), and replace it.",
    "bcachefs": "Find out why the device is not written (dmesg), and replace it.",
    "drbd": "Check the peer and the network between, then the kernel log (dmesg); it synchronizes once connected.",
    "lustre": "Check the servers and the network of the file system (lfs check servers).",
}
SOURCE = "NVM Express Base Specification 2.0, SMART / Health Information"

_WARNINGS = (
    "spare below its threshold",
    "temperature above or below its threshold",
    "reliability degraded by media or internal errors",
    "media read only",
    "backup of the volatile memory failed",
    "persistent memory region read only or unreliable",
)
"""The bits of the critical warning, from the lowest."""
_TEMPERATURE = 1 << 1


def maps(machine: Machine) -> Iterator[Finding]:
    """Multipath maps with one path, with dead paths, with unlike paths, across sockets, or poorer than their like."""
    usual: dict[Transport | None, int] = {}
    for transport in {path.transport for found in machine.maps for path in found.paths}:
        if transport is None:
            continue  # maps of unknown transports need not be alike
        counts = Counter(len(m.paths) for m in machine.maps if m.paths and m.paths[0].transport is transport)
        usual[transport] = max(counts, default=0)
    for found in machine.maps:
        if found.paths:
            yield from _map_findings(machine, found, usual.get(found.paths[0].transport, 0))


def _map_findings(machine: Machine, found: MultipathMap, usual: int) -> Iterator[Finding]:
    paths, native = found.paths, not found.device.startswith("dm-")  # of the NVMe driver, unknown to device mapper
    count = len(paths)
    lines = [
        f"{path.device}: {path.state or 'state unknown'}, adapter {path.hba or 'unknown'}, "
        f"{'speed unknown' if path.speed_bits_per_second is None else format_bit_rate(path.speed_bits_per_second)}, "
        f"NUMA node {'unknown' if path.node is None else path.node}"
        for path in paths
    ]
    if all((path.hba, path.speed_bits_per_second, path.node) == (None, None, None) for path in paths):
        by_state: dict[str, list[str]] = {}
        for path in paths:
            by_state.setdefault(path.state or "state unknown", []).append(path.device)
        states = "; ".join(f"{', '.join(devices)}: {state}" for state, devices in by_state.items())
        lines = [f"{states} (adapters, speeds and NUMA nodes could not be read)"]
    subject, look = (f"map:{found.name}",), _map_command(found)
    dead = [path.device for path in paths if path.state not in (None, "running", "live")]
    if dead:
        yield finding(
            "multipath.dead-path/native" if native else "multipath.dead-path",
            f"{found.name}: {plural(len(dead), 'path')} unusable ({', '.join(dead)})",
            lines,
            subject,
            remedy="" if native else f"Check the adapter, the cable and the switch port of {', '.join(dead)}.",
            command=look,
        )
    if count == 1 or count < usual:
        if native:
            remedy = "Check which controllers of its subsystem are connected, and that each may use the namespace."
        elif paths[0].transport in _FC:
            remedy = "Check zoning and LUN masking."
        elif paths[0].transport is Transport.ISCSI:
            remedy = "Check that there is a session over every portal (iscsiadm -m session), and LUN masking."
        else:
            remedy = "Check the cabling, and which initiators the storage admits."
        yield finding(
            "multipath.few-paths" if count == 1 else "multipath.few-paths/several",
            f"{found.name} has only {plural(count, 'path')}"
            + (f"; similar devices have {usual}" if count < usual else ""),
            lines,
            subject,
            remedy=remedy,
            command=look,
        )
    if len({path.speed_bits_per_second for path in paths} - {None}) > 1:
        title = f"{found.name}: paths run at different speeds"
        yield finding("multipath.uneven-speed", title, lines, subject, command=look)
    if len(packages_of(machine, (path.node for path in paths))) > 1:
        title = f"{found.name}: paths are attached to different sockets"
        yield finding(
            "multipath.across-packages/native" if native else "multipath.across-packages",
            title,
            lines,
            subject,
            command=look,
        )


def _map_command(found: MultipathMap) -> str:
    if found.device.startswith("dm-"):
        return f"multipath -ll {quote(found.name)}"
    return f"nvme list-subsys /dev/{quote(found.device)}"


def fc_ports(machine: Machine) -> Iterator[Finding]:
    """Fibre Channel ports without a link: those that carried something, and those that perhaps never had a cable."""
    down = [hba for hba in machine.hbas if hba.transport in _FC and hba.state in _FC_DOWN]
    with_devices = {scsi.hba for scsi in machine.scsi_devices}
    used = [hba for hba in down if hba.targets or hba.name in with_devices or hba.received_bytes or hba.sent_bytes]
    unused = [hba for hba in down if hba not in used]
    for ports in (used, unused):
        one = len(ports) == 1
        names = f"Fibre Channel port{'' if one else 's'} {', '.join(hba.name for hba in ports)}"
        states = " ".join(f"/sys/class/fc_host/{quote(hba.name)}/port_state" for hba in ports)
        links = (f"ip link show dev {quote(hba.net_device)}" for hba in ports if hba.net_device)
        if ports:
            yield finding(
                "fc.port-down" if ports is used else "fc.port-unused",
                f"{names} {'is' if one else 'are'} down"
                if ports is used
                else f"{names} {'has' if one else 'have'} no link and no known use",
                map(_fc_line, ports),
                (f"hba:{hba.name}" for hba in ports),
                command="; ".join((f"grep . {states}", *links)),
            )


def _fc_line(hba: Hba) -> str:
    moved = [
        f"{format_decimal_bytes(size)} {direction}" if size else f"nothing {direction}"
        for size, direction in ((hba.received_bytes, "received"), (hba.sent_bytes, "sent"))
        if size is not None
    ]
    over = f" over {hba.net_device}" if hba.net_device else ""
    targets = f"{plural(len(hba.targets), 'remote port') if hba.targets else 'no remote ports'} seen"
    seen = ", ".join((targets, *(moved or ["traffic counters not readable"])))
    return f"{hba.name} (fc_host){over}: {hba.state}, {seen}"


_SURVIVED = {"raid4": 1, "raid5": 1, "raid6": 2}
"""Members that an array can lose without losing data."""


_ARRAY_STATES = {
    "clean": "clean (no writes pending; members may be missing)",
    "active": "active (writes may be pending; members may be missing)",
}
"""States of an array that read as if it were complete; Documentation/admin-guide/md.rst, array_state."""


def arrays(machine: Machine) -> Iterator[Finding]:
    """Md arrays that lack members."""
    for device in machine.block_devices:
        if not device.raid_degraded:
            continue
        level, disks = device.raid_level, device.raid_disks
        missing = plural(device.raid_degraded, "member")
        if disks is not None:
            missing = f"{device.raid_degraded} of {plural(disks, 'member')}"
        survived = disks - 1 if level == "raid1" and disks is not None else _SURVIVED.get(level or "")
        left = 0 if survived is None else survived - device.raid_degraded
        consequence = f"The failure of another member {'can lose' if survived is None else 'loses'} data"
        if left > 0:
            consequence = f"The array survives {plural(left, 'more failure')}"
        yield finding(
            "storage.degraded-array",
            f"/dev/{device.name} ({(level or 'RAID level unknown').replace('raid', 'RAID ')}) is degraded: "
            f"{missing} missing",
            (
                f"array state: {_ARRAY_STATES.get(device.state or '', device.state or 'unknown')}",
                f"members found: {', '.join(device.members) or 'could not be read'}",
            ),
            (f"block:{device.name}",),
            consequence=f"{consequence}; I/O can be slower until the array is rebuilt.",
            command=f"mdadm --detail /dev/{quote(device.name)}",
        )


def slow_ports(machine: Machine) -> Iterator[Finding]:
    """Fibre Channel ports whose link came up below what the port can do."""
    for hba in machine.hbas:
        speed, best = hba.speed_bits_per_second, max(hba.supported_bits_per_second, default=None)
        if hba.transport not in _FC or speed is None or best is None or speed >= best:
            continue
        yield finding(
            "fc.slow-port",
            f"Fibre Channel port {hba.name} runs at {format_bit_rate(speed)}, and can do {format_bit_rate(best)}",
            (
                f"{hba.name} (fc_host): speed {format_bit_rate(speed)}",
                f"supported: {', '.join(map(format_bit_rate, hba.supported_bits_per_second))}",
            ),
            (f"hba:{hba.name}",),
            consequence=f"It carries at most {as_percent(speed / best)} of the bandwidth that it could.",
            command=(
                f"grep . /sys/class/fc_host/{quote(hba.name)}/speed /sys/class/fc_host/{quote(hba.name)}"
                "/supported_speeds"
            ),
        )


def single_points(machine: Machine) -> Iterator[Finding]:
    """Maps with several paths, all of which end with the failure of one part."""
    hbas = {hba.name: hba for hba in machine.hbas}
    alike: dict[str, list[MultipathMap]] = {}
    if machine.platform.is_guest:
        return
    for found in machine.maps:
        real = (
            path.transport in _REAL or (path.transport is None and path.hctl is None and path.initiator is not None)
            for path in found.paths
        )
        if len(found.paths) > 1 and all(real):
            parts = tuple(_shared_parts(found, hbas))
            if parts:
                alike.setdefault(" and ".join(parts), []).append(found)
    for part, maps in alike.items():
        names = [found.name for found in maps]
        listed = first_of(names, _MAPS_NAMED)
        yield finding(
            "multipath.single-point",
            f"All paths of {plural(len(names), 'device')} go over {part}",
            (f"devices: {listed}", f"{names[0]}: {plural(len(maps[0].paths), 'path')}, all over {part}"),
            (f"map:{name}" for name in names),
            command=_map_command(maps[0]),
        )


def _shared_parts(found: MultipathMap, hbas: dict[str, Hba]) -> Iterator[str]:
    """What all paths of a map go over: the narrowest of adapter port and card, then interface, then target port."""
    paths = found.paths
    adapters = {path.hba for path in paths}
    cards = {path.pci_address and device_of(path.pci_address) for path in paths}
    nics = {path.net_device for path in paths}
    if None not in nics and len(nics) == 1:
        yield f"the interface {nics.pop()}"
    elif None not in adapters and len(adapters) == 1 and paths[0].transport in (*_FC, Transport.SAS):
        name = adapters.pop() or ""
        yield f"the port {name}" if hbas.get(name) is not None else f"the adapter {name}"
    elif None not in cards and len(cards) == 1 and paths[0].transport in (*_FC, Transport.SAS):
        yield f"the card at {cards.pop()}"
    targets = {path.target for path in paths}
    if None not in targets and len(targets) == 1 and paths[0].transport is not None:
        yield f"the target port {targets.pop()}"


def file_systems(machine: Machine) -> Iterator[Finding]:
    """Pools, cluster file systems and replicas whose state is not that of a whole one."""
    for found in machine.file_systems:
        if found.healthy is False:
            yield finding(
                "storage.degraded-pool",
                f"{found.kind} {found.name} is not whole"
                + (f": {found.state}" if len(found.state or "") <= _SHORT else ""),
                (
                    f"state: {found.state}",
                    f"mounted on: {', '.join(found.mount_points) or 'nothing that this process sees'}",
                ),
                [f"mount:{point}" for point in found.mount_points] or [f"file-system:{found.name}"],
                remedy=_REPAIR.get(found.kind, "Check its devices and the kernel log (dmesg)."),
                command=_LOOK.get(found.kind, f"grep -r . {quote(f'/sys/fs/{found.kind}')}"),
            )


def lost_mounts(machine: Machine) -> Iterator[Finding]:
    """Mounts whose block device is no longer there."""
    for mount in machine.lost_mounts:
        yield finding(
            "mount.device-gone",
            f"{mount.mount_point} is mounted, but its device {mount.source} is gone",
            (f"mount table: device {mount.devno}, {mount.kind}", f"/sys/dev/block: no device {mount.devno}"),
            (f"mount:{mount.mount_point}",),
            command=f"grep {quote(mount.devno)} /proc/self/mountinfo; dmesg | grep -i 'offline'",
        )


def warnings(health: NvmeHealth) -> tuple[str, ...]:
    """Return the critical warnings in words; bits that the specification does not name are numbered."""
    bits = [bit for bit in range(8) if health.critical_warning >> bit & 1]
    return tuple(_WARNINGS[bit] if bit < len(_WARNINGS) else f"bit {bit}" for bit in bits)


def failing_drives(machine: Machine) -> Iterator[Finding]:
    """Drives that warn, or whose spare is below their own threshold."""
    for controller in machine.nvme_controllers:
        health = controller.health
        if health is None:
            continue
        low = health.spare_percent < health.spare_threshold_percent
        found = warnings(health)
        if not found and not low:
            continue
        yield finding(
            "nvme.failing" if low or health.critical_warning & ~_TEMPERATURE else "nvme.failing/warm",
            f"NVMe drive {controller.name} warns of its health",
            (
                f"{_named(controller)}: critical warning {health.critical_warning:#04x}"
                + (f" ({', '.join(found)})" if found else ""),
                f"spare {health.spare_percent} %, threshold {health.spare_threshold_percent} %",
                SOURCE,
            ),
            (f"nvme:{controller.name}",),
            command=_smart_command(controller),
        )


def worn_drives(machine: Machine) -> Iterator[Finding]:
    """Drives that have used up the endurance that their maker states."""
    worn = [one for one in machine.nvme_controllers if one.health is not None and one.health.used_percent >= 100]
    if worn:
        yield finding(
            "nvme.worn",
            f"{plural(len(worn), 'NVMe drive')} with the endurance used up",
            (*(f"{_named(one)}: {one.health.used_percent} % used" for one in worn if one.health is not None), SOURCE),
            (f"nvme:{one.name}" for one in worn),
            command=_smart_command(worn[0]),
        )


def _named(controller: NvmeController) -> str:
    return " ".join(filter(None, (controller.name, controller.model)))


def _smart_command(controller: NvmeController) -> str:
    return f"nvme smart-log /dev/{quote(controller.name)}"
