"""What a session measured, as inputs of sizing: what the storage and the memory deliver in place of assumed figures.

A figure counts by the quantity that its probe's manifest declares, whatever the probe is called. One that is not
valid (``sizeup.session.validity``), that is only a lower bound, or that was taken on one path of several is never
the capacity of the storage: where nothing else answers its key, it stands there with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity, Uncertainty, Words
from sizeup.session.validity import measurement_key
from sizeup.session.value import Session, StepRun
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.inputs.detected import path_bandwidth_values, storage_of
from sizeup.sizing.inputs.measured_figures import (
    MeasuredFigure,
    at_same_point,
    best,
    figures,
    measure_again,
    not_valid,
    quantity,
    taken,
)
from sizeup.sizing.inputs.uncertainty import (
    LARGE,
    MIXED,
    P99_KEY,
    WITHIN_P99,
    Surroundings,
    beside_others,
    block_bytes,
    of_block_size,
    why_lower_bound,
    with_ends,
    with_other_runs,
    with_uncertainties,
    write_share,
)
from sizeup.sizing.io.share import MEASURED_BYTES, MIXED_WRITES, unlike_mix
from sizeup.sizing.keys import KEYS
from sizeup.sizing.storage_paths import (
    Capacity,
    StorageTarget,
    disks_that_count,
    find_target,
    internal_disks,
    mount_point,
    nfs_mount,
    storage_path_bandwidths,
)
from sizeup.text import words_of
from sizeup.units import format_bytes

_REDO_WRITE_BYTES = 65536
"""The redo write whose time is taken where several sizes were measured: the largest that is usual."""
USUAL_COMMITTERS = 8
"""Sessions that commit at once where a workload does not say how many."""
_TIMES_ABOVE = 4
"""Loads from a working set this many times a cache almost never hit the cache."""


def measured(session: Session, stated: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """Keys that this session's probes answer, for sizing; ``stated`` says where the database lies (``db.device``).

    Storage figures replace the estimate of the path they were taken on, and give the time of a synchronous write;
    memory figures give the local and remote latencies.
    """
    machine = Machine() if session.machine is None else session.machine
    device = (stated or {}).get("db.device")
    runs, shared = list(session.steps.values()), storage_of(machine, stated or {})
    if shared is not machine:
        runs, machine = on_shared_storage(runs, machine), shared
    where = device.value if isinstance(device, Words) else None
    values = storage_capacity(runs, machine, where, stated or {})
    place = {} if device is not None else _measured_place(runs, machine, *RATES, IOPS)
    return values | place | _redo(runs) | _commits(runs, stated or {}) | _memory(runs)


def headlines(session: Session) -> dict[str, Value]:
    """The best valid figure of each key, whatever path and depth it is of: to stand beside a published one."""
    runs = list(session.steps.values())
    found = {"capacity.mb_s": (best(figures(runs, *RATES)), "bytes/s")}
    found["capacity.iops"] = best(figures(runs, IOPS, MIXED[0])), "1/s"
    known = {key: taken(one, unit) for key, (one, unit) in found.items() if one is not None}
    return known | _redo(runs) | _memory(runs)


def _measured_place(runs: Sequence[StepRun], machine: Machine, *quantities: str) -> dict[str, Value]:
    """Return the one mount or device that these quantities were measured on, valid or not; nothing for several.

    It is taken as the place of the database while nobody says another.
    """
    places: dict[str, str] = {}
    for one in figures(runs, *quantities):
        places.setdefault(_place(one, machine), one.run.step.id)
    if len(places) != 1:
        return {}
    (place, step), *_ = places.items()
    if find_target(machine, place) is None or nfs_mount(machine, place) is not None:
        return {}
    return {"path.measured": Words(place, Origin.MEASURED, step)}


def _place(figure: MeasuredFigure, machine: Machine) -> str:
    """Return the mount or device that a figure is of; empty where a step does not name one path."""
    declared = figure.run.declaration.target
    if declared is not None and declared.together and figure.target == declared.together:
        return ""
    extra = {} if figure.point.estimate is None else figure.point.estimate.extra
    return mount_point(machine, str(extra.get("mount_point", figure.target)))


def _redo(runs: Sequence[StepRun]) -> dict[str, Value]:
    # Less is the record of one commit, which tells the time that it waits and not the throughput of a log.
    found = [one for one in figures(runs, "storage.log_write_latency") if _size_bytes(one) >= 4096]
    usual = best(found, lambda one: -abs(_size_bytes(one) - _REDO_WRITE_BYTES))
    values: dict[str, Value] = {} if usual is None else {"redo.sync_write_us": taken(usual, "ns")}
    if usual is not None and usual.invalid is None:
        values["redo.write_kib"] = Quantity(_size_bytes(usual), "bytes", Origin.MEASURED, usual.run.step.id)
    return values


def _commits(runs: Sequence[StepRun], stated: Mapping[str, Value]) -> dict[str, Value]:
    """Commits a second of the most committers that the workload has, of the slowest target; a default has two ends."""
    given = stated.get("workload.committers")
    most = given.value if isinstance(given, Quantity) else USUAL_COMMITTERS
    found = figures(runs, "storage.commits")
    of_valid = [one for one in found if one.invalid is None or one.invalid.still_bounds]
    fitting = [one for one in found if one.load <= most]
    one = max(fitting, key=lambda one: (one in of_valid, one.load, -one.value), default=None)
    if one is None or one not in of_valid:
        return {} if one is None else {"capacity.commits_s": not_valid(one, "1/s")}
    value, by_load = with_ends(one, "1/s"), {other.load: other for other in of_valid if _sweep(other) == _sweep(one)}
    ends = {min(by_load), max(by_load)} - {one.load} if given is None else set[float]()
    why, action = f"workload.committers={one.load:g} by default", f"Use {KEYS['workload.committers'].flag}"
    defaults = [Uncertainty(by_load[end].value, why, action, end > one.load, default=True) for end in sorted(ends)]
    uncertainties = (*value.uncertainties, *beside_others(one), *defaults)
    return {"capacity.commits_s": replace(value, uncertainties=uncertainties)}


def _size_bytes(figure: MeasuredFigure) -> float:
    return figure.coordinate(figure.declared.size) or _REDO_WRITE_BYTES


def _memory(runs: Sequence[StepRun]) -> dict[str, Value]:
    """Return the latencies to the memory of the same node, and the highest to that of another."""
    values: dict[str, Value] = {}
    for run in runs:
        local, remote = figures([run], "memory.local_latency"), best(figures([run], "memory.remote_latency"))
        found = {"memory.local_ns": _local(run, local)} if local else {}
        found |= {} if remote is None else {"memory.remote_ns": taken(remote, "ns")}
        values |= {key: value for key, value in found.items() if isinstance(value, Quantity) or key not in values}
    return values


def _local(run: StepRun, found: Sequence[MeasuredFigure]) -> Value:
    """The lowest figure of the first series that has one; of a curve the point farthest along its axis."""
    first = next(name for name in run.series if any(one.point.series == name for one in found))
    curve = [one for one in found if one.point.series == first and one.axis]
    if curve:
        chosen = max(curve, key=lambda one: one.coordinate(one.axis))
    else:
        of_series = [one for one in found if one.point.series == first]
        chosen = min(of_series, key=lambda one: (one.invalid is not None, one.value))
    placement = "local" if chosen.point.estimate is None else chosen.point.estimate.extra.get("placement", "local")
    if chosen.invalid is None and placement != "local":  # a probe need not say where its pages were
        cause = "its pages were remote" if placement == "remote" else "where its pages were is unknown"
        remedy = f"{measure_again(chosen)} on a CPU whose node has free memory"
        return UnusedMeasurement(quantity(chosen, "ns"), cause, remedy)
    size = chosen.run.step.settings.get(chosen.declared.above)
    near = isinstance(size, int) and chosen.coordinate(chosen.axis) < _TIMES_ABOVE * size
    if chosen.invalid is None and near and isinstance(size, int):
        axis, setting = words_of(chosen.axis), words_of(chosen.declared.above)
        cause = f"its {axis} is less than {_TIMES_ABOVE} times the {setting} ({format_bytes(size)})"
        return UnusedMeasurement(quantity(chosen, "ns"), cause, f"{measure_again(chosen)} with a larger {axis}")
    return taken(chosen, "ns")


RATES = (LARGE, "storage.small_bandwidth")
"""Throughput of large requests, and of small ones, which end at the device's IOPS and not at its MB/s."""
IOPS = "storage.random_iops"


