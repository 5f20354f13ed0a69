"""Workloads from sadf in its three forms, and from mpstat."""

import json

import pytest

from sizeup.errors import SizeupError
from sizeup.importers.intervals import LoadInterval
from sizeup.importers.sar import parse_sadf
from sizeup.quantity import Quantity
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload

CPUS = """# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
db1;-1;2026-11-24 09:58:02 UTC;LINUX-RESTART\t(8 CPU)
db1;600;2026-11-24 10:10:01 UTC;-1;20.00;1.00;4.00;5.00;1.00;69.00
db1;600;2026-11-24 10:10:01 UTC;0;90.00;0.00;0.00;0.00;0.00;10.00
db1;600;2026-11-24 10:20:01 UTC;-1;40.00;0.00;10.00;10.00;0.00;40.00
"""
ALL_DISKS = """# hostname;interval;timestamp;tps;rtps;wtps;dtps;bread/s;bwrtn/s;bdscd/s
db1;600;2026-11-24 10:10:01 UTC;110.00;75.00;25.00;10.00;2000.00;1000.00;500.00
db1;600;2026-11-24 10:20:01 UTC;50.00;30.00;20.00;0.00;1000.00;600.00;0.00
"""
DISKS = """# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util
db1;600;2026-11-24 10:10:01 UTC;sda;100.00;1024.00;1024.00;0.00;20.48;0.10;0.50;5.00
db1;600;2026-11-24 10:10:01 UTC;sdb;300.00;3072.00;0.00;0.00;10.24;0.10;0.50;5.00
db1;600;2026-11-24 10:10:01 UTC;dm-0;400.00;4096.00;1024.00;0.00;12.80;0.10;0.50;5.00
db1;600;2026-11-24 10:20:01 UTC;sda;10.00;0.00;10.00;0.00;1.00;0.10;0.50;5.00
db1;600;2026-11-24 10:20:01 UTC;sdb;10.00;10.00;0.00;0.00;1.00;0.10;0.50;5.00
"""
OTHERS = """# hostname;interval;timestamp;INTR;CPU*
db1;600;2026-11-24 10:10:01 UTC;sum;214.00;177.00;37.00
# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s;rxcmp/s;txcmp/s;rxmcst/s;%ifutil[...]
db1;600;2026-11-24 10:10:01 UTC;eth0;9.00;9.00;9.00;9.00;0.00;0.00;0.00;0.00
"""
BUSY = (0.25, 0.5)  # 100 - 69 - 5 - 1 = 25 %; 100 - 40 - 10 = 50 %
# sda + sdb: 1,024 + 1,024 + 3,072 = 5,120 kB/s, of which 4,096 are read, and 10 + 10 = 20 kB/s, half of it read.
ONE_BY_ONE = (
    LoadInterval(5120 * 1024.0, 400.0, read_share_of_bytes=0.8),
    LoadInterval(20 * 1024.0, 20.0, read_share_of_bytes=0.5),
)
# 2,000 + 1,000 sectors of 512 bytes and 75 + 25 requests; discards do not count.
TOGETHER = (
    LoadInterval(3000 * 512.0, 100.0, 0.75, read_share_of_bytes=2 / 3),
    LoadInterval(1600 * 512.0, 50.0, 0.6, read_share_of_bytes=1000 / 1600),
)


def lines(table: str) -> str:
    """The same as ``sadf -p`` prints it: a figure in each line."""
    found = []
    header: list[str] = []
    for line in table.splitlines():
        cells = line.split(";")
        if line.startswith("#"):
            header = cells
        elif cells[1] == "-1":
            found.append("\t".join(cells))
        else:
            first = 4 if header[3] in ("CPU", "DEV", "INTR", "IFACE") else 3
            of = "-" if first == 3 else {"-1": "all", "0": "cpu0"}.get(cells[3], cells[3])
            found += [
                "\t".join((*cells[:3], of, name, cell))
                for name, cell in zip(header[first:], cells[first:], strict=header[3] not in ("INTR", "IFACE"))
            ]
    return "\n".join(found) + "\n"


def as_json(*statistics: dict[str, object]) -> str:
    return json.dumps({"sysstat": {"hosts": [{"nodename": "db1", "statistics": list(statistics), "restarts": []}]}})


def at(time: str, **activities: object) -> dict[str, object]:
    return {"timestamp": {"date": "2026-11-24", "time": time, "utc": 1, "interval": 600}, **activities}


def cpu(name: str, idle: float, iowait: float, steal: float) -> dict[str, object]:
    return {"cpu": name, "user": 1.0, "nice": 0.0, "system": 1.0, "iowait": iowait, "steal": steal, "idle": idle}


def disk(name: str, tps: float, read: float, written: float) -> dict[str, object]:
    return {"disk-device": name, "tps": tps, "rd_sec": 0.0, "wr_sec": 0.0, "rkB": read, "wkB": written, "await": 0.5}


JSON = as_json(
    at(
        "10:10:01",
        **{"cpu-load": [cpu("all", 69, 5, 1), cpu("0", 10, 0, 0)]},
        disk=[disk("sda", 100, 1024, 1024), disk("sdb", 300, 3072, 0), disk("dm-0", 400, 4096, 1024)],
    ),
    at(
        "10:20:01",
        **{"cpu-load-all": [cpu("all", 40, 10, 0)]},
        disk=[disk("sda", 10, 0, 10), disk("sdb", 10, 10, 0)],
    ),
)
MPSTAT_JSON = as_json({"timestamp": "10:10:01", "cpu-load": [cpu("all", 69, 5, 1)]})


