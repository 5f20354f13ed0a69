"""What more connections and paths to an NFS server give, and what leaving the kernel's client gives."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations, product

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Settings, Step
from sizeup.model.sample import Coordinates, Estimate, Progress
from sizeup.probing.api import Context, Emission
from sizeup.probing.devices import find_mount
from sizeup.procfs.kernel_file import PROC, read_text
from sizeup.procfs.mounts import parse_mountstats
from sizeup.units import format_bytes
from sizeup_direct_io import estimates
from sizeup_direct_io.call_with_timeout import call_with_timeout
from sizeup_direct_io.measure import MeasuredPoint, Window, measure
from sizeup_direct_io.run import TargetRun
from sizeup_direct_io.target import OpenTarget, TargetSpec, open_target
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Worker
from sizeup_nfs.libnfs import Connection, Share, find_library, find_share

NAME = "nfs.clients"
READ_BYTES = (8 << 10, 1 << 20)
"""Of the reads; fewer where a mount reads fewer with one call (rsize)."""
_WARMUP_SECONDS, _BESIDE_SECONDS = 0.3, 0.4  # the latter with what starting and ending a window takes
KERNEL, LIBNFS = "kernel", "libnfs"
_NAMES = {KERNEL: "the kernel's client", LIBNFS: "libnfs"}
_NOT_DIRECT_NFS = (
    "Oracle's Direct NFS is neither of the two, and not measured. The server's cache served both clients alike; with "
    "more data than it holds, the differences are smaller"
)


class Arm(Struct, frozen=True):
    """One way to read the file."""

    block_bytes: int
    client: str
    paths: tuple[int, ...]
    """The mounts, counted from 0."""
    connections: int

    def threads(self, requests: int) -> list[tuple[int, int]]:
        """Return path and requests in flight of each thread: of a system call one, of a connection its share."""
        count = requests if self.client == KERNEL else self.connections
        each, more = divmod(requests, count)
        return [(self.paths[i % len(self.paths)], each + (i < more)) for i in range(count)]


def plan_arms(block_bytes: int, mounted: Sequence[int], most: int) -> Iterator[Arm]:
    """Yield what to compare, from the connections of each mount; libnfs has one, those of the mount, and ``most``."""
    for path, count in enumerate(mounted):
        yield Arm(block_bytes, KERNEL, (path,), count)
        for connections in sorted({1, count, most}):
            yield Arm(block_bytes, LIBNFS, (path,), connections)
    if len(mounted) > 1:
        together = tuple(range(len(mounted)))
        yield Arm(block_bytes, KERNEL, together, sum(mounted))
        yield Arm(block_bytes, LIBNFS, together, most)


def cpu_cost(runs: Sequence[MeasuredPoint]) -> tuple[float, float] | None:
    """Return ns of CPU time per 10^6 bytes, and the kernel's share of it; None where it cannot be read.

    All of this process, kernel threads and interrupts; the kernel's is what is not user time of the reading threads.
    """
    (pooled,) = estimates.pool(runs).values()
    spent_ns = sum(estimates.known(run.io_cpu_ns for run in runs) or ())
    if not spent_ns or not pooled.transferred_bytes or not pooled.usage_bytes:
        return None
    per_byte, user_per_byte = spent_ns / pooled.transferred_bytes, pooled.user_ns / pooled.usage_bytes
    return per_byte * 1e6, max(0.0, 1.0 - user_per_byte / per_byte)


def estimates_of(runs: Sequence[MeasuredPoint], extra: Coordinates) -> Iterator[Estimate]:
    """Yield the figures of one arm: the median over rounds, percentiles of all rounds together."""
    at = runs[0].at
    served = estimates.known(run.charged_bytes(reads=True, writes=False)[1] for run in runs)
    if served and (asked := sum(run.requested_bytes for run in runs)):
        extra = {**extra, "mount_counter_share": sum(served) / asked}
    for estimate in estimates.throughput(at, runs, (), {**extra, **estimates.other_load(runs)}):
        yield replace(estimate, converged=None)
    yield from estimates.latencies(at, estimates.pool(runs), ())
    for series, value in zip(("cpu-per-mb", "kernel-share"), cpu_cost(runs) or (), strict=False):
        yield Estimate(series, at, value)


def conclusions(results: Mapping[Arm, Sequence[MeasuredPoint]]) -> Iterator[Estimate]:
    """Yield what more connections, more paths and another client give, each with the same reads in flight."""
    for (one, base), (two, other) in permutations(results.items(), 2):
        if (series := _compared(one, two)) and all(run.requests for run in (*base, *other)):
            yield _gain(series, base, other)


def _compared(one: Arm, two: Arm) -> str:
    """Return the series of what the second arm gives over the first; empty where more is different."""
    if one.client != two.client or one.block_bytes != two.block_bytes:
        return "client-gain" if replace(one, client=LIBNFS) == two else ""
    kernel = one.client == KERNEL  # whose mounts each have connections of their own
    if len(one.paths) < len(two.paths) and (kernel or one.connections == two.connections):
        return "path-gain"
    more = one.connections == 1 < two.connections and len(two.paths) == 1 and (kernel or one.paths == two.paths)
    return "connection-gain" if more else ""


def _gain(series: str, base: Sequence[MeasuredPoint], other: Sequence[MeasuredPoint]) -> Estimate:
    """Return the throughput of one arm over that of another: the median over rounds, in which both took turns."""
    ratios = [two.bytes_per_second / one.bytes_per_second for one, two in zip(base, other, strict=True)]
    value, low, high = estimates.with_interval(ratios)
    found = f"{value:.2f} times the throughput" + ("" if low is None else f" (95 % CI {low:.2f} to {high:.2f})")
    costs, at = (cpu_cost(base), cpu_cost(other)), other[0].at
    if costs[0] and costs[1]:
        found += f" and {costs[1][0] / costs[0][0]:.2f} times the CPU time per MB"
    old, new = (
        f"{_NAMES[str(arm['client'])]} (connections: {arm['connections']}, {arm['path']})" for arm in (base[0].at, at)
    )
    shown = "no difference shown: " if low is not None and high is not None and low <= 1 <= high else ""
    extra = {"statement": f"{at['workload']}: {shown}{new} has {found} of {old}", "consequence": _NOT_DIRECT_NFS}
    where = {**at, "over_path": base[0].at["path"], "case": f"{at['workload']}, {at['client']}"}
    return Estimate(series, where, value, low=low, high=high, replicates=len(ratios), extra=extra)


class NfsFile(Struct, frozen=True):
    """The file through one mount."""

    target: OpenTarget
    inode: int
    share: Share
    connections: int


def open_file(path: str) -> NfsFile:
    """Open a file on an NFS mount; raise RefusedError with what it is instead."""
    real_path = os.path.realpath(path)
    mount = find_mount(real_path)
    if mount is None or not mount.kind.startswith("nfs") or not os.path.isfile(real_path):
        found = "an unknown mount" if mount is None else f"no file, or {mount.kind}, on {mount.point}"
        raise RefusedError(f"{path}: expected a file on an NFS mount, found {found}; set path to one")
    mounts = parse_mountstats(read_text(f"{PROC}/self/mountstats") or "")
    counts = [len(stats.transports) for stats in mounts if stats.mount_point == mount.point]
    if not counts or not counts[-1]:  # of two on one point the later covers the earlier
        raise RefusedError(f"{path}: the connections of {mount.point} are unknown: /proc/self/mountstats lists none")
    target = open_target(TargetSpec(path, writes=False))
    return NfsFile(target, os.fstat(target.descriptor).st_ino, find_share(mount, real_path), counts[-1])


class NfsClients:
    """Reads one file through the kernel's client and through libnfs, with the same reads in flight."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """One step; which file it is, and with how many connections, shows when it is opened."""
        if not machine.nfs_mounts:
            yield Refusal(NAME, NAME, "this machine has no NFS mount; mount the export, then set path to a file on it")
            return
        paths, windows = _paths(settings), int(settings["rounds"]) * len(READ_BYTES)
        windows *= len(list(plan_arms(0, [2] * len(paths), int(settings["connections"]))))  # as many as there can be
        seconds = 1.0 + windows * (float(settings["seconds"]) + _BESIDE_SECONDS)
        most_seconds = 3 * seconds + 120 + 5 * float(settings["stall"])
        yield Step(NAME, NAME, f"NFS clients, {paths[0]}", settings, seconds, most_seconds)

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure every arm in turn; what a server that fails or hangs keeps open ends with this process."""
        return _Run(step.settings, context).emissions()


def _paths(settings: Settings) -> list[str]:
    return [str(settings["path"]), *filter(None, str(settings["more_paths"]).split(":"))]


class _Run(TargetRun):
    """Executes one step."""

    probe = NAME

    def __init__(self, settings: Settings, context: Context) -> None:
        super().__init__(context, str(settings["path"]))
        self._settings = settings
        self._requests, self._stall = int(settings["requests"]), float(settings["stall"])
        self._call = partial(call_with_timeout, limit_seconds=self._stall, context=context)
        self._connections: dict[tuple[int, int], Connection] = {}  # of libnfs, by the number of the file and their own

    def _emissions(self) -> Generator[Emission, None, None]:
        paths = _paths(self._settings)
        self._files = [self._call(f"opening {path}", partial(open_file, path)) for path in paths]
        mounted, most = [file.connections for file in self._files], int(self._settings["connections"])
        most = max(most, len(mounted))
        if len({(file.inode, file.target.size_bytes) for file in self._files}) > 1:
            raise RefusedError("more_paths: expected the file of path by other mounts of its export, found another one")
        if self._requests < (least := max(most, *mounted)):
            raise RefusedError(f"requests={self._requests}: expected at least {least}, one for each connection")
        sizes = sorted({min(size, *(file.share.read_bytes for file in self._files)) for size in READ_BYTES})
        arms = [arm for size in sizes for arm in plan_arms(size, mounted, most)]
        try:
            library = find_library()
            for (index, file), number in product(enumerate(self._files), range(least)):
                doing = f"connecting to {file.share.address} by libnfs"
                self._connections[index, number] = self._call(doing, partial(Connection, library, file.share))
        except SizeupError as error:
            yield Gap(f"{NAME}: libnfs", f"only the kernel's client was measured: {error}")
            arms = [arm for arm in arms if arm.client == KERNEL]
        results = yield from self._measure(arms)
        for arm, runs in results.items():
            address = ", ".join(self._files[index].share.address for index in arm.paths)
            yield from estimates_of(runs, {"requests": self._requests, "server_address": address})
        yield from conclusions(results)
        for close in [each.close for each in self._connections.values()] + [file.target.close for file in self._files]:
            self._call("closing the file", close)

    def _measure(self, arms: Sequence[Arm]) -> Generator[Emission, None, Mapping[Arm, Sequence[MeasuredPoint]]]:
        """Measure every arm once in each round, backwards in every other one, so that drift is no effect of an arm."""
        window = Window(_WARMUP_SECONDS, float(self._settings["seconds"]), 0.0, 1.0, self._stall)
        order = [arm for number in range(int(self._settings["rounds"])) for arm in arms[:: -1 if number % 2 else 1]]
        results: dict[Arm, list[MeasuredPoint]] = {arm: [] for arm in arms}
        for number, arm in enumerate(order):
            first, alone = self._files[arm.paths[0]], len(arm.paths) == 1
            path, workload = first.target.path if alone else "all together", f"random {format_bytes(arm.block_bytes)}"
            at: Coordinates = {"workload": workload, "client": arm.client, "path": path, "connections": arm.connections}
            left = (len(order) - number) * (window.seconds + _BESIDE_SECONDS)
            yield Progress(number / len(order), left, ", ".join(map(str, at.values())))
            counted = first.target.nfs_mount_point if alone and arm.client == KERNEL else None
            source = CounterSource(first.target.device_number, counted)
            workers = []
            for order_of, (index, depth) in enumerate(arm.threads(self._requests)):
                target = self._files[index].target
                client = self._connections[index, order_of].calls() if arm.client == LIBNFS else {}
                region = (target.descriptor, arm.block_bytes, 0, target.size_bytes)
                seed = secrets.randbits(62)
                workers.append(Worker(Engine.THREADS, *region, seed=seed, depth=depth, client=client))
            results[arm].append((yield from measure(workers, ("read",), at, window, self._context, source)))
        return results
