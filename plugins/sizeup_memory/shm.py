"""The dd experiment: writing /dev/shm from near and from far, with every node's free memory before and after."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from sizeup.errors import RefusedError
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Estimate, Progress, Samples
from sizeup.probing.api import Context, Emission
from sizeup.units import format_bytes
from sizeup_memory.binding import Memory, Pages, Policy, room_bytes
from sizeup_memory.places import cores_of, memory_nodes

NAME = "memory.shm"
DIRECTORY = "/dev/shm"  # noqa: S108 - the mount that is measured, not a place for temporary files
_BLOCK_BYTES = 1 << 20
_LEAST_BYTES = 16 << 20


class MemoryShm:
    """Write bandwidth to tmpfs pages of one node from its own CPU and from another's."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """One step for each node that has CPUs to make its pages from."""
        nodes = {node.os_id: cores_of(machine, node) for node in memory_nodes(machine)}
        writers = {node: cpus[0] for node, cpus in nodes.items() if cpus}
        if not writers:
            yield Refusal(NAME, NAME, "no NUMA node with both memory and CPUs is known")
        for node in writers:
            yield Step(
                id=f"{NAME}.node{node}",
                probe=NAME,
                title=f"{DIRECTORY} on node {node}",
                settings={
                    "node": node,
                    "writers": json.dumps({str(home): cpu for home, cpu in writers.items()}),
                    "bytes": int(settings["bytes"]),
                    "replicates": int(settings["replicates"]),
                },
                estimated_seconds=2.0 * len(writers),
                time_limit_seconds=120.0,
                hazards=(Hazard.MEMORY, Hazard.CPU_LOAD),
                touches=f"{format_bytes(int(settings['bytes']))} of {DIRECTORY}",
                cpus=tuple(writers.values()),
            )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Make a file from the node's own CPU, then write it again from each node in turn."""
        home = int(step.settings["node"])
        writers = {int(node): int(cpu) for node, cpu in json.loads(str(step.settings["writers"])).items()}
        size = _affordable(int(step.settings["bytes"]), home)
        before = free_bytes()
        file = os.open(DIRECTORY, os.O_TMPFILE | os.O_RDWR, 0o600)  # unnamed: nothing stays behind, whatever happens
        try:
            os.sched_setaffinity(0, {writers[home]})
            _write(file, size, context)
            after = free_bytes()
            rates: dict[int, list[float]] = {node: [] for node in writers}
            replicates = int(step.settings["replicates"])
            for number in range(replicates):
                for node, cpu in writers.items():
                    os.sched_setaffinity(0, {cpu})
                    seconds = _write(file, size, context)
                    if context.cancelled:
                        return
                    rates[node].append(size / seconds)
                    yield Samples("write", _at(node, home), (context.now_ns(),), (size / seconds,))
                yield Progress((number + 1) / replicates)
        finally:
            os.close(file)
        yield from _estimates(rates, home, size, before, after)


def free_bytes() -> dict[int, int]:
    """Free memory of each node, from its own meminfo; empty where the kernel has no nodes."""
    free: dict[int, int] = {}
    for path in Path("/sys/devices/system/node").glob("node[0-9]*/meminfo"):
        for line in path.read_text(encoding="ascii").splitlines():
            words = line.split()  # "Node 0 MemFree:  123 kB"
            if len(words) > 3 and words[2] == "MemFree:":
                free[int(words[1])] = int(words[3]) * 1024
    return free


def taken_share(before: dict[int, int], after: dict[int, int], node: int) -> float:
    """Share of the memory that went which went from ``node``, 0 to 1; others may take and give meanwhile."""
    taken = {one: max(0, free - after.get(one, free)) for one, free in before.items()}
    return taken.get(node, 0) / sum(taken.values()) if sum(taken.values()) else 0.0


def _affordable(wanted: int, node: int) -> int:
    """What half of the mount's and of the node's free memory allows; write(2) then fails and never faults."""
    try:
        mount = os.statvfs(DIRECTORY)
    except OSError as error:
        raise RefusedError(f"{DIRECTORY}: {error.strerror}") from error
    room = min(
        mount.f_bavail * mount.f_frsize,
        room_bytes(Memory(Pages.BASE, Policy.BIND, (node,))),
        room_bytes(Memory(Pages.BASE)),
    )
    size = min(wanted, room // 2) // _BLOCK_BYTES * _BLOCK_BYTES
    if size < _LEAST_BYTES:
        raise RefusedError(
            f"{DIRECTORY} and node {node} have {format_bytes(max(0, room))} to spare, half of that is the most taken, "
            f"and less than {format_bytes(_LEAST_BYTES)} tells nothing"
        )
    return size


def _write(file: int, size: int, context: Context) -> float:
    """Seconds to write the file from its start in blocks of 1 MiB, as dd with conv=notrunc does."""
    block = bytes(_BLOCK_BYTES)
    start = time.monotonic()
    for offset in range(0, size, _BLOCK_BYTES):
        if context.cancelled:
            break
        os.pwrite(file, block, offset)
    return time.monotonic() - start


def _at(writer: int, home: int) -> dict[str, str | int | float]:
    return {"cpu_node": writer, "memory_node": home}


def _estimates(
    rates: dict[int, list[float]], home: int, size: int, before: dict[int, int], after: dict[int, int]
) -> Iterator[Estimate]:
    taken = taken_share(before, after, home)
    for node, measured in rates.items():
        yield Estimate(
            "write",
            _at(node, home),
            statistics.median(measured),
            low=min(measured),
            high=max(measured),
            replicates=len(measured),
            doubts=() if taken >= 0.9 else (f"only {taken:.0%} of the memory that went came from node {home}",),
            extra={
                "file_bytes": size,
                "share_from_home_node": taken,
                **{f"node{one}_free_before_bytes": free for one, free in before.items()},
                **{f"node{one}_free_after_bytes": free for one, free in after.items()},
            },
        )
