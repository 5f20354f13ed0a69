"""What a machine is, as sections of facts and tables, and as the document of ``sizeup detect --json``."""

from __future__ import annotations

from collections import Counter

import msgspec
from msgspec import Struct

from sizeup.charts.table import Column, Table
from sizeup.discovery.cpus import CORES, SOCKETS
from sizeup.discovery.findings.memory import growth_by_node
from sizeup.model.budget import PathBudget
from sizeup.model.finding import Finding
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine, PuCounts
from sizeup.model.network import NfsMount, Nic, RdmaPort
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.pci import PciFunction
from sizeup.model.platform import Platform
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    MultipathMap,
    NvmeController,
    NvmeNamespace,
    NvmeSubsystem,
    ScsiDevice,
    Transport,
)
from sizeup.model.topology import Cache, CacheKind, Core, Die, Package, Pu
from sizeup.procfs.lists import format_list
from sizeup.quantity import Quantity
from sizeup.text import counted, plural
from sizeup.units import format_bytes, format_decimal_bytes, format_hz, format_rate
from sizeup.views.machine_facts import count_unknown, memory_unknown
from sizeup.views.virtualization import UNPROVEN, runs_on

SCHEMA = "sizeup.detect/1"
UNKNOWN = "unknown"

_CACHE_LETTERS = {CacheKind.DATA: "d", CacheKind.INSTRUCTION: "i", CacheKind.UNIFIED: ""}


class Counts(msgspec.Struct, frozen=True):
    """How many of each; ``numa_nodes`` is 0 where the kernel knows no NUMA, packages and cores null where unknown."""

    packages: int | None
    dies: int | None
    cores: int | None
    pus: PuCounts
    numa_nodes: int


class Processor(msgspec.Struct, frozen=True):
    """The processors as a whole."""

    model: str | None
    vendor: str | None
    base_clock: Quantity | None


class Memory(msgspec.Struct, frozen=True):
    """Memory as a whole; bytes."""

    total_bytes: int | None
    available_bytes: int | None
    huge_pages: tuple[HugePages, ...]


class Numa(msgspec.Struct, frozen=True):
    """Nodes in the kernel's order; a row of ``distances`` for each, in that order."""

    nodes: tuple[NumaNode, ...]
    distances: tuple[tuple[int, ...], ...]


class Detection(msgspec.Struct, frozen=True):
    """The document of ``sizeup detect --json``; units are bytes, Hz, bit/s and ns, unknown is null."""

    schema: str
    counts: Counts
    processor: Processor
    packages: tuple[Package, ...]
    dies: tuple[Die, ...]
    cores: tuple[Core, ...]
    pus: tuple[Pu, ...]
    caches: tuple[Cache, ...]
    memory: Memory
    numa: Numa
    platform: Platform
    nics: tuple[Nic, ...]
    rdma_ports: tuple[RdmaPort, ...]
    pci: tuple[PciFunction, ...]
    block_devices: tuple[BlockDevice, ...]
    hbas: tuple[Hba, ...]
    scsi_devices: tuple[ScsiDevice, ...]
    maps: tuple[MultipathMap, ...]
    nvme_controllers: tuple[NvmeController, ...]
    nvme_namespaces: tuple[NvmeNamespace, ...]
    nvme_subsystems: tuple[NvmeSubsystem, ...]
    nfs_mounts: tuple[NfsMount, ...]
    budgets: tuple[PathBudget, ...]
    contradictions: tuple[str, ...]
    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]


def detection(machine: Machine) -> Detection:
    """The machine as the JSON document has it."""
    return Detection(
        schema=SCHEMA,
        counts=Counts(
            packages=machine.socket_count,
            dies=len(machine.dies) or None,
            cores=machine.core_count,
            pus=machine.pu_counts,
            numa_nodes=len(machine.nodes),
        ),
        processor=Processor(machine.cpu_model, machine.cpu_vendor, machine.base_clock),
        packages=machine.packages,
        dies=machine.dies,
        cores=machine.cores,
        pus=machine.pus,
        caches=machine.caches,
        memory=Memory(machine.memory_bytes, machine.memory_available_bytes, machine.huge_pages),
        numa=Numa(machine.nodes, tuple(node.distances for node in machine.nodes)),
        platform=machine.platform,
        nics=machine.nics,
        rdma_ports=machine.rdma_ports,
        pci=machine.pci,
        block_devices=machine.block_devices,
        hbas=machine.hbas,
        scsi_devices=machine.scsi_devices,
        maps=machine.maps,
        nvme_controllers=machine.nvme_controllers,
        nvme_namespaces=machine.nvme_namespaces,
        nvme_subsystems=machine.nvme_subsystems,
        nfs_mounts=machine.nfs_mounts,
        budgets=machine.budgets,
        contradictions=machine.contradictions,
        findings=machine.findings,
        gaps=machine.gaps,
    )


