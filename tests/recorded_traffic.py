"""Stands in for the native calls of the memory probes, and notes the memory of every point that they measure."""

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from fakes import HandContext
from large_machines import KIB
from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Step
from sizeup.probing import native
from sizeup.probing.api import Emission
from sizeup.probing.registry import load_class, load_registry
from sizeup_memory import bandwidth, binding, hammer, loaded, numa, shm
from sizeup_memory.binding import Allocation, ChasePoint, HammerResult, Member, Placement, TrafficPoint

REGISTRY = load_registry()


class AsRequested(Placement, frozen=True):
    """All pages on the requested nodes, whichever these are."""

    def share_on(self, nodes: Sequence[int]) -> float:
        return 1.0


class MeasuredBuffers(SimpleNamespace):
    """A point that was measured: threads that share caches, memory by CPU, and what is allocated in all."""

    groups: list[dict[int, int]]
    allocated: dict[Allocation, int]


class MeasuredJob:
    """Stands in for a native job: every point is measured at once."""

    def follow(self, *_: object) -> Iterator[Emission]:
        return iter(())

    def gaps(self, _: object) -> Iterator[Emission]:
        return iter(())

    def value_of(self, index: int, point: Any) -> float:
        """What is measured at a point."""
        return 50.0 + index

    def measured(self, points: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
        names = ("median", "low", "high", "minimum", "p10", "p90")
        for index, point in enumerate(points):
            if point.series != "unused":
                figures = dict.fromkeys(names, self.value_of(index, point))
                yield index, point, SimpleNamespace(**figures, replicates=5, disturbed_share=0.0, converged=True)


class RecordedTraffic(MeasuredJob):
    """Stands in for the native calls: every point is measured at once, and its memory is noted."""

    def __init__(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        self._free = {node.os_id: node.free_bytes or 0 for node in machine.nodes}
        self._available = machine.memory_available_bytes or 0
        self.calls: list[list[MeasuredBuffers]] = []
        for module in (bandwidth, loaded, binding):
            monkeypatch.setattr(module, "available_bytes", self._available_bytes)
        monkeypatch.setattr(native, "leave_cpus", lambda _: True)
        monkeypatch.setattr(binding, "new_job", lambda: self)
        for module in (bandwidth, loaded, binding):
            monkeypatch.setattr(module, "Traffic", self._traffic)
        monkeypatch.setattr(binding, "Latency", self._latency)
        monkeypatch.setattr(numa, "_allocation_error", lambda *_: None)
        monkeypatch.setattr(hammer, "Hammer", self._hammer)
        monkeypatch.setattr(binding, "ShmFill", lambda *_: self._result())
        monkeypatch.setattr(binding, "ShmWrite", self._shm)
        monkeypatch.setattr(shm, "read_free_by_node", dict)
        monkeypatch.setattr(shm.os, "statvfs", lambda _: SimpleNamespace(f_bavail=self._available // 2, f_frsize=1))
        monkeypatch.setattr(shm.os, "open", lambda *_: -1)
        monkeypatch.setattr(shm.os, "close", lambda _: None)

    def _available_bytes(self, memory: Allocation) -> int:
        return min(self._available, sum(self._free[node] for node in memory.nodes) if memory.nodes else self._available)

    def _call(self, points: list[MeasuredBuffers], allocated: Mapping[Allocation, int]) -> Any:
        for memory, size in allocated.items():
            assert size <= self._available_bytes(memory) // 2, "more than half of the available memory"
        assert sum(allocated.values()) <= self._available // 2
        for node, free in self._free.items():
            there = [size // len(memory.nodes) for memory, size in allocated.items() if node in memory.nodes]
            assert sum(there) <= free // 2, f"more than half of what node {node} has"
        self.calls.append(points)
        return self._result()

    def _result(self) -> Any:
        return SimpleNamespace(
            call=lambda _: lambda: 0,
            placement=lambda *_: AsRequested(1, {0: 1}, 0, 1.0, verified=True, bound=True),
            results=lambda: [HammerResult(ops=9, start_ns=0, end_ns=9, wall_us=9000, cpu_ns=9, cpu=0)],
        )

    def _traffic(self, members: Sequence[Member], points: Sequence[TrafficPoint], _: object) -> Any:
        chasers = {member.cpu: member.bytes for member in members if member.chases}
        streams = [member for member in members if not member.chases]
        allocated: dict[Allocation, int] = {}
        for member in members:
            allocated[member.memory] = allocated.get(member.memory, 0) + member.bytes
        measured = []
        for point in points:
            groups = [chasers, {member.cpu: member.bytes for member in streams[: point.streams]}]
            measured += [MeasuredBuffers(groups=[group for group in groups if group])] * 2
        return self._call(measured, allocated)

    def _latency(self, points: Sequence[ChasePoint], _: object) -> Any:
        largest: dict[Allocation, int] = {}
        for point in points:
            largest[point.memory] = max(point.span_bytes, largest.get(point.memory, 0))
        return self._call([MeasuredBuffers(groups=[{point.cpu: point.span_bytes}]) for point in points], largest)

    def _hammer(self, pages: int, _: int, cpus: Sequence[int], memory: Allocation) -> Any:
        sizes = dict.fromkeys(cpus, pages * 4 * KIB)
        if sum(sizes.values()) > self._available // 2:
            raise RefusedError("not enough memory")
        return self._call([MeasuredBuffers(groups=[sizes])], {memory: sum(sizes.values())})

    def _shm(self, _: int, size: int, cpus: Sequence[int], __: object) -> Any:
        return self._call([MeasuredBuffers(groups=[{cpu: size}]) for cpu in cpus], {Allocation(): size})


def multiple_of_cache(machine: Machine, groups: Sequence[Mapping[int, int]]) -> float:
    """The oracle: the lowest memory of a thread over its share of its L2 or L3, by the machine's own caches."""
    found = []
    for group in groups:
        for cache in machine.caches:
            active = group.keys() & cache.shared_by
            if cache.level >= 2 and cache.size_bytes and active:
                found += [group[cpu] * len(active) / cache.size_bytes for cpu in active]
    return min(found, default=float("inf"))


def run(
    machine: Machine, step: Step, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Emission], list[MeasuredBuffers], list[Gap]]:
    recorder = RecordedTraffic(machine, monkeypatch)
    emissions = list(load_class(REGISTRY.get(step.probe).target).run(step, HandContext()))
    calls = recorder.calls
    points = [point for call in calls for point in call]
    return emissions, points, [one for one in emissions if isinstance(one, Gap)]
