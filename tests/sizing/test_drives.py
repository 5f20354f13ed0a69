"""Drives of an array: IOPS and MB/s, of disks and of flash, as a stage beside the paths."""

import pytest

from sizeup.model.advice import Card
from sizeup.sizing.rules import shipped
from sizing.sized import advice, sized, value

DISKS = ("array.disks=24", "array.drive=hdd-15k", "array.raid=10")
FLASH = ("array.disks=24", "array.raid=10", "array.drive_iops=4000")
TEN = ("array.disks=10", "array.raid=10", "array.drive_iops=10000")
PATH = "path.stages=hba:fc32*4"


def storage(*settings: str) -> Card:
    return next(card for card in sized(*settings).cards if card.resource == "storage")


def test_the_mb_s_of_the_drives_are_balanced_beside_the_links() -> None:
    found = storage("workload.mb_s=3500", "workload.read_percent=100", PATH, *DISKS)

    assert found.share == pytest.approx(3500 / (24 * 163))
    assert found.status == "warn"
    assert (found.demand, found.detected) == ("3,500 MB/s", "3,912 MB/s (24 drives in RAID 10)")
    assert (found.failures[0].lost, found.failures[0].share) == ("one of 24 drives", pytest.approx(2 * 3500 / 3912))


def test_writes_take_the_mb_s_of_the_drives_by_the_raid_level() -> None:
    read = storage("workload.mb_s=1000", "workload.read_percent=100", PATH, *DISKS)
    written = storage("workload.mb_s=1000", "workload.read_percent=0", PATH, *DISKS)
    parity = storage("workload.mb_s=1000", "workload.read_percent=0", PATH, *DISKS[:2], "array.raid=5")

    assert read.share is not None
    assert written.share == pytest.approx(2 * read.share)
    assert parity.share == pytest.approx(4 * read.share)


def test_redo_counts_as_writes_in_the_mb_s_of_the_drives() -> None:
    workload = ("workload.mb_s=500", "workload.read_percent=100", "redo.mb_s=500", "redo.writes_s=10")
    found = storage(*workload, PATH, *DISKS)

    assert found.share == pytest.approx((500 + 2 * 500) / (24 * 163))


@pytest.mark.parametrize("stated", ["capacity.mb_s=5000", "capacity.iops=100000"])
def test_what_is_known_of_the_storage_takes_the_place_of_its_drives(stated: str) -> None:
    """Each unit on its own: a known throughput leaves the IOPS of the drives in the balance."""
    workload = ("workload.iops=3000", "workload.mb_s=4000", "workload.read_percent=100")
    found = storage(*workload, PATH, *DISKS, stated)

    by_unit = {"capacity.mb_s=5000": 0.8, "capacity.iops=100000": 4000 / (24 * 163)}
    assert found.share == pytest.approx(by_unit[stated])


def test_flash_writes_are_slower_than_its_reads() -> None:
    flash = ("array.disks=4", "array.drive=nvme-pcie4", "array.raid=10")

    assert value("io.capacity.iops", *flash, "workload.read_percent=100") == pytest.approx(4 * 900e3)
    assert value("io.capacity.iops", *flash, "workload.read_percent=0") == pytest.approx(4 * 200e3 / 2)
    assert value("io.capacity.drives", *flash, "workload.read_percent=100") == pytest.approx(4 * 6.5e9)
    assert value("io.capacity.drives", *flash, "workload.read_percent=0") == pytest.approx(4 * 3.5e9 / 2)


def test_half_of_the_operations_of_a_write_with_parity_are_reads() -> None:
    flash = ("array.disks=4", "array.drive_iops=400", "array.drive_write_iops=100", "array.raid=5")

    assert value("io.capacity.iops", *flash, "workload.read_percent=0") == pytest.approx(4 / (2 / 400 + 2 / 100))


def test_many_large_requests_to_flash_end_at_its_mb_s() -> None:
    flash = ("array.disks=2", "array.drive=nvme-pcie3", "array.raid=0")
    found = storage("workload.iops=500000", "workload.io_kib=8", "workload.read_percent=100", *flash)

    assert found.share == pytest.approx(500000 * 8192 / 6.4e9)  # 39 % of the IOPS


