"""What a machine is, as sections of facts and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from sizeup.charts.table import Column, Table
from sizeup.discovery.cpus import CORES, SOCKETS
from sizeup.discovery.findings.memory import growth_by_node
from sizeup.discovery.numa import HUGE_PAGES
from sizeup.model.machine import Machine, PuCounts
from sizeup.model.numa import NUMA, HugePages, MemoryKind
from sizeup.procfs.lists import format_list
from sizeup.text import counted, if_known, plural
from sizeup.units import format_bytes, format_hz
from sizeup.views.machine.device_sections import (
    adapters_section,
    budget_section,
    direct_nfs_section,
    network_section,
    nfs_section,
    paths_section,
    rdma_section,
    rings_section,
    storage_section,
)
from sizeup.views.machine.distances import distances_section
from sizeup.views.machine.facts import (
    access_text,
    clock_text,
    count_unknown,
    kind_text,
    memory_unknown,
    no_cpus_text,
    nodes_unknown,
    offline_text,
)
from sizeup.views.machine.hardware_sections import (
    accelerators_section,
    cxl_section,
    dax_section,
    file_systems_section,
    firmware_section,
    health_section,
    interrupts_section,
    nvme_section,
    raid_section,
    virtual_functions_section,
)
from sizeup.views.machine.memory_modules import memory_modules_section
from sizeup.views.machine.os_settings import disk_settings_section, settings_section
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown
from sizeup.views.machine.topology import cache_level, cache_size
from sizeup.views.machine.virtualization import UNPROVEN, cloud_text, runs_on

_CACHED = "what is used beyond the cache runs at the speed of that memory"
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


def _pu_text(counts: PuCounts) -> str:
    """Threads that run; CPUs that are offline stand apart, because it is unknown whether they are threads or cores."""
    allowed = f" ({counts.allowed} allowed to sizeup)" if counts.allowed != counts.online else ""
    return ", ".join(filter(None, (plural(counts.online, "thread") + allowed, offline_text(counts))))


_NO_CLOCK = "unknown; give it with sizeup size --set machine.ghz=..."


def _kinds_text(machine: Machine) -> str | None:
    kinds = Counter((core.kind, core.base_hz, core.max_hz) for core in machine.cores if core.kind is not None)
    texts = []
    for (kind, base, highest), count in kinds.items():
        named = (("base", base), ("at most", highest))
        clocks = ", ".join(f"{name} {format_hz(hertz)}" for name, hertz in named if hertz is not None)
        texts.append(f"{count} {kind}" + (f" ({clocks})" if clocks else ""))
    return ", ".join(texts) or None


def processor_section(machine: Machine) -> Section:
    """Sockets, cores, threads, clock, caches."""
    modules = len({core.module for core in machine.cores if core.module is not None})
    counts = [counted(machine.socket_count, "socket")]
    if len(machine.dies) > len(machine.packages):
        counts.append(plural(len(machine.dies), "die"))
    counts.append(counted(machine.core_count, "core") + (f" in {plural(modules, 'module')}" if modules else ""))
    counts.append(_pu_text(machine.pu_counts))
    facts = [
        ("model", machine.cpu_model or "unknown"),
        ("counts", ", ".join(counts) if machine.pus else f"{UNKNOWN}: no CPU could be read"),
        ("base clock", _NO_CLOCK if machine.base_clock is None else clock_text(machine.base_clock)),
    ]
    if machine.pus:
        unknown = {SOCKETS: machine.socket_count, CORES: machine.core_count}
        facts.extend((subject, count_unknown(machine, subject)) for subject, count in unknown.items() if count is None)
    if (kinds := _kinds_text(machine)) is not None:
        facts.append(("core kinds", kinds))
    facts.append(("caches", ", ".join(cache_summary(machine)) or "not reported"))
    return Section("Processor", tuple(facts))


def _memory_text(machine: Machine) -> str:
    if machine.memory_bytes is None:
        return memory_unknown(machine)
    return f"{format_bytes(machine.memory_bytes)}, {size_or_unknown(machine.memory_available_bytes)} available"


def _huge_pages_text(pools: tuple[HugePages, ...]) -> str:
    used = [f"{pool.total - pool.free}/{pool.total} of {format_bytes(pool.page_bytes)}" for pool in pools if pool.total]
    return ", ".join(used) or ("none" if pools else "-")


def _machine_pools_text(machine: Machine) -> str:
    """Return the huge pages in use; unknown with the reason where none is seen and a file could not be read."""
    gap = next((gap for gap in machine.gaps if gap.subject.startswith(HUGE_PAGES)), None)
    if gap is not None and not any(pool.total for pool in machine.huge_pages):
        return f"{UNKNOWN} ({gap.subject}: {gap.reason})"
    return f"{_huge_pages_text(machine.huge_pages) if machine.huge_pages else 'none'} in use"


def _by_nodes(texts: Mapping[int, str | None]) -> str | None:
    """Return what is known of nodes, equal ones together: ``nodes 0-1: DRAM; node 2: CXL``."""
    alike: dict[str, list[int]] = {}
    for node, text in texts.items():
        if text is not None:
            alike.setdefault(text, []).append(node)
    parts = [
        f"{'node' if len(nodes) == 1 else 'nodes'} {format_list(tuple(sorted(nodes)))}: {text}"
        for text, nodes in alike.items()
    ]
    return "; ".join(parts) or None


def _node_lines(machine: Machine) -> tuple[tuple[str, str], ...]:
    """Return kind, tier, firmware's figures and memory-side cache of the nodes, as far as they are known."""
    nodes = machine.nodes
    named = any(node.kind not in (MemoryKind.UNKNOWN, MemoryKind.NONE) for node in nodes)
    kinds = {node.os_id: kind_text(node.kind) for node in nodes}
    tiers = {node.os_id: node.tier for node in nodes}
    caches = {node.os_id: if_known(node.memory_side_cache_bytes, format_bytes) for node in nodes}
    accesses = {node.os_id: if_known(node.access, access_text) for node in nodes}
    empty = {node.os_id: no_cpus_text(node) for node in nodes if not node.pus}
    lines = (
        ("no CPUs", _by_nodes(empty)),
        ("kind", _by_nodes(kinds) if named else f"{UNKNOWN}: no driver reports it"),
        (
            "tiers",
            _by_nodes({node: None if tier is None else f"tier {tier}" for node, tier in tiers.items()})
            if len(set(tiers.values())) > 1
            else None,
        ),
        (
            "HMAT",
            None if (access := _by_nodes(accesses)) is None else f"{access} (of the nearest CPUs, not measured)",
        ),
        (
            "memory cache",
            None if (cached := _by_nodes(caches)) is None else f"{cached} in front of slower memory: {_CACHED}",
        ),
    )
    return tuple((label, text) for label, text in lines if text)


