"""Open files of this process by their descriptors, ``/proc/self/fd``; proc_pid_fd(5)."""

from __future__ import annotations

import os

from sizeup.procfs.kernel_file import PROC, read_text
from sizeup.procfs.mounts import MountEntry, parse_mount_id, read_mountinfo


def descriptor_path(descriptor: int) -> str:
    """Return the path that opens what a descriptor refers to, even where it has no name."""
    return f"{PROC}/self/fd/{descriptor}"


def open_again(descriptor: int, flags: int) -> int:
    """Return another descriptor of the same file with other flags; raise OSError where the kernel refuses."""
    return os.open(descriptor_path(descriptor), os.O_CLOEXEC | flags)


def read_mount(descriptor: int, proc: str = PROC) -> MountEntry | None:
    """Return the mount that a descriptor was opened through; None where the kernel does not say."""
    mount_id = parse_mount_id(read_text(f"{proc}/self/fdinfo/{descriptor}") or "")
    if mount_id is None:
        return None
    return next((mount for mount in read_mountinfo(proc) or () if mount.mount_id == mount_id), None)
