"""What a figure rests on and leaves out is named: redo writes, archiving, links, drives, nodes and missing inputs."""

import pytest

from sizeup import cli
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import size
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.answer import answer_lines
from sizing.sized import ARRAY, advice, card, sized

LOAD = ("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8")
PATHS = ("path.stages=hba:fc16*2", "path.policy=active-active")
DRIVES = ("array.disks=24", "array.raid=10", "array.drive_iops=4000", "array.drive_mb_s=500")


@pytest.mark.parametrize(
    ("redo", "status"),
    [
        (("redo.mb_s=10",), "pass"),  # of one block each they pass as well
        (("redo.mb_s=120",), "assumed"),
        (("redo.mb_s=120", "redo.write_kib=64"), "pass"),
        (("redo.mb_s=120", "redo.writes_s=1500"), "pass"),
    ],
)
def test_a_pass_rests_on_the_size_of_redo_writes_where_small_ones_would_not_pass(
    redo: tuple[str, ...], status: str
) -> None:
    found = card("storage", *LOAD, *DRIVES, *PATHS, *redo)

    assert found.status == status
    assert (found.assumed == ()) == (status == "pass")


def test_the_assumed_size_of_redo_writes_is_named_with_what_smaller_ones_take() -> None:
    """24,000 reads and twice 16,000 writes and the redo's, of 96,000: 14,648 redo writes of 8 KiB, 20,599 of 64 KiB."""
    found = card("storage", *LOAD, *DRIVES, *PATHS, "redo.mb_s=120")
    larger = card("storage", *LOAD, *DRIVES, *PATHS, "redo.mb_s=1350")

    assert found.assumed == ("redo writes of 64 KiB by default (89 % if they are of one block)",)
    assert larger.status == "fail"
    assert larger.assumed == ("redo writes of 64 KiB by default (80 % if they are of 128 KiB)",)


@pytest.mark.parametrize(
    ("iops", "status", "named"),
    [
        (2000, "pass", ()),  # 59.5 %; 68.7 and 45.8 % at the ends
        (2100, "assumed", ("70 % reads by default (72 % at 50 %)",)),
        (2500, "warn", ()),  # a lost drive leaves 2,184 IOPS, whatever the mix
        (3500, "fail", ("70 % reads by default (80 % at 100 %)",)),
        (4500, "fail", ()),  # 103 % of reads alone
    ],
)
def test_a_default_share_of_reads_is_named_where_its_ends_decide(
    iops: int, status: str, named: tuple[str, ...]
) -> None:
    """24 drives of 182 IOPS in RAID 10: 4,368 / (r + 2 (1 - r)) = 2,912, 3,360 and 4,368 at 50, 70, 100 % reads."""
    found = card("storage", f"workload.iops={iops}", "workload.io_kib=8", *ARRAY)

    assert (found.status, found.assumed) == (status, named)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (("workload.iops=20000",), ()),  # 655 of 1,600 MB/s at 32 KiB
        (("workload.iops=40000",), ("a block size of 8 KiB by default (82 % at 32 KiB)",)),
        (("workload.iops=40000", "workload.io_kib=8"), ()),
        (("workload.iops=40000", "workload.mb_s=400"), ()),
        (("workload.iops=3000", "path.policy="), ()),
        (("workload.mb_s=720", "path.policy="), ("all paths carry data (90 % if half are passive)",)),
    ],
)
def test_a_default_that_cannot_change_the_status_is_not_mentioned(
    settings: tuple[str, ...], named: tuple[str, ...]
) -> None:
    """Two paths of 800 MB/s: 40,000 x 32 KiB are 1,311 MB/s, 82 % of them; 720 MB/s are 90 % of one path."""
    policy = () if "path.policy=" in settings else PATHS[1:]
    stated = [one for one in settings if one != "path.policy="]
    beyond = ("capacity.iops=1000000", "capacity.mb_s=9000")
    found = card("storage", *stated, "workload.read_percent=100", "path.stages=hba:fc8*2", *policy, *beyond)

    assert (found.status, found.assumed) == ("assumed" if named else "pass", named)


@pytest.mark.parametrize(
    ("iops", "stated", "named"),
    [
        (800, ("capacity.iops=5000",), ()),
        (1000, ("capacity.iops=5000",), ("no peaks above the average (80 % at 4 times that)",)),
        (1000, ("capacity.iops=5000", "workload.percentile=95"), ()),
        (
            20000,
            ("capacity.mb_s=1600", "workload.percentile="),
            ("no peaks above the average (41 % at 4 times that)", "a block size of 8 KiB by default (41 % at 32 KiB)"),
        ),
    ],
)
def test_the_average_of_one_interval_hides_peaks(iops: int, stated: tuple[str, ...], named: tuple[str, ...]) -> None:
    """4 x 800 of 5,000 IOPS pass and 4 x 1,000 do not.

    164 of 1,600 MB/s pass at 4 times the average (655 MB/s), at 32 KiB (655 MB/s), and not at both (2,621 MB/s).
    """
    block = () if "workload.percentile=" in stated else ("workload.io_kib=8",)
    average = Quantity(iops, "1/s", Origin.IMPORTED, "awr.txt", low=iops, high=iops)
    given = parse_settings([*block, *(one for one in stated if not one.endswith("="))])
    (found,) = (one for one in size({"workload.iops": average, **given}).cards if one.resource == "storage")

    assert (found.status, found.assumed) == ("assumed" if named else "pass", named)


