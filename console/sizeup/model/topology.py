"""Packages, dies, cores, PUs and caches; the words are hwloc's.

Everything is known by its set of PUs; ids are labels that the kernel chose.
A PU is one hardware thread and is known by its kernel CPU number.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class CacheKind(Enum):
    """What a cache holds."""

    DATA = "data"
    INSTRUCTION = "instruction"
    UNIFIED = "unified"


class Pu(Struct, frozen=True):
    """One hardware thread that the kernel has present."""

    cpu: int
    online: bool
    allowed: bool
    """Whether this process may run on it, by affinity and cgroup cpusets; in a capture, the process that made it."""
    core: int | None = None
    """Index into ``Machine.cores``; None while offline, when the kernel hides the topology."""


class Core(Struct, frozen=True):
    """A distinct ``core_cpus`` set."""

    pus: tuple[int, ...]
    package: int | None
    """Index into ``Machine.packages``; None where it is unknown which cores share a socket."""
    die: int | None
    """Index into ``Machine.dies``; None as for the package."""
    os_id: int | None
    """The kernel's ``core_id``: a label, unique nowhere."""
    kind: str | None = None
    """Name of the kind on a hybrid machine (``performance``, ``efficient``); None where all are alike."""
    base_hz: int | None = None
    max_hz: int | None = None
    module: int | None = None
    """Shared by cores of one AMD clustered-multithreading module; None elsewhere."""
    cluster: int | None = None


class Die(Struct, frozen=True):
    """A piece of silicon in a package; a package that names no dies is one."""

    pus: tuple[int, ...]
    package: int
    os_id: int | None


class Package(Struct, frozen=True):
    """What fits one socket, the word of licenses and data sheets."""

    pus: tuple[int, ...]
    os_id: int | None
    """The kernel's ``physical_package_id``; None where it was not captured."""
    model: str | None = None
    stated_cores: tuple[int, ...] = ()
    """Its cores by "cpu cores" in /proc/cpuinfo where these are others than are found; empty where they agree."""


class Cache(Struct, frozen=True):
    """One physical cache, seen from the online PUs that share it."""

    level: int
    kind: CacheKind
    size_bytes: int | None
    """None where the kernel reports no size."""
    line_bytes: int | None
    """None where the driver reports none, as on some Arm servers."""
    shared_by: tuple[int, ...]
    ways: int | None = None
    sets: int | None = None
