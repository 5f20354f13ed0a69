"""Made-up machines by the shape of their CPUs: packages, nodes, L3 caches, cores and threads."""

from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.model.topology import Cache, CacheKind, Core, Package, Pu

GIB = 1 << 30


def shape(
    *, packages: int = 1, nodes: int = 1, caches: int = 1, cores: int = 1, threads: int = 1, l3: bool = True
) -> Machine:
    """A regular machine: ``nodes`` per package, ``caches`` per node, ``cores`` per cache, ``threads`` per core.

    CPUs are numbered as Linux does on most servers: the first thread of every core, then the second of every core.
    """
    total = packages * nodes * caches * cores
    pus = [tuple(range(core, total * threads, total)) for core in range(total)]

    def part(of: int, at: int) -> tuple[int, ...]:
        return tuple(sorted(cpu for core in pus[at * of : (at + 1) * of] for cpu in core))

    per_node, per_package = caches * cores, nodes * caches * cores
    return Machine(
        packages=tuple(Package(part(per_package, at), at) for at in range(packages)),
        cores=tuple(Core(cpus, at // per_package, at // per_package, at) for at, cpus in enumerate(pus)),
        pus=tuple(Pu(cpu, online=True, allowed=True, core=cpu % total) for cpu in range(total * threads)),
        caches=(
            *(Cache(2, CacheKind.UNIFIED, 1 << 20, 64, cpus) for cpus in pus),
            *(Cache(3, CacheKind.UNIFIED, 32 << 20, 64, part(cores, at)) for at in range(total // cores) if l3),
        ),
        nodes=tuple(
            NumaNode(at, part(per_node, at), (at // nodes,), memory_bytes=64 * GIB, free_bytes=48 * GIB)
            for at in range(packages * nodes)
        ),
        memory_available_bytes=packages * nodes * 48 * GIB,
    )


def eight_sockets() -> Machine:
    """8 packages, 16 nodes, 256 cores, two threads each."""
    return shape(packages=8, nodes=2, caches=2, cores=8, threads=2)


def two_sockets() -> Machine:
    """2 packages of 128 cores, two threads each, 8 nodes, an L3 cache for every 8 cores."""
    return shape(packages=2, nodes=4, caches=4, cores=8, threads=2)


def power() -> Machine:
    """2 packages of 12 cores with eight threads each, which share an L3 cache with nobody."""
    return shape(packages=2, caches=12, threads=8)


def hybrid() -> Machine:
    """6 performance cores of two threads and 8 efficient cores share an L3 cache; 2 more efficient cores have none."""
    pus = [(2 * core, 2 * core + 1) for core in range(6)] + [(cpu,) for cpu in range(12, 22)]
    cpus = tuple(range(22))
    return Machine(
        packages=(Package(cpus, 0),),
        cores=tuple(Core(own, 0, 0, at, kind="performance" if at < 6 else "efficient") for at, own in enumerate(pus)),
        pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in cpus),
        caches=(Cache(3, CacheKind.UNIFIED, 24 << 20, 64, cpus[:20]),),
        nodes=(NumaNode(0, cpus, (0,), memory_bytes=32 * GIB, free_bytes=24 * GIB),),
        memory_available_bytes=24 * GIB,
    )


def two_cpus() -> Machine:
    """A guest of one node and two CPUs without an L3 cache."""
    return shape(cores=2, l3=False)


SHAPES = {
    "8 sockets, 16 nodes": eight_sockets,
    "2 sockets of 128 cores": two_sockets,
    "Power, SMT8": power,
    "hybrid": hybrid,
    "2 CPUs without L3": two_cpus,
}
