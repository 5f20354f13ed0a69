"""Kinds of cores of hybrid machines."""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.discovery.sysroot import Sysroot
from sizeup.procfs.lists import parse_cpulist

_KINDS = (("cpu_core", "performance"), ("cpu_atom", "efficient"), ("cpu_lowpower", "low-power"))

_LEVELS: tuple[tuple[str, Mapping[int, tuple[str, ...]]], ...] = (
    ("cpu_capacity", {2: ("performance", "efficient"), 3: ("prime", "performance", "efficient")}),
    # Cores of one kind may have two base clocks too (Speed Select), so that these words claim nothing else.
    ("cpufreq/base_frequency", {2: ("higher-clocked", "lower-clocked")}),
)
"""Files whose levels tell kinds of cores apart, with the words for two or three."""


def read_kinds(sysroot: Sysroot, online: tuple[int, ...]) -> dict[int, str]:
    """Return the kind of core of each CPU of a hybrid machine; empty if all are alike."""
    kinds: dict[int, str] = {}
    for device, kind in _KINDS:
        for cpu in sysroot.parsed(f"/sys/devices/{device}/cpus", parse_cpulist) or ():
            kinds[cpu] = kind
    if len(set(kinds.values())) > 1:
        return kinds
    for file, names in _LEVELS:
        if found := _kinds_by_level(sysroot, online, file, names):
            return found
    return {}


def _kinds_by_level(
    sysroot: Sysroot, online: tuple[int, ...], file: str, names: Mapping[int, tuple[str, ...]]
) -> dict[int, str]:
    """Return the kind of core of each CPU by the levels of the values in a file of each; empty if all are alike."""
    values: dict[int, int | None] = {}
    for cpu in online:
        values[cpu] = sysroot.integer(f"/sys/devices/system/cpu/cpu{cpu}/{file}")
        if values[online[0]] is None:
            return {}
    # Arm binned cores of one kind differ by a few hundredths; kinds differ by a quarter and more.
    levels = sorted({value for value in values.values() if value is not None}, reverse=True)
    steps: list[int] = []
    for level in levels:
        if not steps or level < 0.8 * steps[-1]:
            steps.append(level)
    if len(steps) < 2:
        return {}
    kinds: dict[int, str] = {}
    words = names.get(len(steps))
    for cpu, value in values.items():
        if value is not None:
            at = max(i for i, step in enumerate(steps) if value <= step)
            kinds[cpu] = words[at] if words else f"{file.rpartition('_')[2]}-{steps[at]}"
    return kinds
