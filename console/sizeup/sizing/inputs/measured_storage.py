"""What the storage delivers by what was measured: capacities, lower bounds, and which paths they are of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.quantity import Doubt, Quantity
from sizeup.session.validity import measurement_key
from sizeup.session.value import StepRun
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.inputs.detected import path_bandwidth_values
from sizeup.sizing.inputs.doubts import LARGE, MIXED, Surroundings, doubted, why_lower_bound
from sizeup.sizing.inputs.measured_figures import MeasuredFigure, at_same_point, best, figures, not_valid, quantity
from sizeup.sizing.path_bandwidth import Capacity, disks_that_count, storage_path_bandwidths
from sizeup.sizing.storage_paths import StorageTarget, find_target, internal_disks

RATES = (LARGE, "storage.small_bandwidth")
"""Throughput of large requests, and of small ones, which end at the device's IOPS and not at its MB/s."""
IOPS = "storage.random_iops"


def storage_capacity(
    runs: Sequence[StepRun], machine: Machine, device: str | None, database: float | None = None
) -> dict[str, Value]:
    """What the storage delivers: capacities instead of the estimates of their paths, and what was excluded and why."""
    values: dict[str, Value] = {}
    targets, about = _Targets(machine), Surroundings(machine, runs, database)
    rates = figures(runs, *RATES)
    most: dict[frozenset[str], tuple[Capacity, Quantity]] = {}
    for target in {target.name: target for one in rates if (target := targets.of(one)) is not None}.values():
        of_target = [one for one in rates if targets.of(one) == target]
        capacity = _capacity("capacity.mb_s", of_target, about, target, targets)
        # Of a disk and what lies on it, whichever showed more.
        if capacity is not None and not _more(most.get(target.disks), capacity):
            most[target.disks] = Capacity(target, capacity.value), capacity
    bandwidths = storage_path_bandwidths(machine, device, [capacity for capacity, _ in most.values()])
    if any(bandwidth.measured for bandwidth in bandwidths):
        values |= path_bandwidth_values(machine, bandwidths)
        found = values["path.bandwidth_mb_s"]
        assert isinstance(found, Quantity)
        known = [value for capacity, value in most.values() if capacity in bandwidths[0].measured]
        sources = dict.fromkeys(value.source for value in known)
        caveats = dict.fromkeys((*found.caveats, *(caveat for value in known for caveat in value.caveats)))
        estimated = path_bandwidth_values(machine, storage_path_bandwidths(machine, device)).get("path.bandwidth_mb_s")
        links = estimated.value if isinstance(estimated, Quantity) else 0.0
        values["path.bandwidth_mb_s"] = replace(
            found,
            source=", ".join((found.source, *sources)),
            caveats=tuple(caveats),
            doubts=_joint_doubts(found, known, links),
        )
    elif rates:
        values["capacity.mb_s"] = _not_taken("bytes/s", rates, targets, device)
    values |= _requests(runs, targets, device, about)
    cost = _cpu_cost(sorted((one for one in rates if one.invalid is None), key=lambda one: one.value, reverse=True))
    return values if cost is None else {**values, "capacity.cpu_us_mb": cost}


def on_shared_storage(runs: Sequence[StepRun], machine: Machine) -> list[StepRun]:
    """Return the steps of a server of a cluster that measured nothing on the drives inside it."""
    targets, internal = _Targets(machine), internal_disks(machine)

    def inside(run: StepRun) -> bool:
        found = (targets.of(one) for one in figures([run], *RATES, IOPS, "storage.log_write_latency"))
        return any(target is not None and target.disks & internal for target in found)

    return [run for run in runs if not inside(run)]


def _more(known: tuple[Capacity, Quantity] | None, capacity: Quantity) -> bool:
    return known is not None and known[1].value >= capacity.value


def _requests(runs: Sequence[StepRun], targets: _Targets, device: str | None, about: Surroundings) -> dict[str, Value]:
    """Small requests a second and their response time, where they were measured on all storage that counts."""
    small = figures(runs, IOPS)
    if not small:
        return {}
    wanted = disks_that_count(targets.machine, device)
    curve = _curve(small, targets, wanted)

    def whole_of(found: Sequence[MeasuredFigure]) -> list[MeasuredFigure]:
        return [one for one in found if (target := targets.of(one)) is not None and target.disks >= wanted]

    whole = whole_of(small)
    target = targets.of(whole[0]) if whole else None
    capacity = _capacity("capacity.iops", whole, about, target, targets)
    if capacity is None:
        return {**curve, "capacity.iops": _not_taken("1/s", small, targets, device)}
    values: dict[str, Value] = {**curve, "capacity.iops": capacity}
    mixed = _capacity("capacity.mixed_iops", whole_of(figures(runs, MIXED)), about, target, targets)
    if mixed is not None:
        values["capacity.mixed_iops"] = mixed
    most = next(one for one in whole if quantity(one, "1/s").source == capacity.source)
    for one in figures([most.run], "storage.read_latency"):
        if one.invalid is None and at_same_point(one, most):
            values["capacity.latency_ms"] = quantity(one, "ns")
    return values


