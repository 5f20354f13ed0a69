"""The demand of a workload: reads, writes, throughput and redo, and how they grow."""

import pytest

from importers.awr_reports import AWR, second_instance
from sizeup.quantity import Origin, Quantity
from sizeup.sizing import rules
from sizeup.sizing.advise import size
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.sheet import Sheet
from sizeup.sizing.workload import Demand, Growth, workload_demand
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.basis import basis_text

DEFAULTS = ("workload.read_percent=70", "workload.io_kib=8", "redo.databases=1")


def stated(*settings: str) -> dict[str, Value]:
    return parse_settings([*DEFAULTS, *settings])


def demand(*settings: str) -> Demand:
    found = workload_demand(Sheet(stated(*settings), rules.shipped()))
    assert found is not None
    return found


def test_without_a_figure_of_a_workload_there_is_no_demand() -> None:
    assert workload_demand(Sheet(stated("machine.cores=32"), rules.shipped())) is None


def test_requests_of_a_block_size_are_a_throughput() -> None:
    found = demand("workload.iops=40000", "workload.read_percent=60")

    assert found.bytes_per_second == pytest.approx(40000 * 8192)
    assert (found.read_iops.value, found.write_iops.value) == pytest.approx((24000, 16000))


@pytest.mark.parametrize("part", ["workload.read_iops=30000", "workload.write_iops=10000"])
def test_what_is_left_of_the_sum_is_the_other_part(part: str) -> None:
    found = demand("workload.iops=40000", part)

    assert (found.read_iops.value, found.write_iops.value) == (30000, 10000)
    assert basis_text(stated("workload.iops=40000", part)).startswith("40,000 IOPS (75 % reads")


def test_a_given_throughput_replaces_requests_times_block_size() -> None:
    assert demand("workload.iops=40000", "workload.mb_s=400").bytes_per_second == pytest.approx(400e6)


def test_a_throughput_of_a_report_that_is_less_than_its_random_io_does_not_count() -> None:
    """15,500 x 8,192 B = 127 MB/s, where the report's totals say 55."""
    figures = {"workload.mb_s": (55e6, "bytes/s"), "workload.iops": (15_500, "1/s"), "workload.io_kib": (8192, "bytes")}
    report = {key: Quantity(value, unit, Origin.IMPORTED, "awr.txt") for key, (value, unit) in figures.items()}
    found = workload_demand(Sheet({**stated(), **report}, rules.shipped()))

    assert found is not None
    assert (found.bytes_per_second, found.understated) == (15_500 * 8192, report["workload.mb_s"])


def test_sequential_throughput_is_added_to_the_random_one() -> None:
    assert demand("workload.iops=1000", "workload.sequential_mb_s=500").bytes_per_second == pytest.approx(
        500e6 + 1000 * 8192
    )


def test_redo_is_part_of_the_demand_in_throughput_and_in_requests() -> None:
    found = demand("workload.mb_s=327.68", "workload.iops=40000", "redo.mb_s=350", "redo.databases=2")

    assert found.bytes_per_second == pytest.approx(1027.68e6)
    assert found.iops == pytest.approx(40000 + 700e6 / 65536)


def test_stated_redo_writes_replace_those_of_a_usual_size() -> None:
    assert demand("redo.mb_s=10", "redo.writes_s=3000", "redo.databases=2").iops == 6000


def test_redo_writes_count_where_their_rate_is_unknown_and_not_where_there_is_no_redo() -> None:
    found = demand("workload.iops=1000", "redo.writes_s=300", "redo.databases=2")

    assert (found.iops, found.bytes_per_second) == (1600, 1000 * 8192)
    assert demand("workload.iops=1000", "redo.writes_s=300", "redo.mb_s=0").iops == 1000
    assert "300 IOPS of redo" in basis_text(stated("workload.iops=1000", "redo.writes_s=300"))


def test_redo_as_written_is_what_the_storage_carries() -> None:
    """2 x 40 MB/s reach the storage, though 2 x 5 MB/s are generated; the size of a write follows what is generated."""
    found = demand("redo.mb_s=5", "redo.written_mb_s=40", "redo.databases=2")

    assert found.bytes_per_second == 80e6
    assert found.iops == pytest.approx(10e6 / 65536)


def test_the_share_of_reads_counts_redo_writes() -> None:
    assert demand("workload.read_iops=3000", "redo.mb_s=1", "redo.writes_s=1000").read_share == 0.75


def test_growth_names_the_first_year_above_a_limit() -> None:
    growth = Growth(0.2, 3)

    assert growth.factor() == pytest.approx(1.728)
    assert (growth.year_above(0.5), growth.year_above(0.6), growth.year_above(0.8)) == (None, 3, 2)
    assert (growth.year_above(1.2), Growth(0.25, 3).year_above(0.8), Growth(0.25, 0).year_above(1)) == (0, 2, None)


