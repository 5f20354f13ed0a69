"""Which facts of two machines count as a difference."""

from msgspec.structs import replace

from sizeup.compare.drift import drift
from sizeup.compare.machines import configuration, machine_differences
from sizeup.discovery.machine import assessed
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.storage import Hba, Transport
from sizeup.model.topology import Cache, CacheKind

KIB = 1 << 10
L1D, L1I = (Cache(1, kind, 32 * KIB, 64, (0,)) for kind in (CacheKind.DATA, CacheKind.INSTRUCTION))
L2, UNSIZED = (Cache(2, CacheKind.UNIFIED, size, 64, (0,)) for size in (1024 * KIB, None))


def test_caches_count_by_level_and_size_if_they_hold_data_and_their_size_is_known() -> None:
    machine = Machine(caches=(L2, L1D, L1I, L1D, L1I, UNSIZED))

    assert configuration(machine)["caches"] == "2 x L1 32 KiB, 1 x L2 1 MiB"
    assert [one.what for one in machine_differences([machine], [Machine(caches=(L1D, L1D, L2))])] == []


def test_parts_of_an_unknown_driver_speed_or_size_are_counted_by_what_is_known() -> None:
    ports = [Nic(f"eth{n}", "physical", driver="mlx5_core", speed_bits_per_second=25 * 10**9) for n in range(2)]
    adapters = (
        Hba("host3", Transport.FC, "qla2xxx", speed_bits_per_second=16 * 10**9),
        Hba("host4", Transport.FC),
    )
    nodes = (NumaNode(0, (0,), memory_bytes=2**30), NumaNode(1, (1,), memory_bytes=None))
    pools = (HugePages(2 << 20, 0, 0), HugePages(1 << 30, 4, 4))
    found = Machine(nics=(*ports, Nic("eth2", "physical")), hbas=adapters, nodes=nodes, huge_pages=pools)
    told = {one.what: one.new for one in machine_differences([found], [Machine()])}

    assert told["networks"] == "2 x mlx5_core 25 Gb/s, 1 x physical"
    assert told["host adapters"] == "1 x fc, 1 x fc qla2xxx 16 Gb/s"
    assert told["memory by node"] == "0: 1 GiB, 1: unknown"
    assert told["huge page pools"] == "4 x 1 GiB"
    assert machine_differences([found], []) == machine_differences([], [found]) == ()


def test_memory_by_node_that_does_not_add_up_is_no_fact_to_compare() -> None:
    now, before = (
        assessed(Machine(memory_bytes=24 << 30, nodes=(NumaNode(0, (0,), memory_bytes=size << 30),))) for size in (9, 6)
    )
    whole, more = (replace(one, memory_bytes=size << 30, findings=()) for one, size in ((before, 6), (now, 9)))

    assert [one.what for one in machine_differences([now], [before])] == []
    assert [one.what for one in machine_differences([more], [whole])] == ["memory", "memory by node"]


def test_a_mount_that_got_several_connections_has_drifted() -> None:
    was, now = (Machine(nfs_mounts=(NfsMount("/u01", "filer:/u01", nconnect=count),)) for count in (None, 8))
    drifted = {one.fact: (one.baseline, one.now) for one in drift(was, now).drifted}

    assert drifted == {"mount /u01 nconnect": ("not set", "8")}
