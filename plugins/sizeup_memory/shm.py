"""Write bandwidth to /dev/shm from local and remote CPUs, with every node's free memory before and after."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import field
from msgspec.structs import replace

from sizeup.errors import RefusedError
from sizeup.files import temporary_files
from sizeup.model.machine import Machine
from sizeup.model.plan import Settings, Step
from sizeup.probing.api import Context, Emission
from sizeup.probing.native import EstimatePoint, estimate_of, leave_cpus_or_tell
from sizeup.procfs.meminfo import read_free_by_node
from sizeup.units import as_percent, format_bytes
from sizeup_memory import binding, buffers, cpu_selection, durations, matrix_cells

NAME = "memory.shm"
DIRECTORY = "/dev/shm"  # noqa: S108 - the mount that is measured, not a directory for temporary files
_BLOCK_BYTES = 1 << 20
_MIN_BYTES = 16 << 20
_USUAL_BYTES = 256 << 20
_WRITTEN_PER_SECOND = 2.5e9
_MIN_TAKEN_SHARE = 0.9
"""Other processes allocate and free memory at the same time."""


class _ShmSettings(matrix_cells.MatrixSettings, frozen=True, kw_only=True):
    # A replicate is one pass over the file, of any duration.
    replicate_seconds: float = field(name="replicate", default=1.0)
    warm_up_seconds: float = field(name="warm_up", default=0.0)
    seed: int = 1
    file_bytes: int = field(name="bytes")
    caches: tuple[buffers.SharedCache, ...]
    node: int
    writers: dict[int, int]
    """CPU by node."""


class MemoryShm:
    """Write bandwidth to tmpfs pages of one node from its own CPU and from those of other nodes."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step]:
        """Plan one step for each node with CPUs."""
        nodes = cpu_selection.cores_by_node(machine, cpu_selection.memory_nodes(machine))
        writers = {node: cpus[0] for node, cpus in nodes.items() if cpus}
        if not writers:
            raise RefusedError("no NUMA node with both memory and CPUs")
        chosen = int(settings["bytes"])
        if 0 < chosen < _MIN_BYTES:
            least = format_bytes(_MIN_BYTES)
            raise RefusedError(f"bytes={chosen}: expected at least {least}, or 0 for four times the L3")
        caches = buffers.shared_caches(machine, writers.values())
        size = chosen or max(
            [_USUAL_BYTES, *buffers.bytes_for_all(caches, [[cpu] for cpu in writers.values()]).values()]
        )
        cells = [cell for cell in matrix_cells.all_cells(machine, writers) if cell.memory_node in writers]
        most = float(settings["matrix_time"])
        every = _ShmSettings.of(settings, bytes=size, caches=caches, node=0, writers=writers)
        without_budget = replace(every, budget_seconds=0.0)

        def seconds_of(some: Sequence[matrix_cells.MatrixCell]) -> float:
            of_home = Counter(cell.memory_node for cell in some)
            return sum(_step_seconds(without_budget, size, count) for count in of_home.values())

        measured = matrix_cells.sampled(cells, seconds_of, most)
        spare = max(0.0, most - seconds_of(measured)) / len(writers)
        for node in writers:
            own = tuple(cell for cell in measured if cell.memory_node == node)
            # The last round is the one in which the budget ends.
            passes = (every.replicates_min - 1) * len(own) * (size / _WRITTEN_PER_SECOND)
            of_node = replace(
                every,
                budget_seconds=min(every.budget_seconds, passes + spare),
                node=node,
                writers={cell.cpu_node: writers[cell.cpu_node] for cell in own},
                cells=own,
                cells_by_class=Counter(cell.kind for cell in cells if cell.memory_node == node),
            )
            seconds = _step_seconds(of_node, size, len(own))
            title, touches = f"{DIRECTORY} on node {node}", f"{format_bytes(size)} of {DIRECTORY}"
            cpus = tuple(of_node.writers.values())
            yield durations.step(f"{NAME}.node{node}", title, of_node, seconds, touches, cpus)

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Create a file from the node's own CPU, then overwrite it from each node in turn."""
        settings = _ShmSettings.of(step.settings)
        home, writers = settings.node, settings.writers
        size = _fitting(settings.file_bytes, home)
        caveats = leave_cpus_or_tell(writers.values())
        points = tuple(EstimatePoint("write", {"cpu_node": node, "memory_node": home}) for node in writers)
        yield from settings.not_measured(f"{NAME}: node {home}")
        before = read_free_by_node()
        file = os.open(DIRECTORY, os.O_TMPFILE | os.O_RDWR, 0o600)  # unnamed: nothing remains, whatever happens
        temporary_files.append(DIRECTORY)
        try:
            fill = binding.ShmFill(file, size, writers[home])
            yield from binding.measure(fill, points, context)
            after = read_free_by_node()
            figures = yield from binding.measure(
                binding.ShmWrite(file, size, tuple(writers.values()), settings), points, context
            )
        finally:
            os.close(file)
        extra, placement_caveats = _placed(fill.placement(), home, before, after)
        extra["file_bytes"] = size
        if size < settings.file_bytes:
            placement_caveats.append(
                f"file size reduced from {format_bytes(settings.file_bytes)} to {format_bytes(size)}: at most "
                "half of the available memory is used"
            )
        for _, point, native in figures:
            writer = {writers[int(point.at["cpu_node"])]: size}
            cache_notes, cached = buffers.cache_caveats(settings.caches, [writer], "writes")
            yield from buffers.cache_verdict(point.at, cache_notes, cached=cached)
            yield estimate_of(point, native, (*caveats, *cache_notes, *placement_caveats), extra)


