"""Findings about NFS mounts: options that databases do not bear, small requests, and a server that is silent."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount
from sizeup.units import format_bytes

_SMALL_REQUEST = 32 << 10
"""Below the rsize and wsize that database vendors give as the least (Oracle: 32 KiB)."""


def nfs_mounts(machine: Machine) -> Iterator[Finding]:
    """Soft, uncached, UDP and small-request mounts that can be written, and servers that do not answer."""
    for mount in machine.nfs_mounts:
        if mount.unanswered is not None:
            yield _silent(mount, mount.unanswered)
        if mount.read_only:
            continue  # software and backups, whose readers bear an error
        if (mount.protocol or "").startswith("udp"):
            yield _over_udp(mount)
        if mount.hard is False:
            yield _soft(mount)
        if mount.attribute_cache == "noac":
            yield _uncached(mount)
        yield from _small(mount)


def _silent(mount: NfsMount, sign: str) -> Finding:
    return Finding(
        "nfs.server-silent",
        Severity.CRITICAL if mount.hard is not False else Severity.WARNING,
        f"The server of {mount.mount_point} does not answer",
        (f"server: {mount.address or mount.export}", sign),
        "Processes that use the mount wait until the server answers."
        if mount.hard is not False
        else "Processes that use the mount wait, and get an I/O error when its time is up.",
        "Check the server, the network and any firewall between. Do not list or unmount the mount before: that waits "
        "as well.",
        (f"nfs:{mount.mount_point}",),
        command=f"grep -E ':{_port(mount):04X} ' /proc/net/tcp /proc/net/tcp6",
    )


def _port(mount: NfsMount) -> int:
    given = next((word[5:] for word in mount.options if word.startswith("port=")), "")
    return int(given) if given.isdecimal() and len(given) < 6 and int(given) else 2049


def _soft(mount: NfsMount) -> Finding:
    return Finding(
        "nfs.soft-mount",
        Severity.WARNING,
        f"{mount.mount_point} is mounted soft",
        (f"{mount.export}: {_options(mount, ('soft', 'softerr', 'timeo', 'retrans'))}",),
        "If the server is slow or restarts, writes fail with an I/O error. A database whose file is there stops, or "
        "its file is damaged.",
        "If database files are on it, mount it hard.",
        (f"nfs:{mount.mount_point}",),
        command="nfsstat -m",
    )


def _over_udp(mount: NfsMount) -> Finding:
    return Finding(
        "nfs.udp",
        Severity.WARNING,
        f"{mount.mount_point} is mounted over UDP",
        (f"{mount.export}: version {mount.version or 'unknown'}, proto={mount.protocol}",),
        "A large request is sent in fragments, of which one lost costs all; at high rates, fragments of two can "
        "be joined without an error (nfs(5)), which damages data.",
        "Mount it over TCP (proto=tcp); the server must offer it.",
        (f"nfs:{mount.mount_point}",),
        command="nfsstat -m",
        quantity="storage.bandwidth",
    )


def _uncached(mount: NfsMount) -> Finding:
    return Finding(
        "nfs.no-attribute-cache",
        Severity.INFO,
        f"{mount.mount_point} is mounted with noac",
        (f"{mount.export}: {_options(mount, ('noac', 'actimeo', 'sync'))}",),
        "Every write waits for the server, and every access asks it for the attributes of the file first.",
        "Keep it where the files are shared by a cluster whose vendor asks for it; elsewhere mount without noac.",
        (f"nfs:{mount.mount_point}",),
        command="nfsstat -m",
        quantity="storage.bandwidth",
    )


def _small(mount: NfsMount) -> Iterator[Finding]:
    sizes = (("rsize", mount.read_size_bytes), ("wsize", mount.write_size_bytes))
    small = [(name, size) for name, size in sizes if size is not None and 0 < size < _SMALL_REQUEST]
    if small:
        yield Finding(
            "nfs.small-requests",
            Severity.WARNING,
            f"{mount.mount_point} transfers at most {format_bytes(min(size for _, size in small))} with one request",
            tuple(f"{name}: {format_bytes(size)}" for name, size in small),
            "A large read or write takes many requests, each with a round trip of its own.",
            "Mount it without rsize and wsize, so that client and server agree on the largest; if they still agree on "
            "this, raise the limit of the server.",
            (f"nfs:{mount.mount_point}",),
            command="nfsstat -m",
            quantity="storage.bandwidth",
        )


def _options(mount: NfsMount, names: tuple[str, ...]) -> str:
    """Return those of the mount's options that a finding rests on."""
    return ",".join(word for word in mount.options if word.partition("=")[0] in names) or "options as read"
