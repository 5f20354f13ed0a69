"""Settings that matter to databases: memory, power, vulnerabilities, limits.

Documentation/admin-guide/sysctl/vm.rst, Documentation/ABI/testing/sysfs-devices-system-cpu, cpuidle.rst, proc(5).
"""

from __future__ import annotations

import re
from collections import Counter

from sizeup.discovery.cpus import CPU
from sizeup.discovery.sysroot import Sysroot, numbers_in
from sizeup.model.machine import IdleState, Limits, OsSettings, Vulnerability
from sizeup.procfs.meminfo import parse_swap_areas
from sizeup.procfs.process import parse_capabilities, parse_hard_limits, parse_limits
from sizeup.text import one_line

_POLICY = re.compile(r"policy\d{1,5}")
_POLICIES_LIMIT = 8192
_POLICY_TEXT_LIMIT, _SHOWN = 64, 8
_VM = "/proc/sys/vm"
_STATE = re.compile(r"state(\d{1,3})")
_TEXT_LIMIT = 200
_VULNERABILITIES_LIMIT = 128


def policy_setting(sysroot: Sysroot, cpu: int, name: str) -> str | None:
    """Return a setting of cpufreq, ``performance``; where policies differ, each with how many have it, the most first.

    Kernels and captures without policies have that of ``cpu`` alone.
    """
    own = sysroot.line(f"{CPU}/cpu{cpu}/cpufreq/{name}")
    policies = [policy for policy in sysroot.names(f"{CPU}/cpufreq") if _POLICY.fullmatch(policy)][:_POLICIES_LIMIT]
    counts = Counter(text for policy in policies if (text := sysroot.line(f"{CPU}/cpufreq/{policy}/{name}")))
    if len(counts) < 2:
        found = next(iter(counts), own)
        return None if found is None else one_line(found, _POLICY_TEXT_LIMIT) or None
    total = sum(counts.values())
    return ", ".join(
        f"{one_line(text, _POLICY_TEXT_LIMIT)} ({count} of {total} policies)"
        for text, count in counts.most_common(_SHOWN)
    )


def values_of(setting: str | None) -> tuple[str, ...]:
    """Return the values in a text of ``policy_setting``: one, or those of the policies that differ."""
    return () if setting is None else tuple(part.partition(" (")[0] for part in setting.split(", "))


def bracketed(text: str | None) -> str | None:
    """Return the chosen word of ``always [madvise] never``."""
    match = re.search(r"\[([\w+-]+)\]", text or "")
    return match[1] if match else None


def _short(text: str | None) -> str | None:
    return None if text is None else one_line(text, _TEXT_LIMIT) or None


def read_os_settings(sysroot: Sysroot, cpu: int) -> OsSettings:
    """Return the settings in force; those of one CPU are of ``cpu``."""
    has_vm, has_clock = sysroot.exists(_VM), sysroot.exists(f"{CPU}/cpu{cpu}/cpufreq")
    swaps, limits = sysroot.read("/proc/swaps"), sysroot.read("/proc/self/limits") or ""
    soft, hard = parse_limits(limits), parse_hard_limits(limits)
    idle_states = []
    base = f"{CPU}/cpu{cpu}/cpuidle"
    for state in numbers_in(sysroot.names(base), _STATE):
        microseconds = sysroot.count(f"{base}/state{state}/latency", 1 << 40)
        idle_states.append(
            IdleState(
                name=_short(sysroot.line(f"{base}/state{state}/name")) or f"state{state}",
                exit_latency_ns=None if microseconds is None else microseconds * 1000,
                disabled=sysroot.flag(f"{base}/state{state}/disable"),
            )
        )
    files = sysroot.names(f"{CPU}/vulnerabilities")[:_VULNERABILITIES_LIMIT]
    lines = ((name, sysroot.line(f"{CPU}/vulnerabilities/{name}")) for name in files)

    def number(name: str) -> int | None:
        return sysroot.integer(f"{_VM}/{name}") if has_vm else None

    return OsSettings(
        swap_areas=None if swaps is None else parse_swap_areas(swaps),
        swappiness=number("swappiness"),
        dirty_ratio=number("dirty_ratio"),
        dirty_background_ratio=number("dirty_background_ratio"),
        dirty_bytes=number("dirty_bytes"),
        dirty_background_bytes=number("dirty_background_bytes"),
        zone_reclaim_mode=number("zone_reclaim_mode"),
        overcommit_memory=number("overcommit_memory"),
        max_map_count=number("max_map_count"),
        transparent_huge_page_defrag=bracketed(sysroot.line("/sys/kernel/mm/transparent_hugepage/defrag")),
        energy_preference=policy_setting(sysroot, cpu, "energy_performance_preference") if has_clock else None,
        energy_bias=sysroot.integer(f"{CPU}/cpu{cpu}/power/energy_perf_bias") if has_clock else None,
        lowest_performance_percent=sysroot.integer(f"{CPU}/intel_pstate/min_perf_pct") if has_clock else None,
        idle_driver=_short(sysroot.line(f"{CPU}/cpuidle/current_driver")) if idle_states else None,
        idle_states=tuple(idle_states),
        vulnerabilities=tuple(
            Vulnerability(name, one_line(line, _TEXT_LIMIT)) for name, line in lines if line is not None
        ),
        microcode=_short(sysroot.line(f"{CPU}/cpu{cpu}/microcode/version")),
        tuned_profile=_short(sysroot.line("/etc/tuned/active_profile")),
        open_files=soft.get("Max open files"),
        open_files_hard=hard.get("Max open files"),
        processes=soft.get("Max processes"),
    )


def read_limits(sysroot: Sysroot) -> Limits:
    """What this process may do; Documentation/admin-guide/sysctl/{fs,kernel}.rst and proc(5)."""
    return Limits(
        capabilities=parse_capabilities(sysroot.read("/proc/self/status") or ""),
        open_files=parse_limits(sysroot.read("/proc/self/limits") or "").get("Max open files"),
        aio_requests_max=sysroot.integer("/proc/sys/fs/aio-max-nr"),
        aio_requests_used=sysroot.integer("/proc/sys/fs/aio-nr"),
        io_uring_disabled=sysroot.integer("/proc/sys/kernel/io_uring_disabled"),
        perf_event_paranoid=sysroot.integer("/proc/sys/kernel/perf_event_paranoid"),
    )
