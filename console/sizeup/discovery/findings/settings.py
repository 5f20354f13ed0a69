"""Findings about settings of the operating system: evidence, consequence, the command and its reverse.

A vendor's recommendation stands in the evidence with its source. Where vendors differ, the finding says so; a setting
about which no vendor says anything is a finding only for what was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from shlex import quote

from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.discovery.findings.catalog import finding, on_host
from sizeup.discovery.os_settings import values_of
from sizeup.discovery.setting_facts import deepest_idle_state
from sizeup.model.finding import Finding
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
        yield finding(
            "swap.used",
            f"{format_bytes(used)} of memory is swapped out",
            (f"{area.path}: {format_bytes(area.used_bytes or 0)} in use" for area in areas if area.used_bytes),
        )
    swappiness = machine.settings.swappiness
    advised = recommendations().get("vm.swappiness", ())
    if areas and swappiness is not None and advised and not any(one.agrees(str(swappiness)) for one in advised):
        yield finding(
            "swap.swappiness",
            f"vm.swappiness is {swappiness}, and swap is in use",
            (f"swap: {', '.join(area.path for area in areas[:_NAMES_SHOWN])}", *source_lines("vm.swappiness")),
            remedy=_sysctl(machine, "vm.swappiness", 1, swappiness),
        )


def zone_reclaim(machine: Machine) -> Iterator[Finding]:
    """A kernel that reclaims the page cache of a node before it uses another node."""
    mode = machine.settings.zone_reclaim_mode
    if mode and len(machine.nodes) > 1:
        yield finding(
            "memory.zone-reclaim",
            f"vm.zone_reclaim_mode is {mode}",
            (f"{len(machine.nodes)} NUMA nodes", *source_lines("vm.zone_reclaim_mode")),
            remedy=_sysctl(machine, "vm.zone_reclaim_mode", 0, mode),
        )


def huge_pages(machine: Machine) -> Iterator[Finding]:
    """Transparent huge pages for every process, on which vendors differ."""
    if machine.platform.transparent_huge_pages == "always":
        yield finding("memory.transparent-huge-pages", evidence=source_lines("transparent_hugepage"), machine=machine)


def numa_balancing(machine: Machine) -> Iterator[Finding]:
    """A kernel that unmaps pages to see which node uses them."""
    nodes = sum(bool(node.pus) for node in machine.nodes)
    if machine.platform.numa_balancing and nodes > 1:
        yield finding(
            "numa.balancing",
            evidence=(
                f"kernel.numa_balancing: on, {nodes} NUMA nodes with CPUs",
                *source_lines("kernel.numa_balancing"),
            ),
            machine=machine,
        )


def power(machine: Machine) -> Iterator[Finding]:
    """Clock and idle states that save power at the cost of latency."""
    settings, platform = machine.settings, machine.platform
    preference = settings.energy_preference
    if _SAVING_PREFERENCES & set(values_of(preference)):
        path = "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference"
        old = f"{preference} in the same way" if len(values_of(preference)) == 1 else "what the command shows now"
        yield finding(
            "cpu.energy-preference",
            f"The processor is set to save power ({preference})",
            (f"energy_performance_preference: {preference}, governor: {platform.governor or 'unknown'}",),
            remedy=on_host(
                machine,
                f"Set it to performance as root (for f in {path}; do echo performance > $f; done). "
                f"To undo, write {old}.",
            ),
            command=f"grep . {path}",
        )
    if platform.turbo is False and not platform.is_guest:
        yield finding("cpu.boost-off", evidence=(f"driver: {platform.frequency_driver or 'unknown'}, boost: off",))
    deepest = deepest_idle_state(settings)
    slow = deepest is not None and (deepest.exit_latency_ns or 0) >= _SLOW_EXIT_NS
    exits = [(one.name, one.exit_latency_ns) for one in settings.idle_states]
    if deepest is not None and slow and not platform.is_guest and _is_server(machine):
        yield finding(
            "cpu.deep-idle",
            f"An idle CPU may need {format_ns(deepest.exit_latency_ns or 0)} to wake ({deepest.name})",
            (
                "idle states: "
                + ", ".join(f"{name} {'unknown' if time is None else format_ns(time)}" for name, time in exits),
                *source_lines("idle states"),
            ),
            remedy=on_host(
                machine,
                f"Limit it as root (cpupower idle-set -D {_SHALLOW_US}), or with force_latency of a TuneD profile. "
                "To undo: cpupower idle-set -E. It costs power, and boost of the other cores.",
            ),
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
        yield finding(
            "cpu.microcode",
            f"The kernel finds no microcode for {plural(len(lacking), 'mitigation')}",
            (
                *(f"{each.name}: {each.status}" for each in lacking),
                f"microcode revision: {machine.settings.microcode or 'unknown'}",
            ),
            machine=machine,
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
        yield finding(
            "storage.scheduler",
            f"{plural(len(fair), 'disk')} with an I/O scheduler that shares the disk between processes",
            (first_of([f"{disk.name} {disk.scheduler}" for disk in fair], _NAMES_SHOWN), *source_lines("scheduler")),
            (f"block:{disk.name}" for disk in fair),
            remedy=on_host(
                machine,
                "Set none for flash and mq-deadline for hard disks (noop and deadline before Linux 5.0) as root (echo "
                f"NAME > {path}), and in a udev rule to keep it. To undo: echo {first.scheduler} > {path}.",
            ),
            command=f"grep . {path}",
        )


def cgroup_memory(machine: Machine) -> Iterator[Finding]:
    """A limit on the memory of this process that is below that of the machine."""
    group = machine.platform.control_group
    if group is None or group.memory_bytes is None or not machine.memory_bytes:
        return
    if group.memory_bytes < machine.memory_bytes:
        yield finding(
            "cgroup.memory-limit",
            f"This control group may use {format_bytes(group.memory_bytes)} of {format_bytes(machine.memory_bytes)}",
            (f"cgroup {group.path or '/'}: memory limit {format_bytes(group.memory_bytes)}",),
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
    file: _RecommendationFile = data_beside(__file__, "recommendations.toml", _RecommendationFile)
    sources = {source.id: source for source in file.source}
    found: dict[str, list[Recommendation]] = {}
    for entry in file.recommendation:
        one = Recommendation(entry.setting, entry.value, entry.accepts, sources[entry.source])
        found.setdefault(entry.setting, []).append(one)
    return {setting: tuple(each) for setting, each in found.items()}


def source_lines(setting: str) -> tuple[str, ...]:
    """Return what each vendor recommends for a setting, with its source."""
    return tuple(each.text for each in recommendations().get(setting, ()))
