"""Monitoring files of others become a workload: a percentile over their intervals, never one average."""

import contextlib
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import ANY_CHARACTER
from sizeup.errors import SizeupError
from sizeup.importers.awr import parse_awr
from sizeup.importers.intervals import LoadInterval
from sizeup.importers.iostat import parse_iostat
from sizeup.importers.ksar import parse_ksar
from sizeup.importers.sar import parse_sar
from sizeup.importers.vmstat import parse_vmstat
from sizeup.quantity import Quantity
from sizeup.sizing.inputs.imported import WorkloadFile, at, read_workload

AWR = """
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
SHOP          1234567890 shop1               1 01-Nov-26 00:00 19.0.0.0.0  NO

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):               4.2               0.0      0.00      0.00
      Redo size (bytes):       4,194,304.0           8,000.0
 Physical read (blocks):          12,800.0              25.0
Physical write (blocks):           3,200.0               6.0
       Read IO requests:           6,000.0              12.0
      Write IO requests:           2,000.0               4.0
           Read IO (MB):             100.0               0.2
          Write IO (MB):              25.0               0.1
"""

STATSPACK = """
STATSPACK report for

Cache Sizes            Begin        End
~~~~~~~~~~~       ---------- ----------
    Buffer Cache:     1,024M              Std Block Size:         8K

Load Profile              Per Second    Per Transaction
~~~~~~~~~~~~            -----------------  -----------------
      Redo size:             1,048,576.00          4,000.00
  Logical reads:                50,000.00            200.00
 Physical reads:                 1,000.00              4.00
Physical writes:                   250.00              1.00
"""

SAR = """Linux 6.1.0-1-amd64 (db1) \t11/20/26 \t_x86_64_\t(2 CPU)

12:00:01 AM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
12:10:01 AM       sda    100.00   1024.00   1024.00      0.00     20.48      0.10      0.50      5.00
12:10:01 AM       sdb    300.00   3072.00      0.00      0.00     10.24      0.10      0.50      5.00
12:10:01 AM      dm-0    400.00   4096.00   1024.00      0.00     12.80      0.10      0.50      5.00
12:20:01 AM       sda     10.00      0.00     10.00      0.00      1.00      0.10      0.50      5.00
12:20:01 AM       sdb     10.00     10.00      0.00      0.00      1.00      0.10      0.50      5.00

Average:          sda     55.00    512.00    517.00      0.00     20.00      0.10      0.50      5.00
"""

OLD_SAR = """Linux 2.6.18 (db0)  11/20/2026

00:00:01          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
00:10:01       dev8-0    100.00   2048.00   2048.00     40.96      0.10      0.50      0.10      1.00
"""


SAR_ALL = """Linux 6.1.0-1-amd64 (db1) \t11/20/26 \t_x86_64_\t(32 CPU)

00:00:01        CPU      %usr     %nice      %sys   %iowait    %steal      %irq     %soft    %guest    %gnice     %idle
00:10:01        all     20.00      1.00      3.00      5.00      1.00      0.00      1.00      0.00      0.00     69.00
00:10:01          0     90.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00     10.00
00:20:01        all     40.00      0.00      8.00     10.00      0.00      0.00      2.00      0.00      0.00     40.00

00:00:01          tps      rtps      wtps      dtps   bread/s   bwrtn/s   bdscd/s
00:10:01       110.00     75.00     25.00     10.00   2000.00   1000.00    500.00
00:20:01        50.00     30.00     20.00      0.00   1000.00    600.00      0.00

00:00:01          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
00:10:01     dev253-0    110.00   1000.00    500.00    250.00     15.00      0.10      0.50      5.00
00:10:01     dev254-0    110.00   1000.00    500.00    250.00     15.00      0.10      0.50      5.00

Average:        CPU      %usr     %nice      %sys   %iowait    %steal      %irq     %soft    %guest    %gnice     %idle
Average:        all     30.00      0.50      5.50      7.50      0.50      0.00      1.50      0.00      0.00     54.50
"""

VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CET
 2  0      0 2794468   2108 741208    0    0     1     3   29   57  1  0 99  0  0 2026-11-20 20:33:13
 9  0      0 2794716   2108 741208    0    0     0     0   41   84 20  5 70  5  0 2026-11-20 20:34:13
 9  0      0 2794716   2108 741208    0    0     0     0   41   84 30 10 45 10  5 2026-11-20 20:35:13
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CET
 9  0      0 2794716   2108 741208    0    0     0     0   41   84  0  0 100 0  0 2026-11-20 20:36:13
