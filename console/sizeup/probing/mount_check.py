"""Return why the storage of a directory cannot be measured, as far as it shows before a run."""

from __future__ import annotations

import os

from sizeup.procfs.descriptors import read_mount


def why_not_measurable(directory: str) -> str:
    """Return why no file for measuring can be made in a directory; empty if nothing speaks against it."""
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return f"cannot be opened: {error.strerror}"
    try:
        status = os.fstatvfs(opened)
        mount = read_mount(opened)
    except OSError as error:
        return f"its file system cannot be read: {error.strerror}"
    finally:
        os.close(opened)
    kind = "" if mount is None else f" ({mount.kind})"
    if not status.f_blocks:
        return f"its file system{kind} has no capacity"
    if status.f_flag & os.ST_RDONLY:
        return f"its file system{kind} is read-only"
    if not status.f_bavail:
        return f"its file system{kind} has no free space"
    if not os.access(directory, os.W_OK | os.X_OK, effective_ids=True):
        return "no permission to create a file in it"
    return ""
