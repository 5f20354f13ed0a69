"""Monitoring files of others become a workload: a percentile over their intervals, never one average."""

import contextlib
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import ANY_CHARACTER
from importers import awr_reports, test_oracle_views, test_sadf, test_snapshots
from importers.workload_samples import (
    AWR,
    IOSTAT_NEW,
    IOSTAT_OLD,
    IOSTAT_PLAIN,
    KSAR,
    OLD_SAR,
    SAR,
    SAR_ALL,
    STATSPACK,
    VMSTAT,
    report,
)
from sizeup.errors import SizeupError
from sizeup.importers.awr import parse_awr
from sizeup.importers.intervals import LoadInterval
from sizeup.quantity import Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.imported import WorkloadFile, at, read_workload
from sizeup.sizing.keys import parse_settings
from tiers import one_in


def iostat(*reports: dict[str, object]) -> str:
    return json.dumps({"sysstat": {"hosts": [{"nodename": "db1", "statistics": list(reports)}]}})


def test_a_report_since_11_2_0_4_gives_bytes_requests_and_redo() -> None:
    assert parse_awr(AWR, "awr.txt").intervals == (
        LoadInterval(125 * 1048576.0, 8000.0, 0.75, 4194304.0, read_share_of_bytes=0.8),
    )


def test_statspack_counts_blocks_and_leaves_the_requests_unknown() -> None:
    assert parse_awr(STATSPACK, "sp.txt").intervals == (
        LoadInterval(1250 * 8192.0, None, None, 1048576.0, read_share_of_bytes=0.8),
    )


def test_several_reports_in_one_file_are_several_intervals() -> None:
    assert len(parse_awr(AWR + AWR, "awr.txt").intervals) == 2


def test_intervals_of_many_reads_hide_none_of_many_writes() -> None:
    """At 9,000 kB/s all is read, and 33 % where the 6,000 of writes of another interval come at that time, too.

    Requests that replace the file's replace its share of the bytes. Eight drives in RAID 5, with 16 MB/s of reads.
    """
    moved = [(0, 1), (9000, 0), (1000, 6000), (0, 0)]
    disks = [{"disk_device": "sda", "r/s": 90, "w/s": 10, "rkB/s": reads, "wkB/s": writes} for reads, writes in moved]
    found = read_workload((WorkloadFile("io.json", iostat(*map(report, disks))),), 95)
    array = parse_settings(["array.disks=8", "array.raid=5", "array.drive_mb_s=2", "path.stages=hba:fc32"])

    share = found["workload.read_bytes_percent"]
    assert isinstance(share, Quantity)
    assert (share.value, share.low) == (1, 0.333)
    cards = [
        next(card for card in size({**found, **array, **stated}).cards if card.resource == "storage")
        for stated in (
            {},
            parse_settings(["workload.read_bytes_percent=33.333333"]),
            parse_settings(["workload.read_percent=0"]),
        )
    ]
    assert cards[0].assumed == ("100 % of the bytes read (173 % at 33.3 %)",)
    operations = [9000, 3000 + 4 * 6000, 4 * 9000]
    assert [card.share for card in cards] == [pytest.approx(1024 * each / 16e6) for each in operations]


@pytest.mark.parametrize(
    ("usual", "peak", "share", "least", "verdict"),
    [
        # 3,600 reads and 4 x 32,400 operations of writes are 139 % of 24 x 4,000.
        ((27_000, 3_000), (3_600, 32_400), 0.1, None, ("fail", 1.3875, ())),
        # Most writes are of other hours: 27,000 of them and 9,000 reads are 117,000 operations.
        ((3_000, 27_000), (36_000, 0), 1.0, 0.25, ("assumed", 0.375, ("100 % reads (122 % at 25 %)",))),
        ((0, 25_000), (25_000, 0), 0.1, 0.0, ("warn", 0.963542, ("10 % reads (104 % at 0 %)",))),
        ((27_000, 3_000), (27_000, 3_000), 0.9, None, ("pass", 0.40625, ())),
    ],
)
def test_writes_at_their_peak_are_not_averaged_away(
    usual: tuple[int, int], peak: tuple[int, int], share: float, least: float | None, verdict: tuple[object, ...]
) -> None:
    """Of 20 intervals two are peaks, so that the 95th percentile is one of them; the first report is left out."""
    counts = [usual] * 19 + [peak] * 2
    disks = [{"disk_device": "sda", "r/s": reads, "w/s": writes, "rkB/s": 8, "wkB/s": 8} for reads, writes in counts]
    load = read_workload((WorkloadFile("io.json", iostat(*map(report, disks))),), 95)
    found, drives = load["workload.read_percent"], ("array.disks=24", "array.raid=5", "array.drive_iops=4000")
    card = next(one for one in size({**load, **parse_settings(drives)}).cards if one.resource == "storage")

    assert isinstance(found, Quantity)
    assert (found.value, found.low) == (pytest.approx(share), None if least is None else pytest.approx(least, abs=1e-4))
    assert (card.status, card.share, card.assumed) == (verdict[0], pytest.approx(verdict[1], rel=1e-3), verdict[2])