"""

KSAR = """Date;CPU all %usr;CPU all %iowait;CPU all %steal;CPU all %idle;CPU 0 %idle;IO tps;
20/11/26 00:10:01;20.0;5.0;1.0;69.0;10.0;110.0;
20/11/26 00:20:01;40.0;10.0;0.0;40.0;null;50.0;
20/11/26 00:30:01;null;null;null;null;null;50.0;
"""

IOSTAT_OLD = """Linux 2.6.18 (db0) \t11/20/2026

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    1.00    0.00    0.00   98.00

Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00  1.00  1.00     2.00     2.00     8.00     0.01    9.25   8.75   0.70

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          20.00    0.00    5.00   10.00    0.00   65.00

Device:         rrqm/s   wrqm/s   r/s   w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00 75.00 25.00  1200.00   400.00     8.00     0.01    9.25   8.75   0.70
sda1              0.00     0.00 75.00 25.00  1200.00   400.00     8.00     0.01    9.25   8.75   0.70
dm-0              0.00     0.00 75.00 25.00  1200.00   400.00     8.00     0.01    9.25   8.75   0.70
"""

IOSTAT_NEW = """Linux 6.1.0 (db1) \t11/20/26 \t_x86_64_\t(8 CPU)

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await    f/s  %util
nvme0n1          1.00      8.00     0.00   0.00    0.10     8.00    1.00      8.00     0.00   0.00    0.10   0.00   0.10

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await    f/s  %util
nvme0n1         75.00    600.00     0.00   0.00    0.10     8.00   25.00    200.00     0.00   0.00    0.10   0.00   0.10
"""

IOSTAT_PLAIN = """Linux 6.1.0 (db1) \t11/20/26 \t_x86_64_\t(8 CPU)

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
sda               1.00         1.00         1.00         0.00       1000       1000          0
 all              1.00         1.00         1.00         0.00       1000       1000          0

Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
sda             100.00       600.00       200.00         0.00       1000       1000          0
 all            100.00       600.00       200.00         0.00       1000       1000          0
