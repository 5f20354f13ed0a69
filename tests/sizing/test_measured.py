"""What a session measured takes the place of what sizing assumed, where it is valid and of the path in question."""

import pytest
from msgspec.structs import replace

from declared import declaration_of, series_of
from sizeup.model.budget import PathBudget
from sizeup.model.machine import Machine
from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.model.storage import BlockDevice, BlockKind, Hba, NvmeController, NvmeNamespace, Transport
from sizeup.quantity import Origin, Quantity, Words
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.measured import headlines, measured
from sizeup.sizing.inputs.typed import parse_settings
from sizeup.sizing.keys import UnusedMeasurement, WhyUnused


def drives(count: int, bytes_per_second: float) -> Machine:
    """NVMe drives, each on a link of its own."""
    numbers = range(count)
    return Machine(
        nvme_controllers=tuple(NvmeController(f"nvme{n}", "pcie", None, state="live") for n in numbers),
        nvme_namespaces=tuple(NvmeNamespace(f"nvme{n}n1", None, 1, 10**12, (f"nvme{n}",)) for n in numbers),
        block_devices=tuple(
            BlockDevice(
                f"nvme{n}n1", BlockKind.NVME, 10**12, f"259:{n}", leaves=(f"nvme{n}n1",), mount_points=(f"/u0{n}",)
            )
            for n in numbers
        ),
        budgets=tuple(PathBudget(f"nvme{n}", None, 0, (), bytes_per_second, f"link of nvme{n}") for n in numbers),
    )


ONE, FIVE = drives(1, 4e9), drives(5, 250e6)


def session(
    probe: str,
    *points: tuple[str, Coordinates, float],
    machine: Machine | None = ONE,
    path: str = "/u00/data",
    status: Status = Status.OK,
    reason: str = "",
) -> Session:
    step = Step(probe, probe, probe, {"path": path} if probe == "io.direct" else {}, 1.0, 2.0)
    run = StepRun(step, "sizeup", series_of(probe), "curve", 0, outcome=Outcome(status, reason))
    run.declaration = declaration_of(probe)
    for series, at, value in points:
        put(run, Estimate(series, at, value))
    header = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")
    return Session(header, machine=machine, steps={probe: run})


def put(run: StepRun, estimate: Estimate) -> None:
    run.points[point_key(estimate.series, estimate.at)] = Point(estimate.series, estimate.at, estimate=estimate)


def ramp(workload: str, *values: float, series: str = "rate") -> list[tuple[str, Coordinates, float]]:
    """A figure at depth 1, 2, 4 and so on."""
    return [(series, {"workload": workload, "queue_depth": 2**n}, value) for n, value in enumerate(values)]


def figures(found: Session) -> dict[str, float]:
    return {
        key: value.value
        for key, value in measured(found).items()
        if isinstance(value, Quantity) and key != "path.degraded_mb_s"
    }


def unused(found: Session, key: str = "capacity.mb_s") -> UnusedMeasurement:
    value = measured(found)[key]
    assert isinstance(value, UnusedMeasurement)
    return value


def test_direct_io_gives_the_capacity_and_its_latency() -> None:
    found = session(
        "io.direct",
        ("rate", {"workload": "dss-scan", "queue_depth": 8}, 900e6),
        ("rate", {"workload": "dss-scan", "queue_depth": 16}, 950e6),
        ("iops", {"workload": "oltp-read", "queue_depth": 16}, 39e3),
        ("iops", {"workload": "oltp-read", "queue_depth": 32}, 40e3),
        ("latency-mean", {"workload": "oltp-read", "queue_depth": 32, "direction": "read"}, 8e5),
    )
    path = measured(found)["path.bandwidth_mb_s"]

    assert figures(found) == {"path.bandwidth_mb_s": 950e6, "capacity.iops": 40e3, "capacity.latency_ms": 8e5}
    assert isinstance(path, Quantity)
    assert path.origin is Origin.MEASURED
    assert path.source == "NVMe nvme0, io.direct rate at workload=dss-scan, queue_depth=16 on /u00/data"


def test_a_file_that_gives_a_quantity_in_another_unit_gives_none() -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 29}, 90.0))
    run = found.steps["memory.latency"]
    run.series = {name: replace(series, unit="bytes") for name, series in run.series.items()}

    assert measured(found) == {}


