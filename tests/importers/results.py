"""Results of other tools as their versions write them, for the tests of the importers."""

import json
from typing import Any

from sizeup.importers.imported import Imported

Figures = dict[tuple[str, str | int | float, str | int | float], float]


def figures(imported: Imported) -> Figures:
    """Values by series and the two coordinates of their point."""
    return {
        (estimate.series, *[*estimate.at.values(), ""][:2]): estimate.value
        for step in imported.steps
        for estimate in step.estimates
    }


def caveats(imported: Imported) -> set[str]:
    return {caveat for step in imported.steps for estimate in step.estimates for caveat in estimate.caveats}


def fio_job(**changes: Any) -> dict[str, Any]:
    """A random read job of 8 KiB as fio 3 writes it, shortened to what is read and a little more."""
    latency = {"min": 100, "mean": 400_000.5, "N": 1000, "percentile": {"50.000000": 380_000, "99.000000": 900_000}}
    idle = {"total_ios": 0, "iops": 0.0, "bw_bytes": 0, "clat_ns": {"mean": 0.0}}
    job = {
        "jobname": "db",
        "groupid": 0,
        "error": 0,
        "job options": {"rw": "randread", "bs": "8k", "iodepth": "16", "direct": "1", "ioengine": "libaio"},
        "read": {"total_ios": 1000, "iops": 40_000.0, "bw_bytes": 327_680_000, "clat_ns": latency, "lat_ns": latency},
        "write": idle,
        "usr_cpu": 3.1,
    }
    return {**job, **changes}


def fio_file(*jobs: dict[str, Any], **more: Any) -> str:
    return json.dumps({"fio version": "fio-3.33", "timestamp": 1_700_000_000, "jobs": jobs, **more})


def old_direction(**changes: Any) -> dict[str, Any]:
    """Reads as fio 2.1.3 writes them: whole rates, microseconds, no count of requests."""
    latency = {"min": 3, "max": 900, "mean": 250.25, "stddev": 9.5}
    percentiles = {"50.000000": 240, "99.000000": 900, "0.00": 0}
    return {
        "io_bytes": 1_200_000,  # KiB
        "bw": 320_000,
        "iops": 40_000,
        "runtime": 3750,
        "slat": {"mean": 0.0},
        "clat": {**latency, "percentile": percentiles},
        "lat": {**latency, "mean": 251.0},
        **changes,
    }


IDLE_OLD = old_direction(io_bytes=0, bw=0, iops=0, runtime=0, clat={"mean": 0.0}, lat={"mean": 0.0})


def old_file(version: str, *jobs: dict[str, Any]) -> str:
    return json.dumps({"fio version": version, "jobs": jobs})


def old_job(**directions: Any) -> dict[str, Any]:
    return {"jobname": "db", "groupid": 0, "error": 0, "read": IDLE_OLD, "write": IDLE_OLD, **directions}


ORION = """ORION VERSION 11.2.0.4.0

Commandline:
-run advanced -testname disks -write 0 -matrix basic

These options enable these settings:
Test: disks
Small IO size: 8 KB
Large IO size: 1024 KB
IO types: small random IOs, large random IOs
Write: 0%

Name: /dev/mapper/lun1\tSize: 17179869184
1 files found.

Maximum Large MBPS=200.00 @ Small=0 and Large=4

Maximum Small IOPS=9000 @ Small=17 and Large=0
Small Read Latency: avg=1800 us, min=700 us, max=12000 us, std dev=400 us @ Small=17 and Large=0

Minimum Small Latency=120.50 usecs @ Small=1 and Large=0
Small Read Latency: avg=120 us, min=40 us, max=4400 us, std dev=70 us @ Small=1 and Large=0
"""


ORION_OUTPUT = """$ $ORACLE_HOME/bin/orion -run oltp -testname disks -write 50 -hugenotneeded
ORION: ORacle IO Numbers -- Version RDBMS_19.5.0.0.0DBRU_LINUX.X64_190904
disks_20261120_1809
Calibration will take approximately 44 minutes.
Using a large value for -cache_size may take longer.

Setting ftype=0
Maximum Small IOPS=30000 @ Small=12 and Large=0
Small Read Latency: avg=200.5 us, min=120.1 us, max=1900.7 us, std dev=13.5 us @ Small=12 and Large=0
Small Write Latency: avg=300.5 us, min=150.1 us, max=2900.7 us, std dev=23.5 us @ Small=12 and Large=0
"""


MATRIX = """Large/Small,      0,      1,      2
          0,       ,   2302,   4398
          1,       ,   1900
          2
"""


def slb_line(cost: float, microseconds: int, rate: float) -> str:
    return f"Total ops 786432000  Avg nsec/op {cost:7.1f}  gettimeofday usec {microseconds} TPUT ops/sec {rate:.1f}\n"


ONE = slb_line(131.3, 103_240_338, 7_617_487.7)
TWO = slb_line(250.4, 196_953_043, 3_992_992.8) + slb_line(250.7, 197_121_797, 3_989_574.4)
FOUR = (
    slb_line(503.6, 396_010_065, 1_985_888.7)
    + slb_line(503.6, 396_023_525, 1_985_821.2)
    + slb_line(504.6, 396_854_087, 1_981_665.4)
    + slb_line(505.1, 397_221_424, 1_979_832.3)
)
SLB = f"# ./memhammer 131072 6000\n{ONE}# two of them\n{TWO}"


SLOB_COLUMNS = (
    "FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS"
    "|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT|"
)
SLOB = f"""{SLOB_COLUMNS}
awr.txt.8|8|300|4.1|7.9|90|60000|52100|  407.0|12|     3|.5|     512|0|0|     810|     700|read 512us|
awr.txt.16|16|301|7.9|15.8||90000|80000|  625.0||||     950|0||     810|0|read 950us|
"""


def lscpu(*fields: tuple[str, str]) -> str:
    return json.dumps({"lscpu": [{"field": f"{name}:", "data": text} for name, text in fields]})


COUNTS = (("CPU(s)", "8"), ("Thread(s) per core", "2"), ("Core(s) per socket", "2"), ("Socket(s)", "2"))
