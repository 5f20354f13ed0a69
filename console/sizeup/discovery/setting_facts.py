"""The settings that are shown, recommended and compared, each with its value as the kernel writes it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from sizeup.model.machine import ControlGroup, IdleState, Machine, OsSettings
from sizeup.text import if_known, plural, switch_text
from sizeup.units import format_bytes, format_ns


class SettingFact(Struct, frozen=True):
    """One setting of the machine as a whole."""

    name: str
    """As in ``recommendations.toml``, and mostly as its tool calls it."""
    value: Callable[[Machine], str | None]
    """None where it is unknown."""


def deepest_idle_state(settings: OsSettings) -> IdleState | None:
    """Return the state that an idle CPU needs longest to leave, of those that are enabled and whose time is known."""
    enabled = [state for state in settings.idle_states if not state.disabled and state.exit_latency_ns is not None]
    return max(enabled, key=lambda state: state.exit_latency_ns or 0, default=None)


def _idle(machine: Machine) -> str | None:
    deepest = deepest_idle_state(machine.settings)
    if deepest is None:
        return None
    return f"to {deepest.name} ({format_ns(deepest.exit_latency_ns or 0)})"


def _swap(machine: Machine) -> str | None:
    areas = machine.settings.swap_areas
    if areas is None:
        return None
    sizes = [area.size_bytes for area in areas]
    if not areas:
        return "none"
    size = "size unknown" if None in sizes else format_bytes(sum(each or 0 for each in sizes))
    return f"{size} in {plural(len(areas), 'area')}"


def _mitigations(machine: Machine) -> str | None:
    found = machine.settings.vulnerabilities
    vulnerable = sum(each.status.startswith("Vulnerable") for each in found)
    return f"{vulnerable or 'none'} of {len(found)} vulnerable" if found else None


def _pools(machine: Machine) -> str | None:
    pools = [f"{pool.total} of {format_bytes(pool.page_bytes)}" for pool in machine.huge_pages if pool.total]
    return ", ".join(pools) or ("none" if machine.huge_pages else None)


def _dirty(bytes_limit: int | None, ratio: int | None) -> str | None:
    """The limit in force: the kernel sets the ratio to 0 where bytes are set."""
    return format_bytes(bytes_limit) if bytes_limit else if_known(ratio)


def _group(value: Callable[[ControlGroup], str | None]) -> Callable[[Machine], str | None]:
    return lambda machine: if_known(machine.platform.control_group, value)


def _limit(group: ControlGroup, text: str) -> str | None:
    """Return the limit; ``none`` only where the kernel says so."""
    return text or ("none" if group.limits_known else None)


def _memlock(machine: Machine) -> str | None:
    if machine.platform.memlock_unlimited:
        return "unlimited"
    return if_known(machine.platform.memlock_bytes, format_bytes)


SETTING_FACTS: tuple[SettingFact, ...] = (
    SettingFact("swap", _swap),
    SettingFact("vm.swappiness", lambda machine: if_known(machine.settings.swappiness)),
    SettingFact("vm.dirty_ratio", lambda machine: _dirty(machine.settings.dirty_bytes, machine.settings.dirty_ratio)),
    SettingFact(
        "vm.dirty_background_ratio",
        lambda machine: _dirty(machine.settings.dirty_background_bytes, machine.settings.dirty_background_ratio),
    ),
    SettingFact("vm.zone_reclaim_mode", lambda machine: if_known(machine.settings.zone_reclaim_mode)),
    SettingFact("vm.overcommit_memory", lambda machine: if_known(machine.settings.overcommit_memory)),
    SettingFact("vm.max_map_count", lambda machine: if_known(machine.settings.max_map_count)),
    SettingFact("huge pages", _pools),
    SettingFact("transparent_hugepage", lambda machine: machine.platform.transparent_huge_pages),
    SettingFact("THP defrag", lambda machine: machine.settings.transparent_huge_page_defrag),
    SettingFact("kernel.numa_balancing", lambda machine: switch_text(machine.platform.numa_balancing)),
    SettingFact("governor", lambda machine: machine.platform.governor),
    SettingFact("energy preference", lambda machine: machine.settings.energy_preference),
    SettingFact("energy_perf_bias", lambda machine: if_known(machine.settings.energy_bias)),
    SettingFact("min_perf_pct", lambda machine: if_known(machine.settings.lowest_performance_percent)),
    SettingFact("boost", lambda machine: switch_text(machine.platform.turbo)),
    SettingFact("idle states", _idle),
    SettingFact("clock source", lambda machine: machine.platform.clock_source),
    SettingFact("mitigations", _mitigations),
    SettingFact("microcode", lambda machine: machine.settings.microcode),
    SettingFact("tuned", lambda machine: machine.settings.tuned_profile),
    SettingFact("open files", lambda machine: if_known(machine.settings.open_files)),
    SettingFact("processes", lambda machine: if_known(machine.settings.processes)),
    SettingFact("locked memory", _memlock),
    SettingFact(
        "cgroup memory",
        _group(lambda group: _limit(group, format_bytes(group.memory_bytes) if group.memory_bytes else "")),
    ),
    SettingFact("cgroup CPUs", _group(lambda group: _limit(group, f"{group.cpu_quota:g}" if group.cpu_quota else ""))),
)
"""In the order in which they are shown."""


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
