"""The figures between nodes on a map: what was measured before the firmware's distances, tables or their ranges."""

import re

import pytest

from consoles import machine
from sizeup.model.machine import Machine
from sizeup.model.plan import Better, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.map.map import Map, MapMaker
from sizeup.views.map.node_matrix import node_matrices
from trees import large_machine


def mapped(found: Machine, width: int, height: int, session: Session | None = None) -> Map:
    return MapMaker(found, None, node_matrices(found, session)).draw(found.nodes, {}, width, height)


def text(drawn: Map) -> str:
    return "\n".join("".join(cell.text for cell in row).rstrip() for row in drawn.rows)


@pytest.mark.ci
def test_too_many_sockets_for_frames_are_bands() -> None:
    drawn = text(mapped(machine(64, 4, 1), 118, 35))

    assert "─ Socket" not in drawn
    assert "S63 N63" in drawn
    assert "Distance (firmware, not measured):" in drawn
    assert "10 local, 21 other socket" in drawn


def test_distances_are_told_by_how_near_the_nodes_are_where_the_table_has_no_room() -> None:
    assert "10 local, 12 same socket, 21 to 31 other" in text(mapped(large_machine(), 118, 35))


def numa_session(found: Machine) -> Session:
    """A session that measured latency and bandwidth between nodes; the figures are made up."""
    series = (
        Series("latency", "Latency", "ns", Better.LOWER, quantities=(
            SeriesQuantity("memory.local_latency", same=("cpu_node", "memory_node")),
            SeriesQuantity("memory.remote_latency"),
        )),
        Series("read", "Read", "bytes/s", Better.HIGHER, quantities=(SeriesQuantity("memory.read_bandwidth"),)),
    )  # fmt: skip
    step = Step("memory.numa", "memory.numa", "NUMA", {}, 1.0, 2.0)
    pairs = [(one, other) for one in range(2) for other in range(2)]
    figures = [
        Estimate(name, {"cpu_node": one, "memory_node": other}, near if one == other else far)
        for name, near, far in (("latency", 92.0, 178.0), ("read", 205e9, 98e9))
        for one, other in pairs
    ]
    run = StepRun(step, "sizeup 0", {one.name: one for one in series}, "matrix", 0, outcome=Outcome(Status.OK))
    for figure in figures:
        key = point_key(figure.series, figure.at)
        run.points[key] = Point(figure.series, figure.at, estimate=figure)
    header = SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z")
    return Session(header, machine=found, steps={step.id: run})


def test_what_was_measured_between_nodes_stands_before_the_distances() -> None:
    found = machine(2, 4, 2)
    drawn = mapped(found, 118, 35, numa_session(found))
    shown = text(drawn)

    headings = ["Latency, ns (measured)", "Read bandwidth, GB/s (measured)", "Distance (firmware, not measured)"]
    places = [shown.index(heading) for heading in headings]
    assert places == sorted(places)
    assert re.search(r"N0 +92 +178 ", shown)
    assert re.search(r"N1 +98 +205 ", shown)


def test_the_farther_a_node_the_brighter_is_its_figure() -> None:
    found = machine(2, 4, 2)
    cells = [cell for row in mapped(found, 118, 35, numa_session(found)).rows for cell in row]
    looks = {cell.text.strip(): cell.role for cell in cells if "@ramp-" in cell.role}

    assert looks["92"] < looks["178"]
    assert looks["10"] < looks["21"]
    assert looks["21"].partition("@")[2] < looks["178"].partition("@")[2], "what was measured is brighter"


def test_a_table_of_few_nodes_is_as_wide_as_it_is_easy_to_read() -> None:
    found = machine(2, 4, 2)
    cells = [cell for row in mapped(found, 118, 35).rows for cell in row if "@ramp-" in cell.role]

    assert {len(cell.text) for cell in cells} == {8}
    assert all(cell.text.strip() == cell.text[3:5] for cell in cells), "in the middle"


def test_a_machine_with_one_node_has_no_figures_between_nodes() -> None:
    assert node_matrices(machine(1), None) == ()
