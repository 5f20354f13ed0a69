"""What a session measured takes the place of what sizing assumed."""

import pytest

from sizeup.analysis.measured import measured
from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate
from sizeup.quantity import Quantity
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.keys import LeftOut


def session(probe: str, *points: tuple[str, Coordinates, float]) -> Session:
    step = Step(probe, probe, probe, {}, 1.0, 2.0)
    run = StepRun(step, "sizeup", {}, "curve", 0)
    for series, at, value in points:
        run.points[point_key(series, at)] = Point(series, at, estimate=Estimate(series, at, value))
    header = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")
    return Session(header, steps={probe: run})


def figures(found: Session) -> dict[str, float]:
    return {key: value.value for key, value in measured(found).items() if isinstance(value, Quantity)}


def test_direct_io_gives_the_supply_and_its_response_time() -> None:
    found = session(
        "io.direct",
        ("rate", {"workload": "dss-scan", "outstanding": 8}, 900e6),
        ("rate", {"workload": "dss-scan", "outstanding": 16}, 950e6),
        ("iops", {"workload": "oltp-read", "outstanding": 32}, 40e3),
        ("latency-mean", {"workload": "oltp-read", "outstanding": 32, "direction": "read"}, 8e5),
    )

    assert figures(found) == {"supply.mb_s": 950e6, "supply.iops": 40e3, "supply.latency_ms": 8e5}


def test_what_the_best_rate_cost_in_processor_time_is_known_to_sizing() -> None:
    best: Coordinates = {"workload": "dss-rand", "outstanding": 8, "pages": "huge"}
    found = session("io.direct", ("rate", best, 3e9), ("rate", {**best, "pages": "4k"}, 1e9))
    run = found.steps["io.direct"]
    for at, host_ns in ((best, 21_000.0), ({**best, "pages": "4k"}, 40_000.0)):
        estimate = Estimate("cpu-per-mb", at, 9_000.0, extra={"host_io_ns_per_mb": host_ns})
        run.points[point_key("cpu-per-mb", at)] = Point("cpu-per-mb", at, estimate=estimate)

    assert figures(found) == {"supply.mb_s": 3e9, "supply.cpu_us_mb": 21_000.0}


def test_a_figure_that_came_from_a_cache_is_left_out() -> None:
    cached: Coordinates = {"workload": "oltp-read", "outstanding": 2}
    found = session("io.direct", ("rate", cached, 9e9), ("iops", cached, 1e6), ("honest", {**cached, "part": "x"}, 0.0))

    assert figures(found) == {}
    assert set(measured(found)) == {"supply.mb_s", "supply.iops"}


def test_what_may_have_come_from_a_cache_is_left_out_although_it_is_only_doubted() -> None:
    large: dict[str, str | int | float] = {"workload": "dss-rand", "outstanding": 8}
    found = session(
        "io.direct",
        ("rate", {**large, "pages": "huge"}, 9e9),
        ("rate", {**large, "pages": "4k"}, 2e9),
        ("honest", {**large, "pages": "huge", "part": "physical"}, 0.5),
        ("honest", {**large, "pages": "4k", "part": "physical"}, 0.5),
    )
    fast = {**large, "pages": "huge", "part": "physical"}
    point = found.steps["io.direct"].points[point_key("honest", fast)]
    point.estimate = Estimate("honest", fast, 0.5, extra={"verdict": "doubt", "sizing": "left out"})

    assert figures(found) == {"supply.mb_s": 2e9}


def doubtful(found: Session, at: Coordinates, part: str, value: float, *, cache: bool, reason: str) -> None:
    run = found.steps["io.direct"]
    place = {**at, "part": part}
    extra: dict[str, str | int | float] = {"sizing": "left out"} if cache else {}
    estimate = Estimate("honest", place, value, doubts=(f"{part}: {reason}",), extra=extra)
    run.points[point_key("honest", place)] = Point("honest", place, estimate=estimate)


