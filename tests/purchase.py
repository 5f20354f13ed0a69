"""A purchase as files: a capture of the server to buy, and the AWR report of the database that is to run on it.

Both are made up, in the layouts that Linux 6.1 and Oracle 19c use.
"""

from pathlib import Path

from trees import grow

_MODEL = "Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz"

_CORES = 16
"""Of each of two sockets, with two threads each."""

_SERVER = rf"""
/proc/cpuinfo = processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: {_MODEL}\nflags\t\t: fpu tsc lm aperfmperf\n
/proc/meminfo = MemTotal:       536870912 kB\nMemFree:        500000000 kB\nMemAvailable:   510000000 kB\n
/proc/sys/kernel/osrelease = 6.1.0-example
/proc/sys/kernel/hostname = server-x
/sys/class/dmi/id/sys_vendor = Example Systems
/sys/class/dmi/id/product_name = EX240 G4
/sys/devices/system/cpu/present = 0-63
/sys/devices/system/cpu/online = 0-63
/sys/devices/system/cpu/cpu{{0-63}}/cpufreq/base_frequency = 2900000
/sys/devices/system/node/online = 0-1
/sys/devices/system/node/node0/cpulist = 0-15,32-47
/sys/devices/system/node/node1/cpulist = 16-31,48-63
/sys/devices/system/node/node0/distance = 10 20
/sys/devices/system/node/node1/distance = 20 10
/sys/devices/system/node/node{{0-1}}/meminfo = Node {{}} MemTotal: 268435456 kB\nNode {{}} MemFree: 250000000 kB
"""

_PORT = """
{card}/current_link_speed = 8.0 GT/s PCIe
{card}/current_link_width = 8
{card}/max_link_speed = 8.0 GT/s PCIe
{card}/max_link_width = 8
{card}/class = 0x0c0400
{card}/numa_node = {node}
/sys/bus/pci/devices/{address} -> ../../../devices/{tail}
/sys/class/scsi_host/{host} -> ../../devices/{tail}/{host}/scsi_host/{host}
{card}/{host}/scsi_host/{host}/proc_name = lpfc
/sys/class/fc_host/{host} -> ../../devices/{tail}/{host}/fc_host/{host}
{card}/{host}/fc_host/{host}/port_name = 0x100000000000000{node}
{card}/{host}/fc_host/{host}/speed = 16 Gbit
{card}/{host}/fc_host/{host}/supported_speeds = 4 Gbit, 8 Gbit, 16 Gbit
{card}/{host}/fc_host/{host}/port_state = {state}
{card}/{host}/fc_host/{host}/port_type = NPort (fabric via point-to-point)
"""


