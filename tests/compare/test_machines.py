"""Which facts of two machines count as a difference."""

from sizeup.compare.machines import configuration, machine_differences
from sizeup.model.machine import Machine
from sizeup.model.topology import Cache, CacheKind

KIB = 1 << 10
L1D, L1I = (Cache(1, kind, 32 * KIB, 64, (0,)) for kind in (CacheKind.DATA, CacheKind.INSTRUCTION))
L2, UNSIZED = (Cache(2, CacheKind.UNIFIED, size, 64, (0,)) for size in (1024 * KIB, None))


def test_caches_count_by_level_and_size_if_they_hold_data_and_their_size_is_known() -> None:
    machine = Machine(caches=(L2, L1D, L1I, L1D, L1I, UNSIZED))

    assert configuration(machine)["caches"] == "2 x L1 32 KiB, 1 x L2 1 MiB"
    assert [one.what for one in machine_differences([machine], [Machine(caches=(L1D, L1D, L2))])] == []
