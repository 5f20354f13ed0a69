"""Cores that nothing tells are said to be unknown everywhere, and are neither 0 nor the number of CPUs."""

import msgspec
import pytest

from sizeup.model.machine import Gap, Machine, Platform
from sizeup.model.numa import NumaNode
from sizeup.model.topology import Package, Pu
from sizeup.sizing.advise import described, size
from sizeup.views.machine.detection import detected, detection
from sizeup.views.machine.facts import machine_facts, machine_line
from sizeup.views.machine.machine import machine_sections
from sizeup.views.machine.topology import topology
from sizeup.views.machine.topology_item import find
from sizeup.views.map.map import MapMaker

REASON = "unknown: for CPU 0-3 there is no topology in /sys/devices/system/cpu, and no core id in /proc/cpuinfo"
PUS = tuple(Pu(cpu, online=True, allowed=cpu != 3) for cpu in range(4))
BARE = Platform(is_guest=False)
NOTHING = Machine(pus=PUS, platform=BARE, gaps=(Gap("sockets", REASON), Gap("cores", REASON)))
ONE_SOCKET = Machine(pus=PUS, packages=(Package((0, 1, 2, 3), 0),), platform=BARE, gaps=(Gap("cores", REASON),))
NODES = msgspec.structs.replace(ONE_SOCKET, nodes=(NumaNode(0, (0, 1)), NumaNode(1, (2, 3))))
ALL = pytest.mark.parametrize("machine", [NOTHING, ONE_SOCKET, NODES], ids=["nothing", "one-socket", "nodes"])


@ALL
def test_the_document_has_null_and_reads_back(machine: Machine) -> None:
    document = detection(machine)

    assert document["counts"].cores is None
    assert document["counts"].packages == (len(machine.packages) or None)
    assert detected(msgspec.json.encode(document)) == ("sizeup.detect/1", machine)


@ALL
def test_the_lines_say_unknown_and_why(machine: Machine) -> None:
    facts = dict(machine_sections(machine)[0].facts)

    assert "cores unknown, 4 threads" in machine_line(machine)
    assert "cores unknown, 4 threads" in facts["counts"]
    assert facts["cores"] == REASON
    assert dict(machine_facts(machine))["Cores"] == REASON


@ALL
def test_the_tree_and_the_map_show_cpus_in_place_of_cores(machine: Machine) -> None:
    root = topology(machine)
    drawn = MapMaker(machine).draw(machine.nodes, {}, 76, 24)
    text = "".join(cell.text for row in drawn.rows for cell in row)

    assert [find(root, f"pu:{cpu}")[-1].label for cpu in range(4)] == ["CPU 0", "CPU 1", "CPU 2", "CPU 3 ! not allowed"]
    assert {cell.key for row in drawn.rows for cell in row} >= {f"pu:{cpu}" for cpu in range(4)}
    assert "Cores" not in text
    assert {cell.role for row in drawn.rows for cell in row if cell.key.startswith("pu:")} == {"cpu", "barred"}


@ALL
def test_sizing_asks_for_the_cores_and_licenses_nothing(machine: Machine) -> None:
    sizing = size(described(machine, {}))

    assert "machine.cores" in {question.key for question in sizing.questions}
    assert sizing.find("license.units") is None
    assert sizing.inputs.get("machine.cores") is None