def test_what_the_best_rate_cost_in_processor_time_is_known_to_sizing() -> None:
    best: Coordinates = {"workload": "dss-rand", "queue_depth": 8, "pages": "huge"}
    less: Coordinates = {**best, "queue_depth": 4}
    found = session("io.direct", ("rate", less, 2.9e9), ("rate", best, 3e9), ("rate", {**best, "pages": "4k"}, 1e9))
    run = found.steps["io.direct"]
    for at, host_ns in ((best, 21_000.0), ({**best, "pages": "4k"}, 40_000.0)):
        estimate = Estimate("cpu-per-mb", at, 9_000.0, extra={"host_io_ns_per_mb": host_ns})
        run.points[point_key("cpu-per-mb", at)] = Point("cpu-per-mb", at, estimate=estimate)

    assert figures(found) == {"path.bandwidth_mb_s": 3e9, "capacity.cpu_us_mb": 21_000.0}


def test_a_figure_that_came_from_a_cache_is_left_out() -> None:
    cached: Coordinates = {"workload": "oltp-read", "queue_depth": 2}
    found = session(
        "io.direct", ("rate", cached, 9e9), ("iops", cached, 1e6), ("validity", {**cached, "part": "x"}, 0.0)
    )

    assert figures(found) == {}
    assert set(measured(found)) == {"capacity.mb_s", "capacity.iops"}


def test_what_may_have_come_from_a_cache_is_left_out_although_it_is_only_doubted() -> None:
    large: dict[str, str | int | float] = {"workload": "dss-rand", "queue_depth": 8}
    found = session(
        "io.direct",
        ("rate", {**large, "pages": "huge"}, 9e9),
        ("rate", {**large, "pages": "4k", "queue_depth": 4}, 1.9e9),
        ("rate", {**large, "pages": "4k"}, 2e9),
        ("validity", {**large, "pages": "huge", "part": "physical"}, 0.5),
        ("validity", {**large, "pages": "4k", "part": "physical"}, 0.5),
    )
    fast = {**large, "pages": "huge", "part": "physical"}
    point = found.steps["io.direct"].points[point_key("validity", fast)]
    point.estimate = Estimate("validity", fast, 0.5, extra={"verdict": "warn", "sizing": "left out"})

    assert figures(found) == {"path.bandwidth_mb_s": 2e9}


def doubtful(found: Session, at: Coordinates, part: str, value: float, *, cache: bool, reason: str) -> None:
    run = found.steps["io.direct"]
    place = {**at, "part": part}
    extra: dict[str, str | int | float] = {"sizing": "left out"} if cache else {}
    estimate = Estimate("validity", place, value, caveats=(f"{part}: {reason}",), extra=extra)
    run.points[point_key("validity", place)] = Point("validity", place, estimate=estimate)


def test_an_unused_measurement_is_kept_with_the_reason() -> None:
    small: Coordinates = {"workload": "oltp-read", "queue_depth": 2}
    found = session("io.direct", ("rate", small, 9e9), ("iops", small, 1.2e6))
    doubtful(found, small, "physical", 0.5, cache=True, reason="1.2 million IOPS: probably a cache")

    values = measured(found)

    assert set(values) == {"capacity.mb_s", "capacity.iops"}
    capacity = values["capacity.mb_s"]
    assert isinstance(capacity, UnusedMeasurement)
    assert capacity.quantity.value == 9e9
    assert capacity.sentence("MB/s") == (
        "9,000 MB/s was measured but is not used: it is not valid, because it may come from a cache. Run "
        "io.direct with a size several times the largest cache known, or with preset working-set"
    )
    assert capacity.evidence("MB/s") == (
        "not used: 9,000 MB/s of io.direct rate at workload=oltp-read, queue_depth=2 on /u00/data; "
        "physical: 1.2 million IOPS: probably a cache"
    )


