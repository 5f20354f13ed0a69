"""Figures of other tools become a session that says where they are from, in our names and units."""

import contextlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import ANY_CHARACTER
from sizeup.cli import run
from sizeup.errors import ExitStatus, MalformedError, SizeupError
from sizeup.importers.fio import parse_fio
from sizeup.importers.imported import Imported, session_records
from sizeup.importers.kinds import KINDS, read_foreign
from sizeup.importers.lscpu import parse_lscpu
from sizeup.importers.orion import parse_orion
from sizeup.importers.orion_matrix import parse_orion_matrix
from sizeup.importers.slb import parse_slb
from sizeup.importers.slob import parse_slob
from sizeup.session.reader import read_session
from sizeup.session.value import Session
from sizeup.session.writer import Writer

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


def test_fio_random_reads_stand_beside_our_own_of_the_same_kind() -> None:
    imported = parse_fio("fio: this is a warning\n" + fio_file(fio_job()), "r.json")

    assert imported.tool == "fio-3.33"
    assert imported.taken == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert imported.steps[0].probe == "io.direct"
    assert figures(imported) == {
        ("iops", "oltp-read", 16): 40_000.0,
        ("rate", "oltp-read", 16): 327_680_000.0,
        ("latency-mean", "oltp-read", 16): 400_000.5,
        ("latency-p50", "oltp-read", 16): 380_000.0,
        ("latency-p99", "oltp-read", 16): 900_000.0,
    }
    assert caveats(imported) == set()


def test_fio_processes_of_one_group_are_one_load_without_percentiles() -> None:
    imported = parse_fio(fio_file(fio_job(), fio_job()), "r.json")

    assert figures(imported) == {
        ("iops", "oltp-read", 32): 80_000.0,
        ("rate", "oltp-read", 32): 655_360_000.0,
        ("latency-mean", "oltp-read", 32): 400_000.5,
    }
    assert caveats(imported) == {
        "throughput of 2 processes was added up; their percentiles cannot be combined and are left out"
    }


def test_fio_through_the_page_cache_is_doubted() -> None:
    imported = parse_fio(fio_file(fio_job(**{"job options": {"rw": "randread", "bs": "8k"}})), "r.json")

    assert caveats(imported) == {"fio ran without direct=1: the page cache may have served the I/O"}


def test_fio_mixed_requests_keep_the_latencies_of_reads_and_writes_apart() -> None:
    job = fio_job(**{"job options": {"rw": "randrw", "rwmixread": "70", "bs": "8k", "direct": "1"}})
    job["write"] = {**job["read"], "iops": 10_000.0}

    shown = figures(parse_fio(fio_file(job), "m.json"))

    assert shown["iops", "oltp-7030", 1] == 50_000.0
    assert ("latency-mean", "oltp-7030 reads", 1) in shown
    assert ("latency-mean", "oltp-7030 writes", 1) in shown


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


def test_fio_of_version_2_1_has_no_count_of_requests_and_no_options() -> None:
    imported = parse_fio(old_file("fio-2.1.3", old_job(read=old_direction())), "old.json")

    assert figures(imported) == {
        ("iops", "unrecorded-8k-100r", 10): 40_000.0,
        ("rate", "unrecorded-8k-100r", 10): 320_000 * 1024,
        ("latency-mean", "unrecorded-8k-100r", 10): 251_000.0,
        ("latency-p50", "unrecorded-8k-100r", 10): 240_000.0,
        ("latency-p99", "unrecorded-8k-100r", 10): 900_000.0,
    }
    assert any("access pattern and direct I/O are unknown" in caveat for caveat in caveats(imported))


def test_fio_of_version_2_1_weighs_the_latencies_of_processes_by_what_they_did() -> None:
    slow = old_direction(iops=10_000, bw=80_000, lat={"mean": 1251.0})
    imported = parse_fio(old_file("fio-2.1.3", old_job(read=old_direction()), old_job(read=slow)), "old.json")

    (mean,) = (value for (series, *_), value in figures(imported).items() if series == "latency-mean")
    assert mean == pytest.approx((4 * 251_000 + 1 * 1_251_000) / 5)


def test_fio_of_version_2_1_names_the_share_of_reads_that_it_had() -> None:
    write = old_direction(iops=10_000, bw=80_000)
    imported = parse_fio(old_file("fio-2.1.3", old_job(read=old_direction(), write=write)), "old.json")

    assert {place for series, place, _ in figures(imported) if series == "iops"} == {"unrecorded-8k-80r"}


