"""AWR and Statspack reports, as text and HTML: every figure in its unit, from the section that has it whole."""

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import ANY_CHARACTER
from sizeup.errors import SizeupError
from sizeup.importers.awr import parse_awr
from sizeup.importers.intervals import Intervals, LoadInterval
from sizeup.quantity import Quantity
from sizeup.sizing.inputs.imported import WorkloadFile, read_workload

MIB = 1048576.0
END = f"{'':10}{'-' * 61}"

AWR = f"""
WORKLOAD REPOSITORY report for

DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB
------------ ----------- ----------- ---------------- ------- ---------- --- ---
SHOP          1234567890 SHOP        PRIMARY          EE      19.0.0.0.0 YES NO

Instance     Inst Num Startup Time
------------ -------- ---------------
shop1               1 01-Nov-26 15:30

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 20-Nov-26 19:00:00       104       3.7
  End Snap:       101 20-Nov-26 20:00:00        92       3.6
   Elapsed:               60.00 (mins)
   DB Time:              600.00 (mins)

Cache Sizes                       Begin        End
~~~~~~~~~~~                  ---------- ----------
               Buffer Cache:    49,152M    49,152M  Std Block Size:         8K

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):              10.0               0.1      0.00      0.00
              DB CPU(s):               3.0               0.0      0.00      0.00
      Redo size (bytes):       2,000,000.0           7,016.0
 Physical read (blocks):          30,000.0               5.0
Physical write (blocks):           4,000.0               1.5
       Read IO requests:           9,900.0               4.9
      Write IO requests:           2,900.0               0.6
           Read IO (MB):             234.4               0.0
          Write IO (MB):              31.3               0.0

IO Profile                  Read+Write/Second     Read/Second    Write/Second
~~~~~~~~~~                  ----------------- --------------- ---------------
            Total Requests:          13,500.0        10,050.0         3,450.0
             Redo Requests:             550.0            50.0           500.0
                Total (MB):             280.0           240.0            40.0
                 Redo (MB):               5.0             2.5             2.5

Memory Statistics
~~~~~~~~~~~~~~~~~                       Begin          End
                  Host Mem (MB):    514,048.0    514,048.0
                   SGA use (MB):     65,536.0     65,536.0

Time Model Statistics                     DB/Inst: SHOP/shop1  Snaps: 100-101

Statistic Name                                       Time (s) % of DB Time
------------------------------------------ ------------------ ------------
DB CPU                                               10,800.0         30.0
background cpu time                                   3,600.0
{END}

Operating System Statistics               DB/Inst: SHOP/shop1  Snaps: 100-101
-> *TIME statistic values are diffed.

Statistic                                  Value        End Value
------------------------- ---------------------- ----------------
BUSY_TIME                              2,880,000
IDLE_TIME                              8,640,000
NUM_CPUS                                      32
NUM_CPU_CORES                                 16
{END}

Operating System Statistics - Detail          DB/Inst: SHOP/shop1  Snaps: 100-101

Snap Time           Load    %busy    %user     %sys    %idle  %iowait
--------------- -------- -------- -------- -------- -------- --------
20-Nov 20:00:00      3.1     25.0     20.0      5.0     75.0      0.5
{END}

Instance Activity Stats                   DB/Inst: SHOP/shop1  Snaps: 100-101
-> Ordered by statistic name

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
physical read total IO requests          36,000,000       10,000.0       1,234.0
physical read total bytes           900,000,000,000  250,000,000.0 #############
physical read total multi block           7,200,000        2,000.0           5.0
physical write total IO requests         12,600,000        3,500.0           2.1
physical write total bytes          126,000,000,000   35,000,000.0  1.234567E+08
Instance Activity Stats                   DB/Inst: SHOP/shop1  Snaps: 100-101
-> Ordered by statistic name

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
redo size                             7,200,000,000    2,000,000.0       7,016.0
redo size for direct writes                 724,768          201.3           9.6
redo writes                               1,800,000          500.0           1.4
redo writes (group 0)                     1,800,000          500.0           1.4
{END}

Instance Activity Stats - Absolute Values DB/Inst: SHOP/shop1  Snaps: 100-101

Statistic                            Begin Value       End Value
-------------------------------- --------------- ---------------
redo writes                                    7               9
{END}

Buffer Pool Statistics                    DB/Inst: SHOP/shop1  Snaps: 100-101
-> Standard block size Pools  D: default,  K: keep,  R: recycle

     Number of Pool       Buffer     Physical    Physical   Buff   Comp     Busy
P      Buffers Hit%         Gets        Reads      Writes   Wait   Wait    Waits
--- ---------- ---- ------------ ------------ ----------- ------ ------ --------
D   1.3497E+07  100  352,117,415      370,644     108,139      0      0      324
K      131,072   42       14,873        8,694         462      0      0        1
R       65,536   12        4,873        2,694          62      0      0        1
{END}

SGA Target Advisory                             DB/Inst: SHOP/shop1  Snap: 101

SGA Target   SGA Size       Est DB     Est Physical
  Size (M)     Factor     Time (s)            Reads
---------- ---------- ------------ ----------------
    16,384        0.3        9,029       50,000,000
    32,768        0.5     ########      300,000,000
    49,152        0.8       23,300      100,500,000
    65,536        1.0       23,205      100,000,000
    98,304        1.5       23,205      100,000,000
{END}

Segments by Physical Reads                DB/Inst: SHOP/shop1  Snaps: 100-101
-> Total Physical Reads:     108,000,000
                     Tablespace
Owner                   Name
-------------------- ----------
                     Subobject  Obj.                            Physical
Object Name            Name     Type        Obj#   Dataobj#        Reads  %Total
-------------------- ---------- ----- ---------- ---------- ------------ -------
SHOP                 DATA
ORDERS                          TABLE     142581     142581   54,000,000   50.00
SHOP                 DATA
ORDERS_PK                       INDEX     105076     105076   32,400,000   30.00
{END}

SGA Memory Summary                        DB/Inst: SHOP/shop1  Snaps: 100-101

                                                      End Size (Bytes)
SGA regions                     Begin Size (Bytes)      (if different)
------------------------------ ------------------- -------------------
Database Buffers                    51,539,607,552
Fixed Size                              29,960,640
                               -------------------
sum                                 68,719,476,736
{END}
"""