def server(root: Path, *, states: tuple[str, ...] = ("Online", "Online"), luns: int = 0, lun_gb: int = 500) -> str:
    """Make the capture of a server of two sockets with a single-port FC adapter of 16 Gb/s for each state.

    ``luns`` are multipath maps, ``data0`` and so on, each with a path over every port.
    """
    lines = [_SERVER]
    for cpu in range(4 * _CORES):
        socket = cpu // _CORES % 2
        first = socket * _CORES
        topology = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        cpus = f"{first}-{first + 15},{first + 32}-{first + 47}"
        lines += [
            f"{topology}/package_cpus_list = {cpus}",
            f"{topology}/physical_package_id = {socket}",
            f"{topology}/core_cpus_list = {cpu % 32},{cpu % 32 + 32}",
            f"{topology}/core_id = {cpu % _CORES}",
        ]
    for node, state in enumerate(states):
        address = f"0000:{0x3B + 0x40 * node:02x}:00.0"
        tail = f"pci0000:{0x3A + 0x40 * node:02x}/{address}"
        lines.append(
            _PORT.format(
                card=f"/sys/devices/{tail}", tail=tail, address=address, host=f"host{node}", node=node, state=state
            )
        )
    for lun in range(luns):
        lines += _lun(lun, len(states), lun_gb * 10**9 // 512)
    return grow(root, "\n".join(lines))


def _lun(lun: int, ports: int, sectors: int) -> list[str]:
    """Return one map and its path over each port."""
    disk = f"/sys/devices/virtual/block/dm-{lun}"
    lines = [
        f"/sys/block/dm-{lun} -> ../devices/virtual/block/dm-{lun}",
        f"{disk}/size = {sectors}",
        f"{disk}/dm/name = data{lun}",
        f"{disk}/dm/uuid = mpath-3600{lun}",
    ]
    for port in range(ports):
        name, unit = f"sd{chr(97 + lun * ports + port)}", f"{port}:0:0:{lun}"
        card = f"pci0000:{0x3A + 0x40 * port:02x}/0000:{0x3B + 0x40 * port:02x}:00.0"
        path = f"{card}/host{port}/rport-{port}:0-0/target{port}:0:0/{unit}"
        lines += [
            f"/sys/block/{name} -> ../devices/{path}/block/{name}",
            f"/sys/devices/{path}/block/{name}/size = {sectors}",
            f"/sys/devices/{path}/state = running",
            f"/sys/bus/scsi/devices/{unit} -> ../../../devices/{path}",
            f"{disk}/slaves/{name} -> /sys/block/{name}",
        ]
    return lines


AWR = """
WORKLOAD REPOSITORY report for

DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB
------------ ----------- ----------- ---------------- ------- ---------- --- ---
SHOP          1234567890 SHOP        PRIMARY          EE      19.0.0.0.0 NO  NO

Instance     Inst Num Startup Time
------------ -------- ---------------
shop                1 01-Nov-26 15:30

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
db1              Linux x86 64-bit                   48    24       2     377.00

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 16-Nov-26 09:00:00       604       3.7
  End Snap:       101 16-Nov-26 10:00:00       612       3.6
   Elapsed:               60.00 (mins)
   DB Time:            1,860.00 (mins)

Cache Sizes                       Begin        End
~~~~~~~~~~~                  ---------- ----------
               Buffer Cache:   221,184M   221,184M  Std Block Size:         8K
           Shared Pool Size:    32,768M    32,768M      Log Buffer:   528,384K

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):              31.0               0.0      0.00      0.00
              DB CPU(s):              12.1               0.0      0.00      0.00
      Redo size (bytes):     120,000,000.0          24,000.0
 Physical read (blocks):          24,000.0               4.8
Physical write (blocks):          16,000.0               3.2
       Read IO requests:          24,000.0               4.8
      Write IO requests:          16,000.0               3.2
           Read IO (MB):             187.5               0.0
          Write IO (MB):             125.0               0.0

Time Model Statistics                     DB/Inst: SHOP/shop  Snaps: 100-101

Statistic Name                                       Time (s) % of DB Time
------------------------------------------ ------------------ ------------
DB CPU                                               43,560.0         39.0
background cpu time                                   2,160.0
          -------------------------------------------------------------

Operating System Statistics               DB/Inst: SHOP/shop  Snaps: 100-101

Statistic                                  Value        End Value
------------------------- ---------------------- ----------------
BUSY_TIME                              9,504,000
IDLE_TIME                              7,776,000
NUM_CPUS                                      48
NUM_CPU_CORES                                 24
NUM_CPU_SOCKETS                                2
          -------------------------------------------------------------

Instance Activity Stats                   DB/Inst: SHOP/shop  Snaps: 100-101

Statistic                                     Total     per Second     per Trans
-------------------------------- ------------------ -------------- -------------
physical read total IO requests          86,400,000       24,000.0           4.8
physical read total bytes           707,788,800,000  196,608,000.0      39,321.6
physical read total multi block                   0            0.0           0.0
physical write total IO requests         63,000,000       17,500.0           3.5
physical write total bytes          903,859,200,000  251,072,000.0      50,214.4
redo size                           432,000,000,000  120,000,000.0      24,000.0
redo writes                               5,400,000        1,500.0           0.3
          -------------------------------------------------------------

SGA Target Advisory                              DB/Inst: SHOP/shop  Snap: 101

SGA Target   SGA Size       Est DB     Est Physical
  Size (M)     Factor     Time (s)            Reads
---------- ---------- ------------ ----------------
   131,072        0.5      164,000      168,000,000
   196,608        0.8      124,000       99,000,000
   262,144        1.0      111,600       86,400,000
   327,680        1.3      109,400       81,200,000
   393,216        1.5      109,400       81,200,000
          -------------------------------------------------------------

SGA Memory Summary                        DB/Inst: SHOP/shop  Snaps: 100-101

                                                      End Size (Bytes)
SGA regions                     Begin Size (Bytes)      (if different)
------------------------------ ------------------- -------------------
Database Buffers                   231,928,233,984
Fixed Size                              29,960,640
                               -------------------
sum                                274,877,906,944
          -------------------------------------------------------------
End of Report
"""
"""An hour at its busiest: 24,000 reads and 16,000 writes of 8 KiB a second, and 120 MB/s of redo in 1,500 writes."""


def files(folder: Path) -> None:
    """Make ``awr.txt``, the report of the database, and captures of servers to choose from, in a folder.

    ``server-x`` has no storage yet; the others have six LUNs over one port, four ports, and two of which one is down.
    """
    server(folder / "server-x")
    server(folder / "server-w", states=("Online",), luns=6, lun_gb=1500)
    server(folder / "server-y", states=("Online",) * 4, luns=6, lun_gb=1500)
    server(folder / "server-z", states=("Online", "Linkdown"), luns=6, lun_gb=1500)
    (folder / "awr.txt").write_text(AWR, encoding="utf-8")
