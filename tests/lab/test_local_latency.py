"""In a virtual machine with a node without memory: which CPU is chosen, and what is called local.

Run by hand: ``SIZEUP_LAB=... pytest -m lab tests/lab/test_local_latency.py``; a guest takes 1 to 3 min.
"""

import pytest

from lab.guest import fill_guest, run_guest, skip_without_lab
from sizeup.session.reader import read_session
from sizeup.session.value import Point, Session

pytestmark = pytest.mark.lab
MEMORYLESS_NODE, ITS_CPU = 3, 6
"""Of the profile numa4."""
STEP = "memory.latency.dram-thp"
INSIDE = """
export PYTHONPATH=/guest/in/site
small="--set memory.latency.largest=16M --set memory.latency.points=2 --set memory.latency.replicates=2
    --set memory.latency.replicate=0.01 --set memory.latency.budget=2"
export SIZEUP_RUN_BUSY=ignore
python3 -m sizeup --batch -p memory.latency $small -o $OUT/chosen.jsonl
python3 -m sizeup --batch -p memory.latency $small --set memory.latency.cpu=6 -o $OUT/memoryless.jsonl
python3 -m sizeup --batch -p memory.shm --set memory.shm.bytes=16M -o $OUT/shm.jsonl
true
"""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Session]:
    skip_without_lab()
    folder, out = tmp_path_factory.mktemp("guest") / "in", tmp_path_factory.mktemp("out")
    fill_guest(folder)
    run_guest("numa4", folder, out, INSIDE, minutes=15)
    return {name: read_session(str(out / f"{name}.jsonl")) for name in ("chosen", "memoryless", "shm")}


def largest(session: Session) -> Point:
    run = session.steps[STEP]
    curve = [point for point in run.points.values() if "working_set_bytes" in point.at]
    return max(curve, key=lambda point: float(point.at["working_set_bytes"]))


def test_the_cpu_that_is_chosen_has_its_pages_on_its_own_node(sessions: dict[str, Session]) -> None:
    run = sessions["chosen"].steps[STEP]
    estimate = largest(sessions["chosen"]).estimate

    print(dict(run.step.settings), dict(estimate.extra), sep="\n")
    assert run.step.settings["cpu"] != ITS_CPU
    assert estimate.extra["placement"] == "local"
    assert estimate.extra["cpu_node"] != MEMORYLESS_NODE


def test_a_figure_of_the_cpu_without_memory_is_not_called_local(sessions: dict[str, Session]) -> None:
    estimate = largest(sessions["memoryless"]).estimate

    print(dict(estimate.extra), estimate.caveats, sep="\n")
    assert (estimate.extra["placement"], estimate.extra["cpu_node"]) == ("remote", MEMORYLESS_NODE)
    assert any(caveat.startswith("not local: 100 % of the pages are on node") for caveat in estimate.caveats)


def test_each_file_of_shm_is_on_the_node_that_it_names(sessions: dict[str, Session]) -> None:
    found = {
        int(point.at["memory_node"]): point.estimate.extra
        for run in sessions["shm"].steps.values()
        for point in run.points.values()
        if point.series == "write" and point.estimate is not None
    }
    print(found)
    assert found
    assert all(extra["share_from_home_node"] == 1.0 for extra in found.values())
    assert MEMORYLESS_NODE not in found
