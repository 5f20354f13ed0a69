"""Kinds of cores of hybrid machines."""

from __future__ import annotations

from sizeup.discovery.sysroot import Sysroot
from sizeup.procfs.lists import parse_cpulist

_KINDS = (("cpu_core", "performance"), ("cpu_atom", "efficient"), ("cpu_lowpower", "low-power"))


def read_kinds(sysroot: Sysroot, online: tuple[int, ...]) -> dict[int, str]:
    """Return the kind of core of each CPU of a hybrid machine; empty if all are alike."""
    kinds: dict[int, str] = {}
    for device, kind in _KINDS:
        for cpu in sysroot.parsed(f"/sys/devices/{device}/cpus", parse_cpulist) or ():
            kinds[cpu] = kind
    if len(set(kinds.values())) > 1:
        return kinds
    capacity = {cpu: sysroot.integer(f"/sys/devices/system/cpu/cpu{cpu}/cpu_capacity") for cpu in online[:1]}
    if not online or capacity[online[0]] is None:
        return {}
    for cpu in online[1:]:
        capacity[cpu] = sysroot.integer(f"/sys/devices/system/cpu/cpu{cpu}/cpu_capacity")
    # Arm binned cores of one kind differ by a few hundredths; kinds differ by a quarter and more.
    levels = sorted({value for value in capacity.values() if value is not None}, reverse=True)
    steps: list[int] = []
    for level in levels:
        if not steps or level < 0.8 * steps[-1]:
            steps.append(level)
    if len(steps) < 2:
        return {}
    names = {2: ("performance", "efficient"), 3: ("prime", "performance", "efficient")}.get(len(steps))
    for cpu, value in capacity.items():
        if value is not None:
            at = max(i for i, step in enumerate(steps) if value <= step)
            kinds[cpu] = names[at] if names else f"capacity-{steps[at]}"
    return kinds