def test_fio_of_version_2_1_without_latencies_leaves_the_requests_outstanding_unknown() -> None:
    read = old_direction(lat={"mean": 0.0}, clat={"mean": 0.0})
    imported = parse_fio(old_file("fio-2.1.3", old_job(read=read)), "old.json")

    assert {tuple(estimate.at) for step in imported.steps for estimate in step.estimates} == {("workload",)}


@pytest.mark.parametrize(
    ("version", "read", "rate", "mean", "p99"),
    [
        ("fio-2.2.10", {"total_ios": 5, "iops": 99.5, "bw": 800, "lat": {"mean": 250.0}}, 819_200, 250_000, None),
        (
            "fio-2.21",
            {
                "total_ios": 5,
                "io_bytes": 9,
                "iops": 1.0,
                "bw": 8,
                "clat": {"mean": 7.5, "percentile": {"99.000000": 9}},
            },
            8192,
            7500,
            9000,
        ),
        (
            "fio-3.1",
            {"total_ios": 5, "iops": 1.0, "bw": 8, "clat_ns": {"mean": 7.5, "percentile": {"99.000000": 9}}},
            8192,
            7.5,
            9,
        ),
        (
            "fio-3.36",
            {"total_ios": 5, "iops": 1.0, "bw_bytes": 8200, "bw": 8, "lat_ns": {"mean": 7.5}, "clat_ns": {"mean": 5}},
            8200,
            7.5,
            None,
        ),
        (  # lat_percentiles=1
            "fio-3.36",
            {"total_ios": 5, "iops": 1.0, "bw_bytes": 8192, "lat_ns": {"mean": 7.5, "percentile": {"99.000000": 9}}},
            8192,
            7.5,
            9,
        ),
    ],
)
def test_fio_counts_in_the_units_of_its_version(
    version: str, read: dict[str, Any], rate: float, mean: float, p99: float | None
) -> None:
    shown = figures(parse_fio(json.dumps({"fio version": version, "jobs": [fio_job(read=read)]}), "x.json"))

    assert shown["rate", "oltp-read", 16] == rate
    assert shown["latency-mean", "oltp-read", 16] == mean
    assert shown.get(("latency-p99", "oltp-read", 16)) == p99


def test_fio_reads_and_writes_that_are_reported_together_are_one_figure() -> None:
    job = fio_job(**{"job options": {"rw": "randrw", "rwmixread": "70", "bs": "8k", "direct": "1"}})
    del job["write"]
    job["mixed"] = job.pop("read")

    shown = figures(parse_fio(fio_file(job), "m.json"))

    assert shown["iops", "oltp-7030", 1] == 40_000.0
    assert shown["latency-p99", "oltp-7030", 1] == 900_000.0


@pytest.mark.parametrize(
    ("options", "queue_depth", "doubted"),
    [
        ({"ioengine": "libaio", "iodepth": "16"}, 16, False),
        ({"ioengine": "psync", "iodepth": "16"}, 1, True),
        ({"iodepth": "16"}, 1, True),
        ({"ioengine": "sync", "numjobs": "4"}, 4, False),
        ({"ioengine": "sync", "io_submit_mode": "offload", "iodepth": "16"}, 16, False),
    ],
)
def test_fio_engines_that_wait_for_each_request_have_one_out(
    options: dict[str, str], queue_depth: int, *, doubted: bool
) -> None:
    job = fio_job(**{"job options": {"rw": "randread", "bs": "8k", "direct": "1", **options}})
    imported = parse_fio(fio_file(job), "r.json")

    assert ("iops", "oltp-read", queue_depth) in figures(imported)
    assert any("has no effect with the engine" in caveat for caveat in caveats(imported)) is doubted


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"rw": "randread", "bs": "8192"}, "oltp-read"),
        ({"rw": "randread", "bs": "8kB"}, "oltp-read"),
        ({"rw": "randread", "bs": "8KiB"}, "random-8000b-100r"),  # fio's own reading, unless kb_base=1000
        ({"rw": "randread", "bs": "8KiB", "kb_base": "1000"}, "oltp-read"),
        ({"rw": "randread", "bs": "512"}, "random-512b-100r"),
        ({"rw": "randread", "bs": "8k,16k"}, "oltp-read"),
        ({"rw": "randwrite", "bs": "8k,16k"}, "random-16k-0r"),
        ({"rw": "randrw", "bs": "8k,16k"}, "random 8k,16k 50r"),
        ({"rw": "randread", "bsrange": "4k-8k"}, "random 4k-8k 100r"),
        ({"rw": "read", "blocksize": "1m"}, "dss-scan"),
    ],
)
def test_fio_sizes_are_named_as_fio_reads_them(options: dict[str, str], name: str) -> None:
    imported = parse_fio(fio_file(fio_job(**{"job options": {"direct": "1", **options}})), "r.json")

    assert {place for _, place, _ in figures(imported)} == {name}


