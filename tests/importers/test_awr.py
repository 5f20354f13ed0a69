"""AWR and Statspack reports, as text and HTML: every figure in its unit, from the section that has it whole."""

import re

import pytest

from importers.awr_reports import AWR, CLUSTER, PGA, STATSPACK_9, as_html, second_instance, without
from sizeup.errors import SizeupError
from sizeup.importers.awr import parse_awr
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.quantity import Quantity
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload

MIB = 1048576.0

WHOLE = LoadInterval(
    bytes_per_second=285_000_000 - 2_000_000,
    requests_per_second=8000 + 3000,
    read_share=8000 / 11000,
    redo_bytes_per_second=2_000_000,
    redo_writes_per_second=500,
    sequential_bytes_per_second=250_000_000 - 8000 * 8192,
    read_share_of_bytes=250 / 283,
    cpu_utilization=0.25,
    busy_cores=4,
    spread_cores=8,
    cores=16,
)


def remarks(found: Intervals, key: str) -> str:
    return "; ".join(remark for of, remark in found.remarks if of == key)


@pytest.mark.parametrize("text", [AWR, as_html(AWR), AWR.replace("\n", "\r\n")], ids=["text", "html", "crlf"])
def test_the_instance_activity_counts_everything_and_redo_once(text: str) -> None:
    found = parse_awr(text, "awr")

    assert found.intervals == (WHOLE,)
    assert {stated.key: stated.value for stated in found.stated} == {
        "sga.mb": 68719476736,
        "sga.advisory_mb": 49152 * MIB,
        "sga.keep_mb": 1024 * MIB,
        "sga.recycle_mb": 512 * MIB,
        "db.hot_percent": pytest.approx(0.8),
        "workload.io_kib": 8192,
        "memory.sessions": 104,
    }
    assert "2 segments cause 80 % of the physical reads (hot set)" in remarks(found, "db.hot_percent")
    assert "this database took 50 % of the busy CPU time" in remarks(found, "workload.cpu_cores")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("126,000,000,000   35,000,000.0", "3,600,000,000    1,000,000.0", "at most the 1 MB/s .* found 2 MB/s"),
        ("2,000,000.0           7,016.0", "9,000,000.0           7,016.0", "expected 2 MB/s as in .* found 9 MB/s"),
        (
            "1,800,000          500.0       ",
            "18,000,000        5,000.0       ",
            "redo writes: expected at most the 3,500 IOPS of physical write total IO requests, found 5,000 IOPS",
        ),
        (
            "7,200,000        2,000.0",
            "43,200,000       12,000.0",
            "multi block requests: expected at most the 10,000 IOPS of physical read total IO requests, found 12,000",
        ),
        ("NUM_CPU_CORES                                 16", "NUM_CPU_CORES    64", "at most NUM_CPUS = 32, found 64"),
        ("BUSY_TIME                              2,880,000", "BUSY_TIME 20,000,000", "most 11,520,000, 32 CPUs of 60"),
        ("60.00 (mins)", "0.00 (mins)", "Elapsed: expected a time between its snapshots, found 0.00 minutes"),
        ("60.00 (mins)", "30.00 (mins)", r"redo size: expected 4,000,000.0 .* over 30 minutes, found 2,000,000.0"),
        ("36,000,000       10,000.0", "3,600,000       10,000.0", "read total IO requests: expected 1,000.0 a second"),
        ("12,600,000        3,500.0", "12,600,000            0.0", "write total IO requests: expected 3,500.0 .* 0.0"),
        ("7,200,000        2,000.0", "72,000        2,000.0", "multi block requests: expected 20.0 .* found 2,000.0"),
        ("900,000,000,000  250,000,000.0", "9,000,000,000  250,000,000.0", "read total bytes: expected 2,500,000.0"),
        ("1,800,000          500.0       ", "180,000          500.0       ", "redo writes: expected 50.0"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused_with_both_figures(old: str, new: str, said: str) -> None:
    """Redo beyond all that was written, of two sizes, more cores than CPUs, busier than all of them.

    7.2 GB at 2 MB/s in half of 3,600 s; totals that are not what their rates are in 3,600 s.
    """
    assert old in AWR

    with pytest.raises(SizeupError, match=said):
        parse_awr(AWR.replace(old, new), "awr")


@pytest.mark.parametrize(("idle", "cpus"), [("1,640,000", "12.6"), ("20,160,000", "64"), ("8,640,000", "")])
def test_times_of_another_number_of_cpus_are_told(idle: str, cpus: str) -> None:
    """(2,880,000 + 1,640,000) / 100 / 3,600 s are 12.6 CPUs."""
    told = remarks(parse_awr(AWR.replace("8,640,000", idle), "awr"), "workload.cpu_cores")

    assert (f"are of {cpus} CPUs over 60 minutes, NUM_CPUS is 32" in told) is bool(cpus)
    assert ("BUSY_TIME" in told) is bool(cpus)


def test_a_rate_of_one_digit_is_as_its_total_says() -> None:
    """900 redo writes in 3,600 s are 0.25 a second."""
    text = AWR.replace("1,800,000          500.0", "      900            0.3")

    assert parse_awr(text, "awr").intervals[0].redo_writes_per_second == 0.3


def test_without_the_size_of_a_block_the_line_that_lacks_is_named() -> None:
    found = parse_awr(AWR.replace("Std Block Size:         8K", ""), "awr")

    assert found.intervals[0].requests_per_second == 13_000  # 10,000 reads and 3,500 - 500 writes
    assert "because the report has no line Std Block Size" in remarks(found, "workload.iops")


def test_without_the_instance_activity_the_io_profile_counts_everything() -> None:
    activity = r"^Instance Activity Stats  .*?(?=^Instance Activity Stats - )"
    text = re.sub(activity, "", AWR, flags=re.DOTALL | re.MULTILINE)
    found = parse_awr(text, "awr")
    interval = found.intervals[0]

    assert interval.bytes_per_second == 280 * MIB - 2_000_000
    assert (interval.requests_per_second, interval.redo_writes_per_second) == (10_000 + 2950, 500)
    assert interval.sequential_bytes_per_second is None
    assert "requests of several blocks count as random I/O" in remarks(found, "workload.iops")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "50.0           500.0",
            "50.0         5,000.0",
            "Redo Requests: expected at most the 3,450 IOPS of IO Profile",
        ),
        ("240.0            40.0", "240.0             1.0", "Redo size: expected at most the 1.0486 MB/s of IO Profile"),
    ],
)
def test_redo_beyond_the_total_of_the_io_profile_is_refused(old: str, new: str, said: str) -> None:
    activity = r"^Instance Activity Stats  .*?(?=^Instance Activity Stats - )"
    text = re.sub(activity, "", AWR, flags=re.DOTALL | re.MULTILINE)
    assert old in text

    with pytest.raises(SizeupError, match=f"awr: {re.escape(said)}.*; the report contradicts itself"):
        parse_awr(text.replace(old, new), "awr")


