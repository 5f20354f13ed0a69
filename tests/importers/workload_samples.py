"""Output of sar, iostat, vmstat, kSar, AWR and Statspack, for the tests of workloads."""

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

End of Report
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

End of Report ( sp_1_2.lst )
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