WHOLE = LoadInterval(
    bytes_per_second=285_000_000 - 2_000_000,
    requests_per_second=8000 + 3000,
    read_share=8000 / 11000,
    redo_bytes_per_second=2_000_000,
    redo_writes_per_second=500,
    sequential_bytes_per_second=250_000_000 - 8000 * 8192,
    cpu_utilization=0.25,
    busy_cores=4,
)


def as_html(text: str) -> str:
    """The same report in tables, as ``awrrpt.sql`` writes them: a heading, then rows whose empty cells are there."""
    lines = ["<html><head><style>td.awr {Load Profile: 1}</style></head><body class='awr'>"]
    table = False
    for line in text.splitlines():
        bare = line.strip()
        cells = [cell for cell in re.split(r"\s{2,}", bare) if cell]
        if not bare or re.fullmatch(r"[-~ ]+", bare):
            if (table and not bare) or line == END:
                lines.append("</table>" if table else "")
                table = False
            continue
        if bare.startswith("->"):
            lines.append(f"<ul><li class='awr'>{html.escape(bare[2:])}</li></ul>")
            continue
        if "DB/Inst:" in line or len(cells) == 1:
            title = re.split(r"\s+DB/Inst:", bare)[0]
            lines.append(f"{'</table>' if table else ''}<h3 class='awr'>{html.escape(title)}</h3>")
            table = False
            continue
        if not table:
            lines.append("<table border='1'>")
            table = True
        row = "".join(f"<td align='right'>{html.escape(cell)}</td>" for cell in cells)
        lines.append(f"<tr>{row}<td>&#160;</td></tr>")
    return "\n".join([*lines, "</table></body></html>"])


def without(text: str, *titles: str) -> str:
    """The report without these sections."""
    for title in titles:
        text = re.sub(rf"^{title} .*?(?:^\n|^{END}\n)", "", text, flags=re.DOTALL | re.MULTILINE)
    return text


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
    }
    assert "2 segments cause 80 % of the physical reads (hot set)" in remarks(found, "db.hot_percent")
    assert "this database took 50% of the busy CPU time" in remarks(found, "workload.cpu_cores")


def test_without_the_instance_activity_the_io_profile_counts_everything() -> None:
    activity = r"^Instance Activity Stats  .*?(?=^Instance Activity Stats - )"
    text = re.sub(activity, "", AWR, flags=re.DOTALL | re.MULTILINE)
    found = parse_awr(text, "awr")
    interval = found.intervals[0]

    assert interval.bytes_per_second == 280 * MIB - 2_000_000
    assert (interval.requests_per_second, interval.redo_writes_per_second) == (10_000 + 2950, 500)
    assert interval.sequential_bytes_per_second is None
    assert "requests of several blocks count as random I/O" in remarks(found, "workload.iops")


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


PGA = AWR.replace(
    "                   SGA use (MB):     65,536.0     65,536.0",
    "                   SGA use (MB):     65,536.0     65,536.0\n"
    "                   PGA use (MB):      7,900.0      8,112.0",
)


def test_the_pga_in_use_is_that_of_the_sessions() -> None:
    values = {stated.key: stated.value for stated in parse_awr(PGA, "awr").stated}

    assert values["memory.sessions"] == 104
    assert values["memory.session_mib"] * 104 == pytest.approx(8112 * MIB)


@pytest.mark.parametrize("text", [AWR, re.sub(r"(Snap: +\d+ \S+ \S+) +\d+ .*", r"\1", PGA)])
def test_without_pga_or_sessions_none_are_counted(text: str) -> None:
    keys = {stated.key for stated in parse_awr(text, "awr").stated}

    assert "sga.mb" in keys
    assert not keys & {"memory.sessions", "memory.session_mib"}


