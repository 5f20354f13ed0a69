"""Reports of AWR and Statspack, and what changes them."""

import html
import re

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
End of Report
"""


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


PGA = AWR.replace(
    "                   SGA use (MB):     65,536.0     65,536.0",
    "                   SGA use (MB):     65,536.0     65,536.0\n"
    "                   PGA use (MB):      7,900.0      8,112.0",
)


def second_instance(text: str) -> str:
    return re.sub(r"^shop1(\s+)1", r"shop2\g<1>2", text, flags=re.MULTILINE)


CLUSTER = f"""
WORKLOAD REPOSITORY REPORT (RAC)

Database Summary
~~~~~~~~~~~~~~~~
              Database                    Snapshot Ids     Number of Instances     Number of Hosts     Report Total (minutes)
------------------------------------   -----------------   ------------------   ------------------   ------------------------
         Id Name      RAC Block Size      Begin      End   In Report    Total   In Report    Total       DB time Elapsed time
----------- --------- --- ----------   -------- --------   --------- --------   --------- --------   ----------- ------------
 1234567890 SHOP      YES       8192        100      101           2        2           2        2      1,200.00        60.00

Database Instances Included In Report
-> Listed in order of instance number, I#

                                                                                                              Avg Active
  I# Instance  Host       Startup         Begin Snap Time End Snap Time   Release         Elapsed Time(min) DB time(min)
---- --------- ---------- --------------- --------------- --------------- --------------- ----------------- ------------
   1 shop1     db1        01-Nov-26 15:30 20-Nov-26 19:00 20-Nov-26 20:00 19.0.0.0.0                  60.00       600.00
   2 shop2     db2        01-Nov-26 15:31 20-Nov-26 19:00 20-Nov-26 20:00 19.0.0.0.0                  60.00       600.00

OS Statistics By Instance               DB/Inst: SHOP/shop1  Snaps: 100-101
-> Listed in order of instance number, I#

                            CPU           Load                          % CPU                                Time (s)
       ---------------------- ----------------- --------------------------------------- ------------------------------ ---------
  I#    CPUs   Cores    Sckts     Begin     End  % Busy  % Usr  % Sys  % WIO   % Idl      Busy Time      Idle Time     Total time       MB
---- ------- ------- -------- --------- ------- ------- ------ ------ ------ ------- -------------- -------------- -------------- --------
   1      32      16        2       3.1     2.9    25.0   20.0    5.0    0.5    75.0       28,800.0       86,400.0      115,200.0  515,000
   2      32      16        2       6.2     6.1    50.0   40.0   10.0    0.5    50.0       57,600.0       57,600.0      115,200.0  515,000
{END}

System Statistics - Per Second           DB/Inst: SHOP/shop1  Snaps: 100-101

             Logical     Physical     Physical         Redo        Block         User
  I#         Reads/s      Reads/s     Writes/s   Size (k)/s    Changes/s      Calls/s      Execs/s     Parses/s   Logons/s       Txns/s
---- --------------- ------------ ------------ ------------ ------------ ------------ ------------ ------------ ---------- ------------
   1      200,000.00     30,000.0      4,000.0      2,000.0      9,000.0        300.0        500.0         40.0       0.02         70.0
   2      300,000.00     10,000.0      2,000.0      1,000.0      9,000.0        300.0        500.0         40.0       0.02         70.0
 ~~~ ~~~~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~~~ ~~~~~~~~~~ ~~~~~~~~~~~~
 Sum      500,000.00     40,000.0      6,000.0      3,000.0     18,000.0        600.0      1,000.0         80.0       0.05        140.0
 Avg      250,000.00     20,000.0      3,000.0      1,500.0      9,000.0        300.0        500.0         40.0       0.02         70.0
{END}

System Statistics (Global)               DB/Inst: SHOP/shop1  Snaps: 100-101
-> per Second Average - average of per-instance per Second rates

                                                                                       --------- per Second ---------
Statistic                                     Total     per Second     per Trans      Average      Std Dev       Min          Max
-------------------------------- ------------------ -------------- ------------- ------------ ------------ --------- ------------
physical read total IO requests          54,000,000       15,000.0         107.1      7,500.0      3,535.5   5,000.0     10,000.0
physical read total bytes         1,188,000,000,000  330,000,000.0   2,357,142.9  165,000,000   1.2021E+08  80000000  250,000,000
physical read total multi block          10,800,000        3,000.0          21.4      1,500.0        707.1   1,000.0      2,000.0
physical write total IO requests         21,600,000        6,000.0          42.9      3,000.0        707.1   2,500.0      3,500.0
physical write total bytes          216,000,000,000   60,000,000.0     428,571.4   30,000,000    7,071,068  25000000   35,000,000
redo size                            10,800,000,000    3,000,000.0      21,428.6    1,500,000    707,106.8   1000000    2,000,000
redo writes                               3,600,000        1,000.0           7.1        500.0          0.0     500.0        500.0
{END}
End of Report
"""  # noqa: E501

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
          -------------------------------------------------------------

End of Report
"""
