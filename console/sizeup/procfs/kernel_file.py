"""The reading layer: files of ``/proc`` and ``/sys``, bounded, where what cannot be read is unknown with its reason.

Discovery adds recordings to it (``discovery.sysroot``); everything else that looks at the running kernel reads through
the functions here, or through a ``read_x`` beside the parser of the file.
"""

from __future__ import annotations

import errno
import os
import stat
from itertools import islice

from msgspec import Struct

from sizeup.portability import O_CLOEXEC, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK
from sizeup.text import decode

PROC, SYS = "/proc", "/sys"
"""Where the running kernel's files are; functions take another directory in their place, such as a test's."""

FILE_BYTES_LIMIT = 4 << 20
"""Longest file read; the largest we need, mountstats and cpuinfo of big hosts, are below."""

ENTRIES_LIMIT = 1 << 22
"""Most entries of one directory: /proc has one for each process, and no kernel has more (PID_MAX_LIMIT)."""

MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, errno.ELOOP, errno.ENAMETOOLONG})
"""Errors that say that there is no such file."""

READ_FLAGS = os.O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
_CHUNK = 1 << 16


class Unreadable(Struct, frozen=True):
    """The kernel's refusal to hand a file over."""

    errno: int

    @property
    def missing(self) -> bool:
        """Whether there is no such file; otherwise there is one, and what it says is unknown."""
        return self.errno in MISSING

    @property
    def reason(self) -> str:
        """The refusal in words."""
        if self.errno in (errno.EACCES, errno.EPERM):
            return "permission denied"
        if self.missing:
            return "missing"
        return f"cannot be read: {os.strerror(self.errno)}"


def read_or_raise(path: str, *, of_sysfs: bool, of_capture: bool = False) -> bytes:
    """Return what a file holds, at most ``FILE_BYTES_LIMIT``; raise OSError where the kernel refuses.

    sysfs hands a file over in one read of at most a page, so that a shorter read is its end. A file of a capture must
    be a plain one, and no link.
    """
    descriptor = os.open(path, READ_FLAGS | O_NOFOLLOW if of_capture else READ_FLAGS)
    try:
        if of_capture and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENOENT, "not a plain file")
        data = os.read(descriptor, _CHUNK)
        if of_sysfs and len(data) < 4096:
            return data
        pieces = [data]
        total = len(data)
        while data and total < FILE_BYTES_LIMIT:
            data = os.read(descriptor, _CHUNK)
            pieces.append(data)
            total += len(data)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def read_bytes(path: str) -> bytes | Unreadable:
    """Return what a file holds, at most ``FILE_BYTES_LIMIT``, or why that is unknown."""
    try:
        return read_or_raise(path, of_sysfs=path.startswith(f"{SYS}/"))
    except OSError as error:
        return Unreadable(error.errno or errno.EIO)
    except ValueError:  # a NUL in a name that came out of a file
        return Unreadable(errno.ENOENT)


def read_file(path: str) -> str | Unreadable:
    """Return the text of a file, or why there is none."""
    data = read_bytes(path)
    return data if isinstance(data, Unreadable) else decode(data)


def read_text(path: str) -> str | None:
    """Return the text of a file; None where it is missing or may not be read."""
    text = read_file(path)
    return None if isinstance(text, Unreadable) else text


def read_line(path: str) -> str | None:
    """Return the text of a one-value file without its line end; None where it is missing, empty or unreadable."""
    return (read_text(path) or "").strip("\0 \t\r\n") or None


def parse_integer(text: str) -> int:
    """Return a kernel number, decimal or hexadecimal behind 0x: at most 63 bits and a sign, as a session holds them.

    Raise ValueError for anything else.
    """
    if len(text) > 40:  # beyond some thousands int() gives up in words of its own
        raise ValueError(f"expected a number of at most 64 bits, found {len(text)} characters")
    try:
        number = int(text, 16) if text[:2] in ("0x", "0X") else int(text)
    except ValueError:
        raise ValueError(f"expected a whole number, found {text!r}") from None
    if abs(number) >= 1 << 63:
        raise ValueError(f"expected a number of at most 64 bits, found {text[:40]}")
    return number


def integer_in(text: str) -> int | None:
    """Return a kernel number; None where the text is none."""
    try:
        return parse_integer(text)
    except ValueError:
        return None


def read_integer(path: str) -> int | None:
    """Return the number in a one-value file; None where it is missing, unreadable or no number."""
    return integer_in(read_line(path) or "")


def list_names(path: str) -> tuple[str, ...]:
    """Return the names in a directory, sorted; empty where it is missing or unreadable."""
    try:
        with os.scandir(path) as entries:
            return tuple(sorted(entry.name for entry in islice(entries, ENTRIES_LIMIT)))
    except (OSError, ValueError):
        return ()


def read_setting(name: str, proc: str = PROC) -> str | None:
    """Return the values of a setting such as ``net.ipv4.tcp_rmem``, a blank between; None where there is none."""
    return " ".join((read_line(f"{proc}/sys/{name.replace('.', '/')}") or "").split()) or None


def read_sysctl(name: str, proc: str = PROC) -> int | None:
    """Return the number that a setting such as ``fs.aio-max-nr`` has; None where this kernel has no such setting."""
    return integer_in(read_setting(name, proc) or "")


def read_zone_celsius(sysfs: str = SYS) -> dict[str, float]:
    """Return the temperature of each thermal zone by its name; a sleeping sensor answers with an error and has none."""
    folder = f"{sysfs}/class/thermal"
    zones = {
        name: read_integer(f"{folder}/{name}/temp") for name in list_names(folder) if name.startswith("thermal_zone")
    }
    return {name: millicelsius / 1000 for name, millicelsius in zones.items() if millicelsius is not None}
