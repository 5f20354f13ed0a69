"""Findings about storage: multipath maps, Fibre Channel ports, software RAID."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote

from sizeup.discovery.findings.sockets import packages_of
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, Hba, MultipathMap, Transport
from sizeup.text import plural
from sizeup.units import format_bit_rate, format_decimal_bytes

_FC = (Transport.FC, Transport.FCOE)
_FC_DOWN = frozenset(
    {"Linkdown", "Offline", "Not Present", "Blocked", "Bypassed", "Error", "Deleted", "Diagnostics", "Loopback"}
)
"""States of an fc_host that carry no I/O, as the kernel writes them (drivers/scsi/scsi_transport_fc.c)."""


def _path_lines(found: MultipathMap) -> tuple[str, ...]:
    if all((path.hba, path.speed_bits_per_second, path.node) == (None, None, None) for path in found.paths):
        by_state: dict[str, list[str]] = {}
        for path in found.paths:
            by_state.setdefault(path.state or "state unknown", []).append(path.device)
        states = "; ".join(f"{', '.join(devices)}: {state}" for state, devices in by_state.items())
        return (f"{states} (adapters, speeds and NUMA nodes could not be read)",)
    return tuple(
        f"{path.device}: {path.state or 'state unknown'}, adapter {path.hba or 'unknown'}, "
        f"{'speed unknown' if path.speed_bits_per_second is None else format_bit_rate(path.speed_bits_per_second)}, "
        f"NUMA node {'unknown' if path.node is None else path.node}"
        for path in found.paths
    )


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
    lines, subject = _path_lines(found), (f"map:{found.name}",)
    native = not found.device.startswith("dm-")  # of the NVMe driver, which device mapper knows nothing of
    look = f"nvme list-subsys /dev/{quote(found.device)}" if native else f"multipath -ll {quote(found.name)}"
    dead = [path.device for path in found.paths if path.state not in (None, "running", "live")]
    if dead:
        yield Finding(
            "multipath.dead-path", Severity.WARNING,
            f"{found.name}: {plural(len(dead), 'path')} unusable ({', '.join(dead)})", lines,
            "The device has less bandwidth and less redundancy than its number of paths suggests.",
            "Check the controllers of these paths and their links." if native
            else f"Check the adapter, the cable and the switch port of {', '.join(dead)}.",
            subject,
            command=look,
            quantity="storage.bandwidth",
        )  # fmt: skip
    if len(found.paths) == 1 or len(found.paths) < usual:
        yield Finding(
            "multipath.few-paths", Severity.WARNING,
            f"{found.name} has only {plural(len(found.paths), 'path')}"
            + (f"; similar devices have {usual}" if len(found.paths) < usual else ""),
            lines,
            "The failure of one cable, port or switch can make it unavailable." if len(found.paths) == 1
            else "The failure of one cable, port or switch costs a larger share of its bandwidth.",
            _missing_path(found), subject,
            command=look,
            quantity="storage.bandwidth",
        )  # fmt: skip
    speeds = {path.speed_bits_per_second for path in found.paths if path.speed_bits_per_second is not None}
    if len(speeds) > 1:
        yield Finding(
            "multipath.uneven-speed", Severity.WARNING, f"{found.name}: paths run at different speeds", lines,
            "With round-robin path selection, the slowest path limits the throughput.",
            "Set the ports to the same speed, or select paths by service time.", subject,
            command=look,
            quantity="storage.bandwidth",
        )  # fmt: skip
    if len(packages_of(machine, (path.node for path in found.paths))) > 1:
        yield Finding(
            "multipath.across-packages", Severity.INFO, f"{found.name}: paths are attached to different sockets", lines,
            "Part of the I/O crosses the socket interconnect, whichever CPU submits it.",
            "Prefer local paths (set iopolicy of the NVMe subsystem to numa), or allow for the extra latency." if native
            else "Allow for the extra latency: device mapper does not choose paths by NUMA node.", subject,
            command=look,
            quantity="storage.bandwidth",
        )  # fmt: skip


def _missing_path(found: MultipathMap) -> str:
    """Where to look for paths that a map lacks."""
    if not found.device.startswith("dm-"):
        return "Check which controllers of its subsystem are connected, and that each may use the namespace."
    transport = found.paths[0].transport
    if transport in _FC:
        return "Check zoning and LUN masking."
    if transport is Transport.ISCSI:
        return "Check that there is a session over every portal (iscsiadm -m session), and LUN masking."
    return "Check the cabling, and which initiators the storage admits."


def fc_ports(machine: Machine) -> Iterator[Finding]:
    """Fibre Channel ports without a link: those that carried something, and those that perhaps never had a cable."""
    down = [hba for hba in machine.hbas if hba.transport in _FC and hba.state in _FC_DOWN]
    with_devices = {scsi.hba for scsi in machine.scsi_devices}
    used = [hba for hba in down if hba.targets or hba.name in with_devices or hba.received_bytes or hba.sent_bytes]
    unused = [hba for hba in down if hba not in used]
    if used:
        yield Finding(
            "fc.port-down",
            Severity.WARNING,
            f"{_port_names(used)} {'is' if len(used) == 1 else 'are'} down",
            tuple(_fc_line(hba) for hba in used),
            "Paths over a port that is down are unavailable; the remaining ports carry all I/O.",
            "Check the cable, the optics and the switch port, then zoning and the kernel log (dmesg).",
            tuple(f"hba:{hba.name}" for hba in used),
            command=_fc_command(used),
            quantity="storage.bandwidth",
        )
    if unused:
        yield Finding(
            "fc.port-unused",
            Severity.INFO,
            f"{_port_names(unused)} {'has' if len(unused) == 1 else 'have'} no link and no known use",
            tuple(_fc_line(hba) for hba in unused),
            "A port without a link carries no I/O and adds no bandwidth.",
            "Nothing to do if it is not meant to be cabled; otherwise check the cable, the optics and the switch port.",
            tuple(f"hba:{hba.name}" for hba in unused),
            command=_fc_command(unused),
        )


def _port_names(hbas: Sequence[Hba]) -> str:
    names = ", ".join(hba.name for hba in hbas)
    return f"Fibre Channel port{'' if len(hbas) == 1 else 's'} {names}"


def _fc_line(hba: Hba) -> str:
    moved = [
        f"{format_decimal_bytes(size)} {direction}" if size else f"nothing {direction}"
        for size, direction in ((hba.received_bytes, "received"), (hba.sent_bytes, "sent"))
        if size is not None
    ]
    over = f" over {hba.net_device}" if hba.net_device else ""
    targets = f"{plural(len(hba.targets), 'remote port') if hba.targets else 'no remote ports'} seen"
    seen = (targets, *(moved or ["traffic counters not readable"]))
    return f"{hba.name} (fc_host){over}: {hba.state}, {', '.join(seen)}"


def _fc_command(hbas: Sequence[Hba]) -> str:
    commands = [f"grep . {' '.join(f'/sys/class/fc_host/{quote(hba.name)}/port_state' for hba in hbas)}"]
    commands += [f"ip link show dev {quote(hba.net_device)}" for hba in hbas if hba.net_device]
    return "; ".join(commands)


_SURVIVED = {"raid4": 1, "raid5": 1, "raid6": 2}
"""Members that an array can lose without losing data."""


_ARRAY_STATES = {
    "clean": "clean (no writes pending; members may be missing)",
    "active": "active (writes may be pending; members may be missing)",
}
"""States of an array that read as if it were complete; Documentation/admin-guide/md.rst, array_state."""


def _next_failure(device: BlockDevice) -> str:
    """What the failure of one more member of a degraded array does, as far as its RAID level says."""
    survived = _SURVIVED.get(device.raid_level or "")
    if device.raid_level == "raid1" and device.raid_disks is not None:
        survived = device.raid_disks - 1
    if survived is None:
        return "The failure of another member can lose data"
    left = survived - (device.raid_degraded or 0)
    return (
        "The failure of another member loses data"
        if left <= 0
        else f"The array survives {plural(left, 'more failure')}"
    )


def arrays(machine: Machine) -> Iterator[Finding]:
    """Md arrays that lack members."""
    for device in machine.block_devices:
        if device.raid_degraded:
            level = (device.raid_level or "RAID level unknown").replace("raid", "RAID ")
            of = (
                plural(device.raid_degraded, "member")
                if device.raid_disks is None
                else (f"{device.raid_degraded} of {plural(device.raid_disks, 'member')}")
            )
            yield Finding(
                "storage.degraded-array",
                Severity.CRITICAL,
                f"/dev/{device.name} ({level}) is degraded: {of} missing",
                (
                    f"array state: {_ARRAY_STATES.get(device.state or '', device.state or 'unknown')}",
                    f"members found: {', '.join(device.members) or 'could not be read'}",
                ),
                f"{_next_failure(device)}; I/O can be slower until the array is rebuilt.",
                "Find out which slot is empty and why its member dropped out; then add it again, or replace it.",
                (f"block:{device.name}",),
                command=f"mdadm --detail /dev/{quote(device.name)}",
                quantity="storage.bandwidth",
            )
