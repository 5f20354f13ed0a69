"""What a machine is, as sections of facts and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from string import ascii_letters

from sizeup.charts.table import Column, Table
from sizeup.discovery.cpus import CORES, SOCKETS
from sizeup.discovery.findings.memory import growth_by_node
from sizeup.discovery.numa import HUGE_PAGES
from sizeup.model.machine import Machine
from sizeup.model.numa import NUMA, HugePages, MemoryKind, NumaNode
from sizeup.procfs.lists import format_list
from sizeup.text import counted, if_known, plural
from sizeup.units import as_percent, format_bytes, format_hz
from sizeup.views.machine import device_sections as devices
from sizeup.views.machine import hardware_sections as hardware
from sizeup.views.machine.facts import (
    KIND_TEXTS,
    access_text,
    clock_text,
    count_unknown,
    memory_unknown,
    no_cpus_text,
    nodes_unknown,
    offline_text,
)
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown
from sizeup.views.machine.topology import cache_level, cache_size
from sizeup.views.machine.virtualization import UNPROVEN, cloud_text, runs_on

_MOST_NUMBERS, _MOST_LETTERS = 16, 64
"""Nodes whose distances fit into 80 columns, as numbers and as letters."""
_CACHED = " in front of slower memory: what is used beyond the cache runs at the speed of that memory"
"""Of a memory-side cache: the kernel places data in the memory behind it alone (admin-guide/mm/numaperf.rst)."""


def cache_summary(machine: Machine) -> tuple[str, ...]:
    """One text a level and kind, ``L2 2 MiB x 16``; sizes that differ are listed."""
    groups: dict[tuple[int, str], Counter[str]] = {}
    for cache in machine.caches:
        groups.setdefault((cache.level, cache_level(cache)), Counter())[cache_size(cache)] += 1
    return tuple(
        f"{name} {' and '.join(f'{size} × {count}' for size, count in sizes.most_common())}"
        for (_, name), sizes in groups.items()
    )


_NO_CLOCK = "unknown; give it with sizeup size --set machine.ghz=..."


def processor_section(machine: Machine) -> Section:
    """Sockets, cores, threads, clock, caches."""
    modules = len({core.module for core in machine.cores if core.module is not None})
    counts = [counted(machine.socket_count, "socket")]
    if len(machine.dies) > len(machine.packages):
        counts.append(plural(len(machine.dies), "die"))
    counts.append(counted(machine.core_count, "core") + (f" in {plural(modules, 'module')}" if modules else ""))
    pus = machine.pu_counts
    counts.append(plural(pus.online, "thread") + f" ({pus.allowed} allowed to sizeup)" * (pus.allowed != pus.online))
    counts += filter(None, (offline_text(pus),))  # it is unknown whether those are threads or cores
    facts = [
        ("model", machine.cpu_model or "unknown"),
        ("counts", ", ".join(counts) if machine.pus else f"{UNKNOWN}: no CPU could be read"),
        ("base clock", _NO_CLOCK if machine.base_clock is None else clock_text(machine.base_clock)),
    ]
    if machine.pus:
        unknown = {SOCKETS: machine.socket_count, CORES: machine.core_count}
        facts.extend((subject, count_unknown(machine, subject)) for subject, count in unknown.items() if count is None)
    kinds = Counter((core.kind, core.base_hz, core.max_hz) for core in machine.cores if core.kind is not None)
    texts = []
    for (kind, base, highest), count in kinds.items():
        named = (("base", base), ("at most", highest))
        clocks = ", ".join(f"{name} {format_hz(hertz)}" for name, hertz in named if hertz is not None)
        texts.append(f"{count} {kind}" + (f" ({clocks})" if clocks else ""))
    if texts:
        facts.append(("core kinds", ", ".join(texts)))
    facts.append(("caches", ", ".join(cache_summary(machine)) or "not reported"))
    return Section("Processor", tuple(facts))


def _huge_pages_text(pools: tuple[HugePages, ...]) -> str:
    used = [f"{pool.total - pool.free}/{pool.total} of {format_bytes(pool.page_bytes)}" for pool in pools if pool.total]
    return ", ".join(used) or ("none" if pools else "-")


def _by_nodes(nodes: Sequence[NumaNode], write: Callable[[NumaNode], str | None], more: str = "") -> str | None:
    """Return what is known of nodes, equal ones together: ``nodes 0-1: DRAM; node 2: CXL``, and behind it ``more``."""
    alike: dict[str, list[int]] = {}
    for node in nodes:
        if (text := write(node)) is not None:
            alike.setdefault(text, []).append(node.os_id)
    parts = (
        f"{'node' if len(ids) == 1 else 'nodes'} {format_list(tuple(sorted(ids)))}: {text}"
        for text, ids in alike.items()
    )
    return f"{'; '.join(parts)}{more}" if alike else None


def memory_section(machine: Machine) -> Section:
    """Memory as a whole and by node, free memory beside it."""
    nodes, pools = machine.nodes, machine.huge_pages
    size, offline = if_known(machine.memory_bytes, format_bytes), machine.memory_offline_bytes
    available = f", {size_or_unknown(machine.memory_available_bytes)} available"
    facts = [("memory", f"{size}{available}" if size else memory_unknown(machine))]
    facts += [("offline", f"{format_bytes(offline)} (lsmem)")] if offline else []
    gap = next((gap for gap in machine.gaps if gap.subject.startswith(HUGE_PAGES)), None)
    if gap is not None and not any(pool.total for pool in pools):
        facts.append(("huge pages", f"{UNKNOWN} ({gap.subject}: {gap.reason})"))
    else:
        facts.append(("huge pages", f"{_huge_pages_text(pools) if pools else 'none'} in use"))
    if not machine.nodes:
        return Section("Memory", (*facts, (NUMA, nodes_unknown(machine) or "not NUMA")))
    named = any(node.kind not in (MemoryKind.UNKNOWN, MemoryKind.NONE) for node in nodes)
    tiers = nodes if len({node.tier for node in nodes}) > 1 else ()
    optional = (
        ("no CPUs", _by_nodes(nodes, lambda node: None if node.pus else no_cpus_text(node))),
        ("kind", _by_nodes(nodes, lambda node: KIND_TEXTS[node.kind]) if named else f"{UNKNOWN}: no driver reports it"),
        ("tiers", _by_nodes(tiers, lambda node: if_known(node.tier, "tier {}".format))),
        (
            "HMAT",
            _by_nodes(nodes, lambda node: if_known(node.access, access_text), " (of the nearest CPUs, not measured)"),
        ),
        ("memory cache", _by_nodes(nodes, lambda node: if_known(node.memory_side_cache_bytes, format_bytes), _CACHED)),
    )
    facts += [(label, text) for label, text in optional if text]
    rows = tuple(
        (
            str(node.os_id),
            format_list(node.pus) or "-",
            size_or_unknown(node.memory_bytes),
            size_or_unknown(node.free_bytes),
            as_percent(node.free_bytes / node.memory_bytes)
            if node.free_bytes is not None and node.memory_bytes
            else "-",
            _huge_pages_text(node.huge_pages),
        )
        for node in machine.nodes
    )
    columns = (
        Column("node", numeric=True), Column("CPUs"), Column("memory", numeric=True), Column("free", numeric=True),
        Column("", numeric=True), Column("huge pages"),
    )  # fmt: skip
    return Section("Memory", tuple(facts), Table("NUMA nodes", columns, rows))


def platform_section(machine: Machine) -> Section:
    """Kernel, what is around it, clock source, settings."""
    platform = machine.platform
    container = f", in a container ({platform.container})" if platform.container else ""
    facts = [
        ("machine", " ".join(filter(None, (platform.vendor, platform.model))) or "unknown"),
        ("kernel", platform.kernel or "unknown"),
        ("runs on", f"{runs_on(platform) or UNPROVEN}{container}"),
        ("clock source", platform.clock_source or "unknown"),
    ]
    optional = (
        ("cloud", if_known(platform.cloud, cloud_text)),
        ("LPAR", platform.z_partition),
        ("governor", platform.governor),
        ("turbo", None if platform.turbo is None else "on" if platform.turbo else "off"),
        ("SMT", platform.smt),
        ("huge pages", platform.transparent_huge_pages and f"transparent: {platform.transparent_huge_pages}"),
        ("settings", " ".join(platform.kernel_settings) or None),
        ("steal", f"{as_percent(steal, '.2f')} of CPU time since boot" if (steal := platform.steal_share) else None),
    )
    return Section("Platform", (*facts, *((label, text) for label, text in optional if text)))


def distances_section(machine: Machine) -> Section | None:
    """Return the distances of the firmware, a row for each node, as ``numactl --hardware`` shows them.

    Letters stand for them where there are many nodes, and each distance with its nodes where there are more. None
    without a table, or where its rows do not fit the nodes.
    """
    nodes = [node for node in machine.nodes if node.distances]
    if len(nodes) < 2 or any(len(node.distances) != len(machine.nodes) for node in nodes):
        return None
    values = sorted({value for node in nodes for value in node.distances})
    facts = [("source", "the firmware's table (SLIT), not measured")]
    if len(machine.nodes) <= _MOST_NUMBERS:
        facts.append(("to node", "".join(f"{node.os_id:>4}" for node in machine.nodes)))
        facts += [(f"node {node.os_id}", "".join(f"{value:>4}" for value in node.distances)) for node in nodes]
    elif len(machine.nodes) <= _MOST_LETTERS and len(values) <= len(ascii_letters):
        letters = dict(zip(values, ascii_letters, strict=False))
        key = ", ".join(f"{letter} {value}" for value, letter in letters.items())
        facts.append(("letters", f"{key}; columns in the order of the rows"))
        facts += [(f"node {node.os_id}", "".join(letters[value] for value in node.distances)) for node in nodes]
    else:
        for node in nodes:  # 10 to 0, 12 to 1-3, 21 to 4-99
            far: dict[int, list[int]] = {}
            for other, value in zip(machine.nodes, node.distances, strict=True):
                far.setdefault(value, []).append(other.os_id)
            text = ", ".join(f"{value} to {format_list(tuple(sorted(ids)))}" for value, ids in sorted(far.items()))
            facts.append((f"node {node.os_id}", text))
    return Section("Distances between NUMA nodes", tuple(facts))


_PARTS: Mapping[str, tuple[Callable[[Machine], Section | None], ...]] = {
    "cpu": (processor_section,),
    "storage": (
        devices.storage_section, devices.adapters_section, hardware.raid_section, hardware.nvme_section,
        hardware.health_section, devices.paths_section, hardware.file_systems_section,
    ),
    "numa": (memory_section, distances_section),
    "memory": (hardware.memory_modules_section,),
    "network": (devices.network_section, devices.rings_section, devices.rdma_section),
    "nfs": (devices.nfs_section, devices.direct_nfs_section),
    "devices": (
        hardware.accelerators_section, hardware.cxl_section, hardware.dax_section, hardware.virtual_functions_section,
        hardware.interrupts_section, hardware.firmware_section,
    ),
    "platform": (platform_section,),
    "settings": (hardware.settings_section, hardware.disk_settings_section),
    "budget": (devices.budget_section,),
    "findings": (),
}  # fmt: skip
"""The sections by the part that they belong to, in the order of lscpu, lsblk and numactl --hardware."""

PARTS = tuple(_PARTS)
"""Names of the parts that can be shown alone."""


def machine_sections(machine: Machine, only: str | None = None) -> tuple[Section, ...]:
    """The machine from the processor outwards, or one part of it; classes it has nothing of are left out."""
    parts = _PARTS.values() if only is None else (_PARTS[only],)
    sections = (section(machine) for part in parts for section in part)
    return tuple(section for section in sections if section is not None)


def growth_section(before: Machine, after: Machine) -> Section:
    """Memory and huge pages of each node, then and now, as numactl shows them before and after an instance starts."""
    growth = dict(growth_by_node(before, after))
    earlier = {node.os_id: node for node in before.nodes}
    rows = []
    for node in (one for one in after.nodes if one.os_id in earlier):
        then, grown = earlier[node.os_id], growth.get(node.os_id)
        sizes = map(size_or_unknown, (node.memory_bytes, then.free_bytes, node.free_bytes))
        in_use = UNKNOWN if grown is None else f"{'-' if grown < 0 else '+'}{format_bytes(abs(grown))}"
        pools = map(_huge_pages_text, (then.huge_pages, node.huge_pages))
        rows.append((str(node.os_id), *sizes, in_use, *pools))
    columns = (
        Column("node", numeric=True), Column("memory", numeric=True), Column("free then", numeric=True),
        Column("now", numeric=True), Column("in use", numeric=True), Column("huge pages then"), Column("now"),
    )  # fmt: skip
    return Section("Memory by node", (), Table("", columns, tuple(rows)))
