"""What a session measured, as inputs of sizing: valid figures take the place of assumed ones.

A figure that is not valid (``sizeup.session.validity``), that is only a lower bound, or that was taken on one path
of several is never the capacity of the storage: where nothing else answers its key, it stands there with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity, Words
from sizeup.session.validity import Invalid, Validity, place
from sizeup.session.value import Point, Session, StepRun
from sizeup.sizing.inputs.detected import path_bandwidth_values
from sizeup.sizing.keys import KEYS, UnusedMeasurement, Value, WhyUnused
from sizeup.sizing.path_bandwidth import Capacity, Target, disks_that_count, find_target, storage_path_bandwidths
from sizeup.units import format_bytes

_REDO_WRITE_BYTES = 65536
"""The redo write whose time is taken where several sizes were measured: the largest that is usual."""
_LARGE = ("dss", "load", "normal")
"""What the names of workloads of large requests begin with; small ones end at the device's IOPS, not at its MB/s."""
_DEPTHS = ("outstanding", "large")
"""Coordinates that are queue depths: of a ramp, and of ORION's table."""
_PAYS = 1.10
"""A doubling of the depth that still gains this factor shows that the depth was the limit."""
_CPU_BOUND = 0.95
"""Of all CPU time of the host: beyond it the CPUs were the limit."""
_ALL_TOGETHER = "all together"
"""The path of a figure that was measured on all paths of its step at once."""
_MEASURE_LOCAL = "run memory.latency with cpu set to a CPU whose node has free memory, or run memory.numa"
_RAMP = "run io.direct with preset dss-rand, whose depth rises"
_SMALL_RAMP = "run io.direct with preset oltp-read, whose depth rises"