@pytest.mark.parametrize(
    ("name", "text", "percentile", "cores"),
    [("vmstat", VMSTAT, 95, 16 * 0.4), ("sar", SAR_ALL, 95, 8), ("sar", SAR_ALL, 50, 4), ("ksar", KSAR, 95, 8)],
)
def test_the_cpu_demand_is_utilization_by_the_cores_of_that_server(
    name: str, text: str, percentile: float, cores: float
) -> None:
    found = read_workload((WorkloadFile(name, text),), percentile, cores=16)["workload.cpu_cores"]

    assert isinstance(found, Quantity)
    assert found.value == pytest.approx(cores)


def test_the_cores_are_asked_for_where_the_file_has_a_share_of_the_cpus_alone() -> None:
    with pytest.raises(SizeupError, match=r"the CPUs were 40.0 % busy .*: add --workload-cores N$"):
        read_workload((WorkloadFile("vmstat.txt", VMSTAT),), 95)
    values = read_workload((WorkloadFile("sar.txt", SAR_ALL),), 95)

    assert "workload.cpu_cores" not in values
    rate = values["workload.mb_s"]
    assert isinstance(rate, Quantity)
    assert "for a CPU demand add --workload-cores N" in rate.caveats[-1]


def test_figures_with_an_exponent_are_read_whole() -> None:
    text = AWR.replace("4,194,304.0", "4.194304E+06").replace("12,800.0", "1.28E+04")

    assert parse_awr(text, "awr.txt") == parse_awr(AWR, "awr.txt")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "expected an AWR or Statspack report"),
        ("hello", "found 'hello'"),
        ('{"sysstat": {}}', "expected the output of iostat -o JSON"),
        ('{"fio version": "fio-3.33"}', "results of fio and other benchmarks: sizeup session import"),
        (iostat(), "expected at least one report on disks"),
        (iostat(report({"disk_device": "sda", "what": 1})), "io.txt: sda: expected columns such as r/s, w/s, rkB/s"),
        (
            iostat(report({"disk_device": "sda", "r/s": "x", "w/s": 1, "rkB/s": 1, "wkB/s": 1})),
            "expected a number for r/s, found 'x'",
        ),
        ("WORKLOAD REPOSITORY report for\n", "expected a section 'Load Profile'"),
        (AWR.replace("Per Second", "Per Fortnight"), "expected a first column 'Per Second'"),
        (AWR.replace("Redo size", "Undo size"), "expected a line 'Redo size'"),
        (
            AWR.replace("4,194,304.0", "4.194.304,0"),
            "redo size (bytes): expected a number such as 1,234.5, found '4.19",
        ),
        (AWR.replace("6,000.0", "########"), "read io requests: expected a number such as 1,234.5, found '########'"),
        (iostat(report({"disk_device": "sda", "tps": 1, "kB/s": 1})), "run iostat without -s"),
        ('{"sysstat": {"hosts": [{"r/s": 1,5}]}}', "needs LC_ALL=C"),
        (SAR.replace(" AM", " vorm."), "create it with LC_ALL=C sar -d"),
        (SAR.replace("12:10:01 AM", "00時10分01秒").replace("12:20:01 AM", "00時20分01秒"), "create it with LC_ALL=C"),
        (SAR.replace("1024.00", "1.0k"), "line 4: expected plain figures, found '1.0k'; run it without --human"),
        (IOSTAT_PLAIN.replace("600.00", "600.0k"), "found '600.0k'; run it without --human"),
        (IOSTAT_PLAIN.replace("kB_wrtn/s", "kB_w+d/s "), "run iostat without -s"),
        (
            IOSTAT_OLD.replace("rsec/s   wsec/s", "Blk/s x"),
            "line 7: sda: expected columns such as r/s, w/s, rkB/s",
        ),
        (
            IOSTAT_NEW.replace("   8.00    1.00", "   8.00"),
            "line 4: expected 14 columns, found 13; remove a line that was cut",
        ),
        (VMSTAT.replace(" 70  5  0", ""), "line 4: expected 17 columns, found 16"),
        (
            VMSTAT.replace(" 70 ", " 99 "),
            "line 4: expected idle, waiting and stolen time of at most 100 %, found 104 %",
        ),
        ("procs -----memory---\n", "run vmstat 60 without -d, -p or -s"),
        (KSAR.replace("%idle", "%idl"), "expected a column 'CPU all %idle'"),
        (KSAR.replace(";10.0;110.0;", ";"), "line 2: expected 8 columns, found 6"),
        (SAR_ALL.replace("69.00", "100.00").replace("40.00", "100.00"), "found 106 %"),
        (
            IOSTAT_PLAIN.replace("600.00", "  0.00").replace("200.00", "  0.00").replace("100.00", "  0.00"),
            "choose a busier",
        ),
        (STATSPACK.replace("Std Block Size", "Size"), "expected 'Std Block Size'"),
        (SAR.replace("rkB/s", "reads"), "line 4: expected columns such as r/s, w/s, rkB/s"),
        (SAR.replace("12:10:01 AM       sda    100.00", "12:10:01 AM       sda"), "line 4: expected 9 columns"),
        ('schema = "sizeup.workload/1"\n[inputs]\n"machine.cores" = 4\n', "found 'machine.cores'; use --set"),
        ('schema = "sizeup.workload/1"\n[inputs]\n"workload.mb" = 4\n', "did you mean workload.mb_s"),
        ('schema = "sizeup.workload/2"\n[inputs]\n', "expected sizeup.workload/1"),
    ],
)
def test_another_layout_is_refused_with_the_place_and_what_was_expected(text: str, what: str) -> None:
    with pytest.raises(SizeupError) as refused:
        read_workload((WorkloadFile("io.txt", text),), 95)
    assert what in str(refused.value)