def test_without_its_redo_writes_the_requests_of_a_report_count_with_them() -> None:
    """10,000 reads and 3,500 writes a second, redo among them, where no other section has requests."""
    text = re.sub(r"^redo writes  .*\n", "", without(AWR, "IO Profile"), flags=re.MULTILINE)
    bare = re.sub(r"^ +(?:Read|Write) IO requests:.*\n", "", text, flags=re.MULTILINE)
    found = parse_awr(bare, "awr")

    assert [one.requests_per_second for one in parse_awr(text, "awr").intervals] == [12_800]
    assert [one.requests_per_second for one in found.intervals] == [13_500]
    assert "and again as redo" in remarks(found, "workload.iops")


def test_without_operating_system_statistics_the_database_own_cpu_time_counts() -> None:
    host = "Host CPU (CPUs:   32 Cores:   16 Sockets:    2)\n"
    found = parse_awr(without(AWR, "Operating System Statistics").replace("Memory Stat", f"{host}Memory Stat"), "awr")

    assert found.intervals[0].busy_cores == pytest.approx((10_800 + 3600) / 3600 / 32 * 16)
    assert "CPU time of this database alone" in remarks(found, "workload.cpu_cores")
    without_cores = parse_awr(without(AWR, "Operating System Statistics"), "awr").intervals[0]
    assert (without_cores.busy_cores, without_cores.cpu_utilization) == (None, None)


