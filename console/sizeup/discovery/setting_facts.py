"""The settings that are shown, recommended and compared, each with its value as the kernel writes it."""

from __future__ import annotations

from sizeup.model.machine import IdleState, Machine, OsSettings
from sizeup.text import if_known, plural, switch_text
from sizeup.units import format_bytes, format_ns


def deepest_idle_state(settings: OsSettings) -> IdleState | None:
    """Return the state that an idle CPU needs longest to leave, of those that are enabled and whose time is known."""
    enabled = [state for state in settings.idle_states if not state.disabled and state.exit_latency_ns is not None]
    return max(enabled, key=lambda state: state.exit_latency_ns or 0, default=None)


def _dirty(bytes_limit: int | None, ratio: int | None) -> str | None:
    """The limit in force: the kernel sets the ratio to 0 where bytes are set."""
    return format_bytes(bytes_limit) if bytes_limit else if_known(ratio)


def setting_facts(machine: Machine) -> dict[str, str | None]:
    """Return the settings of the machine as a whole, in the order in which they are shown; None for unknown ones.

    Names are as in ``recommendations.toml``, and mostly as the tool of a setting calls it.
    """
    settings, platform, group = machine.settings, machine.platform, machine.platform.control_group
    areas, weaknesses, deepest = settings.swap_areas, settings.vulnerabilities, deepest_idle_state(settings)
    sizes = [area.size_bytes for area in areas or ()]
    size = "size unknown" if None in sizes else format_bytes(sum(each or 0 for each in sizes))
    pools = [f"{pool.total} of {format_bytes(pool.page_bytes)}" for pool in machine.huge_pages if pool.total]
    vulnerable = sum(each.status.startswith("Vulnerable") for each in weaknesses)
    no_limit = "none" if group is not None and group.limits_known else None  # only where the kernel says so
    memory, quota = (None, None) if group is None else (group.memory_bytes, group.cpu_quota)
    return {
        "swap": if_known(areas, lambda areas: f"{size} in {plural(len(areas), 'area')}" if areas else "none"),
        "vm.swappiness": if_known(settings.swappiness),
        "vm.dirty_ratio": _dirty(settings.dirty_bytes, settings.dirty_ratio),
        "vm.dirty_background_ratio": _dirty(settings.dirty_background_bytes, settings.dirty_background_ratio),
        "vm.zone_reclaim_mode": if_known(settings.zone_reclaim_mode),
        "vm.overcommit_memory": if_known(settings.overcommit_memory),
        "vm.max_map_count": if_known(settings.max_map_count),
        "huge pages": ", ".join(pools) or ("none" if machine.huge_pages else None),
        "transparent_hugepage": platform.transparent_huge_pages,
        "THP defrag": settings.transparent_huge_page_defrag,
        "kernel.numa_balancing": switch_text(platform.numa_balancing),
        "governor": platform.governor,
        "energy preference": settings.energy_preference,
        "energy_perf_bias": if_known(settings.energy_bias),
        "min_perf_pct": if_known(settings.lowest_performance_percent),
        "boost": switch_text(platform.turbo),
        "idle states": if_known(deepest, lambda one: f"to {one.name} ({format_ns(one.exit_latency_ns or 0)})"),
        "clock source": platform.clock_source,
        "mitigations": f"{vulnerable or 'none'} of {len(weaknesses)} vulnerable" if weaknesses else None,
        "microcode": settings.microcode,
        "tuned": settings.tuned_profile,
        "open files": if_known(settings.open_files),
        "processes": if_known(settings.processes),
        "locked memory": "unlimited" if platform.memlock_unlimited else if_known(platform.memlock_bytes, format_bytes),
        "cgroup memory": format_bytes(memory) if memory else no_limit,
        "cgroup CPUs": f"{quota:g}" if quota else no_limit,
    }


DISK_SETTINGS: dict[str, str] = {
    "scheduler": "scheduler",
    "read_ahead_kb": "read_ahead_bytes",
    "nr_requests": "queue_depth_limit",
    "max_sectors_kb": "largest_request_bytes",
    "write_cache": "write_cache",
}
"""Settings of a block device by their file in sysfs, with the field of ``BlockDevice``."""


def disk_setting(device: object, name: str) -> str | None:
    """Return a setting of a block device as the kernel writes it; None where it is unknown."""
    value = getattr(device, DISK_SETTINGS[name])
    if value is None:
        return None
    return str(value >> 10) if name.endswith("_kb") else str(value)