def test_stated_mb_s_of_a_drive_takes_the_place_of_the_catalog() -> None:
    stated = ("array.disks=10", "array.raid=0", "array.drive_mb_s=100")

    assert value("io.capacity.drives", *stated, "workload.read_percent=100") == 1e9
    assert storage("workload.mb_s=1100", *stated).status == "fail"


def test_a_default_share_of_reads_matters_only_where_it_changes_the_verdict() -> None:
    assert storage("workload.mb_s=100", PATH, *DISKS).status == "pass"
    assert storage("workload.mb_s=1900", PATH, *DISKS).status == "assumed"
    assert storage("workload.mb_s=2500", PATH, *DISKS).status == "warn"


def test_every_kind_of_drive_but_the_slowest_disk_has_iops_and_mb_s_with_source_and_date_or_reason() -> None:
    rules = shipped()
    kinds = {name.split(".")[1] for name in rules.figures if name.startswith("drive.")}

    assert kinds == {
        "hdd-5k4", "hdd-7k2", "hdd-10k", "hdd-15k", "ssd-sata", "nvme-pcie3", "nvme-pcie4", "nvme-pcie5"
    }  # fmt: skip
    for kind in kinds - {"hdd-5k4"}:
        entry = rules.figures[f"drive.{kind}.read-rate"]
        source = rules.sources[entry.source]
        assert source.url.startswith("http"), kind
        assert source.doc_date, kind


def test_with_drives_stated_the_links_no_longer_stand_for_the_disks() -> None:
    links = ("path.bandwidth_mb_s=3000", "workload.mb_s=100")
    alone, beside = advice("verdict.storage", *links), advice("verdict.storage", *links, *DISKS)

    assert any("the disks may deliver less" in caveat for caveat in alone.caveats)
    assert not any("the disks may deliver less" in caveat for caveat in beside.caveats)


@pytest.mark.parametrize(
    ("settings", "share"),
    [
        (("array.disks=8", "array.raid=5", "array.drive_iops=4000", "workload.iops=18000"), 1.125),  # 2 x 18,000 / 8
        ((*TEN, "workload.iops=60000"), 1.2),
        ((*TEN, "workload.iops=60000", "array.volumes=2"), 0.6),
        (
            (*FLASH, "workload.read_iops=24000", "workload.write_iops=16000", "redo.mb_s=15", "redo.writes_s=1831"),
            (24000 + 17831) * 2 / 24 / 4000,
        ),
        (
            (*TEN, "workload.iops=60000", "array.rebuild_percent=25"),
            2 * 60000 / 10 / (10000 * 0.75),  # 160 %
        ),
        (("array.disks=4", "array.raid=0", "array.drive_iops=9999", "workload.iops=100"), None),
    ],
)
def test_a_lost_drive_leaves_its_work_to_the_busiest_of_the_others(
    settings: tuple[str, ...], share: float | None
) -> None:
    found = storage("workload.read_percent=100", "path.stages=hba:fc32*2", *settings)

    assert next(one.share for one in found.failures if "drives" in one.lost) == (share and pytest.approx(share))


def test_a_demand_beyond_all_drives_at_any_raid_level_fails() -> None:
    found = storage("workload.iops=500", "workload.read_percent=100", "array.disks=4", "array.drive_iops=100")
    within = storage("workload.iops=300", "workload.read_percent=100", "array.disks=4", "array.drive_iops=100")

    assert (found.status, found.share, found.n_plus_one) == ("fail", 1.25, None)
    assert found.facts.bottleneck == "all drives, without RAID"
    assert (within.status, within.share) == ("unknown", None)


def test_after_a_lost_drive_the_other_unit_may_be_worse() -> None:
    """Most requests are writes, which a lost half of a pair makes no heavier; the bytes are reads, at half the MB/s."""
    workload = ("workload.read_iops=1000", "workload.mb_s=600", "redo.mb_s=0.001", "redo.writes_s=6000")
    found = storage(*workload, "array.disks=10", "array.raid=10", "array.drive_iops=2000", "array.drive_mb_s=100")

    assert found.share == pytest.approx((1000 / 2 + 6000) * 2 / 10 / 2000)
    assert found.n_plus_one == pytest.approx(600 * 2 / 10 / 100, rel=1e-4)


STREAMS = (
    *("workload.iops=33000", "workload.io_kib=8", "workload.read_percent=100", "redo.mb_s=0"),
    *(PATH, *FLASH, "array.drive_mb_s=200"),
)


