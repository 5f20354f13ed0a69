"""Explains an errno of a target."""

from __future__ import annotations

import errno
import os

_HINTS = {
    errno.ENOSPC: "the file system is full",
    errno.EDQUOT: "the quota is used up; decrease size, or set another path",
    errno.ESTALE: "the server no longer knows the file because it was removed or re-exported; mount it again; "
    "a file .nfs... of this run may remain there",
    errno.EIO: "the device or the server reports errors; see the kernel log",
    errno.EREMOTEIO: "the device or the server reports errors; see the kernel log",
    errno.EROFS: "the file system became read-only; see the kernel log",
    errno.EINVAL: "the target does not support requests of this size or alignment",
    errno.ENODEV: "the device is gone",
    errno.ENXIO: "the device is gone",
    errno.ENODATA: "the target ended before its stated size",
    errno.ENOTCONN: "the connection to the server is lost; mount it again",
    errno.ECONNABORTED: "the connection to the server is lost; mount it again",
    errno.ETIMEDOUT: "the device or the server did not answer in time; see the kernel log",
    errno.ENOLINK: "the path to the device is down; see the kernel log",
    errno.EACCES: "this user has no access any more",
    errno.EPERM: "this user has no access any more",
}


def describe_error(number: int) -> str:
    """Return an errno with its meaning for a target."""
    hint = _HINTS.get(number)
    return f"{errno.errorcode.get(number, number)} ({os.strerror(number)})" + (f": {hint}" if hint else "")
