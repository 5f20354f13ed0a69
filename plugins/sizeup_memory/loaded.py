"""Memory latency under load, by the measured bandwidth of the load."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from sizeup.errors import RefusedError
from sizeup.model.machine import Machine
from sizeup.model.plan import Hazard, Refusal, Settings, Step
from sizeup.model.sample import Estimate
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus
from sizeup.units import format_bytes
from sizeup_memory import buffers, cpu_selection, durations
from sizeup_memory.binding import Allocation, Member, Pages, Traffic, TrafficPoint, available_bytes, new_job

NAME = "memory.loaded"
_IDLE_NS = 10_000_000
"""A delay this long after every 4 KiB: below 1 MB/s per thread, which is idle."""
_DELAYS_NS = (0, 100, 200, 400, 800, 1600, 3200, 6400, 25_600, _IDLE_NS)
"""Delays after every 4 KiB of each streaming thread, from full load to almost none."""
_MIXES = (0, 33)
"""Percentages of the streams' 4 KiB blocks that are written."""


class MemoryLoaded:
    """A pointer chase on one core while all others stream, at decreasing load."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Plan one step: all mixes and delays with the same threads and memory, interleaved."""
        cpus = cpu_selection.core_first_cpus(machine)[: cpu_selection.core_count(machine)]
        if len(cpus) < 2:
            yield Refusal(NAME, NAME, "needs at least two cores: one for the load and one to measure")
            return
        reason = durations.invalid_replicates(settings)
        if reason:
            yield Refusal(NAME, NAME, reason)
            return
        remote_cpus = cpu_selection.without_memory(machine, cpus)
        cpus = tuple(
            sorted(cpus, key=lambda cpu: cpu in remote_cpus)
        )  # the first one measures latency, on memory of its own node
        caches = buffers.shared_caches(machine, cpus)
        sizes = buffers.fitted(_least_bytes(caches, cpus), machine.memory_available_bytes)
        node = cpu_selection.node_of(machine, cpus[0])
        used_nodes = len({cpu_selection.node_of(machine, cpu) for cpu in cpus})
        seconds = durations.starting_seconds(len(cpus)) + durations.linking_seconds(sizes.get(cpus[0], 0))
        seconds += durations.allocating_seconds(
            sizes.values(), nodes=used_nodes, pages=Pages.THP, guest=bool(machine.platform.is_guest)
        )
        seconds += durations.measuring_seconds(settings, len(_MIXES) * len(_DELAYS_NS), durations.SETTLE_SECONDS)
        yield Step(
            id=NAME,
            probe=NAME,
            title="Loaded memory latency",
            settings={
                **{key: settings[key] for key in durations.STOP_SETTINGS},
                "cpus": json.dumps(cpus),
                **({} if node is None else {"cpu_node": node}),
                "nodes": len(machine.nodes),
                "without_memory": json.dumps(remote_cpus),
                "caches": buffers.caches_text(caches),
                "line_bytes": cpu_selection.line_bytes(machine),
            },
            estimated_seconds=seconds,
            time_limit_seconds=durations.limit_seconds(seconds),
            hazards=(Hazard.CPU_LOAD, Hazard.MEMORY),
            touches=f"{format_bytes(sum(sizes.values()))} of memory",
            cpus=cpus,
            axis_ranges={"delay_ns": (min(_DELAYS_NS), max(_DELAYS_NS))},
        )

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure latency and bandwidth in the same windows."""
        settings = step.settings
        cpus: list[int] = json.loads(str(settings["cpus"]))
        caveats = [] if leave_cpus(cpus) else ["the console shared a CPU with the measurement"]
        memory = Allocation(Pages.THP)
        caches = buffers.caches_from(str(settings["caches"]))
        sizes = buffers.fitted(_least_bytes(caches, cpus), available_bytes(memory))
        if not sizes:
            raise RefusedError("not enough memory: at least 2 MiB per core are needed, and at most half of it is used")
        # With a long delay the streams hardly use the cache: the chase has it to itself.
        groups = [{cpus[0]: sizes[cpus[0]]}, {cpu: sizes[cpu] for cpu in cpus[1:]}]
        cache_notes, cached = buffers.cache_caveats(caches, groups)
        caveats += cache_notes
        chaser = Member(cpus[0], sizes[cpus[0]], memory, chases=True, stride_bytes=int(settings["line_bytes"]))
        streams = [Member(cpu, sizes[cpu], memory) for cpu in cpus[1:]]
        loads = [TrafficPoint(len(streams), mix, delay) for mix in _MIXES for delay in _DELAYS_NS]
        points = tuple(
            EstimatePoint(series, {"write_percent": load.write_percent, "delay_ns": load.delay_ns})
            for load in loads
            for series in ("latency-by-delay", "bandwidth-by-delay")
        )
        traffic = Traffic([chaser, *streams], loads, durations.stop_rule(settings, batch_seconds=0.01))
        job = new_job()
        yield from job.follow(traffic.call(job), points, context)
        yield from job.gaps(points)
        measured = {index: native for index, _, native in job.measured(points)}
        near = settings.get("cpu_node")
        nodes = int(settings["nodes"])
        where, remote = cpu_selection.locality(
            traffic.placement(0), cpus[0], None if near is None else int(near), nodes
        )
        remote_cpus: list[int] = json.loads(str(settings["without_memory"]))
        placements = [traffic.placement(member) for member in range(1 + len(streams))]
        where["huge_page_share"] = min(placement.huge_share for placement in placements)
        caveats += [*remote, *cpu_selection.page_caveats(memory.pages, min(placements, key=lambda one: one.huge_share))]
        others = [cpu_selection.remote_caveat(remote_cpus)] if remote_cpus else []
        for index, point in enumerate(points):
            if index in measured:
                extra = where if point.series == "latency-by-delay" else {}
                yield estimate_of(point, measured[index], (*caveats, *others), extra)
        for index, load in enumerate(loads):
            latency, bandwidth = measured.get(2 * index), measured.get(2 * index + 1)
            if cached and (latency is not None or bandwidth is not None):
                yield buffers.cache_verdict(points[2 * index].at, cache_notes)
            if latency is None or bandwidth is None:
                continue
            at = {"write_percent": load.write_percent, "bytes_per_second": round(bandwidth.median)}
            if cached:
                yield buffers.cache_verdict(at, cache_notes)
            yield Estimate(
                "latency",
                at,
                latency.median,
                low=latency.low,
                high=latency.high,
                replicates=latency.replicates,
                caveats=(*caveats, *others),
                extra={
                    "delay_ns": load.delay_ns,
                    "streams": len(streams),
                    "chase_bytes": chaser.bytes,
                    "stream_bytes": min(stream.bytes for stream in streams),
                    **where,
                },
            )


def _least_bytes(caches: Sequence[buffers.SharedCache], cpus: Collection[int]) -> dict[int, int]:
    """Return the least memory of the first CPU, which chases alone, and of the others, which stream together."""
    chaser, *streams = cpus
    return buffers.bytes_per_thread(caches, [chaser]) | buffers.bytes_per_thread(caches, streams)
