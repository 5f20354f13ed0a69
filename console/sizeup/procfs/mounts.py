"""Mount tables: ``/proc/mounts`` and ``/proc/self/mountinfo`` (man 5 proc)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from sizeup.model.network import NfsOperation
from sizeup.procfs.kernel_file import PROC, Unreadable, read_file, read_text
from sizeup.units import whole_number

_ESCAPE = re.compile(r"\\([0-7]{3})")
_MOUNTS_LIMIT = 100_000
"""Most mounts of one mount namespace; the kernel's own default (Documentation/admin-guide/sysctl/fs.rst, mount-max)."""
_NETWORK_KINDS = ("nfs", "cifs", "smb", "ceph", "gluster", "lustre", "9p", "afs")

KERNEL_DIRECTORIES = ("/dev", "/proc", "/sys", "/run")
"""Where the kernel's own file systems and those in memory are, under which no device is mounted by itself."""
_DEVICE = re.compile(r"device (\S+) mounted on (\S+) with fstype (nfs4?)(?: statvers=(\S+))?$")
_OPERATION = re.compile(r"([A-Z][A-Z_0-9]*): ((?:\d{1,20} ){7,8}\d{1,20})")


class MountEntry(Struct, frozen=True):
    """One line of a mount table."""

    source: str
    """The device or the export."""
    point: str
    kind: str
    """The file system as the kernel calls it: ``ext4``, ``nfs4``."""
    options: tuple[str, ...]
    """Of the mount and, in mountinfo, of the file system behind it."""
    devno: str | None = None
    """``major:minor``; None in ``/proc/mounts``."""
    mount_id: int | None = None
    """What ``/proc/PID/fdinfo`` calls ``mnt_id``; None in ``/proc/mounts``."""

    @property
    def network(self) -> bool:
        """Whether requests leave this host."""
        return self.kind.startswith(_NETWORK_KINDS)

    @property
    def local(self) -> bool:
        """Whether it can be asked without waiting for a server, or for a process, that may never answer."""
        return not self.network and not self.kind.startswith("fuse")


def is_below(path: str, points: Iterable[str]) -> bool:
    """Whether a path is one of these directories or lies below one."""
    return any(path == point or path.startswith(point.rstrip("/") + "/") for point in points)


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
        mounts.append(
            MountEntry(unescape(right[1]), unescape(left[4]), right[0], tuple(options), left[2], whole_number(left[0]))
        )
    return tuple(mounts)


def read_mountinfo(proc: str = PROC) -> tuple[MountEntry, ...] | None:
    """Return the mounts that this process sees; None where they cannot be read."""
    text = read_file(f"{proc}/self/mountinfo")
    return None if isinstance(text, Unreadable) else parse_mountinfo(text)


def parse_mount_id(fdinfo: str) -> int | None:
    """The mount that a descriptor was opened through, from ``/proc/PID/fdinfo/N``; None where it does not say."""
    match = re.search(r"^mnt_id:\s*(\d{1,18})$", fdinfo, re.MULTILINE)
    return int(match[1]) if match is not None else None


class NfsBytes(Struct, frozen=True):
    """The ``bytes:`` line of one mount: with O_DIRECT, and what crossed the network."""

    direct_read: int
    direct_written: int
    server_read: int
    server_written: int


class MountStats(Struct, frozen=True):
    """The part of mountstats about one NFS mount."""

    export: str
    mount_point: str
    options: tuple[str, ...] = ()
    age_seconds: int | None = None
    security: str | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    transports: tuple[str, ...] = ()
    """Protocol of each connection; nconnect gives several."""
    operations: tuple[NfsOperation, ...] = ()
    retransmits: int = 0
    calls_waiting: int = 0
    """Calls that were sent over TCP and have no reply, as far as the counters tell: a lost reply counts, too."""


def _bytes(text: str) -> NfsBytes | None:
    """The first pair of figures is of reads and writes through the page cache."""
    counts = [whole_number(word) for word in text.split()[2:6]]
    numbers = [count for count in counts if count is not None]
    return NfsBytes(*numbers) if len(numbers) == 4 else None


def _mount_stats(heading: re.Match[str], lines: list[str]) -> MountStats:
    options: tuple[str, ...] = ()
    age = None
    moved: NfsBytes | None = None
    security = None
    transports: list[str] = []
    operations: list[NfsOperation] = []
    retransmits = waiting = 0
    for line in lines:
        key, _, rest = line.strip().partition(":")
        if (match := _OPERATION.fullmatch(line.strip())) is not None:
            # One below zero is printed without its sign: sums of time differences get there.
            numbers = [number if (number := int(word)) < 1 << 63 else None for word in match[2].split()]
            # operations, transmissions, timeouts, bytes out, bytes in, then milliseconds queued, waiting, in all
            calls, sent = numbers[0], numbers[1]
            if calls is not None and sent is not None:
                retransmits += max(sent - calls, 0)
            if calls:
                operations.append(NfsOperation(match[1], calls, *numbers[3:8]))
        elif key == "opts":
            # Some kernels leave blanks behind the commas.
            options = tuple(word.strip() for word in rest.split(",") if word.strip())
        elif key == "age":
            age = whole_number(rest.strip())
        elif key == "sec":
            flavor = re.search(r"(?:flavor|pseudoflavor)=(\d+)", rest)
            security = flavor[1] if flavor else None
        elif key == "bytes":
            moved = _bytes(rest)
        elif key == "xprt":
            words = rest.split()
            transports.append(words[0] if words else "")
            # Sends less receives of a TCP transport: words 7 and 8 of its line (net/sunrpc/xprtsock.c).
            counts = [whole_number(word) for word in words[6:8]] if words[:1] == ["tcp"] else []
            if len(counts) == 2 and None not in counts:
                waiting += max((counts[0] or 0) - (counts[1] or 0), 0)
    operations.sort(key=lambda operation: (-operation.calls, operation.name))
    return MountStats(
        export=unescape(heading[1]),
        mount_point=unescape(heading[2]),
        options=options,
        age_seconds=age,
        security=security,
        read_bytes=moved.server_read if moved is not None else None,
        written_bytes=moved.server_written if moved is not None else None,
        transports=tuple(transports),
        operations=tuple(operations),
        retransmits=retransmits,
        calls_waiting=waiting,
    )


def _sections(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Heading and lines of each NFS mount; other file systems have one line without figures."""
    heading: re.Match[str] | None = None
    lines: list[str] = []
    for line in (*text.splitlines(), "device end"):
        if line.startswith("device "):
            if heading is not None:
                yield heading, lines
            heading, lines = _DEVICE.fullmatch(line.strip()), []
        else:
            lines.append(line)


def parse_mountstats(text: str) -> tuple[MountStats, ...]:
    """The NFS mounts in the order of the file."""
    return tuple(_mount_stats(heading, lines) for heading, lines in _sections(text))


def parse_nfs_bytes(text: str, mount_point: str) -> NfsBytes | None:
    """The byte counters of one mount, without parsing the rest of the file; None where it is no NFS mount."""
    found: NfsBytes | None = None
    for heading, lines in _sections(text):
        if unescape(heading[2]) == mount_point:  # of two on one point the later covers the earlier
            counters = (line.strip().partition(":")[2] for line in lines if line.strip().startswith("bytes:"))
            found = _bytes(next(counters, ""))
    return found


def read_nfs_bytes(mount_point: str, proc: str = PROC) -> NfsBytes | None:
    """Return the byte counters of one mount; None where it is no NFS mount, or cannot be read."""
    return parse_nfs_bytes(read_text(f"{proc}/self/mountstats") or "", mount_point)
