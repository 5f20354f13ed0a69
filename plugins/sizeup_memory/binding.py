"""The only importer of the C extension: converts plain values to and from native structures."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from enum import IntEnum
from typing import Any, Self

import msgspec
from msgspec import Struct, convert, field
from msgspec.structs import asdict, fields

from sizeup.errors import RefusedError
from sizeup.model.plan import Settings, SettingValue
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, NativeJob
from sizeup_memory._native import ffi, lib

MAX_NODES = int(lib.SIZEUP_NODES)
MAX_POINTS = int(lib.SIZEUP_POINTS)
MAX_HAMMERS = int(lib.SIZEUP_HAMMERS)


class Pages(IntEnum):
    """The requested pages; the values of ``SIZEUP_PAGES_*``."""

    BASE = 0
    THP = 1
    HUGE2M = 2
    HUGE1G = 3


class PlacementPolicy(IntEnum):
    """How the node is selected; the values of ``SIZEUP_PLACE_*``."""

    FIRST_TOUCH = 0
    BIND = 1
    INTERLEAVE = 2


class Allocation(Struct, frozen=True):
    """Pages and nodes of memory to allocate."""

    pages: Pages = Pages.THP
    policy: PlacementPolicy = PlacementPolicy.FIRST_TOUCH
    nodes: tuple[int, ...] = ()
    touch_cpu: int | None = None
    """A CPU of the node, if mbind is forbidden; None: the node has none."""

    @property
    def mask(self) -> int:
        """The nodes as the kernel's bit mask."""
        return sum(1 << node for node in self.nodes)

    def native(self) -> dict[str, int]:
        """The fields that native structures have of it."""
        touch_cpu = -1 if self.touch_cpu is None else self.touch_cpu
        return {"pages": self.pages, "placement": self.policy, "nodes": self.mask, "touch_cpu": touch_cpu}


class ChasePoint(Struct, frozen=True):
    """One working set; see ``struct sizeup_latency_point``."""

    span_bytes: int
    stride_bytes: int
    cpu: int
    block_bytes: int = 0
    sibling: int | None = None
    memory: Allocation = field(default_factory=Allocation)

    def native(self) -> dict[str, int]:
        """The structure's fields."""
        fields = asdict(self) | {"sibling": -1 if self.sibling is None else self.sibling} | self.memory.native()
        return {name: value for name, value in fields.items() if name != "memory"}


class StepSettings(Struct, frozen=True, omit_defaults=True):
    """What a step's worker needs. Stored with lists and tables as JSON text, and without what has its default."""

    @classmethod
    def of(cls, settings: Settings, **more: Any) -> Self:
        """Return the value of settings, which may hold others as well; ``more`` are values instead of text."""
        found: dict[str, Any] = {}
        for entry in fields(cls):
            value = settings.get(entry.encode_name)
            if value is not None:
                is_json = isinstance(value, str) and entry.type is not str
                found[entry.encode_name] = json.loads(str(value)) if is_json else value
        return convert(found | more, cls, str_keys=True)

    def stored(self) -> dict[str, SettingValue]:
        """Return the settings as a step holds them."""
        plain = msgspec.to_builtins(self, str_keys=True)
        return {
            name: value if isinstance(value, str | int | float) else json.dumps(value) for name, value in plain.items()
        }


class StopRule(StepSettings, frozen=True):
    """When to stop measuring a point; see ``struct sizeup_stop_rule``."""

    replicate_seconds: float = field(name="replicate")
    warm_up_seconds: float = field(name="warm_up")
    budget_seconds: float = field(name="budget")
    replicates_min: int = field(name="replicates")
    replicates_max: int
    target: float
    seed: int
    batch_seconds: float = 0.001

    def __post_init__(self) -> None:
        """Raise RefusedError if the numbers of replicates contradict each other."""
        fewest, most = self.replicates_min, self.replicates_max
        if most < fewest:
            expected = f"expected at least replicates={fewest}; decrease replicates or increase replicates_max"
            raise RefusedError(f"replicates_max={most}: {expected}")

    def native(self) -> Any:
        """The structure."""
        times = {
            f"{name}_ns": round(getattr(self, f"{name}_seconds") * 1e9)
            for name in ("batch", "replicate", "warm_up", "budget")
        }
        counts = {name: getattr(self, name) for name in ("replicates_min", "replicates_max", "target", "seed")}
        return ffi.new("struct sizeup_stop_rule *", times | counts)


