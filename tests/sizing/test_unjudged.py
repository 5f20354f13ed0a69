"""A demand without a capacity to hold it against: the verdict says so, and is no pass of the whole."""

import pytest

from sizeup.sizing.cards import overall
from sizeup.views.result.answer import answer_lines
from sizing.sized import advice, card, sized

LOAD = ("workload.iops=20000", "workload.io_kib=8", "workload.read_percent=60", "redo.mb_s=1", "redo.write_kib=8")


@pytest.mark.parametrize(
    ("settings", "not_judged", "row"),
    [
        ((*LOAD, "workload.mb_s=4000", "capacity.iops=50000"), "its MB/s", "IOPS"),
        ((*LOAD, "workload.sequential_mb_s=400", "capacity.iops=50000"), "its MB/s", "IOPS"),
        ((*LOAD, "capacity.mb_s=1000"), "its IOPS", "MB/s"),
        ((*LOAD, "capacity.iops=50000"), "", "Storage"),
        ((*LOAD, "workload.mb_s=165", "capacity.iops=50000"), "", "Storage"),
        ((*LOAD, "workload.mb_s=400", "capacity.iops=50000", "capacity.mb_s=1000"), "", "Storage"),
        (("workload.mb_s=400", "capacity.mb_s=1000"), "", "Storage"),
    ],
)
def test_a_part_of_the_demand_that_is_not_judged_is_named_first(
    settings: tuple[str, ...], not_judged: str, row: str
) -> None:
    sizing, judged = sized(*settings), card("storage", *settings)
    lines = answer_lines(sizing)

    assert judged.not_judged == not_judged
    assert judged.status == "pass"
    assert overall(sizing.cards).value == ("assumed" if not_judged else "pass")
    assert any(line.startswith(f"{row} ") and line.endswith(" PASS") for line in lines)


@pytest.mark.parametrize(
    ("settings", "demand"),
    [
        (("workload.mb_s=100",), "164.8 MB/s"),
        (("workload.mb_s=400",), "401 MB/s"),
        (("workload.mb_s=163",), "164 MB/s"),
        ((), "164.8 MB/s"),
    ],
)
def test_a_throughput_in_all_below_the_random_io_does_not_lower_the_demand(
    settings: tuple[str, ...], demand: str
) -> None:
    found = card("storage", *LOAD, *settings, "capacity.mb_s=1000")

    assert found.demand == demand
    said = "100 MB/s in all (workload.mb_s) are less than the random I/O alone, which counts: check both figures"
    assert any(said.lower() in note.lower() for note in found.sentences) is (settings == ("workload.mb_s=100",))


def test_a_block_size_that_nobody_chose_contradicts_no_throughput() -> None:
    load = ("workload.iops=20000", "workload.read_percent=60", "redo.mb_s=1", "redo.write_kib=8")

    assert card("storage", *load, "workload.mb_s=100", "capacity.mb_s=1000").demand == "101 MB/s"


@pytest.mark.parametrize(
    ("settings", "said"),
    [(("capacity.iops=50000",), True), (("array.disks=24", "array.raid=10", "array.drive_iops=4000"), False)],
)
def test_iops_of_one_mix_say_that_reads_and_writes_are_not_told_apart(settings: tuple[str, ...], said: bool) -> None:
    caveats = advice("verdict.storage", *LOAD, *settings).caveats

    assert any("those of one mix, so the share of reads changes nothing" in one for one in caveats) is said


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (("workload.p99_ms=5",), "p99 latency"),
        (("workload.commits_s=2000", "workload.p99_ms=5"), "p99 latency, commits"),
    ],
)
def test_latency_and_commits_are_named_as_not_judged_and_keep_the_whole_from_passing(
    wanted: tuple[str, ...], names: str
) -> None:
    sizing = sized(*LOAD, "capacity.iops=50000", *wanted)
    alone = sized(*wanted)

    assert overall(sizing.cards).value == "assumed"
    assert answer_lines(sizing)[0].startswith("ASSUMED ")
    assert f"Not judged: {names}" in " ".join(" ".join(answer_lines(sizing)).split())
    assert any(
        note.startswith("p99 latency (5 ms wanted): not judged")
        for note in card("storage", *LOAD, *wanted, "capacity.iops=50000").notes
    )
    assert answer_lines(alone)[0].startswith("NO VERDICT ")
    assert sized(*LOAD, *wanted, "capacity.iops=9000").cards[0].status == "fail"
