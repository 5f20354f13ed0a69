"""Figures of fio come in our names and units, whatever its version."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from importers.results import caveats, figures, fio_file, fio_job, old_direction, old_file, old_job
from sizeup.errors import MalformedError
from sizeup.importers.fio import parse_fio
from sizeup.model.sample import Coordinates


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


@pytest.mark.parametrize("mix", [{"rwmixread": "70"}, {"rwmixwrite": "30"}])
def test_fio_mixed_requests_keep_the_latencies_of_reads_and_writes_apart(mix: dict[str, str]) -> None:
    job = fio_job(**{"job options": {"rw": "randrw", **mix, "bs": "8k", "direct": "1"}})
    job["write"] = {**job["read"], "iops": 10_000.0}

    shown = figures(parse_fio(fio_file(job), "m.json"))

    assert shown["iops", "oltp-7030", 1] == 50_000.0
    assert ("latency-mean", "oltp-7030 reads", 1) in shown
    assert ("latency-mean", "oltp-7030 writes", 1) in shown


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


@pytest.mark.parametrize(("total", "said"), [(410_000, False), (450_000, True)])
def test_fio_percentiles_that_lack_a_part_of_the_mean_say_so(total: float, said: bool) -> None:
    """The mean is of lat, 400,000 ns of it of clat; a twentieth more is 421,053 ns."""
    job = fio_job()
    job["read"] = {**job["read"], "lat_ns": {"mean": total}}
    told = {one.series: one.caveats for one in parse_fio(fio_file(job), "r.json").steps[0].estimates}

    assert told["latency-mean"] == ()
    assert any("percentiles are of clat" in caveat for caveat in told["latency-p99"]) is said


@pytest.mark.parametrize(
    ("options", "figures_of_log"),
    [
        ({"fdatasync": "1"}, {"latency-mean": 2_950_000, "latency-p99": 11_990_000}),
        ({"fsync": "1"}, {"latency-mean": 2_950_000, "latency-p99": 11_990_000}),
        ({"fdatasync": "32"}, {}),
    ],
)
def test_fio_flushes_after_each_write_are_those_of_a_log(
    options: dict[str, str], figures_of_log: dict[str, float]
) -> None:
    flushes = {"total_ios": 0, "lat_ns": {"mean": 2_950_000, "percentile": {"99.000000": 11_990_000}}}
    written = {"rw": "write", "bs": "8k", "iodepth": "1", "direct": "1", **options}
    (step,) = parse_fio(fio_file(fio_job(sync=flushes, **{"job options": written})), "r.json").steps
    log: Coordinates = {"workload": "redo", "direction": "write", "block_bytes": 8192}

    assert {one.series: one.value for one in step.estimates if one.at == log} == figures_of_log
    names = {one.name for series in step.series for one in series.quantities if one.matches(log)}
    assert {"storage.log_write_latency", "storage.log_write_latency_p99"} <= names


@pytest.mark.parametrize(
    ("options", "recorded"),
    [
        ({"rw": "randread", "bs": "4k"}, (4096, 0)),
        ({"rw": "randrw", "rwmixread": "80", "bs": "16k"}, (16384, 20)),
        ({"rw": "randwrite", "bs": "8k"}, (8192, 100)),
        ({"rw": "randrw", "bs": "4k,8k"}, (None, None)),
    ],
)
def test_fio_records_size_and_writes_of_what_it_did(
    options: dict[str, str], recorded: tuple[int | None, int | None]
) -> None:
    (step,) = parse_fio(fio_file(fio_job(**{"job options": options})), "r.json").steps
    found = next(one.extra for one in step.estimates if one.series == "iops")

    assert (found.get("block_bytes"), found.get("write_percent")) == recorded


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        (
            "read",
            {"iops": 999_999.0},
            "job db, read: expected 40,000 IOPS, total_ios 1,200,000 in 30,000 ms, fou",
        ),
        (
            "write",
            {"iops": 5.0, "total_ios": 0},
            "job db, write: expected 0 IOPS, total_ios 0 in 30,000 ms, found 5",
        ),
        ("read", {"iops": 40_000}, ""),
        ("read", {"iops": 39_999, "total_ios": 1_199_999}, ""),  # cut to whole IOPS, as version 2 does
    ],
)
def test_iops_of_fio_that_are_not_those_of_its_counts_are_refused(
    kind: str, changes: dict[str, float], said: str
) -> None:
    job = fio_job()
    job[kind] = {**job["read"], "total_ios": 1_200_000, "runtime": 30_000, **changes}
    if said:
        with pytest.raises(MalformedError, match=said):
            parse_fio(fio_file(job), "r.json")
    else:
        assert figures(parse_fio(fio_file(job), "r.json"))["iops", "oltp-read", 16] == changes["iops"]


def test_a_job_of_fio_that_ended_with_an_error_is_told_with_its_reason() -> None:
    imported = parse_fio(fio_file(fio_job(error=5), fio_job(jobname="log")), "r.json")

    assert imported.summary == imported.notes
    assert imported.notes == ("Job db ended with error 5 (Input/output error): its figures are of the time before",)


def test_a_job_of_fio_that_ended_with_an_error_before_any_data_says_which() -> None:
    nothing = fio_job(error=28, read=fio_job()["write"])

    with pytest.raises(
        MalformedError, match=r"r\.json: expected .* read or wrote data, found Job db ended with error 28"
    ):
        parse_fio(fio_file(nothing), "r.json")