@pytest.mark.parametrize(
    ("part", "remedy"),
    [("direct", "supports direct I/O"), ("physical", "a temporary file"), ("steady", "more seconds")],
)
def test_what_failed_says_what_to_do_about_it(part: str, remedy: str) -> None:
    large: Coordinates = {"workload": "dss-rand", "queue_depth": 2}
    found = session("io.direct", ("rate", large, 9e9))
    doubtful(found, large, part, 0.0, cache=False, reason="it is so")

    capacity = measured(found)["capacity.mb_s"]

    assert isinstance(capacity, UnusedMeasurement)
    assert capacity.cause == f"its {part} check failed"
    assert remedy in capacity.remedy
    assert capacity.details == f"{part}: it is so"


def test_a_higher_figure_that_is_not_valid_is_a_caveat_of_the_one_that_is() -> None:
    large: dict[str, str | int | float] = {"workload": "dss-rand", "queue_depth": 8}
    found = session(
        "io.direct",
        ("iops", {"workload": "oltp-read", "queue_depth": 1}, 3.9e4),
        ("iops", {"workload": "oltp-read", "queue_depth": 2}, 4e4),
        ("iops", {"workload": "oltp-7030", "queue_depth": 2}, 9e4),
        ("iops", {"workload": "oltp-7030", "queue_depth": 1}, 1e4),
    )
    doubtful(found, {**large, "workload": "oltp-7030", "queue_depth": 2}, "steady", 0.0, cache=False, reason="+40%")

    requests = headlines(found)["capacity.iops"]

    assert isinstance(requests, Quantity)
    assert requests.value == 4e4
    (caveat,) = requests.caveats
    assert caveat.startswith("not used: 90,000 IOPS of io.direct iops at workload=oltp-7030, queue_depth=2")
    assert caveat.endswith("steady: +40%")


def test_of_several_steps_the_best_counts_and_not_the_last() -> None:
    scan = session("io.direct", *ramp("dss-scan", 2.9e9, 3e9))
    later = session("io.direct", *ramp("oltp-read", 3e8), *ramp("oltp-read", 3.9e4, 4e4, series="iops"))
    later.steps["io.direct"].step = Step("io.direct.2", "io.direct", "io.direct", {"path": "/u00"}, 1.0, 2.0)
    scan.steps["io.direct.2"] = later.steps["io.direct"]

    assert figures(scan) == {"path.bandwidth_mb_s": 3e9, "capacity.iops": 4e4}


def test_the_response_time_is_of_the_same_requests_as_the_rate() -> None:
    found = session(
        "io.direct",
        ("latency-mean", {"workload": "dss-rand", "queue_depth": 4, "direction": "read"}, 2e6),
        ("iops", {"workload": "oltp-read", "queue_depth": 2}, 3.9e4),
        ("iops", {"workload": "oltp-read", "queue_depth": 4}, 4e4),
        ("latency-mean", {"workload": "oltp-read", "queue_depth": 4, "direction": "read"}, 1e5),
    )

    assert figures(found)["capacity.latency_ms"] == 1e5


def test_an_unused_write_latency_is_reported_too() -> None:
    redo: Coordinates = {"workload": "redo", "block_bytes": 65536}
    found = session("io.direct", ("latency-mean", {**redo, "direction": "write"}, 4e5))
    doubtful(found, redo, "steady", 0.0, cache=False, reason="second half +40%")

    assert isinstance(measured(found)["redo.sync_write_us"], UnusedMeasurement)


def test_the_log_writer_is_judged_by_the_usual_redo_write() -> None:
    found = session(
        "io.direct",
        *(
            ("latency-mean", {"workload": "redo", "block_bytes": size, "direction": "write"}, time)
            for size, time in ((4096, 1e5), (65536, 4e5), (131072, 6e5))
        ),
    )

    assert figures(found) == {"redo.sync_write_us": 4e5, "redo.write_kib": 65536}


def test_memory_nodes_give_the_local_and_the_remote_latency() -> None:
    found = session(
        "memory.numa",
        ("latency", {"cpu_node": 0, "memory_node": 0}, 90.0),
        ("latency", {"cpu_node": 0, "memory_node": 1}, 140.0),
        ("latency", {"cpu_node": 1, "memory_node": 0}, 145.0),
    )

    assert figures(found) == {"memory.local_ns": 90.0, "memory.remote_ns": 145.0}


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (Status.FAILED, "its step failed"),
        (Status.CRASHED, "its step crashed"),
        (Status.TIMED_OUT, "its step ran into its time limit"),
        (Status.CANCELED, "its step was canceled"),
    ],
)
def test_what_a_step_measured_that_came_to_no_end_is_not_valid(status: Status, cause: str) -> None:
    found = session("io.direct", *ramp("dss-rand", 114e6, 114.7e6), machine=FIVE, status=status, reason="EIO")

    assert figures(found) == {}
    assert unused(found).cause == cause
    assert unused(found).details == "EIO"


