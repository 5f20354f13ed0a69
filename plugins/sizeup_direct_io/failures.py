"""What an errno means for a target, in words."""

from __future__ import annotations

import errno
import os

_HINTS = {
    errno.ENOSPC: "the file system is full",
    errno.EDQUOT: "the quota is used up; give a smaller size=, or another path",
    errno.ESTALE: "the server no longer knows the file; it was removed or exported anew; mount it again; "
    "a file .nfs... of this run may be left there",
    errno.EIO: "the device or the server reports failures; see the kernel's log",
    errno.EREMOTEIO: "the device or the server reports failures; see the kernel's log",
    errno.EROFS: "the file system became read-only; see the kernel's log",
    errno.EINVAL: "the target does not take requests of this size or alignment",
    errno.ENODEV: "the device is gone",
    errno.ENXIO: "the device is gone",
    errno.ENODATA: "the target ended before its stated size",
    errno.ENOTCONN: "the server is gone; mount it again",
    errno.ECONNABORTED: "the server is gone; mount it again",
    errno.ETIMEDOUT: "the device or the server did not answer in time; see the kernel's log",
    errno.ENOLINK: "the way to the device is cut; see the kernel's log",
    errno.EACCES: "this user may no longer reach it",
    errno.EPERM: "this user may no longer reach it",
}


def describe_error(number: int) -> str:
    """An errno with what it means for a target."""
    hint = _HINTS.get(number)
    return f"{errno.errorcode.get(number, number)} ({os.strerror(number)})" + (f": {hint}" if hint else "")
