"""``lscpu -J``: the processors of a machine that nobody can log in to any more.

By util-linux's own ``lscpu.c``: up to 2.33 the size of a cache is that of one (``256K``), from 2.34 on that of all
(``1 MiB``), whose number is added from 2.37 on. Where the kernel names no sockets (Arm) there are clusters, on s390
sockets stand in books and these in drawers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from sizeup.errors import MalformedError
from sizeup.importers.imported import Imported
from sizeup.model.machine import Gap, Machine, Platform
from sizeup.model.numa import NumaNode
from sizeup.model.topology import Cache, CacheKind, Core, Die, Package, Pu
from sizeup.quantity import Origin, Quantity
from sizeup.text import one_line
from sizeup.units import parse_bytes

MARK = '"lscpu"'

_MOST_PUS = 8192
_NOT_REPORTED = ("memory", "kernel", "block devices", "networks", "huge pages")
_CACHE = re.compile(r"L(\d)([di]?) cache")
_SIZE = re.compile(r"([\d.]+\s*[KMG]?(?:i?B)?)(?:\s*\((\d{1,6}) instances?\))?")
_NOMINAL = re.compile(r"@\s*(\d{1,3}(?:\.\d+)?)\s*GHz")
_KINDS = {"d": CacheKind.DATA, "i": CacheKind.INSTRUCTION, "": CacheKind.UNIFIED}


class _Item(msgspec.Struct):
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
    shape = _shape(fields, where)
    notes = ["lscpu does not report which CPUs share a core or a cache; they were numbered in order."]
    if any(_CACHE.fullmatch(name) and "instance" not in text for name, text in fields.items()):
        notes.append("This lscpu does not count caches: one L1 and L2 per core and one L3 per socket are assumed.")
    return Imported("lscpu", machine=_machine(fields, shape), notes=tuple(notes))


class _Shape(Struct, frozen=True):
    """How many of each there are."""

    packages: int
    cores: int
    present: int
    online: tuple[int, ...]
    """Numbers of the CPUs that belong to the cores."""
    gaps: tuple[Gap, ...]

    def of_core(self, core: int) -> tuple[int, ...]:
        """Its CPUs: where some cores have more than others (performance and efficiency), the first have."""
        each, more = divmod(len(self.online), self.cores)
        start = core * each + min(core, more)
        return self.online[start : start + each + (core < more)]


def _shape(fields: dict[str, str], where: str) -> _Shape:
    clusters, books = _count(fields, "Cluster(s)"), _count(fields, "Socket(s) per book")
    each = _count(fields, "Core(s) per socket") or _count(fields, "Core(s) per cluster")
    threads, present = _count(fields, "Thread(s) per core"), _count(fields, "CPU(s)")
    sockets = _count(fields, "Socket(s)")
    if books:
        drawers = _count(fields, "Drawer(s)")
        of_drawer = _count(fields, "Book(s) per drawer") if drawers else _count(fields, "Book(s)")
        sockets = books * (of_drawer or 1) * (drawers or 1)
    groups = clusters or sockets
    if not (groups and each and threads and present) or max(groups * each * threads, present) > _MOST_PUS:
        raise MalformedError(
            f"{where}: expected the fields CPU(s), Socket(s), Core(s) per socket and Thread(s) per core of lscpu -J, "
            f"for at most {_MOST_PUS} CPUs; in other languages: LC_ALL=C lscpu -J"
        )
    cores = groups * each
    online = tuple(sorted(set(_cpus(fields["On-line CPU(s) list"])))) if "On-line CPU(s) list" in fields else ()
    online = online or tuple(range(present))
    if not cores <= len(online) <= cores * threads:
        raise MalformedError(
            f"{where}: expected {cores} to {cores * threads} CPUs online, as {cores} cores with up to {threads} "
            f"threads have, found {len(online)}: the fields contradict each other"
        )
    gaps: tuple[Gap, ...] = ()
    if not sockets:
        gaps = (Gap("sockets", "lscpu names clusters of cores and no sockets; each cluster counts as a socket"),)
    packages = sockets if sockets and cores % sockets == 0 else groups
    return _Shape(packages, cores, max(present, online[-1] + 1), online, gaps)


def _fields(entries: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Field and text, those within headings included, as newer versions nest them."""
    for entry in msgspec.convert(entries, tuple[_Item, ...]) if depth < 10 and entries else ():
        if entry.data is not None:
            yield one_line(entry.field, 80).removesuffix(":"), one_line(str(entry.data), 4000)
        yield from _fields(entry.children, depth + 1)


def _count(fields: dict[str, str], name: str) -> int | None:
    """None where the field is not there, or is a dash."""
    text = fields.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) else None


def _machine(fields: dict[str, str], shape: _Shape) -> Machine:
    model = fields.get("Model name")
    each = shape.cores // shape.packages
    cores = tuple(Core(shape.of_core(core), core // each, core // each, None) for core in range(shape.cores))
    packages = [
        tuple(cpu for core in cores[index * each : (index + 1) * each] for cpu in core.pus)
        for index in range(shape.packages)
    ]
    core_of = {cpu: index for index, core in enumerate(cores) for cpu in core.pus}
    nominal = _NOMINAL.search(model or "")
    where = "lscpu, from the model's name"
    clock = Quantity(float(nominal[1]) * 1e9, "Hz", Origin.IMPORTED, where) if nominal else None
    hypervisor = fields.get("Hypervisor vendor")
    unknown = (Gap(subject, "lscpu does not report it") for subject in _NOT_REPORTED)
    return Machine(
        packages=tuple(Package(pus, index, model) for index, pus in enumerate(packages)),
        dies=tuple(Die(pus, index, None) for index, pus in enumerate(packages)),
        cores=cores,
        pus=tuple(
            Pu(cpu, online=cpu in core_of, allowed=cpu in core_of, core=core_of.get(cpu))
            for cpu in range(shape.present)
        ),
        caches=tuple(_caches(fields, shape)),
        nodes=tuple(
            NumaNode(int(match[1]), tuple(_cpus(text)))
            for name, text in fields.items()
            if (match := re.fullmatch(r"NUMA node(\d{1,5}) CPU\(s\)", name))
        ),
        cpu_model=model,
        cpu_vendor=fields.get("Vendor ID"),
        base_clock=clock,
        platform=Platform(
            architecture=fields.get("Architecture"),
            hypervisor=hypervisor.lower() if hypervisor else None,
            is_guest=True if hypervisor else None,
        ),
        gaps=(*shape.gaps, *unknown),
    )


def _caches(fields: dict[str, str], shape: _Shape) -> Iterator[Cache]:
    """A size with a binary unit is that of all; ``256K``, of old versions, of one."""
    for name, text in fields.items():
        kind, size = _CACHE.fullmatch(name), _SIZE.fullmatch(text)
        if kind is None or size is None:
            continue
        level = int(kind[1])
        instances = int(size[2]) if size[2] else shape.cores if level < 3 else shape.packages
        if not 0 < instances <= len(shape.online):
            continue
        try:
            written = parse_bytes(size[1])
        except MalformedError:
            continue
        each = written if size[1].endswith(("K", "M", "G")) else written // instances
        share = len(shape.online) // instances
        for index in range(instances):
            yield Cache(level, _KINDS[kind[2]], each, None, shape.online[index * share : (index + 1) * share])


def _cpus(text: str) -> Iterator[int]:
    for span in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", span)
        if match is not None:
            yield from range(int(match[1]), min(int(match[2] or match[1]), _MOST_PUS) + 1)
