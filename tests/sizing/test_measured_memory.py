"""Measured latencies of memory take the place of assumed ones, where they are of memory and valid."""

import pytest

from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate, Status
from sizeup.quantity import Origin, Quantity
from sizeup.session.value import Session
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.measured import measured
from sizing.measured_sessions import FIVE, ONE, figures, put, ramp, session, unused


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
    assert unused(found).cause == f"{cause} (EIO)"


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

    assert any("90 ns was measured but is not used, because its step failed" in one.sentence() for one in questions)


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

    assert away == "its memory lay on another node (0.0 % of the pages were where they were asked for)"
    assert unused(found, "memory.local_ns").cause == "where its memory lay is unknown"


def chased(nanoseconds: float, **extra: str) -> Session:
    found, at = session("memory.latency"), {"working_set_bytes": 1 << 28}
    put(found.steps["memory.latency"], Estimate("dram-thp", at, nanoseconds, extra=extra))
    return found


@pytest.mark.parametrize(
    ("placement", "cause"), [("remote", "its pages were remote"), ("unknown", "where its pages were is unknown")]
)
def test_a_latency_of_pages_that_are_not_known_to_be_local_is_left_out(placement: str, cause: str) -> None:
    found = unused(chased(303.0, placement=placement), "memory.local_ns")

    assert (found.quantity.value, found.cause) == (303.0, cause)
    assert found.remedy == "run memory.latency on a CPU whose node has free memory"


@pytest.mark.parametrize("said", [{"placement": "local"}, {}])
def test_local_pages_and_sessions_that_do_not_say_are_taken(said: dict[str, str]) -> None:
    assert figures(chased(101.0, **said)) == {"memory.local_ns": 101.0}


def test_a_cell_whose_pages_were_elsewhere_is_neither_local_nor_remote() -> None:
    found = session("memory.numa")
    for node, nanoseconds, share in ((0, 300.0, 0.2), (1, 180.0, 1.0)):
        at = {"cpu_node": 0, "memory_node": node}
        put(found.steps["memory.numa"], Estimate("latency", at, nanoseconds, extra={"share_where_asked": share}))

    assert unused(found, "memory.local_ns").quantity.value == 300.0
    assert figures(found) == {"memory.remote_ns": 180.0}
