"""Staying out of the way: the console leaves the CPUs that a step measures on to the step."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable
from threading import get_native_id

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.procfs.lists import format_list
from sizeup.procfs.process import list_threads


class ConsoleCpus(Struct, frozen=True):
    """Where the console runs while a step measures."""

    cpus: frozenset[int]
    caveat: str = ""
    """The CPUs that it shares with the measurement, as text; empty where it shares none."""


def cpus_to_avoid(measured: Collection[int], allowed: Collection[int], machine: Machine | None) -> ConsoleCpus:
    """The allowed CPUs away from the measured nodes; if none is left, from the cores; if none, from the CPUs alone.

    ``measured`` is empty for a step that does not mind.
    """
    everywhere, wanted = frozenset(allowed), frozenset(measured)
    if not wanted:
        return ConsoleCpus(everywhere)
    cores = _touched((core.pus for core in machine.cores) if machine is not None else (), wanted)
    nodes = _touched((node.pus for node in machine.nodes) if machine is not None else (), wanted)
    for kept in (cores | nodes, cores):
        if everywhere - kept:
            return ConsoleCpus(everywhere - kept)
    if everywhere - wanted:
        return ConsoleCpus(everywhere - wanted, "the console shares a core with it")
    return ConsoleCpus(everywhere, f"the console shares CPU {format_list(tuple(sorted(wanted)))} with it")


def _touched(groups: Iterable[Collection[int]], wanted: frozenset[int]) -> frozenset[int]:
    """Every CPU of the groups that hold a wanted one, and the wanted ones."""
    return wanted.union(*(group for group in groups if not wanted.isdisjoint(group)))


def move_to(cpus: Collection[int]) -> None:
    """Put all threads of this process on these CPUs; Linux keeps the affinity by thread (sched_setaffinity(2))."""
    for thread in list_threads() or (get_native_id(),):  # no /proc here: this thread at least
        with contextlib.suppress(OSError):  # it has just ended, or a cpuset shrank meanwhile
            os.sched_setaffinity(thread, cpus)


def current_affinity() -> frozenset[int]:
    """The CPUs that the calling thread may run on."""
    return frozenset(os.sched_getaffinity(0))


class CpuAffinity:
    """Moves the console out of a step's way, and back."""

    def __init__(
        self, move: Callable[[Collection[int]], None] = move_to, where: Callable[[], frozenset[int]] = current_affinity
    ) -> None:
        self._move = move
        self._where = where
        self._home: frozenset[int] | None = None
        self._measured: tuple[int, ...] = ()
        self.caveat = ""
        """What the console could not leave alone; empty where it keeps clear."""

    def avoid_cpus(self, measured: tuple[int, ...], machine: Machine | None) -> None:
        """Leave these CPUs; an empty tuple brings the console back."""
        if measured == self._measured:
            return
        if self._home is None:
            self._home = self._where()
        chosen = cpus_to_avoid(measured, self._home, machine)
        self._move(chosen.cpus)
        self._measured, self.caveat = measured, chosen.caveat
        if not measured:
            self._home = None