def storage_capacity(
    runs: Sequence[StepRun], machine: Machine, device: str | None, stated: Mapping[str, Value]
) -> dict[str, Value]:
    """What the storage delivers: capacities instead of the estimates of their paths, and what was excluded and why."""
    values: dict[str, Value] = {}
    targets, about = _Targets(machine), Surroundings(machine, runs, stated)
    rates, proven = figures(runs, *RATES), 0.0
    most = _by_target("capacity.mb_s", rates, about, targets)
    capacities = [Capacity(target, value.value) for target, value in most]
    bandwidths = storage_path_bandwidths(machine, device, capacities)
    if len(most) > 1 and not any(bandwidth.measured for bandwidth in bandwidths):  # none has a path of its own
        most = _apart(most)
        capacities = [Capacity(_joined(target for target, _ in most), sum(value.value for _, value in most))]
        bandwidths = storage_path_bandwidths(machine, device, capacities)
    if any(bandwidth.measured for bandwidth in bandwidths):
        values |= path_bandwidth_values(machine, bandwidths)
        found = values["path.bandwidth_mb_s"]
        assert isinstance(found, Quantity)
        counted = frozenset[str]().union(*(one.target.disks for one in bandwidths[0].measured))
        known = [value for target, value in most if target.disks <= counted]
        links = path_bandwidth_values(machine, storage_path_bandwidths(machine, device)).get("path.bandwidth_mb_s")
        limit = links.value if isinstance(links, Quantity) else math.inf
        if known:
            found = _of_paths(found, known, limit, partly=bool(bandwidths[0].estimated))
            values["path.bandwidth_mb_s"], proven = found, found.least
    elif rates:
        values["capacity.mb_s"] = _not_taken("bytes/s", rates, targets, device)
    values |= _requests(runs, targets, device, about, proven)
    cost = _cpu_cost(sorted((one for one in rates if one.invalid is None), key=lambda one: one.value, reverse=True))
    return values if cost is None else {**values, "capacity.cpu_us_mb": cost}


