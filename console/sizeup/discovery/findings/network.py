"""Findings about bonds and NFS mounts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from shlex import quote

from sizeup.discovery.findings.catalog import finding
from sizeup.discovery.findings.remedies import packages_of
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.text import plural
from sizeup.units import format_bit_rate, format_bytes

_BITS_PER_TRANSPORT = 10_000_000_000
_NCONNECT_SINCE = (5, 3)
_OF_THE_CONNECTION = frozenset({"addr", "clientaddr", "local_lock", "mountaddr", "mountport", "mountproto", "namlen"})
"""Options in the table of mounts that tell how a mount came about; a new mount finds them out again."""
_SMALL_REQUEST = 32 << 10
"""Below the rsize and wsize that database vendors give as the least (Oracle: 32 KiB)."""


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
    subject, look = (f"nic:{bond.name}",), f"cat /proc/net/bonding/{quote(bond.name)}"
    down = list(dict.fromkeys((*(nic.name for nic in members if nic.up is False), *bond.members_down)))
    if bond.up is not False and down:
        yield finding(
            "bond.member-down",
            f"Bond {bond.name}: {plural(len(down), 'member')} down ({', '.join(down)})",
            (*lines, *(f"{name}: down by the bond's own check" for name in bond.members_down)),
            subject,
            command=look,
        )
    speeds = {nic.speed_bits_per_second for nic in members if nic.up and nic.speed_bits_per_second}
    if len(speeds) > 1:
        yield finding(
            "bond.uneven-speed",
            f"Bond {bond.name}: members run at different speeds",
            lines,
            subject,
            command=look,
        )
    if len(packages_of(machine, (nic.node for nic in members))) > 1:
        yield finding(
            "bond.across-packages",
            f"Bond {bond.name}: members are attached to different sockets",
            lines,
            subject,
            command=look,
        )


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
            yield finding(
                "nfs.few-transports",
                f"{mount.mount_point} uses {plural(mount.transports, 'connection')}, "
                f"too few for the speed of {nic.name} ({format_bit_rate(speed)})",
                (f"connections: {mount.transports}", f"{nic.name}: {format_bit_rate(speed)}"),
                (f"nfs:{mount.mount_point}",),
                remedy=(
                    f"Mount it again with nconnect={needed} while nothing uses it ({_mount_command(mount, needed)}); "
                    "the first mount sets it for all mounts of that server and NFS version."
                    if _has_nconnect(machine)
                    else f"Mount with nconnect={needed} on a kernel that has it: Linux 5.3, or a patched vendor kernel."
                ),
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


def nfs_mounts(machine: Machine) -> Iterator[Finding]:
    """Soft, uncached, UDP and small-request mounts that can be written, and servers that do not answer."""
    for mount in machine.nfs_mounts:
        if mount.unanswered is not None:
            yield _silent(mount, mount.unanswered)
        if mount.read_only:
            continue  # software and backups, whose readers bear an error
        if (mount.protocol or "").startswith("udp"):
            yield finding(
                "nfs.udp",
                f"{mount.mount_point} is mounted over UDP",
                (f"{mount.export}: version {mount.version or 'unknown'}, proto={mount.protocol}",),
                (f"nfs:{mount.mount_point}",),
            )
        if mount.hard is False:
            yield finding(
                "nfs.soft-mount",
                f"{mount.mount_point} is mounted soft",
                (f"{mount.export}: {_options(mount, ('soft', 'softerr', 'timeo', 'retrans'))}",),
                (f"nfs:{mount.mount_point}",),
            )
        if mount.attribute_cache == "noac":
            yield finding(
                "nfs.no-attribute-cache",
                f"{mount.mount_point} is mounted with noac",
                (f"{mount.export}: {_options(mount, ('noac', 'actimeo', 'sync'))}",),
                (f"nfs:{mount.mount_point}",),
            )
        yield from _small(mount)


def _silent(mount: NfsMount, sign: str) -> Finding:
    return finding(
        "nfs.server-silent/soft" if mount.hard is False else "nfs.server-silent",
        f"The server of {mount.mount_point} does not answer",
        (f"server: {mount.address or mount.export}", sign),
        (f"nfs:{mount.mount_point}",),
        command=f"grep -E ':{_port(mount):04X} ' /proc/net/tcp /proc/net/tcp6",
    )


def _port(mount: NfsMount) -> int:
    given = next((word[5:] for word in mount.options if word.startswith("port=")), "")
    return int(given) if given.isdecimal() and len(given) < 6 and int(given) else 2049


def _small(mount: NfsMount) -> Iterator[Finding]:
    sizes = (("rsize", mount.read_size_bytes), ("wsize", mount.write_size_bytes))
    small = [(name, size) for name, size in sizes if size is not None and 0 < size < _SMALL_REQUEST]
    if small:
        yield finding(
            "nfs.small-requests",
            f"{mount.mount_point} transfers at most {format_bytes(min(size for _, size in small))} with one request",
            (f"{name}: {format_bytes(size)}" for name, size in small),
            (f"nfs:{mount.mount_point}",),
        )


def _options(mount: NfsMount, names: tuple[str, ...]) -> str:
    """Return those of the mount's options that a finding rests on."""
    return ",".join(word for word in mount.options if word.partition("=")[0] in names) or "options as read"
