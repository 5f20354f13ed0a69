"""Workloads from iostat, in every layout and unit."""

import re

import pytest

from importers.test_workload import iostat
from importers.workload_samples import IOSTAT_NEW, IOSTAT_OLD, IOSTAT_PLAIN, SAR, report
from sizeup.errors import SizeupError
from sizeup.importers.intervals import LoadInterval, chosen
from sizeup.importers.iostat import parse_iostat
from sizeup.importers.sar import parse_sar
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload


@pytest.mark.parametrize(
    "text",
    [IOSTAT_OLD, IOSTAT_NEW, IOSTAT_PLAIN, IOSTAT_NEW.replace(".", ",")],
    ids=["old", "new", "plain", "decimal commas"],
)
def test_iostat_as_text_has_the_same_figures_in_every_layout(text: str) -> None:
    found = parse_iostat(text, "iostat.txt")

    assert [one for one in found.intervals if one.cpu_utilization is None] == [
        LoadInterval(800 * 1024.0, 100.0, 0.75 if "r/s" in text else None, read_share_of_bytes=0.75)
    ]
    assert found.caveats[0].startswith("the first report was left out: it is the mean since boot")


def test_iostat_as_text_tells_how_busy_the_cpus_were() -> None:
    intervals = parse_iostat(IOSTAT_OLD, "iostat.txt").intervals

    assert [one.cpu_utilization for one in intervals if one.cpu_utilization is not None] == [pytest.approx(0.25)]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SAR, "1024.00   1024.00      0.00", "1024.00   1024.00    512.00"),
        (IOSTAT_PLAIN, "600.00       200.00         0.00", "600.00       200.00       512.00"),
    ],
)
def test_discards_among_the_requests_are_told(text: str, old: str, new: str) -> None:
    """``tps`` counts them, too."""
    assert old in text
    remarks = [
        read_workload((WorkloadFile("x", one),), 95)["workload.iops"].caveats for one in (text, text.replace(old, new))
    ]

    assert ["discards (TRIM) count, too" in str(one) for one in remarks] == [False, True]


def test_discards_of_a_disk_that_does_not_count_are_not_told() -> None:
    discards = SAR.replace("1024.00   1024.00      0.00", "1024.00   1024.00    512.00")

    assert parse_sar(discards, "sar.txt", ("sda",)).remarks
    assert not parse_sar(discards, "sar.txt", ("sdb",)).remarks


def test_named_devices_are_the_ones_that_count() -> None:
    assert parse_sar(SAR, "sar.txt", ("dm-0",)).intervals[0] == LoadInterval(
        5120 * 1024.0, 400.0, read_share_of_bytes=0.8
    )


def test_iostat_as_json_without_disks_tells_how_busy_the_cpus_were() -> None:
    """By ``-c``: the second report has 60 % idle and 15 % waiting."""
    reports = [{"avg-cpu": {"user": 1.0, "idle": idle, "iowait": 15.0, "steal": 0.0}} for idle in (85.0, 60.0)]
    (busy,) = parse_iostat(iostat(*reports), "io.json").intervals

    assert busy.cpu_utilization == pytest.approx(0.25)


def test_iostat_leaves_out_the_mean_since_boot() -> None:
    extended = {"disk_device": "sda", "r/s": 75.0, "w/s": 25.0, "rkB/s": 100.0, "wkB/s": 60.0}
    boot = {**extended, "r/s": 1.0}

    assert parse_iostat(iostat(report(boot), report(extended)), "io.json").intervals == (
        LoadInterval(160 * 1024.0, 100.0, 0.75, read_share_of_bytes=100 / 160),
    )


def test_iostat_without_x_tells_the_share_of_reads_by_bytes() -> None:
    plain = {"disk_device": "sda", "tps": 10.0, "kB_read/s": 30.0, "kB_wrtn/s": 10.0}

    assert parse_iostat(iostat(report(plain)), "io.json").intervals == (
        LoadInterval(40 * 1024.0, 10.0, read_share_of_bytes=0.75),
    )


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

    assert parse_iostat(iostat(report(row)), "io.json").intervals == (
        LoadInterval(4.0 * unit, 4.0, 0.75, read_share_of_bytes=0.75),
    )


def test_the_total_of_a_group_is_not_counted_beside_its_disks() -> None:
    plain = {"disk_device": "sda", "tps": 10.0, "kB_read/s": 30.0, "kB_wrtn/s": 10.0}
    group = {**plain, "disk_device": " mine"}
    last = (
        "Linux 6.1.0 (db1)\n\n      tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n"
        "    10.00        30.00        10.00       3000       1000 sda\n"
        "    10.00        30.00        10.00       3000       1000  mine\n"
    )

    for text in (iostat(report(plain, group)), last):
        assert parse_iostat(text, "io").intervals == (LoadInterval(40 * 1024.0, 10.0, read_share_of_bytes=0.75),)
    for text in (iostat(report(group)), re.sub(r".* sda\n", "", last)):
        with pytest.raises(SizeupError, match="found totals of groups alone; run iostat without -H"):
            parse_iostat(text, "io")