def test_the_workload_is_a_percentile_with_the_median_and_the_largest_as_its_range() -> None:
    reports = [
        report({"disk_device": "sda", "r/s": float(i), "w/s": 0.0, "rkB/s": 1000.0 * i, "wkB/s": 0.0})
        for i in range(21)
    ]
    rate = read_workload((WorkloadFile("io.json", iostat(*reports)),), 90)["workload.mb_s"]

    assert isinstance(rate, Quantity)
    assert (rate.low, rate.value, rate.high) == (10 * 1024e3, 18 * 1024e3, 20 * 1024e3)
    assert rate.source == "io.json: 90th percentile of 20 intervals, without the first report"


@pytest.mark.parametrize(("number", "hidden"), [(2, True), (19, True), (20, False)])
def test_of_few_intervals_the_highest_average_counts_which_the_verdict_says(number: int, hidden: bool) -> None:
    """The 95th percentile of 19 intervals is the highest of them, of 20 the second."""
    reports = [
        report({"disk_device": "sda", "r/s": 100.0 + i, "w/s": 0.0, "rkB/s": 800.0, "wkB/s": 0.0})
        for i in range(number + 1)  # the first report is left out
    ]
    found = read_workload((WorkloadFile("io.json", iostat(*reports)),), 95)
    storage = next(
        one for one in size(found | parse_settings(["capacity.iops=1e6"])).cards if one.resource == "storage"
    )

    assert any(note.startswith(f"{number} intervals: the highest of") for note in storage.notes) is hidden


def test_a_workload_by_hand_says_what_it_knows() -> None:
    text = 'schema = "sizeup.workload/1"\n[inputs]\n"workload.mb_s" = 120\n"redo.mb_s" = "4 MB/s"\n'
    values = read_workload((WorkloadFile("shop.toml", text),), 95)

    assert {key: value.value for key, value in values.items() if isinstance(value, Quantity)} == {
        "workload.mb_s": 120e6,
        "redo.mb_s": 4e6,
    }


@pytest.mark.parametrize(("percentile", "value"), [(1, 1), (50, 2), (75, 3), (76, 4), (100, 4)])
def test_a_percentile_is_a_value_that_was_seen(percentile: float, value: float) -> None:
    assert at([1, 2, 3, 4], percentile) == value


