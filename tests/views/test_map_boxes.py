"""The map as boxes: sockets with nodes, caches, cores and devices, and what is known between nodes."""

import pytest
from msgspec.structs import replace

from consoles import machine
from large_machines import made
from sizeup.model.machine import Machine
from sizeup.model.plan import Better, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.machine.topology import topology
from sizeup.views.map.map import Map, MapMaker
from sizeup.views.map.node_matrix import node_matrices
from trees import large_machine


def mapped(found: Machine, width: int, height: int, loads: dict[int, float] | None = None) -> Map:
    return MapMaker(found, None, node_matrices(found, None)).draw(found.nodes, loads or {}, width, height)


def text(drawn: Map) -> str:
    rows = (drawn.title, drawn.heading, *drawn.rows)
    return "\n".join("".join(cell.text for cell in row).rstrip() for row in rows if row)


def test_a_socket_counts_the_cores_of_a_node_that_it_shares_as_the_tree_does() -> None:
    found = machine(2, 2, 2)
    shared = replace(found.nodes[0], pus=tuple(pu.cpu for pu in found.pus), packages=(0, 1))
    shown = text(mapped(replace(found, nodes=(shared,)), 100, 30))

    assert "Socket 1 · 2 cores · 4 threads" in shown
    assert "Socket 1: 2 cores" in [item.label for item in topology(found).children]


def test_a_socket_is_a_box_with_its_node_cache_cores_and_devices() -> None:
    shown = text(mapped(machine(1, 2, 2), 60, 14, {0: 0.0, 2: 100.0, 1: 40.0, 3: 60.0}))

    assert shown.splitlines() == [
        "1 socket, 2 cores, 4 threads, 2.66 GHz, 64 GiB, 1 node",
        "╭─ Socket 0 · 2 cores · 4 threads · L3 32 MiB · Test CPU ──╮",
        "│ Node 0 [███████······················] 16 of 64 GiB used │",
        "│ 2 MiB pages [······] 0 of 512 used                       │",
        "│ L3 32 MiB, 2 cores ───────────────────────────────────── │",
        "│ ┌ Core 0 ──────────────────┐┌ Core 1 ──────────────────┐ │",
        "│ │  0 ················   0 %││  1 ██████··········  40 %│ │",
        "│ │  2 ████████████████ 100 %││  3 ██████████······  60 %│ │",
        "│ │L2 1 MiB L1d 32 KiB       ││L2 1 MiB L1d 32 KiB       │ │",
        "│ └──────────────────────────┘└──────────────────────────┘ │",
        "│ ├ eth0 10 Gb/s                                           │",
        "│ └ sda 1 TB                                               │",
        "╰──────────────────────────────────────────────────────────╯",
    ]


@pytest.mark.parametrize(
    ("found", "width", "height"),
    [
        (machine(1, 8, 2), 82, 35),
        (machine(2, 4, 2), 78, 19),
        (machine(4, 16, 2), 82, 35),
        (made(2, 64, 8, 32 << 20, nodes=4, threads=2), 146, 55),
        (made(2, 16, 1, 32 << 20, memory_only=(1 << 40, 1 << 40)), 82, 35),
        (large_machine(), 82, 35),
    ],
    ids=["1 socket", "2 sockets", "4 sockets", "8 nodes of 8 caches", "memory without cores", "8 sockets"],
)
def test_boxes_have_straight_edges_and_fit(found: Machine, width: int, height: int) -> None:
    drawn = mapped(found, width, height, {pu.cpu: 50.0 for pu in found.pus})
    lines = text(drawn).splitlines()
    boxes = [line for line in lines if line[0] in "╭├│╰"]

    assert {len(line) for line in boxes} == {width}
    assert {line[-1] for line in boxes} == set("╮┤│╯") or {line[-1] for line in boxes} == set("╮│╯")
    assert len(drawn.rows) + 2 <= height
    for node in found.nodes:
        assert any(f"Node {node.os_id} " in line or f"N{node.os_id} " in line or f"Node {node.os_id}," in line
                   for line in lines)  # fmt: skip


def test_every_core_is_on_the_map_once() -> None:
    for found, height in ((machine(2, 4, 2), 19), (machine(4, 16, 2), 35), (large_machine(), 35)):
        drawn = mapped(found, 82, height)
        keys = [cell.key for row in drawn.rows for cell in row if cell.key.startswith("core:")]

        assert set(keys) == {f"core:{number}" for number in range(len(found.cores))}


def test_too_many_sockets_for_boxes_are_rows() -> None:
    drawn = text(mapped(machine(64, 4, 1), 82, 35))

    assert "╭" not in drawn
    assert "S63 N63" in drawn
    assert "Distance (firmware, not measured): 10 local, 21 other socket" in drawn


def test_distances_are_told_by_how_near_the_nodes_are_where_the_table_has_no_room() -> None:
    assert "10 local, 12 same socket, 21 to 31 other" in text(mapped(large_machine(), 82, 35))


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
    matrices = node_matrices(found, numa_session(found))
    drawn = text(MapMaker(found, None, matrices).draw(found.nodes, {}, 146, 55))

    headings = ["Latency, ns (measured)", "Read bandwidth, GB/s (measured)", "Distance (firmware, not measured)"]
    assert [matrix.heading for matrix in matrices] == headings
    line = next(line for line in drawn.splitlines() if "Latency, ns" in line)
    assert [line.index(heading) for heading in headings] == sorted(line.index(heading) for heading in headings)
    assert "N0  92 178" in drawn
    assert "N1  98 205" in drawn


def test_a_machine_with_one_node_has_no_figures_between_nodes() -> None:
    assert node_matrices(machine(1), None) == ()