def on_shared_storage(runs: Sequence[StepRun], machine: Machine) -> list[StepRun]:
    """Return the steps of a server of a cluster that measured nothing on the drives inside it."""
    targets, internal = _Targets(machine), internal_disks(machine)

    def inside(run: StepRun) -> bool:
        found = (targets.of(one) for one in figures([run], *RATES, IOPS, WITHIN_P99, "storage.log_write_latency"))
        return any(target is not None and target.disks & internal for target in found)

    return [run for run in runs if not inside(run)]


def _by_target(
    key: str, found: Sequence[MeasuredFigure], about: Surroundings, targets: _Targets
) -> list[tuple[StorageTarget, Quantity]]:
    """Return each target with what it gives; of a disk and what lies on it, whichever showed more."""
    most: dict[frozenset[str], tuple[StorageTarget, Quantity]] = {}
    for target in {target.name: target for one in found if (target := targets.of(one)) is not None}.values():
        capacity = _capacity(key, [one for one in found if targets.of(one) == target], about, target, targets)
        if capacity is not None and (target.disks not in most or most[target.disks][1].value < capacity.value):
            most[target.disks] = target, capacity
    return list(most.values())


def _apart(known: Sequence[tuple[StorageTarget, Quantity]]) -> list[tuple[StorageTarget, Quantity]]:
    """Return the targets that are no part of another one."""
    return [one for one in known if not any(one[0].disks < other.disks for other, _ in known)]


def _joined(targets: Iterable[StorageTarget]) -> StorageTarget:
    """Return several targets as one."""
    names, disks, carriers = zip(*((one.name, one.disks, one.carriers) for one in targets), strict=True)
    return StorageTarget(", ".join(dict.fromkeys(names)), frozenset().union(*disks), frozenset().union(*carriers))


