"""What a session measured, as inputs of sizing: valid figures take the place of assumed ones.

A figure counts by the quantity that its probe's manifest declares, whatever the probe is called. One that is not
valid (``sizeup.session.validity``), that is only a lower bound, or that was taken on one path of several is never
the capacity of the storage: where nothing else answers its key, it stands there with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sizeup.model.machine import Machine
from sizeup.quantity import Doubt, Origin, Quantity, Words
from sizeup.session.value import Session, StepRun
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.inputs.detected import storage_of
from sizeup.sizing.inputs.doubts import MIXED
from sizeup.sizing.inputs.measured_figures import (
    MeasuredFigure,
    best,
    figures,
    measure_again,
    not_valid,
    quantity,
    taken,
)
from sizeup.sizing.inputs.measured_storage import IOPS, RATES, on_shared_storage, storage_capacity
from sizeup.sizing.storage_paths import find_target, mount_point, nfs_mount
from sizeup.text import words_of
from sizeup.units import format_bytes

_REDO_WRITE_BYTES = 65536
"""The redo write whose time is taken where several sizes were measured: the largest that is usual."""
_LEAST_REDO_WRITE_BYTES = 4096
"""Less is the record of one commit, which tells the time that it waits and not the throughput of a log."""
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
    found["capacity.iops"] = best(figures(runs, IOPS, MIXED)), "1/s"
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
    found = [one for one in figures(runs, "storage.log_write_latency") if _size_bytes(one) >= _LEAST_REDO_WRITE_BYTES]
    usual = best(found, _usual)
    values: dict[str, Value] = {} if usual is None else {"redo.sync_write_us": taken(usual, "ns")}
    if usual is not None and usual.invalid is None:
        values["redo.write_kib"] = Quantity(_size_bytes(usual), "bytes", Origin.MEASURED, usual.run.step.id)
    return values


def _commits(runs: Sequence[StepRun], stated: Mapping[str, Value]) -> dict[str, Value]:
    """Commits a second of the most committers that the workload has, of the slowest target; a default has two ends."""
    given = stated.get("workload.committers")
    most = given.value if isinstance(given, Quantity) else USUAL_COMMITTERS
    found = [one for one in figures(runs, "storage.commits") if one.load <= most]
    of_valid = [one for one in found if one.invalid is None or one.invalid.is_doubt]
    one = max(of_valid or found, key=lambda one: (one.load, -one.value), default=None)
    if one is None or not of_valid:
        return {} if one is None else {"capacity.commits_s": not_valid(one, "1/s")}
    alone = [other.value for other in of_valid if other.load == 1 and other.run is one.run]
    why = f"{one.load:g} sessions that commit at once by default"
    doubts = [Doubt(end, why, default=True) for end in alone if given is None and one.load > 1]
    return {"capacity.commits_s": replace(quantity(one, "1/s"), doubts=tuple(doubts))}


def _usual(figure: MeasuredFigure) -> float:
    """The nearer to the usual redo write, the more."""
    return -abs(_size_bytes(figure) - _REDO_WRITE_BYTES)


def _size_bytes(figure: MeasuredFigure) -> float:
    return figure.coordinate(figure.declared.size) or _REDO_WRITE_BYTES


def _memory(runs: Sequence[StepRun]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for run in runs:
        found = _latencies(run)
        values |= {key: value for key, value in found.items() if isinstance(value, Quantity) or key not in values}
    return values


def _latencies(run: StepRun) -> dict[str, Value]:
    """The latencies of one step: to the memory of the same node, and the highest to that of another."""
    values: dict[str, Value] = {}
    local = figures([run], "memory.local_latency")
    remote = best(figures([run], "memory.remote_latency"))
    if local:
        values["memory.local_ns"] = _local(run, local)
    if remote is not None:
        values["memory.remote_ns"] = taken(remote, "ns")
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
    return (_misplaced(chosen) or _too_near(chosen) if chosen.invalid is None else None) or taken(chosen, "ns")


def _misplaced(figure: MeasuredFigure) -> UnusedMeasurement | None:
    """Why a latency is not that of local memory, where its pages were elsewhere; a probe need not say where."""
    placement = "local" if figure.point.estimate is None else figure.point.estimate.extra.get("placement", "local")
    if placement == "local":
        return None
    cause = "its pages were remote" if placement == "remote" else "where its pages were is unknown"
    remedy = f"{measure_again(figure)} on a CPU whose node has free memory"
    return UnusedMeasurement(quantity(figure, "ns"), cause, remedy)


def _too_near(figure: MeasuredFigure) -> UnusedMeasurement | None:
    """Why a point is not of the quantity, where its axis is not well above the declared setting of the step."""
    size = figure.run.step.settings.get(figure.declared.above)
    if not isinstance(size, int) or figure.coordinate(figure.axis) >= _TIMES_ABOVE * size:
        return None
    axis, setting = words_of(figure.axis), words_of(figure.declared.above)
    cause = f"its {axis} is less than {_TIMES_ABOVE} times the {setting} ({format_bytes(size)})"
    return UnusedMeasurement(quantity(figure, "ns"), cause, f"{measure_again(figure)} with a larger {axis}")