def measured(session: Session, stated: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """Keys that this session's probes answer, for sizing; ``stated`` says where the database lies (``db.device``).

    Direct I/O replaces the estimate of the path it was taken on, and gives the time of a synchronous write; memory
    probes give the local and remote latencies.
    """
    machine = Machine() if session.machine is None else session.machine
    device = (stated or {}).get("db.device")
    runs = _direct_io_runs(session)
    values = _storage_capacity(runs, machine, device.value if isinstance(device, Words) else None)
    return values | _redo(runs) | _memory(session)


def headlines(session: Session) -> dict[str, Value]:
    """The best valid figure of each key, whatever path and depth it is of: to stand beside a published one."""
    runs = _direct_io_runs(session)
    rates, small = _rates(runs), _small(runs)
    found = {
        "capacity.mb_s": _best("capacity.mb_s", "bytes/s", rates)[0],
        "capacity.iops": _best("capacity.iops", "1/s", small)[0],
    }
    return {key: value for key, value in found.items() if value is not None} | _redo(runs) | _memory(session)


def _direct_io_runs(session: Session) -> list[StepRun]:
    return [run for run in session.steps.values() if run.step.probe == "io.direct"]


def _quantity(run: StepRun, point: Point, unit: str) -> Quantity:
    estimate = point.estimate
    assert estimate is not None
    low, high = estimate.low, estimate.high
    ranged = low is not None and high is not None and low <= estimate.value <= high
    where = ", ".join(f"{name}={value}" for name, value in point.at.items())
    target = "" if "path" in point.at else str(run.step.settings.get("path", ""))
    return Quantity(
        estimate.value,
        unit,
        Origin.MEASURED,
        f"{run.step.id} {point.series} at {where}{f' on {target}' if target else ''}",
        low=low if ranged else None,
        high=high if ranged else None,
        caveats=estimate.caveats,
    )


def _points(run: StepRun, series: str) -> Iterator[Point]:
    return (point for point in run.points.values() if point.series == series and point.estimate is not None)


def _value(point: Point) -> float:
    return 0.0 if point.estimate is None else point.estimate.value


class _Figure(Struct, frozen=True):
    """One measured figure, with what keeps it out of every conclusion."""

    run: StepRun
    point: Point
    invalid: Invalid | None

    @property
    def workload(self) -> str:
        return str(self.point.at.get("workload"))

    @property
    def depth(self) -> float:
        """Queue depth; 0 where its place says nothing of it."""
        found = next((depth for name in _DEPTHS if isinstance(depth := self.point.at.get(name), int | float)), 0.0)
        return float(found)


def _figures(runs: Sequence[StepRun], series: str) -> list[_Figure]:
    judged = [(run, Validity(run)) for run in runs]
    return [_Figure(run, point, validity.of(point)) for run, validity in judged for point in _points(run, series)]


def _rates(runs: Sequence[StepRun]) -> list[_Figure]:
    return [one for one in _figures(runs, "rate") if "redo" not in one.workload]


def _small(runs: Sequence[StepRun]) -> list[_Figure]:
    return [one for one in _figures(runs, "iops") if one.workload.startswith(("oltp", "single"))]


def _merit(figure: _Figure) -> float:
    return _value(figure.point)


def _not_valid(figure: _Figure, unit: str) -> UnusedMeasurement:
    assert figure.invalid is not None
    invalid = figure.invalid
    return UnusedMeasurement(_quantity(figure.run, figure.point, unit), invalid.cause, invalid.detail, invalid.remedy)


def _best(
    key: str, unit: str, figures: Sequence[_Figure], merit: Callable[[_Figure], float] = _merit
) -> tuple[Value | None, _Figure | None]:
    """What a key is worth by the valid figure of the highest merit, which comes with it.

    A figure of more merit that is not valid becomes a caveat; where none is valid it stands in the key's place.
    """
    taken = max((one for one in figures if one.invalid is None), key=merit, default=None)
    out = max((one for one in figures if one.invalid is not None), key=merit, default=None)
    if taken is None:
        return (None if out is None else _not_valid(out, unit)), None
    quantity = _quantity(taken.run, taken.point, unit)
    if out is not None and merit(out) > merit(taken):
        quantity = replace(quantity, caveats=(*quantity.caveats, _not_valid(out, unit).evidence(KEYS[key].unit)))
    return quantity, taken


def _storage_capacity(runs: Sequence[StepRun], machine: Machine, device: str | None) -> dict[str, Value]:
    """What the storage delivers: capacities instead of the estimates of their paths, and what was excluded and why."""
    values: dict[str, Value] = {}
    targets = _Targets(machine)
    rates = _rates(runs)
    best: dict[frozenset[str], tuple[Capacity, Quantity]] = {}
    for target in {target.name: target for one in rates if (target := targets.of(one)) is not None}.values():
        capacity = _capacity("capacity.mb_s", "bytes/s", [one for one in rates if targets.of(one) == target])
        # Of a disk and what lies on it, whichever showed more.
        if isinstance(capacity, Quantity) and not _more(best.get(target.disks), capacity):
            best[target.disks] = Capacity(target, capacity.value), capacity
    bandwidths = storage_path_bandwidths(machine, device, [capacity for capacity, _ in best.values()])
    if any(bandwidth.measured for bandwidth in bandwidths):
        values |= path_bandwidth_values(bandwidths)
        found = values["path.bandwidth_mb_s"]
        assert isinstance(found, Quantity)
        taken = [quantity for capacity, quantity in best.values() if capacity in bandwidths[0].measured]
        sources = dict.fromkeys(quantity.source for quantity in taken)
        caveats = dict.fromkeys((*found.caveats, *(caveat for quantity in taken for caveat in quantity.caveats)))
        values["path.bandwidth_mb_s"] = replace(
            found, source=", ".join((found.source, *sources)), caveats=tuple(caveats)
        )
    elif rates:
        values["capacity.mb_s"] = _not_taken("capacity.mb_s", "bytes/s", rates, targets, device)
    values |= _requests(runs, targets, device)
    cost = _cpu_cost(sorted((one for one in rates if one.invalid is None), key=_merit, reverse=True))
    return values if cost is None else {**values, "capacity.cpu_us_mb": cost}


def _more(known: tuple[Capacity, Quantity] | None, capacity: Quantity) -> bool:
    return known is not None and known[1].value >= capacity.value


def _requests(runs: Sequence[StepRun], targets: _Targets, device: str | None) -> dict[str, Value]:
    """Small requests a second and their response time, where they were measured on all storage that counts."""
    small = _small(runs)
    if not small:
        return {}
    wanted = disks_that_count(targets.machine, device)
    whole = [one for one in small if (target := targets.of(one)) is not None and target.disks >= wanted]
    capacity = _capacity("capacity.iops", "1/s", whole)
    if not isinstance(capacity, Quantity):
        return {"capacity.iops": _not_taken("capacity.iops", "1/s", small, targets, device)}
    values: dict[str, Value] = {"capacity.iops": capacity}
    best = next(one for one in whole if _quantity(one.run, one.point, "1/s").source == capacity.source)
    for one in _figures([best.run], "latency-mean"):
        if one.invalid is None and place(one.point) == place(best.point) and one.point.at.get("direction") == "read":
            values["capacity.latency_ms"] = _quantity(one.run, one.point, "ns")
    return values


class _Targets:
    """What figures were measured on, each path looked up once."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._known: dict[tuple[str, bool], Target | None] = {}

    def of(self, figure: _Figure) -> Target | None:
        """The device or mount under a figure; None where this machine does not tell.

        The probe records the mount or the device that it opened; a path of an older session is looked up by name.
        """
        settings, estimate = figure.run.step.settings, figure.point.estimate
        extra = {} if estimate is None else estimate.extra
        path = figure.point.at.get("path", settings.get("path", ""))
        if path == _ALL_TOGETHER:
            return self._together([str(settings.get("path", "")), *str(settings.get("more_paths", "")).split(":")])
        for name in ("mount_point", "device_number"):
            if name in extra:
                return self._find(str(extra[name]), exact=True)
        return self._find(str(path))

    def _find(self, where: str, *, exact: bool = False) -> Target | None:
        if (where, exact) not in self._known:
            self._known[where, exact] = find_target(self.machine, where, exact=exact)
        return self._known[where, exact]

    def _together(self, paths: Sequence[str]) -> Target | None:
        found = [self._find(path) for path in paths if path]
        known = [target for target in found if target is not None]
        if len(known) < len(found):
            return None
        return Target(
            ", ".join(dict.fromkeys(target.name for target in known)),
            frozenset[str]().union(*(target.disks for target in known)),
            frozenset[str]().union(*(target.carriers for target in known)),
        )


def _capacity(key: str, unit: str, figures: Sequence[_Figure]) -> Value | None:
    """The most that one target gives, by the best of the sweeps that show it; None where none does."""
    sweeps: dict[object, list[_Figure]] = {}
    for one in figures:
        sweeps.setdefault(_sweep(one), []).append(one)
    telling = [sweep for sweep in sweeps.values() if not _why_lower_bound(key, sweep)]
    value, _ = _best(key, unit, [one for sweep in telling for one in sweep])
    return value if isinstance(value, Quantity) else None


def _sweep(figure: _Figure) -> object:
    """What figures have in common that differ in their depth alone."""
    depth = _depth_name(figure.point)
    return figure.run.step.id, frozenset(item for item in place(figure.point) if item[0] != depth)


def _depth_name(point: Point) -> str:
    return next((name for name in _DEPTHS if name in point.at), "")


def _why_lower_bound(key: str, sweep: Sequence[_Figure]) -> str:
    """Why the best figure of a sweep is only a lower bound of what its target gives; empty where it is the most."""
    best = max(sweep, key=_merit)
    if best.invalid is not None:
        return f"the best figure of its ramp is not valid ({best.invalid.cause})"
    if KEYS[key].unit == "MB/s" and not best.workload.startswith(_LARGE):
        return "small requests were measured, and large ones carry more"
    valid = sorted((one for one in sweep if one.invalid is None and one.depth), key=lambda one: one.depth)
    depths = list(dict.fromkeys(one.depth for one in valid))
    if len(depths) < 2:
        return f"it was measured at queue depth {best.depth:g} alone"
    if _cpu_share(best) > _CPU_BOUND:
        return f"the CPUs of the host were the limit ({_cpu_share(best):.0%} busy)"
    if best.depth == depths[-1]:
        before = max((one for one in valid if one.depth == depths[-2]), key=_merit)
        doublings = math.log2(depths[-1] / depths[-2])
        if _merit(best) > _merit(before) * _PAYS**doublings:
            return f"it still rose at queue depth {best.depth:g}, where its ramp ended"
    return ""


def _cpu_share(figure: _Figure) -> float:
    """CPU time of the whole host in use while a figure was measured; 0 where that was not recorded."""
    shares = (
        point.value
        for point in figure.run.points.values()
        if point.series == "cpu" and place(point) == place(figure.point)
    )
    return next((share for share in shares if share is not None), 0.0)


def _not_taken(
    key: str, unit: str, figures: Sequence[_Figure], targets: _Targets, device: str | None
) -> UnusedMeasurement:
    """The best of figures of which none is the capacity, with what speaks against it."""
    best = max(figures, key=lambda one: (one.invalid is None, _merit(one)))
    if best.invalid is not None:
        return _not_valid(best, unit)
    quantity = _quantity(best.run, best.point, unit)
    reasons = "; ".join(quantity.caveats)
    sweep = [one for one in figures if _sweep(one) == _sweep(best)]
    why = _why_lower_bound(key, sweep)
    if why:
        higher = max(sweep, key=_merit).invalid
        remedy = higher.remedy if higher is not None else _RAMP if KEYS[key].unit == "MB/s" else _SMALL_RAMP
        return UnusedMeasurement(quantity, why, reasons, remedy, WhyUnused.LOWER_BOUND)
    target = targets.of(best)
    if target is None:
        path = best.point.at.get("path", best.run.step.settings.get("path")) or "not recorded"
        cause, remedy = f"the device under its target ({path}) is unknown", "measure a device or mount of this machine"
    else:
        cause = f"it is of {target.name} alone"
        remedy = "say with db.device where the database lies" if device is None else f"measure {device}"
    return UnusedMeasurement(quantity, cause, reasons, remedy, WhyUnused.ONE_PATH)


def _redo(runs: Sequence[StepRun]) -> dict[str, Value]:
    writes = [
        one
        for one in _figures(runs, "latency-mean")
        if one.workload == "redo" and one.point.at.get("direction") == "write"
    ]
    value, usual = _best("redo.sync_write_us", "ns", writes, _usual)
    values: dict[str, Value] = {} if value is None else {"redo.sync_write_us": value}
    if usual is not None:
        values["redo.write_kib"] = Quantity(_block_bytes(usual.point), "bytes", Origin.MEASURED, usual.run.step.id)
    return values


def _usual(figure: _Figure) -> float:
    """The nearer to the usual redo write, the more."""
    return -abs(_block_bytes(figure.point) - _REDO_WRITE_BYTES)


def _cpu_cost(rates: Sequence[_Figure]) -> Quantity | None:
    """What a MB cost the host at the best rate with a known cost: the workers, kernel threads and interrupts."""
    costs = {
        (run.step.id, place(point)): point
        for run in {rate.run.step.id: rate.run for rate in rates}.values()
        for point in _points(run, "cpu-per-mb")
    }
    for rate in rates:
        point = costs.get((rate.run.step.id, place(rate.point)))
        host_ns = None if point is None or point.estimate is None else point.estimate.extra.get("host_io_ns_per_mb")
        if point is not None and isinstance(host_ns, float) and host_ns > 0:
            return replace(_quantity(rate.run, point, "ns"), value=host_ns, low=None, high=None)
    return None


def _block_bytes(point: Point) -> float:
    return float(point.at.get("block_bytes", _REDO_WRITE_BYTES))


def _memory(session: Session) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for run in session.steps.values():
        found: dict[str, Value] = {}
        if run.step.probe == "memory.latency":
            found = _local_latency(run)
        elif run.step.probe == "memory.numa":
            found = _node_latencies(run)
        values |= {key: value for key, value in found.items() if isinstance(value, Quantity) or key not in values}
    return values


def _local_latency(run: StepRun) -> dict[str, Value]:
    """Latency of the largest working set on the pages a database would use."""
    points = _figures([run], "dram-thp") or _figures([run], "dram-4k")
    if not points:
        return {}
    largest = max(points, key=_working_set)
    placement = "local" if largest.point.estimate is None else largest.point.estimate.extra.get("placement", "local")
    if largest.invalid is None and placement != "local":  # older sessions do not say
        cause = "its pages were remote" if placement == "remote" else "where its pages were is unknown"
        quantity = _quantity(run, largest.point, "ns")
        return {"memory.local_ns": UnusedMeasurement(quantity, cause, "; ".join(quantity.caveats), _MEASURE_LOCAL)}
    cache = run.step.settings.get("last_level_cache_bytes")
    if largest.invalid is None and isinstance(cache, int) and _working_set(largest) <= cache:
        cause = f"its working set is no larger than the last-level cache ({format_bytes(cache)})"
        quantity, remedy = _quantity(run, largest.point, "ns"), "run memory.latency with a larger working set"
        return {"memory.local_ns": UnusedMeasurement(quantity, cause, "", remedy)}
    return {"memory.local_ns": _taken(largest)}


def _working_set(figure: _Figure) -> float:
    size = figure.point.at.get("working_set_bytes", 0)
    return float(size) if isinstance(size, int | float) else 0.0


def _node_latencies(run: StepRun) -> dict[str, Value]:
    """The lowest latency from a node to itself, and the highest to another; of valid figures, where there are any."""
    values: dict[str, Value] = {}
    points = [one for one in _figures([run], "latency") if {"cpu_node", "memory_node"} <= one.point.at.keys()]
    local = [one for one in points if one.point.at["cpu_node"] == one.point.at["memory_node"]]
    remote = [one for one in points if one.point.at["cpu_node"] != one.point.at["memory_node"]]
    if local:
        values["memory.local_ns"] = _taken(min(local, key=lambda one: (one.invalid is not None, _merit(one))))
    if remote:
        values["memory.remote_ns"] = _taken(max(remote, key=lambda one: (one.invalid is None, _merit(one))))
    return values


def _taken(figure: _Figure) -> Value:
    return _quantity(figure.run, figure.point, "ns") if figure.invalid is None else _not_valid(figure, "ns")