def _requests(
    runs: Sequence[StepRun], targets: _Targets, device: str | None, about: Surroundings, rate: float
) -> dict[str, Value]:
    """Small requests a second and their response time, where they were measured on all storage that counts.

    ``rate`` is the bandwidth that is certain.
    """
    small, searched = figures(runs, IOPS), figures(runs, WITHIN_P99)
    wanted = disks_that_count(targets.machine, device)
    block, p99 = about.wanted("workload.io_kib") or MEASURED_BYTES, about.wanted("workload.p99_ms")

    def whole(key: str, found: Sequence[MeasuredFigure]) -> Quantity | None:
        known = _by_target(key, found, about, targets)
        if not known or not _joined(target for target, _ in known).disks >= wanted:
            return None
        covering = [value for target, value in known if target.disks >= wanted]
        most = max(covering, key=lambda one: one.value) if covering else _sum([value for _, value in _apart(known)])
        return of_block_size(key, most, block_bytes(found[0]), block, rate)

    values = _curve(small, targets, wanted)
    if searched and p99 is not None:
        p99_ms, reads = round(p99 / 1e6, 6), about.wanted("workload.read_percent") or 0.0
        nearest = min(searched, key=lambda one: _unlike(one, p99_ms, reads))
        alike = [one for one in searched if one.point.at == nearest.point.at]
        values |= _within_p99(whole(P99_KEY, alike) or _not_taken("1/s", alike, targets, device), nearest, p99_ms)
    capacity, mixed = whole("capacity.iops", small), None
    if mixes := figures(runs, *MIXED):
        share = about.wanted("workload.read_percent")
        size = min(map(block_bytes, mixes), key=lambda one: abs(math.log2(one / block)))
        mixes = [one for one in mixes if block_bytes(one) == size]
        near = min(map(write_share, mixes), key=lambda one: unlike_mix(one, share))
        mixed = whole("capacity.mixed_iops", [one for one in mixes if write_share(one) == near])
    if small:
        values["capacity.iops"] = capacity or _not_taken("1/s", small, targets, device)
    if mixed is not None and near:
        values["capacity.mixed_iops"] = mixed
        if near != MIXED_WRITES:
            values["capacity.mixed_read_percent"] = Quantity(1 - near, "share", Origin.MEASURED, mixed.source)
    if mixed is not None and capacity is None:  # a read takes no longer than a request of a mix
        why = Uncertainty(None, "reads alone were not measured", "Measure them (preset oltp-read)", upper=True)
        above = (why,) if near else ()
        values["capacity.iops"] = capacity = replace(mixed, uncertainties=(*mixed.uncertainties, *above))
    if capacity is None:
        return values
    most = next((one for one in small if quantity(one, "1/s").source == capacity.source), None)
    for one in figures([] if most is None else [most.run], "storage.read_latency"):
        if one.invalid is None and most is not None and at_same_point(one, most):
            values["capacity.latency_ms"] = quantity(one, "ns")
    return values


def _unlike(one: MeasuredFigure, p99_ms: float, reads: float) -> tuple[bool, float, float]:
    """Return how far a rate within a p99 is from one of another p99 and mix; one of a looser p99 is farthest."""
    limit = one.coordinate("limit_ms")
    return limit > p99_ms, abs(limit - p99_ms), abs(one.coordinate("read_percent") / 100 - reads)


def _within_p99(value: Value, figure: MeasuredFigure, p99_ms: float) -> dict[str, Value]:
    """Return a rate for another p99, and its mix: a looser one leaves its upper end open, for a stricter it is none."""
    limit = figure.coordinate("limit_ms")
    if isinstance(value, Quantity) and limit != p99_ms:
        why, how = f"it is of a p99 of {limit:g} ms", f"Measure it (preset slo, objective {p99_ms / 1e3:g})"
        looser = replace(value, uncertainties=(*value.uncertainties, Uncertainty(None, why, how, upper=True)))
        value = UnusedMeasurement(value, why, how) if limit > p99_ms else looser
    reads = Quantity(figure.coordinate("read_percent") / 100, "share", Origin.MEASURED, figure.run.step.id)
    return {P99_KEY: value, "capacity.p99_read_percent": reads}