@settings(max_examples=60, deadline=None)
@given(
    text=st.one_of(
        st.text(ANY_CHARACTER, max_size=200), st.lists(st.sampled_from(SAR.split(" ")), max_size=60).map(" ".join)
    )
)
def test_whatever_a_file_holds_it_is_read_or_refused(text: str) -> None:
    for head in ("", "{", "Linux DEV\n", "STATSPACK report\n", 'schema = "sizeup.workload/1"\n'):
        try:
            read_workload((WorkloadFile("x", head + text),), 95)
        except SizeupError:
            continue


SAMPLES = {
    "awr": AWR,
    "statspack": STATSPACK,
    "sar": SAR,
    "sar -A": SAR_ALL,
    "old sar": OLD_SAR,
    "vmstat": VMSTAT,
    "ksar": KSAR,
    "old iostat": IOSTAT_OLD,
    "iostat": IOSTAT_NEW,
    "iostat.json": iostat(report({"disk_device": "sda", "tps": 10.0, "kB_read/s": 30.0, "kB_wrtn/s": 10.0})),
}
SAMPLES |= {
    "sadf -d": test_sadf.CPUS + test_sadf.DISKS,
    "sadf -p": test_sadf.lines(test_sadf.CPUS + test_sadf.ALL_DISKS),
    "sadf -j": test_sadf.JSON,
    "v$sysstat": test_oracle_views.TWO,
    "sysmetric": test_oracle_views.columns(test_oracle_views.metrics(7, "10:00"), header=test_oracle_views.SUMMARY),
    "awrgrpt": awr_reports.CLUSTER,
}
REPORTS = {"whole awr": awr_reports.AWR, "whole awr as html": awr_reports.as_html(awr_reports.AWR)}


@pytest.mark.parametrize("sample", one_in(6, (*SAMPLES, *REPORTS)))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_in_one_line(sample: str, data: st.DataObject) -> None:
    text = (SAMPLES | REPORTS)[sample]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(ANY_CHARACTER, max_size=8)) + text[at + data.draw(st.integers(0, 300)) :]
    told = ""
    try:
        read_workload((WorkloadFile("x", text),), 95, cores=data.draw(st.sampled_from((None, 8))))
    except SizeupError as error:
        told = str(error)
    assert "\n" not in told


@pytest.mark.parametrize("sample", one_in(4, SAMPLES))
def test_a_number_without_end_is_refused_or_left_out(sample: str) -> None:
    whole = SAMPLES[sample]
    for match in list(re.finditer(r"\d+", whole))[:60]:
        for digits in (5000, 400):
            text = whole[: match.start()] + "9" * digits + whole[match.end() :]
            with contextlib.suppress(SizeupError):
                read_workload((WorkloadFile("x", text),), 95, cores=8)


def test_files_of_several_kinds_are_views_of_one_time_and_not_intervals_of_a_series() -> None:
    """Of one hour: 30 MB/s of redo beside the I/O of the database, and the device's totals, which contain it."""
    counters = {
        "Uptime": 0, "Innodb_page_size": 16384, "Aria_pagecache_reads": 0, "Innodb_data_reads": 18_000,
        "Innodb_data_read": 18_000 * 16_384, "Innodb_data_writes": 12_000, "Innodb_data_written": 12_000 * 16_384,
        "Innodb_pages_written": 12_000, "Innodb_log_writes": 2_000, "Innodb_os_log_written": 30_000_000,
        "Com_commit": 2_400,
    }  # fmt: skip
    gauges = ("Innodb_page_size",)

    def snapshot(seconds: int) -> str:
        lines = {key: value if key in gauges else value * seconds for key, value in counters.items()}
        return "".join(f"{key}\t{value}\n" for key, value in (lines | {"Uptime": seconds}).items())

    database = [WorkloadFile(f"s{at_second}.txt", snapshot(at_second)) for at_second in (1000, 4600)]
    disk = {"disk_device": "sda", "r/s": 18_000, "w/s": 14_000, "rkB/s": 288_000, "wkB/s": 221_296.875}
    device = WorkloadFile("io.json", iostat(report(disk), report(disk)))

    def figures(*files: WorkloadFile) -> dict[str, float]:
        found = read_workload(files, 95)
        return {key: value.value for key, value in found.items() if isinstance(value, Quantity)}

    alone = figures(*database)
    assert alone["workload.iops"] == pytest.approx(30_000)
    assert alone["redo.mb_s"] == pytest.approx(30e6)
    assert alone["workload.read_percent"] == pytest.approx(0.6)
    assert figures(*database, device) == figures(device, *database) == alone, "one average, whose peaks are hidden"
    found = read_workload((device, *database), 95)["workload.iops"]
    assert isinstance(found, Quantity)
    assert found.source == "s1000.txt, s4600.txt: one interval, an average"
    assert "those of io.json do not count: they may be of the same time" in found.caveats
    # Where the database tells no requests, the device's stand for all of its I/O and for the redo in it.
    statspack = WorkloadFile("sp.txt", STATSPACK)
    assert figures(statspack)["redo.mb_s"] == 1048576
    both = figures(statspack, device)
    assert both["workload.iops"] == 32_000
    assert both["workload.mb_s"] == pytest.approx(521.5e6, rel=1e-4)
    assert "redo.mb_s" not in both
    # What one kind alone tells is taken from it.
    assert figures(*database, WorkloadFile("sar.txt", SAR_ALL))["workload.iops"] == pytest.approx(30_000)
    several = read_workload((*database, WorkloadFile("vmstat.txt", VMSTAT)), 95, cores=16)
    assert "workload.cpu_cores" in several
    assert "workload.percentile" not in several, "several intervals of the CPUs hide no peaks of one of the I/O"


