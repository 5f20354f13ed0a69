"""Findings about file systems: pools and replicas that are not whole, and mounts whose device has gone."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from sizeup.model.file_systems import FileSystem
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine

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


def file_systems(machine: Machine) -> Iterator[Finding]:
    """Pools, cluster file systems and replicas whose state is not that of a whole one."""
    for found in machine.file_systems:
        if found.healthy is False:
            yield Finding(
                "storage.degraded-pool",
                Severity.CRITICAL,
                f"{found.kind} {found.name} is not whole"
                + (f": {found.state}" if len(found.state or "") <= _SHORT else ""),
                (
                    f"state: {found.state}",
                    f"mounted on: {', '.join(found.mount_points) or 'nothing that this process sees'}",
                ),
                "Another failure can lose data or stop I/O.",
                _REPAIR.get(found.kind, "Check its devices and the kernel log (dmesg)."),
                tuple(f"mount:{point}" for point in found.mount_points) or (f"file-system:{found.name}",),
                command=_command(found),
            )


def _command(found: FileSystem) -> str:
    if found.kind in _LOOK:
        return _LOOK[found.kind]
    directory = quote(f"/sys/fs/{found.kind}")
    return f"grep -r . {directory}"


def lost_mounts(machine: Machine) -> Iterator[Finding]:
    """Mounts whose block device is no longer there."""
    for mount in machine.lost_mounts:
        yield Finding(
            "mount.device-gone",
            Severity.CRITICAL,
            f"{mount.mount_point} is mounted, but its device {mount.source} is gone",
            (f"mount table: device {mount.devno}, {mount.kind}", f"/sys/dev/block: no device {mount.devno}"),
            "Reads of what is not in memory and all writes fail; what was written last may be lost.",
            "Find out from the kernel log why the device went. Stop what uses the mount and unmount it; a device that "
            "comes back needs a new mount.",
            (f"mount:{mount.mount_point}",),
            command=f"grep {quote(mount.devno)} /proc/self/mountinfo; dmesg | grep -i 'offline'",
        )