def _sum(known: Sequence[Quantity]) -> Quantity:
    """Return what targets give that were not measured together: at least the largest of them, at most their sum."""
    tops = [value.most for value in known]
    upper = None if None in tops else sum(filter(None, tops))
    return replace(
        known[0],
        value=sum(value.value for value in known),
        low=None,
        high=None,
        source=", ".join(dict.fromkeys(value.source for value in known)),
        caveats=tuple(dict.fromkeys(caveat for value in known for caveat in value.caveats)),
        uncertainties=_not_together(max(value.least for value in known), upper),
    )


def _not_together(least: float, most: float | None) -> tuple[Uncertainty, Uncertainty]:
    why, action = "its targets were not measured together", "Measure them together (more_paths)"
    return Uncertainty(least, why, action), Uncertainty(most, why, action, upper=True)


def _of_paths(found: Quantity, known: Sequence[Quantity], links: float, *, partly: bool) -> Quantity:
    """Return the bandwidth of paths with the ends of what was measured on them, none above that of their links.

    ``partly``: others of them are known by their links alone, which say nothing of what is behind them.
    """
    one = known[0] if len(known) == 1 else _sum(known)
    top = links if one.most is None else min(links, found.value + one.most - one.value)

    def ended(uncertainty: Uncertainty) -> Uncertainty:
        return (
            replace(uncertainty, end=links if uncertainty.end is None else min(uncertainty.end, links))
            if links < math.inf
            else uncertainty
        )

    return replace(
        found,
        source=", ".join((found.source, one.source)),
        caveats=tuple(dict.fromkeys((*found.caveats, *one.caveats))),
        low=min(found.value if one.low is None else one.low, found.value),
        high=max(found.value if one.high is None else min(one.high, links), found.value),
        uncertainties=tuple(
            map(ended, _not_together(one.least, max(top, found.value)) if partly else one.uncertainties)
        ),
    )


def _curve(small: Sequence[MeasuredFigure], targets: _Targets, wanted: frozenset[str]) -> dict[str, Value]:
    """IOPS and mean latency of reads along the best valid ramp, as far as its IOPS rise with the depth.

    A ramp on all storage that counts comes before one on a part of it.
    """
    ramps: dict[object, _Ramp] = {}
    latencies = figures({one.run.step.id: one.run for one in small}.values(), "storage.read_latency")
    for one in small:
        beside = next((latency for latency in latencies if at_same_point(latency, one)), None)
        if one.load and beside is not None and one.invalid is None and beside.invalid is None:
            ramps.setdefault(_sweep(one), []).append((one, beside))
    known = [ramp for points in ramps.values() if len(ramp := _rising(points)) >= 2]

    def merit(ramp: _Ramp) -> tuple[bool, float]:
        target = targets.of(ramp[-1][0])
        return target is not None and target.disks >= wanted, ramp[-1][0].value

    if not known:
        return {}
    best_ramp = max(known, key=merit)
    first = best_ramp[0][0]
    mix = ", ".join(f"{name} {value}" for name, value in first.point.at.items() if name != first.load_name)
    where = f" on {first.target}" if first.target else ""
    caveat = f"the curve is of one target{where} ({mix}); another mix, block size or path has another"
    iops = tuple(quantity(one, "1/s") for one, _ in best_ramp)
    return {
        "capacity.curve_iops": (replace(iops[0], caveats=(*iops[0].caveats, caveat)), *iops[1:]),
        "capacity.curve_ms": tuple(quantity(latency, "ns") for _, latency in best_ramp),
    }


_Ramp = list[tuple[MeasuredFigure, MeasuredFigure]]
"""IOPS and mean latencies by the depth."""


def _rising(points: _Ramp) -> _Ramp:
    """Points by depth, without those whose IOPS are not above all before."""
    kept: _Ramp = []
    for point in sorted(points, key=lambda pair: pair[0].load):
        if not kept or point[0].value > kept[-1][0].value:
            kept.append(point)
    return kept


