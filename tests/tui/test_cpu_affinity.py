"""Where the console runs while a step measures, on machines that are made up."""

from collections.abc import Collection

from msgspec.structs import replace

from consoles import machine
from sizeup.model.machine import Machine
from sizeup.tui.cpu_affinity import ConsoleCpus, CpuAffinity, cpus_to_avoid

# Two sockets of four cores: socket 0 is CPUs 0-3 with siblings 8-11, socket 1 is 4-7 with 12-15.
_TWO_SOCKETS = machine()
_ONE_SOCKET = machine(packages=1)
_ONE_CORE = machine(packages=1, cores_each=1)


def _place(measured: Collection[int], on: Machine | None, allowed: Collection[int] | None = None) -> ConsoleCpus:
    if allowed is None:
        allowed = [pu.cpu for pu in on.pus] if on is not None else range(4)
    return cpus_to_avoid(measured, allowed, on)


def test_where_a_node_is_free_the_console_leaves_the_measured_one() -> None:
    assert _place([1], _TWO_SOCKETS) == ConsoleCpus(frozenset({4, 5, 6, 7, 12, 13, 14, 15}))


def test_on_one_node_it_leaves_the_core_with_its_siblings() -> None:
    assert _place([1], _ONE_SOCKET) == ConsoleCpus(frozenset({0, 2, 3, 4, 6, 7}))


def test_with_one_core_it_takes_the_sibling_and_says_so() -> None:
    assert _place([0], _ONE_CORE) == ConsoleCpus(frozenset({1}), "the console shares a core with it")


def test_with_no_cpu_to_spare_it_stays_and_says_so() -> None:
    assert _place([0, 1], _ONE_CORE) == ConsoleCpus(frozenset({0, 1}), "the console shares CPU 0-1 with it")


def test_what_a_cpuset_forbids_is_no_place_to_go() -> None:
    assert _place([1], _TWO_SOCKETS, allowed=[0, 1, 2]) == ConsoleCpus(frozenset({0, 2}))


def test_without_a_known_machine_it_leaves_the_cpus_alone() -> None:
    assert _place([1], None) == ConsoleCpus(frozenset({0, 2, 3}))


def test_a_step_that_does_not_mind_moves_nothing() -> None:
    assert _place([], _TWO_SOCKETS, allowed=[3]) == ConsoleCpus(frozenset({3}))


def test_a_machine_without_numa_is_avoided_by_cores() -> None:
    assert _place([1], replace(_ONE_SOCKET, nodes=())) == ConsoleCpus(frozenset({0, 2, 3, 4, 6, 7}))


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