def test_fio_jobs_that_ran_at_the_same_time_say_so() -> None:
    imported = parse_fio(fio_file(fio_job(), fio_job(jobname="log"), fio_job(jobname="later", groupid=1)), "r.json")

    said = {step.title: {caveat for one in step.estimates for caveat in one.caveats} for step in imported.steps}
    assert said == {
        "Direct I/O, fio job db": {"ran concurrently with other jobs of its group: log"},
        "Direct I/O, fio job log": {"ran concurrently with other jobs of its group: db"},
        "Direct I/O, fio job later": set(),
    }


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


def test_orion_gives_its_three_best_figures_and_the_latency_at_the_most_requests() -> None:
    imported = parse_orion(ORION, "disks_summary.txt")

    assert imported.tool == "ORION 11.2.0.4.0"
    assert figures(imported) == {
        ("rate", "dss-rand", 4): 200 * 1024**2,
        ("iops", "oltp-read", 17): 9000.0,
        ("latency-mean", "oltp-read", 1): 120_500.0,
        ("latency-mean", "oltp-read", 17): 1_800_000.0,
    }
    assert any("megabyte" in caveat for caveat in caveats(imported))


def test_orion_of_a_mix_keeps_the_latencies_of_reads_and_writes_apart() -> None:
    writes = "Small Write Latency: avg=2200 us, min=700 us, max=12000 us, std dev=400 us @ Small=17 and Large=0\n"
    text = ORION.replace("Write: 0%", "Write: 50%").replace("\nMinimum Small", f"{writes}\nMinimum Small")

    assert {place: value for place, value in figures(parse_orion(text, "x")).items() if place[0] == "latency-mean"} == {
        ("latency-mean", "random-8k-50r", 1): 120_500.0,
        ("latency-mean", "random-8k-50r reads", 1): 120_000.0,
        ("latency-mean", "random-8k-50r reads", 17): 1_800_000.0,
        ("latency-mean", "random-8k-50r writes", 17): 2_200_000.0,
    }


def test_orion_of_version_10_left_out_the_milliseconds() -> None:
    text = "ORION VERSION 10.2.0.1.0\nMinimum Small Latency=6.55 @ Small=1 and Large=0\n"

    assert figures(parse_orion(text, "old.txt")) == {("latency-mean", "oltp-read", 1): 6_550_000.0}


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


def test_orion_on_the_terminal_says_what_it_tested_by_its_command_line_alone() -> None:
    imported = parse_orion(ORION_OUTPUT, "orion.log")

    assert imported.tool == "ORION 19.5.0.0.0"
    assert str(imported.steps[0].settings["command"]).startswith("-run oltp -testname disks")
    assert figures(imported) == {
        ("iops", "random-8k-50r", 12): 30000.0,
        ("latency-mean", "random-8k-50r reads", 12): 200_500.0,
        ("latency-mean", "random-8k-50r writes", 12): 300_500.0,
    }
    assert not caveats(imported)


def test_orion_on_the_terminal_without_its_command_line_assumes_the_defaults_and_says_so() -> None:
    imported = parse_orion(ORION_OUTPUT.split("\n", 1)[1], "orion.log")

    assert figures(imported)["iops", "oltp-read", 12] == 30000.0
    assert any("its defaults are assumed" in caveat for caveat in caveats(imported))


MATRIX = """Large/Small,      0,      1,      2
          0,       ,   2302,   4398
          1,       ,   1900
          2
"""


def test_orions_matrix_gives_a_point_for_each_mix_that_was_tested() -> None:
    assert figures(parse_orion_matrix(MATRIX, "disks_1_iops.csv")) == {
        ("iops", "oltp-read", 1): 2302.0,
        ("iops", "oltp-read", 2): 4398.0,
        ("matrix-iops", 1, 1): 1900.0,
    }