def test_the_sga_by_its_use_in_mib_where_its_regions_are_not_listed() -> None:
    found = parse_awr(without(AWR, "SGA Memory Summary").replace("sum  ", "all  "), "awr")

    assert {stated.key: stated.value for stated in found.stated}["sga.mb"] == 65536 * MIB


def test_the_sga_by_the_sum_of_its_regions_where_its_use_is_not_listed() -> None:
    text = AWR.replace("SGA use (MB)", "PGA use (MB)").replace("68,719,476,736", "68,719,476,000")
    found = parse_awr(text, "awr")

    assert {stated.key: stated.value for stated in found.stated}["sga.mb"] == 68719476000


def test_the_pga_in_use_is_that_of_the_sessions() -> None:
    values = {stated.key: stated.value for stated in parse_awr(PGA, "awr").stated}

    assert values["memory.sessions"] == 104
    assert values["memory.session_mib"] * 104 == pytest.approx(8112 * MIB)


def test_of_several_reports_the_largest_memory_counts() -> None:
    quiet = PGA.replace("       104       3.7", "        50       3.7").replace(
        "        92       3.6", "        40       3.6"
    )
    for texts in ((PGA, quiet), (quiet, PGA)):
        sources = tuple(WorkloadFile(f"{n}.txt", text) for n, text in enumerate(texts))
        sessions = read_workload(sources, 95)["memory.sessions"]
        assert isinstance(sessions, Quantity)
        assert sessions.value == 104


@pytest.mark.parametrize(
    ("text", "sessions"), [(AWR, {"memory.sessions"}), (re.sub(r"(Snap: +\d+ \S+ \S+) +\d+ .*", r"\1", PGA), set())]
)
def test_sessions_count_without_their_pga_and_none_where_there_are_none(text: str, sessions: set[str]) -> None:
    keys = {stated.key for stated in parse_awr(text, "awr").stated}

    assert "sga.mb" in keys
    assert keys & {"memory.sessions", "memory.session_mib"} == sessions


def test_the_instances_of_a_cluster_are_added_up_and_their_intervals_are_not() -> None:
    later = AWR.replace("Begin Snap:       100", "Begin Snap:       101").replace("  101 20-N", "  102 20-N")
    found = parse_awr(AWR + second_instance(AWR) + later, "awr")

    assert [interval.requests_per_second for interval in found.intervals] == [22_000, 11_000]
    both = found.intervals[0]
    assert (both.busy_cores, both.redo_bytes_per_second, both.read_share) == (8, 4_000_000, 8 / 11)
    assert both.bytes_per_second == 2 * 283_000_000
    assert "the figures of 2 instances of a cluster were added up" in found.caveats


def test_reports_of_two_databases_are_no_intervals_of_one() -> None:
    (number,) = re.findall(r"\s(\d{10})\s", AWR)[:1]
    other = AWR.replace(number, "9934567890")

    with pytest.raises(SizeupError, match=f"expected reports of one database, found DB Id {number} and 9934567890"):
        parse_awr(AWR, "a", [(other, "b")])


def test_what_one_instance_does_not_tell_is_unknown_of_the_cluster() -> None:
    silent = re.sub(r"^ *(?:physical (?:read|write) total IO|Total|Redo|Read IO|Write IO) requests.*\n", "",
                    second_instance(AWR), flags=re.MULTILINE | re.IGNORECASE)  # fmt: skip
    (both,) = parse_awr(AWR + silent, "awr").intervals

    assert (both.requests_per_second, both.read_share) == (None, None)
    assert both.redo_bytes_per_second == 4_000_000


