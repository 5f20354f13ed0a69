"""The workloads of the presets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import product
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup.units import format_bytes
from sizeup_direct_io.worker import Pattern

SMALL_BYTES = 8 << 10
LARGE_BYTES = 1 << 20
READ_AHEAD = 4
"""Queue depth of one sequential stream, as of a scan with prefetch."""
REDO_LOAD = 16
"""Queue depth of the data I/O concurrent with the log."""
SLO = "slo"
WITH_OBJECTIVE = (SLO, "survey")
"""Presets that search for the highest rate within a p99."""
SUSTAINED, SUSTAINED_DEPTH = "sustained", 32
WORKING_SET, WORKING_SET_DEPTH = "working-set", 16


class Durable(Enum):
    """When a write counts as complete."""

    NO = "no"
    DSYNC = "dsync"
    """O_DSYNC: each write returns once it would survive a power failure."""
    FDATASYNC = "fdatasync"
    """A write, then fdatasync(2), timed together."""


class Stream(Struct, frozen=True):
    """One kind of request."""

    name: str
    block_bytes: int
    pattern: Pattern = Pattern.RANDOM
    read_percent: int = 100
    durable: Durable = Durable.NO
    extends: bool = False
    """Writes extend the file instead of overwriting it."""
    rate: float = 0.0
    """Target IOPS; 0: closed loop, a request starts when one completes."""
    at_random: bool = False
    """The requests of a target rate arrive as a Poisson process, not at equal intervals."""
    streams: bool = False
    """The load counts streams with separate regions, each of queue depth ``READ_AHEAD``."""

    @property
    def words(self) -> str:
        """Return the requests in words, such as ``random read 16 KiB`` or ``sequential 70/30 8 KiB``."""
        writes = 100 - self.read_percent
        mix = "read" if not writes else "write" if not self.read_percent else f"{self.read_percent}/{writes}"
        return f"{self.pattern.name.lower()} {mix} {format_bytes(self.block_bytes)}"


class LoadPoint(Struct, frozen=True):
    """The concurrent streams of one measured point."""

    at: Mapping[str, str | int | float]
    """Coordinates in the result."""
    loads: tuple[tuple[Stream, int], ...]
    """Each stream with its queue depth (or number of streams)."""
    huge_pages: bool = True
    share: float = 1.0
    """Share of the target that is used, from its start."""

    @property
    def unit(self) -> str:
        """The unit of throughput: bytes/s of large requests, 1/s (IOPS) of small ones."""
        return "bytes/s" if self.loads[0][0].block_bytes >= LARGE_BYTES else "1/s"


class Sweep(Struct, frozen=True):
    """A sequence of points."""

    workload: str
    points: tuple[LoadPoint, ...]
    rising: bool = True
    """The queue depth rises: the sweep ends early when throughput stops increasing, and has a knee."""

    @property
    def writes(self) -> bool:
        """Return whether any point writes."""
        return any(stream.read_percent < 100 for point in self.points for stream, _ in point.loads)


class _Ramp(Struct, frozen=True):
    """A sweep of rising queue depth; of two values the second is that of a run with little time."""

    workload: str
    stream: str
    most: tuple[int, int]
    """The highest queue depth, if the user sets none."""
    factor: tuple[int, int] = (2, 4)
    """Ratio of queue depths."""
    first: tuple[int, int] = (0, 0)
    """Index of the first point; negative: from the end."""
    pages: str = ""
    """The page size is a coordinate: ``huge``, or ``set`` by the user."""


class _Presets(Struct, frozen=True):
    streams: Mapping[str, Stream]
    lists: Mapping[str, tuple[tuple[int | float, ...], tuple[int | float, ...]]]
    ramps: Mapping[str, tuple[_Ramp, ...]]


_PRESETS = msgspec.toml.decode(Path(__file__).with_name("presets.toml").read_bytes(), type=_Presets)
STREAMS = _PRESETS.streams
"""The kinds of requests of all presets but ``custom``."""


def _point(workload: str, stream: Stream, count: int) -> LoadPoint:
    return LoadPoint({"workload": workload, "queue_depth": count}, ((stream, count),))


def _rising(ramp: _Ramp, stream: Stream, depth: int, pages: str, *, coarse: bool) -> Sweep:
    kinds = {"": ("",), "both": ("huge", "4k"), "huge": ("huge",), "4k": ("4k",)}
    each = READ_AHEAD if stream.streams else 1
    limit, factor = max(1, (depth or ramp.most[coarse]) // each), ramp.factor[coarse]
    points = [
        LoadPoint(
            {"workload": ramp.workload, "queue_depth": count * each, **({"pages": kind} if kind else {})},
            ((stream, count),),
            huge_pages=kind != "4k",
        )
        for count in (factor**exponent for exponent in range(limit.bit_length()))
        for kind in kinds[pages if ramp.pages == "set" else ramp.pages]
        if count <= limit
    ]
    return Sweep(ramp.workload, tuple(points[ramp.first[coarse] :] or points))


def _fixed_points(preset: str, depth: int, *, coarse: bool) -> Iterator[LoadPoint]:
    """Yield the points of a preset whose queue depth does not rise."""
    lists = {name: values[coarse] for name, values in _PRESETS.lists.items()}
    if preset == "normal":  # ORION's matrix: every mix of concurrent small and large reads
        for large, small in product(lists["large"], lists["small"]):
            counts = ((STREAMS["read"], int(small)), (STREAMS["large"], int(large)))
            if loads := tuple((stream, count) for stream, count in counts if count):
                yield LoadPoint({"workload": preset, "small": small, "large": large}, loads)
    elif preset == "redo":
        for size in lists[preset]:
            log = replace(STREAMS["redo"], block_bytes=size)
            yield LoadPoint({"workload": preset, "block_bytes": size}, ((log, 1),))
    elif preset == "redo+oltp":
        log = STREAMS["paced-redo"]
        yield LoadPoint({"workload": "redo-alone", "queue_depth": 0}, ((log, 1),))
        loads = (log, 1), (STREAMS["mix"], REDO_LOAD)
        yield LoadPoint({"workload": preset, "queue_depth": REDO_LOAD}, loads)
    elif preset == WORKING_SET:  # the same reads within increasing parts of the target: a cache shows as a step
        point = _point(preset, STREAMS["read"], depth or WORKING_SET_DEPTH)
        for share in lists[preset]:
            yield replace(point, at={**point.at, "share": share}, share=share)
    elif preset == SUSTAINED:
        yield _point(preset, STREAMS["write"], depth or SUSTAINED_DEPTH)


def with_target_size(point: LoadPoint, size_bytes: int) -> LoadPoint:
    """Return the point with its share of the target in bytes, once the size is known."""
    if "share" not in point.at:
        return point
    at = {name: value for name, value in point.at.items() if name != "share"}
    return replace(point, at={**at, "working_set_bytes": round(point.share * size_bytes)})


def sweeps(
    preset: str, *, depth: int, pages: str, custom: Stream | None = None, coarse: bool = False
) -> tuple[Sweep, ...]:
    """Return the sweeps of a preset; ``depth`` limits the queue depth where it rises, 0: the preset's own limit.

    ``custom`` is the stream of the preset of that name; of ``slo`` its share of reads. ``coarse``: with fewer points.
    """
    if custom is not None and preset == custom.name:
        return (Sweep(preset, (_point(custom.words, custom, depth or 1),), rising=False),)
    if preset not in _PRESETS.ramps:
        return (Sweep(preset, tuple(_fixed_points(preset, depth, coarse=coarse)), rising=False),)
    streams = dict(STREAMS)
    if preset == SLO and custom is not None:
        streams["read"] = replace(streams["read"], read_percent=custom.read_percent)
    ramps = _PRESETS.ramps[preset]
    return tuple(_rising(ramp, streams[ramp.stream], depth, pages, coarse=coarse) for ramp in ramps)
