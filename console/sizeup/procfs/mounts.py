"""Mount tables: ``/proc/mounts`` and ``/proc/self/mountinfo`` (man 5 proc)."""

from __future__ import annotations

import re

from msgspec import Struct

_ESCAPE = re.compile(r"\\([0-7]{3})")
_MOUNTS_LIMIT = 1 << 14


class MountEntry(Struct, frozen=True):
    """One line of a mount table."""

    what: str
    where: str
    kind: str
    options: tuple[str, ...]
    """Of the mount and, in mountinfo, of the file system behind it."""
    devno: str | None = None
    """``major:minor``; None in ``/proc/mounts``."""


def unescape(text: str) -> str:
    r"""Blanks and newlines in names are written in octal, such as ``\040``."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)


def parse_mounts(text: str) -> tuple[MountEntry, ...]:
    """``/proc/mounts``: device, mount point, type, options."""
    mounts = []
    for line in text.splitlines()[:_MOUNTS_LIMIT]:
        fields = line.split(" ")
        if len(fields) >= 4:
            mounts.append(MountEntry(unescape(fields[0]), unescape(fields[1]), fields[2], tuple(fields[3].split(","))))
    return tuple(mounts)


def parse_mountinfo(text: str) -> tuple[MountEntry, ...]:
    """``mountinfo``: the optional fields in the middle end at a lone hyphen."""
    mounts = []
    for line in text.splitlines()[:_MOUNTS_LIMIT]:
        before, _, after = line.partition(" - ")
        left, right = before.split(" "), after.split(" ")
        if len(left) < 6 or len(right) < 2:
            continue
        options = dict.fromkeys((*left[5].split(","), *(right[2].split(",") if len(right) > 2 else ())))
        mounts.append(MountEntry(unescape(right[1]), unescape(left[4]), right[0], tuple(options), left[2]))
    return tuple(mounts)