@pytest.mark.parametrize(
    ("capacity", "status"), [(8000, "pass"), (6000, "warn"), (4000, "uncertain"), (1010, "uncertain"), (990, "fail")]
)
def test_a_demand_that_is_stated_as_a_range_is_judged_at_its_ends(capacity: int, status: str) -> None:
    """1,000 to 5,000 IOPS: 63 and 83 % at worst, then 125 %; 101 % of 990 at best."""
    given = ("workload.iops=1000..2000..5000", "workload.io_kib=8", f"capacity.iops={capacity}")
    found = card("storage", *given)

    assert (found.status, found.share) == (status, 2000 / capacity)
    assert ("Enter the demand more exactly to decide" in found.statement) == (status == "uncertain")
    assert card("storage", *given, "workload.percentile=95").status == status


@pytest.mark.parametrize(("size", "said"), [((), "64 KiB (assumed)"), (("redo.write_kib=16",), "16 KiB")])
def test_the_size_of_a_synchronous_redo_write_is_named(size: tuple[str, ...], said: str) -> None:
    verdict = advice("redo.sync-write", "redo.mb_s=15", "redo.sync_write_us=500", *size).verdict

    assert verdict.endswith(f"at 500 us per write of {said}")


@pytest.mark.parametrize(
    ("drive", "drives"),
    [((), 5), (("array.drive=hdd-15k",), 5), (("array.drive_iops=20000",), 1), (("array.drive_write_iops=400",), 5)],
)
def test_redo_fills_drives_of_the_array_and_disks_where_none_is_known(drive: tuple[str, ...], drives: int) -> None:
    quantity = advice("redo.drives", "redo.mb_s=60", "array.disks=24", "array.raid=10", *drive).quantity

    assert quantity.value == drives


@pytest.mark.parametrize(("stages", "said"), [("hba:fc16*2", True), ("disk:sata3*2", False)])
def test_both_directions_of_a_link_are_compared_with_one(stages: str, said: bool) -> None:
    caveats = advice("verdict.storage", *LOAD, f"path.stages={stages}").caveats

    assert any("compared with one direction" in caveat for caveat in caveats) == said


def test_a_port_that_is_down_is_named_beside_paths_that_are_set() -> None:
    down = {"path.down": Words("host4 (Linkdown)", Origin.DETECTED, "sysfs")}
    cards = size({**down, **parse_settings([*LOAD, *PATHS])}).cards
    storage = next(card for card in cards if card.resource == "storage")

    assert "Down on this machine, while path.stages counts as set: host4 (Linkdown)" in storage.sentences


def test_memory_on_one_node_alone_is_no_problem_of_a_verdict_that_passes() -> None:
    nodes = ("numa.nodes=2", "numa.node_mb=65536,65536", "numa.free_mb=60000,60000", "machine.memory_gib=128")
    sizing = sized("workload.mb_s=100", "capacity.mb_s=1000", "sga.mb=70000", *nodes)
    text = sizing.find("memory.one-node-spill")

    assert text.quantity is not None
    assert text.quantity.value == 10_000 << 20
    assert text.verdict == (
        "Allocated by one process without huge pages or interleaving, the shared memory fills one node and takes "
        "10,000 MiB from others"
    )
    assert not any("fills one node" in line or "oes not fit" in line for line in answer_lines(sizing))
    alone = ("numa.nodes=1", "numa.free_mb=60000", "machine.memory_gib=128")
    assert not any("one-node" in one.id for one in sized("sga.mb=70000", *alone).advice), "there are no others"


def explained(capsys: pytest.CaptureFixture[str], name: str, *settings: str) -> str:
    status = cli.run(["size", "--machine", "none", "--show", name, "--set", *settings])
    captured = capsys.readouterr()
    assert status == (2 if captured.err else 0)
    return captured.err or captured.out


def test_what_is_explained_without_its_capacity_names_the_capacity(capsys: pytest.CaptureFixture[str]) -> None:
    text = explained(capsys, "memory", "db.gb=4000", "workload.rules_of_thumb=yes")

    assert "Memory: 372.5 GiB " in text
    assert "Use --set machine.memory_gib=N" in text


def test_an_answer_that_does_not_apply_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = explained(capsys, "redo.sync-write", "machine.cores=16")

    assert "found none: nothing about" in text


def test_a_license_that_is_too_long_for_its_row_loses_its_years_and_no_word_in_half() -> None:
    server = ("machine.cores=128", "machine.memory_gib=8", "db.gb=4000")
    row = next(line for line in answer_lines(sized(*LOAD, *PATHS, *DRIVES, *server)) if line.startswith("License"))

    assert "…" not in row
    assert row.endswith("ASSUMED")
