"""A machine as a map: one band per node, a cell per core, memory as a bar, devices at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.storage import BlockKind
from sizeup.model.topology import Core
from sizeup.units import format_bytes, format_count

_MEMORY_CELLS = 10
_NAME_CELLS = 8
LOADS = 10
"""Steps of load that a core's cell tells apart, 0 to 9."""


class Cell(Struct, frozen=True):
    """Some text and what it stands for: ``core``, ``load-7``, ``offline``, ``memory``, ``free``, ``name``, ``text``."""

    text: str
    role: str


class Map(Struct, frozen=True):
    """Rows of cells, and what its signs mean."""

    rows: tuple[tuple[Cell, ...], ...]
    legend: str


def machine_map(machine: Machine, loads: Mapping[int, float], width: int) -> Map:
    """The whole machine; ``loads`` are percent by CPU and may be empty, as on a recording."""
    rows: list[tuple[Cell, ...]] = []
    states = {pu.cpu: (pu.online, pu.allowed) for pu in machine.pus}
    placed: set[int] = set()
    for node in machine.nodes:
        pus = set(node.pus)
        cores = [core for core in machine.cores if pus.intersection(core.pus)]
        placed.update(cpu for core in cores for cpu in core.pus)
        packages = ",".join(str(package) for package in node.packages) or "-"
        rows += _band(f"S{packages} N{node.os_id}", _groups(machine, cores), _memory(node), states, loads, width)
        devices = _devices(machine, node.os_id)
        if devices:
            rows.append((Cell(f"{'':{_NAME_CELLS}}{devices}"[:width], "text"),))
    left = [core for core in machine.cores if not placed.intersection(core.pus)]
    for index, _ in enumerate(machine.packages):
        cores = [core for core in left if core.package == index]
        if cores:
            rows += _band(f"S{index}", _groups(machine, cores), [], states, loads, width)
    rest = _devices(machine, None)
    if rest:
        rows.append((Cell("Devices whose node is not known: ", "name"), Cell(rest, "text")))
    cell = "0-9 load of a core" if loads else "# core"
    return Map(tuple(rows), f"{cell}, x offline, - not allowed, | next cache, = memory in use")


def _band(
    name: str,
    groups: Sequence[Sequence[Core]],
    memory: Sequence[Cell],
    states: Mapping[int, tuple[bool, bool]],
    loads: Mapping[int, float],
    width: int,
) -> list[tuple[Cell, ...]]:
    """The cores of a node in as many rows as they need, its memory at the end of the first."""
    room = max(width - _NAME_CELLS - sum(len(cell.text) for cell in memory) - 1, 8)
    rows: list[list[Cell]] = [[Cell(name.ljust(_NAME_CELLS)[:_NAME_CELLS], "name")]]
    used = 0
    for number, group in enumerate(groups):
        cells = ([Cell("|", "text")] if number else []) + [_core(core, states, loads) for core in group]
        for cell in cells:
            if used >= room:
                rows.append([Cell(" " * _NAME_CELLS, "text")])
                used = 0
            rows[-1].append(cell)
            used += 1
    first = rows[0]
    first.append(Cell(" " * (room - sum(len(cell.text) for cell in first[1:]) + 1), "text"))
    first.extend(memory)
    return [tuple(row) for row in rows]


def _groups(machine: Machine, cores: Sequence[Core]) -> list[list[Core]]:
    """Cores by the largest cache that they share; those without one together."""
    highest = max((cache.level for cache in machine.caches), default=0)
    groups: dict[tuple[int, ...], list[Core]] = {}
    for core in cores:
        shared = next(
            (cache.shared_by for cache in machine.caches if cache.level == highest and core.pus[0] in cache.shared_by),
            (),
        )
        groups.setdefault(shared if len(shared) > len(core.pus) else (), []).append(core)
    return list(groups.values())


def _core(core: Core, states: Mapping[int, tuple[bool, bool]], loads: Mapping[int, float]) -> Cell:
    online = [cpu for cpu in core.pus if states.get(cpu, (True, True))[0]]
    if not online:
        return Cell("x", "offline")
    if not any(states.get(cpu, (True, True))[1] for cpu in online):
        return Cell("-", "offline")
    known = [loads[cpu] for cpu in online if cpu in loads]
    if not known:
        return Cell("#", "core")
    load = min(int(max(known) / 100 * LOADS), LOADS - 1)
    return Cell(str(load), f"load-{load}")


def _memory(node: NumaNode) -> list[Cell]:
    if not node.memory_bytes:
        return [Cell("no memory", "text")]
    total = format_bytes(node.memory_bytes)
    if node.free_bytes is None:
        return [Cell(f"{total:>9}", "text")]
    used = round((1 - node.free_bytes / node.memory_bytes) * _MEMORY_CELLS)
    pages = sum(pool.total * pool.page_bytes for pool in node.huge_pages)
    huge = f" huge {format_bytes(pages)}" if pages else ""
    return [
        Cell("[" + "=" * used, "memory"),
        Cell("." * (_MEMORY_CELLS - used) + "]", "free"),
        Cell(f" {format_bytes(node.free_bytes)} of {total} free{huge}", "text"),
    ]


def _devices(machine: Machine, node: int | None) -> str:
    hidden = (BlockKind.PARTITION, BlockKind.LOOP, BlockKind.RAM)
    nics = [
        f"{nic.name} {format_count(nic.speed_bits_per_second)}bit/s" if nic.speed_bits_per_second else nic.name
        for nic in machine.nics
        if nic.node == node and nic.kind in ("physical", "virtio")
    ]
    disks = [item.name for item in machine.block_devices if item.node == node and item.kind not in hidden]
    return "  ".join([*nics, *disks])
