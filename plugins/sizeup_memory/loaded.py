"""Memory latency under load, by the measured bandwidth of the load."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sizeup.errors import RefusedError
from sizeup.model.machine import Machine
from sizeup.model.plan import Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup.units import format_bytes
from sizeup_memory import buffers, cpu_selection, durations
from sizeup_memory.binding import Allocation, Member, Pages, StopRule, Traffic, TrafficPoint, available_bytes, measure

NAME = "memory.loaded"
_IDLE_NS = 10_000_000
"""A delay this long after every 4 KiB: below 1 MB/s per thread, which is idle."""
_DELAYS_NS = (0, 100, 200, 400, 800, 1600, 3200, 6400, 25_600, _IDLE_NS)
"""Delays after every 4 KiB of each streaming thread, from full load to almost none."""
_MIXES = (0, 33)
"""Percentages of the streams' 4 KiB blocks that are written."""


class _LoadedSettings(StopRule, frozen=True, kw_only=True):
    batch_seconds: float = 0.01
    cpus: tuple[int, ...]
    cpu_node: int | None = None
    nodes: int
    without_memory: tuple[int, ...]
    caches: tuple[buffers.SharedCache, ...]
    line_bytes: int


class MemoryLoaded:
    """A pointer chase on one core while all others stream, at decreasing load."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step: all mixes and delays with the same threads and memory, interleaved."""
        cpus = cpu_selection.core_first_cpus(machine)[: cpu_selection.core_count(machine)]
        if len(cpus) < 2:
            raise RefusedError("needs at least two cores: one for the load and one to measure")
        remote_cpus = cpu_selection.without_memory(machine, cpus)
        # The first one measures latency, on memory of its own node.
        cpus = tuple(sorted(cpus, key=lambda cpu: cpu in remote_cpus))
        caches = buffers.shared_caches(machine, cpus)
        sizes = buffers.fitted(_least_bytes(caches, cpus), machine.memory_available_bytes)
        used_nodes = len({cpu_selection.node_of(machine, cpu) for cpu in cpus})
        chosen = _LoadedSettings.of(
            settings,
            cpus=cpus,
            cpu_node=cpu_selection.node_of(machine, cpus[0]),
            nodes=len(machine.nodes),
            without_memory=remote_cpus,
            caches=caches,
            line_bytes=cpu_selection.line_bytes(machine),
        )
        seconds = durations.starting_seconds(len(cpus)) + durations.linking_seconds(sizes.get(cpus[0], 0))
        seconds += durations.allocating_seconds(
            sizes.values(), nodes=used_nodes, pages=Pages.THP, guest=bool(machine.platform.is_guest)
        )
        seconds += durations.measuring_seconds(chosen, len(_MIXES) * len(_DELAYS_NS), durations.SETTLE_SECONDS)
        touches = f"{format_bytes(sum(sizes.values()))} of memory"
        axes = {"delay_ns": (min(_DELAYS_NS), max(_DELAYS_NS))}
        yield durations.step(NAME, "Loaded memory latency", chosen, seconds, touches, cpus, axis_ranges=axes)

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure latency and bandwidth in the same windows."""
        settings = _LoadedSettings.of(step.settings)
        cpus, caches, memory = settings.cpus, settings.caches, Allocation(Pages.THP)
        caveats = [*leave_cpus_or_tell(cpus)]
        sizes = buffers.fitted(_least_bytes(caches, cpus), available_bytes(memory))
        if not sizes:
            raise RefusedError("not enough memory: at least 2 MiB per core are needed, and at most half of it is used")
        # With a long delay the streams hardly use the cache: the chase has it to itself.
        groups = [{cpus[0]: sizes[cpus[0]]}, {cpu: sizes[cpu] for cpu in cpus[1:]}]
        cache_notes, cached = buffers.cache_caveats(caches, groups)
        chaser = Member(cpus[0], sizes[cpus[0]], memory, chases=True, stride_bytes=settings.line_bytes)
        streams = [Member(cpu, sizes[cpu], memory) for cpu in cpus[1:]]
        loads = [TrafficPoint(len(streams), mix, delay) for mix in _MIXES for delay in _DELAYS_NS]
        points = tuple(
            EstimatePoint(series, {"write_percent": load.write_percent, "delay_ns": load.delay_ns})
            for load in loads
            for series in ("latency-by-delay", "bandwidth-by-delay")
        )
        traffic = Traffic([chaser, *streams], loads, settings)
        figures = yield from measure(traffic, points, context)
        where, remote = cpu_selection.locality(traffic.placement(0), cpus[0], settings.cpu_node, settings.nodes)
        worst = min((traffic.placement(member) for member in range(len(cpus))), key=lambda one: one.huge_share)
        where["huge_page_share"] = worst.huge_share
        caveats += [*cache_notes, *remote, *cpu_selection.page_caveats(memory.pages, worst)]
        caveats += cpu_selection.remote_caveats(settings.without_memory)
        for _, point, native in figures:
            extra = where if point.series == "latency-by-delay" else {}
            yield estimate_of(point, native, tuple(caveats), extra)
        measured = {index: native for index, _, native in figures}
        for index, load in enumerate(loads):
            latency, bandwidth = measured.get(2 * index), measured.get(2 * index + 1)
            if latency is not None or bandwidth is not None:
                yield from buffers.cache_verdict(points[2 * index].at, cache_notes, cached=cached)
            if latency is None or bandwidth is None:
                continue
            at = {"write_percent": load.write_percent, "bytes_per_second": round(bandwidth.median)}
            yield from buffers.cache_verdict(at, cache_notes, cached=cached)
            extra = {
                "delay_ns": load.delay_ns,
                "streams": len(streams),
                "chase_bytes": chaser.bytes,
                "stream_bytes": min(stream.bytes for stream in streams),
                **where,
            }
            yield estimate_of(EstimatePoint("latency", at), latency, tuple(caveats), extra)


def _least_bytes(caches: Sequence[buffers.SharedCache], cpus: Collection[int]) -> dict[int, int]:
    """Return the least memory of the first CPU, which chases alone, and of the others, which stream together."""
    chaser, *streams = cpus
    return buffers.bytes_per_thread(caches, [chaser]) | buffers.bytes_per_thread(caches, streams)
