"""``lscpu -J``: the processors of a machine that nobody can log in to any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from sizeup.errors import MalformedError
from sizeup.interop.imported import Imported
from sizeup.model.gap import Gap
from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.platform import Platform
from sizeup.model.topology import Cache, CacheKind, Core, Die, Package, Pu
from sizeup.quantity import Origin, Quantity
from sizeup.text import one_line
from sizeup.units import parse_bytes

MARK = '"lscpu"'

_MOST_PUS = 8192
_CACHE = re.compile(r"L(\d)([di]?) cache")
_SIZE = re.compile(r"([\d.]+\s*[KMG]?(?:i?B)?)(?:\s*\((\d{1,6}) instances?\))?")
_NOMINAL = re.compile(r"@\s*(\d{1,3}(?:\.\d+)?)\s*GHz")
_KINDS = {"d": CacheKind.DATA, "i": CacheKind.INSTRUCTION, "": CacheKind.UNIFIED}


class _Entry(msgspec.Struct):
    field: str
    data: Any = None
    """Text; null on a heading, which has children."""
    children: tuple[Any, ...] = ()


def parse_lscpu(text: str, where: str) -> Imported:
    """What lscpu tells: counts, caches, nodes; who shares what it does not, so CPUs are dealt in order."""
    try:
        document = msgspec.json.decode(text, type=dict[str, Any])
        fields = dict(_fields(document.get("lscpu"), 0))
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedError(f"{where}: expected the output of lscpu -J: {one_line(str(error), 120)}") from error
    sockets, cores, threads = (
        _count(fields, name) for name in ("Socket(s)", "Core(s) per socket", "Thread(s) per core")
    )
    if "CPU(s)" not in fields or sockets * cores * threads > _MOST_PUS:
        raise MalformedError(
            f"{where}: expected the fields CPU(s), Socket(s), Core(s) per socket and Thread(s) per core of lscpu -J, "
            f"for at most {_MOST_PUS} CPUs"
        )
    note = "lscpu does not say which CPUs share a core or a cache; they were numbered in order."
    return Imported("lscpu", machine=_machine(fields, sockets, cores, threads), notes=(note,))


def _fields(entries: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Field and text, those within headings included, as newer versions nest them."""
    for entry in msgspec.convert(entries, tuple[_Entry, ...]) if depth < 10 and entries else ():
        if entry.data is not None:
            yield one_line(entry.field, 80).removesuffix(":"), one_line(str(entry.data), 4000)
        yield from _fields(entry.children, depth + 1)


def _count(fields: dict[str, str], name: str) -> int:
    text = fields.get(name, "1")
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) else 1


def _machine(fields: dict[str, str], sockets: int, cores: int, threads: int) -> Machine:
    model = fields.get("Model name")
    each = cores * threads
    packages = [tuple(range(socket * each, (socket + 1) * each)) for socket in range(sockets)]
    nominal = _NOMINAL.search(model or "")
    hypervisor = fields.get("Hypervisor vendor")
    return Machine(
        packages=tuple(Package(pus, index, model) for index, pus in enumerate(packages)),
        dies=tuple(Die(pus, index, None) for index, pus in enumerate(packages)),
        cores=tuple(
            Core(tuple(range(core * threads, (core + 1) * threads)), core // cores, core // cores, None)
            for core in range(sockets * cores)
        ),
        pus=tuple(Pu(cpu, online=True, allowed=True, core=cpu // threads) for cpu in range(sockets * each)),
        caches=tuple(_caches(fields, sockets * cores, sockets * each)),
        nodes=tuple(
            NumaNode(int(match[1]), tuple(_cpus(text)))
            for name, text in fields.items()
            if (match := re.fullmatch(r"NUMA node(\d{1,5}) CPU\(s\)", name))
        ),
        cpu_model=model,
        cpu_vendor=fields.get("Vendor ID"),
        base_clock=(
            Quantity(float(nominal[1]) * 1e9, "Hz", Origin.IMPORTED, "lscpu, from the model's name")
            if nominal
            else None
        ),
        platform=Platform(
            architecture=fields.get("Architecture"),
            hypervisor=hypervisor.lower() if hypervisor else None,
            is_guest=True if hypervisor else None,
        ),
        gaps=tuple(
            Gap(subject, "lscpu does not say")
            for subject in ("memory", "kernel", "block devices", "networks", "huge pages")
        ),
    )


def _caches(fields: dict[str, str], cores: int, pus: int) -> Iterator[Cache]:
    """Up to util-linux 2.33 the size is of one instance, later of all, whose number stands behind it."""
    for name, text in fields.items():
        kind, size = _CACHE.fullmatch(name), _SIZE.fullmatch(text)
        if kind is None or size is None:
            continue
        level = int(kind[1])
        instances = int(size[2]) if size[2] else (cores if level < 3 else 1)
        if not 0 < instances <= pus:
            continue
        try:
            total = parse_bytes(size[1])
        except MalformedError:
            continue
        each = total // instances if size[2] else total
        share = pus // instances
        for index in range(instances):
            shared = tuple(range(index * share, (index + 1) * share))
            yield Cache(level, _KINDS[kind[2]], each, None, shared)


def _cpus(text: str) -> Iterator[int]:
    for span in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", span)
        if match is not None:
            yield from range(int(match[1]), min(int(match[2] or match[1]), _MOST_PUS) + 1)
