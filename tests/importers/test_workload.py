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
from sizeup.importers.sar import parse_sar
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


def test_a_number_without_end_is_refused_or_left_out() -> None:
    for match in list(re.finditer(r"\d+", AWR))[:60]:
        for digits in (5000, 400):
            text = AWR[: match.start()] + "9" * digits + AWR[match.end() :]
            with contextlib.suppress(SizeupError):
                read_workload((WorkloadFile("awr.txt", text),), 95)