def test_a_figure_that_is_not_taken_stands_in_its_place_with_the_reason() -> None:
    small: Coordinates = {"workload": "oltp-read", "outstanding": 2}
    found = session("io.direct", ("rate", small, 9e9), ("iops", small, 1.2e6))
    doubtful(found, small, "physical", 0.5, cache=True, reason="1.2 million requests a second: cache?")

    values = measured(found)

    assert set(values) == {"supply.mb_s", "supply.iops"}
    supply = values["supply.mb_s"]
    assert isinstance(supply, LeftOut)
    assert supply.quantity.value == 9e9
    assert supply.sentence("MB/s") == (
        "9,000 MB/s was measured and is not taken, as it may come from a cache: run io.direct with a size several "
        "times the largest cache known, or with preset working-set"
    )
    assert supply.evidence("MB/s") == (
        "not taken: 9,000 MB/s of io.direct rate at workload=oltp-read, outstanding=2; "
        "physical: 1.2 million requests a second: cache?"
    )


@pytest.mark.parametrize(
    ("part", "remedy"),
    [("direct", "does direct I/O"), ("physical", "a file of its own"), ("steady", "more seconds")],
)
def test_what_failed_says_what_to_do_about_it(part: str, remedy: str) -> None:
    large: Coordinates = {"workload": "dss-rand", "outstanding": 2}
    found = session("io.direct", ("rate", large, 9e9))
    doubtful(found, large, part, 0.0, cache=False, reason="it is so")

    supply = measured(found)["supply.mb_s"]

    assert isinstance(supply, LeftOut)
    assert supply.cause == f"its verdict is {part}: fail"
    assert remedy in supply.remedy
    assert supply.reasons == f"{part}: it is so"


def test_a_higher_figure_that_is_not_taken_is_a_doubt_of_the_one_that_is() -> None:
    large: dict[str, str | int | float] = {"workload": "dss-rand", "outstanding": 8}
    found = session(
        "io.direct",
        ("rate", {**large, "pages": "huge"}, 9e9),
        ("rate", {**large, "pages": "4k"}, 2e9),
        ("rate", {**large, "pages": "4k", "outstanding": 1}, 1e9),
    )
    doubtful(found, {**large, "pages": "huge"}, "steady", 0.0, cache=False, reason="second half +40%")
    doubtful(found, {**large, "pages": "4k", "outstanding": 1}, "steady", 0.0, cache=False, reason="lower anyway")

    supply = measured(found)["supply.mb_s"]

    assert isinstance(supply, Quantity)
    assert supply.value == 2e9
    (doubt,) = supply.doubts
    assert doubt.startswith("not taken: 9,000 MB/s of io.direct rate at workload=dss-rand, outstanding=8, pages=huge")
    assert doubt.endswith("steady: second half +40%")


def test_of_several_steps_the_best_counts_and_not_the_last() -> None:
    scan = session("io.direct", ("rate", {"workload": "dss-scan", "outstanding": 8}, 3e9))
    small: Coordinates = {"workload": "oltp-read", "outstanding": 2}
    later = session("io.direct", ("rate", small, 3e8), ("iops", small, 4e4)).steps["io.direct"]
    later.step = Step("io.direct.2", "io.direct", "io.direct", {}, 1.0, 2.0)
    scan.steps["io.direct.2"] = later

    supply = measured(scan)["supply.mb_s"]

    assert figures(scan) == {"supply.mb_s": 3e9, "supply.iops": 4e4}
    assert isinstance(supply, Quantity)
    assert supply.doubts == ()


def test_the_response_time_is_of_the_same_requests_as_the_rate() -> None:
    found = session(
        "io.direct",
        ("latency-mean", {"workload": "dss-rand", "outstanding": 4, "direction": "read"}, 2e6),
        ("iops", {"workload": "oltp-read", "outstanding": 4}, 4e4),
        ("latency-mean", {"workload": "oltp-read", "outstanding": 4, "direction": "read"}, 1e5),
    )

    assert figures(found)["supply.latency_ms"] == 1e5


def test_a_write_time_that_is_not_taken_is_told_too() -> None:
    redo: Coordinates = {"workload": "redo", "block_bytes": 65536}
    found = session("io.direct", ("latency-mean", {**redo, "direction": "write"}, 4e5))
    doubtful(found, redo, "steady", 0.0, cache=False, reason="second half +40%")

    assert isinstance(measured(found)["redo.sync_write_us"], LeftOut)


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