def test_a_step_that_is_under_way_gives_nothing_yet() -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 29}, 90.0))
    found.steps["memory.latency"].outcome = None

    assert unused(found, "memory.local_ns").cause == "its step has not finished"


def test_a_figure_that_did_not_converge_beyond_its_target_is_not_valid() -> None:
    found = session("memory.latency")
    run = found.steps["memory.latency"]
    run.step = Step("memory.latency", "memory.latency", "Memory latency", {"target": 0.05}, 1.0, 2.0)
    at: Coordinates = {"working_set_bytes": 1 << 29}
    put(run, Estimate("dram-thp", at, 100.0, low=88.0, high=112.0, converged=False))
    wide = unused(found, "memory.local_ns")
    put(run, Estimate("dram-thp", at, 100.0, low=98.0, high=102.0, converged=False))

    assert (wide.cause, wide.details) == ("it did not converge", "interval ±12.0%, target ±5.0%")
    assert figures(found) == {"memory.local_ns": 100.0}


def test_no_figure_of_a_run_whose_verdict_is_fail_counts() -> None:
    found = session("io.direct", *ramp("dss-rand", 1370e6, 1374e6))
    run = found.steps["io.direct"]
    reasons = "steady: throughput drifted -25% from the first half to the second"
    put(run, Estimate("validity", {"part": "steady"}, 0.0, caveats=(reasons,)))
    put(run, Estimate("validity", {"part": "extending"}, 0.0, caveats=("extending: serialized",)))
    put(run, Estimate("validity", {"part": "all"}, 0.0, extra={"verdict": "fail", "reasons": reasons}))

    assert figures(found) == {}
    assert unused(found).sentence("MB/s") == (
        "1,374 MB/s was measured but is not used: it is not valid, because its steady check failed. "
        "Run io.direct again while the machine is idle, with more seconds"
    )
    assert isinstance(headlines(found)["capacity.mb_s"], UnusedMeasurement)


def capacity_of(found: Session, device: str | None = None) -> tuple[float, str, tuple[str, ...]]:
    """Megabytes a second, what limits them, and the caveats, as sizing says them."""
    assert found.machine is not None
    stated = {"machine.cores": Quantity(8, "1", Origin.USER, "--set")}
    if device is not None:
        stated |= {"db.device": Words(device, Origin.USER, "--set")}
    capacity = size(described(found.machine, {**measured(found, stated), **stated})).find("io.capacity")
    assert capacity is not None
    assert capacity.quantity is not None
    return round(capacity.quantity.value / 1e6, 1), capacity.decision, capacity.caveats


def test_one_drive_of_five_replaces_its_own_estimate_and_is_named() -> None:
    found = session("io.direct", *ramp("dss-rand", 114e6, 114.7e6), machine=FIVE, path="/dev/nvme2n1")

    rate, bottleneck, caveats = capacity_of(found)

    assert (rate, bottleneck) == (4 * 250 + 114.7, "nvme2n1, as measured")
    assert "measured: nvme2n1 114.7 MB/s; estimated by their links: nvme0, nvme1, nvme3, nvme4" in caveats
    assert capacity_of(found, "/u02")[:2] == (114.7, "nvme2n1, as measured")
    assert capacity_of(found, "/u03")[:2] == (250, "link of nvme3")


def test_a_measurement_of_another_device_is_reported_and_not_used() -> None:
    found = session("io.direct", *ramp("dss-rand", 114e6, 114.7e6), machine=FIVE, path="/dev/nvme2n1")
    _, _, caveats = capacity_of(found, "/u03")

    assert any(
        "does not cover all storage, because it is of nvme2n1 alone. Measure /u03" in caveat for caveat in caveats
    )