@pytest.mark.parametrize(
    ("files", "more", "status", "iops"),
    [
        ((AWR,), (), "assumed", 11_500),
        ((AWR,), ("workload.scope=whole",), "pass", 11_500),
        ((AWR,), ("workload.scope=whole", "capacity.iops=60000"), "assumed", 11_500),
        ((AWR, second_instance(AWR)), ("workload.percentile=95",), "pass", 23_000),
        ((AWR,), ("capacity.iops=9000",), "fail", 11_500),
    ],
)
def test_one_instance_of_a_cluster_is_no_pass_of_the_whole(
    files: tuple[str, ...], more: tuple[str, ...], status: str, iops: float
) -> None:
    """11,000 requests and 500 redo writes of each instance; a failure of one instance is one of the whole.

    Both are averages: of 60,000 IOPS peaks of 4 times them take 77 %, and none is assumed where a percentile is given.
    """
    load = read_workload([WorkloadFile(f"{number}.txt", text) for number, text in enumerate(files)], 95)
    server = ("capacity.iops=100000", "capacity.mb_s=3000", "workload.specrate_per_core=8")
    cores = ("machine.cores=32", "machine.specrate_per_core=8", *more)
    found = size({**load, **parse_settings(server), **parse_settings(cores)})
    storage, cpu = (next(card for card in found.cards if card.resource == name) for name in ("storage", "cpu"))

    assert storage.status == status
    assert storage.demand == f"{iops:,} IOPS"
    assert cpu.status == ("uncertain" if len(files) == 1 and "workload.scope=whole" not in more else "pass")
    assert bool(found.warnings) == (cpu.status == "uncertain")
    assert ("one instance of the cluster" in " ".join(answer_lines(found))) == bool(found.warnings)


@pytest.mark.parametrize(
    ("database", "shown"),
    [
        ("", {"redo.file-size", "redo.postgresql.max-wal-size", "redo.archive-day", "flash.cache.least", "archiving"}),
        ("oracle", {"redo.file-size", "redo.archive-day", "flash.cache.least", "archiving"}),
        ("postgresql", {"redo.postgresql.max-wal-size", "redo.archive-day", "archiving"}),
        ("sql-server", {"redo.archive-day", "archiving"}),
        ("mysql", set()),
        ("mariadb", set()),
    ],
)
def test_what_is_of_another_database_than_the_workloads_is_not_shown(database: str, shown: set[str]) -> None:
    vendor = [f"license.pack={database}"] if database else []
    found = size(parse_settings(["workload.iops=1000", "redo.mb_s=30", "sga.mb=65536", "capacity.iops=9000", *vendor]))
    ids = {one.id for one in found.advice}
    (storage,) = (one for one in found.advice if one.id == "verdict.storage")
    ids |= {"archiving" for caveat in storage.caveats if caveat.startswith("archiving the redo")}

    every = {"redo.file-size", "redo.postgresql.max-wal-size", "redo.archive-day", "flash.cache.least", "archiving"}
    assert ids & every == shown
    assert "redo.rate" in ids


@pytest.mark.parametrize(
    ("key", "unit", "capacity", "status"),
    [
        ("workload.commits_s", "1/s", "capacity.commits_s=4000", "pass"),
        ("workload.commits_s", "1/s", "capacity.commits_s=1200", "assumed"),  # 4 x 500 are 167 %
        ("redo.written_mb_s", "bytes/s", "capacity.mb_s=4000", "pass"),
        ("redo.written_mb_s", "bytes/s", "capacity.mb_s=1200", "assumed"),
    ],
)
def test_every_average_of_one_interval_may_hide_peaks(key: str, unit: str, capacity: str, status: str) -> None:
    rate = 5e2 if unit == "1/s" else 5e8
    load = {key: Quantity(rate, unit, Origin.IMPORTED, "status.txt", low=rate, high=rate)}
    if key == "redo.written_mb_s":
        load["redo.mb_s"] = Quantity(1e6, unit, Origin.IMPORTED, "status.txt", low=1e6, high=1e6)
    cards = size({**parse_settings([capacity]), **load}).cards

    assert next(card for card in cards if card.resource == "storage").status == status


RAID_5 = ("array.disks=8", "array.drive_iops=400", "array.raid=5")


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        (("workload.iops=1000..2000..5000", "capacity.iops=4000", "workload.percentile=95"), "125 %"),
        (("workload.commits_s=1000..1000..4000", "capacity.commits_s=2000"), "200 %"),
        (("workload.iops=1000", "workload.io_kib=4..8..512", "capacity.mb_s=60", "capacity.iops=9000"), "874 %"),
        (("workload.iops=1000", "workload.read_percent=20..70..95", *RAID_5), "106 %"),  # 3,200 / 3.4 = 941
        (("workload.iops=10", "redo.mb_s=1", "redo.written_mb_s=1..2..900", "capacity.mb_s=400"), "225 %"),
    ],
)  # fmt: skip
def test_every_range_of_a_demand_has_both_ends(settings: tuple[str, ...], end: str) -> None:
    cards = size(parse_settings(settings)).cards
    storage = next(card for card in cards if card.resource == "storage")

    assert storage.status == "uncertain"
    assert f"{end}: the demand is stated as a range" in storage.statement


def test_archiving_takes_what_is_generated_and_not_what_is_written() -> None:
    settings = ("workload.mb_s=10", "redo.mb_s=5", "redo.written_mb_s=50", "redo.databases=2", "capacity.mb_s=400")
    found = size(parse_settings(settings))

    caveats = " ".join(caveat for one in found.advice for caveat in one.caveats)
    assert "reads and writes it again (20 MB/s at its peak)" in caveats