def test_orions_rates_go_by_large_requests_out() -> None:
    text = "Large/Small,      0,      1\n          1, 271.58, 250.00\n          2, 374.26\n"

    assert figures(parse_orion_matrix(text, "disks_1_mbps.csv")) == {
        ("rate", "dss-rand", 1): 271.58 * 1024**2,
        ("rate", "dss-rand", 2): 374.26 * 1024**2,
        ("matrix-rate", 1, 1): 250.0 * 1024**2,
    }


@pytest.mark.parametrize(
    ("above", "factor", "doubted"),
    [
        ("", 1e6, True),
        ("ORION VERSION 12.1.0.1.0\nThe average latency sustained by small I/Os in microseconds.\n", 1e3, False),
    ],
)
def test_orions_latencies_are_milliseconds_unless_it_says_so(above: str, factor: float, *, doubted: bool) -> None:
    imported = parse_orion_matrix(f"{above}Large/Small,  1\n  0,  0.43\n", "disks_1_lat.csv")

    assert figures(imported) == {("latency-mean", "oltp-read", 1): pytest.approx(0.43 * factor)}
    assert any("milliseconds" in caveat for caveat in caveats(imported)) is doubted


@pytest.mark.parametrize(
    ("text", "name"),
    [(MATRIX, "x.csv"), ("Large/Small, 1\n 0, many\n", "a_iops.csv"), ("Large/Small, 1\n 0\n", "a_iops.csv")],
)
def test_a_matrix_that_does_not_say_what_it_is_or_holds_nothing_is_refused(text: str, name: str) -> None:
    with pytest.raises(MalformedError, match=name):
        parse_orion_matrix(text, name)


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
SCALING = {1: 1.0, 2: 1.048, 4: 1.041}
"""S(n) of the published series."""


def scaling(imported: Imported) -> dict[str | int | float, float]:
    return {place: round(value, 3) for (series, place, _), value in figures(imported).items() if series == "scaling"}


def test_slb_lines_that_text_separates_are_processes_started_together() -> None:
    shown = figures(parse_slb(SLB, "slb.txt"))

    assert shown["random-store", 1, ""] == 131.3
    assert shown["random-store", 2, ""] == pytest.approx(250.55)
    assert shown["throughput", 2, ""] == pytest.approx(7_982_567.2)
    assert shown["scaling", 2, ""] == pytest.approx(1.048, abs=5e-4)


@pytest.mark.parametrize(
    ("text", "groups", "how"),
    [
        (ONE + TWO + FOUR, (), "as their elapsed times show"),
        (ONE + TWO + FOUR, (1, 2, 4), "as --groups says"),
        (f"one\n{ONE}two\n{TWO}four\n{FOUR}", (), "as the text between their lines separates them"),
        (f"{ONE}\n{TWO}\n{FOUR}", (), "as the text between their lines separates them"),
        # Empty lines between all of them separate nothing.
        ((ONE + TWO + FOUR).replace("\n", "\n\n"), (), "as their elapsed times show"),
        # Nor does what a shell says of its jobs.
        (
            (ONE + TWO + FOUR).replace("\n", "\n[2]+  Done   ./memhammer 131072 6000\n"),
            (),
            "as their elapsed times show",
        ),
    ],
)
def test_slb_of_a_series_gives_its_scaling(text: str, groups: tuple[int, ...], how: str) -> None:
    imported = parse_slb(text, "slb.txt", groups)

    assert scaling(imported) == SCALING
    assert imported.notes[0].startswith(f"Processes started together: 1, 2, 4, {how};")
    assert imported.summary[2] == "4 processes: 504 ns a store, 7.93 M stores/s in all, S(4) = 1.041"


@pytest.mark.parametrize(
    "text",
    [
        TWO,  # two processes, or one of them twice
        ONE + slb_line(138.3, 108_700_000, 7_234_885.0),
        ONE + ONE + TWO,  # no series of ever more processes
        ONE + slb_line(133.5, 104_988_672, 7_490_637.0) * 2,  # 1.7 % apart: neither alike nor different
        f"first machine\n{ONE + TWO}second machine\n{ONE + TWO}",  # text and times contradict each other
    ],
)
def test_slb_asks_where_neither_text_nor_times_tell_the_starts_apart(text: str) -> None:
    with pytest.raises(
        MalformedError, match=r"slb.txt: which of its \d memhammer lines .* is unknown: .* --groups 1,2,4"
    ):
        parse_slb(text, "slb.txt")


