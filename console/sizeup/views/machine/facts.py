"""What is true of a machine as a whole: in a line, and as facts with a name and a value."""

from __future__ import annotations

from collections.abc import Callable

from sizeup.discovery.cpus import CORES, SOCKETS
from sizeup.discovery.findings.settings import recommendations
from sizeup.discovery.numa import MEMINFO, NO_SIZE
from sizeup.discovery.setting_facts import setting_facts
from sizeup.model.machine import Machine, PuCounts
from sizeup.model.network import NfsMount
from sizeup.model.numa import NUMA, MemoryKind, NodeAccess, NumaNode
from sizeup.quantity import Quantity
from sizeup.text import counted, if_known, plural
from sizeup.units import format_bytes, format_hz, format_ns, format_rate
from sizeup.views.machine.virtualization import UNPROVEN, cloud_text, partition_text, runs_on


def machine_line(machine: Machine) -> str:
    """Return the machine in one line: ``2 sockets, 16 cores, 32 threads, 2.66 GHz, 128 GiB``."""
    counts = machine.pu_counts
    parts = (
        counted(machine.socket_count, "socket"),
        counted(machine.core_count, "core"),
        plural(counts.online, "thread"),
        offline_text(counts),
        if_known(machine.base_clock, lambda clock: format_hz(clock.value)),
        if_known(machine.memory_bytes, format_bytes),
        plural(len(machine.nodes), "node") if machine.nodes else "",
    )
    return ", ".join(filter(None, parts))


def offline_text(counts: PuCounts) -> str:
    """Return ``1 CPU offline``; empty where all that are present are online."""
    offline = counts.present - counts.online
    return f"{plural(offline, 'CPU')} offline" if offline else ""


def machine_facts(machine: Machine) -> tuple[tuple[str, str], ...]:
    """Return name and value of the facts about the machine as a whole."""
    platform = machine.platform
    counts = machine.pu_counts
    clock = machine.base_clock
    return known_facts(
        ("Model", platform.model),
        ("Processor", machine.cpu_model),
        ("Base clock", if_known(clock, clock_text)),
        ("Sockets", machine.socket_count or count_unknown(machine, SOCKETS)),
        ("Dies", len(machine.dies) or None),
        ("Cores", machine.core_count or count_unknown(machine, CORES)),
        ("Threads", f"{counts.present} present, {counts.online} online, {counts.allowed} allowed"),
        ("NUMA nodes", machine.node_count or nodes_unknown(machine) or "none reported by the kernel"),
        ("Memory", if_known(machine.memory_bytes, format_bytes) or memory_unknown(machine)),
        ("Available", if_known(machine.memory_available_bytes, format_bytes)),
        ("Runs on", runs_on(platform) or UNPROVEN),
        ("Evidence", platform.guest_evidence),
        ("LPAR processors", if_known(platform.partition, partition_text)),
        ("LPAR", platform.z_partition),
        ("Cloud", if_known(platform.cloud, cloud_text)),
        ("Container", platform.container),
        ("Kernel", platform.kernel),
        ("Clock source", platform.clock_source),
        ("Governor", platform.governor),
        ("THP", platform.transparent_huge_pages),
        ("NUMA balancing", platform.numa_balancing),
        ("Architecture", platform.architecture),
    )


def clock_text(clock: Quantity) -> str:
    """Return a clock with its caveats: ``2.6 GHz (inferred from the rate of the TSC, not stated)``."""
    return format_hz(clock.value) + (f" ({'; '.join(clock.caveats)})" if clock.caveats else "")


def count_unknown(machine: Machine, subject: str) -> str:
    """Return why the number of cores or sockets is unknown."""
    return gap_reason(machine, subject) or "unknown"


def gap_reason(machine: Machine, subject: str) -> str | None:
    """Return why something is unknown; None where no gap says so."""
    return next((gap.reason for gap in machine.gaps if gap.subject == subject), None)


def memory_unknown(machine: Machine) -> str:
    """Return why the memory size is unknown, with the file that should state it."""
    reason = gap_reason(machine, MEMINFO) or f"it has no MemTotal, {NO_SIZE}"
    return f"unknown ({MEMINFO}: {reason})"


def nodes_unknown(machine: Machine) -> str:
    """Return why the NUMA nodes are unknown; empty where they are known."""
    return gap_reason(machine, NUMA) or "" if machine.node_count is None else ""


def known_facts(*facts: tuple[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the facts that are known, as text."""

    def written(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)

    return tuple((name, written(value)) for name, value in facts if value not in (None, "", ()))


KIND_TEXTS = {
    MemoryKind.DRAM: "DRAM",
    MemoryKind.GPU: "memory of a GPU",
    MemoryKind.CXL: "CXL memory",
    MemoryKind.PERSISTENT: "persistent memory (NVDIMM)",
    MemoryKind.HBM: "HBM",
    MemoryKind.SPECIFIC_PURPOSE: "reserved by the firmware for a specific purpose, such as HBM",
    MemoryKind.NONE: "no memory",
    MemoryKind.UNKNOWN: "unknown",
}
"""The kind of memory of a node in words."""


def no_cpus_text(node: NumaNode) -> str:
    """Return what a node without CPUs has."""
    if node.memory_bytes is None:
        return "memory unknown"
    return "memory only" if node.memory_bytes else "no memory"


def access_text(access: NodeAccess) -> str | None:
    """Return latency and bandwidth by the firmware, reads before writes; None where it states neither."""
    parts = (
        _both(access.read_latency_ns, access.write_latency_ns, format_ns),
        _both(access.read_bytes_per_second, access.write_bytes_per_second, format_rate),
    )
    return ", ".join(filter(None, parts)) or None


def _both(read: int | None, write: int | None, format_value: Callable[[float], str]) -> str:
    if read == write:
        return "" if read is None else format_value(read)
    parts = [f"{format_value(value)} {name}" for name, value in (("read", read), ("write", write)) if value is not None]
    return ", ".join(parts)


def connections_text(mount: NfsMount) -> str | None:
    """Return the connections that a mount has, and those asked for where they differ; None where neither is known."""
    there = if_known(mount.transports)
    if mount.nconnect in (None, mount.transports):
        return there
    return f"{there or 'unknown'} (nconnect={mount.nconnect})"


def setting_texts(machine: Machine) -> list[tuple[str, str, str]]:
    """Return name and value of each known setting, and what vendors recommend: ``1 (Microsoft SQL Server)``."""
    rows = []
    for name, value in setting_facts(machine).items():
        advised: dict[str, list[str]] = {}
        for one in recommendations().get(name, ()):
            advised.setdefault(one.value, []).append(one.source.product)
        advice = "; ".join(f"{best} ({', '.join(products)})" for best, products in advised.items())
        rows += [(name, value, advice)] if value is not None else []
    return rows
