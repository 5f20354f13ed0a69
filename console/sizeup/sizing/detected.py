"""What discovery found, as inputs of sizing."""

from __future__ import annotations

from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.keys import Value


def detected(machine: Machine) -> dict[str, Value]:
    """Keys that this machine answers by itself; what it does not know stays away."""
    values: dict[str, Value] = {}

    def count(key: str, number: int, source: str, doubts: tuple[str, ...] = ()) -> None:
        if number > 0:
            values[key] = Quantity(number, "1", Origin.DETECTED, source, doubts=doubts)

    guest = ("in a guest these are virtual processors: host cores unknown",) if machine.platform.is_guest else ()
    count("machine.sockets", len(machine.packages), "packages", guest)
    count("machine.cores", len(machine.cores), "distinct core_cpus sets", guest)
    if machine.packages and len(machine.cores) % len(machine.packages) == 0:
        count("machine.cores_per_socket", len(machine.cores) // len(machine.packages), "cores / packages", guest)
    count("machine.vcpus", machine.pu_counts.online, "PUs online")
    threads = {len(core.pus) for core in machine.cores}
    if len(threads) == 1:
        count("machine.threads_per_core", threads.pop(), "core_cpus", guest)
    count("numa.nodes", sum(bool(node.memory_bytes) for node in machine.nodes), "/sys/devices/system/node")
    if machine.memory_bytes:
        values["machine.memory_gib"] = Quantity(machine.memory_bytes, "bytes", Origin.DETECTED, "/proc/meminfo")
    if machine.platform.is_guest is not None:
        source = machine.platform.hypervisor or "hypervisor flag of the CPU"
        values["machine.guest"] = Words("yes" if machine.platform.is_guest else "no", Origin.DETECTED, source)
    for pool in machine.huge_pages:
        if pool.page_bytes == 2 << 20:
            count("memory.huge_pages", pool.total, "nr_hugepages")
    if machine.base_clock is not None:
        values["machine.ghz"] = machine.base_clock
    if machine.cpu_model:
        values["machine.cpu_model"] = Words(machine.cpu_model, Origin.DETECTED, "/proc/cpuinfo")
    return values
