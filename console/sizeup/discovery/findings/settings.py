"""Findings about settings of the operating system: evidence, consequence, the command and its reverse.

A vendor's recommendation stands in the evidence with its source. Where vendors differ, the finding says so; a setting
about which no vendor says anything is a finding only for what was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from shlex import quote

from msgspec import Struct

from sizeup.decoding import parse_toml
from sizeup.discovery.findings.remedies import for_guest, on_host
from sizeup.discovery.os_settings import values_of
from sizeup.discovery.setting_facts import deepest_idle_state
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockKind
from sizeup.text import first_of, plural
from sizeup.units import format_bytes, format_ns, whole_number

_SWAPPED_SHARE = 0.01
_SLOW_EXIT_NS = 100_000
"""From here on, leaving an idle state takes as long as a read from a flash drive."""
_FAIR_SCHEDULERS = frozenset({"bfq", "cfq", "anticipatory"})
_NO_DISKS = frozenset({BlockKind.OPTICAL, BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD})
_SAVING_PREFERENCES = frozenset({"power", "balance_power"})
_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_NAMES_SHOWN = 12


def _sysctl(machine: Machine, name: str, value: object, found: object) -> str:
    return on_host(
        machine,
        f"Set it as root (sysctl -w {name}={value}), and in /etc/sysctl.d to keep it. To undo: "
        f"sysctl -w {name}={found}.",
    )


def swap(machine: Machine) -> Iterator[Finding]:
    """Memory that was swapped out, and a kernel that is ready to swap a database out."""
    # Compressed memory is a swap area of another kind: no disk is behind it, and a high swappiness is meant.
    areas = [area for area in machine.settings.swap_areas or () if not area.path.startswith("/dev/zram")]
    used = sum(area.used_bytes or 0 for area in areas)
    if machine.memory_bytes and used > _SWAPPED_SHARE * machine.memory_bytes:
        yield Finding(
            "swap.used",
            Severity.WARNING,
            f"{format_bytes(used)} of memory is swapped out",
            tuple(f"{area.path}: {format_bytes(area.used_bytes or 0)} in use" for area in areas if area.used_bytes),
            "Memory ran short since the start, or the kernel preferred its page cache; access to swapped pages waits "
            "for a disk.",
            "Find out which processes are swapped out before a database takes more of the memory (VmSwap in "
            "/proc/PID/status).",
            ("memory",),
            command="cat /proc/swaps; vmstat 1 10",
        )
    swappiness = machine.settings.swappiness
    advised = recommendations().get("vm.swappiness", ())
    if areas and swappiness is not None and advised and not any(one.agrees(str(swappiness)) for one in advised):
        yield Finding(
            "swap.swappiness",
            Severity.INFO,
            f"vm.swappiness is {swappiness}, and swap is in use",
            (f"swap: {', '.join(area.path for area in areas[:_NAMES_SHOWN])}", *source_lines("vm.swappiness")),
            "With a page cache under pressure, the kernel also swaps out memory of the database.",
            _sysctl(machine, "vm.swappiness", 1, swappiness),
            ("memory",),
            command="grep . /proc/sys/vm/swappiness /proc/swaps",
        )


def zone_reclaim(machine: Machine) -> Iterator[Finding]:
    """A kernel that reclaims the page cache of a node before it uses another node."""
    mode = machine.settings.zone_reclaim_mode
    if mode and len(machine.nodes) > 1:
        yield Finding(
            "memory.zone-reclaim",
            Severity.WARNING,
            f"vm.zone_reclaim_mode is {mode}",
            (f"{len(machine.nodes)} NUMA nodes", *source_lines("vm.zone_reclaim_mode")),
            "A process waits while the kernel reclaims page cache on its node, although other nodes have free memory.",
            _sysctl(machine, "vm.zone_reclaim_mode", 0, mode),
            ("memory",),
            command="grep . /proc/sys/vm/zone_reclaim_mode",
            quantity="memory.remote_latency",
        )


def huge_pages(machine: Machine) -> Iterator[Finding]:
    """Transparent huge pages for every process, on which vendors differ."""
    if machine.platform.transparent_huge_pages == "always":
        yield Finding(
            "memory.transparent-huge-pages",
            Severity.INFO,
            "Transparent huge pages are always on; vendors differ on that",
            source_lines("transparent_hugepage"),
            "The kernel may stall a process to assemble a huge page, and give it more memory than it asked for.",
            on_host(
                machine,
                f"Set what the vendor of your database recommends, as root (echo madvise > {_THP}), and on the kernel "
                f"command line to keep it (transparent_hugepage=madvise). To undo: echo always > {_THP}.",
            ),
            ("memory",),
            command=f"grep . {_THP}",
        )


def numa_balancing(machine: Machine) -> Iterator[Finding]:
    """A kernel that unmaps pages to see which node uses them."""
    nodes = sum(bool(node.pus) for node in machine.nodes)
    if machine.platform.numa_balancing and nodes > 1:
        yield Finding(
            "numa.balancing",
            Severity.INFO,
            "Automatic NUMA balancing is on",
            (f"kernel.numa_balancing: on, {nodes} NUMA nodes with CPUs", *source_lines("kernel.numa_balancing")),
            "The kernel unmaps pages at intervals to see which node uses them; a database that places its own memory "
            "pays for the faults without a gain.",
            on_host(
                machine,
                "Set it as root (sysctl -w kernel.numa_balancing=0), and in /etc/sysctl.d to keep it. To undo, set the "
                "value that the command shows now.",
            ),
            ("memory",),
            command="grep . /proc/sys/kernel/numa_balancing",
            quantity="memory.remote_latency",
        )


def power(machine: Machine) -> Iterator[Finding]:
    """Clock and idle states that save power at the cost of latency."""
    settings, platform = machine.settings, machine.platform
    preference = settings.energy_preference
    if _SAVING_PREFERENCES & set(values_of(preference)):
        path = "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference"
        old = f"{preference} in the same way" if len(values_of(preference)) == 1 else "what the command shows now"
        yield Finding(
            "cpu.energy-preference",
            Severity.WARNING,
            f"The processor is set to save power ({preference})",
            (f"energy_performance_preference: {preference}, governor: {platform.governor or 'unknown'}",),
            "It raises its clock late and lowers it early, so that short requests run at a low clock.",
            on_host(
                machine,
                f"Set it to performance as root (for f in {path}; do echo performance > $f; done). "
                f"To undo, write {old}.",
            ),
            ("cpu",),
            command=f"grep . {path}",
            quantity="memory.local_latency",
        )
    if platform.turbo is False and not platform.is_guest:
        yield Finding(
            "cpu.boost-off",
            Severity.INFO,
            "Boost of the processor's clock is off",
            (f"driver: {platform.frequency_driver or 'unknown'}, boost: off",),
            "Work on few cores cannot use clocks above the base clock, if the processor has any.",
            "Leave it if it was switched off on purpose, for steady times; otherwise switch it on in the firmware, or "
            "in the driver that the command shows.",
            ("cpu",),
            command="grep . /sys/devices/system/cpu/intel_pstate/no_turbo /sys/devices/system/cpu/cpufreq/boost",
            quantity="memory.random_stores",
        )
    deepest = deepest_idle_state(settings)
    slow = deepest is not None and (deepest.exit_latency_ns or 0) >= _SLOW_EXIT_NS
    exits = [(one.name, one.exit_latency_ns) for one in settings.idle_states]
    if deepest is not None and slow and not platform.is_guest and _is_server(machine):
        yield Finding(
            "cpu.deep-idle",
            Severity.INFO,
            f"An idle CPU may need {format_ns(deepest.exit_latency_ns or 0)} to wake ({deepest.name})",
            (
                "idle states: "
                + ", ".join(f"{name} {'unknown' if time is None else format_ns(time)}" for name, time in exits),
                *source_lines("idle states"),
            ),
            "A CPU that went to sleep while a process waited for I/O adds this time to the wait, as far as the load "
            "lets it sleep that deep.",
            on_host(
                machine,
                f"Limit it as root (cpupower idle-set -D {_SHALLOW_US}), or with force_latency of a TuneD profile. "
                "To undo: cpupower idle-set -E. It costs power, and boost of the other cores.",
            ),
            ("cpu",),
            command="grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/name "
            "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency",
            quantity="storage.read_latency",
        )


_SHALLOW_US = 5
"""Disable idle states that take longer to leave; force_latency of Microsoft's profile for TuneD."""


