"""The workloads of the presets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from sizeup.units import format_bytes
from sizeup_direct_io.worker import Pattern

SMALL_BYTES = 8 << 10
LARGE_BYTES = 1 << 20
READ_AHEAD = 4
"""Queue depth of one sequential stream, as of a scan with prefetch."""
REDO_BLOCKS = (512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10)
REDO_RATE = 500.0
"""Log writes per second under load: the group commits of a busy OLTP system."""
REDO_LOAD = 16
"""Queue depth of the data I/O concurrent with the log."""
SLO = "slo"
WITH_OBJECTIVE = (SLO, "survey")
"""Presets that search for the highest rate within a p99."""
SUSTAINED, SUSTAINED_DEPTH = "sustained", 32
WORKING_SET = "working-set"
WORKING_SET_HALVINGS = 4
"""From 1/16 of the target to the whole target."""
WORKING_SET_DEPTH = 16
LOAD_DEPTH = 8
MATRIX_SMALL = (0, 1, 4, 16, 64)
MATRIX_LARGE = (0, 1, 2, 4, 8)
COARSE_STEP, COARSER_STEP = 4, 8
"""Ratio of queue depths of a run with little time: with one sweep, and with two."""
COARSE_LIMIT = 64
COARSE_REDO_BLOCKS = (512, 4 << 10, 8 << 10, 128 << 10)
COARSE_MATRIX_SMALL, COARSE_MATRIX_LARGE = (0, 4, 64), (0, 4)


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


OLTP_READ = Stream("small", SMALL_BYTES)
OLTP_7030 = Stream("small", SMALL_BYTES, read_percent=70)
WRITES = Stream("small", SMALL_BYTES, read_percent=0)
DSS_RANDOM = Stream("large", LARGE_BYTES)
DSS_SCAN = Stream("large", LARGE_BYTES, Pattern.SEQUENTIAL, streams=True)
LOAD = Stream("load", LARGE_BYTES, Pattern.APPEND, read_percent=0, extends=True)
FSYNC = Stream("log", SMALL_BYTES, Pattern.SEQUENTIAL, read_percent=0, durable=Durable.FDATASYNC)


def _redo(block_bytes: int, rate: float = 0.0) -> Stream:
    return Stream("log", block_bytes, Pattern.SEQUENTIAL, 0, Durable.DSYNC, rate=rate)


def _powers(limit: int, step: int) -> Iterator[int]:
    count = 1
    while count <= limit:
        yield count
        count *= step


def _point(workload: str, stream: Stream, count: int) -> LoadPoint:
    return LoadPoint({"workload": workload, "queue_depth": count}, ((stream, count),))


def _rising(workload: str, stream: Stream, limit: int, step: int) -> Sweep:
    return Sweep(workload, tuple(_point(workload, stream, count) for count in _powers(limit, step)))


def _on_pages(workload: str, stream: Stream, limit: int, pages: str, step: int) -> Sweep:
    """Return large requests on both page sizes at each queue depth; the page size is a coordinate."""
    kinds = {"both": (True, False), "huge": (True,), "4k": (False,)}[pages]
    factor = READ_AHEAD if stream.streams else 1
    points = tuple(
        LoadPoint(
            {"workload": workload, "queue_depth": count * factor, "pages": "huge" if huge else "4k"},
            ((stream, count),),
            huge_pages=huge,
        )
        for count in _powers(limit, step)
        for huge in kinds
    )
    return Sweep(workload, points)


def _fixed_points(preset: str, depth: int, *, coarse: bool) -> Iterator[LoadPoint]:
    """Yield the points of a preset whose queue depth does not rise."""
    if preset == "normal":  # ORION's matrix: every mix of concurrent small and large reads
        mixes = (COARSE_MATRIX_LARGE, COARSE_MATRIX_SMALL) if coarse else (MATRIX_LARGE, MATRIX_SMALL)
        for large, small in product(*mixes):
            loads = tuple((stream, count) for stream, count in ((OLTP_READ, small), (DSS_RANDOM, large)) if count)
            if loads:
                yield LoadPoint({"workload": preset, "small": small, "large": large}, loads)
    elif preset == "redo":
        for size in COARSE_REDO_BLOCKS if coarse else REDO_BLOCKS:
            yield LoadPoint({"workload": preset, "block_bytes": size}, ((_redo(size), 1),))
    elif preset == "redo+oltp":
        log = _redo(SMALL_BYTES, REDO_RATE)
        yield LoadPoint({"workload": "redo-alone", "queue_depth": 0}, ((log, 1),))
        yield LoadPoint({"workload": preset, "queue_depth": REDO_LOAD}, ((log, 1), (OLTP_7030, REDO_LOAD)))
    elif preset == WORKING_SET:  # the same reads within increasing parts of the target: a cache shows as a step
        point = _point(preset, OLTP_READ, depth or WORKING_SET_DEPTH)
        for share in (2.0**-exponent for exponent in range(WORKING_SET_HALVINGS, -1, -1)):
            yield replace(point, at={**point.at, "share": share}, share=share)
    elif preset == SUSTAINED:
        yield _point(preset, WRITES, depth or SUSTAINED_DEPTH)


def with_target_size(point: LoadPoint, size_bytes: int) -> LoadPoint:
    """Return the point with its share of the target in bytes, once the size is known."""
    if "share" not in point.at:
        return point
    part = round(point.share * size_bytes)
    at = {name: value for name, value in point.at.items() if name != "share"}
    return replace(point, at={**at, "working_set_bytes": part})


def sweeps(
    preset: str, *, depth: int, pages: str, custom: Stream | None = None, coarse: bool = False
) -> tuple[Sweep, ...]:
    """Return the sweeps of a preset; ``depth`` limits the queue depth where it rises, 0: the preset's own limit.

    ``custom`` is the stream of the preset of that name; of ``slo`` its share of reads. ``coarse``: with fewer points.
    """
    small, large = depth or (COARSE_LIMIT if coarse else 256), depth or 64
    step, step_of_two = (COARSE_STEP, COARSER_STEP) if coarse else (2, 2)
    if custom is not None and preset == custom.name:
        return (Sweep(preset, (_point(custom.words, custom, depth or 1),), rising=False),)
    mix = Stream("small", SMALL_BYTES, read_percent=100 if custom is None else custom.read_percent)
    rising = {
        "oltp-read": (OLTP_READ, small, step),
        "oltp-7030": (OLTP_7030, small, step),
        "single-read": (OLTP_READ, 1, step),
        SLO: (mix, small, COARSER_STEP),
        "load": (LOAD, depth or LOAD_DEPTH, step),
        "fsync": (FSYNC, 1, step),
    }
    scanned = {"dss-rand": (DSS_RANDOM, large), "dss-scan": (DSS_SCAN, max(1, large // READ_AHEAD))}
    if preset in rising:
        return (_rising(preset, *rising[preset]),)
    if preset in scanned:
        return (_on_pages(preset, *scanned[preset], pages, step),)
    if preset not in {"simple", "calibrate", "survey"}:
        return (Sweep(preset, tuple(_fixed_points(preset, depth, coarse=coarse)), rising=False),)
    reads = _rising("oltp-read", OLTP_READ, small, step_of_two)
    large_reads = _on_pages("dss-rand", DSS_RANDOM, large, "huge", step_of_two)
    if preset != "survey":
        return reads, large_reads
    mixed = _rising("oltp-7030", OLTP_7030, small, step_of_two)
    # One request at a time says little of what mixes and scans can reach.
    later = ((mixed, -1 if coarse else 1), (large_reads, 1))
    return reads, *(Sweep(sweep.workload, sweep.points[first:] or sweep.points) for sweep, first in later)