class _Targets:
    """What figures were measured on, each path looked up once."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._find = cache(partial(find_target, machine))

    def of(self, figure: MeasuredFigure) -> StorageTarget | None:
        """The device or mount under a figure; None where this machine does not tell.

        A probe may record the mount or the device that it opened; else the path is looked up by its name. Imported
        figures without a machine are of all the storage that is known.
        """
        if self.machine == Machine():
            return StorageTarget(figure.target, frozenset(), frozenset())
        settings, estimate = figure.run.step.settings, figure.point.estimate
        extra = {} if estimate is None else estimate.extra
        declared = figure.run.declaration.target
        if declared is not None and declared.together and figure.target == declared.together:
            more = str(settings.get(declared.more, "")).split(":")
            return self._together([str(settings.get(declared.setting, "")), *more])
        for name in ("mount_point", "device_number"):
            if name in extra:
                return self._find(str(extra[name]), exact=True)
        return self._find(figure.target)

    def _together(self, paths: Sequence[str]) -> StorageTarget | None:
        found = [self._find(path) for path in paths if path]
        known = [target for target in found if target is not None]
        return None if len(known) < len(found) else _joined(known)


def _capacity(
    key: str, found: Sequence[MeasuredFigure], about: Surroundings, target: StorageTarget, targets: _Targets
) -> Quantity | None:
    """The most that one target gives, by the best of the sweeps that show it, else by what bounds it; None for none.

    Of several that bound it the one with the highest lower end counts. Those of several steps that show it span it.
    """
    sweeps: dict[tuple[str, object], list[MeasuredFigure]] = {}
    for one in found:
        sweeps.setdefault(_sweep(one), []).append(one)
    cold = about.cold(target, targets.of)
    bounded: list[tuple[Quantity, MeasuredFigure]] = []
    shown: dict[object, list[tuple[Quantity, MeasuredFigure]]] = {}
    for (_, access), sweep in sweeps.items():
        evidence = [one for one in sweep if one.invalid is None or one.invalid.still_bounds]
        if not evidence:
            continue
        most = max(evidence, key=lambda one: one.value)
        value = with_uncertainties(key, most, sweep, about, target, cold)
        shows = most.invalid is None and not why_lower_bound(key, sweep)
        (shown.setdefault(access, []) if shows else bounded).append((value, most))
    if not shown:
        return max((value for value, _ in bounded), key=lambda one: (one.least, one.value), default=None)
    spans = []
    for runs in shown.values():
        value, figure = max(runs, key=lambda one: (one[0].least, one[0].value))
        spans.append(with_other_runs(key, value, figure, [one for _, one in runs if one is not figure]))
    return max(spans, key=lambda one: one.value)


def _sweep(figure: MeasuredFigure) -> tuple[str, object]:
    """Return the step of a figure, and its access: what it has in common with those that differ in load alone."""
    load = figure.load_name
    return figure.run.step.id, frozenset(item for item in measurement_key(figure.point) if item[0] != load)


def _not_taken(unit: str, found: Sequence[MeasuredFigure], targets: _Targets, device: str | None) -> UnusedMeasurement:
    """The best of figures of which none is the capacity, with what speaks against it."""
    most = best(found)
    assert most is not None
    if most.invalid is not None:
        return not_valid(most, unit)
    target = targets.of(most)
    if target is None:
        path = most.target or "not recorded"
        cause, remedy = f"the device under its target ({path}) is unknown", "measure a device or mount of this machine"
    else:
        cause = f"it is of {target.name} alone"
        remedy = "say with db.device where the database lies" if device is None else f"measure {device}"
    return UnusedMeasurement(quantity(most, unit), cause, remedy)


def _cpu_cost(rates: Sequence[MeasuredFigure]) -> Quantity | None:
    """What a MB cost the host at the best rate with a known cost: the workers, kernel threads and interrupts."""
    costs = figures({rate.run.step.id: rate.run for rate in rates}.values(), "storage.host_cpu_per_megabyte")
    for rate in rates:
        cost = next((one for one in costs if at_same_point(one, rate)), None)
        if cost is not None and cost.value > 0:
            return quantity(cost, "ns")
    return None
