"""Compare one load on several paths, each alone and all together, and with two engines, alternating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.gap import Gap
from sizeup.model.sample import Progress
from sizeup.probing.api import Context, Emission
from sizeup_direct_io import conclusions, estimates, host_counters
from sizeup_direct_io.checks import CHECK_WINDOW, without_progress
from sizeup_direct_io.disks import read_disks
from sizeup_direct_io.engines import choose
from sizeup_direct_io.measure import MeasuredPoint, Window, measure
from sizeup_direct_io.path_bandwidth import TargetBandwidth
from sizeup_direct_io.path_states import PathWatch
from sizeup_direct_io.point_verdict import PointVerdict
from sizeup_direct_io.presets import LARGE_BYTES, Durable, LoadPoint, Stream
from sizeup_direct_io.target_setup import TargetSetup
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine

ENGINE_PAIRS = 5


class ComparedLoad(Struct, frozen=True):
    """The load for a comparison: one stream of one point."""

    point: LoadPoint
    window: Window
    context: Context
    verdict: PointVerdict
    paths: PathWatch

    @property
    def unit(self) -> str:
        """The unit of throughput: bytes/s of large requests, IOPS of small ones."""
        return "bytes/s" if self.point.loads[0][0].block_bytes >= LARGE_BYTES else "1/s"

    def throughput(self, measured: MeasuredPoint) -> float:
        """In ``unit``."""
        return measured.bytes_per_second if self.unit == "bytes/s" else measured.iops


def compare_paths(
    load: ComparedLoad, setups: Sequence[TargetSetup], path_bandwidth: TargetBandwidth | None
) -> Generator[Emission, None, None]:
    """Measure the load on each path alone, then on all at once."""
    alone: dict[str, float] = {}
    for number, setup in enumerate(setups, start=1):
        yield Progress(0.9, None, f"path {number} of {len(setups)} alone: {setup.target.path}")
        measured = yield from _measure_on(load, [setup], setup.target.path)
        alone[setup.target.path] = load.throughput(measured)
    yield Progress(0.95, None, f"all {len(setups)} paths together")
    measured = yield from _measure_on(load, setups, "all together")
    yield conclusions.scaling(alone, load.throughput(measured), load.unit, path_bandwidth, _shared_disks(setups))


def _shared_disks(setups: Sequence[TargetSetup]) -> tuple[str, ...]:
    """Return the disks beneath more than one path."""
    found = [read_disks(setup.target.device_number) for setup in setups]
    used = Counter(name for disks in found if disks is not None for name in disks.names)
    return tuple(name for name, times in used.items() if times > 1)


def _measure_on(
    load: ComparedLoad, setups: Sequence[TargetSetup], name: str
) -> Generator[Emission, None, MeasuredPoint]:
    stream, count = load.point.loads[0]
    at: dict[str, str | int | float] = {
        "workload": load.point.at["workload"],
        "queue_depth": count * len(setups),
        "path": name,
    }
    workers = [
        worker for group, setup in enumerate(setups) for worker in setup.workers(stream, count, group, huge_pages=True)
    ]
    first = setups[0].target
    counter_source = CounterSource(
        first.device_number, first.mount.point if first.mount and first.network else None, load.paths
    )
    window = load.window
    if stream.extends:
        window = replace(window, warmup_seconds=0.0)
        for setup in setups:
            setup.empty()
    cached = setups[0].cached_bytes()
    names = tuple(setup.target.path for setup in setups)
    try:
        measured = yield from measure(workers, names, at, window, load.context, counter_source)
    except SizeupError as error:
        raise type(error)(f"{' or '.join(names)}: {error}") from error
    caveats: tuple[str, ...] = ()
    location: dict[str, str | int | float] = {}
    if len(setups) == 1:  # the counters are those of one target
        loads = LoadPoint(at, ((stream, count),))
        parts = replace(load.verdict, setup=setups[0]).parts(loads, measured, cached)
        caveats, location = estimates.caveats_of(parts), estimates.location(first)
        for part in parts:
            yield estimates.validity_estimate(at, part)
    yield from estimates.throughput(at, [measured], caveats, location)
    return measured


def _not_comparable(stream: Stream, first: Engine, second: Engine) -> str:
    if first is second:
        return "the run itself used this engine"
    if stream.durable is Durable.FDATASYNC:
        return "fdatasync works with the threads engine only"
    return "a growing file cannot be measured twice" if stream.extends else ""


def compare_engines(
    load: ComparedLoad, setup: TargetSetup, counter_source: CounterSource, other: str
) -> Generator[Emission, None, None]:
    """Compare the engine of the run with another one, in pairs of short windows in alternating order."""
    stream, count = load.point.loads[0]
    first = setup.choice.engine
    try:
        second = choose(other, host_counters.read_policy(), network=setup.target.network, extending=False).engine
        why = _not_comparable(stream, first, second)
    except RefusedError as error:
        why = str(error)
    if why:
        yield Gap(f"io.direct: {first.value} compared with {other}", why)
        return
    ratios = []
    for pair in range(ENGINE_PAIRS):
        yield Progress(0.9, None, f"{first.value} and {second.value}, pair {pair + 1} of {ENGINE_PAIRS}")
        found: dict[Engine, float] = {}
        for engine in (first, second) if pair % 2 else (second, first):
            workers = list(setup.workers(stream, count, 0, huge_pages=load.point.huge_pages, engine=engine))
            measured = without_progress(
                measure(workers, (stream.name,), {}, CHECK_WINDOW, load.context, counter_source)
            )
            found[engine] = load.throughput(measured)
        ratios.append(found[first] / found[second])
    workload = str(load.point.at["workload"])
    yield conclusions.engine_gain(workload, count, ratios, (first.value, second.value))