@pytest.mark.parametrize("oracle", [AWR, awr_reports.as_html(awr_reports.AWR), STATSPACK, SAMPLES["v$sysstat"]])
@pytest.mark.parametrize(
    "snapshots", ["".join(test_snapshots.PAIR), test_snapshots.sqlserver(120, 1) + test_snapshots.sqlserver(130, 2)]
)
def test_oracle_and_another_database_are_two_demands(oracle: str, snapshots: str) -> None:
    """In files of their own and in one, whichever is first, with many lines between."""
    one, two = WorkloadFile("one.txt", oracle), WorkloadFile("two.txt", snapshots)
    apart = "two.txt: expected figures of one database, found these snapshots and Oracle's figures in one.txt: read"
    for files in ((one, two), (two, one)):
        with pytest.raises(SizeupError, match=apart):
            read_workload(files, 95)
    many = "\n" * 200_000
    for text in (oracle + snapshots, snapshots + oracle, oracle + many + snapshots, snapshots + many + oracle):
        with pytest.raises(SizeupError, match=r"^both: expected figures of one database"):
            read_workload((WorkloadFile("both", text),), 95)


def test_a_value_names_its_own_file_and_has_its_caveats_alone() -> None:
    status = "".join(
        f"{name}\t{value}\n"
        for name, value in {
            "Uptime": 1000, "Innodb_page_size": 16384, "Innodb_data_reads": 10_000, "Innodb_data_read": 10**8,
            "Innodb_data_writes": 5_000, "Innodb_data_written": 10**8, "Innodb_pages_written": 4_000,
            "Innodb_log_writes": 1_000, "Innodb_os_log_written": 10**7,
        }.items()
    )  # fmt: skip
    files = (WorkloadFile("status.txt", status), WorkloadFile("io.txt", IOSTAT_NEW), WorkloadFile("sar.txt", SAR_ALL))
    found = read_workload(files, 95, cores=8)

    assert found["license.pack"].source == "status.txt"
    assert found["redo.mb_s"].source.startswith("status.txt: ")
    assert not [one for one in found["redo.mb_s"].caveats if "since boot" in one]
    cpu = found["workload.cpu_cores"]
    assert cpu.source.startswith("sar.txt: ")
    assert not [one for one in cpu.caveats if "since boot" in one]
    alone = read_workload(files[1:2], 95)["workload.iops"]
    assert [one for one in alone.caveats if "since boot" in one]


def test_sections_of_one_time_are_one_set_of_intervals() -> None:
    found = read_workload((WorkloadFile("sar.txt", SAR + SAR_ALL),), 95, cores=8)

    assert found["workload.iops"].source.startswith("sar.txt: 95th percentile of 2 intervals")
    assert found["workload.percentile"].caveats[0].startswith("2 intervals: ")


def test_disks_of_sar_count_once_in_files_of_their_own() -> None:
    """``-b`` counts the disks of ``-d``, whichever comes first; CPUs beside the disks count."""
    cpus, all_disks = (f"Linux 6.1.0 (db1)\n\n{part}" for part in SAR_ALL.split("\n\n")[1:3])
    alone = read_workload((WorkloadFile("b", all_disks),), 95)["workload.iops"]
    both = [WorkloadFile("b", all_disks), WorkloadFile("d", f"{SAR}\n{cpus}")]
    for files in (both, both[::-1]):
        found = read_workload(files, 95, cores=8)
        iops = found["workload.iops"]
        assert (iops.value, iops.low, iops.high) == (alone.value, alone.low, alone.high)
        assert iops.source.endswith(" of 2 intervals, without the disks of d: sar -b may count them, too")
        assert ": 95th percentile of 2 intervals" in found["workload.cpu_cores"].source
    assert read_workload(both[1:], 95, cores=8)["workload.iops"].value > alone.value


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_that_is_given_twice_counts_once(sample: str) -> None:
    files = [WorkloadFile("x", SAMPLES[sample])] * 2

    assert read_workload(files, 95, cores=8) == read_workload(files[:1], 95, cores=8)