class Placement(Struct, frozen=True):
    """The nodes that hold pages."""

    pages: int
    on_node: dict[int, int]
    elsewhere: int
    huge_share: float
    verified: bool
    bound: bool

    def share_on(self, nodes: Sequence[int]) -> float:
        """Return the share of all pages on ``nodes``, 0 to 1."""
        return sum(self.on_node.get(node, 0) for node in nodes) / self.pages if self.pages else 0.0

    @property
    def nodes_text(self) -> str:
        """Pages by node, such as ``0:512,1:3``."""
        return ",".join(f"{node}:{count}" for node, count in sorted(self.on_node.items()))


def new_job() -> NativeJob:
    """An idle job of this extension."""
    return NativeJob(ffi, lib)


def available_bytes(memory: Allocation) -> int:
    """Return the memory available there in bytes; a negative errno for a node that does not exist."""
    return int(lib.sizeup_available_bytes(memory.mask, memory.policy))


class Member(Struct, frozen=True):
    """One thread with its own memory; see ``struct sizeup_traffic_member``."""

    cpu: int
    bytes: int
    memory: Allocation
    chases: bool = False
    stride_bytes: int = 64

    def native(self) -> dict[str, Any]:
        """The structure's fields."""
        return {
            "role": lib.SIZEUP_ROLE_CHASE if self.chases else lib.SIZEUP_ROLE_STREAM,
            "cpu": self.cpu,
            "stride_bytes": self.stride_bytes,
            "memory": {"bytes": self.bytes, **self.memory.native()},
        }


class TrafficPoint(Struct, frozen=True):
    """The load of the streams at one point."""

    streams: int
    write_percent: int = 0
    delay_ns: int = 0


class Pair(Struct, frozen=True):
    """Two CPUs that transfer one cache line; ``home`` is its node, None for any."""

    cpu: int
    partner: int
    home: int | None = None


class HammerResult(Struct, frozen=True):
    """Result of one process of random stores."""

    ops: int
    start_ns: int
    end_ns: int
    wall_us: int
    cpu_ns: int
    cpu: int

    @property
    def ops_per_second(self) -> float:
        """As the original computes it, from gettimeofday."""
        return self.ops * 1e6 / self.wall_us

    @property
    def ns_per_op(self) -> float:
        """The average nanoseconds per store; at least of one store."""
        return self.wall_us * 1e3 / max(1, self.ops)

    @property
    def cpu_share(self) -> float:
        """CPU time over wall time, 0 to 1: well below 1 if other processes used this CPU too."""
        # Two clocks: in a short run they may differ by more than the process waited.
        return min(1.0, self.cpu_ns / max(1, self.end_ns - self.start_ns))


class NativeCall:
    """One call of the library that blocks while it measures, with everything that it points to."""

    def __init__(self, name: str, *arguments: Any, placements: Any = None) -> None:
        self._name, self._arguments, self._placements = name, arguments, placements

    def call(self, job: NativeJob) -> Callable[[], int]:
        """The blocking call, for a thread."""
        return lambda: int(getattr(lib, self._name)(job.job, *self._arguments))

    def placement(self, index: int = 0) -> Placement:
        """Where the pages of a point, a thread or a file were, once the call has returned."""
        native = self._placements[index]
        on_node = {node: count for node, count in enumerate(native.on_node) if count}
        verified, bound = bool(native.verified), bool(native.bound)
        return Placement(native.pages, on_node, native.elsewhere, native.huge_share, verified, bound)


