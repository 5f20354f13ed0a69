"""Findings about processors, clock source, limits, firmware and contradictory topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from shlex import quote

from sizeup.discovery.caches import overlaps
from sizeup.discovery.findings.catalog import finding, for_guest, on_host
from sizeup.discovery.os_settings import values_of
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine
from sizeup.procfs.lists import format_list
from sizeup.text import plural
from sizeup.units import as_percent

_STEAL_SHARE = 0.01
_SLOW_CLOCKS = frozenset({"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen"})

_CLOCKS = "/sys/devices/system/clocksource/clocksource0"
_CLOCK_LOG = "dmesg | grep -iE 'clocksource|tsc'"


def clock_source(machine: Machine) -> Iterator[Finding]:
    """A clock that costs a system call, or worse a read over the bus."""
    source, sources = machine.platform.clock_source, machine.platform.clock_sources
    if source not in _SLOW_CLOCKS:
        return
    faster = next((name for name in sources if name not in _SLOW_CLOCKS), None)  # the kernel lists the best first
    if faster is not None:
        switch = f"echo {quote(faster)} > {_CLOCKS}/current_clocksource"
        remedy = on_host(
            machine, f"Find out why the kernel does not use {faster}, then switch to it as root ({switch})."
        )
        command = _CLOCK_LOG
    elif sources:
        remedy = "No faster one is available: " + for_guest(
            machine,
            "check the kernel log for clock sources that were rejected, and why.",
            "have the hypervisor offer its own clock or a stable TSC, and check the kernel log for rejected ones.",
        )
        command = _CLOCK_LOG
    else:
        remedy = "List the available clock sources, and switch to one that needs no system call."
        command = f"cat {_CLOCKS}/available_clocksource"
    yield finding(
        "clock.slow-source",
        f"Clock source {source} usually needs a system call",
        (f"current: {source}", f"available: {' '.join(sources) or 'unknown'}"),
        remedy=f"{remedy} Measure it with a clock probe.",
        command=command,
    )


def processors(machine: Machine) -> Iterator[Finding]:
    """Threads or clocks that deliver less than their number suggests."""
    platform = machine.platform
    if platform.smt in ("off", "forceoff"):
        yield finding(
            "cpu.smt-off" if platform.smt == "off" else "cpu.smt-off/forced",
            evidence=(f"SMT control: {platform.smt}",),
            machine=machine,
        )
    offline = tuple(pu.cpu for pu in machine.pus if not pu.online)
    if offline and platform.smt not in ("off", "forceoff"):
        yield finding(
            "cpu.offline",
            f"{plural(len(offline), 'CPU')} {'is' if len(offline) == 1 else 'are'} present but offline",
            (f"offline: {format_list(offline)}",),
            remedy=on_host(
                machine,
                f"Bring them online as root (chcpu -e {format_list(offline)}), unless they were taken offline on "
                "purpose.",
            ),
        )
    # intel_pstate and amd-pstate steer by load under this name, others hold the lowest frequency.
    governors = values_of(platform.governor)
    if "powersave" in governors and platform.frequency_driver not in (
        None, "intel_pstate", "amd-pstate-epp", "amd-pstate",
    ):  # fmt: skip
        yield finding(
            "cpu.powersave",
            f"The powersave governor holds {'the' if len(governors) == 1 else 'some'} CPUs at their lowest frequency",
            (f"governor: {platform.governor}, driver: {platform.frequency_driver}",),
            machine=machine,
        )
    if platform.steal_share is not None and platform.steal_share > _STEAL_SHARE:
        yield finding(
            "cpu.steal",
            f"Steal time is {as_percent(platform.steal_share, '.1f')} of CPU time since boot",
            (f"stolen since boot: {as_percent(platform.steal_share, '.1f')}",),
        )


def restricted(machine: Machine) -> Iterator[Finding]:
    """Fewer CPUs allowed than online: right for placing, no help with a license."""
    counts = machine.pu_counts
    if counts.allowed >= counts.online:
        return
    allowed = tuple(pu.cpu for pu in machine.pus if pu.allowed)
    group = machine.platform.control_group
    evidence = [
        f"CPUs that sizeup may use: {format_list(allowed)} ({len(allowed)} in total)",
        f"online CPUs: {counts.online} in total",
    ]
    if machine.platform.affinity is not None:
        evidence.append(f"CPU affinity of sizeup (taskset): {format_list(machine.platform.affinity)}")
    if group is not None and group.cpus is not None:
        evidence.append(f"cpuset of cgroup {group.path or '/'}: {format_list(group.cpus)}")
    yield finding(
        "affinity.restricted",
        f"Only {counts.allowed} of {counts.online} online CPUs are available to sizeup",
        tuple(evidence),
    )


def _crossing(
    name: str, ones: Iterable[tuple[int, ...]], other_name: str, others: Iterable[tuple[int, ...]]
) -> Iterator[str]:
    """Sets of two kinds that overlap without one holding the other."""
    theirs = [set(cpus) for cpus in others]
    for cpus in ones:
        own = set(cpus)
        for other in theirs:
            if own & other and not own <= other and not other <= own:
                yield f"{name} {format_list(cpus)} partly overlaps {other_name} {format_list(tuple(other))}"


def contradictions(machine: Machine) -> Iterator[str]:
    """Where the firmware contradicts itself, in words; of an edited capture there may be thousands."""
    yield from machine.contradictions
    packages = [package.pus for package in machine.packages]
    nodes = [node.pus for node in machine.nodes if node.pus]
    yield from (
        f"L{one.level} {one.kind.value} caches of CPUs {format_list(one.shared_by)} and "
        f"CPUs {format_list(other.shared_by)} overlap"
        for one, other in overlaps(machine.caches)
    )
    shared = [cache.shared_by for cache in machine.caches if len(cache.shared_by) > 1]
    yield from _crossing("cache of CPUs", dict.fromkeys(shared), "socket of CPUs", packages)
    yield from _crossing("NUMA node of CPUs", nodes, "socket of CPUs", packages)
    if len(nodes) > 1 and len(set(nodes)) == 1:
        yield f"all {len(nodes)} NUMA nodes list the same CPUs, {format_list(nodes[0])}"


def firmware(machine: Machine) -> Iterator[Finding]:
    """Contradictions, as one finding."""
    lines = dict.fromkeys(islice(contradictions(machine), 100))
    if lines:
        yield finding("firmware.contradiction", evidence=list(lines)[:10], machine=machine)
