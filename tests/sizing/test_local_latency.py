"""Sizing takes a latency for the local one only where its pages were on the node of the CPU."""

import pytest

from declared import series_of
from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.quantity import Quantity
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.measured import measured

HEADER = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")


def session(probe: str, *estimates: Estimate) -> Session:
    run = StepRun(
        Step(probe, probe, "", {}, 1.0, 1.0), "sizeup", series_of(probe), "curve", 0, outcome=Outcome(Status.OK)
    )
    for one in estimates:
        run.points[point_key(one.series, one.at)] = Point(one.series, one.at, estimate=one)
    return Session(HEADER, steps={probe: run})


def chased(nanoseconds: float, **extra: str) -> Session:
    at: Coordinates = {"working_set_bytes": 1 << 28}
    caveats = ("not local: 100% of the pages are on node 0, CPU 7 is on node 3",) if extra else ()
    return session("memory.latency", Estimate("dram-thp", at, nanoseconds, caveats=caveats, extra=extra))


@pytest.mark.parametrize("placement", ["remote", "unknown"])
def test_what_is_not_known_to_be_local_is_left_out_with_the_reason(placement: str) -> None:
    found = measured(chased(303.0, placement=placement))["memory.local_ns"]

    assert isinstance(found, UnusedMeasurement)
    assert found.quantity.value == 303.0
    assert found.details == "not local: 100% of the pages are on node 0, CPU 7 is on node 3"
    assert found.remedy == "run memory.latency on a CPU whose node has free memory"


def test_local_pages_and_sessions_that_do_not_say_are_taken() -> None:
    for one in (chased(101.0, placement="local"), chased(101.0)):
        found = measured(one)["memory.local_ns"]
        assert isinstance(found, Quantity)
        assert found.value == 101.0


def test_a_cell_whose_pages_were_elsewhere_is_neither_local_nor_remote() -> None:
    near: Coordinates = {"cpu_node": 0, "memory_node": 0}
    far: Coordinates = {"cpu_node": 0, "memory_node": 1}
    found = measured(
        session(
            "memory.numa",
            Estimate("latency", near, 300.0, extra={"share_where_asked": 0.2}),
            Estimate("latency", far, 180.0, extra={"share_where_asked": 1.0}),
        )
    )

    assert isinstance(found["memory.local_ns"], UnusedMeasurement)
    remote = found["memory.remote_ns"]
    assert isinstance(remote, Quantity)
    assert remote.value == 180.0
