"""A machine from the output of lscpu, whatever its version and architecture."""

import json

import pytest

from importers.results import COUNTS, lscpu
from sizeup.errors import MalformedError
from sizeup.importers.lscpu import parse_lscpu


def test_lscpu_gives_a_machine_that_sizing_can_use_with_gaps_for_the_rest() -> None:
    text = lscpu(
        *COUNTS,
        ("Model name", "Intel(R) Xeon(R) CPU E5320 @ 1.86GHz"),
        ("L1d cache", "128 KiB (4 instances)"),
        ("L3 cache", "16 MiB (2 instances)"),
        ("NUMA node0 CPU(s)", "0-3"),
        ("NUMA node1 CPU(s)", "4-7"),
    )
    machine = parse_lscpu(text, "lscpu.json").machine

    assert (len(machine.packages), len(machine.cores), machine.pu_counts.present) == (2, 4, 8)
    assert machine.base_clock.value == 1.86e9
    assert [(cache.level, cache.size_bytes) for cache in machine.caches] == [(1, 32 << 10)] * 4 + [(3, 8 << 20)] * 2
    assert [node.pus for node in machine.nodes] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert ("memory", "lscpu does not report it") in {(gap.subject, gap.reason) for gap in machine.gaps}


def test_lscpu_of_new_versions_nests_its_fields() -> None:
    nested = {"field": "Vendor ID:", "data": "GenuineIntel", "children": [{"field": "Model name:", "data": "Xeon"}]}
    entries = [{"field": f"{name}:", "data": text} for name, text in COUNTS]
    new = parse_lscpu(json.dumps({"lscpu": [*entries, nested]}), "new.json").machine

    assert new.cpu_model == "Xeon"


def shape(*fields: tuple[str, str]) -> tuple[int, int, int]:
    """Sockets, cores and CPUs online."""
    machine = parse_lscpu(lscpu(*fields), "lscpu.json").machine
    assert sorted(cpu for core in machine.cores for cpu in core.pus) == [pu.cpu for pu in machine.pus if pu.online]
    return len(machine.packages), len(machine.cores), machine.pu_counts.online


def test_lscpu_of_arm_names_clusters_where_no_sockets_are_known() -> None:
    arm = (("CPU(s)", "96"), ("Thread(s) per core", "1"), ("Core(s) per cluster", "48"), ("Cluster(s)", "2"))

    assert shape(*arm, ("Socket(s)", "-")) == (2, 96, 96)
    assert shape(*arm, ("Socket(s)", "1")) == (1, 96, 96)
    machine = parse_lscpu(lscpu(*arm, ("Socket(s)", "-")), "arm.json").machine
    assert machine.gaps[0].subject == "sockets"


def test_lscpu_of_s390_counts_sockets_in_books_and_drawers() -> None:
    cores = (("CPU(s)", "48"), ("Thread(s) per core", "2"), ("Core(s) per socket", "4"), ("Socket(s) per book", "3"))

    assert shape(*cores, ("Book(s)", "2")) == (6, 24, 48)
    assert shape(*cores, ("Book(s) per drawer", "1"), ("Drawer(s)", "2")) == (6, 24, 48)


def test_lscpu_of_cores_with_unequal_threads_has_the_cpus_that_there_are() -> None:
    hybrid = (("CPU(s)", "20"), ("Thread(s) per core", "2"), ("Core(s) per socket", "12"), ("Socket(s)", "1"))

    assert shape(*hybrid) == (1, 12, 20)


def test_lscpu_with_cpus_offline_keeps_them_apart() -> None:
    half = (("CPU(s)", "8"), ("On-line CPU(s) list", "0-1,4-5"), ("Off-line CPU(s) list", "2-3,6-7"))
    fields = (*half, ("Thread(s) per core", "1"), ("Core(s) per socket", "2"), ("Socket(s)", "2"))

    assert shape(*fields) == (2, 4, 4)
    machine = parse_lscpu(lscpu(*fields), "lscpu.json").machine
    assert [pu.cpu for pu in machine.pus if not pu.online] == [2, 3, 6, 7]
    assert machine.packages[1].pus == (4, 5)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (COUNTS[:3], "expected the fields CPU(s), Socket(s)"),  # one socket used to be taken
        ((("Prozessor(en)", "8"), *COUNTS[1:]), "LC_ALL=C lscpu -J"),
        (
            (("CPU(s)", "16"), *COUNTS[1:]),
            "expected 4 to 8 CPUs online, as 4 cores with up to 2 threads have, found 16",
        ),
        ((("CPU(s)", "3"), *COUNTS[1:]), "the fields contradict each other"),
    ],
)
def test_lscpu_without_counts_or_with_ones_that_contradict_each_other_is_refused(
    fields: tuple[tuple[str, str], ...], expected: str
) -> None:
    with pytest.raises(MalformedError) as refused:
        parse_lscpu(lscpu(*fields), "lscpu.json")
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("level", "text", "caches"),
    [
        ("L2", "256K", [256 << 10] * 4),  # up to util-linux 2.33: of one
        ("L2", "1 MiB", [256 << 10] * 4),  # 2.34 to 2.36: of all
        ("L2", "1 MiB (2 instances)", [512 << 10] * 2),  # since 2.37
        ("L3", "16384K", [16 << 20] * 2),
        ("L3", "32 MiB", [16 << 20] * 2),
        ("L3", "32 MiB (1 instance)", [32 << 20]),
        ("L2", "1048576 (4 instances)", [256 << 10] * 4),  # lscpu -B
    ],
)
def test_lscpu_sizes_of_caches_are_of_one_or_of_all_by_version(level: str, text: str, caches: list[int]) -> None:
    imported = parse_lscpu(lscpu(*COUNTS, (f"{level} cache", text)), "lscpu.json")

    assert imported.machine is not None
    assert [cache.size_bytes for cache in imported.machine.caches] == caches
    assert any("does not count caches" in note for note in imported.notes) is ("instance" not in text)