def test_partitions_do_not_count_beside_their_disk_and_cd_rom_and_floppy_never() -> None:
    def row(name: str) -> dict[str, object]:
        return {"disk_device": name, "tps": 10.0, "kB_read/s": 30.0, "kB_wrtn/s": 10.0}

    found = parse_iostat(
        iostat(report(*map(row, ("sda", "sda1", "nvme0n1", "nvme0n1p2", "sdb2", "sr0", "scd1", "fd0")))), "io.json"
    )

    assert found.intervals == (LoadInterval(3 * 40 * 1024.0, 30.0, read_share_of_bytes=0.75),)
    assert found.caveats[-1].startswith(
        "not counted (volumes and partitions of other disks, CD-ROM, floppy): fd0, nvme0n1p2, "
    )


@pytest.mark.parametrize(
    ("last", "devices", "iops", "left_out"),
    [
        (("sda", "sdb"), (), [20, 20], "the first report"),
        (("sda",), (), [20], "the first report and the last report, which lacks sdb"),
        (("sda",), ("sda",), [10, 10], "the first report"),
    ],
)
def test_a_last_report_that_lacks_a_disk_of_all_others_does_not_count(
    last: tuple[str, ...], devices: tuple[str, ...], iops: list[float], left_out: str
) -> None:
    reports = [("sda", "sdb", "sdc"), ("sda", "sdb"), last]  # a disk without I/O is no row, by -z
    heading = "Device            r/s     w/s     rkB/s     wkB/s"
    tables = ("\n".join((heading, *(f"{disk} 6.00 4.00 40.00 20.00" for disk in disks))) for disks in reports)
    found = parse_iostat("\n\n".join(tables), "iostat.txt", devices)

    assert [one.requests_per_second for one in found.intervals] == iops
    assert found.left_out == left_out


@pytest.mark.parametrize("last", ["sda", ""])
def test_a_disk_without_io_is_no_row_of_a_whole_last_report(last: str) -> None:
    """``-z`` leaves out idle disks, of all of them the rows; the empty line behind a report says that it is whole."""
    heading = "Device            r/s     w/s     rkB/s     wkB/s\n"
    tables = [
        heading + "".join(f"{disk} 6.00 4.00 40.00 20.00\n" for disk in names.split()) for names in ("sda sdb", last)
    ]
    text = "\n".join((tables[0], *tables, ""))
    found = [parse_iostat(one, "iostat.txt") for one in (text, text.replace("\n", "\r\n"))]
    rows = [{"disk_device": disk, "r/s": 6.0, "w/s": 4.0, "rkB/s": 40.0, "wkB/s": 20.0} for disk in ("sda", "sdb")]
    found.append(parse_iostat(iostat(report(*rows), report(*rows), report(*rows[: len(last.split())])), "io.json"))

    for one in found:
        assert [each.requests_per_second for each in one.intervals] == [20, 10 * len(last.split())]
        assert one.left_out == "the first report"


def test_json_of_iostat_that_was_killed_counts_up_to_its_last_whole_report() -> None:
    rows = [{"disk_device": disk, "r/s": 6.0, "w/s": 4.0, "rkB/s": 40.0, "wkB/s": 20.0} for disk in ("sda", "sdb")]
    text = iostat(*(report(*rows) for _ in range(3)))
    cut = parse_iostat(text[: text.rindex("sdb")], "io.json")

    assert [one.requests_per_second for one in cut.intervals] == [20]
    assert cut.left_out == "the first report and the end of the file, which was cut"
    with pytest.raises(
        SizeupError, match=r"io\.json: expected a whole report .*, found a file that was cut in the first"
    ):
        parse_iostat(text[: text.index("sdb")], "io.json")


@pytest.mark.parametrize(
    ("last", "iops", "end"),
    [("sda sdb", [20, 20], ""), ("sda", [20], ""), ("sda", [20, 10], "\nAverage: DEV tps\nAverage: sda 10.00")],
)
def test_a_last_time_of_sar_that_lacks_a_disk_does_not_count(last: str, iops: list[float], end: str) -> None:
    """Unless averages follow: then ``sar -z`` left out an idle disk."""
    lines = ["00:00:01 DEV tps rkB/s wkB/s"]
    for time, disks in (("00:10:01", "sda sdb"), ("00:20:01", last)):
        lines += [f"{time} {disk} 10.00 40.00 20.00" for disk in disks.split()]
    found = parse_sar("\n".join((*lines, end)), "sar.txt")

    assert [one.requests_per_second for one in found.intervals] == iops
    assert bool(found.left_out) == (iops == [20])


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        (("sda", "rhel-root", "mpatha", "emcpowera", "zd0"), {"sda"}),
        (("nvme0n1", "nvme0c0n1", "nvme0n1p1"), {"nvme0n1"}),
        (("fioa", "rssda", "sfdv0n1", "dasda", "xvdf", "vdb"), {"fioa", "rssda", "sfdv0n1", "dasda", "xvdf", "vdb"}),
        (("rhel-root", "rhel-swap"), {"rhel-root", "rhel-swap"}),  # nothing else is there
    ],
)
def test_named_volumes_and_paths_do_not_count_beside_disks(names: tuple[str, ...], counted: set[str]) -> None:
    kept, caveats = chosen(names, (), "iostat -N")

    assert kept == counted
    assert all(name in " ".join(caveats) for name in set(names) - counted)
