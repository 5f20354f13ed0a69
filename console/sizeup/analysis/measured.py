"""What a session measured, as inputs of sizing: measured figures take the place of assumed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.quantity import Origin, Quantity
from sizeup.session.value import Point, Session, StepRun
from sizeup.sizing.keys import KEYS, LeftOut, Value

_REDO_WRITE_BYTES = 65536
"""The redo write whose time is taken where several sizes were measured: the largest that is usual."""
_SMALL_ONLY = (
    "no large sequential reads were measured (io.direct with preset dss-scan): they carry more than small ones"
)
_REMEDIES = {
    "direct": "run io.direct on a file system that does direct I/O",
    "physical": "run io.direct in a folder, where it fills a file of its own, with a size beyond every cache",
    "steady": "run io.direct again while nothing else is at work, with more seconds",
}
"""What to do about a part of io.direct's verdict that failed."""
_MEASURE_LOCAL = "run memory.latency with cpu set to a CPU whose node has free memory, or run memory.numa"
_LEAST_PLACED_SHARE = 0.99
"""Of a figure's pages, on the node it names."""
_BEYOND_CACHES = "run io.direct with a size several times the largest cache known, or with preset working-set"


def measured(session: Session) -> dict[str, Value]:
    """Keys that this session's probes answer; the best point of each where several were measured.

    Direct I/O gives what the storage delivers and the time of a synchronous write, memory probes the
    local and remote latencies. A figure that its own probe found dishonest is not taken: where no other
    one answers its key, it stands there with the reason.
    """
    values = _direct_io([run for run in session.steps.values() if run.step.probe == "io.direct"])
    for run in session.steps.values():
        if run.step.probe == "memory.latency":
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


_Place = frozenset[tuple[str, str | int | float]]


class _Figure(Struct, frozen=True):
    """One figure of direct I/O, with what keeps it out of sizing."""

    run: StepRun
    point: Point
    against: tuple[Point, ...]
    """Parts of its verdict; none where it is taken."""

    @property
    def workload(self) -> str:
        return str(self.point.at.get("workload"))


def _figures(runs: Sequence[StepRun], series: str) -> Iterator[_Figure]:
    for run in runs:
        verdicts: dict[_Place, list[Point]] = {}
        for verdict in _points(run, "honest"):
            if not _value(verdict) or _may_be_a_cache(verdict):
                verdicts.setdefault(_place(verdict), []).append(verdict)
        for point in _points(run, series):
            yield _Figure(run, point, tuple(verdicts.get(_place(point), ())))


def _left_out(figure: _Figure, unit: str) -> LeftOut:
    cached = any(map(_may_be_a_cache, figure.against))
    parts = [str(verdict.at.get("part")) for verdict in figure.against]
    doubts = [doubt for verdict in figure.against if verdict.estimate is not None for doubt in verdict.estimate.doubts]
    remedies = [_REMEDIES.get(part, "run io.direct again") for part in parts]
    return LeftOut(
        _quantity(figure.run, figure.point, unit),
        "it may come from a cache" if cached else f"its verdict is {' and '.join(parts)}: fail",
        "; ".join(doubts) or "no reason was recorded",
        _BEYOND_CACHES if cached else ", and ".join(dict.fromkeys(remedies)),
    )


def _chosen(
    key: str, unit: str, figures: Sequence[_Figure], merit: Callable[[Point], float]
) -> tuple[Value | None, _Figure | None]:
    """What a key is worth by the figure of the highest merit that is taken, which comes with it.

    A figure of more merit that is not taken is told as a doubt; where none is taken it stands in the key's place.
    """
    taken = max((one for one in figures if not one.against), key=lambda one: merit(one.point), default=None)
    out = max((one for one in figures if one.against), key=lambda one: merit(one.point), default=None)
    if taken is None:
        return (None if out is None else _left_out(out, unit)), None
    quantity = _quantity(taken.run, taken.point, unit)
    if out is not None and merit(out.point) > merit(taken.point):
        quantity = replace(quantity, doubts=(*quantity.doubts, _left_out(out, unit).evidence(KEYS[key].unit)))
    return quantity, taken


