"""Findings about processors, clock source, limits, firmware and contradictory topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from sizeup.discovery.caches import overlaps
from sizeup.discovery.findings.remedies import for_guest, on_host
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.procfs.lists import format_list

_STEAL_SHARE = 0.01
_SLOW_CLOCKS = frozenset({"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen"})

_CLOCKS = "/sys/devices/system/clocksource/clocksource0"


def clock_source(machine: Machine) -> Iterator[Finding]:
    """A clock that costs a system call, or worse a read over the bus."""
    source, sources = machine.platform.clock_source, machine.platform.clock_sources
    if source not in _SLOW_CLOCKS:
        return
    faster = next((name for name in sources if name not in _SLOW_CLOCKS), None)  # the kernel lists the best first
    if faster is not None:
        remedy = on_host(machine, f"Find out why the kernel does not use {faster} (dmesg), then switch to it.")
        command = f"echo {quote(faster)} > {_CLOCKS}/current_clocksource"
    elif sources:
        remedy = "No faster one is available: " + for_guest(
            machine,
            "find out in the kernel's messages why it refused one.",
            "have the hypervisor offer its own clock or a stable TSC; the kernel's messages tell what it refused.",
        )
        command = "dmesg | grep -iE 'clocksource|tsc'"
    else:
        remedy = "See which clock sources are available, and switch to one that needs no system call."
        command = f"cat {_CLOCKS}/available_clocksource"
    yield Finding(
        "clock.slow-source",
        Severity.WARNING,
        f"the clock source is {source}, which is slow to read",
        (f"current: {source}", f"available: {' '.join(sources) or 'unknown'}"),
        "Databases read the clock around every wait, and each reading costs a system call, a microsecond or more.",
        f"{remedy} Measure with the clock probe.",
        ("clock",),
        command=command,
        quantity="clock.gettimeofday",
    )


def processors(machine: Machine) -> Iterator[Finding]:
    """Threads or clocks that are less than they look."""
    platform = machine.platform
    if platform.smt in ("off", "forceoff"):
        yield Finding(
            "cpu.smt-off", Severity.INFO, "simultaneous multithreading is switched off",
            (f"SMT control: {platform.smt}",),
            "Threads are half of what the data sheet says; cores, and licenses by core, stay the same.",
            on_host(machine, "Intended on license-bound machines; else switch it on.") if platform.smt == "off"
            else "Intended on license-bound machines; else drop nosmt=force from the kernel's command line and reboot: "
            "nothing switches it on before.", ("cpu",),
            command="echo on > /sys/devices/system/cpu/smt/control" if platform.smt == "off" else "cat /proc/cmdline",
            quantity="memory.random_stores",
        )  # fmt: skip
    offline = tuple(pu.cpu for pu in machine.pus if not pu.online)
    if offline and platform.smt not in ("off", "forceoff"):
        yield Finding(
            "cpu.offline", Severity.INFO, f"CPUs present but offline: {len(offline)}",
            (f"offline: {format_list(offline)}",),
            "They do no work; most license metrics count them unless the firmware disables them.",
            on_host(machine, "Bring them online if it was not on purpose."), ("cpu",),
            command=f"chcpu -e {format_list(offline)}",
        )  # fmt: skip
    # intel_pstate and amd-pstate steer by load under this name; the others nail the clock down.
    if platform.governor == "powersave" and (platform.frequency_driver or "") not in (
        "intel_pstate", "amd-pstate-epp", "amd-pstate",
    ):  # fmt: skip
        yield Finding(
            "cpu.powersave", Severity.WARNING, "the frequency governor keeps the lowest clock",
            (f"governor: powersave, driver: {platform.frequency_driver or 'unknown'}",),
            "The CPUs stay at their lowest clock whatever the load.",
            on_host(machine, "Choose the performance governor."), ("cpu",),
            command="cpupower frequency-set -g performance",
            quantity="memory.local_latency",
        )  # fmt: skip
    if platform.steal_share is not None and platform.steal_share > _STEAL_SHARE:
        yield Finding(
            "cpu.steal", Severity.WARNING, "the hypervisor gives this machine's CPU time to others",
            (f"stolen since boot: {platform.steal_share:.1%}",),
            "Measurements here are of a share of the hardware, and change with the neighbors.",
            "Ask for dedicated CPUs, or read all figures as lower bounds.", ("cpu",),
            command="vmstat 1 10",
            quantity="memory.random_stores",
        )  # fmt: skip


def restricted(machine: Machine) -> Iterator[Finding]:
    """Fewer CPUs allowed than online: right for placing, no help with a license."""
    counts = machine.pu_counts
    if counts.allowed >= counts.online:
        return
    group = machine.platform.control_group
    evidence = [
        f"allowed: {format_list(tuple(pu.cpu for pu in machine.pus if pu.allowed))}",
        f"online: {counts.online}",
    ]
    if machine.platform.affinity is not None:
        evidence.append(f"affinity (taskset): {format_list(machine.platform.affinity)}")
    if group is not None and group.cpus is not None:
        evidence.append(f"cpuset of {group.path or '/'}: {format_list(group.cpus)}")
    yield Finding(
        "affinity.restricted",
        Severity.INFO,
        f"this process may use {counts.allowed} of {counts.online} CPUs",
        tuple(evidence),
        "Probes measure inside it. Affinity and cpusets are soft partitioning: they do not shrink a license.",
        "Start without taskset or cpuset to judge the whole machine.",
        ("cpu",),
        command="taskset -cp $$; cat /proc/self/cgroup",
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
                yield f"{name} {format_list(cpus)} and {other_name} {format_list(tuple(other))} overlap in part"


def contradictions(machine: Machine) -> tuple[str, ...]:
    """Where the firmware contradicts itself, in words."""
    found = list(machine.contradictions)
    packages = [package.pus for package in machine.packages]
    nodes = [node.pus for node in machine.nodes if node.pus]
    found.extend(
        f"L{one.level} {one.kind.value} caches overlap: {format_list(one.shared_by)}, {format_list(other.shared_by)}"
        for one, other in overlaps(machine.caches)
    )
    shared = [cache.shared_by for cache in machine.caches if len(cache.shared_by) > 1]
    found.extend(_crossing("cache of", dict.fromkeys(shared), "socket", packages))
    found.extend(_crossing("node of", nodes, "socket", packages))
    if len(nodes) > 1 and len(set(nodes)) == 1:
        found.append(f"all {len(nodes)} nodes claim the same CPUs, {format_list(nodes[0])}")
    return tuple(dict.fromkeys(found))


def firmware(machine: Machine) -> Iterator[Finding]:
    """Contradictions, as one finding."""
    lines = contradictions(machine)
    if lines:
        yield Finding(
            "firmware.contradiction",
            Severity.WARNING,
            "the firmware contradicts itself about what shares what",
            lines[:10],
            "Counts of sockets, caches or nodes may be wrong, here and in every other tool.",
            for_guest(
                machine,
                "Update the firmware; check the counts against the data sheet, and set them by hand for sizing.",
                "Correct the CPU topology in the hypervisor's settings of this machine, and set the counts by hand for "
                "sizing.",
            ),
            ("cpu",),
            command="lscpu --extended; dmesg | grep -i firmware",
            quantity="memory.core_to_core_latency",
        )
