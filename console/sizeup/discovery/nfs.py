"""NFS mounts from ``/proc/self/mountinfo`` and ``/proc/self/mountstats``.

Never from the mount point: a statvfs of a mount whose server is gone hangs its caller for ever.
"""

from __future__ import annotations

from sizeup.discovery.nfs_server import NfsServers
from sizeup.discovery.routes import Routes
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import NfsMount
from sizeup.procfs.mounts import MountEntry, parse_mountinfo, parse_mounts
from sizeup.procfs.mountstats import MountStats, parse_mountstats

_TYPES = ("nfs", "nfs4")
_ATTRIBUTE_CACHE = ("actimeo", "acregmin", "acregmax", "acdirmin", "acdirmax")


def _value(options: dict[str, str], *names: str) -> str | None:
    return next((options[name] for name in names if name in options), None)


def _number(options: dict[str, str], name: str) -> int | None:
    text = options.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 12 else None


def _version(options: dict[str, str]) -> str | None:
    version = _value(options, "vers", "nfsvers")
    minor = options.get("minorversion")
    return f"{version}.{minor}" if version == "4" and minor is not None else version


def _attribute_cache(options: dict[str, str]) -> str | None:
    if "noac" in options:
        return "noac"
    limits = [f"{name}={options[name]}" for name in _ATTRIBUTE_CACHE if name in options]
    return ",".join(limits) or None


def _mount(mount: MountEntry, stats: MountStats | None, routes: Routes, servers: NfsServers) -> NfsMount:
    given = (*(stats.options if stats else ()), *mount.options)
    options: dict[str, str] = {}
    for word in given:
        key, _, value = word.partition("=")
        options.setdefault(key, value)
    address = _value(options, "addr", "mountaddr")
    over_tcp = (_value(options, "proto") or "tcp").startswith("tcp")
    waiting = bool(stats is not None and stats.calls_waiting)
    return NfsMount(
        mount_point=mount.point,
        export=mount.source,
        version=_version(options),
        protocol=_value(options, "proto") or (stats.transports[0] if stats and stats.transports else None),
        read_size_bytes=_number(options, "rsize"),
        write_size_bytes=_number(options, "wsize"),
        transports=(len(stats.transports) if stats and stats.transports else _number(options, "nconnect")),
        nconnect=_number(options, "nconnect"),
        hard=True if "hard" in options else False if "soft" in options or "softerr" in options else None,
        sync="sync" in options,
        read_only="ro" in mount.options,
        security=_value(options, "sec"),
        address=address,
        options=tuple(dict.fromkeys(given)),
        attribute_cache=_attribute_cache(options),
        age_seconds=stats.age_seconds if stats else None,
        retransmits=stats.retransmits if stats else None,
        read_bytes=stats.read_bytes if stats else None,
        written_bytes=stats.written_bytes if stats else None,
        operations=stats.operations if stats else (),
        device=mount.devno,
        nic=routes.to(address),
        unanswered=servers.unanswered(address, _number(options, "port"), waiting=waiting) if over_tcp else None,
    )


def read_nfs_mounts(sysroot: Sysroot, routes: Routes) -> tuple[NfsMount, ...]:
    """All NFS mounts, in the order of the mount table; from mountstats alone where there is no table."""
    table = parse_mountinfo(sysroot.read("/proc/self/mountinfo") or "")
    if not table:
        table = parse_mounts(sysroot.read("/proc/self/mounts") or sysroot.read("/proc/mounts") or "")
    sections = parse_mountstats(sysroot.read("/proc/self/mountstats") or "")
    mounts = [mount for mount in table if mount.kind in _TYPES]
    listed = {mount.point for mount in mounts}
    mounts += [
        MountEntry(section.export, section.mount_point, "nfs", ())
        for section in sections
        if section.mount_point not in listed
    ]
    # One mount point can be mounted over several times: both files list the mounts in the same order.
    left: dict[str, list[MountStats]] = {}
    for section in sections:
        left.setdefault(section.mount_point, []).append(section)
    servers = NfsServers(sysroot)
    values = []
    for mount in mounts:
        own = left.get(mount.point)
        values.append(_mount(mount, own.pop(0) if own else None, routes, servers))
    return tuple(values)