@pytest.mark.parametrize(
    ("points", "why"),
    [
        (ramp("single-read", 378e6), "small requests were measured, and large ones carry more"),
        (ramp("dss-rand", 378e6), "it was measured at queue depth 1 alone"),
        (ramp("dss-rand", 100e6, 190e6, 378e6), "it still rose at queue depth 4, where its ramp ended"),
        (
            [*ramp("dss-rand", 370e6, 378e6), ("cpu", {"workload": "dss-rand", "queue_depth": 2}, 0.99)],
            "the CPUs of the host were the limit (99% busy)",
        ),
        (
            [
                *ramp("dss-rand", 377e6, 378e6, 500e6),
                ("validity", {"workload": "dss-rand", "queue_depth": 4, "part": "x"}, 0),
            ],
            "the best figure of its ramp is not valid (its x check failed)",
        ),
    ],
)
def test_what_does_not_show_the_most_is_a_lower_bound(points: list[tuple[str, Coordinates, float]], why: str) -> None:
    found = session("io.direct", *points)
    capacity = unused(found)

    assert capacity.why_unused is WhyUnused.LOWER_BOUND
    assert capacity.cause == why
    assert capacity.sentence("MB/s").startswith(
        f"at least 378 MB/s was measured but is not used: it is a lower bound, because {why}. Run"
    )
    assert capacity_of(found)[:2] == (4000, "link of nvme0")


def test_requests_at_queue_depth_1_are_a_lower_bound() -> None:
    found = session("io.direct", *ramp("single-read", 9e3, series="iops"))

    assert (
        unused(found, "capacity.iops")
        .sentence("IOPS")
        .startswith("at least 9,000 IOPS was measured but is not used: it is a lower")
    )


def test_requests_of_one_drive_of_five_do_not_stand_for_all() -> None:
    found = session("io.direct", *ramp("oltp-read", 3.9e4, 4e4, series="iops"), machine=FIVE)

    assert unused(found, "capacity.iops").why_unused is WhyUnused.ONE_PATH
    assert measured(found, {"db.device": Words("/u00", Origin.USER, "--set")})["capacity.iops"] == Quantity(
        4e4, "1/s", Origin.MEASURED, "io.direct iops at workload=oltp-read, queue_depth=2 on /u00/data"
    )


def test_a_target_on_an_unknown_device_does_not_count_for_all_storage() -> None:
    found = session("io.direct", *ramp("dss-rand", 377e6, 378e6), path="/elsewhere/file")

    assert unused(found).sentence("MB/s") == (
        "378 MB/s was measured but is not used: it does not cover all storage, because the device under its target "
        "(/elsewhere/file) is unknown. Measure a device or mount of this machine"
    )
    assert capacity_of(found)[:2] == (4000, "link of nvme0")


def test_the_mount_that_the_probe_opened_counts_and_not_the_name_of_its_path() -> None:
    found = session("io.direct", machine=FIVE, path="/u00/link-to-elsewhere")
    for series, at, value in ramp("dss-rand", 114e6, 114.7e6):
        put(found.steps["io.direct"], Estimate(series, at, value, extra={"mount_point": "/u03"}))
    assert capacity_of(found)[1] == "nvme3n1, as measured"
    for series, at, value in ramp("dss-rand", 114e6, 114.7e6):
        put(found.steps["io.direct"], Estimate(series, at, value, extra={"device_number": "259:4"}))
    assert capacity_of(found)[1] == "nvme4n1, as measured"
    for series, at, value in ramp("dss-rand", 114e6, 114.7e6):
        put(found.steps["io.direct"], Estimate(series, at, value, extra={"mount_point": "/tmp"}))
    assert unused(found).why_unused is WhyUnused.ONE_PATH


def test_several_paths_at_once_stand_for_all_of_them() -> None:
    found = session("io.direct", machine=drives(2, 4e9), path="/u00")
    run = found.steps["io.direct"]
    run.step = Step("io.direct", "io.direct", "", {"path": "/u00", "more_paths": "/u01"}, 1.0, 2.0)
    for depth, value in ((8, 4.9e9), (16, 5e9)):
        put(run, Estimate("rate", {"workload": "dss-rand", "queue_depth": depth, "path": "all together"}, value))

    assert figures(found)["path.bandwidth_mb_s"] == 5e9


