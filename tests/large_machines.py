"""Large machines, made up: eight shapes of servers with their caches, nodes, memory and disks.

No such machine was measured for this. The sizes are those of servers that are sold, and the firmware's distances are
the usual ones.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, MemoryKind, NumaNode
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.model.topology import Cache, CacheKind, Core, Package, Pu

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
_LOCAL, _SAME_PACKAGE, _REMOTE, _TWO_HOPS, _MEMORY_ONLY = 10, 12, 21, 31, 14


def made(
    sockets: int,
    cores: int,
    l3s: int,
    l3_bytes: int,
    *,
    nodes: int = 1,
    threads: int = 1,
    l2: tuple[int, int] = (2 * MIB, 1),
    node_bytes: int = 512 * GIB,
    memory_only: Sequence[int] = (),
) -> Machine:
    """A machine with so many cores, L3s and nodes per socket; ``l2``: bytes and the cores that share one.

    ``memory_only``: bytes of further nodes, one next to each socket in turn.
    """
    count = sockets * cores
    siblings = [tuple(core + thread * count for thread in range(threads)) for core in range(count)]

    def groups(each: int) -> list[tuple[int, ...]]:
        return [tuple(cpu for core in siblings[at : at + each] for cpu in core) for at in range(0, count, each)]

    caches = [Cache(2, CacheKind.UNIFIED, l2[0], 64, group) for group in groups(l2[1])]
    if l3s:
        caches += [Cache(3, CacheKind.UNIFIED, l3_bytes, 64, group) for group in groups(cores // l3s)]
    near = groups(cores // nodes)
    sizes = [node_bytes] * len(near) + list(memory_only)
    sockets_of = [at // nodes for at in range(len(near))] + [at % sockets for at in range(len(memory_only))]

    def distance(one: int, other: int) -> int:
        if one == other:
            return _LOCAL
        far = (sockets_of[one] ^ sockets_of[other]).bit_count()
        step = (_SAME_PACKAGE, _REMOTE, _TWO_HOPS, _TWO_HOPS)[far]
        return step + _MEMORY_ONLY - _LOCAL if max(one, other) >= len(near) else step

    return Machine(
        packages=tuple(Package(group, at) for at, group in enumerate(groups(cores))),
        pus=tuple(Pu(cpu, online=True, allowed=True, core=cpu % count) for cpu in range(count * threads)),
        cores=tuple(Core(pus, at // cores, 0, at) for at, pus in enumerate(siblings)),
        caches=tuple(caches),
        nodes=tuple(
            NumaNode(
                at,
                near[at] if at < len(near) else (),
                (sockets_of[at],) if at < len(near) else (),
                memory_bytes=size,
                free_bytes=size,
                distances=tuple(distance(at, other) for other in range(len(sizes))),
                kind=MemoryKind.DRAM if at < len(near) else MemoryKind.CXL,
            )
            for at, size in enumerate(sizes)
        ),
        memory_bytes=sum(sizes),
        memory_available_bytes=sum(sizes),
    )


def eight_sockets() -> Machine:
    """8 sockets, 16 nodes, 256 cores in all, SMT2."""
    return made(8, 32, 1, 112 * MIB, nodes=2, threads=2, node_bytes=256 * GIB)


def two_sockets() -> Machine:
    """2 sockets of 128 cores with one L3 of 504 MiB each, SMT2, 8 nodes."""
    return made(2, 128, 1, 504 * MIB, nodes=4, threads=2, node_bytes=192 * GIB)


def large_l3() -> Machine:
    """2 sockets of 96 cores with 1.1 GB of L3 in 12 parts each, SMT2."""
    return made(2, 96, 12, 96 * MIB, threads=2, l2=(MIB, 1))


def one_large_l3() -> Machine:
    """As the former, with one L3 for all cores of a socket: the most that a thread could have to exceed."""
    return made(2, 96, 1, 1152 * MIB, threads=2, l2=(MIB, 1))


def memory_only() -> Machine:
    """2 sockets of 56 cores, and two CXL nodes without CPUs."""
    return made(2, 56, 1, 105 * MIB, threads=2, node_bytes=256 * GIB, memory_only=(128 * GIB, 128 * GIB))


def arm() -> Machine:
    """2 sockets of 80 Arm cores with pages of 64 KiB; the kernel reports no L3."""
    base = made(2, 80, 0, 0, l2=(MIB, 1), node_bytes=256 * GIB)
    pools = tuple(HugePages(size, 0, 0) for size in (2 * MIB, 512 * MIB, 16 * GIB))
    return replace(
        base,
        platform=replace(base.platform, architecture="aarch64"),
        nodes=tuple(replace(node, huge_pages=pools) for node in base.nodes),
        huge_pages=pools,
    )


def hybrid() -> Machine:
    """8 fast cores of two threads, 16 slow ones that share an L2 by four, and two on no L3 at all."""
    base = made(1, 26, 0, 0, node_bytes=128 * GIB)
    fast = tuple(range(8))
    second = tuple(range(26, 34))
    caches = [Cache(2, CacheKind.UNIFIED, 3 * MIB, 64, (cpu, cpu + 26)) for cpu in fast]
    caches += [Cache(2, CacheKind.UNIFIED, 4 * MIB, 64, tuple(range(at, at + 4))) for at in range(8, 24, 4)]
    caches += [Cache(2, CacheKind.UNIFIED, 2 * MIB, 64, (24, 25))]
    caches += [Cache(3, CacheKind.UNIFIED, 36 * MIB, 64, (*range(24), *second))]
    return replace(
        base,
        packages=(Package(tuple(range(34)), 0),),
        pus=base.pus + tuple(Pu(cpu, online=True, allowed=True, core=cpu - 26) for cpu in second),
        cores=tuple(
            replace(core, pus=(core.pus[0], core.pus[0] + 26)) if core.pus[0] in fast else core for core in base.cores
        ),
        caches=tuple(caches),
        nodes=(replace(base.nodes[0], pus=tuple(range(34))),),
    )


def power() -> Machine:
    """2 sockets of 12 Power cores of eight threads; two cores share an L3."""
    base = made(2, 12, 6, 16 * MIB, threads=8, l2=(MIB, 2), node_bytes=256 * GIB)
    return replace(base, platform=replace(base.platform, architecture="ppc64le"))


def four_sockets() -> Machine:
    """4 sockets of 60 cores, SMT2, 4 TB, and 24 NVMe drives, six on each node."""
    base = made(4, 60, 1, 112 * MIB, threads=2, node_bytes=TIB)
    drives = tuple(
        BlockDevice(
            f"nvme{at}n1",
            BlockKind.NVME,
            7_681_501_126_656,
            pci_address=f"0000:{16 + at:02x}:00.0",
            node=at // 6,
            mount_points=(f"/data{at:02}",),
        )
        for at in range(24)
    )
    return replace(base, block_devices=drives)


EIGHT: dict[str, Callable[[], Machine]] = {
    "1: 8 sockets, 16 nodes, 256 cores, SMT2": eight_sockets,
    "2: 2 x 128 cores, SMT2, 8 nodes": two_sockets,
    "3: 1.1 GB of L3 per socket": large_l3,
    "4: 2 sockets and memory-only CXL nodes": memory_only,
    "5: Arm, 64 KiB pages": arm,
    "6: hybrid cores": hybrid,
    "7: Power, SMT8": power,
    "8: 4 sockets, 4 TB, 24 NVMe": four_sockets,
}
"""The shapes that every plan must suit."""

PAGE_BYTES = {"5: Arm, 64 KiB pages": 64 * KIB, "7: Power, SMT8": 64 * KIB}
"""Sizes of base pages other than 4 KiB."""