def test_slb_takes_the_users_word_over_everything_else() -> None:
    first = f"first machine\n{ONE + TWO}second machine\n{ONE + TWO}"

    assert scaling(parse_slb(first, "slb.txt", (1, 2, 1, 2))) == {1: 1.0, 2: 1.048}
    assert figures(parse_slb(TWO, "slb.txt", (1, 1)))["random-store", 1, ""] == pytest.approx(250.55)


def test_slb_scales_processes_against_one_of_as_much_work_only() -> None:
    more = "Total ops 1572864000  Avg nsec/op 200.0  gettimeofday usec 314572800 TPUT ops/sec 5000000.0\n"
    imported = parse_slb(f"1 GiB\n{more}512 MiB\n{SLB}", "slb.txt")

    assert figures(imported)["random-store", 1, "1572864000"] == 200.0
    assert {
        (estimate.at["processes"], estimate.at["stores"]): round(estimate.value, 3)
        for step in imported.steps
        for estimate in step.estimates
        if estimate.series == "scaling"
    } == {(1, "786432000"): 1.0, (2, "786432000"): 1.048}


def test_slb_without_a_start_of_one_process_says_that_scaling_is_unknown() -> None:
    imported = parse_slb(TWO, "slb.txt", (2,))

    assert scaling(imported) == {}
    assert imported.notes[1].startswith("S(n) is unknown: it requires a run of one process")


@pytest.mark.parametrize(
    "line", [slb_line(131.3, 103_240, 7_617_487.7), slb_line(131_300.0, 103_240_338, 7_617_487.7), slb_line(0, 0, 0)]
)
def test_slb_figures_that_contradict_each_other_are_of_an_unknown_unit(line: str) -> None:
    with pytest.raises(MalformedError, match=r"slb.txt: line 1: expected .* the units of this file are unknown"):
        parse_slb(line, "slb.txt")


def test_the_command_shows_the_scaling_and_takes_the_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "slb.txt").write_text(TWO + TWO)
    (tmp_path / "fio.json").write_text(fio_file(fio_job()))
    out, slb, other = (str(tmp_path / name) for name in ("out", "slb.txt", "fio.json"))

    assert run(["import", slb, "-o", out]) == ExitStatus.USAGE
    assert run(["import", slb, "--groups", "2,3", "-o", out]) == ExitStatus.USAGE
    assert run(["import", slb, "--groups", "two", "-o", out]) == ExitStatus.USAGE
    assert run(["import", other, "--groups", "1", "-o", out]) == ExitStatus.USAGE
    refused = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2].removeprefix(f"{slb}: ")[:40] for line in refused] == [
        "which of its 4 memhammer lines were star",
        "--groups 2,3: expected numbers of proces",
        "--groups: expected numbers of processes ",
        "--groups: expected a file with lines of ",
    ]
    assert run(["import", slb, "--groups", "1,1,2", "-o", out]) == ExitStatus.OK
    assert "2 processes: 251 ns a store, 7.98 M stores/s in all, S(2) = 2.000" in capsys.readouterr().out


SLOB_COLUMNS = (
    "FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS"
    "|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT|"
)
SLOB = f"""{SLOB_COLUMNS}
awr.txt.8|8|300|4.1|7.9|90|60000|52100|  407.0|12|     3|.5|     512|0|0|     810|     700|read 512us|
awr.txt.16|16|301|7.9|15.8||90000|80000|  625.0||||     950|0||     810|0|read 950us|
"""


def test_slob_counts_mebibytes_and_microseconds() -> None:
    imported = parse_slob(SLOB, "awr_info.txt")
    shown = figures(imported)

    assert shown["physical-reads", 8, ""] == 52_100
    assert shown["read-rate", 8, ""] == 407 * 1024**2
    assert shown["write-rate", 8, ""] == 3 * 1024**2
    assert shown["redo-rate", 8, ""] == 0.5 * 1024**2
    assert shown["sequential-read-wait", 8, ""] == 512_000
    assert shown["sequential-read-wait", 16, ""] == 950_000
    assert caveats(imported) == set()