def _step_seconds(rule: binding.StopRule, size: int, writers: int) -> float:
    """Return how long a file of one node takes, which is filled and then overwritten by each writer in turn."""
    passes = durations.rounds_seconds(writers * (size / _WRITTEN_PER_SECOND), rule)
    return durations.starting_seconds() + durations.allocating_seconds([size]) + passes


def taken_share(before: dict[int, int], after: dict[int, int], node: int) -> float:
    """Return the share of the consumed memory that came from ``node``, 0 to 1; other processes may add to it."""
    taken = {one: max(0, free - after.get(one, free)) for one, free in before.items()}
    return taken.get(node, 0) / sum(taken.values()) if sum(taken.values()) else 0.0


def _fitting(wanted: int, node: int) -> int:
    """Return the file size that fits half of the mount's and of the node's available memory."""
    try:
        mount = os.statvfs(DIRECTORY)
    except OSError as error:
        raise RefusedError(f"{DIRECTORY}: {error.strerror}") from error
    available = min(
        mount.f_bavail * mount.f_frsize,
        binding.available_bytes(binding.Allocation(binding.Pages.BASE, binding.PlacementPolicy.BIND, (node,))),
        binding.available_bytes(binding.Allocation(binding.Pages.BASE)),
    )
    size = wanted if wanted <= available // 2 else available // 2 // _BLOCK_BYTES * _BLOCK_BYTES
    if size < _MIN_BYTES:
        raise RefusedError(
            f"not enough memory: {DIRECTORY} and node {node} have {format_bytes(max(0, available))} available; "
            f"{format_bytes(_MIN_BYTES)} are needed and at most half is used; free some memory"
        )
    return size


def _placed(
    placement: binding.Placement, home: int, before: dict[int, int], after: dict[int, int]
) -> tuple[dict[str, str | int | float], list[str]]:
    """Return where the file's pages are, as extra figures, and the caveats about it."""
    share = placement.share_on((home,)) if placement.verified else taken_share(before, after, home)
    extra: dict[str, str | int | float] = {
        "share_from_home_node": share,
        **{f"node{one}_free_before_bytes": free for one, free in before.items()},
        **{f"node{one}_free_after_bytes": free for one, free in after.items()},
    }
    if placement.verified:
        extra |= {"pages_on_nodes": placement.nodes_text, "share_where_asked": share}
        return extra, [] if share >= cpu_selection.MIN_PLACED_SHARE else [
            f"only {as_percent(share)} of the file's pages are on node {home}"
        ]
    caveats = ["page placement is estimated from the free memory of the nodes: move_pages is denied"]
    if share < _MIN_TAKEN_SHARE:
        caveats.append(f"only {as_percent(share)} of the consumed memory came from node {home}")
    return extra, caveats
