"""Where the console runs while a step measures, on machines that are made up."""

from collections.abc import Collection

import pytest
from msgspec.structs import replace

from consoles import machine
from sizeup.model.machine import Machine
from sizeup.tui.runs import CpuAffinity, cpus_to_avoid

# Two sockets of four cores: socket 0 is CPUs 0-3 with siblings 8-11, socket 1 is 4-7 with 12-15.
_TWO_SOCKETS = machine()
_ONE_SOCKET = machine(packages=1)
_ONE_CORE = machine(packages=1, cores_each=1)


_EVERY_OTHER_CORE = frozenset({0, 2, 3, 4, 6, 7})


@pytest.mark.parametrize(
    ("measured", "on", "allowed", "place"),
    [
        ([1], _TWO_SOCKETS, range(16), (frozenset({4, 5, 6, 7, 12, 13, 14, 15}), "")),
        ([1], _ONE_SOCKET, range(8), (_EVERY_OTHER_CORE, "")),
        ([0], _ONE_CORE, range(2), (frozenset({1}), "the console shares a core with it")),
        ([0, 1], _ONE_CORE, range(2), (frozenset({0, 1}), "the console shares CPU 0-1 with it")),
        ([1], _TWO_SOCKETS, [0, 1, 2], (frozenset({0, 2}), "")),
        ([1], None, range(4), (frozenset({0, 2, 3}), "")),
        ([], _TWO_SOCKETS, [3], (frozenset({3}), "")),
        ([1], replace(_ONE_SOCKET, nodes=()), range(8), (_EVERY_OTHER_CORE, "")),
    ],
    ids=[
        "leaves a node where another is free", "leaves the core with its siblings on one node",
        "takes the sibling with one core", "stays with no CPU to spare", "goes nowhere that a cpuset forbids",
        "leaves the CPUs alone on an unknown machine", "moves for no step that does not mind",
        "leaves the core without NUMA",
    ],
)  # fmt: skip
def test_the_console(
    measured: Collection[int], on: Machine | None, allowed: Collection[int], place: tuple[frozenset[int], str]
) -> None:
    assert cpus_to_avoid(measured, allowed, on) == place


def test_the_console_comes_back_to_where_it_was() -> None:
    moves: list[frozenset[int]] = []
    home = frozenset(range(4))
    aside = CpuAffinity(lambda cpus: moves.append(frozenset(cpus)), lambda: home)
    aside.avoid_cpus((), None)
    aside.avoid_cpus((1,), None)
    aside.avoid_cpus((1,), None)
    aside.avoid_cpus((0, 1, 2, 3), None)
    caveat = aside.caveat
    aside.avoid_cpus((), None)

    assert moves == [frozenset({0, 2, 3}), home, home]
    assert caveat == "the console shares CPU 0-3 with it"
    assert aside.caveat == ""