def test_slob_events_that_the_report_does_not_list_are_unknown_and_not_0() -> None:
    imported = parse_slob(SLOB, "awr_info.txt")

    assert {(series, at) for series, at, _ in figures(imported) if series.endswith("-wait")} == {
        ("sequential-read-wait", 8),
        ("parallel-write-wait", 8),
        ("log-write-wait", 8),
        ("sequential-read-wait", 16),
        ("parallel-write-wait", 16),
    }
    assert ("physical-writes", 16, "") not in figures(imported)
    assert imported.notes[1] == (
        "awr.txt.8 (8 sessions): wait unknown, because awr_info found no such event in the report: "
        "direct path read, db file parallel read."
    )


def test_slob_cells_that_the_script_cannot_have_printed_are_left_out_with_a_note() -> None:
    imported = parse_slob(SLOB.replace("     512|", "0.5|").replace("  407.0", "407,0"), "awr_info.txt")

    assert ("sequential-read-wait", 8, "") not in figures(imported)
    assert ("read-rate", 8, "") not in figures(imported)
    assert "awr.txt.8 (8 sessions): READ_MBS left out: expected a number, as awr_info prints it, found '407,0'." in (
        imported.notes
    )
    assert any("DFSR_LAT left out: expected a whole number of microseconds" in note for note in imported.notes)


def test_slob_rows_without_sessions_are_named_and_further_ones_of_as_many_are_another_round() -> None:
    imported = parse_slob(SLOB.replace("awr.txt.16|16|", "awr.txt.8|8|") + "awr.txt||300|4|||1|\n", "awr_info.txt")

    assert [dict(step.estimates[0].at) for step in imported.steps] == [{"sessions": 8}] * 2
    assert any(
        note.startswith("awr.txt: left out, because its number of sessions is unknown") for note in imported.notes
    )


def lscpu(*fields: tuple[str, str]) -> str:
    return json.dumps({"lscpu": [{"field": f"{name}:", "data": text} for name, text in fields]})


COUNTS = (("CPU(s)", "8"), ("Thread(s) per core", "2"), ("Core(s) per socket", "2"), ("Socket(s)", "2"))


def test_lscpu_gives_a_machine_that_sizing_can_use_with_gaps_for_the_rest() -> None:
    text = lscpu(
        *COUNTS,
        ("Model name", "Intel(R) Xeon(R) CPU E5320 @ 1.86GHz"),
        ("L1d cache", "128 KiB (4 instances)"),
        ("L3 cache", "16 MiB (2 instances)"),
        ("NUMA node0 CPU(s)", "0-3"),
        ("NUMA node1 CPU(s)", "4-7"),
    )
    machine = parse_lscpu(text, "lscpu.json").machine

    assert machine is not None
    assert (len(machine.packages), len(machine.cores), machine.pu_counts.present) == (2, 4, 8)
    assert machine.base_clock is not None
    assert machine.base_clock.value == 1.86e9
    assert [(cache.level, cache.size_bytes) for cache in machine.caches] == [(1, 32 << 10)] * 4 + [(3, 8 << 20)] * 2
    assert [node.pus for node in machine.nodes] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert ("memory", "lscpu does not report it") in {(gap.subject, gap.reason) for gap in machine.gaps}


def test_lscpu_of_old_versions_gave_the_size_of_one_cache_and_new_ones_nest_their_fields() -> None:
    old = parse_lscpu(lscpu(*COUNTS, ("L2 cache", "256K")), "old.json").machine
    nested = {"field": "Vendor ID:", "data": "GenuineIntel", "children": [{"field": "Model name:", "data": "Xeon"}]}
    entries = [{"field": f"{name}:", "data": text} for name, text in COUNTS]
    new = parse_lscpu(json.dumps({"lscpu": [*entries, nested]}), "new.json").machine

    assert old is not None
    assert [cache.size_bytes for cache in old.caches] == [256 << 10] * 4
    assert new is not None
    assert new.cpu_model == "Xeon"


def shape(*fields: tuple[str, str]) -> tuple[int, int, int]:
    """Sockets, cores and CPUs online."""
    machine = parse_lscpu(lscpu(*fields), "lscpu.json").machine
    assert machine is not None
    assert sorted(cpu for core in machine.cores for cpu in core.pus) == [pu.cpu for pu in machine.pus if pu.online]
    return len(machine.packages), len(machine.cores), machine.pu_counts.online