def test_a_report_given_twice_counts_once_and_one_instance_of_a_cluster_says_so() -> None:
    found = parse_awr(AWR + AWR, "awr")

    assert found.intervals == (WHOLE,)
    assert any("instances of the cluster are missing" in caveat for caveat in found.caveats)
    alone = parse_awr(AWR.replace("19.0.0.0.0 YES", "19.0.0.0.0 NO "), "awr")
    assert not any("cluster" in caveat for caveat in alone.caveats)


def test_a_cluster_of_which_some_interval_lacks_an_instance_is_one_instance() -> None:
    later = AWR.replace("Begin Snap:       100", "Begin Snap:       101").replace("  101 20-N", "  102 20-N")
    both = parse_awr(AWR, "a", [(second_instance(AWR), "b")])

    assert [interval.requests_per_second for interval in both.intervals] == [22_000]
    assert not both.one_instance
    assert parse_awr(AWR, "a").one_instance
    assert parse_awr(AWR, "a", [(second_instance(AWR), "b"), (later, "c")]).one_instance


CLUSTER_LOAD = LoadInterval(
    bytes_per_second=330_000_000 + 60_000_000 - 3_000_000,
    requests_per_second=12_000 + 5_000,  # 15,000 - 3,000 of several blocks; 6,000 - 1,000 redo writes
    read_share=12_000 / 17_000,
    redo_bytes_per_second=3_000_000,
    redo_writes_per_second=1_000,
    sequential_bytes_per_second=330_000_000 - 12_000 * 8192,
    read_share_of_bytes=330 / 387,
    busy_cores=0.25 * 16 + 0.5 * 16,
    spread_cores=0.25 * 32 + 16,
    cores=32,
)


@pytest.mark.parametrize("text", [CLUSTER, as_html(CLUSTER)], ids=["text", "html"])
def test_a_report_of_all_instances_is_the_load_of_the_cluster(text: str) -> None:
    found = parse_awr(text, "awrgrpt")

    assert found.intervals == (CLUSTER_LOAD,)
    assert not found.one_instance
    assert [(stated.key, stated.value) for stated in found.stated] == [("workload.io_kib", 8192)]


def test_a_report_of_all_instances_without_its_totals_has_blocks() -> None:
    (one,) = parse_awr(without(CLUSTER, re.escape("System Statistics (Global)")), "awrgrpt").intervals

    # 40,000 blocks read and 6,000 written a second; redo in units of 1,024 bytes.
    assert (one.bytes_per_second, one.redo_bytes_per_second) == (46_000 * 8192, 3_000 * 1024)
    assert one.requests_per_second is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("216,000,000,000   60,000,000.0", "7,200,000,000    2,000,000.0", "at most the 2 MB/s .* found 3 MB/s"),
        (
            "1,200.00        60.00",
            "1,200.00        30.00",
            "redo size: expected 6,000,000.0 .* over 30 minutes, found 3,",
        ),
        ("3,600,000        1,000.0", "360,000        1,000.0", "redo writes: expected 100.0 a second"),
    ],
)
def test_a_report_of_all_instances_that_contradicts_itself_is_refused(old: str, new: str, said: str) -> None:
    assert old in CLUSTER

    with pytest.raises(SizeupError, match=said):
        parse_awr(CLUSTER.replace(old, new), "awrgrpt")


def test_a_report_of_all_instances_is_not_added_to_those_of_its_instances() -> None:
    for files in ([CLUSTER, AWR, second_instance(AWR)], [AWR, second_instance(AWR), CLUSTER]):
        found = parse_awr(files[0], "a", [(files[1], "b"), (files[2], "c")])
        assert found.intervals == (CLUSTER_LOAD,)
        assert not found.one_instance


def test_a_report_of_some_instances_of_a_cluster_says_so() -> None:
    some = CLUSTER.replace("2        2           2        2", "2        3           2        3")
    found = parse_awr(some, "awrgrpt")

    assert found.one_instance
    assert any("instances of the cluster are missing" in caveat for caveat in found.caveats)


