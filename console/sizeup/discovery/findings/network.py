"""Findings about bonds and NFS mounts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from shlex import quote

from sizeup.discovery.findings.sockets import packages_of
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.text import plural
from sizeup.units import format_bit_rate

_BITS_PER_TRANSPORT = 10_000_000_000
_NCONNECT_SINCE = (5, 3)
_OF_THE_CONNECTION = frozenset({"addr", "clientaddr", "local_lock", "mountaddr", "mountport", "mountproto", "namlen"})
"""Options in the table of mounts that tell how a mount came about; a new mount finds them out again."""


def bonds(machine: Machine) -> Iterator[Finding]:
    """Bonds whose members differ in speed, are down, or sit on different sockets."""
    nics = {nic.name: nic for nic in machine.nics}
    for bond in (nic for nic in machine.nics if nic.kind == "bond"):
        members = [nics[name] for name in bond.lower if name in nics]
        yield from _bond_findings(machine, bond, members)


def _bond_findings(machine: Machine, bond: Nic, members: list[Nic]) -> Iterator[Finding]:
    lines = tuple(
        f"{nic.name}: NUMA node {'unknown' if nic.node is None else nic.node}, {_link_state(nic)}" for nic in members
    )
    subject = (f"nic:{bond.name}",)
    down = list(dict.fromkeys((*(nic.name for nic in members if nic.up is False), *bond.members_down)))
    if bond.up is not False and down:
        yield Finding(
            "bond.member-down", Severity.WARNING,
            f"Bond {bond.name}: {plural(len(down), 'member')} down ({', '.join(down)})",
            (*lines, *(f"{name}: down by the bond's own check" for name in bond.members_down)),
            "The bond has less redundancy and, depending on its mode, less bandwidth.",
            "Check the cable, the switch port and the kernel log (dmesg).", subject,
            command=f"cat /proc/net/bonding/{quote(bond.name)}",
        )  # fmt: skip
    speeds = {nic.speed_bits_per_second for nic in members if nic.up and nic.speed_bits_per_second}
    if len(speeds) > 1:
        yield Finding(
            "bond.uneven-speed", Severity.WARNING, f"Bond {bond.name}: members run at different speeds", lines,
            "A connection gets the speed of the member that carries it.", "Use ports of the same speed.", subject,
            command=f"cat /proc/net/bonding/{quote(bond.name)}",
        )  # fmt: skip
    if len(packages_of(machine, (nic.node for nic in members))) > 1:
        yield Finding(
            "bond.across-packages", Severity.INFO, f"Bond {bond.name}: members are attached to different sockets",
            lines,
            "Part of the traffic crosses the socket interconnect; which part depends on the active member or the flow.",
            "Keep interrupts and receiving processes near the active member, or leave it if redundancy matters more.",
            subject,
            command=f"cat /proc/net/bonding/{quote(bond.name)}",
        )  # fmt: skip


def _link_state(nic: Nic) -> str:
    if nic.up is False:
        return "down"
    speed = nic.speed_bits_per_second
    rate = "speed unknown" if speed is None else format_bit_rate(speed)
    return rate if nic.up else f"state unknown, {rate}"


def nfs_transports(machine: Machine) -> Iterator[Finding]:
    """Fewer connections than it takes to fill the interface: one carries some 10 Gb/s."""
    nics = {nic.name: nic for nic in machine.nics}
    for mount in machine.nfs_mounts:
        nic = nics.get(mount.nic or "")
        speed = None if nic is None else nic.speed_bits_per_second
        if nic is None or speed is None or mount.transports is None or not (mount.protocol or "").startswith("tcp"):
            continue  # what limits a connection is known of TCP alone
        needed = min(math.ceil(speed / _BITS_PER_TRANSPORT), 16)
        if mount.transports < needed:
            yield Finding(
                "nfs.few-transports",
                Severity.WARNING,
                f"{mount.mount_point} uses {plural(mount.transports, 'connection')}, "
                f"too few for the speed of {nic.name} ({format_bit_rate(speed)})",
                (f"connections: {mount.transports}", f"{nic.name}: {format_bit_rate(speed)}"),
                "One TCP connection is handled by one CPU and carries about 10 Gb/s.",
                f"Mount it again with nconnect={needed} while nothing uses it ({_mount_command(mount, needed)}); "
                "the first mount sets it for all mounts of that server and NFS version."
                if _has_nconnect(machine)
                else f"Mount with nconnect={needed} on a kernel that has it: Linux 5.3, or a patched vendor kernel.",
                (f"nfs:{mount.mount_point}",),
                command="nfsstat -m",
                quantity="storage.bandwidth",
            )


def _has_nconnect(machine: Machine) -> bool:
    """Whether the kernel is new enough for it, or of unknown version."""
    version = re.match(r"(\d{1,4})\.(\d{1,4})", machine.platform.kernel or "")
    return version is None or (int(version[1]), int(version[2])) >= _NCONNECT_SINCE


def _mount_command(mount: NfsMount, connections: int) -> str:
    """Return the command that mounts it again as it is, but for its connections; it need not be in /etc/fstab."""
    kept = [option for option in mount.options if option.partition("=")[0] not in {*_OF_THE_CONNECTION, "nconnect"}]
    options = quote(",".join((*kept, f"nconnect={connections}")))
    mount_point = quote(mount.mount_point)
    return f"umount {mount_point} && mount -t nfs -o {options} {quote(mount.export)} {mount_point}"