def memory_section(machine: Machine) -> Section:
    """Memory as a whole and by node, free memory beside it."""
    facts = [
        ("memory", _memory_text(machine)),
        *(
            [("offline", f"{format_bytes(machine.memory_offline_bytes)} (lsmem)")]
            if machine.memory_offline_bytes
            else ()
        ),
        ("huge pages", _machine_pools_text(machine)),
    ]
    if not machine.nodes:
        return Section("Memory", (*facts, (NUMA, nodes_unknown(machine) or "not NUMA")))
    facts.extend(_node_lines(machine))
    rows = tuple(
        (
            str(node.os_id),
            format_list(node.pus) or "-",
            size_or_unknown(node.memory_bytes),
            size_or_unknown(node.free_bytes),
            f"{node.free_bytes / node.memory_bytes:.0%}" if node.free_bytes is not None and node.memory_bytes else "-",
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
    facts = [
        ("machine", " ".join(filter(None, (platform.vendor, platform.model))) or "unknown"),
        ("kernel", platform.kernel or "unknown"),
        (
            "runs on",
            (runs_on(platform) or UNPROVEN)
            + (f", in a container ({platform.container})" if platform.container else ""),
        ),
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
        ("steal", None if not platform.steal_share else f"{platform.steal_share:.2%} of CPU time since boot"),
    )
    return Section("Platform", (*facts, *((label, text) for label, text in optional if text)))


_PARTS: Mapping[str, tuple[Callable[[Machine], Section | None], ...]] = {
    "cpu": (processor_section,),
    "storage": (
        storage_section,
        adapters_section,
        raid_section,
        nvme_section,
        health_section,
        paths_section,
        file_systems_section,
    ),
    "numa": (memory_section, distances_section),
    "memory": (memory_modules_section,),
    "network": (network_section, rings_section, rdma_section),
    "nfs": (nfs_section, direct_nfs_section),
    "devices": (
        accelerators_section,
        cxl_section,
        dax_section,
        virtual_functions_section,
        interrupts_section,
        firmware_section,
    ),
    "platform": (platform_section,),
    "settings": (settings_section, disk_settings_section),
    "budget": (budget_section,),
    "findings": (),
}
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
    rows = tuple(
        (
            str(node.os_id),
            size_or_unknown(node.memory_bytes),
            size_or_unknown(earlier[node.os_id].free_bytes),
            size_or_unknown(node.free_bytes),
            f"{'-' if growth[node.os_id] < 0 else '+'}{format_bytes(abs(growth[node.os_id]))}"
            if node.os_id in growth
            else UNKNOWN,
            _huge_pages_text(earlier[node.os_id].huge_pages),
            _huge_pages_text(node.huge_pages),
        )
        for node in after.nodes
        if node.os_id in earlier
    )
    columns = (
        Column("node", numeric=True), Column("memory", numeric=True), Column("free then", numeric=True),
        Column("now", numeric=True), Column("in use", numeric=True), Column("huge pages then"), Column("now"),
    )  # fmt: skip
    return Section("Memory by node", (), Table("", columns, rows))