def test_the_cpus_of_a_cluster_are_unknown_where_its_columns_do_not_agree() -> None:
    blank = CLUSTER.replace("   1      32      16        2", "   1      32                2")
    missing = re.sub(r"^   2      32.*\n", "", CLUSTER, flags=re.MULTILINE)
    more = CLUSTER.replace("   1      32      16        2", "   1      16      32        2")

    for text in (blank, missing, more):
        (one,) = parse_awr(text, "awrgrpt").intervals
        assert (one.busy_cores, one.spread_cores, one.requests_per_second) == (None, None, 17_000)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (CLUSTER[: CLUSTER.index("Database Summary")], "expected a section 'Database Summary'"),
        (CLUSTER[: CLUSTER.index("System Statistics - ")], "expected 'redo size' in System Statistics (Global), or a"),
        (
            CLUSTER.replace("  100      101", "  101      100"),
            "with a first and a later snapshot and the numbers of instances, found [8192",
        ),
    ],
)
def test_a_report_of_all_instances_that_was_cut_is_refused(text: str, what: str) -> None:
    with pytest.raises(SizeupError, match=r"^awrgrpt: ") as refused:
        parse_awr(text, "awrgrpt")
    assert what in str(refused.value)


def test_statspack_has_the_same_sections_by_other_names() -> None:
    text = (
        AWR.replace("WORKLOAD REPOSITORY report", "STATSPACK report")
        .replace("Time Model Statistics    ", "Time Model System Stats  ")
        .replace("Operating System Statistics - Detail", "OS Statistics - detail              ")
        .replace("Operating System Statistics", "OS Statistics              ")
        .replace("physical read total multi block  ", "physical read total multi block r")
        .replace("DB/Inst", " DB/Inst")
        .replace("K      131,072", "K      131.072K".replace(".072", ""))
    )
    found = parse_awr(text, "sp")

    assert found.intervals == (WHOLE,)
    assert {stated.key: stated.value for stated in found.stated}["sga.keep_mb"] == 131000 * 8192
    assert not any("Diagnostics Pack" in caveat for caveat in found.caveats)


def test_statspack_of_oracle_9_counts_blocks_and_redo_writes() -> None:
    assert parse_awr(STATSPACK_9, "sp").intervals == (
        LoadInterval(2000 * 8192.0, redo_bytes_per_second=400_000, redo_writes_per_second=50, read_share_of_bytes=0.75),
    )


def test_a_workload_of_a_report_has_every_key_of_the_demand() -> None:
    values = read_workload((WorkloadFile("awr.html", as_html(AWR)),), 95)

    assert {key: value.value for key, value in values.items() if isinstance(value, Quantity)} == {
        "workload.mb_s": 283e6,
        "workload.iops": 11_000,
        "workload.read_percent": pytest.approx(8 / 11),
        "workload.sequential_mb_s": 250e6 - 8000 * 8192,
        "workload.read_bytes_percent": pytest.approx(250 / 283),
        "workload.io_kib": 8192,
        "workload.cpu_cores": 4,
        "workload.spread_cores": 8,
        "redo.mb_s": 2e6,
        "redo.writes_s": 500,
        "sga.mb": 68719476736,
        "sga.advisory_mb": 49152 * MIB,
        "sga.keep_mb": 1024 * MIB,
        "sga.recycle_mb": 512 * MIB,
        "db.hot_percent": pytest.approx(0.8),
        "memory.sessions": 104,
    }


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("WORKLOAD REPOSITORY report for\n", "expected a section 'Load Profile', found none: the report was cut"),
        ("<html><h1>WORKLOAD REPOSITORY COMPARE PERIOD REPORT</h1></html>", "comparisons of periods"),
        (as_html(AWR).replace("2,000,000.0", "&#160;", 1), "a report without figures covers no activity"),
        (as_html(AWR).replace("9,900.0", "9.900,0"), "set NLS_NUMERIC_CHARACTERS='.,'"),
    ],
)
def test_a_report_that_holds_no_load_is_refused_with_what_to_create(text: str, what: str) -> None:
    with pytest.raises(SizeupError, match=r"^awr\.txt: ") as refused:
        read_workload((WorkloadFile("awr.txt", text),), 95)
    assert what in str(refused.value)