def test_random_and_sequential_io_share_the_time_of_the_drives() -> None:
    """33,000 / 96,000 + 2,000 / 4,800 MB/s = 34.4 + 41.7 = 76.0 %, and twice that where one half of a pair is lost."""
    found = storage(*STREAMS, "workload.mb_s=2270", "workload.sequential_mb_s=2000")

    share = 33_000 / 96_000 + 2_000 / 4_800
    assert (found.status, found.share, found.n_plus_one) == ("warn", pytest.approx(share), pytest.approx(2 * share))
    assert (found.demand, found.detected) == ("2,270 MB/s", "2,985 MB/s (24 drives in RAID 10)")  # 2,270 / 76.04 %
    assert "sequential I/O takes 42 % of their time and random I/O 34 %" in " ".join(found.notes)
    few = storage(*STREAMS, "workload.sequential_mb_s=480")
    assert (few.share, few.demand) == (pytest.approx(33_000 / 96_000 + 0.1), "33,000 IOPS")
    assert storage(*STREAMS, "workload.mb_s=2270").share == pytest.approx(
        2270 / 4800
    )  # nothing says what is sequential


@pytest.mark.parametrize(("raid", "penalty"), [("10", 2), ("5", 4)])
def test_scans_pay_no_write_penalty_whatever_the_share_of_reads_in_the_requests(raid: str, penalty: float) -> None:
    """2,391.8 of 2,400 MB/s are scans, half of the 2,000 requests a second writes: 50 % of the time, and 4 or 6 %."""
    workload = ("workload.read_iops=1000", "workload.write_iops=1000", "workload.io_kib=8", "workload.mb_s=2400")
    redo = ("redo.mb_s=10", "redo.writes_s=8")
    given = (*workload, *redo, "workload.sequential_mb_s=2391.8", PATH, *FLASH[::2], f"array.raid={raid}")
    found = storage(*given, "array.drive_mb_s=200")

    assert found.share == pytest.approx((1000 + penalty * 1008) / 96_000 + 2391.8 / 4800)
    written = storage(*given[2:], "workload.iops=10", "workload.read_percent=0", "array.drive_mb_s=200")
    assert written.share == pytest.approx((2391.8 + penalty * (8.2 + 10)) / 4800)


@pytest.mark.parametrize(("raid", "penalty"), [("10", 2), ("5", 4)])
def test_large_writes_pay_the_write_penalty_of_their_bytes(raid: str, penalty: float) -> None:
    """81.92 MB/s of 10,000 reads a second and 524.288 MB/s of 1,000 writes are 13.5 % reads, and redo is written."""
    workload = ("workload.read_iops=10000", "workload.write_iops=1000", "workload.io_kib=8", "workload.mb_s=606.208")
    drives = ("array.disks=8", f"array.raid={raid}", "array.drive_mb_s=200", "array.drive_iops=50000")
    given = (*workload, "redo.mb_s=10", "redo.writes_s=400", *drives, "path.stages=hba:fc32*4@2")
    found = storage(*given, f"workload.read_bytes_percent={100 * 81.92 / 606.208}")

    assert found.share == pytest.approx((81.92 + penalty * (524.288 + 10)) / 1600, rel=1e-6)
    by_requests = 10 / 11 * 606.208
    assert storage(*given).share == pytest.approx((by_requests + penalty * (616.208 - by_requests)) / 1600)


def test_a_sequential_part_that_is_written_pays_the_write_penalty() -> None:
    """A quarter of 400 MB/s is read, and of the 300 MB/s of sequential I/O as well."""
    given = (*STREAMS, "workload.mb_s=400", "workload.sequential_mb_s=300", "workload.read_bytes_percent=25")

    assert storage(*given).share == pytest.approx(33_000 / 96_000 + 300 * (0.25 + 0.75 * 2) / 4800)


def test_sequential_io_of_drives_without_mb_s_is_said_not_to_be_judged() -> None:
    given = (*STREAMS[:-1], "workload.sequential_mb_s=2000")
    said = "2,000 MB/s of sequential I/O cost the drives nothing here: the MB/s of the drives are unknown"

    assert said in " ".join(storage(*given).notes)
    assert said not in " ".join(storage(*given, "array.drive_mb_s=200").notes)
    assert said not in " ".join(storage(*given, "capacity.mb_s=9000").notes)