def _joint_doubts(found: Quantity, known: Sequence[Quantity], links: float) -> tuple[Doubt, ...]:
    """Return what is doubted of paths together: of one target all of it, of several the sum while each had the rest.

    What is open upwards ends at the bandwidth of the links, where that is known.
    """
    if len(known) == 1:
        doubts = known[0].scaled(found.value / known[0].value).doubts
        return tuple(replace(one, end=links) if one.end is None and links > found.value else one for one in doubts)
    if not known:
        return ()
    least = max(value.least for value in known)
    return (Doubt(least, "its targets were not measured together", "Measure them together (more_paths)"),)


def _curve(small: Sequence[MeasuredFigure], targets: _Targets, wanted: frozenset[str]) -> dict[str, Value]:
    """IOPS and mean latency of reads along the best valid ramp, as far as its IOPS rise with the depth.

    A ramp on all storage that counts comes before one on a part of it.
    """
    ramps: dict[object, list[tuple[MeasuredFigure, MeasuredFigure]]] = {}
    latencies = figures({one.run.step.id: one.run for one in small}.values(), "storage.read_latency")
    for one in small:
        beside = next((latency for latency in latencies if at_same_point(latency, one)), None)
        if one.load and beside is not None and one.invalid is None and beside.invalid is None:
            ramps.setdefault(_sweep(one), []).append((one, beside))
    known = [ramp for points in ramps.values() if len(ramp := _rising(points)) >= _LEAST_OF_A_CURVE]

    def merit(ramp: Sequence[tuple[MeasuredFigure, MeasuredFigure]]) -> tuple[bool, float]:
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


_LEAST_OF_A_CURVE = 2
"""Points below this are no ramp."""


def _rising(
    points: Sequence[tuple[MeasuredFigure, MeasuredFigure]],
) -> list[tuple[MeasuredFigure, MeasuredFigure]]:
    """Points by depth, without those whose IOPS are not above all before."""
    kept: list[tuple[MeasuredFigure, MeasuredFigure]] = []
    for point in sorted(points, key=lambda pair: pair[0].load):
        if not kept or point[0].value > kept[-1][0].value:
            kept.append(point)
    return kept


class _Targets:
    """What figures were measured on, each path looked up once."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._known: dict[tuple[str, bool], StorageTarget | None] = {}

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

    def _find(self, where: str, *, exact: bool = False) -> StorageTarget | None:
        if (where, exact) not in self._known:
            self._known[where, exact] = find_target(self.machine, where, exact=exact)
        return self._known[where, exact]

    def _together(self, paths: Sequence[str]) -> StorageTarget | None:
        found = [self._find(path) for path in paths if path]
        known = [target for target in found if target is not None]
        if len(known) < len(found):
            return None
        return StorageTarget(
            ", ".join(dict.fromkeys(target.name for target in known)),
            frozenset[str]().union(*(target.disks for target in known)),
            frozenset[str]().union(*(target.carriers for target in known)),
        )


def _capacity(
    key: str, found: Sequence[MeasuredFigure], about: Surroundings, target: StorageTarget | None, targets: _Targets
) -> Quantity | None:
    """The most that one target gives, by the best of the sweeps that show it, else by what bounds it; None for none.

    Of several that bound it the one with the highest lower end counts.
    """
    sweeps: dict[object, list[MeasuredFigure]] = {}
    for one in found:
        sweeps.setdefault(_sweep(one), []).append(one)
    cold = about.cold(target, targets.of)
    bounded = []
    for sweep in sweeps.values():
        evidence = [one for one in sweep if one.invalid is None or one.invalid.is_doubt]
        if not evidence:
            continue
        most = max(evidence, key=lambda one: one.value)
        value = doubted(key, most, sweep, about, target, cold)
        shown = most.invalid is None and not why_lower_bound(key, sweep)
        bounded.append((shown, value.value if shown else value.least, value.value, value))
    return max(bounded, key=lambda one: one[:3])[3] if bounded else None


def _sweep(figure: MeasuredFigure) -> object:
    """What figures have in common that differ in their load alone."""
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