def test_lscpu_of_arm_names_clusters_where_no_sockets_are_known() -> None:
    arm = (("CPU(s)", "96"), ("Thread(s) per core", "1"), ("Core(s) per cluster", "48"), ("Cluster(s)", "2"))

    assert shape(*arm, ("Socket(s)", "-")) == (2, 96, 96)
    assert shape(*arm, ("Socket(s)", "1")) == (1, 96, 96)
    machine = parse_lscpu(lscpu(*arm, ("Socket(s)", "-")), "arm.json").machine
    assert machine is not None
    assert machine.gaps[0].subject == "sockets"


def test_lscpu_of_s390_counts_sockets_in_books_and_drawers() -> None:
    cores = (("CPU(s)", "48"), ("Thread(s) per core", "2"), ("Core(s) per socket", "4"), ("Socket(s) per book", "3"))

    assert shape(*cores, ("Book(s)", "2")) == (6, 24, 48)
    assert shape(*cores, ("Book(s) per drawer", "1"), ("Drawer(s)", "2")) == (6, 24, 48)


def test_lscpu_of_cores_with_unequal_threads_has_the_cpus_that_there_are() -> None:
    hybrid = (("CPU(s)", "20"), ("Thread(s) per core", "2"), ("Core(s) per socket", "12"), ("Socket(s)", "1"))

    assert shape(*hybrid) == (1, 12, 20)


def test_lscpu_with_cpus_offline_keeps_them_apart() -> None:
    half = (("CPU(s)", "8"), ("On-line CPU(s) list", "0-1,4-5"), ("Off-line CPU(s) list", "2-3,6-7"))
    fields = (*half, ("Thread(s) per core", "1"), ("Core(s) per socket", "2"), ("Socket(s)", "2"))

    assert shape(*fields) == (2, 4, 4)
    machine = parse_lscpu(lscpu(*fields), "lscpu.json").machine
    assert machine is not None
    assert [pu.cpu for pu in machine.pus if not pu.online] == [2, 3, 6, 7]
    assert machine.packages[1].pus == (4, 5)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (COUNTS[:3], "expected the fields CPU(s), Socket(s)"),  # one socket used to be taken
        ((("Prozessor(en)", "8"), *COUNTS[1:]), "LC_ALL=C lscpu -J"),
        (
            (("CPU(s)", "16"), *COUNTS[1:]),
            "expected 4 to 8 CPUs online, as 4 cores with up to 2 threads have, found 16",
        ),
        ((("CPU(s)", "3"), *COUNTS[1:]), "the fields contradict each other"),
    ],
)
def test_lscpu_without_counts_or_with_ones_that_contradict_each_other_is_refused(
    fields: tuple[tuple[str, str], ...], expected: str
) -> None:
    with pytest.raises(MalformedError) as refused:
        parse_lscpu(lscpu(*fields), "lscpu.json")
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("level", "text", "caches"),
    [
        ("L2", "256K", [256 << 10] * 4),  # up to util-linux 2.33: of one
        ("L2", "1 MiB", [256 << 10] * 4),  # 2.34 to 2.36: of all
        ("L2", "1 MiB (2 instances)", [512 << 10] * 2),  # since 2.37
        ("L3", "16384K", [16 << 20] * 2),
        ("L3", "32 MiB", [16 << 20] * 2),
        ("L3", "32 MiB (1 instance)", [32 << 20]),
        ("L2", "1048576 (4 instances)", [256 << 10] * 4),  # lscpu -B
    ],
)
def test_lscpu_sizes_of_caches_are_of_one_or_of_all_by_version(level: str, text: str, caches: list[int]) -> None:
    imported = parse_lscpu(lscpu(*COUNTS, (f"{level} cache", text)), "lscpu.json")

    assert imported.machine is not None
    assert [cache.size_bytes for cache in imported.machine.caches] == caches
    assert any("does not count caches" in note for note in imported.notes) is ("instance" not in text)


def session_of(tmp_path: Path, *parts: tuple[str, Imported]) -> Session:
    path = str(tmp_path / "imported.sizeup.jsonl")
    with Writer.create(path) as writer:
        writer.write(*session_records(parts, host="old01", now=datetime(2026, 1, 31, tzinfo=UTC)))
    return read_session(path)