@pytest.mark.parametrize(
    "text",
    [OTHERS + CPUS + DISKS, lines(OTHERS + CPUS + DISKS), JSON, (OTHERS + CPUS + DISKS).replace(".", ",")],
    ids=["-d", "-p", "-j", "decimal commas"],
)
def test_sadf_gives_disks_and_cpus_in_each_form_and_passes_over_the_rest(text: str) -> None:
    found = parse_sadf(text, "sadf.txt")

    assert tuple(one for one in found.intervals if one.cpu_utilization is None) == ONE_BY_ONE
    assert [one.cpu_utilization for one in found.intervals if one.cpu_utilization is not None] == pytest.approx(BUSY)
    assert found.caveats == (
        "not counted (volumes and partitions of other disks, CD-ROM, floppy): dm-0; use --devices to choose disks",
    )


def test_sadf_of_all_disks_together_counts_no_volume_twice() -> None:
    io = {"tps": 110.0, "io-reads": {"rtps": 75.0, "bread": 2000.0}, "io-writes": {"wtps": 25.0, "bwrtn": 1000.0}}
    text = as_json(at("10:10:01", io=io, disk=[disk("dm-0", 1, 1, 1)]))

    assert parse_sadf(ALL_DISKS + DISKS, "-d").intervals == TOGETHER
    assert parse_sadf(lines(ALL_DISKS + DISKS), "-p").intervals == TOGETHER
    assert parse_sadf(text, "-j").intervals == TOGETHER[:1]
    assert parse_sadf(ALL_DISKS + DISKS, "-d", ("dm-0",)).intervals[0].requests_per_second == 400


@pytest.mark.parametrize("text", [CPUS, lines(CPUS), JSON])
def test_a_workload_finds_the_kind_of_the_file(text: str) -> None:
    cores = read_workload((WorkloadFile("x", text),), 100, cores=16)["workload.cpu_cores"]

    assert isinstance(cores, Quantity)
    assert cores.value == pytest.approx(16 * 0.5)


MPSTAT = """Linux 6.1.0 (db1) \t11/24/26 \t_x86_64_\t(8 CPU)

10:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
10:10:01     all   20.00    1.00    3.00    5.00    0.00    1.00    1.00    0.00    0.00   69.00
10:10:01       0   90.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   10.00
"""


def test_mpstat_gives_the_utilization_of_all_cpus() -> None:
    average = "Average:     all   20.00    1.00    3.00    5.00    0.00    1.00    1.00    0.00    0.00   69.00\n"
    for text, since_boot in ((MPSTAT, True), (MPSTAT + average, False), (MPSTAT_JSON, False)):
        cores = read_workload((WorkloadFile("mpstat", text),), 95, cores=16)["workload.cpu_cores"]
        assert isinstance(cores, Quantity)
        assert cores.value == pytest.approx(16 * 0.25)
        assert any("mean since boot: run mpstat 60" in caveat for caveat in cores.caveats) is since_boot


@pytest.mark.parametrize("end", [JSON.rindex("sdb"), JSON.rindex("sda") - 1, JSON.rindex('"restarts"')])
def test_the_whole_reports_of_json_that_was_cut_count_and_the_cut_is_told(end: int) -> None:
    """The last is cut behind its last report: nothing but the brackets are missing."""
    found = parse_sadf(JSON[:end], "sadf.json")
    disks = tuple(one for one in found.intervals if one.cpu_utilization is None)

    assert disks == (ONE_BY_ONE if end == JSON.rindex('"restarts"') else ONE_BY_ONE[:1])
    assert found.left_out == "the end of the file, which was cut"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (DISKS.replace(";5.00\ndb1;600;2026-11-24 10:20:01 UTC;sdb", "\ndb1;1;x;sdb"), "line 5: expected 12 columns"),
        (DISKS[: DISKS.index(";0.00;1.00;0.10;0.50;5.00\n")], "line 5: expected 12 columns, found 7"),
        (DISKS.replace("%util", "%util[...]"), "line 1: expected one disk or CPU in a line, found several; run sadf w"),
        (lines(DISKS).replace("\t1024.00", ""), "line 2: expected 6 columns, found 5"),
        (lines(DISKS)[: lines(DISKS).rindex("wkB/s")], "expected 6 columns, found 5"),
        (lines(DISKS)[: lines(DISKS).rindex("db1\t600\t2026-11-24 10:20:01 UTC\tsdb\twkB/s")], "line 34: expected col"),
        (
            ALL_DISKS.replace("110.00", "10.00"),
            "rtps + wtps: expected at most the 10 IOPS of tps, found 100 IOPS; the r",
        ),
        (CPUS.replace("69.00", "96.00"), "line 3: expected idle, waiting and stolen time of at most 100 %, found 102"),
        (OTHERS, "expected rows of disks (-- -d or -b) or CPUs (-- -u), found none"),
        (JSON[: len(JSON) // 3], "expected a whole report in JSON, found a file that was cut in the first"),
        (JSON.replace("hosts", "guests"), "expected the output of sadf -j or mpstat -o JSON"),
        (JSON.replace("3072", '"many"'), "statistics 1: expected a number for rkB/s, found 'many'"),
        (MPSTAT.replace(" all ", "   3 "), "expected lines of all CPUs (mpstat 60, without -P N or -N)"),
    ],
)
def test_a_damaged_file_of_sysstat_is_refused_with_the_place(text: str, what: str) -> None:
    with pytest.raises(SizeupError) as refused:
        read_workload((WorkloadFile("x.txt", text),), 95, cores=8)
    assert str(refused.value).startswith("x.txt: ")
    assert what in str(refused.value)
