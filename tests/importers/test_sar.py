"""Workloads from sar and kSar."""

import pytest

from importers.workload_samples import KSAR, OLD_SAR, SAR, SAR_ALL, VMSTAT
from sizeup.errors import MalformedError, SizeupError
from sizeup.importers.intervals import LoadInterval
from sizeup.importers.iostat import parse_vmstat
from sizeup.importers.sar import parse_ksar, parse_sar


def test_sar_adds_the_disks_up_and_leaves_stacked_ones_and_averages_away() -> None:
    found = parse_sar(SAR, "sar.txt")

    assert found.intervals == (
        LoadInterval(5120 * 1024.0, 400.0, read_share_of_bytes=4096 / 5120),
        LoadInterval(20 * 1024.0, 20.0, read_share_of_bytes=0.5),
    )
    assert found.caveats == (
        "not counted (volumes and partitions of other disks, CD-ROM, floppy): dm-0; use --devices to choose disks",
    )


def test_sar_of_sysstat_8_counts_sectors_of_512_bytes() -> None:
    assert parse_sar(OLD_SAR, "sar.txt").intervals == (LoadInterval(4096 * 512.0, 100.0, read_share_of_bytes=0.5),)


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

    assert parse_sar(text, "sar.txt").intervals == (LoadInterval(2048 * 1024.0, 100.0, read_share_of_bytes=0.5),)


def test_sar_of_all_disks_together_counts_no_volume_twice_and_tells_reads_from_writes() -> None:
    intervals = parse_sar(SAR_ALL, "sar.txt").intervals

    assert [interval for interval in intervals if interval.cpu_utilization is None] == [
        LoadInterval(3000 * 512.0, 100.0, 0.75, read_share_of_bytes=2 / 3),
        LoadInterval(1600 * 512.0, 50.0, 0.6, read_share_of_bytes=1000 / 1600),
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
    assert fixed.caveats == (
        "not counted (volumes and partitions of other disks, CD-ROM, floppy): dev254-0; use --devices to choose disks",
    )


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


def test_ksar_without_the_cpus_is_refused_with_what_the_file_has() -> None:
    text = "Date;Kernel VFS file-nr;Kernel VFS inode-nr;Kernel VFS pty-nr;\n09/11/18 21:00:11;6336.0;229550.0;2.0;\n"

    with pytest.raises(MalformedError, match=r"found 3 others, such as 'Kernel VFS file-nr'; export all graphs"):
        parse_ksar(text, "vfs.csv")


def test_ksar_that_left_out_the_first_column_of_a_graph_has_the_idle_time_all_the_same() -> None:
    text = (
        "Date;CPU all %nice;CPU all %system;CPU all %iowait;CPU all %steal;CPU all %idle;\n"
        "09/11/18 21:00:11;0.0;3.0;5.0;0.0;72.0;\n"
    )

    assert [one.cpu_utilization for one in parse_ksar(text, "cpu.csv").intervals] == [pytest.approx(0.23)]
