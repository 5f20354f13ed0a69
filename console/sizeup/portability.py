"""What Python's ``os`` offers on Linux only, or on Unix only, with a plain stand-in for the viewer elsewhere.

A session can be shown on any system, so that nothing that showing needs may be missing there. What only measuring
needs is not here.
"""

from __future__ import annotations

import os

O_BINARY: int = getattr(os, "O_BINARY", 0)
"""Without it Windows writes two bytes for a line feed."""
O_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
O_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
O_NOCTTY: int = getattr(os, "O_NOCTTY", 0)
O_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
O_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
O_PATH: int = getattr(os, "O_PATH", 0)

HOLDS_DIRECTORIES = hasattr(os, "O_PATH") and os.open in os.supports_dir_fd
"""Whether a directory can be held open without reading it, and files opened in it: the guard of ``files`` needs it."""


def user_id() -> int:
    """Return the number of the user whose rights count; 0, the owner of every file, where users have no numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def host_name() -> str:
    """Return the name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket

    return socket.gethostname()


def set_mode(descriptor: int, mode: int) -> None:
    """Set the permissions of an open file, where a file has such."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return up to ``size`` bytes at ``offset``; the position of the descriptor may change."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)