"""


def report(*disks: dict[str, object]) -> dict[str, object]:
    return {"avg-cpu": {"user": 1.0}, "disk": list(disks)}


def iostat(*reports: dict[str, object]) -> str:
    return json.dumps({"sysstat": {"hosts": [{"nodename": "db1", "statistics": list(reports)}]}})


def test_a_report_since_11_2_0_4_gives_bytes_requests_and_redo() -> None:
    assert parse_awr(AWR, "awr.txt").intervals == (LoadInterval(125 * 1048576.0, 8000.0, 0.75, 4194304.0),)


def test_statspack_counts_blocks_and_leaves_the_requests_unknown() -> None:
    assert parse_awr(STATSPACK, "sp.txt").intervals == (LoadInterval(1250 * 8192.0, None, None, 1048576.0),)


def test_several_reports_in_one_file_are_several_intervals() -> None:
    assert len(parse_awr(AWR + AWR, "awr.txt").intervals) == 2


def test_sar_adds_the_disks_up_and_leaves_stacked_ones_and_averages_away() -> None:
    found = parse_sar(SAR, "sar.txt")

    assert found.intervals == (
        LoadInterval(5120 * 1024.0, 400.0, 4096 / 5120),
        LoadInterval(20 * 1024.0, 20.0, 0.5),
    )
    assert found.caveats == ("not counted, so that no I/O counts twice: dm-0; use --devices to choose disks",)


def test_sar_of_sysstat_8_counts_sectors_of_512_bytes() -> None:
    assert parse_sar(OLD_SAR, "sar.txt").intervals == (LoadInterval(4096 * 512.0, 100.0, 0.5),)


def test_sar_of_all_activities_is_read_for_its_disks_and_past_comments() -> None:
    network = "12:10:01 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s   %ifutil"
    others = (
        f"\n{network}\n12:10:01 AM      eth0      9.00      9.00      9.00      9.00      0.00      0.00      0.00\n"
    )
    text = SAR.replace("12:20:01 AM       sda", "12:15:00 AM  COM the nightly batch began\n12:20:01 AM       sda")

    assert parse_sar(others + "\n" + text + others, "sar.txt") == parse_sar(SAR, "sar.txt")


def test_sar_with_pretty_names_has_the_disk_last() -> None:
    text = (
        "Linux 6.1 (db1)\n\n00:00:01       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz    await   %util DEV\n"
        "00:10:01    100.00   1024.00   1024.00      0.00     20.48      0.10     0.50    5.00 sda\n"
    )

    assert parse_sar(text, "sar.txt").intervals == (LoadInterval(2048 * 1024.0, 100.0, 0.5),)


def test_sar_of_all_disks_together_counts_no_volume_twice_and_tells_reads_from_writes() -> None:
    intervals = parse_sar(SAR_ALL, "sar.txt").intervals

    assert [interval for interval in intervals if interval.cpu_utilization is None] == [
        LoadInterval(3000 * 512.0, 100.0, 0.75),
        LoadInterval(1600 * 512.0, 50.0, 0.6),
    ]


def test_sar_tells_how_busy_all_cpus_were_without_waiting_and_stolen_time() -> None:
    intervals = parse_sar(SAR_ALL, "sar.txt").intervals

    assert [interval.cpu_utilization for interval in intervals if interval.cpu_utilization is not None] == [
        pytest.approx(0.25),
        pytest.approx(0.5),
    ]


def test_sar_names_that_may_be_disks_or_volumes_on_them_are_asked_for() -> None:
    disks = SAR_ALL.replace("rtps", "reads")

    with pytest.raises(SizeupError, match=r"dev253-\*, dev254-\*.*sar -d -p, or name the disks with --devices"):
        parse_sar(disks, "sar.txt")
    assert parse_sar(disks, "sar.txt", ("dev253-0",)).intervals[0].requests_per_second == 110
    # A disk whose number is fixed tells that the others are volumes.
    fixed = parse_sar(disks.replace("dev253-0", "  dev8-0"), "sar.txt")
    assert fixed.intervals[0].requests_per_second == 110
    assert fixed.caveats == ("not counted, so that no I/O counts twice: dev254-0; use --devices to choose disks",)


def test_sar_without_names_has_no_chosen_disks() -> None:
    with pytest.raises(SizeupError, match="expected the disks sda, found no sar -d"):
        parse_sar(SAR_ALL.split("00:00:01          DEV", maxsplit=1)[0], "sar.txt", ("sda",))


@pytest.mark.parametrize("text", [VMSTAT, VMSTAT.replace("procs ---", "--procs-- ---").replace(" gu", "")])
def test_vmstat_leaves_out_the_mean_since_boot_and_repeated_headings(text: str) -> None:
    shares = [interval.cpu_utilization for interval in parse_vmstat(text, "vmstat.txt").intervals]

    assert shares == [pytest.approx(0.25), pytest.approx(0.4), 0]


def test_ksar_gives_the_cpus_that_sar_had_and_passes_over_unknown_ones() -> None:
    shares = [interval.cpu_utilization for interval in parse_ksar(KSAR, "cpu.csv").intervals]

    assert shares == [pytest.approx(0.25), pytest.approx(0.5)]


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
    with pytest.raises(SizeupError, match=r"the CPUs were 40.0% busy .*: add --workload-cores N$"):
        read_workload((WorkloadFile("vmstat.txt", VMSTAT),), 95)
    values = read_workload((WorkloadFile("sar.txt", SAR_ALL),), 95)

    assert "workload.cpu_cores" not in values
    rate = values["workload.mb_s"]
    assert isinstance(rate, Quantity)
    assert "for a CPU demand add --workload-cores N" in rate.caveats[-1]


@pytest.mark.parametrize(
    "text",
    [
        IOSTAT_OLD,
        IOSTAT_NEW,
        IOSTAT_PLAIN,
        IOSTAT_NEW.replace(".", ","),
        IOSTAT_OLD.replace("rsec/s   wsec/s", "Blk/s x"),
    ],
    ids=["old", "new", "plain", "decimal commas", "unknown"],
)
def test_iostat_as_text_has_the_same_figures_in_every_layout(text: str) -> None:
    if "Blk/s" in text:
        with pytest.raises(SizeupError, match="line 7: sda: expected columns such as r/s, w/s, rkB/s"):
            parse_iostat(text, "iostat.txt")
        return
    found = parse_iostat(text, "iostat.txt")

    assert [one for one in found.intervals if one.cpu_utilization is None] == [LoadInterval(800 * 1024.0, 100.0, 0.75)]
    assert found.caveats[0].startswith("the first report was left out: it is the mean since boot")


def test_iostat_as_text_tells_how_busy_the_cpus_were() -> None:
    intervals = parse_iostat(IOSTAT_OLD, "iostat.txt").intervals

    assert [one.cpu_utilization for one in intervals if one.cpu_utilization is not None] == [pytest.approx(0.25)]


def test_named_devices_are_the_ones_that_count() -> None:
    assert parse_sar(SAR, "sar.txt", ("dm-0",)).intervals[0] == LoadInterval(5120 * 1024.0, 400.0, 0.8)


def test_iostat_leaves_out_the_mean_since_boot() -> None:
    extended = {"disk_device": "sda", "r/s": 75.0, "w/s": 25.0, "rkB/s": 100.0, "wkB/s": 60.0}
    boot = {**extended, "r/s": 1.0}

    assert parse_iostat(iostat(report(boot), report(extended)), "io.json").intervals == (
        LoadInterval(160 * 1024.0, 100.0, 0.75),
    )


def test_iostat_without_x_tells_the_share_of_reads_by_bytes() -> None:
    plain = {"disk_device": "sda", "tps": 10.0, "kB_read/s": 30.0, "kB_wrtn/s": 10.0}

    assert parse_iostat(iostat(report(plain)), "io.json").intervals == (LoadInterval(40 * 1024.0, 10.0, 0.75),)


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ({"rkB/s": 3.0, "wkB/s": 1.0}, 1024),
        ({"rMB/s": 3.0, "wMB/s": 1.0}, 1024**2),
        ({"rsec/s": 3.0, "wsec/s": 1.0}, 512),
        ({"kB_read/s": 3.0, "kB_wrtn/s": 1.0}, 1024),
        ({"MB_read/s": 3.0, "MB_wrtn/s": 1.0}, 1024**2),
        ({"Blk_read/s": 3.0, "Blk_wrtn/s": 1.0}, 512),
    ],
)
def test_iostat_counts_in_the_unit_of_its_columns(columns: dict[str, float], unit: int) -> None:
    row = {"disk_device": "sda", "tps": 4.0, "r/s": 3.0, "w/s": 1.0, **columns}

    assert parse_iostat(iostat(report(row)), "io.json").intervals == (LoadInterval(4.0 * unit, 4.0, 0.75),)


def test_partitions_do_not_count_beside_their_disk() -> None:
    def row(name: str) -> dict[str, object]:
        return {"disk_device": name, "tps": 10.0, "kB_read/s": 30.0, "kB_wrtn/s": 10.0}

    found = parse_iostat(iostat(report(*map(row, ("sda", "sda1", "nvme0n1", "nvme0n1p2", "sdb2")))), "io.json")

    assert found.intervals == (LoadInterval(3 * 40 * 1024.0, 30.0, 0.75),)
    assert found.caveats[-1].startswith("not counted, so that no I/O counts twice: nvme0n1p2, sda1;")


def test_figures_with_an_exponent_are_read_whole() -> None:
    text = AWR.replace("4,194,304.0", "4.194304E+06").replace("12,800.0", "1.28E+04")

    assert parse_awr(text, "awr.txt") == parse_awr(AWR, "awr.txt")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "expected an AWR or Statspack report"),
        ("hello", "found 'hello'"),
        ("{}", "expected the output of iostat -o JSON"),
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
        (SAR.replace("1024.00", "1.0k"), "expected a number for rkB/s, found '1.0k'"),
        (IOSTAT_PLAIN.replace("600.00", "600.0k"), "found '600.0k'; run iostat without -h or --human"),
        (IOSTAT_PLAIN.replace("kB_wrtn/s", "kB_w+d/s "), "run iostat without -s"),
        (IOSTAT_NEW.replace("   8.00    1.00", "   8.00"), "line 4: expected 14 columns, found 13"),
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
        (SAR.replace("rkB/s", "reads"), "expected one of the columns rkB/s"),
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
    assert rate.source == "io.json: 90th percentile of 20"


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


@pytest.mark.parametrize("sample", SAMPLES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_in_one_line(sample: str, data: st.DataObject) -> None:
    text = SAMPLES[sample]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(ANY_CHARACTER, max_size=8)) + text[at + data.draw(st.integers(0, 40)) :]
    told = ""
    try:
        read_workload((WorkloadFile("x", text),), 95, cores=data.draw(st.sampled_from((None, 8))))
    except SizeupError as error:
        told = str(error)
    assert "\n" not in told


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_number_without_end_is_refused_or_left_out(sample: str) -> None:
    whole = SAMPLES[sample]
    for match in list(re.finditer(r"\d+", whole))[:60]:
        for digits in (5000, 400):
            text = whole[: match.start()] + "9" * digits + whole[match.end() :]
            with contextlib.suppress(SizeupError):
                read_workload((WorkloadFile("x", text),), 95, cores=8)