def second_instance(text: str) -> str:
    return re.sub(r"^shop1(\s+)1", r"shop2\g<1>2", text, flags=re.MULTILINE)


def test_the_instances_of_a_cluster_are_added_up_and_their_intervals_are_not() -> None:
    later = AWR.replace("Begin Snap:       100", "Begin Snap:       101").replace("  101 20-N", "  102 20-N")
    found = parse_awr(AWR + second_instance(AWR) + later, "awr")

    assert [interval.requests_per_second for interval in found.intervals] == [22_000, 11_000]
    both = found.intervals[0]
    assert (both.busy_cores, both.redo_bytes_per_second, both.read_share) == (8, 4_000_000, 8 / 11)
    assert both.bytes_per_second == 2 * 283_000_000
    assert "the figures of 2 instances of a cluster were added up" in found.caveats


def test_a_report_given_twice_counts_once_and_one_instance_of_a_cluster_says_so() -> None:
    found = parse_awr(AWR + AWR, "awr")

    assert found.intervals == (WHOLE,)
    assert any("covers one instance of a cluster" in caveat for caveat in found.caveats)
    alone = parse_awr(AWR.replace("19.0.0.0.0 YES", "19.0.0.0.0 NO "), "awr")
    assert not any("cluster" in caveat for caveat in alone.caveats)


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


STATSPACK_9 = """STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     Cluster Host
------------ ----------- ------------ -------- ----------- ------- ------------
SHOP          1234567890 shop                1 9.2.0.4.0   NO      db9

            Snap Id     Snap Time      Sessions Curs/Sess Comment
            ------- ------------------ -------- --------- -------------------
Begin Snap:    4873 13-Dec-05 05:00:05      110      37.4
  End Snap:    4875 13-Dec-05 07:00:04      651     203.7
   Elapsed:              120.00 (mins)

Cache Sizes (end)
~~~~~~~~~~~~~~~~~
               Buffer Cache:     3,008M      Std Block Size:         8K
           Shared Pool Size:     1,920M          Log Buffer:    10,240K

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:            400,000.00              8,517.66
             Physical reads:              1,500.00                 40.11
            Physical writes:                500.00                 10.11

Instance Activity Stats for DB: SHOP  Instance: shop  Snaps: 4873 -4875

Statistic                                      Total     per Second    per Trans
--------------------------------- ------------------ -------------- ------------
physical reads                            10,800,000        1,500.0         40.1
redo writes                                  360,000           50.0          2.5
          -------------------------------------------------------------
Tablespace IO Stats for DB: SHOP  Instance: shop  Snaps: 4873 -4875
redo writes                                        1            9.0          2.5
"""


def test_statspack_of_oracle_9_counts_blocks_and_redo_writes() -> None:
    assert parse_awr(STATSPACK_9, "sp").intervals == (
        LoadInterval(2000 * 8192.0, redo_bytes_per_second=400_000, redo_writes_per_second=50),
    )


def test_a_workload_of_a_report_has_every_key_of_the_demand() -> None:
    values = read_workload((WorkloadFile("awr.html", as_html(AWR)),), 95)

    assert {key: value.value for key, value in values.items() if isinstance(value, Quantity)} == {
        "workload.mb_s": 283e6,
        "workload.iops": 11_000,
        "workload.read_percent": pytest.approx(8 / 11),
        "workload.sequential_mb_s": 250e6 - 8000 * 8192,
        "workload.io_kib": 8192,
        "workload.cpu_cores": 4,
        "workload.percentile": 95,
        "redo.mb_s": 2e6,
        "redo.writes_s": 500,
        "sga.mb": 68719476736,
        "sga.advisory_mb": 49152 * MIB,
        "sga.keep_mb": 1024 * MIB,
        "sga.recycle_mb": 512 * MIB,
        "db.hot_percent": pytest.approx(0.8),
    }


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("WORKLOAD REPOSITORY REPORT (RAC)\n", "create one for each instance"),
        ("<html><h1>WORKLOAD REPOSITORY COMPARE PERIOD REPORT</h1></html>", "comparisons of periods"),
        (as_html(AWR).replace("2,000,000.0", "&#160;", 1), "a report without figures covers no activity"),
        (as_html(AWR).replace("9,900.0", "9.900,0"), "set NLS_NUMERIC_CHARACTERS='.,'"),
    ],
)
def test_a_report_that_holds_no_load_is_refused_with_what_to_create(text: str, what: str) -> None:
    with pytest.raises(SizeupError, match=r"^awr\.txt: ") as refused:
        read_workload((WorkloadFile("awr.txt", text),), 95)
    assert what in str(refused.value)


@pytest.mark.ci
@pytest.mark.parametrize("text", [AWR, as_html(AWR)], ids=["text", "html"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_report_is_read_or_refused_in_one_line(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(ANY_CHARACTER, max_size=8)) + text[at + data.draw(st.integers(0, 300)) :]
    told = ""
    try:
        read_workload((WorkloadFile("awr", text),), 95)
    except SizeupError as error:
        told = str(error)
    assert "\n" not in told