def test_the_session_says_of_every_figure_that_it_was_imported(tmp_path: Path) -> None:
    parts = (("slb.txt", parse_slb(SLB, "slb.txt")), ("again.txt", parse_slb(SLB, "again.txt")))
    session = session_of(tmp_path, *parts)

    assert session.damage.sentences() == ()
    assert session.header.title == "Imported from slb.txt, again.txt"
    assert list(session.steps) == ["memory.hammer", "memory.hammer~2"]
    for step in session.steps.values():
        assert step.distribution == "imported from SLB memhammer"
        for point in step.points.values():
            assert point.estimate is not None
            assert point.estimate.caveats[0] == "imported from SLB memhammer, not measured by sizeup"
    assert session.missing_steps == ()


def test_the_command_finds_out_what_each_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    texts = {
        "r.json": fio_file(fio_job()),
        "s.txt": ORION,
        "s_iops.csv": f"ORION VERSION 11.2.0.4.0\n\nThe maximum of small I/Os in IOPS\n{MATRIX}",
        "slb.txt": SLB,
        "awr_info.txt": SLOB,
        "c.json": lscpu(*COUNTS),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "old.sizeup.jsonl"

    files = [str(tmp_path / name) for name in texts]
    assert run(["import", *files, "--host", "old01", "-o", str(out)]) == ExitStatus.OK
    assert run(["import", files[0]]) == ExitStatus.OK
    assert len(list((tmp_path / "state").rglob("*.sizeup.jsonl"))) == 1

    session = read_session(str(out))
    assert session.header.host == "old01"
    assert list(session.steps) == [
        "io.direct.fio.db",
        "io.direct.orion",
        "io.direct.orion-iops",
        "memory.hammer",
        "slob",
    ]
    assert session.machine is not None
    assert "c.json: lscpu, the machine" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "expected the JSON of fio"),
        (b"hello", "expected the JSON of fio"),
        (b'{"fio version": "fio-3.1", "jobs": [', "expected the JSON of fio"),
        (b'{"fio version": "fio-3.1", "jobs": []}', "at least one fio job that read or wrote data"),
        (b'{"lscpu": ' + b"[" * 100_000, "expected the output of lscpu -J"),
        (b'{"lscpu": [{"field": "CPU(s):", "data": "9"}, {"field": "Socket(s):", "data": "99999"}]}', "at most 8192"),
        (b"ORION VERSION 11\n", "Maximum Small IOPS"),
        (b"ORION VERSION 11\n" * 2, "expected the summary of one run of ORION, found 2"),
        (b"nsec/op", "expected lines of memhammer"),
        (b"FILE|SESSIONS|LIO|\n", "rows of numbers"),
        (b'\xff\xfe{"fio version"', "expected the JSON of fio"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    (tmp_path / "odd").write_bytes(content)

    assert run(["import", str(tmp_path / "odd"), "-o", str(tmp_path / "out")]) == ExitStatus.USAGE

    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


WHOLE = {
    "fio": fio_file(fio_job()),
    "orion": ORION,
    "orion-matrix": MATRIX,
    "slb": SLB,
    "slob": SLOB,
    "lscpu": lscpu(*COUNTS, ("L2 cache", "1 MiB")),
}


SAMPLES = (*WHOLE.items(), ("orion", ORION_OUTPUT), ("fio", old_file("fio-2.1.3", old_job(read=old_direction()))))


@pytest.mark.parametrize(("kind", "text"), SAMPLES)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_damaged_results_are_read_or_refused_and_never_a_traceback(kind: str, text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    dropped = data.draw(st.integers(0, 40))
    damaged = text[:at] + data.draw(st.text(ANY_CHARACTER, max_size=12)) + text[at + dropped :]

    told = ""
    try:
        list(session_records([("x", KINDS[kind][1](damaged, "x"))], host=None, now=datetime(2026, 1, 31, tzinfo=UTC)))
    except MalformedError as error:
        told = str(error)
    assert "\n" not in told


@pytest.mark.parametrize(("kind", "text"), WHOLE.items())
def test_a_number_without_end_is_refused_or_left_out(kind: str, text: str, tmp_path: Path) -> None:
    for match in list(re.finditer(r"\d+", text))[:40]:
        for digits in (5000, 400, 20):
            (tmp_path / "results").write_text(text[: match.start()] + "9" * digits + text[match.end() :])
            with contextlib.suppress(SizeupError):
                read_foreign(str(tmp_path / "results"), kind)