def detected(document: Detection) -> Machine:
    """The machine that a document of ``sizeup detect --json`` was made of."""
    return Machine(
        packages=document.packages,
        dies=document.dies,
        cores=document.cores,
        pus=document.pus,
        caches=document.caches,
        nodes=document.numa.nodes,
        memory_bytes=document.memory.total_bytes,
        memory_available_bytes=document.memory.available_bytes,
        huge_pages=document.memory.huge_pages,
        cpu_model=document.processor.model,
        cpu_vendor=document.processor.vendor,
        base_clock=document.processor.base_clock,
        platform=document.platform,
        nics=document.nics,
        rdma_ports=document.rdma_ports,
        pci=document.pci,
        block_devices=document.block_devices,
        hbas=document.hbas,
        scsi_devices=document.scsi_devices,
        maps=document.maps,
        nvme_controllers=document.nvme_controllers,
        nvme_namespaces=document.nvme_namespaces,
        nvme_subsystems=document.nvme_subsystems,
        nfs_mounts=document.nfs_mounts,
        budgets=document.budgets,
        contradictions=document.contradictions,
        findings=document.findings,
        gaps=document.gaps,
    )


class Section(Struct, frozen=True):
    """A heading with its facts, each a label and a text, and perhaps a table."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    table: Table | None = None


def cpu_list(cpus: tuple[int, ...]) -> str:
    """CPUs as the kernel writes them, ``0-3,8``; a hyphen where there are none."""
    return format_list(cpus) or "-"


def cache_summary(machine: Machine) -> tuple[str, ...]:
    """One text a level and kind, ``L2 2 MiB x 16``; sizes that differ are listed."""
    groups: dict[tuple[int, str], Counter[int | None]] = {}
    for cache in machine.caches:
        key = (cache.level, f"L{cache.level}{_CACHE_LETTERS[cache.kind]}")
        groups.setdefault(key, Counter())[cache.size_bytes] += 1
    texts = []
    for (_, name), sizes in groups.items():
        parts = [
            f"{'size unknown' if size is None else format_bytes(size)} × {count}" for size, count in sizes.most_common()
        ]
        texts.append(f"{name} {' and '.join(parts)}")
    return tuple(texts)


def _pu_text(counts: PuCounts) -> str:
    extra = []
    if counts.online != counts.present:
        extra.append(f"{counts.online} online")
    if counts.allowed != counts.online:
        extra.append(f"{counts.allowed} allowed to this process")
    return plural(counts.present, "thread") + (f" ({', '.join(extra)})" if extra else "")


def _clock_text(clock: Quantity | None) -> str:
    if clock is None:
        return "unknown; give it with sizeup size --set machine.ghz=..."
    caveat = f" ({clock.caveats[0]})" if clock.caveats else ""
    return format_hz(clock.value) + caveat


def _kinds_text(machine: Machine) -> str | None:
    kinds = Counter(core.kind for core in machine.cores if core.kind is not None)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or None


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
        ("base clock", _clock_text(machine.base_clock)),
    ]
    if machine.pus:
        unknown = {SOCKETS: machine.socket_count, CORES: machine.core_count}
        facts.extend((subject, count_unknown(machine, subject)) for subject, count in unknown.items() if count is None)
    if (kinds := _kinds_text(machine)) is not None:
        facts.append(("core kinds", kinds))
    facts.append(("caches", ", ".join(cache_summary(machine)) or "not reported"))
    return Section("Processor", tuple(facts))


def _size_or_unknown(size: int | None) -> str:
    return UNKNOWN if size is None else format_bytes(size)


def _memory_text(machine: Machine) -> str:
    if machine.memory_bytes is None:
        return memory_unknown(machine)
    return f"{format_bytes(machine.memory_bytes)}, {_size_or_unknown(machine.memory_available_bytes)} available"


def _huge_pages_text(pools: tuple[HugePages, ...]) -> str:
    used = [f"{pool.total - pool.free}/{pool.total} of {format_bytes(pool.page_bytes)}" for pool in pools if pool.total]
    return ", ".join(used) or "none"


def memory_section(machine: Machine) -> Section:
    """Memory as a whole and by node, free memory beside it."""
    facts = [
        ("memory", _memory_text(machine)),
        ("huge pages", f"{_huge_pages_text(machine.huge_pages)} in use"),
    ]
    if not machine.nodes:
        return Section("Memory", (*facts, ("NUMA", "not NUMA")))
    rows = tuple(
        (
            str(node.os_id),
            cpu_list(node.pus),
            _size_or_unknown(node.memory_bytes),
            _size_or_unknown(node.free_bytes),
            f"{node.free_bytes / node.memory_bytes:.0%}" if node.free_bytes is not None and node.memory_bytes else "-",
            _huge_pages_text(node.huge_pages),
            " ".join(map(str, node.distances)) or "-",
        )
        for node in machine.nodes
    )
    columns = (
        Column("node", numeric=True), Column("CPUs"), Column("memory", numeric=True), Column("free", numeric=True),
        Column("", numeric=True), Column("huge pages"), Column("distances"),
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
        ("governor", platform.governor),
        ("turbo", None if platform.turbo is None else "on" if platform.turbo else "off"),
        ("SMT", platform.smt),
        ("huge pages", platform.transparent_huge_pages and f"transparent: {platform.transparent_huge_pages}"),
        ("settings", " ".join(platform.kernel_settings) or None),
        ("steal", None if not platform.steal_share else f"{platform.steal_share:.2%} of CPU time since boot"),
    )
    return Section("Platform", (*facts, *((label, text) for label, text in optional if text)))


def _speed_text(nic: Nic) -> str:
    if nic.speed_bits_per_second is None:
        return "-"
    gigabits = nic.speed_bits_per_second / 1e9
    return f"{gigabits:g} Gb/s"


def network_section(machine: Machine) -> Section | None:
    """Interfaces that carry traffic; loopback and bare virtual ones are left to the JSON."""
    rows = tuple(
        (
            nic.name,
            nic.kind,
            {True: "up", False: "down", None: UNKNOWN}[nic.up],
            _speed_text(nic),
            "-" if nic.mtu is None else str(nic.mtu),
            "-" if nic.node is None else str(nic.node),
            nic.driver or "-",
            nic.master or ",".join(nic.lower) or "-",
        )
        for nic in machine.nics
        if nic.kind not in ("loopback", "virtual", "dummy")
    )
    columns = (
        Column("name"), Column("kind"), Column("link"), Column("speed", numeric=True), Column("MTU", numeric=True),
        Column("node", numeric=True), Column("driver"), Column("with"),
    )  # fmt: skip
    return Section("Network", (), Table("", columns, rows)) if rows else None


def _shown(device: BlockDevice) -> bool:
    """Loop and memory disks of no size, and empty drives, are noise."""
    return bool(device.size_bytes) and not (
        device.kind in (BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD) and not device.mount_points
    )


def storage_section(machine: Machine) -> Section | None:
    """Disks, partitions and stacks."""
    rows = tuple(
        (
            f"  {device.name}" if device.parent else device.dm_name or device.name,
            device.kind.value + (f" {device.raid_level}" if device.raid_level else ""),
            UNKNOWN if device.size_bytes is None else format_decimal_bytes(device.size_bytes),
            "-" if device.node is None else str(device.node),
            device.model or ",".join(device.members) or "-",
            ",".join(device.mount_points) or "-",
        )
        for device in machine.block_devices
        if _shown(device)
    )
    columns = (
        Column("name"), Column("kind"), Column("size", numeric=True), Column("node", numeric=True),
        Column("model or members"), Column("mounted on"),
    )  # fmt: skip
    return Section("Storage", (), Table("", columns, rows)) if rows else None


def _hba_rate(hba: Hba) -> str:
    rates = [target.rate_bits_per_second for target in hba.targets if target.rate_bits_per_second is not None]
    speed = hba.speed_bits_per_second or max(rates, default=None)
    return "-" if speed is None else f"{speed / 1e9:g} Gbit"


def adapters_section(machine: Machine) -> Section | None:
    """Host adapters that lead somewhere else: SATA ports and drivers that make disks up are left to the JSON."""
    rows = tuple(
        (
            hba.name,
            hba.transport.value,
            hba.driver or "-",
            hba.state or UNKNOWN,
            _hba_rate(hba),
            "-" if hba.node is None else str(hba.node),
            str(len(hba.targets)),
            hba.port_name or "-",
        )
        for hba in machine.hbas
        if hba.transport not in (Transport.SATA, Transport.OTHER, Transport.USB)
    )
    columns = (
        Column("name"), Column("kind"), Column("driver"), Column("state"), Column("speed", numeric=True),
        Column("node", numeric=True), Column("targets", numeric=True), Column("port"),
    )  # fmt: skip
    return Section("Host adapters", (), Table("", columns, rows)) if rows else None


def paths_section(machine: Machine) -> Section | None:
    """Multipath maps, a row for each path."""
    rows = []
    for found in machine.maps:
        rows.append((found.name, found.device, "", "", "", ""))
        for path in found.paths:
            state = " ".join(filter(None, (path.state, path.access_state)))
            rows.append(
                (
                    f"  {path.device}",
                    path.hctl or "-",
                    path.hba or "-",
                    path.target or "-",
                    "-" if path.node is None else str(path.node),
                    state or UNKNOWN,
                )
            )
    columns = (
        Column("map and path"), Column("device"), Column("adapter"), Column("target"), Column("node", numeric=True),
        Column("state"),
    )  # fmt: skip
    return Section("Multipath", (), Table("", columns, tuple(rows))) if rows else None


def budget_section(machine: Machine) -> Section | None:
    """The narrowest stage on each device's way to memory, as far as it is known."""
    rows = tuple(
        (
            budget.device,
            budget.pci_address or "-",
            "-" if budget.limit_bytes_per_second is None else format_rate(budget.limit_bytes_per_second),
            budget.narrowest or "no rate known",
            "-" if budget.share_bytes_per_second is None else format_rate(budget.share_bytes_per_second),
        )
        for budget in machine.budgets
        if budget.limit_bytes_per_second is not None
    )
    columns = (
        Column("device"), Column("PCI address"), Column("at most", numeric=True), Column("because of"),
        Column("when shared", numeric=True),
    )  # fmt: skip
    return Section("Bandwidth budget", (), Table("", columns, rows)) if rows else None