def measure(
    native: NativeCall, points: tuple[EstimatePoint, ...], context: Context
) -> Generator[Emission, None, list[tuple[int, EstimatePoint, Any]]]:
    """Make a call in a job of its own; return index, point and estimate of the points that have one."""
    job = new_job()
    yield from job.follow(native.call(job), points, context)
    yield from job.gaps(points)
    return list(job.measured(points))


class Latency(NativeCall):
    """One ``sizeup_latency_run``."""

    def __init__(self, points: Sequence[ChasePoint], rule: StopRule) -> None:
        placements = ffi.new("struct sizeup_placement[]", len(points))
        self._rates = rates = ffi.new("struct sizeup_clock_rates *", {"cpu": -1})
        self._last_cpu = points[-1].cpu
        chases = ffi.new("struct sizeup_latency_point[]", [point.native() for point in points])
        arguments = chases, len(points), rule.native(), placements, rates
        super().__init__("sizeup_latency_run", *arguments, placements=placements)

    @property
    def core_hz(self) -> float | None:
        """The clock of the measured core right after the measurement; None if it was not measured there."""
        rates = self._rates
        return float(rates.core_hz) if rates.cpu == self._last_cpu and rates.core_hz > 0 else None


class Traffic(NativeCall):
    """One ``sizeup_traffic_run``.

    Point ``i`` gives latency as the job's point ``2 * i`` and bandwidth as ``2 * i + 1``.
    """

    def __init__(self, members: Sequence[Member], points: Sequence[TrafficPoint], rule: StopRule) -> None:
        threads = ffi.new("struct sizeup_traffic_member[]", [member.native() for member in members])
        loads = ffi.new("struct sizeup_traffic_point[]", [asdict(point) for point in points])
        placements = ffi.new("struct sizeup_placement[]", len(members))
        arguments = threads, len(members), loads, len(points), rule.native(), placements
        super().__init__("sizeup_traffic_run", *arguments, placements=placements)


class Handoff(NativeCall):
    """One ``sizeup_handoff_run``."""

    def __init__(self, pairs: Sequence[Pair], rule: StopRule) -> None:
        natives = [(pair.cpu, pair.partner, 0 if pair.home is None else 1 << pair.home) for pair in pairs]
        super().__init__("sizeup_handoff_run", ffi.new("struct sizeup_pair[]", natives), len(pairs), rule.native())


class ShmFill(NativeCall):
    """One ``sizeup_shm_fill``: gives a file of tmpfs its pages from the node of a CPU."""

    def __init__(self, descriptor: int, size_bytes: int, cpu: int) -> None:
        placement = ffi.new("struct sizeup_placement *")
        super().__init__("sizeup_shm_fill", descriptor, size_bytes, cpu, placement, placements=placement)


class ShmWrite(NativeCall):
    """One ``sizeup_shm_run``: writes a filled file over again from several CPUs."""

    def __init__(self, descriptor: int, size_bytes: int, cpus: Sequence[int], rule: StopRule) -> None:
        natives = ffi.new("int32_t[]", list(cpus))
        super().__init__("sizeup_shm_run", descriptor, size_bytes, natives, len(cpus), rule.native())


class Hammer(NativeCall):
    """One ``sizeup_hammer_run``: a process of random stores on each CPU."""

    def __init__(self, pages: int, loops: int, cpus: Sequence[int], memory: Allocation) -> None:
        self._results = ffi.new("struct sizeup_hammer_result[]", len(cpus))
        spec = ffi.new("struct sizeup_arena_spec *", memory.native())
        natives = ffi.new("int32_t[]", list(cpus))
        super().__init__("sizeup_hammer_run", pages, loops, natives, len(cpus), spec, self._results)

    def results(self) -> tuple[HammerResult, ...]:
        """What each process did, in the order of the CPUs, once the call has returned."""
        return tuple(convert(one, HammerResult, from_attributes=True) for one in self._results)


def tlb_reach_bytes(page_bytes: int) -> int:
    """Return the bytes that the second-level TLB covers with pages of this size; 0 if the CPU does not report it."""
    return int(lib.sizeup_tlb_entries(page_bytes)) * page_bytes
