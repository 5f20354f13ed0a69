"""Settings of the operating system that matter to databases, as they are in force."""

from __future__ import annotations

from msgspec import Struct


class SwapArea(Struct, frozen=True):
    """One device or file in use as swap."""

    path: str
    kind: str | None = None
    """``partition`` or ``file``."""
    size_bytes: int | None = None
    used_bytes: int | None = None
    priority: int | None = None


class IdleState(Struct, frozen=True):
    """One state (C-state) that an idle CPU may enter."""

    name: str
    exit_latency_ns: int | None = None
    """How long a CPU takes to leave it, by the driver; not measured."""
    disabled: bool | None = None


class Vulnerability(Struct, frozen=True):
    """One weakness of the CPU and what the kernel does about it."""

    name: str
    """``spectre_v2``."""
    status: str
    """As the kernel writes it: ``Mitigation: ...``, ``Vulnerable``, ``Not affected``."""


class OsSettings(Struct, frozen=True):
    """What is in force now; None where it could not be read, or this kernel has no such setting.

    Transparent huge pages, NUMA balancing, governor, clock source and cgroup limits are in ``Platform``, huge pages in
    ``Machine``, and the settings of a disk in ``BlockDevice``.
    """

    swap_areas: tuple[SwapArea, ...] | None = None
    """Empty where no swap is in use."""
    swappiness: int | None = None
    dirty_ratio: int | None = None
    """Percent of the available memory; 0 where ``dirty_bytes`` holds."""
    dirty_background_ratio: int | None = None
    dirty_bytes: int | None = None
    dirty_background_bytes: int | None = None
    zone_reclaim_mode: int | None = None
    overcommit_memory: int | None = None
    max_map_count: int | None = None
    transparent_huge_page_defrag: str | None = None
    energy_preference: str | None = None
    """``energy_performance_preference``; where cpufreq policies differ, each with how many have it."""
    energy_bias: int | None = None
    """0 (performance) to 15 (power saving), of the first CPU that is online."""
    lowest_performance_percent: int | None = None
    """``min_perf_pct`` of intel_pstate."""
    idle_driver: str | None = None
    idle_states: tuple[IdleState, ...] = ()
    """Of the first CPU that is online."""
    vulnerabilities: tuple[Vulnerability, ...] = ()
    microcode: str | None = None
    """Revision of the first CPU that is online, hexadecimal."""
    tuned_profile: str | None = None
    """The active profile of TuneD."""
    open_files: int | None = None
    """Soft limit of this process on open files; that of a database's service may differ. None where it is unknown."""
    open_files_hard: int | None = None
    processes: int | None = None
    """Soft limit on processes of this user; None where it is unlimited or unknown."""