def nfs_section(machine: Machine) -> Section | None:
    """NFS mounts."""
    rows = tuple(
        (
            mount.mount_point,
            mount.export,
            mount.version or UNKNOWN,
            mount.protocol or UNKNOWN,
            UNKNOWN if mount.transports is None else str(mount.transports),
            _size_or_unknown(mount.read_size_bytes),
            {True: "hard", False: "soft", None: UNKNOWN}[mount.hard],
        )
        for mount in machine.nfs_mounts
    )
    columns = (
        Column("mounted on"), Column("export"), Column("version"), Column("over"),
        Column("connections", numeric=True), Column("rsize", numeric=True), Column(""),
    )  # fmt: skip
    return Section("NFS", (), Table("", columns, rows)) if rows else None


def machine_sections(machine: Machine) -> tuple[Section, ...]:
    """The machine from the processor outwards; classes it has nothing of are left out."""
    sections = (
        processor_section(machine),
        memory_section(machine),
        platform_section(machine),
        storage_section(machine),
        adapters_section(machine),
        paths_section(machine),
        network_section(machine),
        nfs_section(machine),
        budget_section(machine),
    )
    return tuple(section for section in sections if section is not None)


def _signed_bytes(size: int) -> str:
    return f"{'+' if size >= 0 else '-'}{format_bytes(abs(size))}"


def growth_section(before: Machine, after: Machine) -> Section:
    """Memory and huge pages of each node, then and now, as numactl shows them before and after an instance starts."""
    growth = dict(growth_by_node(before, after))
    earlier = {node.os_id: node for node in before.nodes}
    rows = tuple(
        (
            str(node.os_id),
            _size_or_unknown(node.memory_bytes),
            _size_or_unknown(earlier[node.os_id].free_bytes),
            _size_or_unknown(node.free_bytes),
            _signed_bytes(growth[node.os_id]) if node.os_id in growth else UNKNOWN,
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