def test_without_requests_by_direction_the_share_of_reads_is_by_bytes_with_its_width() -> None:
    """4,096 of 5,120 KiB/s are read in the busier interval; a read of 1/4 to 4 times the size of a write."""
    share = read_workload((WorkloadFile("sar.txt", SAR),), 95)["workload.read_percent"]

    assert share.value == pytest.approx(4096 / 5120)
    assert (share.low, share.high) == (0.5, 0.94)
    assert share.source == "sar.txt: by bytes"
    assert "50 % to 94 % where a read is of a quarter to 4 times the size of a write" in share.caveats[0]
    drives = parse_settings(("array.disks=8", "array.raid=5", "array.drive_iops=120"))
    cards = size({**read_workload((WorkloadFile("sar.txt", SAR),), 95), **drives}).cards
    assumed = next(card.assumed for card in cards if card.resource == "storage")
    assert assumed == ("80 % reads (104 % at 50 %, 49 % at 94 %)",)


@pytest.mark.parametrize(("read", "written"), [("0.10", "9999.90"), ("9999.90", "0.10")])
def test_a_share_by_bytes_next_to_none_or_all_lies_within_its_ends(read: str, written: str) -> None:
    """0.001 % of the bytes: rounded to whole per cent both ends were 0 % or 100 %, and none held the share."""
    text = f"00:00:01 DEV tps rkB/s wkB/s\n00:10:01 sda 100.00 {read} {written}\n"
    share = read_workload((WorkloadFile("sar.txt", f"Linux 6.1.0 (db1)\n\n{text}"),), 95)["workload.read_percent"]

    assert isinstance(share, Quantity)
    assert share.value == pytest.approx(float(read) / 10_000)
    assert share.low is not None
    assert share.high is not None
    assert 0 <= share.low <= share.value <= share.high <= 1


def test_one_interval_is_an_average_of_the_cpus_too() -> None:
    """4 of 16 cores busy on average: all 16 of them at a peak of 4 times that, and no more than there are."""

    def status(cores: int, text: str = awr_reports.AWR.replace("YES", "NO ")) -> tuple[str, tuple[str, ...]]:
        load = read_workload((WorkloadFile("awr.txt", text),), 95)
        server = (f"machine.cores={cores}", "workload.specrate_per_core=8", "machine.specrate_per_core=8")
        spread = {"workload.spread_cores": load["workload.cpu_cores"]}
        card = next(one for one in size({**load, **spread, **parse_settings(server)}).cards if one.resource == "cpu")
        return card.status, card.assumed

    assert status(24) == ("pass", ())
    assert status(20) == ("assumed", ("no peaks above the average",))
    busier = awr_reports.AWR.replace("YES", "NO ").replace("2,880,000", "5,760,000").replace("8,640,000", "5,760,000")
    assert status(24, busier) == ("pass", ()), "4 times 8 cores are more than it has"


@pytest.mark.parametrize("text", [SAR, IOSTAT_NEW])
def test_two_servers_are_no_intervals_of_one(text: str) -> None:
    other = text.replace("(db1)", "(db02)")

    assert read_workload([WorkloadFile("a", text), WorkloadFile("b", text)], 95)
    with pytest.raises(SizeupError, match=r"^a, b: expected figures of one server, found db1 and db02: "):
        read_workload([WorkloadFile("a", text), WorkloadFile("b", other)], 95)


def test_two_servers_in_one_file_of_sadf_are_refused() -> None:
    content = json.loads(test_sadf.JSON)
    hosts = content["sysstat"]["hosts"]
    one = dict(hosts[0], nodename="db1")
    content["sysstat"]["hosts"] = [one, dict(one, nodename="db02")]

    with pytest.raises(SizeupError, match=r"^a: expected figures of one server, found db1 and db02: "):
        read_workload([WorkloadFile("a", json.dumps(content))], 95)
