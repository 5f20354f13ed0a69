"""What a figure rests on and leaves out is named: redo writes, archiving, links, drives, nodes and missing inputs."""

import pytest

from sizeup import cli
from sizeup.quantity import Origin, Words
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.typed import parse_settings
from sizeup.views.result.answer import answer_lines
from sizing.sized import advice, card, sized

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

    assert found.assumed == ("redo writes of 64 KiB by default (89% if they are of one block)",)
    assert larger.status == "fail"
    assert larger.assumed == ("redo writes of 64 KiB by default (80% if they are of 128 KiB)",)


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
    text = sizing.find("memory.one-node-left")

    assert text.verdict == (
        "Allocated by one process without huge pages or interleaving, the shared memory fills one node and takes "
        "10,000 MiB from others"
    )
    assert not any("fills one node" in line or "oes not fit" in line for line in answer_lines(sizing))


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
