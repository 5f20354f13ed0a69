"""What a session measured takes the place of what sizing assumed, where it is valid and of the path in question."""

from msgspec.structs import replace

from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate
from sizeup.quantity import Origin, Quantity
from sizeup.session.value import Point, Session, point_key
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.measured import headlines, measured
from sizing.measured_sessions import figures, put, ramp, session, unused


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
    assert set(measured(found)) == {"capacity.mb_s", "capacity.iops", "path.measured"}


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


def ends(found: Session, key: str) -> tuple[float, float, float | None]:
    value = measured(found)[key]
    assert isinstance(value, Quantity)
    return value.least, value.value, value.most


def test_a_figure_that_a_cache_may_have_given_bounds_nothing_from_below() -> None:
    small: Coordinates = {"workload": "oltp-read", "queue_depth": 2}
    found = session("io.direct", *ramp("oltp-read", 1.19e6, 1.2e6, series="iops"))
    doubtful(found, small, "physical", 0.5, cache=True, reason="1.2 million IOPS: probably a cache")

    assert ends(found, "capacity.iops") == (0, 1.2e6, 1.2e6)


def test_what_bypassed_nothing_is_no_evidence() -> None:
    large: Coordinates = {"workload": "dss-rand", "queue_depth": 2}
    found = session("io.direct", ("rate", large, 9e9))
    doubtful(found, large, "direct", 0.0, cache=False, reason="it is so")

    capacity = measured(found)["capacity.mb_s"]

    assert isinstance(capacity, UnusedMeasurement)
    assert capacity.cause == "the I/O did not bypass the page cache (it is so)"
    assert "supports direct I/O" in capacity.remedy


def test_an_unsteady_figure_lies_between_its_worst_and_its_best_second() -> None:
    found = session("io.direct", *ramp("oltp-read", 39e3, 40e3, series="iops"))
    at: Coordinates = {"workload": "oltp-read", "queue_depth": 2}
    doubtful(found, at, "steady", 0.0, cache=False, reason="-25 %")
    point = found.steps["io.direct"].points[point_key("iops", at)]
    for second, values in enumerate([(50e3, 54e3), (39e3, 41e3), (25e3, 31e3)]):
        for part, value in enumerate(values):
            point.t_ns.append(int((second + part / 2) * 1e9))
            point.values.append(value)
            point.flags.append(0)
    for second, value in ((4, 1e3), (5, 99e3)):
        point.t_ns.append(second * 10**9)
        point.values.append(value)
        point.flags.append(1)  # disturbed

    assert ends(found, "capacity.iops") == (28e3, 40e3, 52e3)


def test_a_valid_figure_comes_before_a_higher_one_that_is_not() -> None:
    large: dict[str, str | int | float] = {"workload": "dss-rand", "queue_depth": 8}
    found = session(
        "io.direct",
        ("iops", {"workload": "oltp-read", "queue_depth": 1}, 3.9e4),
        ("iops", {"workload": "oltp-read", "queue_depth": 2}, 4e4),
        ("iops", {"workload": "oltp-7030", "queue_depth": 2}, 9e4),
        ("iops", {"workload": "oltp-7030", "queue_depth": 1}, 1e4),
    )
    doubtful(found, {**large, "workload": "oltp-7030", "queue_depth": 2}, "steady", 0.0, cache=False, reason="+40 %")

    requests = headlines(found)["capacity.iops"]

    assert isinstance(requests, Quantity)
    assert requests.value == 4e4


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
    doubtful(found, redo, "steady", 0.0, cache=False, reason="second half +40 %")

    assert isinstance(measured(found)["redo.sync_write_us"], UnusedMeasurement)
    assert "redo.write_kib" not in measured(found)


def test_the_log_writer_is_judged_by_the_usual_redo_write() -> None:
    found = session(
        "io.direct",
        *(
            ("latency-mean", {"workload": "redo", "block_bytes": size, "direction": "write"}, time)
            for size, time in ((4096, 1e5), (65536, 4e5), (131072, 6e5))
        ),
    )

    assert figures(found) == {"redo.sync_write_us": 4e5, "redo.write_kib": 65536}


def test_a_step_that_is_under_way_gives_nothing_yet() -> None:
    found = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 29}, 90.0))
    found.steps["memory.latency"].outcome = None

    assert unused(found, "memory.local_ns").cause == "its step has not finished"
    before = session("memory.latency", ("dram-thp", {"working_set_bytes": 1 << 29}, 80.0))
    before.steps["memory.latency~2"] = found.steps["memory.latency"]
    assert figures(before) == {"memory.local_ns": 80.0}


def test_a_figure_that_did_not_converge_beyond_its_target_is_not_valid() -> None:
    found = session("memory.latency")
    run = found.steps["memory.latency"]
    run.step = Step("memory.latency", "memory.latency", "Memory latency", {"target": 0.05}, 1.0, 2.0)
    at: Coordinates = {"working_set_bytes": 1 << 29}
    put(run, Estimate("dram-thp", at, 100.0, low=88.0, high=112.0, converged=False))
    wide = unused(found, "memory.local_ns")
    put(run, Estimate("dram-thp", at, 100.0, low=98.0, high=102.0, converged=False))

    assert wide.sentence("ns").startswith(
        "100 ns was measured but is not used, because it did not converge (interval ±12.0 %, target ±5.0 %). "
        "Run Memory latency again"
    )
    assert figures(found) == {"memory.local_ns": 100.0}


def test_a_run_whose_verdict_is_fail_bounds_what_is_measured() -> None:
    found = session("io.direct", *ramp("dss-rand", 1370e6, 1374e6))
    run = found.steps["io.direct"]
    reasons = "steady: throughput drifted -25 % from the first half to the second"
    put(run, Estimate("validity", {"part": "steady"}, 0.0, caveats=(reasons,)))
    put(run, Estimate("validity", {"part": "extending"}, 0.0, caveats=("extending: serialized",)))
    put(run, Estimate("validity", {"part": "all"}, 0.0, extra={"verdict": "fail", "reasons": reasons}))

    assert ends(found, "path.bandwidth_mb_s") == (0, 1374e6, 1374e6)  # without samples nothing bounds it from below
    assert isinstance(headlines(found)["capacity.mb_s"], UnusedMeasurement)