def _direct_io(runs: Sequence[StepRun]) -> dict[str, Value]:
    values: dict[str, Value | None] = {}
    rates = [one for one in _figures(runs, "rate") if "redo" not in one.workload]
    supply, taken = _chosen("supply.mb_s", "bytes/s", rates, _value)
    if isinstance(supply, Quantity) and taken is not None and not taken.workload.startswith("dss"):
        supply = replace(supply, doubts=(*supply.doubts, _SMALL_ONLY))
    values["supply.mb_s"] = supply
    values["supply.cpu_us_mb"] = _cpu_cost(sorted((one for one in rates if not one.against), key=_merit, reverse=True))
    small = [one for one in _figures(runs, "iops") if one.workload.startswith(("oltp", "single"))]
    values["supply.iops"], best = _chosen("supply.iops", "1/s", small, _value)
    for one in _figures((best.run,) if best is not None else (), "latency-mean"):
        if best is not None and _place(one.point) == _place(best.point) and one.point.at.get("direction") == "read":
            values["supply.latency_ms"] = _quantity(one.run, one.point, "ns")
    writes = [
        one
        for one in _figures(runs, "latency-mean")
        if one.workload == "redo" and one.point.at.get("direction") == "write"
    ]
    values["redo.sync_write_us"], usual = _chosen("redo.sync_write_us", "ns", writes, _usual)
    if usual is not None:
        values["redo.write_kib"] = Quantity(_block_bytes(usual.point), "bytes", Origin.MEASURED, usual.run.step.id)
    return {key: value for key, value in values.items() if value is not None}


def _merit(figure: _Figure) -> float:
    return _value(figure.point)


def _usual(point: Point) -> float:
    """The nearer to the usual redo write, the more."""
    return -abs(_block_bytes(point) - _REDO_WRITE_BYTES)


def _cpu_cost(rates: Sequence[_Figure]) -> Quantity | None:
    """What a MB cost the host at the best rate with a known cost: the workers, kernel threads and interrupts."""
    costs = {
        (run.step.id, _place(point)): point
        for run in {rate.run.step.id: rate.run for rate in rates}.values()
        for point in _points(run, "cpu-per-mb")
    }
    for rate in rates:
        point = costs.get((rate.run.step.id, _place(rate.point)))
        host_ns = None if point is None or point.estimate is None else point.estimate.extra.get("host_io_ns_per_mb")
        if point is not None and isinstance(host_ns, float) and host_ns > 0:
            return replace(_quantity(rate.run, point, "ns"), value=host_ns, low=None, high=None)
    return None


def _place(point: Point) -> _Place:
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
    quantity, estimate = _quantity(run, largest, "ns"), largest.estimate
    placement = "local" if estimate is None else estimate.extra.get("placement", "local")  # older sessions do not say
    if placement == "local":
        return {"memory.local_ns": quantity}
    reason = f"its pages were {placement}" if placement == "remote" else "where its pages were is unknown"
    return {"memory.local_ns": LeftOut(quantity, reason, "; ".join(quantity.doubts), _MEASURE_LOCAL)}


def _where_asked(point: Point) -> bool:
    """Whether the pages were on the node that the figure names; older sessions do not say."""
    share = 1.0 if point.estimate is None else point.estimate.extra.get("share_where_asked", 1.0)
    return isinstance(share, int | float) and share >= _LEAST_PLACED_SHARE


def _node_latencies(run: StepRun) -> dict[str, Value]:
    """The lowest latency from a node to itself, and the highest to another."""
    values: dict[str, Value] = {}
    points = [
        point
        for point in _points(run, "latency")
        if "cpu_node" in point.at and "memory_node" in point.at and _where_asked(point)
    ]
    local = [point for point in points if point.at["cpu_node"] == point.at["memory_node"]]
    remote = [point for point in points if point.at["cpu_node"] != point.at["memory_node"]]
    if local:
        values["memory.local_ns"] = _quantity(run, min(local, key=_value), "ns")
    if remote:
        values["memory.remote_ns"] = _quantity(run, max(remote, key=_value), "ns")
    return values