def upto(text: str, line: str) -> str:
    return text[: text.index(line)]


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        (AWR, None),
        (as_html(AWR), None),
        (CLUSTER, None),
        (upto(AWR, "End of Report"), ""),
        (upto(as_html(AWR), "<h3 class='awr'>End of Report"), ""),
        (upto(AWR, "SGA Target Advisory"), ", without SGA Target Advisory and SGA Memory Summary"),
        (
            upto(as_html(AWR), "<h3 class='awr'>SGA Target Advisory"),
            ", without SGA Target Advisory and SGA Memory Summary",
        ),
        (upto(CLUSTER, "System Statistics (Global)"), ", without System Statistics (Global)"),
        (
            upto(AWR, "Instance Activity Stats"),
            ", without Instance Activity Stats, SGA Target Advisory and SGA Memory Summary",
        ),
    ],
)
def test_a_report_without_its_end_says_so_and_what_it_lacks(text: str, lacking: str | None) -> None:
    """Memory that it does not state is no small memory; sections that were pasted look the same."""
    source = read_workload((WorkloadFile("awr", text),), 95)["redo.mb_s"].source
    end = "" if lacking is None else f", without its line 'End of Report': cut, or pasted in part{lacking}"

    assert source == f"awr: one interval, an average{end}"


def test_a_figure_that_is_no_number_is_named_where_another_counts() -> None:
    """234.4 MiB/s read by the Load Profile instead of 250 MB/s."""
    hidden = without(AWR, "IO Profile").replace("900,000,000,000  250,000,000.0", "###############  #############")
    found = read_workload((WorkloadFile("awr", hidden),), 95)["workload.mb_s"]

    assert isinstance(found, Quantity)
    assert found.value == pytest.approx((234.4 + 31.3) * MIB)
    assert found.source.endswith("without physical read total bytes: #### in the report, whose HTML has the digits")


@pytest.mark.parametrize("line", ["BUSY_TIME   ", "physical write total bytes  ", "98,304  ", "Fixed Size  "])
@pytest.mark.parametrize("text", [AWR, as_html(AWR)], ids=["text", "html"])
def test_a_report_that_was_cut_in_a_section_is_refused(text: str, line: str) -> None:
    """Its last figure may lack digits."""
    cut = upto(text, line.strip() if "<" in text else line) + line.strip()

    with pytest.raises(SizeupError, match=r"^awr: .*: expected the end of this section, .* cut; create it again"):
        parse_awr(cut, "awr")
    with pytest.raises(SizeupError, match=r"^b: "):
        parse_awr(AWR, "a", [(cut, "b")])


def test_a_report_that_was_cut_in_a_line_of_its_load_profile_is_refused() -> None:
    with pytest.raises(SizeupError, match=r"^awr: Load Profile: expected the end of this section"):
        parse_awr(upto(AWR, "00.0               4.9"), "awr")


@pytest.mark.parametrize(("busy", "cores", "spread"), [(36, 24, 17.28), (60, 24, 24), (36, 48, None)])
def test_busy_threads_of_a_report_are_on_as_many_cores_at_most(busy: int, cores: int, spread: float | None) -> None:
    text = AWR.replace("2,880,000", f"{busy}0,000").replace("8,640,000", f"{100 - busy}0,000")
    text = re.sub(r"(NUM_CPUS +)32", r"\g<1>48", re.sub(r"(NUM_CPU_CORES +)16", rf"\g<1>{cores}", text))
    (found,) = parse_awr(text, "awr").intervals

    assert found.busy_cores == pytest.approx(busy / 100 * cores)
    assert found.spread_cores == (None if spread is None else pytest.approx(spread))
