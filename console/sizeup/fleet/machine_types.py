"""Sorts hosts into types: the same product, CPU and amount of memory.

The kernel keeps some memory for itself, and how much varies; so sizes that lie close together are one size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from sizeup.fleet.host_session import HostSession
from sizeup.text import plural
from sizeup.units import format_bytes

SAME_MEMORY = 1.04
"""Sizes that follow one another within this ratio are one size; the smallest step between two modules is larger."""
UNKNOWN_TYPE = "machine unknown"


class MachineType(Struct, frozen=True):
    """What hosts have in common whose figures can be compared."""

    name: str
    """``PowerEdge R650, Xeon Gold 6430, 2 sockets, 64 cores, 512 GiB``."""
    family: tuple[str, str]
    """Product and CPU: hosts of one family may differ in what was ordered, or in what has failed."""


def machine_types(sessions: Sequence[HostSession]) -> list[MachineType]:
    """Return the type of each of these hosts, in their order."""
    sizes = _memory_sizes(sessions)
    return [_type(session, size) for session, size in zip(sessions, sizes, strict=True)]


def _type(session: HostSession, memory_bytes: int | None) -> MachineType:
    if not session.packed_machine:
        return MachineType(UNKNOWN_TYPE, ("", ""))
    parts = (
        session.model,
        session.cpu_model or "CPU unknown",
        session.sockets and plural(session.sockets, "socket"),
        session.cores and plural(session.cores, "core"),
        "memory unknown" if memory_bytes is None else format_bytes(memory_bytes),
    )
    return MachineType(", ".join(str(part) for part in parts if part), (session.model, session.cpu_model))


def _memory_sizes(sessions: Sequence[HostSession]) -> list[int | None]:
    """Return the amount of memory of each host, the middle one of those that are one size."""
    groups: dict[tuple[str, str], set[int]] = defaultdict(set)
    for session in sessions:
        if session.memory_bytes:
            groups[session.model, session.cpu_model].add(session.memory_bytes)
    named: dict[tuple[str, str, int], int] = {}
    for family, sizes in groups.items():
        run: list[int] = []
        for size in [*sorted(sizes), 0]:
            if run and not run[-1] <= size <= run[-1] * SAME_MEMORY:
                named.update({(*family, one): run[len(run) // 2] for one in run})
                run = []
            run.append(size)
    return [
        None if not session.memory_bytes else named[session.model, session.cpu_model, session.memory_bytes]
        for session in sessions
    ]