_SERVER_CHASSIS = frozenset({17, 23, 25, 28, 29})
"""Main server, rack mount, multi-system, blade, blade enclosure (SMBIOS 7.4.1)."""
_SERVER_PROCESSORS = re.compile(
    r"\b(Xeon|EPYC|Opteron|Itanium|POWER\d+|Neoverse|Ampere|ThunderX\d?|Kunpeng)", re.IGNORECASE
)


def _is_server(machine: Machine) -> bool:
    """Return whether chassis, sockets or processor show a server; laptops sleep deeply, and nothing waits for that."""
    named = _SERVER_PROCESSORS.search(machine.cpu_model or "") is not None
    return machine.platform.chassis_type in _SERVER_CHASSIS or (machine.socket_count or 0) > 1 or named


def microcode(machine: Machine) -> Iterator[Finding]:
    """Mitigations without the microcode that they need."""
    lacking = [each for each in machine.settings.vulnerabilities if "no microcode" in each.status.lower()]
    if lacking:
        yield Finding(
            "cpu.microcode",
            Severity.WARNING,
            f"The kernel finds no microcode for {plural(len(lacking), 'mitigation')}",
            (
                *(f"{each.name}: {each.status}" for each in lacking),
                f"microcode revision: {machine.settings.microcode or 'unknown'}",
            ),
            "The kernel attempts these mitigations and pays for them, but the vulnerability stays.",
            for_guest(
                machine,
                "Install the current microcode (package microcode_ctl or intel-microcode), or update the firmware, and "
                "reboot. Measure before and after it: the mitigations may cost more then.",
                "Update the microcode of the host, and have the hypervisor show the guest what it adds; then restart "
                "the guest. Measure before and after it: the mitigations may cost more then.",
            ),
            ("cpu",),
            command="grep . /sys/devices/system/cpu/vulnerabilities/*; grep -m1 microcode /proc/cpuinfo",
        )