def test_the_least_of_several_nodes_is_of_the_valid_ones() -> None:
    found = session("memory.numa", ("latency", {"cpu_node": 1, "memory_node": 1}, 95.0))
    put(
        found.steps["memory.numa"],
        Estimate("latency", {"cpu_node": 0, "memory_node": 0}, 50.0, low=20.0, high=80.0, converged=False),
    )

    assert figures(found) == {"memory.local_ns": 95.0}


def test_an_invalid_figure_is_reported_where_it_is_needed() -> None:
    found = session("memory.numa", ("latency", {"cpu_node": 0, "memory_node": 0}, 90.0), status=Status.FAILED)
    two = {"numa.nodes": Quantity(2, "1", Origin.USER, "--set"), "memory.remote_ns": Quantity(9, "ns", Origin.USER, "")}
    questions = size(described(ONE, {**measured(found), **two})).questions

    assert any(
        "90 ns was measured but is not used: it is not valid, because its step failed" in one.sentence()
        for one in questions
    )


def test_a_working_set_within_the_caches_is_no_latency_of_memory() -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 14}, 1.2))
    settings = {"last_level_cache_bytes": 32 << 20}
    found.steps["memory.latency"].step = Step("memory.latency", "memory.latency", "", settings, 1.0, 2.0)
    cause = unused(found, "memory.local_ns").cause
    put(found.steps["memory.latency"], Estimate("dram-thp", {"working_set_bytes": 1 << 29}, 90.0))

    assert cause == "its working set is less than 4 times the last level cache (32 MiB)"
    assert figures(found) == {"memory.local_ns": 90.0}


@pytest.mark.parametrize(("megabytes", "used"), [(33, False), (64, False), (127, False), (128, True)])
def test_the_latency_of_memory_is_taken_from_four_times_the_last_level_cache_on(megabytes: int, used: bool) -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": megabytes << 20}, 95.0))
    settings = {"last_level_cache_bytes": 32 << 20}
    found.steps["memory.latency"].step = Step("memory.latency", "memory.latency", "", settings, 1.0, 2.0)

    assert figures(found) == ({"memory.local_ns": 95.0} if used else {})


def level(name: str, value: float, **extra: str) -> Estimate:
    return Estimate("dram-thp-level", {"level": name}, value, value * 0.9, value * 1.1, 3, converged=True, extra=extra)


def test_of_the_levels_the_latency_of_memory_is_taken_and_no_point_of_the_curve() -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 14}, 1.2))
    for one in (level("L1", 1.2), level("L3", 20.0), level("DRAM", 90.0)):
        put(found.steps["memory.latency"], one)

    assert figures(found) == {"memory.local_ns": 90.0}


def test_without_a_latency_of_memory_that_of_a_cache_is_not_taken_for_it() -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 26}, 30.0))
    settings = {"last_level_cache_bytes": 32 << 20}
    found.steps["memory.latency"].step = Step("memory.latency", "memory.latency", "", settings, 1.0, 2.0)
    put(found.steps["memory.latency"], level("L3", 20.0))

    assert unused(found, "memory.local_ns").quantity.value == 30.0


def test_a_latency_of_memory_whose_pages_were_remote_is_not_taken() -> None:
    found = session("memory.latency")
    put(found.steps["memory.latency"], level("DRAM", 90.0, placement="remote"))

    assert unused(found, "memory.local_ns").cause == "its pages were remote"


def test_memory_on_another_node_than_asked_for_is_no_local_memory() -> None:
    found = session("memory.numa")
    cell: Coordinates = {"cpu_node": 0, "memory_node": 0}
    put(
        found.steps["memory.numa"],
        Estimate("latency", cell, 303.0, extra={"share_where_asked": 0.0, "pages_on_nodes": "1:4096"}),
    )
    away = unused(found, "memory.local_ns").cause
    unseen = {"share_where_asked": 0.0, "pages_on_nodes": ""}
    put(found.steps["memory.numa"], Estimate("latency", cell, 90.0, extra=unseen))

    assert away == "its memory lay on another node"
    assert unused(found, "memory.local_ns").cause == "where its memory lay is unknown"


