"""What a session measured, as inputs of sizing: measured figures take the place of assumed ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from sizeup.quantity import Origin, Quantity
from sizeup.session.value import Point, Session, StepRun
from sizeup.sizing.keys import Value

_REDO_WRITE_BYTES = 65536
"""The redo write whose time is taken where several sizes were measured: the largest that is usual."""
_SMALL_ONLY = (
    "no large sequential reads were measured (io.direct with preset dss-scan): they carry more than small ones"
)


def measured(session: Session) -> dict[str, Value]:
    """Keys that this session's probes answer; the best point of each where several were measured.

    Direct I/O gives what the storage delivers and the time of a synchronous write, memory probes the
    local and remote latencies. A figure that its own probe found dishonest is left out.
    """
    values: dict[str, Value] = {}
    for run in session.steps.values():
        if run.step.probe == "io.direct":
            values |= _direct_io(run)
        elif run.step.probe == "memory.latency":
            values |= _local_latency(run)
        elif run.step.probe == "memory.numa":
            values |= _node_latencies(run)
    return values


def _quantity(run: StepRun, point: Point, unit: str) -> Quantity:
    estimate = point.estimate
    assert estimate is not None
    low, high = estimate.low, estimate.high
    ranged = low is not None and high is not None and low <= estimate.value <= high
    where = ", ".join(f"{name}={value}" for name, value in point.at.items())
    return Quantity(
        estimate.value,
        unit,
        Origin.MEASURED,
        f"{run.step.id} {point.series} at {where}",
        low=low if ranged else None,
        high=high if ranged else None,
        doubts=estimate.doubts,
    )


def _points(run: StepRun, series: str) -> Iterator[Point]:
    return (point for point in run.points.values() if point.series == series and point.estimate is not None)


def _value(point: Point) -> float:
    return 0.0 if point.estimate is None else point.estimate.value


def _direct_io(run: StepRun) -> dict[str, Value]:
    values: dict[str, Value] = {}
    false = {_place(point) for point in _points(run, "honest") if not _value(point) or _may_be_a_cache(point)}

    def believed(series: str) -> list[Point]:
        return [point for point in _points(run, series) if _place(point) not in false]

    rates = [point for point in believed("rate") if "redo" not in str(point.at.get("workload"))]
    if rates:
        best = max(rates, key=_value)
        supply = _quantity(run, best, "bytes/s")
        if not str(best.at.get("workload")).startswith("dss"):
            supply = replace(supply, doubts=(*supply.doubts, _SMALL_ONLY))
        values["supply.mb_s"] = supply
        values |= _cpu_cost(run, sorted(rates, key=_value, reverse=True))
    small = [point for point in believed("iops") if str(point.at.get("workload")).startswith(("oltp", "single"))]
    if small:
        best = max(small, key=_value)
        values["supply.iops"] = _quantity(run, best, "1/s")
        latencies = [
            point
            for point in believed("latency-mean")
            if point.at.get("outstanding") == best.at.get("outstanding") and point.at.get("direction") == "read"
        ]
        if latencies:
            values["supply.latency_ms"] = _quantity(run, latencies[0], "ns")
    writes = [
        point
        for point in believed("latency-mean")
        if point.at.get("workload") == "redo" and point.at.get("direction") == "write"
    ]
    if writes:
        usual = min(writes, key=lambda point: abs(_block_bytes(point) - _REDO_WRITE_BYTES))
        values["redo.sync_write_us"] = _quantity(run, usual, "ns")
        values["redo.write_kib"] = Quantity(_block_bytes(usual), "bytes", Origin.MEASURED, run.step.id)
    return values


def _cpu_cost(run: StepRun, rates: Sequence[Point]) -> dict[str, Value]:
    """What a MB cost the host at the best rate with a known cost: the workers, kernel threads and interrupts."""
    costs = {_place(point): point for point in _points(run, "cpu-per-mb")}
    for point in (costs[place] for place in map(_place, rates) if place in costs):
        host_ns = point.estimate.extra.get("host_io_ns_per_mb") if point.estimate is not None else None
        if isinstance(host_ns, float) and host_ns > 0:
            return {"supply.cpu_us_mb": replace(_quantity(run, point, "ns"), value=host_ns, low=None, high=None)}
    return {}


def _place(point: Point) -> frozenset[tuple[str, str | int | float]]:
    """Where a point was measured, whatever part of it a figure is about."""
    return frozenset((name, value) for name, value in point.at.items() if name not in {"part", "direction", "stream"})


def _may_be_a_cache(point: Point) -> bool:
    return point.estimate is not None and point.estimate.extra.get("sizing") == "left out"


def _block_bytes(point: Point) -> float:
    return float(point.at.get("block_bytes", _REDO_WRITE_BYTES))


def _local_latency(run: StepRun) -> dict[str, Value]:
    """Latency of the largest working set on the pages a database would use."""
    points = list(_points(run, "dram-thp")) or list(_points(run, "dram-4k"))
    if not points:
        return {}
    largest = max(points, key=lambda point: float(point.at.get("working_set_bytes", 0)))
    return {"memory.local_ns": _quantity(run, largest, "ns")}


def _node_latencies(run: StepRun) -> dict[str, Value]:
    """The lowest latency from a node to itself, and the highest to another."""
    values: dict[str, Value] = {}
    points = [point for point in _points(run, "latency") if "cpu_node" in point.at and "memory_node" in point.at]
    local = [point for point in points if point.at["cpu_node"] == point.at["memory_node"]]
    remote = [point for point in points if point.at["cpu_node"] != point.at["memory_node"]]
    if local:
        values["memory.local_ns"] = _quantity(run, min(local, key=_value), "ns")
    if remote:
        values["memory.remote_ns"] = _quantity(run, max(remote, key=_value), "ns")
    return values