def schedulers(machine: Machine) -> Iterator[Finding]:
    """Disks whose requests are held back to share the disk fairly between processes."""
    fair = [
        disk
        for disk in machine.block_devices
        if disk.scheduler in _FAIR_SCHEDULERS and disk.kind not in _NO_DISKS and disk.size_bytes != 0
    ]
    if fair:
        first = fair[0]
        path = f"/sys/block/{quote(first.name)}/queue/scheduler"
        yield Finding(
            "storage.scheduler",
            Severity.INFO,
            f"{plural(len(fair), 'disk')} with an I/O scheduler that shares the disk between processes",
            (first_of([f"{disk.name} {disk.scheduler}" for disk in fair], _NAMES_SHOWN), *source_lines("scheduler")),
            "It may let the disk idle for a process, and takes CPU time for each request; both cost IOPS.",
            on_host(
                machine,
                "Set none for flash and mq-deadline for hard disks (noop and deadline before Linux 5.0) as root (echo "
                f"NAME > {path}), and in a udev rule to keep it. To undo: echo {first.scheduler} > {path}.",
            ),
            tuple(f"block:{disk.name}" for disk in fair),
            command=f"grep . {path}",
            quantity="storage.random_iops",
        )


def cgroup_memory(machine: Machine) -> Iterator[Finding]:
    """A limit on the memory of this process that is below that of the machine."""
    group = machine.platform.control_group
    if group is None or group.memory_bytes is None or not machine.memory_bytes:
        return
    if group.memory_bytes < machine.memory_bytes:
        yield Finding(
            "cgroup.memory-limit",
            Severity.INFO,
            f"This control group may use {format_bytes(group.memory_bytes)} of {format_bytes(machine.memory_bytes)}",
            (f"cgroup {group.path or '/'}: memory limit {format_bytes(group.memory_bytes)}",),
            "A process started here is killed or swaps beyond this limit, page cache included; probes allocate less.",
            "Nothing to do if the database runs in another control group; otherwise raise the limit of its service "
            "(MemoryMax of systemd, or the limit of the container).",
            ("memory",),
            command="cat /proc/self/cgroup",
        )


class RecommendationSource(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of a vendor."""

    id: str
    product: str
    title: str
    url: str
    doc_date: str
    """What the page says of its own age: an ISO date, or ``undated``."""


class Recommendation(Struct, frozen=True):
    """One vendor's value of one setting."""

    setting: str
    """As in ``setting_facts``."""
    value: str
    accepts: tuple[str, ...]
    source: RecommendationSource

    def agrees(self, found: str) -> bool:
        """Return whether a value as the kernel writes it is what the vendor recommends."""
        return any(_accepts(each, found) for each in self.accepts)

    @property
    def text(self) -> str:
        """Return it as a sentence for the evidence of a finding."""
        dated = "" if self.source.doc_date == "undated" else f", {self.source.doc_date}"
        return f"{self.source.product} recommends {self.value} ({self.source.url}{dated})"


def _accepts(accepted: str, found: str) -> bool:
    low, dots, high = accepted.partition("..")
    if not dots:
        return found == accepted
    number, lowest, highest = whole_number(found), int(low), int(high)
    return number is not None and lowest <= number <= highest


class _RecommendationEntry(Struct, frozen=True, forbid_unknown_fields=True):
    setting: str
    source: str
    accepts: tuple[str, ...]
    value: str


class _RecommendationFile(Struct, frozen=True, forbid_unknown_fields=True):
    checked: date
    source: tuple[RecommendationSource, ...]
    recommendation: tuple[_RecommendationEntry, ...]


@cache
def recommendations() -> dict[str, tuple[Recommendation, ...]]:
    """Return all recommendations by setting, in the order of the file."""
    # By path: importlib.resources takes longer to import than the file to read.
    text = Path(__file__).with_name("recommendations.toml").read_text(encoding="utf-8")
    file: _RecommendationFile = parse_toml(text, "recommendations.toml", "recommendations", _RecommendationFile)
    sources = {source.id: source for source in file.source}
    found: dict[str, list[Recommendation]] = {}
    for entry in file.recommendation:
        one = Recommendation(entry.setting, entry.value, entry.accepts, sources[entry.source])
        found.setdefault(entry.setting, []).append(one)
    return {setting: tuple(each) for setting, each in found.items()}


def source_lines(setting: str) -> tuple[str, ...]:
    """Return what each vendor recommends for a setting, with its source."""
    return tuple(each.text for each in recommendations().get(setting, ()))