@pytest.mark.parametrize(
    ("placement", "cause"), [("remote", "its pages were remote"), ("unknown", "where its pages were is unknown")]
)
def test_a_latency_of_pages_that_are_not_known_to_be_local_is_not_the_local_one(placement: str, cause: str) -> None:
    found = session("memory.latency")
    at: Coordinates = {"working_set_bytes": 1 << 29}
    put(found.steps["memory.latency"], Estimate("dram-thp", at, 303.0, extra={"placement": placement}))

    assert unused(found, "memory.local_ns").cause == cause


def test_a_path_measured_slower_than_the_estimate_of_another_is_not_the_widest() -> None:
    adapter = Hba("host3", Transport.FC, state="Online")
    machine = replace(
        drives(1, 1e9), hbas=(adapter,), budgets=(*drives(1, 1e9).budgets, PathBudget("host3", None, 0, (), 8e8, "fc"))
    )
    found = session("io.direct", *ramp("dss-rand", 399e6, 400e6), machine=machine)

    rate, bottleneck, caveats = capacity_of(found)

    assert (rate, bottleneck) == (800, "fc")
    assert any("NVMe (nvme0) is not counted, with 400 MB/s" in caveat for caveat in caveats)


def test_of_a_disk_and_a_volume_on_it_the_one_counts_that_showed_more() -> None:
    volume = BlockDevice("dm-0", BlockKind.LVM, 10**11, "253:0", leaves=("nvme0n1",), mount_points=("/data",))
    machine = replace(ONE, block_devices=(*ONE.block_devices, volume))
    found = session("io.direct", *ramp("dss-rand", 399e6, 400e6), machine=machine, path="/data")
    raw = session("io.direct", *ramp("dss-rand", 599e6, 600e6)).steps["io.direct"]
    found.steps["io.direct~2"] = raw
    raw.step = Step("io.direct~2", "io.direct", "", {"path": "/dev/nvme0n1"}, 1.0, 2.0)

    assert capacity_of(found)[:2] == (600, "nvme0n1, as measured")


def test_a_ramp_gives_the_curve_of_the_response_time() -> None:
    points = ramp("oltp-read", 10e3, 20e3, 19e3, 30e3, series="iops")
    latencies = [("latency-mean", {**at, "direction": "read"}, 1e5 * (n + 1)) for n, (_, at, _) in enumerate(points)]
    found = measured(session("io.direct", *points, *latencies))
    iops, latency = found["capacity.curve_iops"], found["capacity.curve_ms"]

    assert isinstance(iops, tuple)
    assert isinstance(latency, tuple)
    assert [one.value for one in iops] == [10e3, 20e3, 30e3]  # without the depth that gained nothing
    assert [one.value for one in latency] == [1e5, 2e5, 4e5]
    assert any("of one target on /u00/data (workload oltp-read)" in caveat for caveat in iops[0].caveats)


def test_a_point_that_is_not_valid_or_alone_makes_no_curve() -> None:
    points = ramp("oltp-read", 10e3, 20e3, series="iops")
    latencies = [("latency-mean", {**at, "direction": "read"}, 1e5) for _, at, _ in points]
    verdict = ("validity", {"workload": "oltp-read", "queue_depth": 2, "part": "x"}, 0.0)

    assert "capacity.curve_iops" in measured(session("io.direct", *points, *latencies))
    assert "capacity.curve_iops" not in measured(session("io.direct", *points, *latencies, verdict))
    assert "capacity.curve_iops" not in measured(session("io.direct", *points))
    assert "capacity.curve_iops" not in measured(
        session("io.direct", *points, *latencies, status=Status.FAILED, reason="x")
    )


def test_the_curve_of_a_part_of_the_storage_says_so() -> None:
    points = [*ramp("oltp-read", 10e3, 20e3, series="iops")]
    latencies = [("latency-mean", {**at, "direction": "read"}, 1e5) for _, at, _ in points]
    part = session("io.direct", *[(name, at, 9 * value) for name, at, value in points], *latencies, machine=FIVE)
    alone = size(described(FIVE, {})).find("io.response-time")
    answer = size({**described(FIVE, {}), **measured(part), **parse_settings(["workload.iops=90000"])})
    found = answer.find("io.response-time")

    assert alone is None
    assert found is not None
    assert "by the measured curve" in found.verdict
    assert any("of one target" in caveat for caveat in found.caveats)
